/* SPDX-License-Identifier: MIT */
/* Two-sided forms of Student's t, which lose nothing far out in the tail. Internal to the statistics. */
#ifndef SPUR_STATS_DISTRIBUTION_H
#define SPUR_STATS_DISTRIBUTION_H

/* P(|T| > |t|) */
double t_two_sided(double t, double df);
/* The t >= 0 with P(|T| > t) = alpha. */
double t_critical(double alpha, double df);

#endif
