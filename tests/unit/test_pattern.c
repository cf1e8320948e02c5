/* SPDX-License-Identifier: MIT */
/* The block format: what is filled is judged right whole and in pieces, and each kind of damage shows as what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern/pattern.h"

#define N_BLOCKS 8u
#define BYTES    (N_BLOCKS * PATTERN_BLOCK)
#define FILE_AT  (5ull * 1024 * 1024 * 1024) /* offsets past 4 GiB are right too */
#define NOW      1760000000000000ull

static const uint64_t uuid[2] = {0x1122334455667788ull, 0x99aabbccddeeff00ull};

struct fixture {
    uint8_t data[BYTES];
};

static struct pattern_fill filling(uint64_t offset, uint64_t generation)
{
    return (struct pattern_fill){
        .uuid = {uuid[0], uuid[1]}, .offset = offset, .generation = generation, .key_seed = 77};
}

static struct pattern_verdict judge(const struct fixture *f, size_t from, size_t bytes, uint64_t generation)
{
    struct pattern_expect expect = {
        .uuid = {uuid[0], uuid[1]},
        .offset = FILE_AT + from,
        .generation = generation,
        .generation_max = NOW + 1000,
    };
    struct pattern_verdict v = {0};

    pattern_check_range(f->data + from, bytes, &expect, &v);
    return v;
}

static int setup(void **state)
{
    struct fixture *f = malloc(sizeof(*f));
    struct pattern_fill fill = filling(FILE_AT, NOW);

    pattern_fill_range(f->data, BYTES, &fill);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void test_numbers(void **state)
{
    assert_int_equal(PATTERN_ODD * PATTERN_ODD_INVERSE, 1);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t x = i * 0x123456789abcdefull;

        assert_int_equal(pattern_unmix(pattern_mix(x)), x);
        assert_int_equal(pattern_word_key(pattern_word(x, (unsigned)i % 512), (unsigned)i % 512), x);
        assert_int_equal(pattern_tag_generation(pattern_tag(x, i, 3), x, 3), i);
    }
}

static void test_whole(void **state)
{
    struct pattern_verdict v = judge(*state, 0, BYTES, 0);

    assert_int_equal(v.blocks_bad, 0);
    assert_int_equal(v.bytes_ok, BYTES);
    v = judge(*state, 0, BYTES, NOW);
    assert_int_equal(v.bytes_ok, BYTES);
}

/* Any start and length: nothing right is called wrong, and no byte is counted twice. */
static void test_every_fragment(void **state)
{
    for (size_t from = 0; from < 2 * PATTERN_BLOCK; from += 41)
        for (size_t bytes = 1; from + bytes <= 3 * PATTERN_BLOCK; bytes += 97) {
            struct pattern_verdict v = judge(*state, from, bytes, 0);

            assert_int_equal(v.blocks_bad, 0);
            assert_int_equal(v.bytes_ok + v.bytes_unjudged, bytes);
            if (bytes >= 2 * PATTERN_SECTOR + 16 && from % PATTERN_BLOCK == 0)
                assert_int_equal(v.bytes_unjudged, bytes % PATTERN_BLOCK < PATTERN_HEADER ? bytes % PATTERN_BLOCK : 0);
        }
}

/* A flipped bit anywhere in a judged range is found, and nowhere else. */
static void test_every_byte_counts(void **state)
{
    struct fixture *f = *state;

    for (size_t at = 0; at < 2 * PATTERN_BLOCK; at++) {
        struct pattern_verdict v;

        f->data[at] ^= 0x40;
        v = judge(f, 0, 2 * PATTERN_BLOCK, NOW);
        assert_int_equal(v.blocks_bad, 1);
        assert_true(v.offset - FILE_AT >= at / PATTERN_BLOCK * PATTERN_BLOCK && v.offset - FILE_AT < (at | 4095) + 1);
        v = judge(f, 700, PATTERN_BLOCK, NOW); /* two fragments */
        assert_int_equal(v.blocks_bad, at >= 700 && at < 700 + PATTERN_BLOCK ? 1 : 0);
        f->data[at] ^= 0x40;
    }
}

static void test_payload_names_its_word(void **state)
{
    struct fixture *f = *state;
    struct pattern_verdict v;

    f->data[PATTERN_BLOCK + 1003] ^= 1;
    v = judge(f, 0, BYTES, 0);
    assert_int_equal(v.fault, PATTERN_FAULT_PAYLOAD);
    assert_int_equal(v.offset, FILE_AT + PATTERN_BLOCK + 1000);
    assert_int_equal(v.expected ^ v.found, 1ull << 24);
    assert_int_equal(v.bytes_ok, BYTES - PATTERN_BLOCK);
}

static void exchange(uint8_t *a, uint8_t *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t t = a[i];

        a[i] = b[i];
        b[i] = t;
    }
}

static void test_swapped_blocks(void **state)
{
    struct fixture *f = *state;
    struct pattern_verdict v;

    exchange(f->data, f->data + 3 * PATTERN_BLOCK, PATTERN_BLOCK);
    v = judge(f, 0, BYTES, 0);
    assert_int_equal(v.blocks_bad, 2);
    assert_int_equal(v.fault, PATTERN_FAULT_OFFSET);
}

static void test_shifted(void **state)
{
    struct fixture *f = *state;

    memmove(f->data, f->data + PATTERN_SECTOR, BYTES - PATTERN_SECTOR);
    assert_int_equal(judge(f, 0, BYTES, 0).bytes_ok, 0);
}

static void test_stale(void **state)
{
    struct fixture *f = *state;
    struct pattern_fill older = filling(FILE_AT + PATTERN_BLOCK, NOW - 5);
    struct pattern_verdict v;

    pattern_fill_range(f->data + PATTERN_BLOCK, PATTERN_BLOCK, &older);
    assert_int_equal(judge(f, 0, BYTES, 0).blocks_bad, 0); /* any generation will do there */
    v = judge(f, 0, BYTES, NOW);
    assert_int_equal(v.blocks_bad, 1);
    assert_int_equal(v.fault, PATTERN_FAULT_GENERATION);
    assert_int_equal(judge(f, PATTERN_BLOCK + 600, 1500, NOW).blocks_bad, 1); /* a fragment tells it too */
}

static void test_future(void **state)
{
    struct fixture *f = *state;
    struct pattern_fill future = filling(FILE_AT, NOW + 1000000);

    pattern_fill_range(f->data, PATTERN_BLOCK, &future);
    assert_int_equal(judge(f, 0, BYTES, 0).fault, PATTERN_FAULT_GENERATION);
}

/* Half of a block is of an older write with the same payload key: only the tags tell. */
static void test_torn(void **state)
{
    struct fixture *f = *state;
    uint8_t older[PATTERN_BLOCK];
    struct pattern_fill fill = filling(FILE_AT, NOW - 5);
    struct pattern_verdict v;

    pattern_fill_range(older, sizeof(older), &fill);
    memcpy(f->data + 4 * PATTERN_SECTOR, older + 4 * PATTERN_SECTOR, 4 * PATTERN_SECTOR);
    v = judge(f, 0, BYTES, 0);
    assert_int_equal(v.blocks_bad, 1);
    assert_int_equal(v.fault, PATTERN_FAULT_TAG);
    assert_int_equal(v.offset, FILE_AT + 4 * PATTERN_SECTOR);
}

static void test_other_file(void **state)
{
    struct fixture *f = *state;
    struct pattern_fill fill = filling(FILE_AT, NOW);

    fill.uuid[1]++;
    pattern_fill_range(f->data, PATTERN_BLOCK, &fill);
    assert_int_equal(judge(f, 0, BYTES, 0).fault, PATTERN_FAULT_UUID);
}

static void test_zeros(void **state)
{
    struct fixture *f = *state;

    memset(f->data + 2 * PATTERN_BLOCK, 0, PATTERN_BLOCK);
    assert_int_equal(judge(f, 0, BYTES, 0).fault, PATTERN_FAULT_MAGIC);
    assert_int_equal(judge(f, 2 * PATTERN_BLOCK + 100, 2000, 0).blocks_bad, 1);
}

/* New headers and tags over an old payload make blocks that are right: what a writing trial does. */
static void test_stamp(void **state)
{
    struct fixture *f = *state;
    struct pattern_fill fill = filling(FILE_AT, NOW + 500);

    fill.stamp_only = 1;
    pattern_fill_range(f->data, BYTES, &fill);
    assert_int_equal(judge(f, 0, BYTES, NOW + 500).bytes_ok, BYTES);
    assert_int_equal(judge(f, 0, BYTES, NOW).blocks_bad, N_BLOCKS);
}

static void test_cut_block(void **state)
{
    struct fixture *f = *state;
    struct pattern_fill fill = filling(FILE_AT, NOW);

    memset(f->data, 0xee, BYTES);
    pattern_fill_range(f->data, PATTERN_BLOCK + 1000, &fill);
    assert_int_equal(judge(f, 0, PATTERN_BLOCK + 1000, NOW).bytes_ok, PATTERN_BLOCK + 1000);
    assert_int_equal(f->data[PATTERN_BLOCK + 1000], 0xee);
}

static void test_digest(void **state)
{
    struct fixture *f = *state;
    uint64_t a = pattern_digest(f->data, 10001);

    for (size_t i = 0; i < 10001; i += 13) {
        f->data[i] ^= 4;
        assert_int_not_equal(pattern_digest(f->data, 10001), a);
        f->data[i] ^= 4;
    }
    assert_int_equal(pattern_digest(f->data, 10001), a);
    assert_int_not_equal(pattern_digest(f->data, 10000), a);
    exchange(f->data, f->data + 8, 8);
    assert_int_not_equal(pattern_digest(f->data, 10001), a);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_numbers), TEST(test_whole),  TEST(test_every_fragment), TEST(test_every_byte_counts),
        TEST(test_stale),   TEST(test_future), TEST(test_swapped_blocks), TEST(test_payload_names_its_word),
        TEST(test_shifted), TEST(test_torn),   TEST(test_other_file),     TEST(test_zeros),
        TEST(test_stamp),   TEST(test_digest), TEST(test_cut_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
