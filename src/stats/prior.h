/* SPDX-License-Identifier: MIT */
/* Internal to the statistics. */
#ifndef SPUR_STATS_PRIOR_H
#define SPUR_STATS_PRIOR_H

#include "stats/stats.h"

/*
 * stats_prior_fit, and a lower 95 % bound of its degrees of freedom, taking the spread of log variances as chi-square.
 * With a handful of members the estimate itself is often infinite by chance, which makes intervals of the noisier ones
 * too narrow: thousands of genes can take it at face value, eight cells cannot.
 */
void prior_fit_both(const double *variances, const double *df, size_t n, struct stats_prior *ret, double *ret_df_low);

#endif
