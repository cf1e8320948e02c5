/* SPDX-License-Identifier: MIT */
/* The parent's side of a trial: starts the worker process, watches it, keeps what it sends. */
#ifndef SPUR_WORKER_PARENT_H
#define SPUR_WORKER_PARENT_H

#include <jansson.h>

#include "worker/job.h"

/* State of a running trial, for the live line. */
struct worker_progress {
    const char *phase; /* "setup", "timed", "sync", "verify" */
    double elapsed_s;  /* since t0; negative during the warm-up */
    uint64_t bytes, requests, p99_ns;
};

struct worker_hooks {
    void *context;
    void (*ready)(void *context, const json_t *ready);
    void (*progress)(void *context, const struct worker_progress *p);
};

/* How a trial ended. */
struct worker_end {
    json_t *result;          /* owned; NULL if the worker sent none. complete is false after a signal */
    struct spur_error error; /* why there is no (whole) result; source NONE: nothing went wrong */
    json_t *stuck_threads;   /* owned, array; after the watchdog */
    json_t *last_progress;   /* owned; NULL if none came */
    json_t *library_log;     /* owned, array of error lines of cuFile's log; NULL: there is none */
    int signal_received;     /* SIGINT or SIGTERM that this process got, 0: none */
    bool killed;             /* the worker had to be killed */
};

/*
 * Runs the job in a new process and returns when that process has ended (or cannot be ended: then error says so).
 * Blocks SIGINT and SIGTERM meanwhile and takes them itself: the first stops the trial, the second kills it. Call it on
 * the main thread: the worker's life is tied to the thread that starts it. @stall_ns: without any progress for so long
 * the worker is killed; 0: never. -errno only if no worker could be started (worded in ret_end->error).
 */
int worker_run(const struct job *job, uint64_t stall_ns, const struct worker_hooks *hooks, struct worker_end *ret_end);
void worker_end_free(struct worker_end *end);

/* What a job's opening said. */
struct worker_opened {
    json_t *effective;       /* owned; `effective` of docs/run-json.md; NULL: it cannot be */
    struct spur_error error; /* why */
    bool died;               /* the process crashed or hung: nothing is known of what the job asks for */
};

/*
 * Opens each job in turn in one new process - files, memory, path and limits, no buffers - and closes it again: what
 * a trial would refuse is known before the first one. A job that crashes or hangs (@stall_ns, 0: for ever) the process
 * gets the error, the others a new process. -errno only if no process could be started.
 */
int worker_check(const struct job *jobs, size_t n, uint64_t stall_ns, struct worker_opened *ret, struct spur_error *e);
void worker_opened_free(struct worker_opened *opened, size_t n);

#endif
