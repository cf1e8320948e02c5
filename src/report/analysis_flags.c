/* SPDX-License-Identifier: MIT */
/* What holds for the experiment as a whole: drift, outliers, what it was and how it ended. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"

static double rate_of(const struct store_trial *t)
{
    return analysis_has_figures(t) ? t->figures.metric[METRIC_RATE] : NAN;
}

/* ------------------------------------------------------------------------------------------------ */

static int find_drift(struct analysis *a)
{
    _cleanup_free_ struct stats_timed *timed = calloc(a->n_trials + 1, sizeof(*timed));

    if (!timed)
        return -ENOMEM;
    for (size_t i = 0; i < a->n_trials; i++) {
        const struct store_trial *t = &a->trials[i];
        const struct experiment_row *row = &a->x->rows[t->row];

        /* The monotonic clock begins anew with each boot, and a resumed experiment may have seen several. */
        timed[i].when = ((double)t->began_realtime_ns - (double)a->trials[0].began_realtime_ns) / 1e9;
        timed[i].value = rate_of(t);
        timed[i].group = row->cell * (uint32_t)a->x->n_arms + row->arm;
    }
    stats_drift(timed, a->n_trials, a->x->margin, &a->drift);
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct outlier *)a)->row, y = ((const struct outlier *)b)->row;

    return (x > y) - (x < y);
}

static void add_outlier(struct analysis *a, const struct store_trial *t)
{
    const struct experiment_row *row = &a->x->rows[t->row];

    a->outliers[a->n_outliers++] = (struct outlier){
        .row = t->row,
        .value = rate_of(t),
        .center = analysis_arm_cell(a, row->cell, row->arm)->metric[METRIC_RATE].center,
    };
}

static int find_outliers(struct analysis *a, const struct analysis_index *index)
{
    _cleanup_free_ double *values = calloc(a->n_trials + 1, sizeof(*values));
    _cleanup_free_ bool *is_outlier = calloc(a->n_trials + 1, sizeof(*is_outlier));

    a->outliers = calloc(a->n_trials + 1, sizeof(*a->outliers));
    if (!values || !is_outlier || !a->outliers)
        return -ENOMEM;
    for (size_t pair = 0; pair < index->n_pairs; pair++) {
        size_t first = index->first[pair], n = index->first[pair + 1] - first;

        for (size_t i = 0; i < n; i++)
            values[i] = rate_of(&a->trials[index->trials[first + i]]);
        stats_outliers(values, n, a->x->margin, is_outlier);
        for (size_t i = 0; i < n; i++)
            if (is_outlier[i])
                add_outlier(a, &a->trials[index->trials[first + i]]);
    }
    qsort(a->outliers, a->n_outliers, sizeof(*a->outliers), compare_rows);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static void read_trials(struct analysis *a)
{
    a->quick = a->x->quick;
    a->emulated = a->x->memory && !strcmp(a->x->memory, "emulated");
    for (size_t i = 0; i < a->n_trials; i++) {
        const struct store_trial *t = &a->trials[i];

        a->emulated |= t->emulated;
        a->simulated |= t->simulated || !strcmp(t->served, "simulated");
        a->unverified |= analysis_has_figures(t) && strcmp(t->verify, "ok");
    }
}

/* Each run of the experiment begins with an event of its own: the last one tells how things stand. */
static void read_events(struct analysis *a)
{
    for (size_t i = 0; i < a->n_events; i++) {
        enum store_event_kind kind = a->events[i].kind;

        if (kind == EVENT_STARTED)
            a->interrupted = a->limited = false;
        a->interrupted |= kind == EVENT_INTERRUPTED;
        a->limited |= kind == EVENT_LIMIT;
        a->finished |= kind == EVENT_FINISHED;
    }
}

int analysis_flags(struct analysis *a, const struct analysis_index *index)
{
    int r;

    read_trials(a);
    read_events(a);
    r = find_drift(a);
    return r ? r : find_outliers(a, index);
}
