/* SPDX-License-Identifier: MIT */
/* The search for a number in flight, against callers whose truth is drawn; and matches as part of a plan. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "causes_model.h"
#include "core/error.h"
#include "sweep/match.h"

struct callers {
    double each, limit; /* in flight of one caller, and of all; 0: no limit */
    uint32_t most;      /* that are taken; 0: any number */
    uint64_t state;
    unsigned n;
};

static int measure(void *context, uint32_t value, double *ret_in_flight, struct spur_error *e)
{
    struct callers *c = context;
    double in_flight = value * c->each;

    c->n++;
    assert_in_range(value, 1, MATCH_HIGHEST);
    if (c->most && value > c->most)
        return -ERANGE;
    *ret_in_flight = (c->limit > 0 && in_flight > c->limit ? c->limit : in_flight) *
                     exp(0.02 * model_normal(&c->state));
    return 0;
}

/* The target lies where some number of callers comes to it. */
static void test_found(void **state)
{
    uint64_t s = 1;

    for (int i = 0; i < 300; i++) {
        struct callers c = {.each = model_between(&s, 0.3, 16), .state = s};
        uint32_t truth = 1 + model_pick(&s, 200), start = 1 + model_pick(&s, 64);
        struct match_found found;
        struct spur_error e;

        assert_int_equal(match_search(truth * c.each, start, measure, &c, &found, &e), 0);
        assert_true(match_is_near(found.in_flight, truth * c.each));
        assert_true(fabs(log((double)found.value / truth)) < log(1.25));
        assert_int_equal(found.n_pilots, c.n);
        assert_true(c.n <= MATCH_PILOTS);
    }
}

static void test_out_of_reach(void **state)
{
    struct callers full = {.each = 1, .limit = 8, .state = 1}, coarse = {.each = 16, .state = 1};
    struct callers shallow = {.each = 1, .most = 4, .state = 1};
    struct match_found found;
    struct spur_error e;

    assert_int_equal(match_search(100, 1, measure, &full, &found, &e), 0);
    assert_false(match_is_near(found.in_flight, 100));
    assert_true(full.n <= 4); /* more callers are not asked for in vain */
    assert_int_equal(match_search(4, 1, measure, &coarse, &found, &e), 0);
    assert_false(match_is_near(found.in_flight, 4));
    assert_int_equal(found.value, 1);
    assert_int_equal(match_search(100, 1, measure, &shallow, &found, &e), 0);
    assert_int_equal(found.value, 4);
    assert_true(found.refused > 4);
    assert_int_equal(match_search(100, 5, measure, &shallow, &found, &e), -ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_out_of_reach),
    };

    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
