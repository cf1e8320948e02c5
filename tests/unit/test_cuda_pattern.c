/* SPDX-License-Identifier: MIT */
/* Pattern kernels against the CPU's judgement of the same bytes. */
#include "cuda_fixture.h"

#include "kernels/judge.h"

#include <stdbool.h>

#define BYTES  (256u << 10)
#define BLOCKS (BYTES / PATTERN_BLOCK)

static struct rig rig;

static const uint64_t uuid[2] = {0x1122334455667788, 0x99aabbccddeeff00};
#define GENERATION (PATTERN_GENERATION_MIN + 12345678)

static void checksum_is_xxh64(void **state)
{
    struct random random = {1};
    struct pattern_header h;

    for (unsigned i = 0; i < 10000; i++) {
        for (unsigned w = 0; w < 8; w++)
            ((uint64_t *)&h)[w] = random_next(&random);
        assert_true(judge_checksum((const uint64_t *)&h) == pattern_checksum(&h));
    }
}

/* ------------------------------------------------------------------------------------------------ */

static void fills_like_the_cpu(void **state)
{
    const struct memory_ops *ops = rig.memory->ops;
    uint8_t *expected = malloc(BYTES), *found = malloc(BYTES);
    struct random random = {2};
    struct spur_error e;

    for (unsigned round = 0; round < 60; round++) {
        size_t bytes = round % 3 ? 1 + random_below(&random, BYTES / 2) : 8 * PATTERN_BLOCK;
        size_t at = round % 2 ? random_below(&random, BYTES / 2) : random_below(&random, 16) * 4096;
        struct pattern_fill fill = {
            .uuid = {random_next(&random), random_next(&random)},
            .offset = (random_next(&random) >> 8) / PATTERN_BLOCK * PATTERN_BLOCK,
            .generation = random_next(&random),
            .key_seed = random_next(&random),
        };

        memset(expected, 0x77, BYTES);
        assert_good(ops->copy_in(NULL, rig.buffer, 0, expected, BYTES, &e), &e);
        for (unsigned pass = 0; pass < 2; pass++) { /* whole, then headers and tags of a later generation only */
            pattern_fill_range(expected + at, bytes, &fill);
            assert_good(ops->fill(rig.stream, rig.buffer, at, bytes, &fill, &e), &e);
            rig_wait(&rig);
            assert_good(ops->copy_out(NULL, rig.buffer, 0, found, BYTES, &e), &e);
            assert_memory_equal(found, expected, BYTES);
            fill.generation++;
            fill.stamp_only = 1;
        }
    }
    free(expected);
    free(found);
}

/* Filling a payload anew must not be what stamping does. */
static void stamping_leaves_the_payload(void **state)
{
    const struct memory_ops *ops = rig.memory->ops;
    struct pattern_fill fill = {.uuid = {uuid[0], uuid[1]}, .generation = GENERATION, .key_seed = 5, .stamp_only = 1};
    uint8_t block[PATTERN_BLOCK];
    struct spur_error e;

    memset(block, 0x33, sizeof(block));
    assert_good(ops->copy_in(NULL, rig.buffer, 0, block, sizeof(block), &e), &e);
    assert_good(ops->fill(rig.stream, rig.buffer, 0, sizeof(block), &fill, &e), &e);
    rig_wait(&rig);
    assert_good(ops->copy_out(NULL, rig.buffer, 0, block, sizeof(block), &e), &e);
    assert_int_equal(block[64], 0x33);
    assert_int_equal(block[511], 0x33);
    assert_int_not_equal(*(uint64_t *)(block + 512), 0x3333333333333333);
    assert_int_equal(block[520], 0x33);
}

/* ------------------------------------------------------------------------------------------------
 * Damage
 */

static void make_file(uint8_t *file, uint64_t offset, uint64_t generation, uint64_t key_seed)
{
    struct pattern_fill fill = {
        .uuid = {uuid[0], uuid[1]}, .offset = offset, .generation = generation, .key_seed = key_seed};

    pattern_fill_range(file, BYTES, &fill);
}

/* Rewrites the checksum, so that the fields behind it are what is judged. */
static void reseal(uint8_t *block)
{
    struct pattern_header h;

    memcpy(&h, block, sizeof(h));
    h.checksum = pattern_checksum(&h);
    memcpy(block, &h, sizeof(h));
}

struct damage {
    struct random *random;
    uint8_t *file;        /* BYTES of it */
    const uint8_t *other; /* the same place written by an earlier generation */
    size_t at, bytes;     /* what will be judged */
};

static size_t block_of(const struct damage *d)
{
    return (d->at + random_below(d->random, d->bytes)) / PATTERN_BLOCK * PATTERN_BLOCK;
}

static void flip(struct damage *d)
{
    d->file[d->at + random_below(d->random, d->bytes)] ^= (uint8_t)(1u << random_below(d->random, 8));
}

static void flip_header(struct damage *d)
{
    uint8_t *block = d->file + block_of(d);

    block[random_below(d->random, 64)] ^= (uint8_t)(1u << random_below(d->random, 8));
    if (random_below(d->random, 2))
        reseal(block);
}

static void shift(struct damage *d)
{
    size_t by = random_below(d->random, 2) ? 1 + random_below(d->random, 700) : 512 * (1 + random_below(d->random, 9));

    memmove(d->file + by, d->file, BYTES - by);
}

static void swap(struct damage *d)
{
    size_t a = block_of(d), b = random_below(d->random, BLOCKS) * PATTERN_BLOCK;
    uint8_t keep[PATTERN_BLOCK];

    memcpy(keep, d->file + a, sizeof(keep));
    memmove(d->file + a, d->file + b, sizeof(keep));
    memcpy(d->file + b, keep, sizeof(keep));
}

static void stale(struct damage *d)
{
    size_t at = block_of(d);

    memcpy(d->file + at, d->other + at, PATTERN_BLOCK);
}

static void torn(struct damage *d)
{
    size_t at = block_of(d) + random_below(d->random, 8) * PATTERN_SECTOR;

    memcpy(d->file + at, d->other + at, PATTERN_SECTOR * (1 + random_below(d->random, 2)));
}

static void zero(struct damage *d)
{
    size_t at = d->at + random_below(d->random, d->bytes);
    size_t n = random_below(d->random, BYTES - at < 9000 ? BYTES - at : 9000);

    memset(d->file + at, 0, n);
}

static void none(struct damage *d) {}

static void (*const damages[])(struct damage *) = {none, flip, flip_header, shift, swap, stale, torn, zero};
#define N_DAMAGES (sizeof(damages) / sizeof(damages[0]))

static void same_verdict(const struct pattern_verdict *gpu, const struct pattern_verdict *cpu, unsigned round)
{
    if (!memcmp(gpu, cpu, sizeof(*gpu)))
        return;
    fail_msg("round %u: GPU ok %llu unjudged %llu bad %llu fault %llu offset %llu expected %llx found %llx;"
             " CPU ok %llu unjudged %llu bad %llu fault %llu offset %llu expected %llx found %llx",
             round, (unsigned long long)gpu->bytes_ok, (unsigned long long)gpu->bytes_unjudged,
             (unsigned long long)gpu->blocks_bad, (unsigned long long)gpu->fault, (unsigned long long)gpu->offset,
             (unsigned long long)gpu->expected, (unsigned long long)gpu->found, (unsigned long long)cpu->bytes_ok,
             (unsigned long long)cpu->bytes_unjudged, (unsigned long long)cpu->blocks_bad,
             (unsigned long long)cpu->fault, (unsigned long long)cpu->offset, (unsigned long long)cpu->expected,
             (unsigned long long)cpu->found);
}

/* A range of any start and length, short ones often. */
static void choose_range(struct random *random, struct damage *d)
{
    static const size_t most[] = {24, 600, 3000, 5000, 20000, BYTES};

    d->bytes = 1 + random_below(random, most[random_below(random, 6)]);
    d->at = random_below(random, BYTES - d->bytes + 1);
    if (random_below(random, 3) == 0)
        d->at = d->at / PATTERN_BLOCK * PATTERN_BLOCK;
    if (random_below(random, 3) == 0)
        d->at = d->at / 8 * 8;
}

static void judges_like_the_cpu(void **state)
{
    const struct memory_ops *ops = rig.memory->ops;
    const unsigned n_rounds = 4000;
    uint8_t *other = malloc(BYTES), *file = malloc(BYTES);
    unsigned n_good = 0, seen[8] = {0};
    struct random random = {3};
    struct spur_error e;

    for (unsigned round = 0; round < n_rounds; round++) {
        uint64_t offset = round % 2 ? (1ull << 40) + (uint64_t)(round / 100) * BYTES : 0;
        struct damage d = {&random, file, other, 0, 0};
        struct pattern_verdict cpu = {0}, gpu;
        struct pattern_expect expect = {
            {uuid[0], uuid[1]}, 0, random_below(&random, 2) ? GENERATION : 0, GENERATION + random_below(&random, 3)};
        unsigned skew = (unsigned)random_below(&random, 2) * (unsigned)random_below(&random, 16);

        make_file(file, offset, GENERATION, round);
        make_file(other, offset, random_below(&random, 2) ? GENERATION - 5 : 77, round + 1);
        choose_range(&random, &d);
        damages[round % N_DAMAGES](&d);
        expect.offset = offset + d.at;
        pattern_check_range(file + d.at, d.bytes, &expect, &cpu);
        assert_good(ops->copy_in(NULL, rig.buffer, skew, file + d.at, d.bytes, &e), &e);
        assert_good(ops->check(rig.stream, rig.buffer, skew, d.bytes, &expect, &e), &e);
        assert_good(ops->check_collect(rig.stream, &gpu, &e), &e);
        same_verdict(&gpu, &cpu, round);
        n_good += !cpu.blocks_bad;
        seen[cpu.fault]++;
    }
    /* The rounds must have met everything there is to tell apart. */
    assert_true(n_good > n_rounds / 10 && n_good < n_rounds * 9 / 10);
    for (unsigned i = 0; i < 8; i++)
        if (!seen[i])
            fail_msg("no round had fault %u", i);
    free(other);
    free(file);
}

/* Verdicts add up until they are collected, across a digest too; then they begin anew. */
static void verdicts_accumulate(void **state)
{
    const struct memory_ops *ops = rig.memory->ops;
    struct pattern_verdict cpu = {0}, gpu;
    uint8_t *file = malloc(BYTES);
    struct spur_error e;
    uint64_t digest;

    make_file(file, 0, GENERATION, 9);
    file[3 * PATTERN_BLOCK + 100] ^= 1;
    file[9 * PATTERN_BLOCK + 100] ^= 1;
    file[20 * PATTERN_BLOCK + 10] ^= 1;
    assert_good(ops->copy_in(NULL, rig.buffer, 0, file, BYTES, &e), &e);
    for (unsigned i = 0; i < BLOCKS; i += 4) {
        unsigned first = BLOCKS - 4 - i; /* the lowest bad block comes last */
        struct pattern_expect expect = {{uuid[0], uuid[1]}, first * PATTERN_BLOCK, GENERATION, 0};

        assert_good(ops->check(rig.stream, rig.buffer, first * PATTERN_BLOCK, 4 * PATTERN_BLOCK, &expect, &e), &e);
        pattern_check_range(file + first * PATTERN_BLOCK, 4 * PATTERN_BLOCK, &expect, &cpu);
        if (i == BLOCKS / 2)
            assert_good(ops->digest(rig.stream, rig.buffer, 0, BYTES, &digest, &e), &e);
    }
    assert_int_equal(cpu.blocks_bad, 3);
    assert_int_equal(cpu.offset, 3 * PATTERN_BLOCK + 96);
    assert_good(ops->check_collect(rig.stream, &gpu, &e), &e);
    same_verdict(&gpu, &cpu, 0);
    memset(&cpu, 0, sizeof(cpu));
    assert_good(ops->check_collect(rig.stream, &gpu, &e), &e);
    same_verdict(&gpu, &cpu, 1);
    free(file);
}

/* All blocks bad: the recorded one is still the first. */
static void everything_bad(void **state)
{
    const struct memory_ops *ops = rig.memory->ops;
    struct pattern_expect expect = {{uuid[0], uuid[1]}, 1ull << 33, GENERATION, 0};
    struct pattern_verdict cpu = {0}, gpu;
    uint8_t *file = calloc(1, BYTES);
    struct spur_error e;

    assert_good(ops->copy_in(NULL, rig.buffer, 0, file, BYTES, &e), &e);
    assert_good(ops->check(rig.stream, rig.buffer, 0, BYTES, &expect, &e), &e);
    assert_good(ops->check_collect(rig.stream, &gpu, &e), &e);
    pattern_check_range(file, BYTES, &expect, &cpu);
    assert_int_equal(gpu.blocks_bad, BLOCKS);
    assert_true(gpu.offset == 1ull << 33);
    same_verdict(&gpu, &cpu, 0);
    free(file);
}

static void digests_like_the_cpu(void **state)
{
    const struct memory_ops *ops = rig.memory->ops;
    uint8_t *bytes = malloc(BYTES);
    struct random random = {4};
    struct spur_error e;

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)random_next(&random);
    assert_good(ops->copy_in(NULL, rig.buffer, 0, bytes, BYTES, &e), &e);
    for (unsigned round = 0; round < 300; round++) {
        size_t n = round < 20 ? round : random_below(&random, round % 2 ? 5000 : BYTES);
        size_t at = random_below(&random, BYTES - n + 1);
        uint64_t digest;

        assert_good(ops->digest(rig.stream, rig.buffer, at, n, &digest, &e), &e);
        assert_true(digest == pattern_digest(bytes + at, n));
    }
    free(bytes);
}

static int open_rig(void **state)
{
    struct fake_hooks hooks = fake_hooks_get();

    if (hooks.delay)
        hooks.delay(0);
    rig_open(&rig, BYTES + 4096, 2);
    return 0;
}

static int close_rig(void **state)
{
    rig_close(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_xxh64),    cmocka_unit_test(fills_like_the_cpu),
        cmocka_unit_test(judges_like_the_cpu),  cmocka_unit_test(stamping_leaves_the_payload),
        cmocka_unit_test(verdicts_accumulate),  cmocka_unit_test(everything_bad),
        cmocka_unit_test(digests_like_the_cpu),
    };

    if (skip_without_cuda())
        return 77;
    return cmocka_run_group_tests(tests, open_rig, close_rig);
}
