/* SPDX-License-Identifier: MIT */
/* What may be taken off the wait of a simulated request, learnt from those who ask again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simfs/overhead.h"

#define MS 1000000u

/* Thread @pid asks @n times for @bytes, each time @gap_ns after its answer was due; returns the time after that. */
static uint64_t ask(struct overhead *o, pid_t pid, uint64_t bytes, unsigned n, uint64_t gap_ns, uint64_t now)
{
    for (unsigned i = 0; i < n; i++, now += 2 * MS + gap_ns) {
        overhead_arrive(o, pid, now);
        overhead_expect(o, pid, MODEL_READ, bytes, now + 2 * MS);
    }
    return now;
}

static void nothing_is_known_at_first(void **state)
{
    struct overhead o = {0};

    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), UINT64_MAX);
    ask(&o, 7, 4096, 1, 0, MS); /* and it has not asked again */
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), UINT64_MAX);
}

static void who_asks_again_bounds_it(void **state)
{
    struct overhead o = {0};
    uint64_t now = ask(&o, 7, 4096, 2, 50000, MS);

    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), 50000);
    now = ask(&o, 7, 4096, 100, 30000, now);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), 30000);
    ask(&o, 7, 4096, 100, 90000, now); /* another time is another time */
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), 90000);
}

static void each_size_and_op_has_its_own(void **state)
{
    struct overhead o = {0};

    ask(&o, 7, 4096, 9, 50000, MS);
    ask(&o, 8, 1u << 20, 9, 170000, MS);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), 50000);
    assert_int_equal(overhead_most(&o, MODEL_READ, 1u << 20), 170000);
    assert_int_equal(overhead_most(&o, MODEL_READ, 65536), UINT64_MAX);
    assert_int_equal(overhead_most(&o, MODEL_WRITE, 4096), UINT64_MAX);
}

/* A quarter that thinks before it asks again, or is held up, changes nothing; nor does one that was quick once. */
static void it_is_the_lower_quartile(void **state)
{
    struct overhead o = {0};
    uint64_t now = MS;

    for (int i = 0; i < 64; i++)
        now = ask(&o, 7, 4096, 1, i % 8 == 0 ? 1000 : i % 2 ? 50000 : 10 * MS, now);
    overhead_arrive(&o, 7, now);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), 50000);
}

/* Several on their way at a time, by a thread that does not wait for each: when it asks says nothing. */
static void what_overlaps_teaches_nothing(void **state)
{
    struct overhead o = {0};
    uint64_t now = MS;

    for (int i = 0; i < 100; i++, now += MS) { /* two at any time */
        overhead_arrive(&o, 7, now);
        overhead_expect(&o, 7, MODEL_READ, 4096, now + 2 * MS);
    }
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), UINT64_MAX);
    now += 2 * MS; /* the last of them was not alone either */
    overhead_arrive(&o, 7, now);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), UINT64_MAX);
    overhead_expect(&o, 7, MODEL_READ, 4096, now + MS); /* but this one is */
    overhead_arrive(&o, 7, now + MS + 700);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), 700);
}

/* An answer of which is not known when it comes (a buffered read, a hung one). */
static void without_an_answer_nothing_is_learnt(void **state)
{
    struct overhead o = {0};

    overhead_arrive(&o, 7, MS);
    overhead_arrive(&o, 7, 2 * MS);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), UINT64_MAX);
    ask(&o, 7, 4096, 1, 0, 3 * MS);
    overhead_arrive(&o, 7 + OVERHEAD_CALLERS, 9 * MS); /* takes its place */
    overhead_arrive(&o, 7, 10 * MS);
    assert_int_equal(overhead_most(&o, MODEL_READ, 4096), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_at_first),     cmocka_unit_test(who_asks_again_bounds_it),
        cmocka_unit_test(each_size_and_op_has_its_own),  cmocka_unit_test(it_is_the_lower_quartile),
        cmocka_unit_test(what_overlaps_teaches_nothing), cmocka_unit_test(without_an_answer_nothing_is_learnt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
