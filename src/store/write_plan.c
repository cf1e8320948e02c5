/* SPDX-License-Identifier: MIT */
/* The plan twice: as a document, which is what is read back, and as tables, which people can query. */
#include <errno.h>
#include <stdio.h>

#include "core/error.h"
#include "store/parts.h"
#include "store/text.h"
#include "store/words.h"

/* ------------------------------------------------------------------------------------------------
 * Tables
 */

static int write_common(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < x->common.n; i++)
        r = DATABASE_RUN(d, insert, e, of_u64(i), of_text(x->common.items[i].key), of_text(x->common.items[i].value));
    return r;
}

static int write_arms(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < x->n_arms; i++)
        r = DATABASE_RUN(d, insert, e, of_u64(i), of_text(x->arms[i].name), of_integer(i == x->baseline),
                         of_integer(x->arms[i].is_aa));
    return r;
}

static int write_arm_settings(struct database *d, sqlite3_stmt *insert, const struct experiment *x,
                              struct spur_error *e)
{
    int r = 0;

    for (size_t a = 0; a < x->n_arms; a++) {
        const struct experiment_settings *s = &x->arms[a].settings;

        for (size_t i = 0; !r && i < s->n; i++)
            r = DATABASE_RUN(d, insert, e, of_u64(a), of_u64(i), of_text(s->items[i].key), of_text(s->items[i].value));
    }
    return r;
}

static int write_axes(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < x->n_axes; i++)
        r = DATABASE_RUN(d, insert, e, of_u64(i), of_text(x->axes[i].key),
                         of_text(word_of(unit_words, x->axes[i].unit)), of_integer(x->axes[i].is_label),
                         of_text(x->axes[i].prepare_command));
    return r;
}

static int write_axis_values(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t a = 0; a < x->n_axes; a++)
        for (size_t i = 0; !r && i < x->axes[a].n_values; i++)
            r = DATABASE_RUN(d, insert, e, of_u64(a), of_u64(i), of_text(x->axes[a].values[i].text),
                             of_real(x->axes[a].values[i].number));
    return r;
}

static int write_cells(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < x->n_cells; i++)
        r = DATABASE_RUN(d, insert, e, of_u64(i), of_text(x->cells[i].label));
    return r;
}

static int write_cell_values(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t c = 0; c < x->n_cells; c++)
        for (size_t a = 0; !r && a < x->n_axes; a++)
            r = DATABASE_RUN(d, insert, e, of_u64(c), of_u64(a), of_index(x->cells[c].value[a]));
    return r;
}

static int write_pairs(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t c = 0; c < x->n_cells; c++) {
        const struct experiment_pair *pairs = x->cells[c].pairs;

        for (size_t a = 0; !r && a < x->n_arms; a++)
            r = DATABASE_RUN(d, insert, e, of_u64(c), of_u64(a), of_text(word_of(state_words, pairs[a].state)),
                             of_text(pairs[a].reason));
    }
    return r;
}

static int write_rows(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < x->n_rows; i++) {
        const struct experiment_row *row = &x->rows[i];

        r = DATABASE_RUN(d, insert, e, of_u64(i), of_index(row->block), of_index(row->cell), of_index(row->arm),
                         of_index(row->cell_position), of_index(row->arm_position), of_index(row->predecessor),
                         of_u64(row->seed));
    }
    return r;
}

static const struct {
    const char *sql;
    int (*write)(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e);
} tables[] = {
    {"INSERT INTO common_settings VALUES (?, ?, ?)", write_common},
    {"INSERT INTO arms VALUES (?, ?, ?, ?)", write_arms},
    {"INSERT INTO arm_settings VALUES (?, ?, ?, ?)", write_arm_settings},
    {"INSERT INTO axes VALUES (?, ?, ?, ?, ?)", write_axes},
    {"INSERT INTO axis_values VALUES (?, ?, ?, ?)", write_axis_values},
    {"INSERT INTO cells VALUES (?, ?)", write_cells},
    {"INSERT INTO cell_values VALUES (?, ?, ?)", write_cell_values},
    {"INSERT INTO pairs VALUES (?, ?, ?, ?)", write_pairs},
    {"INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?)", write_rows},
};

static int write_tables(struct database *d, const struct experiment *x, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < ARRAY_SIZE(tables); i++) {
        sqlite3_stmt *insert = NULL;

        r = database_prepare(d, tables[i].sql, &insert, e);
        if (!r)
            r = tables[i].write(d, insert, x, e);
        sqlite3_finalize(insert);
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Table `experiment`
 */

static int write_json(struct database *d, sqlite3_stmt *insert, const char *key, const json_t *json,
                      struct spur_error *e)
{
    _cleanup_free_ char *text = json_dumps(json, JSON_COMPACT);

    if (!text)
        return error_errno(e, ENOMEM, "json_dumps", "%s: %s", d->filename, key);
    return DATABASE_RUN(d, insert, e, of_text(key), of_text(text));
}

static int write_keys(struct database *d, sqlite3_stmt *insert, const struct experiment *x, struct spur_error *e)
{
    struct timespec now;
    int r = 0;

    clock_gettime(CLOCK_REALTIME, &now);
    const struct {
        const char *key;
        struct database_value value;
    } rows[] = {
        {"spur", of_text(spur_version())},
        {"created_realtime_ns", of_integer((int64_t)now.tv_sec * 1000000000 + now.tv_nsec)},
        {"command", of_text(x->command)},
        {"memory", of_text(x->memory)},
        {"n_blocks", of_index(x->n_blocks)},
        {"until_decided", of_integer(x->until_decided)},
        {"quick", of_integer(x->quick)},
        {"region", of_text(word_of(region_words, x->region))},
        {"margin", of_real(x->margin)},
        {"alpha", of_real(x->alpha)},
        {"seed", of_u64(x->seed)},
        {"limit_ns", of_u64(x->limit_ns)},
    };
    for (size_t i = 0; !r && i < ARRAY_SIZE(rows); i++)
        r = DATABASE_RUN(d, insert, e, of_text(rows[i].key), rows[i].value);
    return r;
}

static int write_experiment(struct database *d, const struct experiment *x, const json_t *plan, const json_t *identity,
                            const json_t *environment, struct spur_error *e)
{
    sqlite3_stmt *insert = NULL;
    int r = database_prepare(d, "INSERT INTO experiment VALUES (?, ?)", &insert, e);

    if (!r)
        r = write_keys(d, insert, x, e);
    if (!r)
        r = write_json(d, insert, "plan", plan, e);
    if (!r)
        r = write_json(d, insert, "identity", identity, e);
    if (!r)
        r = write_json(d, insert, "environment", environment, e);
    sqlite3_finalize(insert);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

/* What cannot be read back must not be written. */
static int check_plan(const json_t *plan, const char *filename, struct spur_error *e)
{
    struct experiment x;
    int r = plan ? experiment_from_json(plan, &x) : -EINVAL;

    if (r == -EINVAL)
        return error_spur(e, SPUR_CODE_USAGE, "store_create", "%s: the plan is not consistent", filename);
    if (r)
        return error_errno(e, -r, "store_create", "%s", filename);
    experiment_free(&x);
    return 0;
}

static int set_ids(struct database *d, struct spur_error *e)
{
    char sql[100];

    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID,
             STORE_VERSION);
    return database_exec(d, sql, e);
}

static int write_all(struct database *d, const struct experiment *x, const json_t *plan, const json_t *identity,
                     const json_t *environment, struct spur_error *e)
{
    int r = database_set_up_writing(d, e);

    if (!r)
        r = database_exec(d, "BEGIN IMMEDIATE", e);
    if (!r)
        r = set_ids(d, e);
    if (!r)
        r = database_exec(d, store_schema, e);
    if (!r)
        r = write_experiment(d, x, plan, identity, environment, e);
    if (!r)
        r = write_tables(d, x, e);
    return r ? r : database_exec(d, "COMMIT", e);
}

int store_write_plan(const char *real, const char *filename, const struct experiment *x, const json_t *identity,
                     const json_t *environment, struct spur_error *e)
{
    json_t *plan = experiment_to_json(x);
    struct database d;
    int r = check_plan(plan, filename, e);

    if (!r)
        r = database_open(&d, real, filename, SQLITE_OPEN_READWRITE, e);
    if (!r) {
        r = write_all(&d, x, plan, identity, environment, e);
        database_close(&d);
    }
    json_decref(plan);
    return r;
}
