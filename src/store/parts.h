/* SPDX-License-Identifier: MIT */
/* Inside of a store; for src/store alone. */
#ifndef SPUR_STORE_PARTS_H
#define SPUR_STORE_PARTS_H

#include "store/database.h"
#include "store/lock.h"
#include "store/store.h"

#define STORE_APPLICATION_ID 0x73707572 /* "spur" */

extern const char store_schema[];

/* Prepared at first use and kept. */
enum store_statement {
    STATEMENT_DROP_INTERRUPTED,
    STATEMENT_ADD_TRIAL,
    STATEMENT_ADD_RESULT,
    STATEMENT_ADD_HISTOGRAM,
    STATEMENT_ADD_INTERVAL,
    STATEMENT_ADD_EVENT,
    STATEMENT_TRIALS,
    STATEMENT_TRIALS_1, /* of a file of version 1 */
    STATEMENT_EVENTS,
    STATEMENT_RESULT,
    STATEMENT_INTERVALS_OF_ROW,
    STATEMENT_INTERVALS,
    STATEMENT_FACTS, /* what facts_take wants, in its order */
    N_STATEMENTS,
};

struct store {
    struct database database;
    char *filename; /* as given */
    char *real;     /* symbolic links resolved */
    struct store_lock lock;
    struct experiment experiment;
    int64_t version; /* of the schema of the file */
    json_t *identity, *environment;
    sqlite3_stmt *statements[N_STATEMENTS];
};

int store_statement(struct store *s, enum store_statement which, sqlite3_stmt **ret, struct spur_error *e);

/* Opens @real; takes over @lock (fd -1: for reading), whether it succeeds or not. */
int store_open_locked(const char *filename, const char *real, struct store_lock lock, struct store **ret,
                      struct spur_error *e);

/* Writes schema and plan into the new file @real. */
int store_write_plan(const char *real, const char *filename, const struct experiment *x, const json_t *identity,
                     const json_t *environment, struct spur_error *e);

#endif
