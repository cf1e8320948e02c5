/* SPDX-License-Identifier: MIT */
#include "sweep/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "probe/probe.h"
#include "worker/whole_result.h"

#define FAILURES_IN_A_ROW 3
#define BASELINE_NS       500000000ull
#define MACHINE_NS        2000000000ull /* shorter windows have no machine CPU figure */

static const uint32_t looks[] = {5, 10, 20}; /* blocks, with --until-decided */

/* A pair as the sweep goes along. */
struct progress {
    unsigned failures; /* in a row */
    bool stopped;
};

struct run {
    struct sweep *s;
    const struct experiment *x;
    struct sweep_end *end;
    struct progress *pairs;
    bool *decided;               /* by cell */
    bool *done;                  /* by row: has a trial that counts */
    uint32_t *prepared;          /* by axis: value that its command ran for; EXPERIMENT_NONE: none yet */
    double baseline_busy;        /* of this block; negative: not measured */
    uint64_t began_ns, spent_ns; /* spent: by trials of this process */
    size_t n_run;
    struct sweep_state state;
    json_t *effective; /* of the trial under way */
};

static struct progress *pair_of(struct run *run, const struct experiment_row *row)
{
    return &run->pairs[row->cell * run->x->n_arms + row->arm];
}

static bool left_out(struct run *run, const struct experiment_row *row)
{
    return run->decided[row->cell] || pair_of(run, row)->stopped;
}

static uint64_t realtime_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int add_event(struct run *run, enum store_event_kind kind, uint32_t block, uint32_t cell, uint32_t arm,
                     char *text, struct spur_error *e)
{
    const struct store_event event = {kind, realtime_ns(), block, cell, arm, text};

    return store_add_event(run->s->store, &event, e);
}

static void say(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct run *run, const char *format, ...)
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

static void count_todo(struct run *run)
{
    uint64_t n_left;

    run->state.n_todo = 0;
    run->state.n_done = 0;
    for (size_t i = 0; i < run->x->n_rows; i++) {
        if (run->done[i])
            run->state.n_done++;
        else if (left_out(run, &run->x->rows[i]))
            continue;
        run->state.n_todo++;
    }
    n_left = run->state.n_todo - run->state.n_done;
    run->state.left_ns = run->n_run ? run->spent_ns / run->n_run * n_left : 0;
}

/* Failures in a row, in the order of rows: a resumed sweep counts as one that was never interrupted. */
static void note_outcome(struct run *run, const struct experiment_row *row, enum trial_status status)
{
    struct progress *p = pair_of(run, row);

    p->failures = status == TRIAL_OK ? 0 : p->failures + 1;
    run->end->n_without_figures += status != TRIAL_OK;
    run->end->any_refused |= status == TRIAL_REFUSED;
}

static int recall_trials(struct run *run, struct spur_error *e)
{
    struct store_trial *trials = NULL;
    size_t n = 0;
    int r = store_trials(run->s->store, &trials, &n, e);

    for (size_t i = 0; i < n; i++) {
        if (trials[i].status == TRIAL_INTERRUPTED)
            continue;
        run->done[trials[i].row] = true;
        note_outcome(run, &run->x->rows[trials[i].row], trials[i].status);
    }
    store_trials_free(trials, n);
    return r;
}

static int recall_events(struct run *run, struct spur_error *e)
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

static int allocate(struct run *run, struct spur_error *e)
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

static void release(struct run *run)
{
    free(run->pairs);
    free(run->decided);
    free(run->done);
    free(run->prepared);
}

/* ------------------------------------------------------------------------------------------------
 * One trial
 */

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

static void fill_trial(struct store_trial *t, const json_t *result)
{
    const json_t *memory = json_object_get(json_object_get(result, "effective"), "memory");
    const json_t *clock = json_object_get(result, "clock");

    figures_take(result, &t->figures);
    copy_word(t->observed, sizeof(t->observed), result, "observed");
    copy_word(t->served, sizeof(t->served), result, "served");
    copy_word(t->verify, sizeof(t->verify), json_object_get(result, "verify"), "status");
    t->emulated = json_is_true(json_object_get(memory, "emulated"));
    t->simulated = json_is_true(json_object_get(memory, "simulated")) || is_simulated_storage(result);
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
        note_outcome(run, &run->x->rows[row], t.status);
        count_todo(run);
    }
    if (!r && run->s->hooks->trial_end)
        run->s->hooks->trial_end(run->s->hooks->context, &run->state, &t);
    json_decref(result);
    return r;
}

static int stop_if_hopeless(struct run *run, const struct experiment_row *row, struct spur_error *e)
{
    struct progress *p = pair_of(run, row);
    char text[200];
    int r;

    if (p->failures < FAILURES_IN_A_ROW || p->stopped)
        return 0;
    p->stopped = true;
    snprintf(text, sizeof(text), "%u trials in a row without figures", p->failures);
    r = add_event(run, EVENT_STOPPED, row->block, row->cell, row->arm, text, e);
    say(run, "arm %s is stopped in cell %s: %s", run->x->arms[row->arm].name, run->x->cells[row->cell].label, text);
    count_todo(run);
    return r;
}

static int run_trial(struct run *run, size_t index, struct spur_error *e)
{
    const struct experiment_row *row = &run->x->rows[index];
    const struct sweep_pair *pair = &run->s->pairs[row->cell * run->x->n_arms + row->arm];
    const struct worker_hooks hooks = {run, on_ready, on_progress};
    struct job job = pair->job; /* borrows its strings */
    uint64_t realtime = realtime_ns(), began = now_ns();
    struct worker_end end = {0};
    int r = sweep_region(run->x, row, pair, &job, e);

    if (r < 0)
        return r;
    job.seed = row->seed;
    job.baseline_busy = run->baseline_busy;
    run->state.row = row;
    if (run->s->hooks->trial_begin)
        run->s->hooks->trial_begin(run->s->hooks->context, &run->state);
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

/* A signal that came between trials: worker_run takes those that come during one. */
static void take_signal(struct run *run)
{
    const struct timespec now = {0};
    sigset_t signals;
    int signal;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    signal = run->end->signal_received ? -1 : sigtimedwait(&signals, NULL, &now);
    if (signal > 0)
        run->end->signal_received = signal;
}

/* ------------------------------------------------------------------------------------------------
 * Blocks
 */

/* How busy the machine is while spur is not: once a block, for all its trials alike. */
static double watch_machine(const struct run *run)
{
    struct timespec ts = {0, BASELINE_NS};
    struct probe_cpu a, b;
    struct probe probe;
    bool wanted = false;
    uint64_t t0;
    double seconds, busy;

    for (size_t i = 0; i < run->x->n_cells * run->x->n_arms; i++)
        wanted |= !run->s->pairs[i].job.total_bytes && run->s->pairs[i].job.seconds_ns >= MACHINE_NS;
    if (!wanted)
        return -1;
    probe_init(&probe);
    t0 = now_ns();
    probe_cpu_read(&probe, &a);
    nanosleep(&ts, NULL);
    probe_cpu_read(&probe, &b);
    seconds = (double)(now_ns() - t0) / 1e9;
    if (!a.known || !b.known)
        return -1;
    busy = b.n_cpus - (double)(b.idle + b.iowait - a.idle - a.iowait) / (double)b.ticks_per_second / seconds;
    return busy > 0 ? busy : 0;
}

/* Commands of the axes whose value changes with this row. */
static int prepare(struct run *run, const struct experiment_row *row, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < run->x->n_axes; i++) {
        const struct experiment_axis *axis = &run->x->axes[i];
        uint32_t value = run->x->cells[row->cell].value[i];

        if (!axis->prepare_command || run->prepared[i] == value)
            continue;
        say(run, "%s = %s: running %s", axis->key, axis->values[value].text, axis->prepare_command);
        r = sweep_prepare(axis->prepare_command, axis->values[value].text, e);
        run->prepared[i] = value;
        if (!r)
            r = add_event(run, EVENT_PREPARED, row->block, row->cell, EXPERIMENT_NONE, axis->prepare_command, e);
    }
    return r;
}

static int decide(struct run *run, uint32_t cell, uint32_t block, struct spur_error *e)
{
    run->decided[cell] = true;
    say(run, "cell %s is decided after %u blocks", run->x->cells[cell].label, block + 1);
    return add_event(run, EVENT_DECIDED, block + 1, cell, EXPERIMENT_NONE, NULL, e);
}

/* At a look of --until-decided: cells all of whose arms have a verdict need no more trials. */
static int look(struct run *run, const struct analysis *a, uint32_t block, struct spur_error *e)
{
    bool is_look = false;
    int r = 0;

    for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
        is_look |= looks[i] == block + 1;
    if (!run->x->until_decided || !is_look || block + 1 == run->x->n_blocks)
        return 0;
    for (uint32_t cell = 0; !r && cell < run->x->n_cells; cell++) {
        bool open = false, any = false;

        for (size_t i = 0; i < a->n_comparisons; i++) {
            if (a->comparisons[i].cell != cell)
                continue;
            any = true;
            open |= a->comparisons[i].metric[METRIC_RATE].verdict == VERDICT_UNDECIDED;
        }
        if (any && !open && !run->decided[cell])
            r = decide(run, cell, block, e);
    }
    count_todo(run);
    return r;
}

static int end_block(struct run *run, uint32_t block, struct spur_error *e)
{
    struct analysis a;
    int r;

    if (!run->s->hooks->block_end && !run->x->until_decided)
        return 0;
    r = analysis_make(run->s->store, &a, e);
    if (r < 0)
        return r;
    r = look(run, &a, block, e);
    if (!r && run->s->hooks->block_end)
        run->s->hooks->block_end(run->s->hooks->context, &run->state, &a);
    analysis_free(&a);
    return r;
}

static size_t block_end(const struct run *run, size_t first)
{
    size_t i = first;

    while (i < run->x->n_rows && run->x->rows[i].block == run->x->rows[first].block)
        i++;
    return i;
}

/* Whether one more block would go past --limit, by what trials have taken so far. */
static bool past_limit(const struct run *run, size_t first, size_t last)
{
    size_t n = 0;

    if (!run->s->limit_ns || !run->n_run)
        return false;
    for (size_t i = first; i < last; i++)
        n += !run->done[i];
    return now_ns() - run->began_ns + run->spent_ns / run->n_run * n > run->s->limit_ns;
}

static int run_block(struct run *run, size_t first, size_t last, bool *ret_any, struct spur_error *e)
{
    int r = 0;

    *ret_any = false;
    for (size_t i = first; !r && i < last && !run->end->signal_received; i++) {
        if (run->done[i] || left_out(run, &run->x->rows[i]))
            continue;
        if (!*ret_any)
            run->baseline_busy = watch_machine(run);
        *ret_any = true;
        r = prepare(run, &run->x->rows[i], e);
        take_signal(run);
        if (!r && !run->end->signal_received)
            r = run_trial(run, i, e);
        take_signal(run);
    }
    return run->end->signal_received ? 0 : r;
}

static int run_blocks(struct run *run, struct spur_error *e)
{
    size_t last;
    int r = 0;

    for (size_t first = 0; !r && first < run->x->n_rows; first = last) {
        uint32_t block = run->x->rows[first].block;
        bool any;

        last = block_end(run, first);
        if (past_limit(run, first, last)) {
            run->end->limited = true;
            return add_event(run, EVENT_LIMIT, block, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL, e);
        }
        r = run_block(run, first, last, &any, e);
        if (run->end->signal_received)
            return r;
        if (!r && any)
            r = end_block(run, block, e);
    }
    return r;
}

int sweep_run(struct sweep *s, struct sweep_end *ret, struct spur_error *e)
{
    struct run run = {.s = s, .x = s->x, .end = ret, .baseline_busy = -1, .began_ns = now_ns()};
    sigset_t signals, before;
    int r;

    *ret = (struct sweep_end){0};
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before);
    r = allocate(&run, e);
    if (!r)
        r = recall_trials(&run, e);
    if (!r)
        r = recall_events(&run, e);
    if (!r) {
        count_todo(&run);
        r = run_blocks(&run, e);
    }
    if (!r && ret->signal_received)
        r = add_event(&run, EVENT_INTERRUPTED, run.state.row ? run.state.row->block : 0, EXPERIMENT_NONE,
                      EXPERIMENT_NONE, NULL, e);
    else if (!r && !ret->limited)
        r = add_event(&run, EVENT_FINISHED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL, e);
    release(&run);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r;
}
