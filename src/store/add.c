/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/error.h"
#include "store/parts.h"
#include "store/words.h"

#define HISTOGRAM "latency_histogram"

/* NULL stands for "". */
static struct database_value of_word(const char *word)
{
    return of_text(*word ? word : NULL);
}

static int insert_trial(struct store *s, const struct store_trial *t, struct spur_error *e)
{
    const struct figures *f = &t->figures;
    sqlite3_stmt *insert;
    int r = store_statement(s, STATEMENT_ADD_TRIAL, &insert, e);

    if (r)
        return r;
    return DATABASE_RUN(
        &s->database, insert, e, of_index(t->row), of_text(word_of(status_words, t->status)),
        of_real(f->metric[METRIC_RATE]), of_real(f->metric[METRIC_REQUESTS]), of_real(f->metric[METRIC_P50]),
        of_real(f->metric[METRIC_P99]), of_real(f->metric[METRIC_CPU_PROCESS]), of_real(f->metric[METRIC_CPU_MACHINE]),
        of_real(f->process_user_cpus), of_real(f->process_system_cpus), of_real(f->machine_user_cpus),
        of_real(f->machine_system_cpus), of_real(f->wire[WIRE_IN_FLIGHT]), of_real(f->wire[WIRE_MEAN_BYTES]),
        of_real(f->wire[WIRE_SERVICE]), of_real(f->wire[WIRE_PER_REQUEST]), of_real(f->wire_retries),
        of_word(t->observed), of_word(t->served), of_word(t->verify), of_integer(t->emulated), of_integer(t->simulated),
        of_u64(t->began_realtime_ns), of_u64(t->t0_monotonic_ns), of_real(t->window_s), of_real(t->wall_s),
        of_text(t->error));
}

static int insert_json(struct store *s, enum store_statement which, uint32_t row, const json_t *json,
                       struct spur_error *e)
{
    _cleanup_free_ char *text = json_dumps(json, JSON_COMPACT);
    sqlite3_stmt *insert;
    int r;

    if (!text)
        return error_errno(e, ENOMEM, "json_dumps", "%s: result of row %u", s->filename, row);
    r = store_statement(s, which, &insert, e);
    return r ? r : DATABASE_RUN(&s->database, insert, e, of_index(row), of_text(text));
}

/* Anything that is no interval stays in the result alone. */
static int insert_intervals(struct store *s, uint32_t row, const json_t *intervals, struct spur_error *e)
{
    sqlite3_stmt *insert;
    int r = store_statement(s, STATEMENT_ADD_INTERVAL, &insert, e);

    for (size_t i = 0; !r && i < json_array_size(intervals); i++) {
        const json_t *item = json_array_get(intervals, i);
        const json_t *begin = json_object_get(item, "begin_s"), *end = json_object_get(item, "end_s");
        const json_t *bytes = json_object_get(item, "bytes"), *requests = json_object_get(item, "requests");

        if (!json_is_number(begin) || !json_is_number(end) || !json_is_integer(requests))
            continue;
        r = DATABASE_RUN(&s->database, insert, e, of_index(row), of_u64(i), of_real(json_number_value(begin)),
                         of_real(json_number_value(end)),
                         json_is_integer(bytes) ? of_integer(json_integer_value(bytes)) : of_text(NULL),
                         of_integer(json_integer_value(requests)));
    }
    return r;
}

static int insert_result(struct store *s, uint32_t row, const json_t *result, struct spur_error *e)
{
    const json_t *histogram = json_object_get(result, HISTOGRAM);
    json_t *rest;
    int r = 0;

    if (json_is_array(histogram))
        r = insert_json(s, STATEMENT_ADD_HISTOGRAM, row, histogram, e);
    if (!r)
        r = insert_intervals(s, row, json_object_get(result, "intervals"), e);
    if (r)
        return r;
    rest = json_copy((json_t *)result); /* shallow; changes nothing in it */
    if (rest && json_is_array(histogram))
        json_object_del(rest, HISTOGRAM);
    r = insert_json(s, STATEMENT_ADD_RESULT, row, rest, e);
    json_decref(rest);
    return r;
}

static int add_trial(struct store *s, const struct store_trial *t, struct spur_error *e)
{
    sqlite3_stmt *drop;
    int r = store_statement(s, STATEMENT_DROP_INTERRUPTED, &drop, e);

    if (!r)
        r = DATABASE_RUN(&s->database, drop, e, of_index(t->row));
    if (!r)
        r = insert_trial(s, t, e);
    if (r && sqlite3_extended_errcode(s->database.db) == SQLITE_CONSTRAINT_PRIMARYKEY)
        r = error_errno(e, EEXIST, "store_add_trial", "%s: row %u has its trial", s->filename, t->row);
    return r || !t->result ? r : insert_result(s, t->row, t->result, e);
}

int store_add_trial(struct store *s, const struct store_trial *t, struct spur_error *e)
{
    int r;

    if (t->row >= s->experiment.n_rows || !word_of(status_words, t->status))
        return error_spur(e, SPUR_CODE_USAGE, "store_add_trial", "%s: row %u: not in the plan, or its status unknown",
                          s->filename, t->row);
    if (s->lock.fd < 0)
        return error_errno(e, EBADF, "store_add_trial", "%s: is open for reading", s->filename);
    r = database_exec(&s->database, "BEGIN IMMEDIATE", e);
    if (!r)
        r = add_trial(s, t, e);
    if (!r)
        r = database_exec(&s->database, "COMMIT", e);
    if (r && !sqlite3_get_autocommit(s->database.db))
        sqlite3_exec(s->database.db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

static bool is_index(uint32_t i, size_t n)
{
    return i == EXPERIMENT_NONE || i < n;
}

int store_add_event(struct store *s, const struct store_event *event, struct spur_error *e)
{
    const char *kind = word_of(event_words, event->kind);
    sqlite3_stmt *insert;
    int r;

    if (!kind || !is_index(event->cell, s->experiment.n_cells) || !is_index(event->arm, s->experiment.n_arms))
        return error_spur(e, SPUR_CODE_USAGE, "store_add_event", "%s: unknown kind, cell or arm", s->filename);
    if (s->lock.fd < 0)
        return error_errno(e, EBADF, "store_add_event", "%s: is open for reading", s->filename);
    r = store_statement(s, STATEMENT_ADD_EVENT, &insert, e);
    if (r)
        return r;
    return DATABASE_RUN(&s->database, insert, e, of_text(kind), of_u64(event->realtime_ns), of_index(event->block),
                        of_index(event->cell), of_index(event->arm), of_text(event->text));
}
