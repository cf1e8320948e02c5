/* SPDX-License-Identifier: MIT */
/* A sweep under way; for src/sweep alone. */
#ifndef SPUR_SWEEP_RUN_H
#define SPUR_SWEEP_RUN_H

#include "sweep/sweep.h"

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

/* run.c */
struct progress *run_pair_of(struct run *run, const struct experiment_row *row);
/* A row that is not to be run: its cell is decided, or its pair was stopped. */
bool run_left_out(struct run *run, const struct experiment_row *row);
uint64_t run_realtime_ns(void);
int run_add_event(struct run *run, enum store_event_kind kind, uint32_t block, uint32_t cell, uint32_t arm, char *text,
                  struct spur_error *e);
void run_say(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_count_todo(struct run *run);
/* Failures in a row, in the order of rows: a resumed sweep counts as one that was never interrupted. */
void run_note_outcome(struct run *run, const struct experiment_row *row, enum trial_status status);
/* What the store knows of earlier runs. */
int run_recall_trials(struct run *run, struct spur_error *e);
int run_recall_events(struct run *run, struct spur_error *e);
int run_allocate(struct run *run, struct spur_error *e);
void run_release(struct run *run);

/* trial.c: one row, from the start of its worker to its end in the store. */
int run_trial(struct run *run, size_t index, struct spur_error *e);

#endif
