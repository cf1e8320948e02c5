/* SPDX-License-Identifier: MIT */
#include "sweep/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/error.h"

struct progress *run_pair_of(struct run *run, const struct experiment_row *row)
{
    return &run->pairs[row->cell * run->x->n_arms + row->arm];
}

bool run_left_out(struct run *run, const struct experiment_row *row)
{
    return run->decided[row->cell] || run_pair_of(run, row)->stopped;
}

uint64_t run_realtime_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int run_add_event(struct run *run, enum store_event_kind kind, uint32_t block, uint32_t cell, uint32_t arm, char *text,
                  struct spur_error *e)
{
    const struct store_event event = {kind, run_realtime_ns(), block, cell, arm, text};

    return store_add_event(run->s->store, &event, e);
}

void run_say(struct run *run, const char *format, ...)
{
    char line[600];
    va_list ap;

    if (!run->s->hooks->said)
        return;
    va_start(ap, format);
    vsnprintf(line, sizeof(line), format, ap);
    va_end(ap);
    run->s->hooks->said(run->s->hooks->context, line);
}

/* ------------------------------------------------------------------------------------------------
 * What is to be run
 */

void run_count_todo(struct run *run)
{
    uint64_t n_left;

    run->state.n_todo = 0;
    run->state.n_done = 0;
    for (size_t i = 0; i < run->x->n_rows; i++) {
        if (run->done[i])
            run->state.n_done++;
        else if (run_left_out(run, &run->x->rows[i]))
            continue;
        run->state.n_todo++;
    }
    n_left = run->state.n_todo - run->state.n_done;
    run->state.left_ns = run->n_run ? run->spent_ns / run->n_run * n_left : 0;
}

void run_note_outcome(struct run *run, const struct experiment_row *row, enum trial_status status)
{
    struct progress *p = run_pair_of(run, row);

    p->failures = status == TRIAL_OK ? 0 : p->failures + 1;
    run->end->n_without_figures += status != TRIAL_OK;
    run->end->any_refused |= status == TRIAL_REFUSED;
}

int run_recall_trials(struct run *run, struct spur_error *e)
{
    struct store_trial *trials = NULL;
    size_t n = 0;
    int r = store_trials(run->s->store, &trials, &n, e);

    for (size_t i = 0; i < n; i++) {
        if (trials[i].status == TRIAL_INTERRUPTED)
            continue;
        run->done[trials[i].row] = true;
        run_note_outcome(run, &run->x->rows[trials[i].row], trials[i].status);
    }
    store_trials_free(trials, n);
    return r;
}

int run_recall_events(struct run *run, struct spur_error *e)
{
    struct store_event *events = NULL;
    size_t n = 0;
    int r = store_events(run->s->store, &events, &n, e);

    for (size_t i = 0; i < n; i++) {
        if (events[i].kind == EVENT_STOPPED)
            run->pairs[events[i].cell * run->x->n_arms + events[i].arm].stopped = true;
        if (events[i].kind == EVENT_DECIDED)
            run->decided[events[i].cell] = true;
    }
    store_events_free(events, n);
    return r;
}

int run_allocate(struct run *run, struct spur_error *e)
{
    run->pairs = calloc(run->x->n_cells * run->x->n_arms, sizeof(*run->pairs));
    run->decided = calloc(run->x->n_cells, sizeof(*run->decided));
    run->done = calloc(run->x->n_rows + 1, sizeof(*run->done));
    run->prepared = calloc(run->x->n_axes + 1, sizeof(*run->prepared));
    if (!run->pairs || !run->decided || !run->done || !run->prepared)
        return error_errno(e, ENOMEM, "calloc", "the sweep's state");
    for (size_t i = 0; i < run->x->n_axes; i++)
        run->prepared[i] = EXPERIMENT_NONE;
    return 0;
}

void run_release(struct run *run)
{
    free(run->pairs);
    free(run->decided);
    free(run->done);
    free(run->prepared);
}
