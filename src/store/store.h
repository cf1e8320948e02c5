/* SPDX-License-Identifier: MIT */
/*
 * One SQLite file per experiment. A trial is one transaction (rollback journal, synchronous FULL): kill -9 loses at
 * most the trial under way. One writer at a time, told by a lock that dies with its process; readers may look at any
 * time. Schema: docs/results-schema.md, `user_version`. Mode 0600. Errors are worded in @e; -EPERM with
 * SPUR_CODE_REFUSED where the file must not be touched (exists, locked, not spur's, of a newer version).
 */
#ifndef SPUR_STORE_STORE_H
#define SPUR_STORE_STORE_H

#include "spur.h"
#include "store/experiment.h"
#include "store/figures.h"

#define STORE_VERSION 2 /* 1 had no figures of the wire: it can be read, not written */

struct store;

enum trial_status {
    TRIAL_OK,          /* has figures */
    TRIAL_FAILED,      /* an I/O error, a failed verification, a crashed or hung worker */
    TRIAL_REFUSED,     /* the road asked for was not taken */
    TRIAL_INTERRUPTED, /* by a signal: it is run again on --resume */
};

struct store_trial {
    uint32_t row; /* index into experiment.rows */
    enum trial_status status;
    struct figures figures;
    char observed[16], served[16]; /* "" where null */
    char verify[16];               /* "ok", "failed", "off", "" */
    bool emulated, simulated;
    uint64_t began_realtime_ns, t0_monotonic_ns;
    double window_s;      /* t1 - t0 */
    double wall_s;        /* of the whole trial, process start to its end */
    char *error;          /* one line; NULL where OK. Owned by store_trials_free where read */
    const json_t *result; /* written whole (results.json); NULL: the worker left none. Always NULL where read */
};

/* What happened besides trials. */
enum store_event_kind {
    EVENT_STARTED,  /* text: command line; a resumed run adds another */
    EVENT_STOPPED,  /* arm stopped in a cell after three failures in a row; text: the reason */
    EVENT_DECIDED,  /* --until-decided: cell (arm NONE) left out from block on; text: why, where it has no verdict */
    EVENT_LIMIT,    /* --limit reached before block */
    EVENT_PREPARED, /* prepare_command ran before block; text: command */
    EVENT_FINISHED, /* all rows that were to be run were run */
    EVENT_INTERRUPTED,
};

struct store_event {
    enum store_event_kind kind;
    uint64_t realtime_ns;
    uint32_t block, cell, arm; /* EXPERIMENT_NONE where it has none */
    char *text;                /* may be NULL */
};

/* Whether store_create could make @filename, so that it is said before long work. Writes nothing. */
int store_create_check(const char *filename, struct spur_error *e);
/*
 * Creates @filename (which must not exist) with the plan in it, as one transaction: a file without a whole plan is
 * never left. @identity and @environment are JSON objects that are kept as they are: identity is what --resume
 * compares.
 */
int store_create(const char *filename, const struct experiment *x, const json_t *identity, const json_t *environment,
                 struct store **ret, struct spur_error *e);
/* Opens for more trials (write) or for reading. -ENOENT, -EPERM (REFUSED), -EILSEQ (MISMATCH: damaged). */
int store_open(const char *filename, bool write, struct store **ret, struct spur_error *e);
void store_close(struct store *s);

/* The plan; owned by the store. */
const struct experiment *store_experiment(const struct store *s);
/* Borrowed references. */
const json_t *store_identity(const struct store *s);
const json_t *store_environment(const struct store *s);

/* One transaction: the trial, its result, its intervals, its histogram. Replaces an interrupted one of that row. */
int store_add_trial(struct store *s, const struct store_trial *t, struct spur_error *e);
int store_add_event(struct store *s, const struct store_event *event, struct spur_error *e);

/* All trials in the order of rows, without their JSON; *ret is owned by the caller (store_trials_free). */
int store_trials(struct store *s, struct store_trial **ret, size_t *ret_n, struct spur_error *e);
void store_trials_free(struct store_trial *trials, size_t n);
int store_events(struct store *s, struct store_event **ret, size_t *ret_n, struct spur_error *e);
void store_events_free(struct store_event *events, size_t n);
/* The result of a row; new reference, NULL with 0 where it has none. */
int store_result(struct store *s, uint32_t row, json_t **ret, struct spur_error *e);

/* The window in pieces. *ret (malloc) may be NULL with *ret_n 0. */
struct store_interval {
    uint32_t row;
    double begin_s, end_s;
    double bytes; /* NaN: null */
    uint64_t requests;
};
/* Of one row, or of all rows in their order (EXPERIMENT_NONE). */
int store_intervals(struct store *s, uint32_t row, struct store_interval **ret, size_t *ret_n, struct spur_error *e);

#endif
