/* SPDX-License-Identifier: MIT */
/* Drift, crossovers, saturation and the blocks that are needed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stats/distribution.h"
#include "stats/needed.h"
#include "stats/stats.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define N_BLOCKS     20

#define assert_near(value, expected, relative) near_at(value, expected, relative, #value, __FILE__, __LINE__)

static void near_at(double value, double expected, double relative, const char *what, const char *file, int line)
{
    if (fabs(value - expected) <= relative * fabs(expected))
        return;
    print_error("%s: %.15g, expected %.15g\n", what, value, expected);
    _fail(file, line);
}

/* ------------------------------------------------------------------------------------------------
 * Drift
 */

/* Anscombe (1973), Graphs in statistical analysis, first set: y = 3.0001 + 0.5001 x, standard error of the slope
 * 0.1179, 9 degrees of freedom, p = 0.00217; t table: quantile(0.995) with 9 is 3.2498. */
static void drift_is_least_squares(void **state)
{
    static const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
    static const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
    struct stats_timed values[COUNT(x)];
    struct stats_drift d;

    for (size_t i = 0; i < COUNT(x); i++)
        values[i] = (struct stats_timed){x[i], exp(y[i]), 7};
    stats_drift(values, COUNT(x), 0.03, &d);
    assert_true(d.known && d.is_drift);
    assert_near(log(d.change), 10 * 0.5000909, 1e-6);
    assert_near(d.p, 0.00217, 2e-3);
    assert_near(log(d.low), 10 * (0.5000909 - 3.249836 * 0.1179055), 1e-5);
    assert_near(log(d.high), 10 * (0.5000909 + 3.249836 * 0.1179055), 1e-5);
}

/* Two arms of different rates, one early and one late: no drift. Their own slopes, about their own means, are. */
static void drift_takes_out_the_level_of_each_group(void **state)
{
    struct stats_timed values[20];
    struct stats_drift d;

    for (unsigned i = 0; i < 20; i++)
        values[i] = (struct stats_timed){i, (i < 10 ? 100 : 300) * (1 + 0.01 * (i * 7 % 5)), i / 10};
    stats_drift(values, 20, 0.03, &d);
    assert_true(d.known && !d.is_drift && d.p > 0.1);
    for (unsigned i = 0; i < 20; i++)
        values[i].value *= exp(-0.02 * i);
    stats_drift(values, 20, 0.03, &d);
    assert_true(d.is_drift);
    assert_true(fabs(log(d.change) + 0.38) < 0.05 && d.low < exp(-0.38) && d.high > exp(-0.38));
    stats_drift(values, 20, 0.5, &d); /* within the margin */
    assert_true(d.p < 0.01 && !d.is_drift);
}

static void drift_without_enough_figures(void **state)
{
    struct stats_timed values[] = {{1, 5, 0}, {2, 6, 0}, {3, 8, 0}, {4, NAN, 0}, {5, 0, 0}, {6, 1, 1}, {7, 1, 2}};
    struct stats_timed at_once[] = {{1, 5, 0}, {1, 6, 0}, {1, 8, 0}, {1, 5, 0}, {1, 7, 0}, {1, 7, 0}};
    struct stats_timed constant[] = {{1, 5, 0}, {2, 5, 0}, {3, 5, 0}, {4, 5, 0}, {5, 5, 0}, {6, 5, 0}};
    struct stats_drift d;

    stats_drift(values, COUNT(values), 0.03, &d);
    assert_true(!d.known && !d.is_drift && isnan(d.change) && isnan(d.p) && isnan(d.low));
    stats_drift(at_once, COUNT(at_once), 0.03, &d);
    assert_true(!d.known && !d.is_drift);
    stats_drift(NULL, 0, 0.03, &d);
    assert_true(!d.known);
    stats_drift(constant, COUNT(constant), 0.03, &d);
    assert_true(d.known && !d.is_drift && d.p == 1 && d.change == 1 && d.low == 1 && d.high == 1);
}

/* ------------------------------------------------------------------------------------------------
 * Crossovers
 */

struct line {
    struct stats_point points[5];
    double y[5][N_BLOCKS];
};

/* Points at 1, 4, 16, ...: each block lies off the means by the same amount at all points, with an sd of exactly @sd.
 */
static void make_line(struct line *l, size_t n, const double *means, const enum stats_verdict *verdicts, double sd)
{
    double unit = sqrt(N_BLOCKS / (N_BLOCKS - 1.)); /* sd of +1, -1, +1, ... */

    for (size_t i = 0; i < n; i++) {
        for (int b = 0; b < N_BLOCKS; b++)
            l->y[i][b] = means[i] + (b % 2 ? sd : -sd) / unit;
        l->points[i] = (struct stats_point){.x = pow(4, (double)i), .log_ratio = l->y[i]};
        l->points[i].effect = (struct stats_effect){.n = N_BLOCKS, .ratio = exp(means[i]), .verdict = verdicts[i]};
    }
}

static const double step[] = {-0.1, -0.1, 0.1, 0.1};
static const enum stats_verdict step_verdicts[] = {VERDICT_WORSE, VERDICT_WORSE, VERDICT_BETTER, VERDICT_BETTER};

/* By hand: between 4 and 16 the mean is -0.1 + 0.2 w, so it is 0 at w = 1/2, x = 8; |m| <= t sd / sqrt(20) is
 * w = 1/2 +- t sd / (0.2 sqrt(20)), t = quantile(0.975) with 19 = 2.093024. */
static void crossover_by_hand(void **state)
{
    double half = 2.093024 * 0.02 / (0.2 * sqrt(20));
    struct stats_crossover c[2];
    struct line l;

    make_line(&l, 4, step, step_verdicts, 0.02);
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS, 0.05, c, 2), 1);
    assert_int_equal(c[0].before, 1);
    assert_int_equal(c[0].after, 2);
    assert_true(c[0].rises);
    assert_near(c[0].x, 8, 1e-9);
    assert_near(c[0].low, 4 * pow(4, 0.5 - half), 1e-6);
    assert_near(c[0].high, 4 * pow(4, 0.5 + half), 1e-6);
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS, 0.05, NULL, 0), 0);
}

/* Noise that the points do not share: the variance between them is that of an average, so that pairing over points by
 * block matters. Independent, equal: (1 - 2 w (1 - w)) sd^2. */
static void crossover_keeps_the_pairing_over_points(void **state)
{
    struct stats_crossover shared, apart;
    struct line l;

    make_line(&l, 4, step, step_verdicts, 0.05);
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS, 0.05, &shared, 1), 1);
    for (int b = 0; b < N_BLOCKS; b++) /* +, +, -, - at the other end: no correlation */
        l.y[2][b] = 0.1 + fabs(l.y[2][b] - 0.1) * (b / 2 % 2 ? 1 : -1);
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS, 0.05, &apart, 1), 1);
    assert_true(apart.low > shared.low * 1.02 && apart.high < shared.high / 1.02);
    assert_true(apart.low < 8 && apart.high > 8);
}

static void crossover_has_an_interval_from_20_blocks_only(void **state)
{
    struct stats_crossover c;
    struct line l;

    make_line(&l, 4, step, step_verdicts, 0.02);
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS - 1, 0.05, &c, 1), 1);
    assert_near(c.x, 8, 1e-9);
    assert_true(isnan(c.low) && isnan(c.high));
    l.y[2][3] = NAN; /* 19 blocks have both */
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS, 0.05, &c, 1), 1);
    assert_true(isnan(c.low) && isnan(c.high));
}

/* At 16 and 4 a mean of 0 is not excluded, at 1 it is, at 64 it is not. */
static void crossover_goes_on_outside_its_bracket(void **state)
{
    static const double means[] = {-0.3, -0.01, 0.01, 0.01};
    double t_se = 2.093024 * 0.1 / sqrt(20);
    struct stats_crossover c;
    struct line l;

    make_line(&l, 4, means, step_verdicts, 0.1);
    assert_int_equal(stats_crossovers(l.points, 4, N_BLOCKS, 0.05, &c, 1), 1);
    assert_near(c.x, 8, 1e-9);
    assert_near(c.low, pow(4, (0.3 - t_se) / 0.29), 1e-6); /* -0.3 + 0.29 w = -t se */
    assert_true(isnan(c.high));
}

/* Undecided, same and empty points lie between; x is where the line through the means first reaches 0. */
static void crossover_skips_what_is_not_decided(void **state)
{
    static const double means[] = {0.1, 0.02, 0.5, -0.02, -0.1};
    static const enum stats_verdict verdicts[] = {VERDICT_BETTER, VERDICT_SAME, VERDICT_NONE, VERDICT_UNDECIDED,
                                                  VERDICT_WORSE};
    struct stats_crossover c;
    struct line l;

    make_line(&l, 5, means, verdicts, 0.01);
    l.points[2].effect = (struct stats_effect){.n = 0, .ratio = NAN, .verdict = VERDICT_NONE};
    for (int b = 0; b < N_BLOCKS; b++)
        l.y[2][b] = NAN;
    assert_int_equal(stats_crossovers(l.points, 5, N_BLOCKS, 0.05, &c, 1), 1);
    assert_int_equal(c.before, 0);
    assert_int_equal(c.after, 4);
    assert_false(c.rises);
    assert_near(c.x, 16, 1e-9); /* half way from 4 to 64 */
    assert_true(c.low > 4 && c.low < 16 && c.high > 16 && c.high < 64);
}

static void crossovers_there_and_back(void **state)
{
    static const double means[] = {0.1, -0.1, 0.1, 0.1};
    static const enum stats_verdict verdicts[] = {VERDICT_WORSE, VERDICT_BETTER, VERDICT_WORSE, VERDICT_WORSE};
    struct stats_crossover c[3];
    struct line l;

    make_line(&l, 4, means, verdicts, 0.01); /* lower is better */
    assert_int_equal(stats_crossovers(l.points, 4, 5, 0.05, c, 3), 2);
    assert_true(c[0].rises && !c[1].rises);
    assert_near(c[0].x, 2, 1e-9);
    assert_near(c[1].x, 8, 1e-9);
    assert_int_equal(stats_crossovers(l.points, 4, 5, 0.05, c, 1), 1);
    assert_int_equal(stats_crossovers(l.points, 1, 5, 0.05, c, 1), 0);
    assert_int_equal(stats_crossovers(NULL, 0, 5, 0.05, c, 1), 0);
}

/* ------------------------------------------------------------------------------------------------
 * Saturation
 */

static size_t saturation(const double *centers, size_t n, bool higher_is_better)
{
    struct stats_figure figures[8] = {{0}};

    for (size_t i = 0; i < n; i++)
        figures[i] = (struct stats_figure){.n = isnan(centers[i]) ? 0 : 5, .center = centers[i]};
    return stats_saturation(figures, n, 0.03, higher_is_better);
}

static void saturation_is_where_gains_end(void **state)
{
    assert_int_equal(saturation((double[]){1, 2, 4, 4.05, 4.06}, 5, true), 2);
    assert_int_equal(saturation((double[]){1, 2, 4, 4.05, 4.2}, 5, true), 5); /* the last is the first to reach it */
    assert_int_equal(saturation((double[]){1, 2, 3.9, 4, 4.1}, 5, true), 3);  /* slow gains add up */
    assert_int_equal(saturation((double[]){1, 2, 4, 3, 2}, 5, true), 2);      /* falls again */
    assert_int_equal(saturation((double[]){8, 4, 2, 2, 1.99}, 5, false), 2);
    assert_int_equal(saturation((double[]){8, 4, 2, 2, 1.99}, 5, true), 0);
    assert_int_equal(saturation((double[]){1, NAN, 4, NAN, 4.05}, 5, true), 2);
    assert_int_equal(saturation((double[]){1, NAN, NAN, 4.05}, 4, true), 4); /* two figures */
    assert_int_equal(saturation((double[]){1, 1}, 2, true), 2);
    assert_int_equal(saturation(NULL, 0, true), 0);
}

/* ------------------------------------------------------------------------------------------------
 * Blocks
 */

/* Least number by trying each; @widths as in docs/statistics.md. */
static unsigned blocks_by_trial(const struct needed *s, double sd, double widths)
{
    double room = fmax(fabs(s->mean), s->log_margin - fabs(s->mean));

    for (unsigned n = s->n + 1 > STATS_MIN_BLOCKS ? s->n + 1 : STATS_MIN_BLOCKS; n < 10000; n++)
        if ((t_critical(s->alpha, s->df + (n > s->n ? n - s->n : 0)) + widths) * sd / sqrt(n) < room)
            return n;
    return 10000;
}

static void blocks_needed_are_the_least(void **state)
{
    unsigned low, high;

    for (double mean = -0.08; mean < 0.08; mean += 0.013)
        for (double sd = 0.005; sd < 0.4; sd *= 3)
            for (unsigned n = 2; n < 20; n += 4) {
                struct needed s = {mean, sd, n + 1.5, n, 0.01, log(1.03)};
                double narrow = sqrt(s.df / stats_chi2_quantile(0.75, s.df));
                double wide = sqrt(s.df / stats_chi2_quantile(0.25, s.df));

                needed_blocks(&s, &low, &high);
                assert_int_equal(low, blocks_by_trial(&s, sd * narrow, 0));
                assert_int_equal(high, blocks_by_trial(&s, sd * wide, 0.8416212));
                assert_true(low > n && low >= STATS_MIN_BLOCKS && low <= high);
            }
}

static void blocks_needed_at_the_ends(void **state)
{
    struct needed s = {.mean = 0, .sd = 3, .df = 4, .n = 5, .alpha = 0.05, .log_margin = log(1.03)};
    unsigned low, high;

    needed_blocks(&s, &low, &high);
    assert_int_equal(low, 10000);
    assert_int_equal(high, 10000);
    s.log_margin = 0; /* nothing would ever decide a ratio of 1 */
    needed_blocks(&s, &low, &high);
    assert_int_equal(low, 0);
    assert_int_equal(high, 0);
    s = (struct needed){.mean = 0.05, .sd = 0.05, .df = INFINITY, .n = 3, .alpha = 0.05, .log_margin = log(1.03)};
    needed_blocks(&s, &low, &high);
    assert_int_equal(low, 5);  /* 1.96^2 = 3.8: at least the blocks that any verdict takes */
    assert_int_equal(high, 8); /* (1.96 + 0.84)^2 = 7.8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_is_least_squares),
        cmocka_unit_test(drift_takes_out_the_level_of_each_group),
        cmocka_unit_test(drift_without_enough_figures),
        cmocka_unit_test(crossover_by_hand),
        cmocka_unit_test(crossover_keeps_the_pairing_over_points),
        cmocka_unit_test(crossover_has_an_interval_from_20_blocks_only),
        cmocka_unit_test(crossover_goes_on_outside_its_bracket),
        cmocka_unit_test(crossover_skips_what_is_not_decided),
        cmocka_unit_test(crossovers_there_and_back),
        cmocka_unit_test(saturation_is_where_gains_end),
        cmocka_unit_test(blocks_needed_are_the_least),
        cmocka_unit_test(blocks_needed_at_the_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
