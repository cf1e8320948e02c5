/* SPDX-License-Identifier: MIT */
/* A connection to SQLite with spur's habits and errors. */
#ifndef SPUR_STORE_DATABASE_H
#define SPUR_STORE_DATABASE_H

#include <sqlite3.h>

#include "core/util.h"
#include "spur.h"
#include "store/experiment.h"

struct database {
    sqlite3 *db;
    const char *filename; /* as the user knows it, for errors; borrowed */
};

/* @real: absolute, without symbolic links. @flags: SQLITE_OPEN_*. Nothing to close on failure. */
int database_open(struct database *d, const char *real, const char *filename, int flags, struct spur_error *e);
void database_close(struct database *d);
/* Rollback journal, synchronous FULL, foreign keys. */
int database_set_up_writing(struct database *d, struct spur_error *e);

/* Words SQLite's last error. */
int database_error(const struct database *d, const char *operation, struct spur_error *e);
int database_exec(struct database *d, const char *sql, struct spur_error *e);
int database_prepare(struct database *d, const char *sql, sqlite3_stmt **ret, struct spur_error *e);
/* The one number of the one row of @sql. */
int database_number(struct database *d, const char *sql, int64_t *ret, struct spur_error *e);

/* A value for a parameter of a statement. Text is borrowed until the statement was run. */
struct database_value {
    enum { DATABASE_NULL, DATABASE_INTEGER, DATABASE_REAL, DATABASE_TEXT } kind;
    int64_t integer;
    double real;      /* NaN: NULL */
    const char *text; /* NULL: NULL; bytes that are not UTF-8 go in as a BLOB */
};

static inline struct database_value of_integer(int64_t value)
{
    return (struct database_value){.kind = DATABASE_INTEGER, .integer = value};
}

/* 64 bits as they are: the upper half turns negative. */
static inline struct database_value of_u64(uint64_t value)
{
    return of_integer((int64_t)value);
}

static inline struct database_value of_index(uint32_t value)
{
    return (struct database_value){.kind = value == EXPERIMENT_NONE ? DATABASE_NULL : DATABASE_INTEGER,
                                   .integer = value};
}

static inline struct database_value of_real(double value)
{
    return (struct database_value){.kind = DATABASE_REAL, .real = value};
}

static inline struct database_value of_text(const char *text)
{
    return (struct database_value){.kind = text ? DATABASE_TEXT : DATABASE_NULL, .text = text};
}

/* Runs @statement, which gives no rows, with @values for ?1 and on, and resets it. */
int database_run(struct database *d, sqlite3_stmt *statement, const struct database_value *values, size_t n_values,
                 struct spur_error *e);
#define DATABASE_RUN(d, statement, e, ...)                                                                             \
    database_run(d, statement, (struct database_value[]){__VA_ARGS__},                                                 \
                 ARRAY_SIZE(((struct database_value[]){__VA_ARGS__})), e)

double database_column_real(sqlite3_stmt *statement, int column);    /* NULL: NaN */
uint32_t database_column_index(sqlite3_stmt *statement, int column); /* NULL, out of range: EXPERIMENT_NONE */
/* malloc'd; NULL stays NULL. -ENOMEM. */
int database_column_text(sqlite3_stmt *statement, int column, char **ret);

#endif
