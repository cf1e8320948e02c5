/* SPDX-License-Identifier: MIT */
/* What goes into a results file comes out of it: plan, trials, results, intervals, events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "store_fixture.h"

/* ------------------------------------------------------------------------------------------------
 * The file
 */

static void plan_in_file(void **state)
{
    struct fixture f;
    struct store *s;

    fixture_set_up(&f);
    s = fixture_create(&f);
    for (int i = 0; i < 2; i++) {
        assert_same_plan(&f.x, store_experiment(s));
        assert_true(json_equal(f.identity, store_identity(s)));
        assert_true(json_equal(f.environment, store_environment(s)));
        store_close(s);
        s = fixture_open(&f, i);
    }
    store_close(s);
    assert_int_equal(fixture_count_entries(f.folder), 1); /* neither journal nor lock is left */
    fixture_tear_down(&f);
}

static json_t *make_result(uint32_t row)
{
    return json_pack("{s:i, s:f, s:[[I,I],[I,I]], s:s%, s:[{s:f,s:f,s:i,s:i},{s:f,s:f,s:n,s:i},{s:n,s:n}]}", "row",
                     (int)row, "real", 0.1 + row, "latency_histogram", (json_int_t)1 << 40, (json_int_t)row,
                     (json_int_t)1 << 62, (json_int_t)2, "nul", "a\0b", (size_t)3, "intervals", "begin_s", 0.0, "end_s",
                     0.5, "bytes", 1 << 20, "requests", (int)row, "begin_s", 0.5, "end_s", 1.0, "bytes", "requests", 7,
                     "begin_s", "end_s");
}

static void assert_result(struct store *s, uint32_t row, const json_t *expected)
{
    json_t *result = (json_t *)1;

    assert_int_equal(store_result(s, row, &result, NULL), 0);
    assert_true(expected ? json_equal(result, expected) : !result);
    json_decref(result);
}

static void assert_intervals(struct store *s, uint32_t row, size_t n, uint32_t first_row)
{
    struct store_interval *intervals;
    size_t count;

    assert_int_equal(store_intervals(s, row, &intervals, &count, NULL), 0);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(intervals[i].row, first_row + i / 2);
        assert_same_real(intervals[i].begin_s, i % 2 ? 0.5 : 0);
        assert_same_real(intervals[i].end_s, i % 2 ? 1 : 0.5);
        assert_same_real(intervals[i].bytes, i % 2 ? NAN : 1 << 20);
        assert_int_equal(intervals[i].requests, i % 2 ? 7 : first_row + i / 2);
    }
    free(intervals);
}

/* Four statuses; added from the last row to the first, read back in the order of rows. */
static void trials(void **state)
{
    struct fixture f;
    struct store *s;
    static char odd[] = ODD_NAME;
    struct store_trial expected[4], *back;
    size_t n;

    fixture_set_up(&f);
    s = fixture_create(&f);
    for (int i = 3; i >= 0; i--) {
        json_t *result = i == 3 ? NULL : make_result((uint32_t)i);

        expected[i] = fixture_trial((uint32_t)i);
        expected[i].status = (enum trial_status)i;
        expected[i].error = i ? odd : NULL;
        expected[i].result = result;
        assert_int_equal(store_add_trial(s, &expected[i], NULL), 0);
        json_decref(result);
    }
    store_close(s);
    s = fixture_open(&f, false);
    assert_int_equal(store_trials(s, &back, &n, NULL), 0);
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        json_t *result = i == 3 ? NULL : make_result(i);

        assert_same_trial(&expected[i], &back[i]);
        assert_null(back[i].result);
        assert_result(s, i, result);
        json_decref(result);
    }
    assert_result(s, 4, NULL);
    assert_intervals(s, 1, 2, 1);
    assert_intervals(s, 3, 0, 0);
    assert_intervals(s, EXPERIMENT_NONE, 6, 0);
    store_trials_free(back, n);
    store_close(s);
    fixture_tear_down(&f);
}

static void words_that_are_null(void **state)
{
    struct fixture f;
    struct store *s;
    struct store_trial t = fixture_trial(0), *back;
    size_t n;

    fixture_set_up(&f);
    s = fixture_create(&f);
    t.observed[0] = t.served[0] = t.verify[0] = 0;
    t.simulated = true;
    t.emulated = false;
    t.window_s = NAN;
    t.began_realtime_ns = UINT64_MAX;
    for (int m = 0; m < N_METRICS; m++)
        t.figures.metric[m] = NAN;
    assert_int_equal(store_add_trial(s, &t, NULL), 0);
    assert_int_equal(store_trials(s, &back, &n, NULL), 0);
    assert_int_equal(n, 1);
    assert_same_trial(&t, back);
    store_trials_free(back, n);
    store_close(s);
    fixture_tear_down(&f);
}

/* Histograms that are none stay where they are; an empty one is not the same as none. */
static void odd_results(void **state)
{
    static const char *const texts[] = {"{}", "{\"latency_histogram\":null}", "{\"latency_histogram\":[]}",
                                        "{\"intervals\":{}}", "{\"intervals\":[1,{}],\"latency_histogram\":3}"};
    struct fixture f;
    struct store *s;

    fixture_set_up(&f);
    s = fixture_create(&f);
    for (uint32_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct store_trial t = fixture_trial(i);
        json_t *result = json_loads(texts[i], 0, NULL);

        t.result = result;
        assert_int_equal(store_add_trial(s, &t, NULL), 0);
        assert_result(s, i, result);
        json_decref(result);
    }
    assert_intervals(s, EXPERIMENT_NONE, 0, 0);
    store_close(s);
    fixture_tear_down(&f);
}

/* An interrupted trial gives way with all that belongs to it; any other stays. */
static void run_again(void **state)
{
    struct fixture f;
    struct store *s;
    struct store_trial t = fixture_trial(2), *back;
    struct spur_error e;
    json_t *result = make_result(2);
    size_t n;

    fixture_set_up(&f);
    s = fixture_create(&f);
    t.status = TRIAL_INTERRUPTED;
    t.result = result;
    assert_int_equal(store_add_trial(s, &t, NULL), 0);
    t.status = TRIAL_FAILED;
    t.result = NULL;
    assert_int_equal(store_add_trial(s, &t, NULL), 0);
    assert_result(s, 2, NULL);
    assert_intervals(s, EXPERIMENT_NONE, 0, 0);
    t.status = TRIAL_OK;
    assert_int_equal(store_add_trial(s, &t, &e), -EEXIST);
    t.row = (uint32_t)f.x.n_rows;
    assert_int_equal(store_add_trial(s, &t, &e), -EINVAL);
    t.row = 3; /* the failed attempts left no transaction open */
    assert_int_equal(store_add_trial(s, &t, NULL), 0);
    assert_int_equal(store_trials(s, &back, &n, NULL), 0);
    assert_int_equal(n, 2);
    assert_int_equal(back[0].status, TRIAL_FAILED);
    store_trials_free(back, n);
    store_close(s);
    json_decref(result);
    fixture_tear_down(&f);
}

static void events(void **state)
{
    struct store_event expected[] = {
        {EVENT_STARTED, 1, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, (char[]){ODD_NAME}},
        {EVENT_STOPPED, UINT64_MAX, 2, 3, 1, (char[]){"three failures"}},
        {EVENT_DECIDED, 3, 5, 2, EXPERIMENT_NONE, NULL},
        {EVENT_LIMIT, 4, 0, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL},
        {EVENT_PREPARED, 5, 1, EXPERIMENT_NONE, EXPERIMENT_NONE, (char[]){""}},
        {EVENT_FINISHED, 6, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL},
        {EVENT_INTERRUPTED, 7, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL},
    };
    struct store_event *back, bad = {EVENT_DECIDED, 1, 0, 4, EXPERIMENT_NONE, NULL};
    struct fixture f;
    struct store *s;
    size_t n;

    fixture_set_up(&f);
    s = fixture_create(&f);
    assert_int_equal(store_events(s, &back, &n, NULL), 0);
    assert_int_equal(n, 0);
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        assert_int_equal(store_add_event(s, &expected[i], NULL), 0);
    assert_int_equal(store_add_event(s, &bad, NULL), -EINVAL);
    store_close(s);
    s = fixture_open(&f, false);
    assert_int_equal(store_add_event(s, &expected[0], NULL), -EBADF);
    assert_int_equal(store_events(s, &back, &n, NULL), 0);
    assert_int_equal(n, ARRAY_SIZE(expected));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(back[i].kind, expected[i].kind);
        assert_int_equal(back[i].realtime_ns, expected[i].realtime_ns);
        assert_int_equal(back[i].block, expected[i].block);
        assert_int_equal(back[i].cell, expected[i].cell);
        assert_int_equal(back[i].arm, expected[i].arm);
        assert_same_text(back[i].text, expected[i].text);
    }
    store_events_free(back, n);
    store_close(s);
    fixture_tear_down(&f);
}

/* ------------------------------------------------------------------------------------------------
 * Tables, as people see them
 */

static double query(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    double value;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    value = sqlite3_column_type(statement, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void tables(void **state)
{
    struct fixture f;
    struct store *s;
    sqlite3 *db;

    fixture_set_up(&f);
    s = fixture_create(&f);
    for (uint32_t i = 0; i < 3; i++) {
        struct store_trial t = fixture_trial(i);
        json_t *result = make_result(i);

        t.result = result;
        assert_int_equal(store_add_trial(s, &t, NULL), 0);
        json_decref(result);
    }
    assert_int_equal(sqlite3_open_v2(f.file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_true(query(db, "SELECT count(*) FROM plan") == (double)f.x.n_rows);
    assert_true(query(db, "SELECT count(*) FROM arms WHERE is_baseline AND name = 'odirect'") == 1);
    assert_true(query(db, "SELECT arm FROM arms WHERE is_aa") == 2);
    assert_true(query(db, "SELECT arm FROM arms WHERE typeof(name) = 'blob'") == 1); /* not UTF-8 */
    assert_true(query(db, "SELECT count(*) FROM arms WHERE typeof(name) = 'text'") == 2);
    assert_true(query(db, "SELECT count(*) FROM pairs WHERE state = 'planned'") == 10);
    assert_true(query(db, "SELECT arm FROM pairs WHERE reason = 'no such road'") == 1);
    assert_true(query(db, "SELECT number FROM points WHERE cell = 2 AND key = 'request'") == 65536);
    assert_true(isnan(query(db, "SELECT number FROM points WHERE cell = 2 AND key = 'mount'")));
    assert_true(query(db, "SELECT value FROM experiment WHERE key = 'margin'") == 0.03);
    assert_true(query(db, "SELECT number FROM common_settings WHERE value = '10s'") == 2);
    assert_true(query(db, "SELECT predecessor IS NULL FROM plan WHERE row = 0") == 1);
    assert_true(isnan(query(db, "SELECT machine_user_cpus FROM trials WHERE row = 1")));
    assert_true(query(db, "SELECT bytes_per_second FROM figures WHERE row = 2 AND name = 'odirect again'") == 2);
    /* row 0 is the baseline; the rate of row 2 is 2, but the baseline's is 0: p50 is row + 2/7 */
    assert_true(fabs(query(db, "SELECT latency_p50_ratio FROM ratios WHERE arm = 2") - 8) < 1e-9);
    assert_true(query(db, "SELECT sum(json_extract(value, '$[1]')) FROM histograms, json_each(buckets)") == 9);
    assert_true(query(db, "SELECT count(*) FROM results WHERE json LIKE '%latency_histogram%'") == 0);
    assert_true(query(db, "SELECT json_extract(json, '$.row') FROM results WHERE row = 1") == 1);
    assert_true(query(db, "PRAGMA user_version") == STORE_VERSION);
    assert_true(query(db, "PRAGMA application_id") == 0x73707572);
    sqlite3_close(db);
    store_close(s);
    fixture_tear_down(&f);
}

/* malloc'd. */
static char *read_document(void)
{
    FILE *file = fopen(SPUR_RESULTS_DOC, "r");
    char *text = fixture_zeroed(1, 1 << 16);
    size_t n;

    assert_non_null(file);
    n = fread(text, 1, 1 << 16, file);
    assert_in_range(n, 1, (1 << 16) - 1);
    fclose(file);
    return text;
}

/* Each table and column of a fresh file is named in the document, where it describes that table. */
static void document(void **state)
{
    char *text = read_document();
    struct fixture f;
    sqlite3_stmt *statement;
    unsigned n = 0;
    sqlite3 *db;

    fixture_set_up(&f);
    store_close(fixture_create(&f));
    assert_int_equal(sqlite3_open_v2(f.file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
                                        " WHERE m.type IN ('table', 'view')",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; n++) {
        char word[100], *section, *end, *found;

        snprintf(word, sizeof(word), "\n## `%s`", sqlite3_column_text(statement, 0));
        section = strstr(text, word);
        if (!section) {
            fail_msg("no section on %s", sqlite3_column_text(statement, 0));
            break; /* not reached */
        }
        end = strstr(section + 1, "\n## ");
        snprintf(word, sizeof(word), "| `%s` |", sqlite3_column_text(statement, 1));
        found = strstr(section, word);
        if (!found || (end && found > end))
            fail_msg("%s: no row on %s", sqlite3_column_text(statement, 0), sqlite3_column_text(statement, 1));
    }
    assert_true(n > 60);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    free(text);
    fixture_tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_in_file), cmocka_unit_test(trials),    cmocka_unit_test(words_that_are_null),
        cmocka_unit_test(odd_results),  cmocka_unit_test(run_again), cmocka_unit_test(events),
        cmocka_unit_test(tables),       cmocka_unit_test(document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
