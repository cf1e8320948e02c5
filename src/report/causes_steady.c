/* SPDX-License-Identifier: MIT */
/* Figures that cannot carry a verdict: windows too short for them, or blocks too unlike. */
#include <math.h>

#include "report/causes.h"

/* In each trial, and on the mean by more than noise. */
bool cause_too_short(const struct cause_case *c, struct cause_finding *ret)
{
    const struct stats_figure *f = &c->side.rising;

    if (!cause_known(f) || c->side.n_rising < f->n || f->center < CAUSE_RISING || f->low <= 1)
        return false;
    ret->confidence = CONFIDENCE_HIGH;
    ret->arm_is_faster = ret->is_same = false; /* it speaks of one arm, whatever the verdict */
    cause_number(ret, "rising", f->center, NAN);
    return true;
}

/* Where the spread is that of other comparisons, its own explains nothing; the summary says so. */
bool cause_noise(const struct cause_case *c, struct cause_finding *ret)
{
    const struct stats_effect *e = &c->rate;
    const struct stats_family_options options = {.margin = c->margin, .higher_is_better = true};
    double half = log(e->high / e->low) / 2;

    if (c->ranked_apart || stats_undecided_by_others(e, &options) || e->verdict != VERDICT_UNDECIDED ||
        e->n < STATS_MIN_BLOCKS || !(half > log1p(c->margin)) || !(e->sd > 0))
        return false;
    ret->confidence = CONFIDENCE_HIGH;
    cause_number(ret, "sd", e->sd, NAN);
    cause_number(ret, "half_width", expm1(half), NAN);
    cause_number(ret, "blocks", e->n, NAN);
    cause_number(ret, "blocks_low", e->blocks_low ? e->blocks_low : NAN, NAN);
    cause_number(ret, "blocks_high", e->blocks_high ? e->blocks_high : NAN, NAN);
    return true;
}
