/* SPDX-License-Identifier: MIT */
/* Each arm against the baseline: pairs of one block, families of one metric. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"

struct pair {
    const struct store_trial *arm, *baseline;
};

/* The pairs of all comparisons, one after another. */
struct pairs {
    struct pair *items;
    size_t *first; /* [comparison], n + 1 */
};

/* ------------------------------------------------------------------------------------------------
 * Pairs
 */

static uint32_t block_of(const struct analysis *a, const struct analysis_index *index, size_t i)
{
    return a->x->rows[a->trials[index->trials[i]].row].block;
}

/* Both are in the order of blocks. Returns how many there are. */
static size_t find_pairs(const struct analysis *a, const struct analysis_index *index, const struct comparison *c,
                         struct pair *ret)
{
    size_t arm = (size_t)c->cell * a->x->n_arms + c->arm, base = (size_t)c->cell * a->x->n_arms + a->x->baseline;
    size_t i = index->first[arm], k = index->first[base], n = 0;

    while (i < index->first[arm + 1] && k < index->first[base + 1]) {
        struct pair pair = {&a->trials[index->trials[i]], &a->trials[index->trials[k]]};
        uint32_t block = block_of(a, index, i), base_block = block_of(a, index, k);

        i += block <= base_block;
        k += base_block <= block;
        if (block == base_block && analysis_has_figures(pair.arm) && analysis_has_figures(pair.baseline))
            ret[n++] = pair;
    }
    return n;
}

static int make_pairs(const struct analysis *a, const struct analysis_index *index, const struct comparison *list,
                      size_t n, struct pairs *ret)
{
    ret->items = calloc(a->n_trials + 1, sizeof(*ret->items));
    ret->first = calloc(n + 1, sizeof(*ret->first));
    if (!ret->items || !ret->first)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        ret->first[i + 1] = ret->first[i] + find_pairs(a, index, &list[i], ret->items + ret->first[i]);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * What served
 */

static const struct {
    const char *arm, *baseline, *words;
} apart[] = {
    {"memory", "storage", "served from memory against storage"},
    {"memory", "cache", "served from memory against cache"},
    {"cache", "storage", "served from cache against storage"},
    {"cache", "memory", "served from cache against memory"},
    {"storage", "memory", "served from storage against memory"},
    {"storage", "cache", "served from storage against cache"},
    {"simulated", "storage", "served by simulation against storage"},
    {"storage", "simulated", "served from storage against simulation"},
};

/* One such pair is enough: its ratio is of two storages, not of two roads. */
static const char *why_apart(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *arm = pairs[i].arm->served, *baseline = pairs[i].baseline->served;

        if (!*arm || !*baseline || !strcmp(arm, baseline))
            continue;
        for (size_t k = 0; k < ARRAY_SIZE(apart); k++)
            if (!strcmp(arm, apart[k].arm) && !strcmp(baseline, apart[k].baseline))
                return apart[k].words;
        return "served from different places";
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------
 * Families
 */

static double log_ratio(const struct pair *p, enum metric m)
{
    double arm = p->arm->figures.metric[m], baseline = p->baseline->figures.metric[m];

    return arm > 0 && baseline > 0 ? log(arm / baseline) : NAN;
}

struct family {
    struct stats_sample *samples;
    struct stats_effect *effects;
    size_t *members; /* indices of comparisons */
    double *logs;
};

static void judge_metric(const struct analysis *a, struct comparison *list, size_t n, bool apart_ones,
                         const struct pairs *pairs, enum metric m, struct family *f)
{
    const struct stats_family_options options = {a->family_alpha, a->x->margin, metric_higher_is_better(m)};
    size_t n_members = 0;

    for (size_t i = 0; i < n; i++) {
        if ((list[i].ranked_apart != NULL) != apart_ones)
            continue;
        for (size_t k = pairs->first[i]; k < pairs->first[i + 1]; k++)
            f->logs[k] = log_ratio(&pairs->items[k], m);
        f->samples[n_members].log_ratio = f->logs + pairs->first[i];
        f->samples[n_members].n = (unsigned)(pairs->first[i + 1] - pairs->first[i]);
        f->members[n_members++] = i;
    }
    stats_family(f->samples, n_members, &options, f->effects);
    for (size_t i = 0; i < n_members; i++) {
        struct stats_effect *e = &list[f->members[i]].metric[m];

        *e = f->effects[i];
        if (!apart_ones)
            continue;
        e->verdict = VERDICT_NONE;
        e->blocks_low = e->blocks_high = 0;
    }
}

/* What is ranked apart is none of the family: it must not widen the intervals of the others. */
static int judge(const struct analysis *a, struct comparison *list, size_t n, const struct pairs *pairs)
{
    _cleanup_free_ struct stats_sample *samples = calloc(n + 1, sizeof(*samples));
    _cleanup_free_ struct stats_effect *effects = calloc(n + 1, sizeof(*effects));
    _cleanup_free_ size_t *members = calloc(n + 1, sizeof(*members));
    _cleanup_free_ double *logs = calloc(a->n_trials + 1, sizeof(*logs));
    struct family f = {samples, effects, members, logs};

    if (!samples || !effects || !members || !logs)
        return -ENOMEM;
    for (unsigned m = 0; m < N_METRICS; m++) {
        judge_metric(a, list, n, false, pairs, m, &f);
        judge_metric(a, list, n, true, pairs, m, &f);
    }
    return 0;
}

static int compare(const struct analysis *a, const struct analysis_index *index, struct comparison *list, size_t n)
{
    struct pairs pairs = {NULL, NULL};
    int r = make_pairs(a, index, list, n, &pairs);

    for (size_t i = 0; !r && i < n; i++)
        list[i].ranked_apart = why_apart(pairs.items + pairs.first[i], pairs.first[i + 1] - pairs.first[i]);
    if (!r)
        r = judge(a, list, n, &pairs);
    free(pairs.items);
    free(pairs.first);
    return r;
}

static int make_lists(struct analysis *a)
{
    const struct experiment *x = a->x;
    bool has_aa = x->aa != EXPERIMENT_NONE;

    a->comparisons = calloc(x->n_cells * x->n_arms, sizeof(*a->comparisons));
    a->aa = has_aa ? calloc(x->n_cells, sizeof(*a->aa)) : NULL;
    if (!a->comparisons || (has_aa && !a->aa))
        return -ENOMEM;
    for (uint32_t cell = 0; cell < x->n_cells; cell++)
        for (uint32_t arm = 0; arm < x->n_arms; arm++) {
            if (arm == x->aa)
                a->aa[a->n_aa++] = (struct comparison){.arm = arm, .cell = cell};
            else if (arm != x->baseline)
                a->comparisons[a->n_comparisons++] = (struct comparison){.arm = arm, .cell = cell};
        }
    return 0;
}

int analysis_pairs(struct analysis *a, const struct analysis_index *index)
{
    int r = make_lists(a);

    a->family_alpha = a->x->until_decided ? a->x->alpha / 3 : a->x->alpha;
    if (!r)
        r = compare(a, index, a->comparisons, a->n_comparisons);
    if (!r)
        r = compare(a, index, a->aa, a->n_aa);
    for (size_t i = 0; !r && i < a->n_aa; i++) {
        enum stats_verdict v = a->aa[i].metric[METRIC_RATE].verdict;

        a->harness_biased |= v == VERDICT_BETTER || v == VERDICT_WORSE;
    }
    return r;
}
