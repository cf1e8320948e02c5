/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "store/parts.h"

#define CHECK_BYTES (32 << 20) /* up to here a check of the whole file before more is written takes no time */

/* ------------------------------------------------------------------------------------------------
 * Whether this is a results file
 */

static int refuse(const char *filename, const char *why, struct spur_error *e)
{
    int r = error_spur(e, SPUR_CODE_REFUSED, "store_open", "%s: %s", filename, why);

    error_remedy(e, "name a results file, as spur compare writes it");
    return r;
}

static int mismatch(const struct store *s, const char *what, struct spur_error *e)
{
    int r = error_spur(e, SPUR_CODE_MISMATCH, "store_open", "%s: damaged: %s", s->filename, what);

    error_remedy(e, "use a copy from a backup; `sqlite3 FILE .recover` may save what is left");
    return r;
}

static int check_ids(struct store *s, struct spur_error *e)
{
    int64_t id = 0, version = 0;
    int r = database_number(&s->database, "PRAGMA application_id", &id, e);

    if (r && sqlite3_errcode(s->database.db) == SQLITE_NOTADB)
        return refuse(s->filename, "not a results file of spur (not an SQLite database)", e);
    if (!r && id != STORE_APPLICATION_ID)
        return refuse(s->filename,
                      id ? "not a results file of spur (an SQLite database of another program)"
                         : "not a results file of spur (empty, or an SQLite database of another program)",
                      e);
    if (!r)
        r = database_number(&s->database, "PRAGMA user_version", &version, e);
    if (!r && version > STORE_VERSION) {
        r = error_spur(e, SPUR_CODE_REFUSED, "store_open",
                       "%s: written by a newer spur: version %lld, known here is %d", s->filename, (long long)version,
                       STORE_VERSION);
        error_remedy(e, "use the spur that wrote it, or a newer one");
    } else if (!r && version == 1 && s->lock.fd >= 0) {
        r = error_spur(e, SPUR_CODE_REFUSED, "store_open", "%s: written by an older spur: version 1 can only be read",
                       s->filename);
        error_remedy(e, "go on with the spur that wrote it, or begin a new experiment; spur report reads it");
    } else if (!r && version < 1) {
        r = error_spur(e, SPUR_CODE_MISMATCH, "store_open", "%s: version %lld, which spur never wrote", s->filename,
                       (long long)version);
    }
    s->version = version;
    return r;
}

static int quick_check(struct store *s, struct spur_error *e)
{
    sqlite3_stmt *statement = NULL;
    const char *says;
    int r = database_prepare(&s->database, "PRAGMA quick_check(1)", &statement, e);

    if (!r && sqlite3_step(statement) != SQLITE_ROW)
        r = database_error(&s->database, "quick_check", e);
    says = r ? NULL : (const char *)sqlite3_column_text(statement, 0);
    if (!r && (!says || strcmp(says, "ok")))
        r = mismatch(s, says ? says : "quick_check failed", e);
    sqlite3_finalize(statement);
    return r;
}

/* For the one writer, whose file does not grow meanwhile. */
static int check_pages(struct store *s, struct spur_error *e)
{
    int64_t pages = 0, page_bytes = 0;
    struct stat st;
    int r = database_number(&s->database, "PRAGMA page_count", &pages, e);

    if (!r)
        r = database_number(&s->database, "PRAGMA page_size", &page_bytes, e);
    if (!r && stat(s->real, &st) < 0)
        r = error_errno(e, errno, "stat", "%s", s->filename);
    if (!r && st.st_size != pages * page_bytes)
        r = mismatch(s, "its size is not that of its pages: it was cut, or written to", e);
    return r || pages * page_bytes > CHECK_BYTES ? r : quick_check(s, e);
}

/* ------------------------------------------------------------------------------------------------
 * Connections
 */

static int connect_writing(struct store *s, struct spur_error *e)
{
    int r = database_open(&s->database, s->real, s->filename, SQLITE_OPEN_READWRITE, e);

    /* SQLite falls back to reading in silence. */
    if (!r && sqlite3_db_readonly(s->database.db, "main") == 1)
        r = error_errno(e, EACCES, "store_open", "%s: for writing", s->filename);
    if (!r)
        r = check_ids(s, e);
    if (!r)
        r = database_set_up_writing(&s->database, e);
    return r ? r : check_pages(s, e);
}

/* A process died in the middle of a write: its journal must be rolled back before anything can be read. */
static int connect_rolling_back(struct store *s, struct spur_error *e)
{
    int r;

    database_close(&s->database);
    r = database_open(&s->database, s->real, s->filename, SQLITE_OPEN_READWRITE, e);
    if (!r)
        r = check_ids(s, e);
    if (r == -EPERM || r == -EILSEQ || r == -EBUSY || r == -ENOMEM)
        return r;
    if (r) {
        r = error_errno(e, EACCES, "store_open",
                        "%s: its writer was killed in the middle of a write, which must be rolled back", s->filename);
        error_remedy(e, "open it once as a user who may write it and its folder, or copy it together with %s-journal",
                     s->filename);
        return r;
    }
    return database_exec(&s->database, "PRAGMA query_only = ON", e);
}

static int connect_reading(struct store *s, struct spur_error *e)
{
    int r = database_open(&s->database, s->real, s->filename, SQLITE_OPEN_READONLY, e);

    if (!r)
        r = check_ids(s, e);
    if (r && s->database.db && sqlite3_extended_errcode(s->database.db) == SQLITE_READONLY_ROLLBACK)
        r = connect_rolling_back(s, e);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The documents
 */

static int load_json(struct store *s, sqlite3_stmt *select, const char *key, json_t **ret, struct spur_error *e)
{
    json_t *json = NULL;
    int rc;

    sqlite3_bind_text(select, 1, key, -1, SQLITE_STATIC);
    rc = sqlite3_step(select);
    if (rc == SQLITE_ROW)
        json = json_loadb((const char *)sqlite3_column_blob(select, 0), (size_t)sqlite3_column_bytes(select, 0),
                          JSON_ALLOW_NUL, NULL);
    else if (rc != SQLITE_DONE)
        return database_error(&s->database, "sqlite3_step", e);
    sqlite3_reset(select);
    if (!json)
        return mismatch(s, key, e);
    *ret = json;
    return 0;
}

static int load_plan(struct store *s, sqlite3_stmt *select, struct spur_error *e)
{
    json_t *plan = NULL;
    int r = load_json(s, select, "plan", &plan, e);

    if (!r && experiment_from_json(plan, &s->experiment) < 0)
        r = mismatch(s, "its plan is not consistent", e);
    json_decref(plan);
    return r;
}

static int load(struct store *s, struct spur_error *e)
{
    sqlite3_stmt *select = NULL;
    int r = database_prepare(&s->database, "SELECT value FROM experiment WHERE key = ?", &select, e);

    if (!r)
        r = load_plan(s, select, e);
    if (!r)
        r = load_json(s, select, "identity", &s->identity, e);
    if (!r)
        r = load_json(s, select, "environment", &s->environment, e);
    sqlite3_finalize(select);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Open and close
 */

int store_open_locked(const char *filename, const char *real, struct store_lock lock, struct store **ret,
                      struct spur_error *e)
{
    struct store *s = calloc(1, sizeof(*s));
    int r = 0;

    if (!s) {
        store_lock_release(&lock);
        return error_errno(e, ENOMEM, "calloc", "%s", filename);
    }
    s->lock = lock;
    s->filename = strdup(filename);
    s->real = strdup(real);
    if (!s->filename || !s->real)
        r = error_errno(e, ENOMEM, "strdup", "%s", filename);
    if (!r)
        r = lock.fd >= 0 ? connect_writing(s, e) : connect_reading(s, e);
    if (!r)
        r = load(s, e);
    if (r) {
        store_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

static int check_file(const char *real, const char *filename, bool write, struct spur_error *e)
{
    struct stat st;
    int r;

    if (stat(real, &st) < 0)
        return error_errno(e, errno, "stat", "%s", filename);
    if (!S_ISREG(st.st_mode))
        return refuse(filename, "not a regular file", e);
    if (!write || st.st_nlink < 2)
        return 0;
    r = error_spur(e, SPUR_CODE_REFUSED, "store_open",
                   "%s: has %llu names (hard links); lock and journal are found by one of them only", filename,
                   (unsigned long long)st.st_nlink);
    error_remedy(e, "remove the other names, or go on with a copy");
    return r;
}

int store_open(const char *filename, bool write, struct store **ret, struct spur_error *e)
{
    _cleanup_free_ char *real = realpath(filename, NULL);
    struct store_lock lock = {.fd = -1};
    int r;

    if (!real) {
        r = error_errno(e, errno, "open", "%s", filename);
        if (r == -ENOENT)
            error_remedy(e, "name a results file, as spur compare writes it");
        return r;
    }
    r = check_file(real, filename, write, e);
    if (!r && write)
        r = store_lock_take(real, filename, &lock, e);
    return r ? r : store_open_locked(filename, real, lock, ret, e);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < N_STATEMENTS; i++)
        sqlite3_finalize(s->statements[i]);
    database_close(&s->database);
    store_lock_release(&s->lock);
    experiment_free(&s->experiment);
    json_decref(s->identity);
    json_decref(s->environment);
    free(s->filename);
    free(s->real);
    free(s);
}

const struct experiment *store_experiment(const struct store *s)
{
    return &s->experiment;
}

const json_t *store_identity(const struct store *s)
{
    return s->identity;
}

const json_t *store_environment(const struct store *s)
{
    return s->environment;
}
