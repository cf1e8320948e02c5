/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "store/facts.h"
#include "store/parts.h"
#include "store/words.h"

/* ------------------------------------------------------------------------------------------------
 * Rows of a statement into an array
 */

/* 0; -EILSEQ: the row cannot be one that spur wrote; -ENOMEM. Nothing is left allocated in a failed @item. */
typedef int (*read_item)(const struct store *s, sqlite3_stmt *statement, void *item);

struct list {
    void *items;
    size_t n, room, size;
};

static void *list_next(struct list *l)
{
    if (l->n == l->room) {
        size_t room = l->room ? l->room * 2 : 64;
        void *items = reallocarray(l->items, room, l->size);

        if (!items)
            return NULL;
        l->items = items;
        l->room = room;
    }
    return memset((char *)l->items + l->n * l->size, 0, l->size);
}

static int read_all(struct store *s, sqlite3_stmt *statement, read_item read, struct list *l, struct spur_error *e)
{
    int rc, r = 0;

    while (!r && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        void *item = list_next(l);

        r = item ? read(s, statement, item) : -ENOMEM;
        if (!r)
            l->n++;
    }
    if (!r && rc != SQLITE_DONE)
        r = database_error(&s->database, "sqlite3_step", e);
    else if (r == -EILSEQ)
        r = error_spur(e, SPUR_CODE_MISMATCH, "sqlite3_step", "%s: damaged: %s", s->filename, sqlite3_sql(statement));
    else if (r)
        r = error_errno(e, -r, "sqlite3_step", "%s", s->filename);
    sqlite3_reset(statement);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Trials
 */

static int word_column(sqlite3_stmt *statement, int column, const char *const *words)
{
    return word_index(words, (const char *)sqlite3_column_text(statement, column));
}

static void short_text(sqlite3_stmt *statement, int column, char *ret, size_t size)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    snprintf(ret, size, "%s", text ? text : "");
}

static void read_figures(sqlite3_stmt *statement, int column, struct figures *f)
{
    for (int m = 0; m < N_METRICS; m++)
        f->metric[m] = database_column_real(statement, column++);
    f->process_user_cpus = database_column_real(statement, column++);
    f->process_system_cpus = database_column_real(statement, column++);
    f->machine_user_cpus = database_column_real(statement, column++);
    f->machine_system_cpus = database_column_real(statement, column++);
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        f->wire[w] = database_column_real(statement, column++);
    f->wire_retries = database_column_real(statement, column);
}

static int read_trial(const struct store *s, sqlite3_stmt *statement, void *item)
{
    struct store_trial *t = item;
    int column = 2 + N_METRICS + 4 + N_WIRE_FIGURES + 1, status = word_column(statement, 1, status_words);

    t->row = database_column_index(statement, 0);
    if (t->row >= s->experiment.n_rows || status < 0)
        return -EILSEQ;
    t->status = (enum trial_status)status;
    read_figures(statement, 2, &t->figures);
    short_text(statement, column++, t->observed, sizeof(t->observed));
    short_text(statement, column++, t->served, sizeof(t->served));
    short_text(statement, column++, t->verify, sizeof(t->verify));
    t->emulated = sqlite3_column_int(statement, column++);
    t->simulated = sqlite3_column_int(statement, column++);
    t->began_realtime_ns = (uint64_t)sqlite3_column_int64(statement, column++);
    t->t0_monotonic_ns = (uint64_t)sqlite3_column_int64(statement, column++);
    t->window_s = database_column_real(statement, column++);
    t->wall_s = database_column_real(statement, column++);
    return database_column_text(statement, column, &t->error);
}

int store_trials(struct store *s, struct store_trial **ret, size_t *ret_n, struct spur_error *e)
{
    struct list l = {.size = sizeof(struct store_trial)};
    sqlite3_stmt *statement;
    int r = store_statement(s, s->version == 1 ? STATEMENT_TRIALS_1 : STATEMENT_TRIALS, &statement, e);

    if (!r)
        r = read_all(s, statement, read_trial, &l, e);
    if (r) {
        store_trials_free(l.items, l.n);
        return r;
    }
    *ret = l.items;
    *ret_n = l.n;
    return 0;
}

void store_trials_free(struct store_trial *trials, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(trials[i].error);
    free(trials);
}

/* ------------------------------------------------------------------------------------------------
 * Events
 */

static bool is_index(sqlite3_stmt *statement, int column, size_t n)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL || database_column_index(statement, column) < n;
}

static int read_event(const struct store *s, sqlite3_stmt *statement, void *item)
{
    struct store_event *event = item;
    int kind = word_column(statement, 0, event_words);

    if (kind < 0 || !is_index(statement, 3, s->experiment.n_cells) || !is_index(statement, 4, s->experiment.n_arms))
        return -EILSEQ;
    event->kind = (enum store_event_kind)kind;
    event->realtime_ns = (uint64_t)sqlite3_column_int64(statement, 1);
    event->block = database_column_index(statement, 2);
    event->cell = database_column_index(statement, 3);
    event->arm = database_column_index(statement, 4);
    return database_column_text(statement, 5, &event->text);
}

int store_events(struct store *s, struct store_event **ret, size_t *ret_n, struct spur_error *e)
{
    struct list l = {.size = sizeof(struct store_event)};
    sqlite3_stmt *statement;
    int r = store_statement(s, STATEMENT_EVENTS, &statement, e);

    if (!r)
        r = read_all(s, statement, read_event, &l, e);
    if (r) {
        store_events_free(l.items, l.n);
        return r;
    }
    *ret = l.items;
    *ret_n = l.n;
    return 0;
}

void store_events_free(struct store_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(events[i].text);
    free(events);
}

/* ------------------------------------------------------------------------------------------------
 * Intervals and results
 */

static int read_interval(const struct store *s, sqlite3_stmt *statement, void *item)
{
    struct store_interval *interval = item;

    interval->row = database_column_index(statement, 0);
    interval->begin_s = database_column_real(statement, 1);
    interval->end_s = database_column_real(statement, 2);
    interval->bytes = database_column_real(statement, 3);
    interval->requests = (uint64_t)sqlite3_column_int64(statement, 4);
    return interval->row < s->experiment.n_rows ? 0 : -EILSEQ;
}

int store_intervals(struct store *s, uint32_t row, struct store_interval **ret, size_t *ret_n, struct spur_error *e)
{
    bool all = row == EXPERIMENT_NONE;
    struct list l = {.size = sizeof(struct store_interval)};
    sqlite3_stmt *statement;
    int r = store_statement(s, all ? STATEMENT_INTERVALS : STATEMENT_INTERVALS_OF_ROW, &statement, e);

    if (!r && !all)
        sqlite3_bind_int64(statement, 1, row);
    if (!r)
        r = read_all(s, statement, read_interval, &l, e);
    if (r) {
        free(l.items);
        return r;
    }
    *ret = l.items;
    *ret_n = l.n;
    return 0;
}

static json_t *json_column(sqlite3_stmt *statement, int column)
{
    const char *text = sqlite3_column_blob(statement, column);

    return text ? json_loadb(text, (size_t)sqlite3_column_bytes(statement, column), JSON_ALLOW_NUL, NULL) : NULL;
}

/* With the histogram put back. NULL: damaged. */
static json_t *read_result(sqlite3_stmt *statement)
{
    json_t *result = json_column(statement, 0), *histogram;

    if (!result || sqlite3_column_type(statement, 1) == SQLITE_NULL)
        return result;
    histogram = json_column(statement, 1);
    if (json_object_set_new(result, "latency_histogram", histogram) < 0) {
        json_decref(result);
        return NULL;
    }
    return result;
}

int store_result(struct store *s, uint32_t row, json_t **ret, struct spur_error *e)
{
    json_t *result = NULL;
    sqlite3_stmt *statement;
    int rc, r = store_statement(s, STATEMENT_RESULT, &statement, e);

    if (r)
        return r;
    sqlite3_bind_int64(statement, 1, row);
    rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        result = read_result(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        r = database_error(&s->database, "sqlite3_step", e);
    else if (rc == SQLITE_ROW && !result)
        r = error_spur(e, SPUR_CODE_MISMATCH, "json_loadb", "%s: damaged: result of row %u", s->filename, row);
    sqlite3_reset(statement);
    if (!r)
        *ret = result;
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Facts
 */

static int read_facts(const struct store *s, sqlite3_stmt *statement, void *item)
{
    struct store_facts *facts = item;
    json_t *extract = json_column(statement, 1);

    facts_take(extract, facts);
    json_decref(extract);
    facts->row = database_column_index(statement, 0);
    return facts->row < s->experiment.n_rows ? 0 : -EILSEQ;
}

int store_facts(struct store *s, struct store_facts **ret, size_t *ret_n, struct spur_error *e)
{
    struct list l = {.size = sizeof(struct store_facts)};
    sqlite3_stmt *statement;
    int r = store_statement(s, STATEMENT_FACTS, &statement, e);

    if (!r)
        r = read_all(s, statement, read_facts, &l, e);
    if (r) {
        free(l.items);
        return r;
    }
    *ret = l.items;
    *ret_n = l.n;
    return 0;
}
