/* SPDX-License-Identifier: MIT */
/*
 * Statistics: arrays in, numbers out. No I/O, no allocation that outlives a call, no state. Nothing here knows paths or
 * files. NaN among the inputs means that there is no figure: pairs with a NaN are left out.
 */
#ifndef SPUR_STATS_H
#define SPUR_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_MIN_BLOCKS       5  /* below that every verdict is undecided */
#define STATS_CROSSOVER_BLOCKS 20 /* below that a crossover has no interval, only its bracket */

/* ------------------------------------------------------------------------------------------------
 * The effect of an arm in a cell: the geometric mean over blocks of its ratio to the baseline
 */

enum stats_verdict {
    VERDICT_NONE, /* no pair: there is no figure to judge */
    VERDICT_UNDECIDED,
    VERDICT_SAME,
    VERDICT_BETTER,
    VERDICT_WORSE,
};
const char *stats_verdict_name(enum stats_verdict v); /* "better"; "none" */

/* One member of a family: log(arm / baseline) of each block in which both have a figure. */
struct stats_sample {
    const double *log_ratio;
    unsigned n;
};

struct stats_effect {
    unsigned n;               /* blocks */
    double ratio;             /* geometric mean; NaN: n is 0 */
    double sd;                /* of log ratios, as sampled; NaN: n < 2 */
    double sd_moderated;      /* after shrinkage */
    double df;                /* degrees of freedom that go with it */
    double p;                 /* two-sided, of ratio 1; unadjusted */
    double level;             /* confidence level of low..high: 1 - the alpha that Holm gives this member */
    double low, high;         /* Holm-adjusted: the interval to print. NaN: n < 2 */
    double raw_low, raw_high; /* unadjusted, at 1 - alpha */
    enum stats_verdict verdict;
    unsigned blocks_low, blocks_high; /* undecided: blocks in all that would likely decide; 0: cannot be told */
};

struct stats_family_options {
    double alpha;  /* 0.05, or a third of it at a look of --until-decided */
    double margin; /* 0.03: `same` if low > 1 / (1 + margin) and high < 1 + margin */
    bool higher_is_better;
};

/*
 * Judges @n_samples members of one family. Variances are shrunk over members with at least 2 pairs (empirical Bayes,
 * moderated t: Smyth 2004, doi 10.2202/1544-6115.1027, with a cautious df of the prior) if there are 4 or more, else
 * plain Student t; Holm's step-down (1979) over members that have a p. An interval excludes 1 if and only if Holm
 * rejects. A member whose ratios are all identical gets the noise of the others, at least an sd of 0.0032: see
 * docs/statistics.md. Out of memory: no member has a p or an interval, all are undecided.
 */
void stats_family(const struct stats_sample *samples, size_t n_samples, const struct stats_family_options *options,
                  struct stats_effect *ret_effects);
/* Whether a member is undecided only by the spread that it was given from the others: its own, small by luck or by
 * rounding, would have decided. */
bool stats_undecided_by_others(const struct stats_effect *effect, const struct stats_family_options *options);
/* Whether a member has a spread of its own to give: ratios of 2 blocks or more that are not identical. */
bool stats_has_spread(const struct stats_effect *effect);

/* ------------------------------------------------------------------------------------------------
 * A figure of one arm in one cell over its blocks
 */

struct stats_figure {
    unsigned n;
    double center;    /* geometric mean, or arithmetic (stats_figure_with_zeros); NaN: n is 0 */
    double low, high; /* 95 % Student t on logs, unadjusted; NaN: n < 2 */
    double min, max;
};
/* Values that are not positive or NaN are left out. */
void stats_figure(const double *values, size_t n, struct stats_figure *ret);
/* Of what 0 is a measurement of, such as CPU time. Without a 0 as stats_figure. With one: arithmetic mean, and Student
 * t on the values themselves, not below 0; only negative values and NaN are left out. */
void stats_figure_with_zeros(const double *values, size_t n, struct stats_figure *ret);

/* Whether each value is an outlier among its own: beyond 5 (1 + 15 / n) scaled median absolute deviations of the median
 * of logs, and farther than @margin; never with fewer than 5 values. Returns how many are. */
size_t stats_outliers(const double *values, size_t n, double margin, bool *ret_is_outlier);

/* ------------------------------------------------------------------------------------------------
 * Over the experiment
 */

/* A figure, when it was taken (any unit; order suffices) and the group (arm in cell) whose own level is taken out. */
struct stats_timed {
    double when, value;
    uint32_t group;
};
struct stats_drift {
    bool known;          /* enough values */
    bool is_drift;       /* p < 0.01 and the change over the experiment is more than the margin */
    double change;       /* end / begin; 1.10: 10 % up */
    double low, high, p; /* 99 % interval of change */
};
void stats_drift(const struct stats_timed *values, size_t n, double margin, struct stats_drift *ret);

/* ------------------------------------------------------------------------------------------------
 * Along an axis with numbers, in rising order of x (> 0)
 */

struct stats_point {
    double x;
    const double *log_ratio; /* of each block, aligned over points by block index; NaN where missing */
    struct stats_effect effect;
};

/* A change of verdict from better to worse or back, with nothing but same, undecided and empty points between. */
struct stats_crossover {
    size_t before, after; /* indices of the bracketing points: the last of one verdict, the first of the other */
    double x;             /* where the interpolated mean log ratio (over log x) is 0 inside the bracket */
    double low, high; /* interval of x; NaN below STATS_CROSSOVER_BLOCKS blocks, or where the data do not bound it */
    bool rises;       /* worse before, better after */
};
/* At most @max; returns how many there are. */
size_t stats_crossovers(const struct stats_point *points, size_t n, unsigned n_blocks, double alpha,
                        struct stats_crossover *ret, size_t max);

/*
 * The point past which an arm gains less than the margin: the first index from which on no later point's mean exceeds
 * its own by the margin or more, and the last point is not itself the first to reach it. n: it still gains at the last
 * point (no saturation seen) or fewer than 3 points have figures.
 */
size_t stats_saturation(const struct stats_figure *figures, size_t n, double margin, bool higher_is_better);

/* ------------------------------------------------------------------------------------------------
 * Distributions, for tests and callers; accurate to 1e-10 relative unless said otherwise
 */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df); /* df may be infinite */
double stats_chi2_quantile(double p, double df);
double stats_digamma(double x);
double stats_trigamma(double x);
double stats_trigamma_inverse(double y);

/* Empirical-Bayes prior of variances (limma's fitFDist): degrees of freedom (infinite: all alike; 0: fewer than 2
 * variances above 0, which alone are used) and scale. */
struct stats_prior {
    double df, variance;
};
void stats_prior_fit(const double *variances, const double *df, size_t n, struct stats_prior *ret);

#endif
