/* SPDX-License-Identifier: MIT */
/*
 * The block format (docs/block-format.md): 4 KiB blocks, each of which can be judged by itself.
 *
 *   0   8  magic "SPURBLK1" (the first block of an unfinished file: "SPURPART")
 *   8   4  version, 1
 *  12   4  reserved, 0
 *  16  16  UUID of the file
 *  32   8  offset of the block in the file, bytes
 *  40   8  generation: microseconds since 1970 when the writing trial began + how often it wrote this block
 *  48   8  key of the payload
 *  56   8  XXH64 (seed 0) of bytes 0..55
 *  64      payload: word i of the block (8 bytes, i = 8..511) is pattern_mix(key + (i + 1) * PATTERN_STEP) ...
 * 512*s  8  ... but word 64*s (s = 1..7) is the tag of sector s: pattern_mix(place + generation * PATTERN_ODD +
 *           s * PATTERN_STEP), place = pattern_place(uuid, offset)
 *
 * All numbers little-endian. pattern_mix is invertible, so a fragment without its header still shows the
 * generation (from any tag) and the key (from any payload word): torn, stale, shifted and swapped sectors all show.
 * A file's last block may be cut short; what is there is judged.
 *
 * The functions here are shared by the CPU code, the CUDA kernels (compiled by nvcc) and the fake libcuda.
 */
#ifndef SPUR_PATTERN_H
#define SPUR_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define PATTERN_FN static __host__ __device__ __forceinline__
#else
#define PATTERN_FN static inline
#endif

#define PATTERN_BLOCK       4096u
#define PATTERN_SECTOR      512u
#define PATTERN_HEADER      64u
#define PATTERN_MAGIC       0x314b4c4252555053ull /* "SPURBLK1" */
#define PATTERN_MAGIC_PART  0x5452415052555053ull /* "SPURPART" */
#define PATTERN_VERSION     1u
#define PATTERN_STEP        0x9e3779b97f4a7c15ull /* odd; 2^64 / golden ratio, the increment of SplitMix64 */
#define PATTERN_ODD         0xd1342543de82ef95ull /* odd: invertible modulo 2^64 */
#define PATTERN_ODD_INVERSE 0x572b5ee77a54e3bdull /* ODD * ODD_INVERSE == 1 modulo 2^64 */

struct pattern_header {
    uint64_t magic;
    uint32_t version, reserved;
    uint64_t uuid[2];
    uint64_t offset;
    uint64_t generation;
    uint64_t key;
    uint64_t checksum;
};

/* What to write. Blocks that start at file offset `offset` + k * 4096 get key pattern_mix(key_seed + k * STEP). */
struct pattern_fill {
    uint64_t uuid[2];
    uint64_t offset;     /* in the file, of the first byte; a multiple of 4096 */
    uint64_t generation; /* of every block of the range */
    uint64_t key_seed;
    uint32_t stamp_only; /* the payload is there already (same key_seed): write headers and tags only */
    uint32_t reserved;
};

/* What to find. */
struct pattern_expect {
    uint64_t uuid[2];
    uint64_t offset;         /* in the file, of the first byte; any */
    uint64_t generation;     /* exact, or 0: any from PATTERN_GENERATION_MIN to generation_max */
    uint64_t generation_max; /* used when generation is 0: now + a day, say */
};
#define PATTERN_GENERATION_MIN 1577836800000000ull /* 2020-01-01 in microseconds */

enum pattern_fault {
    PATTERN_FAULT_NONE = 0,
    PATTERN_FAULT_MAGIC,
    PATTERN_FAULT_UUID,       /* another file's block */
    PATTERN_FAULT_OFFSET,     /* this file's block from elsewhere: shifted or swapped */
    PATTERN_FAULT_GENERATION, /* stale (or from the future) */
    PATTERN_FAULT_CHECKSUM,
    PATTERN_FAULT_TAG, /* torn: a sector of another write */
    PATTERN_FAULT_PAYLOAD,
};

struct pattern_verdict {
    uint64_t bytes_ok;       /* every one of them was compared with what it must be */
    uint64_t bytes_unjudged; /* fragments too short to be judged by themselves */
    uint64_t blocks_bad;
    uint64_t fault;    /* of the recorded bad block: enum pattern_fault */
    uint64_t offset;   /* in the file, of the first wrong 8-byte word of the recorded bad block */
    uint64_t expected; /* that word */
    uint64_t found;
};

PATTERN_FN uint64_t pattern_mix(uint64_t z) /* the finaliser of SplitMix64 (Steele, Lea, Flood 2014) */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

PATTERN_FN uint64_t pattern_unmix(uint64_t z) /* pattern_unmix(pattern_mix(x)) == x */
{
    z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3ull;
    z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089ull;
    return z ^ (z >> 30) ^ (z >> 60);
}

PATTERN_FN uint64_t pattern_place(const uint64_t uuid[2], uint64_t offset)
{
    return pattern_mix(pattern_mix(uuid[0]) + pattern_mix(uuid[1] ^ PATTERN_STEP) + offset);
}

PATTERN_FN uint64_t pattern_tag(uint64_t place, uint64_t generation, unsigned sector)
{
    return pattern_mix(place + generation * PATTERN_ODD + sector * PATTERN_STEP);
}

PATTERN_FN uint64_t pattern_tag_generation(uint64_t tag, uint64_t place, unsigned sector)
{
    return (pattern_unmix(tag) - place - sector * PATTERN_STEP) * PATTERN_ODD_INVERSE;
}

PATTERN_FN uint64_t pattern_word(uint64_t key, unsigned word)
{
    return pattern_mix(key + (word + 1) * PATTERN_STEP);
}

PATTERN_FN uint64_t pattern_word_key(uint64_t value, unsigned word)
{
    return pattern_unmix(value) - (word + 1) * PATTERN_STEP;
}

/* One 8-byte word's share of the digest; i counts words from the start of the range. A range's digest is the sum
 * modulo 2^64 of pattern_digest_word over its words, the last padded with zeros, plus pattern_mix(length). */
PATTERN_FN uint64_t pattern_digest_word(uint64_t value, uint64_t i)
{
    return pattern_mix(value + (i + 1) * PATTERN_STEP);
}

#ifdef __cplusplus
extern "C" {
#endif

/* CPU versions (src/pattern/pattern.c). */
uint64_t pattern_checksum(const struct pattern_header *h); /* XXH64 of its first 56 bytes */
void pattern_fill_range(void *dst, size_t bytes, const struct pattern_fill *fill);
/* Judges [src, src + bytes) and adds to @verdict; any start and length. The first bad block is recorded. */
void pattern_check_range(const void *src, size_t bytes, const struct pattern_expect *expect,
                         struct pattern_verdict *verdict);
uint64_t pattern_digest(const void *src, size_t bytes);
const char *pattern_fault_name(uint64_t fault); /* "stale", "shifted", ...; static */
/* Adds @from to @into; the recorded bad block with the lowest offset wins. */
void pattern_verdict_merge(struct pattern_verdict *into, const struct pattern_verdict *from);

#ifdef __cplusplus
}
#endif
#endif
