/* SPDX-License-Identifier: MIT */
/* Undecided although its own blocks agree: the spread was borrowed (docs/statistics.md, "Variance"). */
#include <math.h>

#include "report/sentences.h"

#define CELLS_MAX 5 /* that are named */

static bool is_borrowed(const struct analysis *a, const struct comparison *c)
{
    const struct stats_family_options options = {a->family_alpha, a->x->margin, true};

    return !c->ranked_apart && stats_undecided_by_others(&c->metric[METRIC_RATE], &options);
}

/* Comparisons that gave their spread to @but. */
static size_t count_lenders(const struct analysis *a, const struct comparison *but)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_comparisons; i++)
        n += &a->comparisons[i] != but && !a->comparisons[i].ranked_apart &&
             stats_has_spread(&a->comparisons[i].metric[METRIC_RATE]);
    return n;
}

static void put_cells(FILE *out, const struct analysis *a, uint32_t arm)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_comparisons; i++) {
        if (a->comparisons[i].arm != arm || !is_borrowed(a, &a->comparisons[i]) || n++ >= CELLS_MAX)
            continue;
        fputs(n > 1 ? "; " : " at ", out);
        words_clean(out, a->x->cells[a->comparisons[i].cell].label);
    }
    if (n > CELLS_MAX)
        fprintf(out, "; and %zu more", n - CELLS_MAX);
}

/* The one whose own blocks vary most. */
static const struct comparison *find_widest(const struct analysis *a, uint32_t arm)
{
    const struct comparison *widest = NULL;

    for (size_t i = 0; i < a->n_comparisons; i++) {
        const struct comparison *c = &a->comparisons[i];

        if (c->arm == arm && is_borrowed(a, c) &&
            (!widest || c->metric[METRIC_RATE].sd > widest->metric[METRIC_RATE].sd))
            widest = c;
    }
    return widest;
}

void sentence_borrowed(FILE *out, const struct analysis *a, uint32_t arm)
{
    const struct comparison *c = find_widest(a, arm);
    const struct stats_effect *e;
    size_t n_lenders;

    if (!c)
        return;
    e = &c->metric[METRIC_RATE];
    n_lenders = count_lenders(a, c);
    words_arm(out, a, arm);
    fputs(" against ", out);
    words_arm(out, a, a->x->baseline);
    if (a->x->n_axes)
        put_cells(out, a, arm);
    fprintf(out, " is undecided although the ratios of its %u blocks ", e->n);
    if (stats_has_spread(e)) {
        fputs("vary by no more than ", out);
        words_percent(out, expm1(e->sd));
        fputs(" % (standard deviation)", out);
    } else {
        fputs("are all alike", out);
    }
    fputs(": so few blocks tell little of the spread, and that of ", out);
    if (n_lenders)
        words_count(out, n_lenders, "other comparison", "other comparisons");
    else
        fputs("figures that are rounded", out);
    fputs(" was counted too, which makes it ", out);
    words_percent(out, expm1(e->sd_moderated));
    fputs(" %; more blocks would decide it.", out);
}
