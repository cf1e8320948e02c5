/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "sweep/run.h"
#include "worker/pilot.h"
#include "worker/whole_result.h"

#define FAILURES_IN_A_ROW 3

static void on_ready(void *context, const json_t *ready)
{
    struct run *run = context;

    json_decref(run->effective);
    run->effective = json_incref(json_object_get(ready, "effective"));
}

static void on_progress(void *context, const struct worker_progress *p)
{
    struct run *run = context;

    if (run->s->hooks->trial_progress)
        run->s->hooks->trial_progress(run->s->hooks->context, &run->state, p);
}

/* The first error says what kind of end it was. */
static enum trial_status status_of(const json_t *result, const struct worker_end *end, struct spur_error *ret_why)
{
    const json_t *errors = json_object_get(result, "errors");

    *ret_why = (struct spur_error){0};
    if (end->signal_received)
        return TRIAL_INTERRUPTED;
    if (json_array_size(errors))
        json_error_parse(json_array_get(errors, 0), ret_why);
    if (error_is_refusal(ret_why))
        return TRIAL_REFUSED;
    if (!json_array_size(errors) && json_is_true(json_object_get(result, "complete")))
        return TRIAL_OK;
    if (!ret_why->source)
        error_foreign(ret_why, SPUR_SOURCE_ERRNO, EIO, -EIO, "worker", "the trial was not complete");
    return TRIAL_FAILED;
}

static void copy_word(char *ret, size_t size, const json_t *result, const char *key)
{
    snprintf(ret, size, "%s", json_string_value(json_object_get(result, key)) ?: "");
}

static bool is_simulated_storage(const json_t *result)
{
    const json_t *items = json_object_get(json_object_get(result, "wire"), "items"), *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        if (!strcmp(json_string_value(json_object_get(item, "source")) ?: "", "simfs"))
            return true;
    }
    return false;
}

static bool is_simulated_library(const json_t *result)
{
    const json_t *facts = json_object_get(json_object_get(result, "effective"), "path_facts");

    return !strcmp(json_string_value(json_object_get(facts, "library_simulated")) ?: "", "yes");
}

static void fill_trial(struct store_trial *t, const json_t *result)
{
    const json_t *memory = json_object_get(json_object_get(result, "effective"), "memory");
    const json_t *clock = json_object_get(result, "clock");

    figures_take(result, &t->figures);
    copy_word(t->observed, sizeof(t->observed), result, "observed");
    copy_word(t->served, sizeof(t->served), result, "served");
    copy_word(t->verify, sizeof(t->verify), json_object_get(result, "verify"), "status");
    t->emulated = json_is_true(json_object_get(memory, "emulated"));
    t->simulated = json_is_true(json_object_get(memory, "simulated")) || is_simulated_storage(result) ||
                   is_simulated_library(result);
    t->t0_monotonic_ns = (uint64_t)json_integer_value(json_object_get(clock, "t0_monotonic_ns"));
    t->window_s = json_number_value(json_object_get(result, "seconds"));
    t->result = result;
}

static int store_end(struct run *run, size_t row, const struct job *job, const struct worker_end *end, uint64_t began,
                     uint64_t wall_ns, struct spur_error *e)
{
    struct store_trial t = {.row = (uint32_t)row, .began_realtime_ns = began, .wall_s = (double)wall_ns / 1e9};
    const struct experiment_row *at = &run->x->rows[row];
    json_t *pilot = run->s->pairs[at->cell * run->x->n_arms + at->arm].pilot;
    json_t *result = worker_result(job, run->effective, end);
    struct spur_error why;
    int r;

    if (pilot)
        json_object_set(result, "pilot", pilot);
    t.status = status_of(result, end, &why);
    fill_trial(&t, result);
    t.error = t.status == TRIAL_OK ? NULL : why.detail;
    if (t.status == TRIAL_INTERRUPTED)
        t.error = (char *)"interrupted by a signal";
    r = store_add_trial(run->s->store, &t, e);
    if (!r && t.status != TRIAL_INTERRUPTED) {
        run->done[row] = true;
        run_note_outcome(run, &run->x->rows[row], t.status);
        run_count_todo(run);
    }
    if (!r && run->s->hooks->trial_end)
        run->s->hooks->trial_end(run->s->hooks->context, &run->state, &t);
    json_decref(result);
    return r;
}

static int stop_if_hopeless(struct run *run, const struct experiment_row *row, struct spur_error *e)
{
    struct progress *p = run_pair_of(run, row);
    char text[200];
    int r;

    if (p->failures < FAILURES_IN_A_ROW || p->stopped)
        return 0;
    p->stopped = true;
    snprintf(text, sizeof(text), "%u trials in a row without figures", p->failures);
    r = run_add_event(run, EVENT_STOPPED, row->block, row->cell, row->arm, text, e);
    run_say(run, "arm %s is stopped in cell %s: %s", run->x->arms[row->arm].name, run->x->cells[row->cell].label, text);
    run_count_todo(run);
    return r;
}

/* The pilot of a pair whose first one failed: without one nothing may speak for its road. */
static int pilot_again(struct sweep_pair *pair, struct worker_end *end)
{
    if (!pair->trouble || pair->pilot || !pilot_is_needed(&pair->job))
        return 0;
    return pilot_run(&pair->job, pair->stall_ns, &pair->pilot, &end->signal_received, &end->error);
}

int run_trial(struct run *run, size_t index, struct spur_error *e)
{
    const struct experiment_row *row = &run->x->rows[index];
    struct sweep_pair *pair = &run->s->pairs[row->cell * run->x->n_arms + row->arm];
    const struct worker_hooks hooks = {run, on_ready, on_progress};
    struct job job = pair->job; /* borrows its strings */
    uint64_t realtime = run_realtime_ns(), began = now_ns();
    struct worker_end end = {0};
    int r = sweep_region(run->x, row, pair, &job, e);

    if (r < 0)
        return r;
    job.seed = row->seed;
    job.baseline_busy = run->baseline_busy;
    run->state.row = row;
    if (run->s->hooks->trial_begin)
        run->s->hooks->trial_begin(run->s->hooks->context, &run->state);
    if (pilot_again(pair, &end) == 0)
        r = worker_run(&job, pair->stall_ns, &hooks, &end);
    if (r < 0)
        *e = end.error;
    run->spent_ns += now_ns() - began;
    run->n_run++;
    if (!r)
        r = store_end(run, index, &job, &end, realtime, now_ns() - began, e);
    if (!r)
        r = stop_if_hopeless(run, row, e);
    run->end->signal_received = end.signal_received;
    json_decref(run->effective);
    run->effective = NULL;
    worker_end_free(&end);
    return r;
}
