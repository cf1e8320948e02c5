/* SPDX-License-Identifier: MIT */
/* A figure of one arm in one cell: geometric mean and Student t interval; outliers among its values. */
#include <math.h>
#include <stdlib.h>

#include "stats/distribution.h"
#include "stats/sort.h"
#include "stats/stats.h"

#define FIGURE_ALPHA     0.05
#define OUTLIER_MIN      5
#define OUTLIER_DISTANCE 5  /* of many values; few need more, for their deviation is small by chance often: */
#define OUTLIER_FEW      15 /* x (1 + 15 / n) flags 2 to 4 of 1000 clean trials at n = 5, fewer beyond */
#define MAD_TO_SD        1.482602218505602 /* of a normal: 1 / quantile(3/4) */

static bool is_figure(double value)
{
    return value > 0 && isfinite(value);
}

void stats_figure(const double *values, size_t n, struct stats_figure *ret)
{
    double mean = 0, squares = 0, half;

    *ret = (struct stats_figure){.center = NAN, .low = NAN, .high = NAN, .min = NAN, .max = NAN};
    for (size_t i = 0; i < n; i++) {
        double delta;

        if (!is_figure(values[i]))
            continue;
        ret->n++;
        ret->min = fmin(ret->min, values[i]);
        ret->max = fmax(ret->max, values[i]);
        delta = log(values[i]) - mean;
        mean += delta / ret->n;
        squares += delta * (log(values[i]) - mean);
    }
    if (ret->n > 0)
        ret->center = exp(mean);
    if (ret->n < 2)
        return;
    half = t_critical(FIGURE_ALPHA, ret->n - 1) * sqrt(squares / (ret->n - 1) / ret->n);
    ret->low = exp(mean - half);
    ret->high = exp(mean + half);
}

static bool is_measured(double value)
{
    return value >= 0 && isfinite(value);
}

static bool has_zero(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_measured(values[i]) && !(values[i] > 0))
            return true;
    return false;
}

void stats_figure_with_zeros(const double *values, size_t n, struct stats_figure *ret)
{
    double squares = 0, half;

    if (!has_zero(values, n)) {
        stats_figure(values, n, ret);
        return;
    }
    *ret = (struct stats_figure){.center = 0, .low = NAN, .high = NAN, .min = 0, .max = 0};
    for (size_t i = 0; i < n; i++) {
        double delta = values[i] - ret->center;

        if (!is_measured(values[i]))
            continue;
        ret->n++;
        ret->max = fmax(ret->max, values[i]);
        ret->center += delta / ret->n;
        squares += delta * (values[i] - ret->center);
    }
    if (ret->n < 2)
        return;
    half = t_critical(FIGURE_ALPHA, ret->n - 1) * sqrt(squares / (ret->n - 1) / ret->n);
    ret->low = fmax(ret->center - half, 0);
    ret->high = ret->center + half;
}

/* Median of @logs of the figures and their scaled median absolute deviation; overwrites @scratch. */
static void robust_location(const double *logs, size_t n, double *scratch, double *ret_median, double *ret_deviation)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = logs[i];
    *ret_median = median_of(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(logs[i] - *ret_median);
    *ret_deviation = MAD_TO_SD * median_of(scratch, n);
}

size_t stats_outliers(const double *values, size_t n, double margin, bool *ret_is_outlier)
{
    double *logs = calloc(n ? 2 * n : 1, sizeof(*logs)), median, deviation;
    size_t n_figures = 0, n_outliers = 0;

    for (size_t i = 0; i < n; i++) {
        ret_is_outlier[i] = false;
        if (logs && is_figure(values[i]))
            logs[n_figures++] = log(values[i]);
    }
    if (n_figures >= OUTLIER_MIN) {
        double limit = OUTLIER_DISTANCE * (1 + OUTLIER_FEW / (double)n_figures);

        robust_location(logs, n_figures, logs + n, &median, &deviation);
        for (size_t i = 0; i < n; i++) {
            double distance = is_figure(values[i]) ? fabs(log(values[i]) - median) : 0;

            ret_is_outlier[i] = distance > limit * deviation && distance > log1p(margin);
            n_outliers += ret_is_outlier[i];
        }
    }
    free(logs);
    return n_outliers;
}
