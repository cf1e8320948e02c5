/* SPDX-License-Identifier: MIT */
/*
 * What one lane of a warp does in the kernels, written so that it also compiles for the host: tests and the fake
 * libcuda run the lanes one after the other. The verdicts are those of pattern_check_range, reached another way: all
 * lanes judge the header alike, then each compares every 32nd word.
 */
#ifndef SPUR_KERNELS_JUDGE_H
#define SPUR_KERNELS_JUDGE_H

#include "kernels/kernels.h"

#ifndef __CUDACC__
#include <string.h>
#endif

#define JUDGE_WORDS (PATTERN_BLOCK / 8u)
#define JUDGE_TAG   (PATTERN_SECTOR / 8u) /* every such word, but word 0, is a tag */

/* ------------------------------------------------------------------------------------------------
 * Words at any address
 */

PATTERN_FN uint64_t load_word(const uint8_t *p)
{
#ifdef __CUDA_ARCH__
    uint64_t shift = (uint64_t)p % 8 * 8;
    const uint64_t *w = (const uint64_t *)((uint64_t)p & ~7ull);

    /* Both words hold bytes of the range, so neither read leaves the allocation. */
    return shift ? w[0] >> shift | w[1] << (64 - shift) : w[0];
#else
    uint64_t v;

    memcpy(&v, p, 8);
    return v;
#endif
}

PATTERN_FN void store_word(uint8_t *p, uint64_t value)
{
#ifdef __CUDA_ARCH__
    if ((uint64_t)p % 8 == 0) {
        *(uint64_t *)p = value;
        return;
    }
    for (unsigned i = 0; i < 8; i++)
        p[i] = (uint8_t)(value >> (8 * i));
#else
    memcpy(p, &value, 8);
#endif
}

/* Bytes [from, to) of a word, the others taken from @rest. @p is where byte `from` lies. */
PATTERN_FN uint64_t load_part(const uint8_t *p, unsigned from, unsigned to, uint64_t rest)
{
    for (unsigned i = from; i < to; i++)
        rest = (rest & ~(0xffull << (8 * i))) | (uint64_t)p[i - from] << (8 * i);
    return rest;
}

/* ------------------------------------------------------------------------------------------------
 * XXH64, seed 0, of 56 bytes given as seven words
 */

#define XXH_P1 0x9e3779b185ebca87ull
#define XXH_P2 0xc2b2ae3d27d4eb4full
#define XXH_P3 0x165667b19e3779f9ull
#define XXH_P4 0x85ebca77c2b2ae63ull

PATTERN_FN uint64_t xxh_rotl(uint64_t v, unsigned n)
{
    return v << n | v >> (64 - n);
}

PATTERN_FN uint64_t xxh_round(uint64_t acc, uint64_t word)
{
    return xxh_rotl(acc + word * XXH_P2, 31) * XXH_P1;
}

PATTERN_FN uint64_t xxh_merge(uint64_t h, uint64_t acc)
{
    return (h ^ xxh_round(0, acc)) * XXH_P1 + XXH_P4;
}

PATTERN_FN uint64_t judge_checksum(const uint64_t w[7])
{
    uint64_t a = xxh_round(XXH_P1 + XXH_P2, w[0]);
    uint64_t b = xxh_round(XXH_P2, w[1]);
    uint64_t c = xxh_round(0, w[2]);
    uint64_t d = xxh_round(0 - XXH_P1, w[3]);
    uint64_t h = xxh_rotl(a, 1) + xxh_rotl(b, 7) + xxh_rotl(c, 12) + xxh_rotl(d, 18);

    h = xxh_merge(xxh_merge(xxh_merge(xxh_merge(h, a), b), c), d) + 56;
    for (unsigned i = 4; i < 7; i++)
        h = xxh_rotl(h ^ xxh_round(0, w[i]), 27) * XXH_P1 + XXH_P4;
    h = (h ^ (h >> 33)) * XXH_P2;
    h = (h ^ (h >> 29)) * XXH_P3;
    return h ^ (h >> 32);
}

/* ------------------------------------------------------------------------------------------------
 * Which block, which part of it
 */

/* Part k of a range that begins at file offset @start: bytes [lo, hi) of a block. */
struct judge_part {
    uint64_t block_offset; /* of the block in the file */
    uint64_t skip;         /* bytes of the range before the part */
    unsigned lo, hi;
};

PATTERN_FN uint64_t judge_n_parts(uint64_t start, uint64_t bytes)
{
    return bytes ? (start % PATTERN_BLOCK + bytes + PATTERN_BLOCK - 1) / PATTERN_BLOCK : 0;
}

PATTERN_FN struct judge_part judge_part(uint64_t start, uint64_t bytes, uint64_t k)
{
    unsigned lead = (unsigned)(start % PATTERN_BLOCK);
    uint64_t end = lead + bytes - k * PATTERN_BLOCK; /* of the range, from the block's start */
    struct judge_part p;

    p.block_offset = start - lead + k * PATTERN_BLOCK;
    p.lo = k ? 0 : lead;
    p.hi = end < PATTERN_BLOCK ? (unsigned)end : PATTERN_BLOCK;
    p.skip = k ? k * PATTERN_BLOCK - lead : 0;
    return p;
}

/* ------------------------------------------------------------------------------------------------
 * Judging
 */

struct judge {
    const uint8_t *bytes; /* byte lo of the block */
    unsigned lo, hi;
    uint64_t block_offset;
    uint64_t place, generation, key;
    bool has_generation, has_key, judged;
    /* Of a bad block. */
    unsigned fault, byte;
    uint64_t expected, found;
};

PATTERN_FN bool judge_bad(struct judge *j, unsigned fault, unsigned byte, uint64_t expected, uint64_t found)
{
    j->fault = fault;
    j->byte = byte;
    j->expected = expected;
    j->found = found;
    return false;
}

PATTERN_FN bool judge_has(const struct judge *j, unsigned word)
{
    return word * 8 >= j->lo && word * 8 + 8 <= j->hi;
}

PATTERN_FN uint64_t judge_load(const struct judge *j, unsigned word)
{
    return load_word(j->bytes + (word * 8 - j->lo));
}

/* The word, or what of it lies in the part with the rest as expected. */
PATTERN_FN uint64_t judge_found(const struct judge *j, unsigned word, uint64_t expected)
{
    unsigned from = word * 8 < j->lo ? j->lo : word * 8;
    unsigned to = word * 8 + 8 > j->hi ? j->hi : word * 8 + 8;

    if (judge_has(j, word))
        return judge_load(j, word);
    if (from >= to)
        return expected;
    return load_part(j->bytes + (from - j->lo), from - word * 8, to - word * 8, expected);
}

PATTERN_FN bool judge_generation_fits(const struct pattern_expect *e, uint64_t generation)
{
    if (e->generation)
        return generation == e->generation;
    return generation >= PATTERN_GENERATION_MIN && generation <= e->generation_max;
}

PATTERN_FN uint64_t judge_generation_wanted(const struct pattern_expect *e)
{
    return e->generation ? e->generation : e->generation_max;
}

PATTERN_FN bool judge_header(struct judge *j, const struct pattern_expect *e)
{
    uint64_t w[8], sum;

#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned i = 0; i < 8; i++)
        w[i] = judge_load(j, i);
    if (w[0] != PATTERN_MAGIC)
        return judge_bad(j, PATTERN_FAULT_MAGIC, 0, PATTERN_MAGIC, w[0]);
    if (w[1] != PATTERN_VERSION)
        return judge_bad(j, PATTERN_FAULT_MAGIC, 8, PATTERN_VERSION, w[1]);
    sum = judge_checksum(w);
    if (w[7] != sum)
        return judge_bad(j, PATTERN_FAULT_CHECKSUM, 56, sum, w[7]);
    if (w[2] != e->uuid[0])
        return judge_bad(j, PATTERN_FAULT_UUID, 16, e->uuid[0], w[2]);
    if (w[3] != e->uuid[1])
        return judge_bad(j, PATTERN_FAULT_UUID, 24, e->uuid[1], w[3]);
    if (w[4] != j->block_offset)
        return judge_bad(j, PATTERN_FAULT_OFFSET, 32, j->block_offset, w[4]);
    if (!judge_generation_fits(e, w[5]))
        return judge_bad(j, PATTERN_FAULT_GENERATION, 40, judge_generation_wanted(e), w[5]);
    j->generation = w[5];
    j->key = w[6];
    j->has_generation = j->has_key = j->judged = true;
    return true;
}

/* What of a cut header is known beforehand. */
PATTERN_FN bool judge_header_part(struct judge *j, const struct pattern_expect *e)
{
    for (unsigned i = 0; i < 5; i++) {
        uint64_t expected = i == 0   ? PATTERN_MAGIC
                            : i == 1 ? PATTERN_VERSION
                            : i == 2 ? e->uuid[0]
                            : i == 3 ? e->uuid[1]
                                     : j->block_offset;
        uint64_t found = judge_found(j, i, expected);

        if (found != expected)
            return judge_bad(j,
                             i < 2   ? PATTERN_FAULT_MAGIC
                             : i < 4 ? PATTERN_FAULT_UUID
                                     : PATTERN_FAULT_OFFSET,
                             i * 8, expected, found);
    }
    return true;
}

/* First payload word at or after @word. */
PATTERN_FN unsigned judge_payload_from(unsigned word)
{
    return word % JUDGE_TAG ? word : word + 1;
}

/* Without a whole header the first tag tells the generation, and the first payload word the key. */
PATTERN_FN bool judge_infer(struct judge *j, const struct pattern_expect *e)
{
    unsigned first = (j->lo + 7) / 8;
    unsigned tag = first <= JUDGE_TAG ? JUDGE_TAG : (first + JUDGE_TAG - 1) / JUDGE_TAG * JUDGE_TAG;
    unsigned payload = judge_payload_from(first < PATTERN_HEADER / 8 ? PATTERN_HEADER / 8 : first);

    j->has_generation = judge_has(j, tag);
    j->has_key = judge_has(j, payload);
    j->judged = j->has_generation && judge_has(j, judge_payload_from(payload + 1));
    if (j->has_generation) {
        uint64_t value = judge_load(j, tag);

        j->generation = pattern_tag_generation(value, j->place, tag / JUDGE_TAG);
        if (!judge_generation_fits(e, j->generation))
            return judge_bad(j, e->generation ? PATTERN_FAULT_GENERATION : PATTERN_FAULT_TAG, tag * 8,
                             pattern_tag(j->place, judge_generation_wanted(e), tag / JUDGE_TAG), value);
    }
    if (j->has_key)
        j->key = pattern_word_key(judge_load(j, payload), payload);
    return judge_header_part(j, e);
}

/* @bytes: where the part lies. False: bad already, do not look at the words. */
PATTERN_FN bool judge_open(struct judge *j, const uint8_t *bytes, const struct judge_part *part,
                           const struct pattern_expect *e)
{
    j->bytes = bytes;
    j->lo = part->lo;
    j->hi = part->hi;
    j->block_offset = part->block_offset;
    j->place = pattern_place(e->uuid, part->block_offset);
    j->generation = j->key = 0;
    j->fault = PATTERN_FAULT_NONE;
    if (j->lo == 0 && j->hi >= PATTERN_HEADER)
        return judge_header(j, e);
    return judge_infer(j, e);
}

PATTERN_FN uint64_t judge_expected(const struct judge *j, unsigned word)
{
    uint64_t base = word % JUDGE_TAG ? j->key + (word + 1) * PATTERN_STEP
                                     : j->place + j->generation * PATTERN_ODD + word / JUDGE_TAG * PATTERN_STEP;

    return pattern_mix(base); /* pattern_word or pattern_tag, without a branch */
}

PATTERN_FN bool judge_word_bad(const struct judge *j, unsigned word)
{
    uint64_t expected;

    if (word < PATTERN_HEADER / 8 || !(word % JUDGE_TAG ? j->has_key : j->has_generation))
        return false;
    expected = judge_expected(j, word);
    return judge_found(j, word, expected) != expected;
}

/* First wrong word among those of @lane, JUDGE_WORDS if none. */
PATTERN_FN unsigned judge_lane(const struct judge *j, unsigned lane)
{
    unsigned wrong = JUDGE_WORDS;

#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (unsigned i = 0; i < JUDGE_WORDS; i += KERNEL_WARP)
        if (judge_word_bad(j, i + lane) && i + lane < wrong)
            wrong = i + lane;
    return wrong;
}

/* The part's first wrong word decides its fault. */
PATTERN_FN void judge_word(struct judge *j, unsigned word)
{
    uint64_t expected = judge_expected(j, word);

    judge_bad(j, word % JUDGE_TAG ? PATTERN_FAULT_PAYLOAD : PATTERN_FAULT_TAG, word * 8, expected,
              judge_found(j, word, expected));
}

/* ------------------------------------------------------------------------------------------------
 * Filling
 */

/* Word @word of a block. @h: its header. */
PATTERN_FN uint64_t fill_word(const uint64_t h[8], uint64_t place, unsigned word)
{
    uint64_t base = word % JUDGE_TAG ? h[6] + (word + 1) * PATTERN_STEP
                                     : place + h[5] * PATTERN_ODD + word / JUDGE_TAG * PATTERN_STEP;

    return pattern_mix(base);
}

PATTERN_FN void fill_store(uint8_t *block, unsigned n, unsigned word, uint64_t value)
{
    if (word * 8 + 8 <= n) {
        store_word(block + word * 8, value);
        return;
    }
    for (unsigned i = word * 8; i < n; i++)
        block[i] = (uint8_t)(value >> (8 * (i - word * 8)));
}

/* Lane @lane's words of block @k of the range; @n bytes of it exist. */
PATTERN_FN void fill_lane(uint8_t *block, unsigned n, const struct pattern_fill *fill, uint64_t k, unsigned lane)
{
    uint64_t offset = fill->offset + k * PATTERN_BLOCK;
    uint64_t place = pattern_place(fill->uuid, offset);
    uint64_t h[8] = {PATTERN_MAGIC,
                     PATTERN_VERSION,
                     fill->uuid[0],
                     fill->uuid[1],
                     offset,
                     fill->generation,
                     pattern_mix(fill->key_seed + k * PATTERN_STEP)};

    h[7] = judge_checksum(h);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned i = 0; i < PATTERN_HEADER / 8; i++)
        if (lane == i)
            fill_store(block, n, i, h[i]);
    for (unsigned word = lane; word < JUDGE_WORDS; word += KERNEL_WARP)
        if (word >= PATTERN_HEADER / 8 && (!fill->stamp_only || word % JUDGE_TAG == 0))
            fill_store(block, n, word, fill_word(h, place, word));
}

/* ------------------------------------------------------------------------------------------------
 * Digest
 */

/* Share of word @i of a range of @bytes. */
PATTERN_FN uint64_t digest_share(const uint8_t *p, uint64_t bytes, uint64_t i)
{
    uint64_t left = bytes - i * 8;
    uint64_t value = left >= 8 ? load_word(p + i * 8) : load_part(p + i * 8, 0, (unsigned)left, 0);

    return pattern_digest_word(value, i);
}

#endif
