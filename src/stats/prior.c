/* SPDX-License-Identifier: MIT */
/* Method of moments on log variances: Smyth (2004), section 6.2; limma's fitFDist. */
#include <math.h>
#include <stdlib.h>

#include "stats/prior.h"
#include "stats/sort.h"
#include "stats/stats.h"

#define FLOOR_OF_MEDIAN 1e-5 /* limma's: a variance next to 0 must not rule the mean of the logs */
#define DF_CONFIDENCE   0.95

static bool is_usable(double variance, double df)
{
    return isfinite(variance) && variance > 0 && isfinite(df) && df > 0;
}

/* 0: none, or out of memory */
static size_t usable_median(const double *variances, const double *df, size_t n, double *ret_median)
{
    double *sorted = calloc(n ? n : 1, sizeof(*sorted));
    size_t n_used = 0;

    for (size_t i = 0; sorted && i < n; i++)
        if (is_usable(variances[i], df[i]))
            sorted[n_used++] = variances[i];
    if (n_used)
        *ret_median = median_of(sorted, n_used);
    free(sorted);
    return n_used;
}

static double pooled(const double *variances, const double *df, size_t n)
{
    double sum = 0, sum_df = 0;

    for (size_t i = 0; i < n; i++) {
        if (!is_usable(variances[i], df[i]))
            continue;
        sum += df[i] * variances[i];
        sum_df += df[i];
    }
    return sum / sum_df;
}

/* Of log variances, less what their own sampling adds: mean, and sums over members. */
struct log_moments {
    double mean, squares, expected; /* expected: of the variance of the logs, if the variances are all alike */
    double n;
};

static struct log_moments take_moments(const double *variances, const double *df, size_t n, double floor)
{
    struct log_moments m = {0};

    for (size_t i = 0; i < n; i++) {
        double e, delta;

        if (!is_usable(variances[i], df[i]))
            continue;
        e = log(fmax(variances[i], floor)) - stats_digamma(df[i] / 2) + log(df[i] / 2);
        delta = e - m.mean;
        m.mean += delta / ++m.n;
        m.squares += delta * (e - m.mean);
        m.expected += stats_trigamma(df[i] / 2);
    }
    m.expected /= m.n;
    return m;
}

/* Of the prior, from the variance of the true log variances. */
static double prior_df(double excess)
{
    return excess > 0 ? 2 * stats_trigamma_inverse(excess) : INFINITY;
}

void prior_fit_both(const double *variances, const double *df, size_t n, struct stats_prior *ret, double *ret_df_low)
{
    double median;
    size_t n_used = usable_median(variances, df, n, &median);
    struct log_moments m;

    *ret = (struct stats_prior){.df = 0, .variance = NAN};
    *ret_df_low = 0;
    if (n_used < 2)
        return;
    m = take_moments(variances, df, n, FLOOR_OF_MEDIAN * median);
    ret->df = prior_df(m.squares / (m.n - 1) - m.expected);
    *ret_df_low = prior_df(m.squares / stats_chi2_quantile(1 - DF_CONFIDENCE, m.n - 1) - m.expected);
    /* All alike: the pooled variance is the estimate of the one that they share, better than the mean of logs. */
    ret->variance = isinf(ret->df) ? pooled(variances, df, n)
                                   : exp(m.mean + stats_digamma(ret->df / 2) - log(ret->df / 2));
}

void stats_prior_fit(const double *variances, const double *df, size_t n, struct stats_prior *ret)
{
    double df_low;

    prior_fit_both(variances, df, n, ret, &df_low);
}
