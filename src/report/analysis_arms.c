/* SPDX-License-Identifier: MIT */
/* Each arm in each cell by itself, and which blocks are done. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"

/* What all trials with figures say; "mixed" where they differ. */
static void merge_word(char *ret, size_t size, const char *word, bool first)
{
    if (first)
        snprintf(ret, size, "%s", word);
    else if (strcmp(ret, word))
        snprintf(ret, size, "mixed");
}

/* A pair is as well verified as the worst of its trials. */
static void merge_verify(char *ret, size_t size, const char *word, bool first)
{
    if (first || (strcmp(word, "ok") && strcmp(ret, "off")))
        snprintf(ret, size, "%s", word);
}

static void count_trial(struct arm_cell *c, const struct store_trial *t)
{
    if (t->status == TRIAL_INTERRUPTED)
        return;
    if (!analysis_has_figures(t)) {
        c->error = t->error;
        c->n_refused += t->status == TRIAL_REFUSED;
        c->n_failed += t->status != TRIAL_REFUSED;
        return;
    }
    if (*t->observed) /* a window without a request shows nothing */
        merge_word(c->observed, sizeof(c->observed), t->observed, !*c->observed);
    merge_word(c->served, sizeof(c->served), t->served, !c->n_ok);
    merge_verify(c->verify, sizeof(c->verify), t->verify, !c->n_ok);
    c->n_cached += !strcmp(t->served, "cache");
    c->n_ok++;
}

static void count_trials(const struct analysis *a, const struct analysis_index *index, size_t pair, struct arm_cell *c)
{
    bool any_wrong = false;

    for (size_t i = index->first[pair]; i < index->first[pair + 1]; i++) {
        const struct store_trial *t = &a->trials[index->trials[i]];

        count_trial(c, t);
        any_wrong |= !strcmp(t->verify, "failed");
    }
    if (any_wrong)
        snprintf(c->verify, sizeof(c->verify), "failed");
}

/* ------------------------------------------------------------------------------------------------
 * Figures
 */

typedef double get_fn(const struct figures *f, unsigned which);

static double get_metric(const struct figures *f, unsigned which)
{
    return f->metric[which];
}

static double get_cpus(const struct figures *f, unsigned which)
{
    const double cpus[] = {f->process_user_cpus, f->process_system_cpus, f->machine_user_cpus, f->machine_system_cpus};

    return cpus[which];
}

static double get_wire(const struct figures *f, unsigned which)
{
    return f->wire[which];
}

/* A window may be too short for the clock that counts CPU time, or use none: a 0 is a
 * measurement. */
static bool may_be_zero(get_fn *get, unsigned which)
{
    return get == get_cpus || (get == get_metric && (which == METRIC_CPU_PROCESS || which == METRIC_CPU_MACHINE));
}

static double sum_retries(const struct analysis *a, const struct analysis_index *index, size_t pair)
{
    double sum = NAN;

    for (size_t i = index->first[pair]; i < index->first[pair + 1]; i++) {
        const struct store_trial *t = &a->trials[index->trials[i]];

        if (analysis_has_figures(t) && isfinite(t->figures.wire_retries))
            sum = (isnan(sum) ? 0 : sum) + t->figures.wire_retries;
    }
    return sum;
}

static void take_figure(const struct analysis *a, const struct analysis_index *index, size_t pair, get_fn *get,
                        unsigned which, double *scratch, struct stats_figure *ret)
{
    size_t n = 0;

    for (size_t i = index->first[pair]; i < index->first[pair + 1]; i++) {
        const struct store_trial *t = &a->trials[index->trials[i]];

        if (analysis_has_figures(t))
            scratch[n++] = get(&t->figures, which);
    }
    if (may_be_zero(get, which))
        stats_figure_with_zeros(scratch, n, ret);
    else
        stats_figure(scratch, n, ret);
}

static void take_figures(const struct analysis *a, const struct analysis_index *index, size_t pair, double *scratch,
                         struct arm_cell *c)
{
    struct stats_figure *const cpus[] = {&c->process_user_cpus, &c->process_system_cpus, &c->machine_user_cpus,
                                         &c->machine_system_cpus};

    for (unsigned m = 0; m < N_METRICS; m++)
        take_figure(a, index, pair, get_metric, m, scratch, &c->metric[m]);
    for (unsigned i = 0; i < ARRAY_SIZE(cpus); i++)
        take_figure(a, index, pair, get_cpus, i, scratch, cpus[i]);
    for (unsigned w = 0; w < N_WIRE_FIGURES; w++)
        take_figure(a, index, pair, get_wire, w, scratch, &c->wire[w]);
    c->wire_retries = sum_retries(a, index, pair);
}

/* ------------------------------------------------------------------------------------------------
 * The plan and what became of it
 */

static bool is_left_out(const struct analysis_index *index, const struct experiment_row *row)
{
    return row->block >= index->decided_from[row->cell];
}

static void count_planned(struct analysis *a, const struct analysis_index *index)
{
    for (size_t i = 0; i < index->n_rows_due; i++) {
        const struct experiment_row *row = &a->x->rows[i];

        a->arm_cells[row->cell * a->x->n_arms + row->arm].n_planned += !is_left_out(index, row);
    }
}

static void take_stops(struct analysis *a)
{
    for (size_t i = 0; i < a->n_events; i++) {
        const struct store_event *event = &a->events[i];

        if (event->kind == EVENT_STOPPED && event->cell < a->x->n_cells && event->arm < a->x->n_arms)
            a->arm_cells[event->cell * a->x->n_arms + event->arm].stopped = event->text ? event->text : "";
    }
}

/* A block that was left out whole is not done: there is nothing of it to show. */
static void count_blocks(struct analysis *a, const struct analysis_index *index)
{
    const struct experiment *x = a->x;
    uint32_t n_blocks = 0, open = EXPERIMENT_NONE;
    size_t next = 0;

    for (size_t i = 0; i < x->n_rows; i++) {
        const struct experiment_row *row = &x->rows[i];
        bool run = false;

        for (; next < a->n_trials && a->trials[next].row <= i; next++)
            run |= a->trials[next].row == i && a->trials[next].status != TRIAL_INTERRUPTED;
        if (run && row->block + 1 > n_blocks)
            n_blocks = row->block + 1;
        if (!run && open == EXPERIMENT_NONE && !is_left_out(index, row) &&
            row->block < index->stopped_from[row->cell * x->n_arms + row->arm])
            open = row->block;
    }
    a->n_blocks_done = open < n_blocks ? open : n_blocks;
}

int analysis_arms(struct analysis *a, const struct analysis_index *index)
{
    const struct experiment *x = a->x;
    _cleanup_free_ double *scratch = calloc(a->n_trials + 1, sizeof(*scratch));

    a->arm_cells = calloc(index->n_pairs, sizeof(*a->arm_cells));
    if (!a->arm_cells || !scratch)
        return -ENOMEM;
    for (size_t pair = 0; pair < index->n_pairs; pair++) {
        const struct experiment_pair *planned = &x->cells[pair / x->n_arms].pairs[pair % x->n_arms];
        struct arm_cell *c = &a->arm_cells[pair];

        c->state = planned->state;
        c->reason = planned->reason;
        count_trials(a, index, pair, c);
        take_figures(a, index, pair, scratch, c);
        a->n_without_figures += c->n_failed + c->n_refused;
    }
    count_planned(a, index);
    take_stops(a);
    count_blocks(a, index);
    return 0;
}
