/* SPDX-License-Identifier: MIT */
/* One arm against the baseline in words: neighbouring points of like verdict are said together. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"
#include "report/sentences.h"

#define GROUPS_MAX 8 /* of neighbouring points that are said one by one */

/* What is to be said of a point. */
struct point {
    const struct stats_effect *effect;
    enum stats_verdict verdict;
    const char *what, *why; /* of VERDICT_NONE: "not applicable", and the reason (the user's bytes; may be NULL) */
};

struct telling {
    FILE *out;
    const struct analysis *a;
    const struct stretch *s;
    uint32_t arm;
    uint32_t label_cell; /* the first that has figures of the arm: tells the road that was observed */
    struct point *points;
    bool has_begun, has_verb;
};

/* ------------------------------------------------------------------------------------------------
 * What is known of each point
 */

static void explain_state(const struct arm_cell *c, bool is_baseline, struct point *ret)
{
    bool refused = c->state == PAIR_REFUSED;

    ret->what = is_baseline ? refused ? "not compared, for the baseline is refused"
                                      : "not compared, for the baseline is not applicable"
                : refused   ? "refused"
                            : "not applicable";
    ret->why = c->reason;
}

static void explain_none(const struct analysis *a, const struct comparison *c, struct point *ret)
{
    const struct arm_cell *arm = analysis_arm_cell(a, c->cell, c->arm);
    const struct arm_cell *baseline = analysis_arm_cell(a, c->cell, a->x->baseline);
    const struct arm_cell *without = arm->n_ok ? baseline : arm;

    if (c->ranked_apart) {
        ret->what = "not ranked";
        ret->why = c->ranked_apart;
    } else if (arm->state != PAIR_PLANNED || baseline->state != PAIR_PLANNED) {
        explain_state(arm->state != PAIR_PLANNED ? arm : baseline, arm->state == PAIR_PLANNED, ret);
    } else if (without->n_ok) {
        ret->what = "no block has figures of both";
    } else if (!without->n_failed && !without->n_refused) {
        ret->what = without == arm ? "not run" : "not compared, for the baseline was not run";
    } else {
        ret->what = without == arm ? "no figures" : "not compared, for the baseline has no figures";
        ret->why = without->error;
    }
}

static void know_point(const struct telling *t, size_t i, enum metric m, struct point *ret)
{
    const struct comparison *c = analysis_comparison(t->a, t->s->cells[i], t->arm);

    *ret = (struct point){&c->metric[m], c->metric[m].verdict, NULL, NULL};
    if (c->ranked_apart)
        ret->verdict = VERDICT_NONE;
    if (ret->verdict == VERDICT_NONE)
        explain_none(t->a, c, ret);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool said_together(const struct point *a, const struct point *b)
{
    return a->verdict == b->verdict && same_text(a->what, b->what) && same_text(a->why, b->why);
}

/* The point after the last one that is said together with @first. */
static size_t group_end(const struct telling *t, size_t first)
{
    size_t i = first + 1;

    while (i < t->s->n_cells && said_together(&t->points[first], &t->points[i]))
        i++;
    return i;
}

/* ------------------------------------------------------------------------------------------------
 * Parts of a clause
 */

static void put_where(const struct telling *t, size_t first, size_t end)
{
    const struct experiment *x = t->a->x;
    const struct experiment_axis *axis;
    uint32_t low, high;

    if (t->s->axis == EXPERIMENT_NONE)
        return;
    axis = &x->axes[t->s->axis];
    low = x->cells[t->s->cells[first]].value[t->s->axis];
    high = x->cells[t->s->cells[end - 1]].value[t->s->axis];
    if (end - first > 1 && !(first && end == t->s->n_cells)) {
        words_range(t->out, axis, low, high, " from ", " to ");
        return;
    }
    fputs(end - first > 1 ? " from " : " at ", t->out);
    words_value(t->out, axis, low);
}

/* "1.28x", "1.21x to 1.28x" */
static void put_ratios(const struct telling *t, size_t first, size_t end)
{
    double low = INFINITY, high = 0;
    char text[2][WORDS_RATIO];

    for (size_t i = first; i < end; i++) {
        low = fmin(low, t->points[i].effect->ratio);
        high = fmax(high, t->points[i].effect->ratio);
    }
    fprintf(t->out, "%sx", words_ratio(low, text[0]));
    if (strcmp(text[0], words_ratio(high, text[1])))
        fprintf(t->out, " to %sx", text[1]);
}

static void put_interval(const struct telling *t, size_t first, size_t end)
{
    const struct stats_effect *e = t->points[first].effect;

    if (end - first > 1 || !isfinite(e->low))
        return;
    fputs(" ", t->out);
    words_interval(t->out, e->low, e->high);
}

static void put_arm(const struct telling *t)
{
    words_arm_in(t->out, t->a, t->label_cell, t->arm);
}

static void put_baseline(const struct telling *t)
{
    words_arm_in(t->out, t->a, t->label_cell, t->a->x->baseline);
}

/* The blocks that undecided points have, and would need. */
static void put_blocks(const struct telling *t, size_t first, size_t end)
{
    unsigned n = 0, low = 0, high = 0;
    bool all_known = true;

    for (size_t i = first; i < end; i++) {
        const struct stats_effect *e = t->points[i].effect;

        n = e->n > n ? e->n : n;
        all_known = all_known && e->blocks_low;
        low = !low || (e->blocks_low && e->blocks_low < low) ? e->blocks_low : low;
        high = e->blocks_high > high ? e->blocks_high : high;
    }
    if (n < STATS_MIN_BLOCKS) {
        fprintf(t->out, "; %u of the %u blocks that a verdict needs", n, STATS_MIN_BLOCKS);
    } else if (all_known) {
        fputs("; ", t->out);
        words_needed(t->out, low, high);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Clauses
 */

/* The subject, if it was not named yet. */
static void begin_clause(struct telling *t, bool with_verb)
{
    const char *verb = words_verb(t->a->x, t->s->cells[0], t->arm);

    if (t->has_begun) {
        fputs("; ", t->out);
        if (with_verb && !t->has_verb)
            fprintf(t->out, "%s ", verb);
    } else {
        put_arm(t);
        if (with_verb)
            fprintf(t->out, " %s ", verb);
        else
            fputs(" against ", t->out);
    }
}

static void tell_faster(struct telling *t, size_t first, size_t end)
{
    begin_clause(t, true);
    put_ratios(t, first, end);
    fputs(" as fast", t->out);
    if (!t->has_begun) {
        fputs(" as ", t->out);
        put_baseline(t);
    }
    put_where(t, first, end);
    put_interval(t, first, end);
    t->has_verb = true;
}

static void tell_same(struct telling *t, size_t first, size_t end)
{
    if (t->has_begun) {
        fputs("; the same", t->out);
        put_where(t, first, end);
        return;
    }
    begin_clause(t, true);
    fputs("as fast as ", t->out);
    put_baseline(t);
    put_where(t, first, end);
    fputs(" (within ", t->out);
    words_percent(t->out, t->a->x->margin);
    fputs(" %)", t->out);
    t->has_verb = true;
}

static void tell_undecided(struct telling *t, size_t first, size_t end)
{
    begin_clause(t, false);
    if (!t->has_begun) {
        put_baseline(t);
        fputs(": ", t->out);
    }
    fputs("undecided", t->out);
    put_where(t, first, end);
    fputs(" (", t->out);
    put_ratios(t, first, end);
    put_interval(t, first, end);
    put_blocks(t, first, end);
    fputs(")", t->out);
}

static void tell_none(struct telling *t, size_t first, size_t end)
{
    const struct point *p = &t->points[first];

    begin_clause(t, false);
    if (!t->has_begun) {
        put_baseline(t);
        fputs(": ", t->out);
    }
    fputs(p->what, t->out);
    put_where(t, first, end);
    if (p->why) {
        fputs(" (", t->out);
        words_clean(t->out, p->why);
        fputs(")", t->out);
    }
}

static void tell_group(struct telling *t, size_t first, size_t end)
{
    switch (t->points[first].verdict) {
    case VERDICT_BETTER:
    case VERDICT_WORSE:
        tell_faster(t, first, end);
        break;
    case VERDICT_SAME:
        tell_same(t, first, end);
        break;
    case VERDICT_UNDECIDED:
        tell_undecided(t, first, end);
        break;
    case VERDICT_NONE:
        tell_none(t, first, end);
        break;
    }
    t->has_begun = true;
}

/* In the order of the axis; points without a verdict come last. */
static void tell_rate(struct telling *t)
{
    size_t n = 0;

    for (int none = 0; none < 2; none++)
        for (size_t i = 0; i < t->s->n_cells; i = group_end(t, i))
            if ((t->points[i].verdict == VERDICT_NONE) == none && n++ < GROUPS_MAX)
                tell_group(t, i, group_end(t, i));
    if (n > GROUPS_MAX)
        fprintf(t->out, "; and so on (%zu more in the table)", n - GROUPS_MAX);
}

/* ------------------------------------------------------------------------------------------------
 * Other metrics, where they are decided: "CPU per GiB 0.45x at 1 thread, the same from 4 threads"
 */

static bool tell_metric(struct telling *t, enum metric m, const char *words, const char *lead, bool with_same)
{
    size_t n = 0;

    for (size_t i = 0; i < t->s->n_cells; i++)
        know_point(t, i, m, &t->points[i]);
    for (size_t i = 0, end; i < t->s->n_cells; i = end) {
        enum stats_verdict v = t->points[i].verdict;

        end = group_end(t, i);
        if (v != VERDICT_BETTER && v != VERDICT_WORSE && !(v == VERDICT_SAME && with_same))
            continue;
        if (n++ >= GROUPS_MAX)
            continue;
        if (n > 1)
            fputs(", ", t->out);
        else
            fprintf(t->out, "%s%s ", lead, words);
        if (v == VERDICT_SAME)
            fputs("the same", t->out);
        else
            put_ratios(t, i, end);
        if (end - i < t->s->n_cells)
            put_where(t, i, end);
    }
    if (n > GROUPS_MAX)
        fputs(", and so on", t->out);
    return n > 0;
}

static void tell_others(struct telling *t)
{
    bool any;

    tell_metric(t, METRIC_CPU_PROCESS, "CPU per GiB", "; ", true);
    fputs(".", t->out);
    any = tell_metric(t, METRIC_P50, "Median latency", " ", false);
    any |= tell_metric(t, METRIC_P99, "99 % latency", any ? "; " : " ", false);
    if (any)
        fputs(".", t->out);
}

/* ------------------------------------------------------------------------------------------------ */

static uint32_t find_label_cell(const struct analysis *a, const struct stretch *s, uint32_t arm)
{
    for (size_t i = 0; i < s->n_cells; i++)
        if (analysis_arm_cell(a, s->cells[i], arm)->n_ok)
            return s->cells[i];
    return s->cells[0];
}

int sentence_stretch(FILE *out, const struct analysis *a, const struct stretch *s, uint32_t arm)
{
    _cleanup_free_ struct point *points = calloc(s->n_cells, sizeof(*points));
    struct telling t = {.out = out, .a = a, .s = s, .arm = arm, .points = points};

    if (!points)
        return -ENOMEM;
    t.label_cell = find_label_cell(a, s, arm);
    for (size_t i = 0; i < s->n_cells; i++)
        know_point(&t, i, METRIC_RATE, &points[i]);
    words_fixed(out, a->x, s->cells[0], s->axis);
    tell_rate(&t);
    tell_others(&t);
    return 0;
}
