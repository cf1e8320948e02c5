/* SPDX-License-Identifier: MIT */
/* Order of doubles (no NaN among them). Internal to the statistics. */
#ifndef SPUR_STATS_SORT_H
#define SPUR_STATS_SORT_H

#include <stdlib.h>

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts @values; n > 0. */
static inline double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

#endif
