/* SPDX-License-Identifier: MIT */
/* The result of a trial as JSON (docs/run-json.md lists the keys with their units). */
#ifndef SPUR_WORKER_RESULT_H
#define SPUR_WORKER_RESULT_H

#include <jansson.h>

#include "worker/road.h"

#define RESULT_SCHEMA 1

/* What the coordinator learned on the way. */
struct outcome {
    uint64_t t0_ns, t1_ns; /* the window; t1 is when the last request was done where the end was not a time */
    uint64_t realtime_ns;  /* CLOCK_REALTIME at the moment of t0 */
    bool complete;         /* the whole window was run */
    double setup_s;
    double baseline_s; /* spent watching the idle machine, part of the set-up */
    bool synced;
    bool own_writes; /* it was never synced after its writing, so that others' cannot be told from it */
    double sync_s;   /* fsync of the written files after the window */
    bool resident_known[2];
    uint64_t resident_bytes[2];
    char resident_reason[2][PROBE_REASON];
    bool passed; /* the untimed pass ran */
    bool pass_cut;
    double pass_s;
    struct checks timed, pass; /* summed over threads */
    uint64_t n_foreign_full;
    struct road road;                            /* that the bytes of the window took */
    struct spur_error error;                     /* that ended the trial; source NONE: none */
    json_t *environment_begin, *environment_end; /* owned */
    json_t *nulls;                               /* owned: key -> reason */
};

void outcome_free(struct outcome *o);

/* Sums of the threads' tallies. */
struct totals {
    struct tally by_op[2];
    struct histogram histogram;
    uint64_t first_done_ns, last_done_ns;
};
void totals_make(const struct trial *t, struct totals *ret);

/* For `ready`: what will run. New references. */
json_t *result_memory(const struct trial *t);
json_t *result_effective(const struct trial *t);

/* The whole result; takes over o->nulls and the environments. */
json_t *result_make(const struct trial *t, const struct measure *m, struct outcome *o);

/* external_result.c: the same of a trial that another program ran. */
json_t *external_result(const struct trial *t, const struct measure *m, struct outcome *o);

#endif
