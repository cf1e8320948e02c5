/* SPDX-License-Identifier: MIT */
/*
 * Runs an experiment that is written down: its rows in their order, one worker process each, every trial stored before
 * the next begins. Knows no option: the caller made a job of each pair.
 */
#ifndef SPUR_SWEEP_SWEEP_H
#define SPUR_SWEEP_SWEEP_H

#include "report/analysis.h"
#include "store/store.h"
#include "worker/parent.h"

/* What is run for one arm in one cell. Region, seed and baseline of the machine are put in for each row. */
struct sweep_pair {
    struct job job; /* owned; without meaning where the pair is not planned */
    uint64_t stall_ns;
    json_t *effective;   /* owned; what the check said */
    json_t *pilot;       /* owned; of route=direct; NULL: none was needed, or it failed: each trial has its own then */
    char *trouble;       /* owned; why it could not be opened, or its pilot failed; its trials are run. NULL: nothing */
    uint64_t used_bytes; /* of the smallest file: what --region rotate divides */
};

struct sweep_state {
    size_t n_done, n_todo; /* rows, the ones left out apart */
    uint64_t left_ns;      /* estimated from what trials took; 0: not known yet */
    const struct experiment_row *row;
};

struct sweep_hooks {
    void *context;
    /* All may be NULL. */
    void (*trial_begin)(void *context, const struct sweep_state *s);
    void (*trial_progress)(void *context, const struct sweep_state *s, const struct worker_progress *p);
    void (*trial_end)(void *context, const struct sweep_state *s, const struct store_trial *t);
    /* A block is over; @a is what all trials so far say. */
    void (*block_end)(void *context, const struct sweep_state *s, const struct analysis *a);
    void (*said)(void *context, const char *line); /* an arm was stopped, a cell decided, a command run */
};

struct sweep {
    struct store *store; /* open for writing */
    const struct experiment *x;
    struct sweep_pair *pairs; /* [cell * n_arms + arm] */
    const struct sweep_hooks *hooks;
    uint64_t limit_ns; /* of this run; 0: none */
};

/* What became of it. */
struct sweep_end {
    int signal_received;      /* 0: none */
    size_t n_without_figures; /* of the trials run now or before: failed or refused */
    bool any_refused;
    bool limited; /* --limit was reached */
};

/*
 * Runs the rows that have no trial yet. Failed trials are stored and the sweep goes on; three in a row of one arm in
 * one cell stop that arm there. Negative only where it cannot go on: the store, a prepare command, no process.
 */
int sweep_run(struct sweep *s, struct sweep_end *ret, struct spur_error *e);

/* check.c: opens each planned pair once, without timing. */

/*
 * Fills effective and used_bytes, or trouble where the library of a pair took its process down, which is its trials'
 * to tell; a pair that its path cannot take, or that is alone in its cell, becomes
 * PAIR_NOT_APPLICABLE, one that is refused PAIR_REFUSED, all with the reason. Memory "auto" is resolved by the first
 * pair and put into all. Negative: another error of a pair, no pair that could be opened, an arm that can run in no
 * cell for its own fault, or fewer than two arms in every cell.
 */
int sweep_check(struct experiment *x, struct sweep_pair *pairs, struct spur_error *e);
void sweep_pairs_free(struct sweep_pair *pairs, size_t n);

/* region.c: where @row's trial reads: job->begin_bytes and range_bytes. Usage error: the region holds no request. */
int sweep_region(const struct experiment *x, const struct experiment_row *row, const struct sweep_pair *pair,
                 struct job *job, struct spur_error *e);

/*
 * command.c: runs a prepare command for @value, in a process group of its own; its output goes to stderr. It does not
 * outlive this process, whatever ends that (guard.h). SIGINT and SIGTERM, which the caller blocks, end the whole group:
 * then 0 with *ret_signal not 0, and what it was to prepare may be half done. *ret_left: the group, where some of it
 * could not be ended; 0: nothing is left. -EIO: it failed, -EPERM: it wants the terminal.
 */
int sweep_prepare(const char *command, const char *value, int *ret_signal, pid_t *ret_left, struct spur_error *e);
/* Its program's file, found as it would be run, and SHA-256 of that. */
int sweep_command_identify(const char *command, char *ret_file, size_t size, char ret_sha256[65], struct spur_error *e);

/* contents.c: SHA-256 of each file that a setting of a planned pair names as program, library or cufile.json, and of
 * the cufile.json in force, by "key=FILE"; null: it cannot be read. New reference. */
json_t *sweep_contents(const struct experiment *x, const struct sweep_pair *pairs);
/* Variables that cuFile reads, by name, where an arm uses it; and which GPUs are seen, where one has memory there. New
 * reference. */
json_t *sweep_variables(const struct experiment *x, const struct sweep_pair *pairs);

/* identity.c: what must not change between a sweep and its resumption; new reference. */
json_t *sweep_identity(const struct experiment *x, const struct sweep_pair *pairs, struct spur_error *e);
/* 0, or -EPERM (REFUSED) that says what differs. */
int sweep_identity_compare(const json_t *before, const json_t *now, struct spur_error *e);
/* Usage error that names the first difference of the plans. */
int sweep_plan_compare(const struct experiment *before, const struct experiment *now, struct spur_error *e);

#endif
