/* SPDX-License-Identifier: MIT */
#include "pattern/pattern.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define WORDS      (PATTERN_BLOCK / 8)
#define TAG_STRIDE (PATTERN_SECTOR / 8) /* word 64 * s is the tag of sector s */

_Static_assert(sizeof(struct pattern_header) == PATTERN_HEADER, "header is 64 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

uint64_t pattern_checksum(const struct pattern_header *h)
{
    return XXH64(h, offsetof(struct pattern_header, checksum), 0);
}

/* ------------------------------------------------------------------------------------------------
 * Filling
 */

static void stamp_block(uint64_t *w, const struct pattern_fill *fill, uint64_t offset, uint64_t key)
{
    struct pattern_header h = {
        .magic = PATTERN_MAGIC,
        .version = PATTERN_VERSION,
        .uuid = {fill->uuid[0], fill->uuid[1]},
        .offset = offset,
        .generation = fill->generation,
        .key = key,
    };
    uint64_t place = pattern_place(fill->uuid, offset);

    h.checksum = pattern_checksum(&h);
    memcpy(w, &h, sizeof(h));
    for (unsigned s = 1; s < PATTERN_BLOCK / PATTERN_SECTOR; s++)
        w[s * TAG_STRIDE] = pattern_tag(place, fill->generation, s);
}

static void fill_block(uint64_t *w, const struct pattern_fill *fill, uint64_t offset, uint64_t key)
{
    if (!fill->stamp_only)
        for (unsigned i = PATTERN_HEADER / 8; i < WORDS; i++)
            w[i] = pattern_word(key, i);
    stamp_block(w, fill, offset, key);
}

void pattern_fill_range(void *dst, size_t bytes, const struct pattern_fill *fill)
{
    uint8_t *p = dst;
    uint64_t offset = fill->offset;
    uint64_t block = 0;
    uint64_t tail[WORDS];

    for (; bytes; block++, offset += PATTERN_BLOCK) {
        uint64_t key = pattern_mix(fill->key_seed + block * PATTERN_STEP);
        size_t n = bytes < PATTERN_BLOCK ? bytes : PATTERN_BLOCK;

        if (n == PATTERN_BLOCK && (uintptr_t)p % 8 == 0) {
            fill_block((uint64_t *)p, fill, offset, key);
        } else { /* a block cut by the end of the file, or an odd address */
            struct pattern_fill whole = *fill;

            whole.stamp_only = 0;
            fill_block(tail, &whole, offset, key);
            memcpy(p, tail, n);
        }
        p += n;
        bytes -= n;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Judging. A piece is bytes [lo, hi) of one block; word(i) may be looked at if it lies wholly inside.
 */

struct piece {
    const uint8_t *bytes; /* byte lo of the block */
    unsigned lo, hi;
    uint64_t block_offset; /* of the block in the file */
    const struct pattern_expect *expect;
    struct pattern_verdict *verdict;
};

static uint64_t load_word(const struct piece *p, unsigned word)
{
    uint64_t v;

    memcpy(&v, p->bytes + (word * 8 - p->lo), 8);
    return v;
}

static bool has_word(const struct piece *p, unsigned word)
{
    return word * 8 >= p->lo && word * 8 + 8 <= p->hi;
}

static bool report(const struct piece *p, enum pattern_fault fault, unsigned byte, uint64_t expected, uint64_t found)
{
    struct pattern_verdict *v = p->verdict;
    uint64_t offset = p->block_offset + byte;

    v->blocks_bad++;
    if (!v->fault || offset < v->offset) {
        v->fault = fault;
        v->offset = offset;
        v->expected = expected;
        v->found = found;
    }
    return false;
}

static bool generation_fits(const struct pattern_expect *e, uint64_t generation)
{
    if (e->generation)
        return generation == e->generation;
    return generation >= PATTERN_GENERATION_MIN && generation <= e->generation_max;
}

/* Part of an 8-byte word that lies in the piece is compared; false if it differs. */
static bool same_word(const struct piece *p, unsigned word, uint64_t expected, uint64_t *ret_found)
{
    unsigned from = word * 8 < p->lo ? p->lo : word * 8;
    unsigned to = word * 8 + 8 > p->hi ? p->hi : word * 8 + 8;
    uint64_t found = expected;

    if (from >= to)
        return true;
    memcpy((uint8_t *)&found + (from - word * 8), p->bytes + (from - p->lo), to - from);
    *ret_found = found;
    return found == expected;
}

/* The header is wholly there: it says generation and key. */
static bool judge_header(const struct piece *p, uint64_t *ret_generation, uint64_t *ret_key)
{
    const struct pattern_expect *e = p->expect;
    struct pattern_header h;

    memcpy(&h, p->bytes, sizeof(h));
    if (h.magic != PATTERN_MAGIC)
        return report(p, PATTERN_FAULT_MAGIC, 0, PATTERN_MAGIC, h.magic);
    if (h.version != PATTERN_VERSION || h.reserved)
        return report(p, PATTERN_FAULT_MAGIC, 8, PATTERN_VERSION, h.version | (uint64_t)h.reserved << 32);
    if (h.checksum != pattern_checksum(&h))
        return report(p, PATTERN_FAULT_CHECKSUM, 56, pattern_checksum(&h), h.checksum);
    for (unsigned i = 0; i < 2; i++)
        if (h.uuid[i] != e->uuid[i])
            return report(p, PATTERN_FAULT_UUID, 16 + 8 * i, e->uuid[i], h.uuid[i]);
    if (h.offset != p->block_offset)
        return report(p, PATTERN_FAULT_OFFSET, 32, p->block_offset, h.offset);
    if (!generation_fits(e, h.generation))
        return report(p, PATTERN_FAULT_GENERATION, 40, e->generation ? e->generation : e->generation_max, h.generation);
    *ret_generation = h.generation;
    *ret_key = h.key;
    return true;
}

/* What of a cut header is known beforehand: magic, version, UUID, offset. */
static bool judge_header_part(const struct piece *p)
{
    const uint64_t known[5] = {PATTERN_MAGIC, PATTERN_VERSION, p->expect->uuid[0], p->expect->uuid[1], p->block_offset};
    static const enum pattern_fault fault[5] = {PATTERN_FAULT_MAGIC, PATTERN_FAULT_MAGIC, PATTERN_FAULT_UUID,
                                                PATTERN_FAULT_UUID, PATTERN_FAULT_OFFSET};
    uint64_t found;

    for (unsigned i = 0; i < 5; i++)
        if (!same_word(p, i, known[i], &found))
            return report(p, fault[i], i * 8, known[i], found);
    return true;
}

static bool is_tag(unsigned word)
{
    return word % TAG_STRIDE == 0;
}

/* First word of the piece that is wholly there and is (not) a tag; WORDS if there is none. */
static unsigned first_word(const struct piece *p, unsigned from, bool tag)
{
    for (unsigned i = from; i < WORDS; i++)
        if (has_word(p, i) && is_tag(i) == tag)
            return i;
    return WORDS;
}

/* Without a whole header, tags tell the generation and payload words the key. *ret_judged: enough was there. */
static bool infer(const struct piece *p, uint64_t *ret_generation, uint64_t *ret_key, bool *ret_tag, bool *ret_payload,
                  bool *ret_judged)
{
    uint64_t place = pattern_place(p->expect->uuid, p->block_offset);
    unsigned tag = first_word(p, TAG_STRIDE, true);
    unsigned payload = first_word(p, PATTERN_HEADER / 8, false);

    *ret_tag = tag < WORDS;
    *ret_payload = payload < WORDS;
    *ret_judged = *ret_tag && *ret_payload && first_word(p, payload + 1, false) < WORDS;
    if (*ret_tag) {
        uint64_t value = load_word(p, tag);

        *ret_generation = pattern_tag_generation(value, place, tag / TAG_STRIDE);
        if (!generation_fits(p->expect, *ret_generation)) {
            uint64_t g = p->expect->generation ? p->expect->generation : p->expect->generation_max;

            return report(p, p->expect->generation ? PATTERN_FAULT_GENERATION : PATTERN_FAULT_TAG, tag * 8,
                          pattern_tag(place, g, tag / TAG_STRIDE), value);
        }
    }
    if (*ret_payload)
        *ret_key = pattern_word_key(load_word(p, payload), payload);
    return judge_header_part(p);
}

/* All of a whole block's payload at once: the compiler makes vectors of it. */
static bool payload_same(const struct piece *p, uint64_t key)
{
    uint64_t differ = 0;

    if (p->lo || p->hi != PATTERN_BLOCK)
        return false;
    for (unsigned s = 0; s < PATTERN_BLOCK / PATTERN_SECTOR; s++)
        for (unsigned i = s ? s * TAG_STRIDE + 1 : PATTERN_HEADER / 8; i < (s + 1) * TAG_STRIDE; i++)
            differ |= load_word(p, i) ^ pattern_word(key, i);
    return !differ;
}

static bool judge_words(const struct piece *p, const uint64_t *generation, const uint64_t *key)
{
    uint64_t place = pattern_place(p->expect->uuid, p->block_offset);
    bool payload_done = key && payload_same(p, *key);
    uint64_t found;

    for (unsigned i = PATTERN_HEADER / 8; i < WORDS; i++) {
        bool tag = is_tag(i);
        uint64_t expected;

        if (tag ? !generation : !key || payload_done)
            continue;
        expected = tag ? pattern_tag(place, *generation, i / TAG_STRIDE) : pattern_word(*key, i);
        if (!same_word(p, i, expected, &found))
            return report(p, tag ? PATTERN_FAULT_TAG : PATTERN_FAULT_PAYLOAD, i * 8, expected, found);
    }
    return true;
}

static void judge_piece(const struct piece *p)
{
    uint64_t generation = 0, key = 0;
    bool have_tag = true, have_payload = true, judged = true;

    if (p->lo == 0 && p->hi >= PATTERN_HEADER) {
        if (!judge_header(p, &generation, &key))
            return;
    } else if (!infer(p, &generation, &key, &have_tag, &have_payload, &judged)) {
        return;
    }
    if (!judge_words(p, have_tag ? &generation : NULL, have_payload ? &key : NULL))
        return;
    if (judged)
        p->verdict->bytes_ok += p->hi - p->lo;
    else
        p->verdict->bytes_unjudged += p->hi - p->lo;
}

void pattern_check_range(const void *src, size_t bytes, const struct pattern_expect *expect,
                         struct pattern_verdict *verdict)
{
    const uint8_t *b = src;
    uint64_t offset = expect->offset;

    while (bytes) {
        unsigned lo = (unsigned)(offset % PATTERN_BLOCK);
        size_t n = PATTERN_BLOCK - lo < bytes ? PATTERN_BLOCK - lo : bytes;
        struct piece p = {b, lo, lo + (unsigned)n, offset - lo, expect, verdict};

        judge_piece(&p);
        b += n;
        offset += n;
        bytes -= n;
    }
}

/* ------------------------------------------------------------------------------------------------ */

uint64_t pattern_digest(const void *src, size_t bytes)
{
    const uint8_t *b = src;
    uint64_t sum = pattern_mix(bytes);
    uint64_t i = 0, w;

    for (; i < bytes / 8; i++) {
        memcpy(&w, b + i * 8, 8);
        sum += pattern_digest_word(w, i);
    }
    if (bytes % 8) {
        w = 0;
        memcpy(&w, b + i * 8, bytes % 8);
        sum += pattern_digest_word(w, i);
    }
    return sum;
}

const char *pattern_fault_name(uint64_t fault)
{
    static const char *const names[] = {"none",
                                        "no block of spur's",
                                        "block of another file",
                                        "block from another offset (shifted or swapped)",
                                        "stale (or future) generation",
                                        "damaged header",
                                        "torn (a sector of another write)",
                                        "damaged payload"};

    return fault < sizeof(names) / sizeof(names[0]) ? names[fault] : "unknown";
}

void pattern_verdict_merge(struct pattern_verdict *into, const struct pattern_verdict *from)
{
    into->bytes_ok += from->bytes_ok;
    into->bytes_unjudged += from->bytes_unjudged;
    into->blocks_bad += from->blocks_bad;
    if (from->fault && (!into->fault || from->offset < into->offset)) {
        into->fault = from->fault;
        into->offset = from->offset;
        into->expected = from->expected;
        into->found = from->found;
    }
}
