/* SPDX-License-Identifier: MIT */
#include "store/database.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "core/error.h"
#include "core/units.h"
#include "store/text.h"

#define BUSY_TIMEOUT_MS 30000
/* SQLite's own limit on a file's name, with room for "-journal". */
#define MAX_NAME (512 - 10)

/* ------------------------------------------------------------------------------------------------
 * Errors
 */

static int busy(const struct database *d, const char *operation, struct spur_error *e)
{
    int r = error_errno(e, EBUSY, operation, "%s: another program has held it for %d s", d->filename,
                        BUSY_TIMEOUT_MS / 1000);

    error_remedy(e, "end the transaction of that program (an open sqlite3 shell?) and try again");
    return r;
}

static int damaged(const struct database *d, const char *operation, struct spur_error *e)
{
    int r = error_spur(e, SPUR_CODE_MISMATCH, operation, "%s: damaged, or changed by another program: %s", d->filename,
                       sqlite3_errmsg(d->db));

    error_remedy(e, "use a copy from a backup; `sqlite3 FILE .recover` may save what is left");
    return r;
}

/* A write that failed for a reason that SQLite did not keep: any but a full disk. */
static int write_error(const struct database *d, const char *operation, struct spur_error *e)
{
    char limit_text[UNITS_TEXT];
    struct rlimit limit;
    int r = error_foreign(e, SPUR_SOURCE_ERRNO, EIO, -EIO, operation, "%s: a write failed (%s)", d->filename,
                          sqlite3_errmsg(d->db));

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY) {
        error_remedy(e, "look for a quota and for kernel messages, or name another place");
        return r;
    }
    units_format_bytes(limit.rlim_cur, limit_text);
    error_remedy(e, "no file may pass %s here: raise that limit (ulimit -f); else look for a quota and kernel messages",
                 limit_text);
    return r;
}

static int io_error(const struct database *d, const char *operation, struct spur_error *e)
{
    int err = sqlite3_system_errno(d->db), r;

    if (!err && sqlite3_extended_errcode(d->db) == SQLITE_IOERR_WRITE)
        return write_error(d, operation, e);
    r = error_errno(e, err ? err : EIO, operation, "%s: %s", d->filename, sqlite3_errmsg(d->db));
    error_remedy_room(e, err);
    return r;
}

static int full(const struct database *d, const char *operation, struct spur_error *e)
{
    int r = error_errno(e, ENOSPC, operation, "%s", d->filename);

    error_remedy_room(e, ENOSPC);
    return r;
}

int database_error(const struct database *d, const char *operation, struct spur_error *e)
{
    switch (sqlite3_extended_errcode(d->db) & 0xff) {
    case SQLITE_NOMEM:
        return error_errno(e, ENOMEM, operation, "%s", d->filename);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return busy(d, operation, e);
    case SQLITE_FULL:
        return full(d, operation, e);
    case SQLITE_READONLY:
        return error_errno(e, EACCES, operation, "%s: %s", d->filename, sqlite3_errmsg(d->db));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return io_error(d, operation, e);
    case SQLITE_TOOBIG:
        return error_errno(e, EFBIG, operation, "%s: %s", d->filename, sqlite3_errmsg(d->db));
    default:
        return damaged(d, operation, e);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Open and close
 */

/* A results file may come from somebody else: its schema must not run anything. */
static int distrust(struct database *d, struct spur_error *e)
{
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    return database_exec(d, "PRAGMA cell_size_check = ON", e);
}

int database_open(struct database *d, const char *real, const char *filename, int flags, struct spur_error *e)
{
    int r;

    d->filename = filename;
    if (strlen(real) > MAX_NAME)
        return error_errno(e, ENAMETOOLONG, "sqlite3_open", "%s", filename);
    if (sqlite3_open_v2(real, &d->db, flags, NULL) != SQLITE_OK) {
        r = d->db ? database_error(d, "sqlite3_open", e) : error_errno(e, ENOMEM, "sqlite3_open", "%s", filename);
    } else {
        sqlite3_busy_timeout(d->db, BUSY_TIMEOUT_MS);
        r = distrust(d, e);
    }
    if (r)
        database_close(d);
    return r;
}

void database_close(struct database *d)
{
    sqlite3_close(d->db);
    d->db = NULL;
}

int database_set_up_writing(struct database *d, struct spur_error *e)
{
    return database_exec(d, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", e);
}

/* ------------------------------------------------------------------------------------------------
 * Statements
 */

int database_exec(struct database *d, const char *sql, struct spur_error *e)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : database_error(d, "sqlite3_exec", e);
}

int database_prepare(struct database *d, const char *sql, sqlite3_stmt **ret, struct spur_error *e)
{
    if (sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK)
        return 0;
    return database_error(d, "sqlite3_prepare", e);
}

int database_number(struct database *d, const char *sql, int64_t *ret, struct spur_error *e)
{
    sqlite3_stmt *statement = NULL;
    int r = database_prepare(d, sql, &statement, e);

    if (!r && sqlite3_step(statement) == SQLITE_ROW)
        *ret = sqlite3_column_int64(statement, 0);
    else if (!r)
        r = database_error(d, "sqlite3_step", e);
    sqlite3_finalize(statement);
    return r;
}

static int bind(sqlite3_stmt *statement, int i, const struct database_value *value)
{
    switch (value->kind) {
    case DATABASE_INTEGER:
        return sqlite3_bind_int64(statement, i, value->integer);
    case DATABASE_REAL:
        return sqlite3_bind_double(statement, i, value->real); /* SQLite itself makes NaN NULL */
    case DATABASE_TEXT:
        return text_is_utf8(value->text)
                   ? sqlite3_bind_text64(statement, i, value->text, strlen(value->text), SQLITE_STATIC, SQLITE_UTF8)
                   : sqlite3_bind_blob64(statement, i, value->text, strlen(value->text), SQLITE_STATIC);
    default:
        return sqlite3_bind_null(statement, i);
    }
}

int database_run(struct database *d, sqlite3_stmt *statement, const struct database_value *values, size_t n_values,
                 struct spur_error *e)
{
    int rc = SQLITE_OK, r = 0;

    for (size_t i = 0; rc == SQLITE_OK && i < n_values; i++)
        rc = bind(statement, (int)i + 1, &values[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc != SQLITE_DONE)
        r = database_error(d, "sqlite3_step", e);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Columns
 */

double database_column_real(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
}

uint32_t database_column_index(sqlite3_stmt *statement, int column)
{
    sqlite3_int64 value = sqlite3_column_int64(statement, column);

    if (sqlite3_column_type(statement, column) != SQLITE_INTEGER || value < 0 || value >= EXPERIMENT_NONE)
        return EXPERIMENT_NONE;
    return (uint32_t)value;
}

int database_column_text(sqlite3_stmt *statement, int column, char **ret)
{
    const unsigned char *text;
    char *copy = NULL;

    if (sqlite3_column_type(statement, column) != SQLITE_NULL) {
        text = sqlite3_column_text(statement, column);
        copy = text ? strdup((const char *)text) : NULL;
        if (!copy)
            return -ENOMEM;
    }
    *ret = copy;
    return 0;
}
