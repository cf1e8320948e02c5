/* SPDX-License-Identifier: MIT */
/* How fanout cuts requests, over all small cases, against what a piece must be whatever the arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"
#include "memory/memory.h"
#include "path/fanout_plan.h"

#define MAX_CUTS 4096
#define PAGE     4096u

struct test_case {
    struct fanout_shape shape;
    bool write;
    uint64_t offset, length;
    struct spur_segment segments[8];
    uint32_t n_segments;
};

static struct fanout_cut cuts[MAX_CUTS];
static unsigned n_cuts;
static const struct test_case *now; /* named by a failure */

#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("%s: %s offset %llu length %llu align %u/%u piece %u %s, %u segments, the first of %llu at %llx", \
                     #condition, now->write ? "write" : "read", (unsigned long long)now->offset,                       \
                     (unsigned long long)now->length, now->shape.align, now->shape.align_address, now->shape.piece,    \
                     now->shape.host ? "host" : "device", now->n_segments,                                             \
                     (unsigned long long)now->segments[0].length,                                                      \
                     (unsigned long long)(now->segments[0].buffer->address + now->segments[0].offset));                \
    } while (0)

static void cut_all(const struct test_case *c)
{
    struct fanout_plan plan;

    now = c;
    n_cuts = 0;
    fanout_plan_begin(&plan, &c->shape, c->write, c->offset, c->length, c->segments, c->n_segments);
    while (!fanout_plan_done(&plan)) {
        HOLDS(n_cuts < MAX_CUTS);
        fanout_plan_peek(&plan, &cuts[n_cuts]);
        fanout_plan_advance(&plan, &cuts[n_cuts++]);
    }
}

static bool aligned(uint64_t value, uint64_t to)
{
    return value % to == 0;
}

static uint64_t address_of(const struct test_case *c, const struct fanout_cut *cut)
{
    const struct spur_segment *s = &c->segments[cut->segment];

    return s->buffer->address + s->offset + (cut->want_offset - cut->segment_offset);
}

/* The cut's segment is the one that a walk from the start finds. */
static void check_segment(const struct test_case *c, const struct fanout_cut *cut)
{
    uint64_t at = c->offset;
    uint32_t i = 0;

    for (; cut->want_offset >= at + c->segments[i].length; i++)
        at += c->segments[i].length;
    HOLDS(cut->segment == i);
    HOLDS(cut->segment_offset == at);
    HOLDS(!cut->straight || cut->want_offset + cut->want_bytes <= at + c->segments[i].length);
}

static void check_cut(const struct test_case *c, const struct fanout_cut *cut)
{
    uint64_t io_end = cut->io_offset + cut->io_bytes, want_end = cut->want_offset + cut->want_bytes;

    HOLDS(cut->io_bytes > 0 && cut->want_bytes > 0);
    HOLDS(cut->io_bytes <= c->shape.piece);
    HOLDS(cut->want_offset >= cut->io_offset && want_end <= io_end);
    check_segment(c, cut);
    if (!cut->buffered)
        HOLDS(aligned(cut->io_offset, c->shape.align) && aligned(cut->io_bytes, c->shape.align));
    if (c->write || cut->straight)
        HOLDS(cut->io_offset == cut->want_offset && cut->io_bytes == cut->want_bytes);
    if (cut->straight && !cut->buffered)
        HOLDS(c->shape.host && aligned(address_of(c, cut), c->shape.align_address));
    HOLDS(c->shape.host || !cut->straight);
}

/* Sorted by offset, the I/O of all cuts is [begin, end) without a gap or an overlap; what they want is the request. */
static void check_tiling(const struct test_case *c, uint64_t begin, uint64_t end)
{
    static bool used[MAX_CUTS];
    uint64_t at = begin, want = c->offset;

    memset(used, 0, n_cuts);
    for (unsigned k = 0; k < n_cuts; k++) {
        unsigned i = 0;

        while (i < n_cuts && (used[i] || cuts[i].io_offset != at))
            i++;
        HOLDS(i < n_cuts);
        HOLDS(cuts[i].want_offset == want);
        used[i] = true;
        at += cuts[i].io_bytes;
        want += cuts[i].want_bytes;
    }
    HOLDS(at == end);
    HOLDS(want == c->offset + c->length);
}

/* No page is written both ways; pieces of edges come last, and only where the request is unaligned. */
static void check_edges(const struct test_case *c)
{
    bool unaligned = (c->offset | c->length) % c->shape.align;
    bool edge = false;

    for (unsigned i = 0; i < n_cuts; i++) {
        HOLDS(!cuts[i].buffered || (c->write && unaligned));
        HOLDS(cuts[i].buffered || !edge);
        edge |= cuts[i].buffered;
    }
    if (!c->write || !unaligned)
        return;
    for (unsigned i = 0; i < n_cuts; i++)
        for (unsigned k = 0; k < n_cuts; k++)
            if (cuts[i].buffered && !cuts[k].buffered)
                HOLDS((cuts[i].io_offset + cuts[i].io_bytes - 1) / PAGE < cuts[k].io_offset / PAGE ||
                      cuts[i].io_offset / PAGE > (cuts[k].io_offset + cuts[k].io_bytes - 1) / PAGE);
}

/* Whole requests that keep to everything are never staged. */
static void check_straight(const struct test_case *c)
{
    uint64_t address = c->segments[0].buffer->address + c->segments[0].offset;

    if (!c->shape.host || c->n_segments > 1 || (c->offset | c->length) % c->shape.align ||
        (address | c->offset) % c->shape.align_address)
        return;
    for (unsigned i = 0; i < n_cuts; i++)
        HOLDS(cuts[i].straight);
}

static void check_case(const struct test_case *c)
{
    uint64_t end = c->offset + c->length;

    cut_all(c);
    for (unsigned i = 0; i < n_cuts; i++)
        check_cut(c, &cuts[i]);
    if (c->write)
        check_tiling(c, c->offset, end);
    else
        check_tiling(c, round_down(c->offset, c->shape.align), round_up(end, c->shape.align));
    check_edges(c);
    check_straight(c);
}

/* One segment, and several whose borders fall anywhere. */
static void check_splits(struct test_case *c, struct spur_buffer *b, uint64_t address_offset)
{
    static const uint64_t borders[] = {1, 511, 512, 4095, 4096, 70000};

    c->segments[0] = (struct spur_segment){b, address_offset, c->length};
    c->n_segments = 1;
    check_case(c);
    for (size_t i = 0; i < ARRAY_SIZE(borders); i++) {
        uint64_t rest = c->length, at = address_offset;

        c->n_segments = 0;
        for (unsigned k = 0; k < 3 && rest > borders[i]; k++) {
            c->segments[c->n_segments++] = (struct spur_segment){b, at, borders[i]};
            at += borders[i] + (k == 1 ? 513 : 4096); /* the pieces of the buffer need not touch */
            rest -= borders[i];
        }
        c->segments[c->n_segments++] = (struct spur_segment){b, at, rest};
        check_case(c);
    }
}

static void for_shapes(void (*f)(struct test_case *c, struct spur_buffer *b, uint64_t address_offset), bool write)
{
    static const uint64_t offsets[] = {0, 1, 511, 512, 4095, 4096, 8192 + 7, (5ull << 30) + 512};
    static const uint64_t lengths[] = {1, 511, 512, 4096, 4097, 3 * 4096 + 777, 8192, 200000, 262144};
    static const uint32_t aligns[] = {1, 512, 4096}, pieces[] = {4096, 65536, 1u << 20};
    static const uint64_t addresses[] = {0, 1, 512, 4096, 4096 + 511};
    struct spur_buffer b = {.address = 1u << 20, .bytes = 1u << 30};

    for (unsigned i = 0; i < ARRAY_SIZE(offsets) * ARRAY_SIZE(lengths) * ARRAY_SIZE(addresses); i++)
        for (unsigned k = 0; k < ARRAY_SIZE(aligns) * ARRAY_SIZE(aligns) * ARRAY_SIZE(pieces) * 2; k++) {
            uint32_t align = aligns[k % 3], align_address = aligns[k / 3 % 3];
            struct test_case c = {.write = write,
                                  .offset = offsets[i % ARRAY_SIZE(offsets)],
                                  .length = lengths[i / ARRAY_SIZE(offsets) % ARRAY_SIZE(lengths)]};

            c.shape = (struct fanout_shape){align, align_address, PAGE, pieces[k / 9 % 3], k / 27};
            f(&c, &b, addresses[i / ARRAY_SIZE(offsets) / ARRAY_SIZE(lengths)]);
        }
}

static void test_reads(void **state)
{
    for_shapes(check_splits, false);
}

static void test_writes(void **state)
{
    for_shapes(check_splits, true);
}

/* An unaligned read with a long inside: only the edges are staged. */
static void test_inside_is_straight(void **state)
{
    struct spur_buffer b = {.address = 1u << 20, .bytes = 1u << 30};
    struct test_case c = {.shape = {512, 512, PAGE, 1u << 20, true}, .offset = 100, .length = 1u << 20};
    uint64_t staged = 0;

    c.segments[0] = (struct spur_segment){&b, 512 + 100, c.length};
    c.n_segments = 1;
    check_case(&c);
    for (unsigned i = 0; i < n_cuts; i++)
        staged += cuts[i].straight ? 0 : cuts[i].want_bytes;
    assert_int_equal(staged, 512);
    c.segments[0].offset = 512 + 101; /* no longer congruent: all of it */
    check_case(&c);
    for (unsigned i = 0; i < n_cuts; i++)
        assert_false(cuts[i].straight);
}

/* Many small segments are one I/O. */
static void test_small_segments_share(void **state)
{
    struct spur_buffer b = {.address = 1u << 20, .bytes = 1u << 30};
    struct test_case c = {
        .shape = {512, 512, PAGE, 1u << 20, true}, .offset = 4096, .length = 8 * 4096, .n_segments = 8};

    for (unsigned i = 0; i < 8; i++)
        c.segments[i] = (struct spur_segment){&b, i * 8192, 4096};
    check_case(&c);
    assert_int_equal(n_cuts, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_inside_is_straight),
        cmocka_unit_test(test_small_segments_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
