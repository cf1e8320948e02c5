/* SPDX-License-Identifier: MIT */
#include "report/analysis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "report/analysis_parts.h"

bool analysis_has_figures(const struct store_trial *t)
{
    return t->status == TRIAL_OK && strcmp(t->verify, "failed");
}

/* ------------------------------------------------------------------------------------------------
 * Trials by pair
 */

static size_t pair_of(const struct analysis *a, const struct store_trial *t)
{
    const struct experiment_row *row = &a->x->rows[t->row];

    return (size_t)row->cell * a->x->n_arms + row->arm;
}

/* A counting sort: trials stay in the order of rows. */
static void sort_trials(const struct analysis *a, struct analysis_index *index)
{
    for (size_t i = 0; i < a->n_trials; i++)
        index->first[pair_of(a, &a->trials[i]) + 1]++;
    for (size_t i = 0; i < index->n_pairs; i++)
        index->first[i + 1] += index->first[i];
    /* Each pair's beginning moves to its end, which is where the next one begins. */
    for (size_t i = 0; i < a->n_trials; i++)
        index->trials[index->first[pair_of(a, &a->trials[i])]++] = (uint32_t)i;
    memmove(index->first + 1, index->first, index->n_pairs * sizeof(*index->first));
    index->first[0] = 0;
}

static void take_events(const struct analysis *a, struct analysis_index *index)
{
    const struct experiment *x = a->x;

    memset(index->decided_from, 0xff, x->n_cells * sizeof(*index->decided_from));
    memset(index->stopped_from, 0xff, index->n_pairs * sizeof(*index->stopped_from));
    for (size_t i = 0; i < a->n_events; i++) {
        const struct store_event *event = &a->events[i];

        if (event->cell >= x->n_cells)
            continue;
        if (event->kind == EVENT_DECIDED)
            index->decided_from[event->cell] = event->block;
        if (event->kind == EVENT_STOPPED && event->arm < x->n_arms)
            index->stopped_from[event->cell * x->n_arms + event->arm] = event->block;
    }
}

/* Rows are run in their order: whatever comes before one that was run was to be run. */
static uint32_t rows_due(const struct analysis *a)
{
    for (size_t i = 0; i < a->n_events; i++)
        if (a->events[i].kind == EVENT_FINISHED)
            return (uint32_t)a->x->n_rows;
    for (size_t i = a->n_trials; i--;)
        if (a->trials[i].status != TRIAL_INTERRUPTED)
            return a->trials[i].row + 1;
    return 0;
}

int analysis_index_make(const struct analysis *a, struct analysis_index *ret)
{
    struct analysis_index index = {.n_pairs = a->x->n_cells * a->x->n_arms};

    index.first = calloc(index.n_pairs + 2, sizeof(*index.first));
    index.trials = calloc(a->n_trials + 1, sizeof(*index.trials));
    index.decided_from = calloc(a->x->n_cells + 1, sizeof(*index.decided_from));
    index.stopped_from = calloc(index.n_pairs + 1, sizeof(*index.stopped_from));
    if (!index.first || !index.trials || !index.decided_from || !index.stopped_from) {
        analysis_index_free(&index);
        return -ENOMEM;
    }
    sort_trials(a, &index);
    take_events(a, &index);
    index.n_rows_due = rows_due(a);
    *ret = index;
    return 0;
}

void analysis_index_free(struct analysis_index *index)
{
    free(index->first);
    free(index->trials);
    free(index->decided_from);
    free(index->stopped_from);
    memset(index, 0, sizeof(*index));
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

static int compute(struct analysis *a, struct store *s, struct spur_error *e)
{
    _cleanup_free_ struct store_facts *facts = NULL;
    struct analysis_index index;
    size_t n_facts = 0;
    int r = store_facts(s, &facts, &n_facts, e);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n_facts; i++)
        a->foreign |= facts[i].foreign;
    r = analysis_index_make(a, &index);
    if (r < 0)
        return error_errno(e, -r, "calloc", "the analysis of %zu trials", a->n_trials);
    r = analysis_arms(a, &index);
    if (!r)
        r = analysis_pairs(a, &index);
    if (!r)
        r = analysis_lines(a, &index);
    if (!r)
        r = analysis_flags(a, &index);
    if (!r)
        r = analysis_sentences(a);
    if (!r)
        r = analysis_warnings(a);
    if (r < 0)
        error_errno(e, -r, "calloc", "the analysis of %zu trials", a->n_trials);
    else
        r = analysis_causes(a, s, &index, facts, n_facts, e);
    analysis_index_free(&index);
    return r;
}

static bool is_sane(const struct analysis *a)
{
    for (size_t i = 0; i < a->n_trials; i++)
        if (a->trials[i].row >= a->x->n_rows)
            return false;
    return a->x->n_cells && a->x->baseline < a->x->n_arms && a->x->aa != a->x->baseline;
}

int analysis_make(struct store *s, struct analysis *ret, struct spur_error *e)
{
    struct analysis a = {.x = store_experiment(s)};
    int r = store_trials(s, &a.trials, &a.n_trials, e);

    if (!r)
        r = store_events(s, &a.events, &a.n_events, e);
    if (!r && !is_sane(&a))
        r = error_spur(e, SPUR_CODE_MISMATCH, "results", "the results do not fit their plan: the file is damaged");
    else if (!r)
        r = compute(&a, s, e);
    if (r < 0)
        analysis_free(&a);
    else
        *ret = a;
    return r;
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void free_causes(struct cause *causes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(causes[i].subject);
        free(causes[i].cells);
        free(causes[i].text);
        free_texts(causes[i].tries, causes[i].n_tries);
    }
    free(causes);
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    store_trials_free(a->trials, a->n_trials);
    store_events_free(a->events, a->n_events);
    for (size_t i = 0; i < a->n_lines; i++)
        free(a->lines[i].cells);
    free(a->lines);
    free(a->arm_cells);
    free(a->comparisons);
    free(a->aa);
    free(a->outliers);
    free_causes(a->causes, a->n_causes);
    free_texts(a->sentences, a->n_sentences);
    free_texts(a->warnings, a->n_warnings);
    memset(a, 0, sizeof(*a));
}

const struct comparison *analysis_comparison(const struct analysis *a, uint32_t cell, uint32_t arm)
{
    const struct experiment *x = a->x;
    size_t n_compared = x->n_arms - 1 - (x->aa != EXPERIMENT_NONE), place = arm;

    if (arm == x->baseline)
        return NULL;
    if (arm == x->aa)
        return &a->aa[cell];
    place -= x->baseline < arm;
    place -= x->aa != EXPERIMENT_NONE && x->aa < arm;
    return &a->comparisons[cell * n_compared + place];
}

char *analysis_arm_label(const struct analysis *a, uint32_t cell, uint32_t arm, char *ret, size_t size)
{
    const struct arm_cell *c = analysis_arm_cell(a, cell, arm);
    const char *observed = c->observed, *name = a->x->arms[arm].name;
    bool known = *observed && strcmp(observed, "host") && strcmp(observed, "unknown");

    if (!strcmp(c->verify, "unverified")) /* what another program says */
        snprintf(ret, size, "%s (external, unverified%s%s)", name, known ? ", " : "", known ? observed : "");
    else if (*observed && strcmp(observed, "host"))
        snprintf(ret, size, "%s (%s)", name, observed);
    else
        snprintf(ret, size, "%s", name);
    return ret;
}
