/* SPDX-License-Identifier: MIT */
#include "worker/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/cufile_end.h"
#include "worker/stuck.h"
#include "worker/trial_env.h"
#include "worker/wire.h"

#define TICK_MS      100
#define STOP_NS      10000000000ull /* after a signal: time to drain and to send what there is */
#define TEARDOWN_NS  20000000000ull /* from the result to the end of the process, at most; less with --stall */
#define SYNC_STALLS  20             /* times --stall, for an fsync */
#define KILL_WAIT_NS 3000000000ull
#define LOG_LINES    10 /* of the library's log that are kept */

struct parent {
    const struct worker_hooks *hooks;
    struct worker_end *end;
    struct wire wire;
    struct trial_env env;
    pid_t pid;
    bool ended; /* the process is gone */
    int status;
    int signal_fd;
    uint64_t stall_ns, moved_ns; /* last sign of progress */
    uint64_t completions;        /* at that time */
    uint64_t deadline_ns;        /* by which it must have ended; 0: none yet */
    bool overdue;                /* killed because it did not end after its result */
    bool stopping;
    bool syncing; /* fsync gives no sign of progress: it gets more time */
};

/* ------------------------------------------------------------------------------------------------
 * Starting
 */

static int spawn_with(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int fd, char **env, pid_t *ret_pid)
{
    char self[32];
    char *argv[] = {"spur", "worker", self, NULL};
    sigset_t none;
    int r;

    snprintf(self, sizeof(self), "%d", (int)getpid());
    sigemptyset(&none);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(attr, 0); /* Ctrl-C is the parent's to handle */
    posix_spawnattr_setsigmask(attr, &none);
    r = posix_spawn_file_actions_adddup2(actions, fd, WIRE_FD);
    if (!r)
        r = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!r) /* stdout holds results only: whatever a library prints goes to stderr */
        r = posix_spawn_file_actions_adddup2(actions, 2, 1);
    return r ? r : posix_spawn(ret_pid, "/proc/self/exe", actions, attr, argv, env);
}

static int start(struct parent *p, const struct job *job, bool pilot, struct spur_error *e)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int pair[2], r = trial_env_make(job, pilot, &p->env, e);

    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(e, errno, "socketpair", "starting a worker");
    if (pair[1] == WIRE_FD) { /* dup2 onto itself would keep close-on-exec */
        int moved = fcntl(pair[1], F_DUPFD_CLOEXEC, WIRE_FD + 1);

        close(pair[1]);
        pair[1] = moved;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    r = spawn_with(&actions, &attr, pair[1], p->env.list, &p->pid);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    close(pair[1]);
    if (r) {
        close(pair[0]);
        return error_errno(e, r, "posix_spawn", "starting a worker process");
    }
    p->wire.fd = pair[0];
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * The watchdog
 */

static void reap(struct parent *p)
{
    if (!p->ended && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
        p->ended = true;
}

static void kill_worker(struct parent *p)
{
    uint64_t until = now_ns() + KILL_WAIT_NS;

    p->end->killed = true;
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL);
    while (!p->ended && now_ns() < until) {
        usleep(10000);
        reap(p);
    }
}

static uint64_t teardown_ns(const struct parent *p)
{
    return p->stall_ns && p->stall_ns < TEARDOWN_NS ? p->stall_ns : TEARDOWN_NS;
}

static void on_stall(struct parent *p)
{
    struct spur_error *e = &p->end->error;
    const char *outcome;
    char words[300]; /* of 600: which library it was is said as well */

    p->end->stuck_threads = stuck_threads(p->pid);
    stuck_words(p->end->stuck_threads, words, sizeof(words));
    kill_worker(p);
    outcome = p->ended ? "the worker was killed" : "the worker cannot be killed (it waits in the kernel)";
    if (p->stopping)
        error_errno(e, ETIMEDOUT, "watchdog", "the trial did not stop within %g s, and %s; threads: %s",
                    (double)STOP_NS / 1e9, outcome, words);
    else
        error_errno(e, ETIMEDOUT, "watchdog", "no request completed for %g s, and %s; threads: %s",
                    (double)p->stall_ns / 1e9 * (p->syncing ? SYNC_STALLS : 1), outcome, words);
    error_remedy(e, "is the storage or mount hanging (see the kernel log)? --stall sets how long is waited");
}

/* ------------------------------------------------------------------------------------------------
 * Messages
 */

static uint64_t completions_of(const json_t *message)
{
    const json_t *list = json_object_get(message, "completions");
    uint64_t sum = 0;
    size_t i;
    json_t *n;

    json_array_foreach(list, i, n) sum += (uint64_t)json_integer_value(n);
    return sum;
}

static void on_progress(struct parent *p, json_t *message)
{
    const char *phase = "";
    json_int_t t = 0, t0 = 0, bytes = 0, requests = 0, p99 = 0;
    struct worker_progress progress;

    json_unpack(message, "{s:s, s:I, s:I, s:I, s:I, s:I}", "phase", &phase, "t_ns", &t, "t0_ns", &t0, "bytes", &bytes,
                "requests", &requests, "p99_ns", &p99);
    if (completions_of(message) != p->completions) {
        p->completions = completions_of(message);
        p->moved_ns = now_ns();
    }
    p->syncing = !strcmp(phase, "sync");
    json_decref(p->end->last_progress);
    p->end->last_progress = json_incref(message);
    progress =
        (struct worker_progress){phase, (double)(t - t0) / 1e9, (uint64_t)bytes, (uint64_t)requests, (uint64_t)p99};
    if (p->hooks->progress)
        p->hooks->progress(p->hooks->context, &progress);
}

static void on_message(struct parent *p, json_t *message)
{
    const char *type = json_string_value(json_object_get(message, "type"));

    if (!type)
        return;
    if (!strcmp(type, "progress")) {
        on_progress(p, message);
        return;
    }
    p->moved_ns = now_ns();
    if (!strcmp(type, "ready")) {
        if (p->hooks->ready)
            p->hooks->ready(p->hooks->context, message);
        wire_send(&p->wire,
                  p->stopping ? json_pack("{s:s}", "type", "stop") : json_pack("{s:s, s:i}", "type", "go", "at_ns", 0));
    } else if (!strcmp(type, "result")) {
        p->end->result = json_incref(json_object_get(message, "result"));
        p->deadline_ns = now_ns() + teardown_ns(p);
    } else if (!strcmp(type, "error")) {
        json_error_parse(json_object_get(message, "error"), &p->end->error);
        p->deadline_ns = now_ns() + teardown_ns(p);
    }
}

static void on_signal(struct parent *p)
{
    struct signalfd_siginfo info;

    if (read(p->signal_fd, &info, sizeof(info)) != sizeof(info))
        return;
    if (p->stopping) {
        kill_worker(p);
        return;
    }
    p->end->signal_received = (int)info.ssi_signo;
    p->stopping = true;
    p->deadline_ns = now_ns() + STOP_NS;
    wire_send(&p->wire, json_pack("{s:s}", "type", "stop"));
}

/* ------------------------------------------------------------------------------------------------
 * Watching
 */

static void hear(struct parent *p)
{
    json_t *message = NULL;
    int r;

    while ((r = wire_receive(&p->wire, false, &message)) > 0) {
        on_message(p, message);
        json_decref(message);
    }
    if (r < 0) {
        close(p->wire.fd);
        p->wire.fd = -1;
    }
}

static void end_overdue(struct parent *p)
{
    p->overdue = p->end->result != NULL;
    kill_worker(p);
}

static void check_time(struct parent *p)
{
    uint64_t now = now_ns();

    if (p->ended)
        return;
    if (p->deadline_ns && now > p->deadline_ns) {
        if (!p->end->result && !p->end->error.source)
            on_stall(p);
        else
            end_overdue(p);
    } else if (!p->deadline_ns && p->stall_ns && now - p->moved_ns > p->stall_ns * (p->syncing ? SYNC_STALLS : 1)) {
        on_stall(p);
    }
}

static void watch(struct parent *p)
{
    while (!p->ended && !p->end->killed) {
        struct pollfd fds[2] = {{p->wire.fd, POLLIN, 0}, {p->signal_fd, POLLIN, 0}};

        poll(fds, 2, TICK_MS);
        if (fds[1].revents)
            on_signal(p);
        if (fds[0].revents)
            hear(p);
        reap(p);
        check_time(p);
    }
    if (p->wire.fd >= 0)
        hear(p); /* what was still in the socket */
}

/* Some libraries crash or hang when they are closed; the result was sent before. */
static void note_end(const struct parent *p)
{
    char how[100], words[CUFILE_END_WORDS], text[CUFILE_END_WORDS + 200];
    bool of_library = cufile_end_words(&p->env, words, sizeof(words));
    json_t *note;

    if (p->overdue)
        snprintf(how, sizeof(how), "hung while it closed down, and was killed after %g s",
                 (double)teardown_ns(p) / 1e9);
    else if (WIFSIGNALED(p->status))
        snprintf(how, sizeof(how), "crashed by SIG%s while it closed down", sigabbrev_np(WTERMSIG(p->status)) ?: "?");
    else
        snprintf(how, sizeof(how), "ended with status %d while it closed down", WEXITSTATUS(p->status));
    snprintf(text, sizeof(text), "the worker %s; its figures were sent before%s%s", how, of_library ? "; " : "", words);
    note = json_filename(text);
    json_array_append_new(json_object_get(p->end->result, "notes"), note);
}

/* Where the worker said nothing of its own, anything in the library's log may tell. */
static void take_log(struct parent *p)
{
    const struct worker_end *end = p->end;

    p->end->library_log = trial_env_log(&p->env, LOG_LINES, end->killed || (!end->result && !end->error.source));
}

/* The process is gone: what that means if it left no result. */
static void judge_end(struct parent *p)
{
    struct spur_error *e = &p->end->error;

    if (p->end->result && (p->overdue || (p->ended && !p->end->killed && p->status)))
        note_end(p);
    if (p->end->stuck_threads)
        cufile_end_blame(&p->env, p->end->library_log, e);
    if (p->end->result || e->source || p->end->signal_received)
        return;
    if (!p->ended) {
        error_foreign(e, SPUR_SOURCE_ERRNO, EIO, -EIO, "worker",
                      "the worker process sends nothing more and cannot be killed (it waits in the kernel)");
        return;
    }
    error_process(e, p->status, "worker", "the worker process",
                  WIFSIGNALED(p->status) ? "" : ", without a result and without a reason");
    cufile_end_blame(&p->env, p->end->library_log, e);
    if (WIFSIGNALED(p->status))
        error_remedy(e, "a crash in the path or a library, or the kernel's out-of-memory killer: see the kernel log");
}

int worker_run(const struct job *job, uint64_t stall_ns, const struct worker_hooks *hooks, struct worker_end *ret_end)
{
    struct parent p = {.hooks = hooks, .end = ret_end, .wire = {.fd = -1}, .stall_ns = stall_ns, .moved_ns = now_ns()};
    sigset_t signals, before;
    int r;

    *ret_end = (struct worker_end){0};
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before);
    p.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    r = p.signal_fd < 0 ? error_errno(&ret_end->error, errno, "signalfd", "starting a worker")
                        : start(&p, job, job->pilot, &ret_end->error);
    if (!r) {
        wire_send(&p.wire, job_to_json(job));
        watch(&p);
        take_log(&p);
        judge_end(&p);
        wire_close(&p.wire);
    }
    trial_env_free(&p.env);
    if (p.signal_fd >= 0)
        close(p.signal_fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r;
}

void worker_end_free(struct worker_end *end)
{
    json_decref(end->result);
    json_decref(end->stuck_threads);
    json_decref(end->last_progress);
    json_decref(end->library_log);
}

/* ------------------------------------------------------------------------------------------------
 * Checks before the first trial
 */

/* One answer, or why there is none. False: the process is of no more use. */
static bool await_answer(struct parent *p, struct worker_opened *ret)
{
    uint64_t deadline = p->stall_ns ? now_ns() + p->stall_ns : UINT64_MAX;
    json_t *message = NULL;
    int r;

    while ((r = wire_receive(&p->wire, false, &message)) == 0 && now_ns() < deadline) {
        struct pollfd fd = {p->wire.fd, POLLIN, 0};

        poll(&fd, 1, TICK_MS);
    }
    if (r > 0) {
        ret->effective = json_incref(json_object_get(message, "effective"));
        if (!ret->effective)
            json_error_parse(json_object_get(message, "error"), &ret->error);
        json_decref(message);
        return true;
    }
    if (r == 0)
        error_errno(&ret->error, ETIMEDOUT, "watchdog", "opening did not end within %g s", (double)p->stall_ns / 1e9);
    return false;
}

/* For which a process that was checked with is waited. */
static uint64_t end_ns(const struct parent *p)
{
    return p->stall_ns && p->stall_ns < KILL_WAIT_NS ? p->stall_ns : KILL_WAIT_NS;
}

/* Jobs from *next on, as far as one process takes them. */
static int check_some(const struct job *jobs, size_t n, struct parent *p, struct worker_opened *ret, size_t *next,
                      struct spur_error *e)
{
    bool alive = true, alone = trial_env_is_own(&jobs[*next]); /* its library takes one configuration a process */
    size_t last = alone ? *next + 1 : n;
    int r = start(p, &jobs[*next], false, e);

    if (r < 0)
        return r;
    while (alive && *next < last) {
        json_t *message = job_to_json(&jobs[*next]);

        json_object_set_new(message, "type", json_string("check"));
        alive = wire_send(&p->wire, message) == 0 && await_answer(p, &ret[*next]);
        p->end->error = ret[*next].error;
        ++*next;
    }
    wire_close(&p->wire);
    p->wire = (struct wire){.fd = -1};
    for (uint64_t until = now_ns() + end_ns(p); !p->ended && (alive || !p->end->error.source) && now_ns() < until;
         reap(p))
        usleep(1000);
    if (!p->ended)
        reap(p);
    if (!p->ended)
        kill_worker(p);
    if (!alive) {
        p->end->library_log = trial_env_log(&p->env, LOG_LINES, true);
        if (p->end->error.source)
            cufile_end_blame(&p->env, p->end->library_log, &p->end->error);
        judge_end(p);
        ret[*next - 1].error = p->end->error;
        ret[*next - 1].died = true;
    }
    return 0;
}

int worker_check(const struct job *jobs, size_t n, uint64_t stall_ns, struct worker_opened *ret, struct spur_error *e)
{
    size_t next = 0;
    int r = 0;

    memset(ret, 0, n * sizeof(*ret));
    while (!r && next < n) {
        struct worker_end end = {0};
        struct parent p = {.end = &end, .wire = {.fd = -1}, .signal_fd = -1, .stall_ns = stall_ns};

        r = check_some(jobs, n, &p, ret, &next, e);
        trial_env_free(&p.env);
        worker_end_free(&end);
    }
    return r;
}

void worker_opened_free(struct worker_opened *opened, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_decref(opened[i].effective);
}
