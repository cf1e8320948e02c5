/* SPDX-License-Identifier: MIT */
/* Distributions, the prior, effects and figures, on worked examples whose source is named. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stats/distribution.h"
#include "stats/stats.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define EULER          0.577215664901532861
#define CATALAN        0.915965594177219015
#define PI_SQUARED     9.869604401089358619
#define LOG_10         2.302585092994045684
#define HALF_SQRT_OF_2 0.707106781186547524

#define assert_near(value, expected, relative) near_at(value, expected, relative, #value, __FILE__, __LINE__)

static void near_at(double value, double expected, double relative, const char *what, const char *file, int line)
{
    if (fabs(value - expected) <= relative * fabs(expected))
        return;
    print_error("%s: %.15g, expected %.15g\n", what, value, expected);
    _fail(file, line);
}

/* ------------------------------------------------------------------------------------------------
 * Distributions
 */

/* Closed forms: Abramowitz and Stegun 26.7.3, 26.7.4 for 1 and 2 degrees of freedom; the normal for infinite. */
static void t_has_its_closed_forms(void **state)
{
    for (double t = 1e-6; t < 1e6; t *= 7) {
        assert_near(t_two_sided(t, 1), atan(1 / t) * 2 / M_PI, 1e-12);
        assert_near(t_two_sided(-t, 2), 2 / (2 + t * t + t * sqrt(2 + t * t)), 1e-12);
        assert_near(stats_t_cdf(-t, 2), 1 / (2 + t * t + t * sqrt(2 + t * t)), 1e-12);
        assert_near(stats_t_cdf(t, 1), 0.5 + atan(t) / M_PI, 1e-12);
    }
    assert_near(t_two_sided(9, INFINITY), erfc(9 * HALF_SQRT_OF_2), 1e-12);
    assert_near(t_two_sided(9, 1e12), erfc(9 * HALF_SQRT_OF_2), 1e-8);
}

/* NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2 (t) and 1.3.6.7.4 (chi-square), three decimals. */
static void quantiles_are_those_of_the_tables(void **state)
{
    static const struct {
        double p, df, t;
    } t_table[] = {
        {0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 4, 2.776},        {0.995, 4, 4.604},
        {0.999, 4, 7.173},  {0.95, 9, 1.833},  {0.975, 30, 2.042},       {0.99, 100, 2.364},
        {0.90, 5, 1.476},   {0.995, 9, 3.250}, {0.975, INFINITY, 1.960}, {0.999, INFINITY, 3.090},
    };
    static const struct {
        double p, df, chi2;
    } chi2_table[] = {
        {0.95, 1, 3.841},  {0.95, 4, 9.488},   {0.99, 4, 13.277},    {0.10, 4, 1.064},
        {0.05, 10, 3.940}, {0.95, 10, 18.307}, {0.90, 100, 118.498}, {0.10, 100, 82.358},
    };

    for (size_t i = 0; i < COUNT(t_table); i++) {
        assert_true(fabs(stats_t_quantile(t_table[i].p, t_table[i].df) - t_table[i].t) <= 0.00051);
        assert_true(fabs(stats_t_quantile(1 - t_table[i].p, t_table[i].df) + t_table[i].t) <= 0.00051);
    }
    for (size_t i = 0; i < COUNT(chi2_table); i++)
        assert_true(fabs(stats_chi2_quantile(chi2_table[i].p, chi2_table[i].df) - chi2_table[i].chi2) <= 0.00051);
}

static void quantiles_undo_probabilities(void **state)
{
    static const double dfs[] = {0.3, 1, 2.5, 4, 9.3, 41, 1000, 99999, 100001, 1e9, INFINITY};

    for (size_t i = 0; i < COUNT(dfs); i++) {
        for (double alpha = 0.999; alpha > 1e-12; alpha /= 3)
            assert_near(t_two_sided(t_critical(alpha, dfs[i]), dfs[i]), alpha, 1e-10);
        assert_near(stats_t_cdf(stats_t_quantile(0.3, dfs[i]), dfs[i]), 0.3, 1e-12);
    }
    for (double p = 0.001; p < 1; p += 0.037) { /* 2 degrees of freedom: an exponential distribution */
        assert_near(stats_chi2_quantile(p, 2), -2 * log1p(-p), 1e-10);
        assert_near(stats_chi2_quantile(p, 1), pow(stats_t_quantile(0.5 + p / 2, INFINITY), 2), 1e-9);
    }
}

static void ends_and_nonsense_of_distributions(void **state)
{
    assert_true(t_two_sided(0, 4) == 1);
    assert_true(t_two_sided(INFINITY, 4) == 0);
    assert_true(t_critical(0, 4) == INFINITY);
    assert_true(t_critical(1, 4) == 0);
    assert_true(stats_t_quantile(0.5, 4) == 0);
    assert_true(stats_t_quantile(1, 4) == INFINITY);
    assert_true(stats_t_quantile(0, 4) == -INFINITY);
    assert_true(stats_t_quantile(1e-300, 0.1) == -INFINITY); /* 1e2990 */
    assert_true(stats_chi2_quantile(0, 4) == 0);
    assert_true(stats_chi2_quantile(1, 4) == INFINITY);
    assert_true(isnan(t_two_sided(NAN, 4)));
    assert_true(isnan(t_two_sided(1, 0)));
    assert_true(isnan(stats_t_cdf(1, NAN)));
    assert_true(isnan(stats_t_quantile(1.5, 4)));
    assert_true(isnan(stats_t_quantile(NAN, 4)));
    assert_true(isnan(stats_chi2_quantile(0.5, -1)));
    assert_true(isnan(stats_digamma(0)));
    assert_true(isnan(stats_trigamma(-2.5)));
    assert_true(isnan(stats_trigamma_inverse(-1)));
    assert_true(stats_trigamma_inverse(0) == INFINITY);
}

/* Abramowitz and Stegun 6.3.2, 6.3.3, 6.3.5, 6.4.2, 6.4.4, 6.4.6 (exact) and table 6.1 (x = 1.5). */
static void polygammas_have_their_exact_values(void **state)
{
    assert_near(stats_digamma(1), -EULER, 1e-13);
    assert_near(stats_digamma(0.5), -EULER - 2 * M_LN2, 1e-13);
    assert_near(stats_digamma(2), 1 - EULER, 1e-13);
    assert_near(stats_digamma(1.5), 0.0364899740, 1e-8);
    assert_near(stats_trigamma(1), PI_SQUARED / 6, 1e-13);
    assert_near(stats_trigamma(0.5), PI_SQUARED / 2, 1e-13);
    assert_near(stats_trigamma(0.25), PI_SQUARED + 8 * CATALAN, 1e-13);
    assert_near(stats_trigamma(1.5), 0.9348022005, 1e-9);
    assert_near(stats_trigamma_inverse(PI_SQUARED / 6), 1, 1e-13);
    /* limma's tests (limma-Tests.Rout.save): trigammaInverse(c(1e-6, NA, 5, 1e6)) */
    assert_near(stats_trigamma_inverse(1e-6), 1e6, 1e-6);
    assert_near(stats_trigamma_inverse(5), 4.961687e-01, 2e-7);
    assert_near(stats_trigamma_inverse(1e6), 1.000001e-03, 5e-7);
    for (double y = 1e-12; y < 1e12; y *= 11)
        assert_near(stats_trigamma(stats_trigamma_inverse(y)), y, 1e-10);
}

/* ------------------------------------------------------------------------------------------------
 * The prior
 */

/* limma's tests, "Similar to Mette Langaas 19 May 2004" (limma-Tests.Rout.save): sigma, df.residual -> df.prior,
 * s2.prior, s2.post, t and p of the first gene. */
static void prior_is_limmas(void **state)
{
    static const double sigma[] = {1.3425032, 0.4647155, 1.1993444, 0.9428569, 0.9421509}, df[] = {6, 6, 6, 6, 4};
    static const double posterior[] = {1.2677996, 0.6459499, 1.1251558, 0.9097727, 0.9124980};
    double variance[COUNT(df)];
    struct stats_prior prior;

    for (size_t i = 0; i < COUNT(df); i++)
        variance[i] = sigma[i] * sigma[i];
    stats_prior_fit(variance, df, COUNT(df), &prior);
    assert_near(prior.df, 9.306153, 1e-6);
    assert_near(prior.variance, 0.923179, 1e-6);
    for (size_t i = 0; i < COUNT(df); i++)
        assert_near((prior.df * prior.variance + df[i] * variance[i]) / (prior.df + df[i]), posterior[i], 2e-7);
    assert_near(t_two_sided(3.847656, 15.30615), 1.529450e-03, 1e-6);
}

/*
 * By hand: logs +-a of 4 variances with 2 degrees of freedom vary by 4 a^2 / 3; with a = pi / 2 that is twice
 * trigamma(1), so trigamma(d0 / 2) = trigamma(1), d0 = 2, and the scale is exp(euler + digamma(1)) = 1.
 */
static void prior_by_hand(void **state)
{
    const double up = exp(M_PI_2), down = exp(-M_PI_2);
    struct stats_prior prior;

    stats_prior_fit((double[]){up, down, down, up}, (double[]){2, 2, 2, 2}, 4, &prior);
    assert_near(prior.df, 2, 1e-12);
    assert_near(prior.variance, 1, 1e-12);
}

static void prior_of_equal_variances_is_infinite(void **state)
{
    struct stats_prior prior;

    stats_prior_fit((double[]){3, 3, 3, 3, 3}, (double[]){4, 4, 4, 4, 4}, 5, &prior);
    assert_true(prior.df == INFINITY);
    assert_near(prior.variance, 3, 1e-12);
    stats_prior_fit((double[]){3, 3.5}, (double[]){4, 12}, 2, &prior);
    assert_true(prior.df == INFINITY);
    assert_near(prior.variance, (3 * 4 + 3.5 * 12) / 16, 1e-12); /* pooled */
}

static void prior_leaves_out_what_is_no_variance(void **state)
{
    struct stats_prior all, some;

    stats_prior_fit((double[]){1, 9, 2, 0.1}, (double[]){4, 4, 4, 4}, 4, &all);
    stats_prior_fit((double[]){0, 1, NAN, 9, 2, -1, 0.1, 5}, (double[]){4, 4, 4, 4, 4, 4, 4, 0}, 8, &some);
    assert_true(isfinite(all.df));
    assert_true(some.df == all.df && some.variance == all.variance);
    stats_prior_fit((double[]){0, 1}, (double[]){4, 4}, 2, &some);
    assert_true(some.df == 0 && isnan(some.variance));
    stats_prior_fit(NULL, NULL, 0, &some);
    assert_true(some.df == 0 && isnan(some.variance));
}

/* limma's floor, 1e-5 of the median: what lies below changes nothing. */
static void prior_floors_tiny_variances(void **state)
{
    struct stats_prior tiny, floor;

    stats_prior_fit((double[]){1e-30, 1, 1, 1}, (double[]){4, 4, 4, 4}, 4, &tiny);
    stats_prior_fit((double[]){1e-5, 1, 1, 1}, (double[]){4, 4, 4, 4}, 4, &floor);
    assert_true(tiny.df > 0 && tiny.df == floor.df && tiny.variance == floor.variance);
}

/* ------------------------------------------------------------------------------------------------
 * Effects
 */

static const struct stats_family_options usual = {.alpha = 0.05, .margin = 0.03, .higher_is_better = true};

static struct stats_effect judge_one(const double *log_ratio, unsigned n, const struct stats_family_options *o)
{
    struct stats_sample s = {log_ratio, n};
    struct stats_effect e;

    stats_family(&s, 1, o, &e);
    return e;
}

/* Student (1908), The probable error of a mean: additional hours of sleep, differences of two drugs in 10 patients. R's
 * t.test(extra ~ group, sleep, paired = TRUE): t = 4.0621, df = 9, p = 0.002833, interval 0.7001142 .. 2.4598858,
 * mean 1.58.
 */
static void a_single_member_is_students_paired_t(void **state)
{
    static const double sleep[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
    struct stats_effect e = judge_one(sleep, COUNT(sleep), &usual);

    assert_int_equal(e.n, 10);
    assert_true(e.df == 9);
    assert_near(log(e.ratio), 1.58, 1e-12);
    assert_near(log(e.ratio) / e.sd * sqrt(10), 4.0621, 2e-5);
    assert_near(e.p, 0.002833, 2e-4);
    assert_near(log(e.raw_low), 0.7001142, 1e-7);
    assert_near(log(e.raw_high), 2.4598858, 1e-7);
    assert_true(e.low == e.raw_low && e.high == e.raw_high);
    assert_near(e.level, 0.95, 1e-12);
    assert_int_equal(e.verdict, VERDICT_BETTER);
    assert_int_equal(e.blocks_low, 0);
}

/* 5 log ratios with this mean and an sd of exactly @sd. */
static void sample_of(double mean, double sd, double ret[5])
{
    static const double shape[] = {-2, -1, 0, 1, 2};

    for (int i = 0; i < 5; i++)
        ret[i] = mean + sd * shape[i] / sqrt(2.5);
}

/*
 * Holm's step-down: the four p of Wikipedia, "Holm-Bonferroni method" (0.01, 0.04, 0.03, 0.005 at 0.05): the fourth and
 * the first are rejected, 0.03 > 0.05 / 2 is not, nor is anything after it. Adjusted p, as R's p.adjust gives them:
 * 0.03, 0.06, 0.06, 0.02. Equal variances have 4 x 4 degrees of freedom.
 */
static void holm_steps_down(void **state)
{
    static const double p[] = {0.01, 0.04, 0.03, 0.005}, share[] = {3, 2, 2, 4};
    static const bool rejected[] = {true, false, false, true};
    struct stats_family_options o = {.alpha = 0.05, .margin = 0, .higher_is_better = true};
    struct stats_sample samples[4];
    struct stats_effect e[4];
    double y[4][5];

    for (int i = 0; i < 4; i++) {
        sample_of(stats_t_quantile(1 - p[i] / 2, 16) * 0.02 / sqrt(5), 0.02, y[i]);
        samples[i] = (struct stats_sample){y[i], 5};
    }
    stats_family(samples, 4, &o, e);
    for (int i = 0; i < 4; i++) {
        assert_near(e[i].df, 16, 1e-12);
        assert_near(e[i].sd_moderated, 0.02, 1e-12);
        assert_near(e[i].p, p[i], 1e-10);
        assert_near(1 - e[i].level, 0.05 / share[i], 1e-10);
        assert_int_equal(e[i].low > 1 || e[i].high < 1, rejected[i]);
        assert_int_equal(e[i].verdict, rejected[i] ? VERDICT_BETTER : VERDICT_UNDECIDED);
        assert_int_equal(e[i].raw_low > 1, true);
    }
}

/* All four are rejected in turn: each gets one share more. */
static void holm_rejects_to_the_end(void **state)
{
    struct stats_sample samples[4];
    struct stats_effect e[4];
    double y[4][5];

    for (int i = 0; i < 4; i++) {
        sample_of(-0.2 - 0.1 * i, 0.02, y[i]);
        samples[i] = (struct stats_sample){y[i], 5};
    }
    stats_family(samples, 4, &usual, e);
    for (int i = 0; i < 4; i++) {
        assert_near(1 - e[i].level, 0.05 / (i + 1), 1e-10);
        assert_int_equal(e[i].verdict, VERDICT_WORSE);
    }
}

/* From an independent implementation of docs/statistics.md in Python with SciPy. */
static void moderated_family(void **state)
{
    static const double y[5][5] = {
        {0.012, 0.034, -0.008, 0.021, 0.017},  {0.101, 0.087, 0.122, 0.095, 0.110},
        {-0.09, 0.05, 0.02, -0.14, 0.07},      {-0.051, -0.049, -0.060, -0.055, -0.047},
        {0.004, -0.013, 0.008, 0.001, -0.002},
    };
    static const double sd[] = {0.0149050156669, 0.0132509952404, 0.087822794054, 0.00574954937541, 0.0081398448634},
                        low[] = {0.990192966396, 1.08204324361, 0.847359061292, 0.938438059656, 0.986015565322},
                        high[] = {1.04107667212, 1.13558604173, 1.13840795189, 0.959578094934, 1.01337175097},
                        p[] = {0.0787538601028, 3.1998903835e-05, 0.668480434608, 1.60095659871e-05, 0.917337178356};
    struct stats_sample samples[5];
    struct stats_effect e[5];

    for (int i = 0; i < 5; i++)
        samples[i] = (struct stats_sample){y[i], 5};
    stats_family(samples, 5, &usual, e);
    for (int i = 0; i < 5; i++) {
        assert_near(e[i].df, 4.39762263101, 1e-9);
        assert_near(e[i].sd_moderated, sd[i], 1e-9);
        assert_near(e[i].p, p[i], 1e-8);
        assert_near(e[i].low, low[i], 1e-9);
        assert_near(e[i].high, high[i], 1e-9);
    }
}

static void fewer_than_four_members_are_not_shrunk(void **state)
{
    struct stats_sample samples[3];
    struct stats_effect e[3];
    double y[3][5];

    for (int i = 0; i < 3; i++) {
        sample_of(0.01, 0.01 * (i + 1), y[i]);
        samples[i] = (struct stats_sample){y[i], 5};
    }
    stats_family(samples, 3, &usual, e);
    for (int i = 0; i < 3; i++) {
        assert_near(e[i].sd_moderated, 0.01 * (i + 1), 1e-12);
        assert_true(e[i].df == 4);
    }
}

static void verdicts(void **state)
{
    struct stats_family_options lower = usual;
    double y[5];

    lower.higher_is_better = false;
    sample_of(log(1.2), 0.02, y);
    assert_int_equal(judge_one(y, 5, &usual).verdict, VERDICT_BETTER);
    assert_int_equal(judge_one(y, 5, &lower).verdict, VERDICT_WORSE);
    assert_int_equal(judge_one(y, 4, &usual).verdict, VERDICT_UNDECIDED); /* however clear */
    sample_of(log(0.8), 0.02, y);
    assert_int_equal(judge_one(y, 5, &usual).verdict, VERDICT_WORSE);
    assert_int_equal(judge_one(y, 5, &lower).verdict, VERDICT_BETTER);
    sample_of(0.001, 0.01, y);
    assert_int_equal(judge_one(y, 5, &usual).verdict, VERDICT_SAME);
    sample_of(0.015, 0.005, y); /* excludes 1, and lies in the margin */
    assert_true(judge_one(y, 5, &usual).low > 1);
    assert_int_equal(judge_one(y, 5, &usual).verdict, VERDICT_SAME);
    sample_of(0.001, 0.05, y);
    assert_int_equal(judge_one(y, 5, &usual).verdict, VERDICT_UNDECIDED);
    assert_string_equal(stats_verdict_name(VERDICT_BETTER), "better");
    assert_string_equal(stats_verdict_name(VERDICT_NONE), "none");
}

static void members_without_pairs(void **state)
{
    double two[] = {0.1, NAN, 0.2, INFINITY}, one[] = {NAN, 0.5}, five[5];
    struct stats_sample samples[] = {{NULL, 0}, {one, 2}, {one, 1}, {two, 4}, {five, 5}};
    struct stats_effect e[5];

    sample_of(0.5, 0.02, five);
    stats_family(samples, 5, &usual, e);
    assert_int_equal(e[0].verdict, VERDICT_NONE);
    assert_int_equal(e[2].verdict, VERDICT_NONE);
    assert_true(isnan(e[0].ratio) && isnan(e[0].p) && isnan(e[0].low) && isnan(e[0].raw_high) && isnan(e[0].level));
    assert_int_equal(e[1].n, 1);
    assert_int_equal(e[1].verdict, VERDICT_UNDECIDED);
    assert_near(e[1].ratio, exp(0.5), 1e-12);
    assert_true(isnan(e[1].sd) && isnan(e[1].p) && isnan(e[1].low));
    assert_int_equal(e[1].blocks_high, 0);
    assert_int_equal(e[3].n, 2);
    assert_int_equal(e[3].verdict, VERDICT_UNDECIDED);
    assert_near(1 - e[4].level, 0.05 / 2, 1e-10); /* two members have a p */
    stats_family(NULL, 0, &usual, NULL);
}

/* Quantised figures: the same ratio in each block. */
static void identical_ratios_have_an_sd_nevertheless(void **state)
{
    double tied[] = {0.25, 0.25, 0.25, 0.25, 0.25}, equal[5] = {0}, half = t_critical(0.05, 4) * 0.0032 / sqrt(5);
    struct stats_effect e = judge_one(tied, 5, &usual);

    assert_true(e.sd == 0);
    assert_near(e.sd_moderated, 0.0032, 1e-12);
    assert_near(e.low, exp(0.25 - half), 1e-12);
    assert_near(e.high, exp(0.25 + half), 1e-12);
    assert_true(e.p > 0 && e.p < 1e-6);
    assert_int_equal(e.verdict, VERDICT_BETTER);
    e = judge_one(equal, 5, &usual);
    assert_true(e.p == 1 && e.low < 1 && e.high > 1);
    assert_int_equal(e.verdict, VERDICT_SAME);
    for (int i = 0; i < 5; i++)
        tied[i] = log(1.1); /* its mean may be off in the last digit */
    assert_near(judge_one(tied, 5, &usual).sd_moderated, 0.0032, 1e-12);
}

/* They get the noise of the others, and leave it alone. */
static void identical_ratios_do_not_break_the_fit(void **state)
{
    static const double sds[] = {0.02, 0.03, 0.01, 0.025, 0.015};
    struct stats_sample samples[6];
    struct stats_effect with[6], without[6];
    double y[5][5], tied[] = {0.01, 0.01, 0.01, 0.01, 0.01};

    for (int i = 0; i < 5; i++) {
        sample_of(0.01, sds[i], y[i]);
        samples[i] = (struct stats_sample){y[i], 5};
    }
    samples[5] = (struct stats_sample){tied, 5};
    stats_family(samples, 5, &usual, without);
    stats_family(samples, 6, &usual, with);
    for (int i = 0; i < 5; i++)
        assert_near(with[i].sd_moderated, without[i].sd_moderated, 1e-12);
    assert_true(with[5].sd_moderated > 0.01 && with[5].sd_moderated < 0.03);
    assert_true(with[5].p > 0 && with[5].p < 1);
}

static void huge_ratios_stay_in_order(void **state)
{
    double huge[] = {700, 705, 690, 709, 701}, tiny[] = {-1400, -1390, -1410, -1401, -1399};
    struct stats_effect e = judge_one(huge, 5, &usual);

    assert_true(isfinite(e.ratio) && e.low > 1 && e.high > e.low);
    assert_int_equal(e.verdict, VERDICT_BETTER);
    e = judge_one(tiny, 5, &usual);
    assert_true(e.ratio == 0 && e.high < 1 && !isnan(e.low));
    assert_int_equal(e.verdict, VERDICT_WORSE);
}

/* ------------------------------------------------------------------------------------------------
 * Figures
 */

static void figure_is_a_geometric_mean(void **state)
{
    struct stats_figure f;

    stats_figure((double[]){100, NAN, 1, 0, 10, -3, INFINITY}, 7, &f); /* logs 0, 1, 2 times log 10: sd log 10 */
    assert_int_equal(f.n, 3);
    assert_near(f.center, 10, 1e-12);
    assert_near(f.low, 10 * exp(-4.302653 * LOG_10 / sqrt(3)), 1e-6); /* quantile(0.975) of t with 2 */
    assert_near(f.high, 10 * exp(4.302653 * LOG_10 / sqrt(3)), 1e-6);
    assert_true(f.min == 1 && f.max == 100);
    stats_figure((double[]){NAN, 5}, 2, &f);
    assert_int_equal(f.n, 1);
    assert_true(f.center > 4.999 && f.center < 5.001 && f.min == 5 && f.max == 5 && isnan(f.low) && isnan(f.high));
    stats_figure(NULL, 0, &f);
    assert_int_equal(f.n, 0);
    assert_true(isnan(f.center) && isnan(f.low) && isnan(f.min) && isnan(f.max));
}

/* 0, 1 and 5: mean 2, variance 7. */
static void zeros_are_measurements(void **state)
{
    struct stats_figure f, g;
    const double none[] = {100, NAN, 1, 10};

    stats_figure_with_zeros((double[]){0, NAN, 5, -3, 1, INFINITY}, 6, &f);
    assert_int_equal(f.n, 3);
    assert_near(f.center, 2, 1e-12);
    assert_true(f.low == 0 && f.min == 0 && f.max == 5);
    assert_near(f.high, 2 + 4.302653 * sqrt(7. / 3), 1e-6);
    stats_figure_with_zeros((double[]){0, NAN, 0}, 3, &f);
    assert_true(f.n == 2 && f.center == 0 && f.low == 0 && f.high == 0);
    stats_figure_with_zeros((double[]){NAN, 0}, 2, &f);
    assert_true(f.n == 1 && f.center == 0 && isnan(f.low) && f.max == 0);
    stats_figure_with_zeros(none, 4, &f);
    stats_figure(none, 4, &g);
    assert_memory_equal(&f, &g, sizeof(f));
    stats_figure_with_zeros((double[]){NAN}, 1, &f);
    assert_true(f.n == 0 && isnan(f.center) && isnan(f.min));
}

static void outliers(void **state)
{
    bool is_outlier[8];

    assert_int_equal(stats_outliers((double[]){100, 101, 99, NAN, 100, 50, 102}, 7, 0.03, is_outlier), 1);
    for (int i = 0; i < 7; i++)
        assert_int_equal(is_outlier[i], i == 5);
    assert_int_equal(stats_outliers((double[]){100, 100, 50, 100}, 4, 0.03, is_outlier), 0);       /* too few */
    assert_int_equal(stats_outliers((double[]){100, 100, 102, 100, 100}, 5, 0.03, is_outlier), 0); /* in the margin */
    assert_int_equal(stats_outliers((double[]){100, 100, 104, 100, 100}, 5, 0.03, is_outlier), 1);
    assert_int_equal(stats_outliers((double[]){80, 90, 100, 110, 120, 140}, 6, 0.03, is_outlier),
                     0); /* as the others */
    assert_int_equal(stats_outliers(NULL, 0, 0.03, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_has_its_closed_forms),
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(quantiles_undo_probabilities),
        cmocka_unit_test(ends_and_nonsense_of_distributions),
        cmocka_unit_test(polygammas_have_their_exact_values),
        cmocka_unit_test(prior_is_limmas),
        cmocka_unit_test(prior_by_hand),
        cmocka_unit_test(prior_of_equal_variances_is_infinite),
        cmocka_unit_test(prior_leaves_out_what_is_no_variance),
        cmocka_unit_test(prior_floors_tiny_variances),
        cmocka_unit_test(a_single_member_is_students_paired_t),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(holm_rejects_to_the_end),
        cmocka_unit_test(moderated_family),
        cmocka_unit_test(fewer_than_four_members_are_not_shrunk),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(members_without_pairs),
        cmocka_unit_test(identical_ratios_have_an_sd_nevertheless),
        cmocka_unit_test(identical_ratios_do_not_break_the_fit),
        cmocka_unit_test(huge_ratios_stay_in_order),
        cmocka_unit_test(figure_is_a_geometric_mean),
        cmocka_unit_test(zeros_are_measurements),
        cmocka_unit_test(outliers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
