/* SPDX-License-Identifier: MIT */
/*
 * The worker process: one trial. The coordinator (this thread) makes the trial, keeps the window, reads the counters at
 * both ends, reports progress, and sends the result before anything is torn down.
 */
#include "worker/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/external.h"
#include "worker/gpu_environment.h"
#include "worker/modified.h"
#include "worker/plan_check.h"
#include "worker/result.h"
#include "worker/road.h"
#include "worker/trial_memory.h"
#include "worker/wire.h"

#define PROGRESS_NS 200000000ull
#define BASELINE_NS 500000000ull
#define MACHINE_NS  2000000000ull /* shorter windows have no machine CPU figure, so no baseline is taken */
#define START_NS    1000000ull    /* from the start to the first request: all threads see the window */

struct child {
    struct wire wire;
    struct job job;
    struct trial trial;
    struct measure measure;
    struct outcome outcome;
    bool stopped; /* the parent said stop, or is gone */
    uint64_t next_tick_ns;
};

/* ------------------------------------------------------------------------------------------------
 * Messages
 */

static const char *phase_name(enum phase phase)
{
    static const char *const names[] = {"setup", "timed", "verify", "end"};

    return names[phase];
}

static void send_progress(struct child *c, const char *phase)
{
    json_t *threads = json_array();
    struct totals s;

    json_t *message;

    totals_make(&c->trial, &s);
    for (unsigned i = 0; i < c->trial.n_threads; i++)
        json_array_append_new(
            threads, json_integer((json_int_t)__atomic_load_n(&c->trial.threads[i].n_completions, __ATOMIC_RELAXED)));
    message = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "type", "progress", "phase", phase, "t_ns", (json_int_t)now_ns(),
        "t0_ns", (json_int_t)c->outcome.t0_ns, "bytes", (json_int_t)(s.by_op[0].bytes + s.by_op[1].bytes), "requests",
        (json_int_t)(s.by_op[0].requests + s.by_op[1].requests), "p99_ns",
        (json_int_t)(s.histogram.count ? histogram_quantile(&s.histogram, .99) : 0), "completions", threads);
    if (c->trial.external) { /* known at its end */
        json_object_set_new(message, "bytes", json_null());
        json_object_set_new(message, "requests", json_null());
    }
    wire_send(&c->wire, message);
}

static void send_error(struct child *c, const struct spur_error *e)
{
    wire_send(&c->wire, json_pack("{s:s, s:o}", "type", "error", "error", json_error(e)));
}

/* A message from the parent, or its end. */
static void hear(struct child *c)
{
    json_t *message = NULL;
    int r = wire_receive(&c->wire, false, &message);

    if (r < 0 || (r > 0 && !strcmp(json_string_value(json_object_get(message, "type")) ?: "", "stop"))) {
        c->stopped = true;
        trial_stop(&c->trial);
    }
    if (r > 0)
        json_decref(message);
}

/* ------------------------------------------------------------------------------------------------
 * The window
 */

/* Waits until @until_ns or until all threads have arrived; hears the parent and reports meanwhile. */
static void watch(struct child *c, enum phase phase, uint64_t until_ns, bool until_arrived)
{
    uint64_t next_progress = now_ns() + PROGRESS_NS;

    for (;;) {
        struct pollfd fds[2] = {{c->wire.fd, POLLIN, 0}, {c->trial.wake_fd, POLLIN, 0}};
        uint64_t now = now_ns(), wake = next_progress < until_ns ? next_progress : until_ns;
        struct timespec ts = {0};

        if (now >= until_ns || trial_arrived(&c->trial))
            return;
        if (wake > now)
            ts = (struct timespec){(time_t)((wake - now) / 1000000000ull), (long)((wake - now) % 1000000000ull)};
        if (!c->stopped && c->wire.used) /* a "stop" that came together with "go" */
            hear(c);
        if (c->stopped)
            fds[0].fd = -1;
        if (ppoll(fds, 2, &ts, NULL) > 0 && fds[0].revents)
            hear(c);
        if (c->stopped && !until_arrived)
            return;
        if (now_ns() >= next_progress) {
            send_progress(c, phase_name(phase));
            next_progress += PROGRESS_NS;
        }
    }
}

static uint64_t realtime_at(uint64_t monotonic_ns)
{
    struct timespec ts;
    uint64_t mono = now_ns();

    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec - (mono - monotonic_ns);
}

static bool any_failed(struct child *c)
{
    for (unsigned i = 0; i < c->trial.n_threads; i++) {
        if (!c->trial.threads[i].failed)
            continue;
        if (!c->outcome.error.source)
            c->outcome.error = c->trial.threads[i].error;
        return true;
    }
    return false;
}

static void run_window(struct child *c, uint64_t start_ns)
{
    struct outcome *o = &c->outcome;
    const struct job *job = &c->job;
    struct leg leg = {.workload = c->trial.workload, .counts = true, .check = job->verify};
    struct totals s;

    if (!c->trial.moves_bytes)
        leg.check = VERIFY_OFF;
    leg.start_ns = start_ns;
    o->t0_ns = leg.t0_ns = start_ns + (job->total_bytes ? 0 : job->warmup_ns);
    leg.t1_ns = job->total_bytes ? UINT64_MAX : leg.t0_ns + job->seconds_ns;
    if (job->total_bytes) /* no warm-up: the first reading comes before the first request */
        measure_begin(&c->measure);
    trial_start(&c->trial, &leg, PHASE_TIMED);
    if (!job->total_bytes) {
        watch(c, PHASE_TIMED, leg.t0_ns, false);
        measure_begin(&c->measure);
    }
    o->realtime_ns = realtime_at(o->t0_ns);
    watch(c, PHASE_TIMED, leg.t1_ns, job->total_bytes);
    if (c->stopped || job->total_bytes || trial_arrived(&c->trial))
        watch(c, PHASE_TIMED, UINT64_MAX, true);
    measure_end(&c->measure);
    watch(c, PHASE_TIMED, UINT64_MAX, true); /* stragglers are drained, not counted */
    totals_make(&c->trial, &s);
    o->complete = !any_failed(c) && !c->stopped;
    o->t1_ns = job->total_bytes || !o->complete ? s.last_done_ns : leg.t1_ns;
}

static void add_checks(struct checks *into, const struct checks *from)
{
    into->bytes_ok += from->bytes_ok;
    into->bytes_deferred_ok += from->bytes_deferred_ok;
    into->bytes_outside_ok += from->bytes_outside_ok;
    into->bytes_unjudged += from->bytes_unjudged;
    into->blocks_bad += from->blocks_bad;
    into->cost_ns += from->cost_ns;
    into->stamp_ns += from->stamp_ns;
    if (!into->mismatch.source)
        into->mismatch = from->mismatch;
}

/* Sums what the threads found and clears it for the next leg. */
static void collect_checks(struct child *c, struct checks *into)
{
    for (unsigned i = 0; i < c->trial.n_threads; i++) {
        add_checks(into, &c->trial.threads[i].checks);
        c->trial.threads[i].checks = (struct checks){0};
        c->outcome.n_foreign_full += c->trial.threads[i].n_foreign_full;
        c->trial.threads[i].n_foreign_full = 0;
    }
}

struct sync {
    const struct target_list *targets;
    struct spur_error error;
    int wake_fd;
};

static void *sync_main(void *arg)
{
    struct sync *s = arg;
    uint64_t one = 1;

    for (size_t i = 0; i < s->targets->n && !s->error.source; i++)
        if (fsync(s->targets->items[i].fd) < 0)
            error_errno(&s->error, errno, "fsync", "%s: what was written may not be on the storage",
                        s->targets->items[i].filename);
    if (write(s->wake_fd, &one, sizeof(one)) < 0)
        abort();
    return NULL;
}

/* On a thread of its own, for it may take long: the parent is told meanwhile that it is under way. */
static int sync_on_thread(struct child *c, struct sync *s)
{
    struct pollfd fds[2] = {{s->wake_fd, POLLIN, 0}, {c->wire.fd, POLLIN, 0}};
    pthread_t thread;
    int r = pthread_create(&thread, NULL, sync_main, s);

    if (r)
        return error_errno(&s->error, r, "pthread_create", "waiting for the storage");
    while (!fds[0].revents) {
        if (c->stopped)
            fds[1].fd = -1;
        if (poll(fds, 2, (int)(PROGRESS_NS / 1000000)) == 0)
            send_progress(c, "sync");
        else if (fds[1].revents)
            hear(c);
    }
    pthread_join(thread, NULL);
    return s->error.source ? -EIO : 0;
}

/* What was written is on the storage, and out of the page cache, before it is read back. */
static int sync_files(struct child *c)
{
    struct outcome *o = &c->outcome;
    struct sync s = {.targets = &c->trial.targets, .wake_fd = eventfd(0, EFD_CLOEXEC)};
    uint64_t began = now_ns();
    int r = s.wake_fd < 0 ? error_errno(&s.error, errno, "eventfd", "waiting for the storage") : sync_on_thread(c, &s);

    if (s.wake_fd >= 0)
        close(s.wake_fd);
    if (r < 0) {
        o->error = s.error;
        return r;
    }
    o->synced = true;
    modified_look(&c->trial.targets);
    o->sync_s = (double)(now_ns() - began) / 1e9;
    for (size_t i = 0; i < c->trial.targets.n; i++)
        posix_fadvise(c->trial.targets.items[i].fd, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

static void run_pass(struct child *c)
{
    struct outcome *o = &c->outcome;
    uint64_t began = now_ns();
    struct leg leg = {
        .workload = c->trial.pass_workload,
        .t0_ns = 0,
        .t1_ns = c->job.verify_limit_ns ? began + c->job.verify_limit_ns : UINT64_MAX,
        .counts = false,
        .check = VERIFY_INLINE,
    };

    trial_start(&c->trial, &leg, PHASE_PASS);
    watch(c, PHASE_PASS, UINT64_MAX, true);
    o->passed = true;
    o->pass_s = (double)(now_ns() - began) / 1e9;
    for (unsigned i = 0; i < c->trial.n_threads && (c->stopped || now_ns() > leg.t1_ns); i++)
        o->pass_cut |= c->trial.threads[i].pass_cut;
    collect_checks(c, &o->pass);
    o->timed.bytes_ok += o->pass.bytes_deferred_ok;
    if (any_failed(c))
        o->complete = false;
}

/* Whether the trial wrote all of a file. */
static bool covered(const struct trial *t, size_t file)
{
    uint64_t n = (t->workload_files[file].bytes + t->job->request_bytes - 1) / t->job->request_bytes;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t count = t->cells[file][i];

        if (!count || (count == 1 && check_last_written(t, (uint32_t)file, i) < check_cell_bytes(t, (uint32_t)file, i)))
            return false;
    }
    return t->workload_files[file].bytes == t->targets.items[file].bytes;
}

/*
 * A foreign file of which a part was overwritten holds both: with its first block in spur's format it would be taken
 * for a damaged file of spur's by the next trial.
 */
static void disown_partial(struct child *c)
{
    const struct trial *t = &c->trial;
    struct spur_error e = {0};

    for (size_t i = 0; t->cells && t->moves_bytes && i < t->targets.n; i++) {
        if (t->targets.items[i].is_spur || t->targets.items[i].begin_bytes || !t->cells[i][0] || covered(t, i))
            continue;
        if (target_disown(&t->targets.items[i], &e) < 0 && !c->outcome.error.source)
            c->outcome.error = e;
    }
}

/* Inline mode has seen each timed byte of a read; what was written can only be read back. */
static bool wants_pass(const struct child *c)
{
    if (c->job.verify == VERIFY_OFF || !c->trial.moves_bytes || c->outcome.error.source || c->stopped)
        return false;
    return true;
}

/* What has changed since the trial last wrote the files, or since they were opened if it never did. */
static void judge_modified(struct child *c)
{
    struct outcome *o = &c->outcome;

    if (!o->own_writes)
        modified_compare(&c->trial.targets);
    modified_blame(&c->trial.targets, &o->timed.mismatch);
    modified_blame(&c->trial.targets, &o->pass.mismatch);
}

static void verify(struct child *c)
{
    struct outcome *o = &c->outcome;

    collect_checks(c, &o->timed);
    if (c->trial.reads_back && c->trial.moves_bytes && sync_files(c) < 0) {
        o->complete = false;
        return;
    }
    if (!wants_pass(c))
        return;
    run_pass(c);
}

/* ------------------------------------------------------------------------------------------------
 * Environment
 */

static json_t *environment(struct child *c, const char *prefix)
{
    json_t *e = probe_environment(&c->measure.probe, c->outcome.nulls, prefix);

    if (c->trial.memory_info.uuid[0])
        json_object_set_new(e, "gpu", gpu_environment_read(c->trial.memory_info.uuid, c->outcome.nulls, prefix));
    return e;
}

static void residency(struct child *c, int which)
{
    struct outcome *o = &c->outcome;

    o->resident_known[which] = measure_residency(&c->trial, &o->resident_bytes[which], o->resident_reason[which],
                                                 sizeof(o->resident_reason[which]));
}

/* ------------------------------------------------------------------------------------------------ */

static int set_up(struct child *c)
{
    struct outcome *o = &c->outcome;
    uint64_t began = now_ns();
    struct spur_error e = {0};

    o->nulls = json_object();
    if (trial_make(&c->job, &c->trial, &e) < 0) {
        send_error(c, &e);
        return -1;
    }
    measure_init(&c->measure, &c->trial.targets);
    measure_gpus(&c->measure, &c->trial);
    c->measure.path = c->trial.path->ops->roads ? c->trial.path : NULL;
    if (c->trial.external) {
        trial_memory_close(&c->trial); /* described; the program has its own */
    } else if (c->job.baseline_busy >= 0) {
        c->measure.baseline_busy = c->job.baseline_busy;
    } else if (!c->job.total_bytes && c->job.seconds_ns >= MACHINE_NS) {
        measure_baseline(&c->measure, BASELINE_NS);
        o->baseline_s = (double)BASELINE_NS / 1e9;
    }
    residency(c, 0);
    target_list_put_away(&c->job, &c->trial.targets);
    o->environment_begin = environment(c, "environment.begin.");
    o->setup_s = (double)(now_ns() - began) / 1e9;
    wire_send(&c->wire, json_pack("{s:s, s:i, s:o, s:o}", "type", "ready", "protocol", WORKER_PROTOCOL, "memory",
                                  result_memory(&c->trial), "effective", result_effective(&c->trial)));
    return 0;
}

/* "go" at a time of CLOCK_MONOTONIC, so that several workers can start together; 0: now. */
static int await_go(struct child *c, uint64_t *ret_start_ns)
{
    json_t *message = NULL;
    json_int_t at = 0;
    const char *type;
    bool go;

    if (wire_receive(&c->wire, true, &message) < 0)
        return -1;
    type = json_string_value(json_object_get(message, "type"));
    go = type && !strcmp(type, "go");
    at = json_integer_value(json_object_get(message, "at_ns"));
    json_decref(message);
    *ret_start_ns = (uint64_t)at > now_ns() + START_NS ? (uint64_t)at : now_ns() + START_NS;
    return go ? 0 : -1;
}

static void window_is_over(struct child *c)
{
    struct outcome *o = &c->outcome;
    struct spur_error e = {0};

    if (target_list_take_back(&c->trial.targets, &e) < 0 && !o->error.source)
        o->error = e;
    residency(c, 1);
}

/* A trial on another road than the one asked for has no figures. */
static void judge_road(struct child *c)
{
    struct outcome *o = &c->outcome;
    struct totals s;

    totals_make(&c->trial, &s);
    road_judge(&c->trial, &c->measure, s.by_op, &o->road);
    if (!o->error.source && s.histogram.count && road_check(&c->trial, &o->road, &o->error) < 0)
        o->complete = false;
}

/* Once every PROGRESS_NS: the parent is heard, and told that the program lives. */
static bool tick(void *context, const char *phase, uint64_t life)
{
    struct child *c = context;
    struct pollfd fd = {c->stopped ? -1 : c->wire.fd, POLLIN, 0};
    uint64_t now = now_ns();

    if (!c->stopped && (c->wire.used || poll(&fd, 1, 0) > 0))
        hear(c);
    if (now >= c->next_tick_ns) {
        __atomic_store_n(&c->trial.threads[0].n_completions, life, __ATOMIC_RELAXED);
        send_progress(c, phase);
        c->next_tick_ns = now + PROGRESS_NS;
    }
    return c->stopped;
}

static void run_external(struct child *c)
{
    const struct external_hooks hooks = {c, tick};
    struct outcome *o = &c->outcome;
    json_t *result;

    o->t0_ns = now_ns() + c->job.warmup_ns; /* for whoever watches: the result has no such time */
    if (external_run(&c->trial, &c->measure, &hooks, &o->error) < 0 && c->stopped)
        o->error = (struct spur_error){0}; /* the parent knows why */
    window_is_over(c);
    o->own_writes = job_writes(&c->job);
    judge_modified(c);
    o->complete = !o->error.source && !c->stopped;
    o->environment_end = environment(c, "environment.end.");
    result = external_result(&c->trial, &c->measure, o);
    wire_send(&c->wire, json_pack("{s:s, s:o}", "type", "result", "result", result));
}

static void run_trial(struct child *c)
{
    struct outcome *o = &c->outcome;
    uint64_t start_ns;
    json_t *result;

    if (set_up(c) < 0)
        return;
    if (await_go(c, &start_ns) < 0)
        return;
    if (c->trial.external) {
        run_external(c);
        return;
    }
    modified_compare(&c->trial.targets);
    run_window(c, start_ns);
    window_is_over(c);
    verify(c);
    o->own_writes = job_writes(&c->job) && c->trial.moves_bytes && !o->synced;
    judge_modified(c);
    disown_partial(c);
    if (c->stopped || o->error.source)
        o->complete = false;
    judge_road(c);
    o->environment_end = environment(c, "environment.end.");
    result = result_make(&c->trial, &c->measure, o);
    wire_send(&c->wire, json_pack("{s:s, s:o}", "type", "result", "result", result));
}

/* No process outlives the parent, not even after kill -9 of it. */
static int tie_to_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent ? 0 : -1;
}

static void raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_NAME, "spur-worker"); /* else "exe", for it was started by that name */
}

int worker_main(pid_t parent)
{
    struct child c = {.wire = {.fd = WIRE_FD}};
    json_t *message = NULL;

    if (tie_to_parent(parent) < 0)
        return 1;
    raise_limits();
    if (wire_receive(&c.wire, true, &message) == 1 && plan_check_answer(&c.wire, &message)) {
        wire_close(&c.wire); /* checks were all it was asked for */
        return 0;
    }
    if (!message || job_from_json(message, &c.job) < 0) {
        struct spur_error e;

        error_spur(&e, SPUR_CODE_USAGE, "worker", "the first line is no job of protocol %d", WORKER_PROTOCOL);
        send_error(&c, &e);
        json_decref(message);
        wire_close(&c.wire);
        return 2;
    }
    json_decref(message);
    run_trial(&c);
    measure_free(&c.measure);
    trial_free(&c.trial);
    outcome_free(&c.outcome);
    job_free(&c.job);
    wire_close(&c.wire);
    return 0;
}
