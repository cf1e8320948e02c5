/* SPDX-License-Identifier: MIT */
#include "sweep/sweep.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "core/util.h"
#include "plan/plan.h"
#include "probe/probe.h"
#include "sweep/run.h"

#define BASELINE_NS 500000000ull
#define MACHINE_NS  2000000000ull /* shorter windows have no machine CPU figure */

static const uint32_t looks[] = {5, 10, 20}; /* blocks, with --until-decided */

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

static int prepare_axis(struct run *run, const struct experiment_row *row, size_t index, struct spur_error *e)
{
    const struct experiment_axis *axis = &run->x->axes[index];
    uint32_t value = run->x->cells[row->cell].value[index];
    _cleanup_free_ char *text = plan_command_text(axis->prepare_command, axis->values[value].text);
    pid_t left;
    int signal, r;

    run_say(run, "%s = %s: running %s", axis->key, axis->values[value].text, text ?: axis->prepare_command);
    r = sweep_prepare(axis->prepare_command, axis->values[value].text, &signal, &left, e);
    if (left)
        run_say(run, "%s = %s: process group %d of the command could not be ended: see that it is over before --resume",
                axis->key, axis->values[value].text, (int)left);
    if (signal) {
        run->end->signal_received = signal;
        run_say(run, "%s = %s: the command was interrupted, and what it does may be half done; --resume runs it again",
                axis->key, axis->values[value].text);
        return 0;
    }
    run->prepared[index] = value;
    return r ? r : run_add_event(run, EVENT_PREPARED, row->block, row->cell, EXPERIMENT_NONE, text, e);
}

/* Commands of the axes whose value changes with this row. */
static int prepare(struct run *run, const struct experiment_row *row, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && !run->end->signal_received && i < run->x->n_axes; i++)
        if (run->x->axes[i].prepare_command && run->prepared[i] != run->x->cells[row->cell].value[i])
            r = prepare_axis(run, row, i, e);
    return r;
}

/* What there is to know of a cell at a look. */
struct prospect {
    bool any, open, judged;   /* comparisons; undecided ones; ones with a verdict */
    const char *ranked_apart; /* of one that will never have one */
};

static struct prospect prospect_of(const struct analysis *a, uint32_t cell)
{
    struct prospect ret = {0};

    for (size_t i = 0; i < a->n_comparisons; i++) {
        const struct comparison *c = &a->comparisons[i];

        if (c->cell != cell)
            continue;
        ret.any = true;
        ret.open |= c->metric[METRIC_RATE].verdict == VERDICT_UNDECIDED;
        ret.judged |= c->metric[METRIC_RATE].verdict > VERDICT_UNDECIDED;
        ret.ranked_apart = c->ranked_apart ? c->ranked_apart : ret.ranked_apart;
    }
    return ret;
}

/* No more trials of @cell: all in it is decided, or nothing in it can be. */
static int leave_cell(struct run *run, const struct prospect *p, uint32_t cell, uint32_t block, struct spur_error *e)
{
    const char *label = run->x->cells[cell].label;
    char why[200];

    run->decided[cell] = true;
    snprintf(why, sizeof(why), "nothing in it can be judged: %s",
             p->ranked_apart ? p->ranked_apart : "no block has rates of both arms");
    if (p->judged)
        run_say(run, "cell %s is decided after %u blocks", label, block + 1);
    else
        run_say(run, "cell %s is given up after %u blocks, for %s", label, block + 1, why);
    return run_add_event(run, EVENT_DECIDED, block + 1, cell, EXPERIMENT_NONE, p->judged ? NULL : why, e);
}

/* At a look of --until-decided: cells all of whose arms have a verdict, or never will, need no more trials. */
static int look(struct run *run, const struct analysis *a, uint32_t block, struct spur_error *e)
{
    bool is_look = false;
    int r = 0;

    for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
        is_look |= looks[i] == block + 1;
    if (!run->x->until_decided || !is_look || block + 1 == run->x->n_blocks)
        return 0;
    for (uint32_t cell = 0; !r && cell < run->x->n_cells; cell++) {
        struct prospect p = prospect_of(a, cell);

        if (p.any && !p.open && !run->decided[cell])
            r = leave_cell(run, &p, cell, block, e);
    }
    run_count_todo(run);
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
        if (run->done[i] || run_left_out(run, &run->x->rows[i]))
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
            return run_add_event(run, EVENT_LIMIT, block, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL, e);
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
    r = run_allocate(&run, e);
    if (!r)
        r = run_recall_trials(&run, e);
    if (!r)
        r = run_recall_events(&run, e);
    if (!r) {
        run_count_todo(&run);
        r = run_blocks(&run, e);
    }
    if (!r && ret->signal_received)
        r = run_add_event(&run, EVENT_INTERRUPTED, run.state.row ? run.state.row->block : 0, EXPERIMENT_NONE,
                          EXPERIMENT_NONE, NULL, e);
    else if (!r && !ret->limited)
        r = run_add_event(&run, EVENT_FINISHED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL, e);
    run_release(&run);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r;
}
