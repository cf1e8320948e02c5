/* SPDX-License-Identifier: MIT */
/* Causes: cases for the rules, and what they find in several cells as one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "report/analysis_causes.h"

/* ------------------------------------------------------------------------------------------------
 * Cases
 */

struct cases {
    struct cause_case *items;
    size_t n;
    struct cause_finding *findings;
    size_t *of_finding; /* the case of each */
    size_t n_findings;
};

#define BEST_CELLS_MAX 5000 /* beyond, looking at each cell from each takes too long: not known */

static bool is_load(const char *key)
{
    return !strcmp(key, "threads") || !strcmp(key, "depth");
}

static bool differs_in_load_only(const struct experiment *x, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (x->cells[a].value[i] != x->cells[b].value[i] && !is_load(x->axes[i].key))
            return false;
    return true;
}

static double best_rate(const struct analysis *a, const struct cause_side *sides, const struct cause_case *c)
{
    const struct experiment *x = a->x;
    double best = 0;

    if (x->n_cells > BEST_CELLS_MAX)
        return NAN;
    for (uint32_t cell = 0; cell < x->n_cells; cell++)
        for (uint32_t arm = 0; differs_in_load_only(x, cell, c->cell) && arm < x->n_arms; arm++) {
            const struct cause_side *s = &sides[cell * x->n_arms + arm];

            if (s->rate.center > best && cause_files_within(s->file, c->side.file))
                best = s->rate.center;
        }
    return best;
}

/* The baseline by itself: of it only what needs no verdict can be said. */
static struct cause_case make_case(const struct analysis *a, const struct cause_side *sides, uint32_t cell,
                                   uint32_t arm)
{
    const struct comparison *c = analysis_comparison(a, cell, arm);
    struct cause_case ret = {
        .cell = cell,
        .arm = arm,
        .baseline = sides[cell * a->x->n_arms + a->x->baseline],
        .side = sides[cell * a->x->n_arms + arm],
        .rate = {.ratio = NAN, .low = NAN, .high = NAN, .verdict = VERDICT_NONE},
        .best_rate = NAN,
        .simulated = a->simulated,
        .margin = a->x->margin,
    };

    if (c && !a->harness_biased) { /* a biased one's verdicts explain nothing */
        ret.rate = c->metric[METRIC_RATE];
        ret.ranked_apart = c->ranked_apart != NULL;
    }
    if (ret.rate.verdict == VERDICT_SAME)
        ret.best_rate = best_rate(a, sides, &ret);
    return ret;
}

static bool is_decided(const struct cause_case *c)
{
    return c->rate.verdict == VERDICT_BETTER || c->rate.verdict == VERDICT_WORSE;
}

static bool explains(enum cause_kind kind)
{
    return kind != CAUSE_TOO_SHORT && kind != CAUSE_NOISE && kind != CAUSE_HELD_BACK;
}

static void find(struct analysis *a, struct cases *cases)
{
    const struct cause_case *c = &cases->items[cases->n - 1];
    struct cause_finding *found = cases->findings + cases->n_findings;
    size_t n = causes_find(c, found);
    bool explained = false;

    for (size_t i = 0; i < n; i++) {
        explained |= explains(found[i].kind);
        cases->of_finding[cases->n_findings + i] = cases->n - 1;
    }
    cases->n_findings += n;
    a->n_decided += is_decided(c);
    a->n_unexplained += is_decided(c) && !explained;
}

static int find_all(struct analysis *a, const struct cause_side *sides, struct cases *ret)
{
    const struct experiment *x = a->x;
    size_t n = x->n_cells * x->n_arms;

    ret->items = calloc(n, sizeof(*ret->items));
    ret->findings = calloc(n * N_CAUSES + 1, sizeof(*ret->findings));
    ret->of_finding = calloc(n * N_CAUSES + 1, sizeof(*ret->of_finding));
    if (!ret->items || !ret->findings || !ret->of_finding)
        return -ENOMEM;
    for (uint32_t arm = 0; arm < x->n_arms; arm++)
        for (uint32_t cell = 0; cell < x->n_cells; cell++) {
            if (arm == x->aa)
                continue;
            ret->items[ret->n++] = make_case(a, sides, cell, arm);
            find(a, ret);
        }
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Cells that agree
 */

static bool is_alike(const struct cause *c, const struct cause_finding *f)
{
    return c->kind == f->kind && c->arm == f->arm && c->arm_is_faster == f->arm_is_faster && c->is_same == f->is_same &&
           !strcmp(c->variant, f->variant) && !strcmp(c->subject, f->subject);
}

static struct cause *place_of(struct analysis *a, const struct cause_finding *f)
{
    struct cause *c;

    for (size_t i = 0; i < a->n_causes; i++)
        if (is_alike(&a->causes[i], f))
            return &a->causes[i];
    c = &a->causes[a->n_causes];
    *c = (struct cause){
        .kind = f->kind,
        .confidence = f->confidence,
        .variant = f->variant,
        .subject = strdup(f->subject),
        .arm = f->arm,
        .arm_is_faster = f->arm_is_faster,
        .is_same = f->is_same,
        .ratio_low = NAN,
        .ratio_high = NAN,
        .cells = calloc(a->x->n_cells, sizeof(*c->cells)),
    };
    a->n_causes++;
    return c->subject && c->cells ? c : NULL;
}

static void widen(double *low, double *high, double value)
{
    *low = fmin(*low, value); /* of a NaN and a number the number */
    *high = fmax(*high, value);
}

static void merge(struct cause *c, const struct cause_finding *f, const struct cause_case *of)
{
    bool inverse = !f->arm_is_faster && is_decided(of) && explains(f->kind);

    c->cells[c->n_cells++] = f->cell;
    if (f->confidence < c->confidence)
        c->confidence = f->confidence;
    widen(&c->ratio_low, &c->ratio_high, inverse ? 1 / of->rate.ratio : of->rate.ratio);
    for (int i = 0; i < CAUSE_NUMBERS && f->numbers[i].key; i++) {
        struct cause_span *span = &c->numbers[i];

        if (!span->key)
            *span = (struct cause_span){f->numbers[i].key, NAN, NAN, NAN, NAN};
        widen(&span->faster_low, &span->faster_high, f->numbers[i].faster);
        widen(&span->slower_low, &span->slower_high, f->numbers[i].slower);
    }
}

static int compare_causes(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;

    if (x->arm != y->arm)
        return x->arm < y->arm ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->cells[0] < y->cells[0] ? -1 : x->cells[0] > y->cells[0];
}

static int put_words(struct analysis *a, struct cause *c, const struct cases *cases)
{
    _cleanup_free_ const struct cause_case **list = calloc(c->n_cells + 1, sizeof(*list));
    size_t n = 0;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < cases->n_findings; i++)
        if (is_alike(c, &cases->findings[i]))
            list[n++] = &cases->items[cases->of_finding[i]];
    return cause_words(a, c, list);
}

static int merge_all(struct analysis *a, const struct cases *cases)
{
    int r = 0;

    a->causes = calloc(cases->n_findings + 1, sizeof(*a->causes));
    if (!a->causes)
        return -ENOMEM;
    for (size_t i = 0; i < cases->n_findings; i++) {
        struct cause *c = place_of(a, &cases->findings[i]);

        if (!c)
            return -ENOMEM;
        merge(c, &cases->findings[i], &cases->items[cases->of_finding[i]]);
    }
    for (size_t i = 0; !r && i < a->n_causes; i++)
        r = put_words(a, &a->causes[i], cases);
    qsort(a->causes, a->n_causes, sizeof(*a->causes), compare_causes);
    return r;
}

/* ------------------------------------------------------------------------------------------------ */

static int make_causes(struct analysis *a, const struct cause_side *sides)
{
    struct cases cases = {0};
    int r = find_all(a, sides, &cases);

    if (!r)
        r = merge_all(a, &cases);
    free(cases.items);
    free(cases.findings);
    free(cases.of_finding);
    return r;
}

int analysis_causes(struct analysis *a, struct store *s, const struct analysis_index *index,
                    const struct store_facts *facts, size_t n_facts, struct spur_error *e)
{
    _cleanup_free_ struct store_interval *intervals = NULL;
    struct cause_side *sides = NULL;
    size_t n_intervals = 0;
    int r = store_intervals(s, EXPERIMENT_NONE, &intervals, &n_intervals, e);

    if (r)
        return r;
    r = cause_sides_make(a, index, facts, n_facts, intervals, n_intervals, &sides);
    if (!r)
        r = make_causes(a, sides);
    cause_sides_free(sides, index->n_pairs);
    return r ? error_errno(e, -r, "calloc", "the causes of %zu trials", a->n_trials) : 0;
}
