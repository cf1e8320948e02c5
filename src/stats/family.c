/* SPDX-License-Identifier: MIT */
/* From pairs to effects: moderated t over the members of a family, Holm's step-down, verdicts. */
#include <math.h>
#include <stdlib.h>

#include "stats/distribution.h"
#include "stats/needed.h"
#include "stats/prior.h"
#include "stats/stats.h"

#define SHRINK_MIN         4     /* members; below that plain t */
#define IDENTICAL_VARIANCE 1e-12 /* ratios that differ by less than 1e-6 are identical but for rounding */

/* Of two figures that are rounded to the histogram's buckets of 1/128: 2^(1/2) / 128 / 12^(1/2). */
#define IDENTICAL_SD_MIN 0.0032

struct member {
    size_t index;
    double mean, variance; /* of log ratios; variance is replaced by the moderated one */
    double df, p;
};

const char *stats_verdict_name(enum stats_verdict v)
{
    static const char *const names[] = {
        [VERDICT_NONE] = "none",     [VERDICT_UNDECIDED] = "undecided", [VERDICT_SAME] = "same",
        [VERDICT_BETTER] = "better", [VERDICT_WORSE] = "worse",
    };

    return (unsigned)v < sizeof(names) / sizeof(names[0]) ? names[v] : "none";
}

/* ------------------------------------------------------------------------------------------------
 * Each member by itself
 */

static void take_sample(const struct stats_sample *s, struct stats_effect *ret, struct member *ret_member)
{
    double mean = 0, squares = 0;

    *ret = (struct stats_effect){.ratio = NAN, .sd = NAN, .sd_moderated = NAN, .df = NAN, .p = NAN, .level = NAN};
    ret->low = ret->high = ret->raw_low = ret->raw_high = NAN;
    for (unsigned i = 0; i < s->n; i++) {
        double delta = s->log_ratio[i] - mean;

        if (!isfinite(s->log_ratio[i]))
            continue;
        mean += delta / ++ret->n;
        squares += delta * (s->log_ratio[i] - mean);
    }
    if (ret->n == 0)
        return;
    ret->verdict = VERDICT_UNDECIDED;
    ret->ratio = exp(mean);
    if (ret->n < 2)
        return;
    ret_member->mean = mean;
    ret_member->df = ret->n - 1;
    ret_member->variance = squares / ret_member->df;
    ret->sd = sqrt(ret_member->variance);
}

/* ------------------------------------------------------------------------------------------------
 * Variances
 */

static bool is_identical(const struct member *m)
{
    return m->variance <= IDENTICAL_VARIANCE;
}

/* Variance of members that have one of their own, over their degrees of freedom; 0: there is none. */
static double pooled_variance(const struct member *members, size_t n, double *ret_df)
{
    double sum = 0;

    *ret_df = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_identical(&members[i]))
            continue;
        sum += members[i].df * members[i].variance;
        *ret_df += members[i].df;
    }
    return *ret_df > 0 ? sum / *ret_df : 0;
}

/* The prior with cautious degrees of freedom; with 0 (plain t) under SHRINK_MIN variances, or without memory. */
static struct stats_prior fit_prior(const struct member *members, size_t n)
{
    struct stats_prior prior = {.df = 0, .variance = NAN};
    double *variances = calloc(n ? 2 * n : 1, sizeof(*variances));
    double df_low = 0;
    size_t n_used = 0;

    for (size_t i = 0; variances && i < n; i++) {
        if (is_identical(&members[i]))
            continue;
        variances[n_used] = members[i].variance;
        variances[n + n_used++] = members[i].df;
    }
    if (n_used >= SHRINK_MIN)
        prior_fit_both(variances, variances + n, n_used, &prior, &df_low);
    prior.df = df_low;
    free(variances);
    return prior;
}

static void moderate_member(struct member *m, const struct stats_prior *prior, double stand_in, double pooled_df)
{
    if (is_identical(m))
        m->variance = stand_in;
    if (isinf(prior->df))
        m->variance = prior->variance;
    else if (prior->df > 0)
        m->variance = (prior->df * prior->variance + m->df * m->variance) / (prior->df + m->df);
    if (prior->df > 0)
        m->df = fmax(fmin(m->df + prior->df, pooled_df), m->df);
}

/* Identical ratios (quantised figures) tell nothing of the noise: they get what the other members have. */
static void moderate(struct member *members, size_t n)
{
    struct stats_prior prior = fit_prior(members, n);
    double pooled_df, stand_in = pooled_variance(members, n, &pooled_df);

    if (prior.df > 0)
        stand_in = prior.variance;
    stand_in = fmax(stand_in, IDENTICAL_SD_MIN * IDENTICAL_SD_MIN);
    for (size_t i = 0; i < n; i++)
        moderate_member(&members[i], &prior, stand_in, pooled_df);
}

/* ------------------------------------------------------------------------------------------------
 * Intervals and verdicts
 */

static double standard_error(const struct member *m, const struct stats_effect *e)
{
    return sqrt(m->variance / e->n);
}

static void judge_alone(struct member *m, double alpha, struct stats_effect *e)
{
    double half = t_critical(alpha, m->df) * standard_error(m, e);

    e->sd_moderated = sqrt(m->variance);
    e->df = m->df;
    e->p = m->p = t_two_sided(m->mean / standard_error(m, e), m->df);
    e->raw_low = exp(m->mean - half);
    e->raw_high = exp(m->mean + half);
}

static enum stats_verdict verdict_of(const struct stats_effect *e, const struct stats_family_options *o)
{
    if (e->n < STATS_MIN_BLOCKS)
        return VERDICT_UNDECIDED;
    if (e->low > 1 / (1 + o->margin) && e->high < 1 + o->margin)
        return VERDICT_SAME;
    if (e->low > 1)
        return o->higher_is_better ? VERDICT_BETTER : VERDICT_WORSE;
    if (e->high < 1)
        return o->higher_is_better ? VERDICT_WORSE : VERDICT_BETTER;
    return VERDICT_UNDECIDED;
}

/* The adjusted interval; whether it excludes 1. */
static bool judge_adjusted(const struct member *m, double alpha, const struct stats_family_options *o,
                           struct stats_effect *e)
{
    double half = t_critical(alpha, m->df) * standard_error(m, e);

    e->level = 1 - alpha;
    e->low = exp(m->mean - half);
    e->high = exp(m->mean + half);
    e->verdict = verdict_of(e, o);
    if (e->verdict == VERDICT_UNDECIDED) {
        struct needed s = {m->mean, e->sd_moderated, m->df, e->n, alpha, log1p(o->margin)};

        needed_blocks(&s, &e->blocks_low, &e->blocks_high);
    }
    return e->low > 1 || e->high < 1;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->index > y->index) - (x->index < y->index);
}

/* Rejecting by the interval instead of by p makes text and verdict one, also in the last digit. */
static void judge_family(struct member *members, size_t n, const struct stats_family_options *o,
                         struct stats_effect *effects)
{
    size_t n_rejected = 0;
    bool rejects = true;

    qsort(members, n, sizeof(*members), compare_members);
    for (size_t i = 0; i < n; i++) {
        rejects = judge_adjusted(&members[i], o->alpha / (double)(n - n_rejected), o, &effects[members[i].index]) &&
                  rejects;
        n_rejected += rejects;
    }
}

void stats_family(const struct stats_sample *samples, size_t n_samples, const struct stats_family_options *options,
                  struct stats_effect *ret_effects)
{
    struct member *members = calloc(n_samples ? n_samples : 1, sizeof(*members));
    size_t n = 0;

    for (size_t i = 0; i < n_samples; i++) {
        struct member m = {.index = i};

        take_sample(&samples[i], &ret_effects[i], &m);
        if (members && ret_effects[i].n >= 2)
            members[n++] = m;
    }
    if (!members)
        return;
    moderate(members, n);
    for (size_t i = 0; i < n; i++)
        judge_alone(&members[i], options->alpha, &ret_effects[members[i].index]);
    judge_family(members, n, options, ret_effects);
    free(members);
}

bool stats_undecided_by_others(const struct stats_effect *effect, const struct stats_family_options *options)
{
    struct stats_effect own = *effect;
    double half;

    if (effect->verdict != VERDICT_UNDECIDED || effect->n < STATS_MIN_BLOCKS || !isfinite(effect->level))
        return false;
    half = t_critical(1 - effect->level, effect->n - 1) * effect->sd / sqrt(effect->n);
    own.low = effect->ratio * exp(-half);
    own.high = effect->ratio * exp(half);
    return verdict_of(&own, options) != VERDICT_UNDECIDED;
}

bool stats_has_spread(const struct stats_effect *effect)
{
    return effect->n >= 2 && effect->sd * effect->sd > IDENTICAL_VARIANCE;
}
