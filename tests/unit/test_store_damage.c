/* SPDX-License-Identifier: MIT */
/* Files that were cut, overwritten or edited: an error, never a wrong answer that could be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>

#include "store_fixture.h"

/* Reads everything; the first error. */
static int read_everything(const char *name, struct spur_error *e)
{
    struct store *s;
    struct store_trial *trials;
    struct store_event *events;
    struct store_interval *intervals;
    json_t *result = NULL;
    size_t n;
    int r = store_open(name, false, &s, e);

    if (r)
        return r;
    r = store_trials(s, &trials, &n, e);
    if (!r)
        store_trials_free(trials, n);
    if (!r && !(r = store_events(s, &events, &n, e)))
        store_events_free(events, n);
    if (!r && !(r = store_intervals(s, EXPERIMENT_NONE, &intervals, &n, e)))
        free(intervals);
    for (uint32_t row = 0; !r && row < store_experiment(s)->n_rows; row++) {
        r = store_result(s, row, &result, e);
        json_decref(r ? NULL : result);
    }
    store_close(s);
    return r;
}

static void cut_short(void **state)
{
    struct fixture f;
    struct spur_error e;
    struct stat st;
    struct store *s;

    fixture_set_up(&f);
    s = fixture_create(&f);
    fixture_fill(s);
    store_close(s);
    assert_int_equal(read_everything(f.file, &e), 0);
    assert_int_equal(stat(f.file, &st), 0);
    for (off_t size = st.st_size - 100; size > 4096; size -= 8192 + 100) {
        assert_int_equal(truncate(f.file, size), 0);
        assert_error(read_everything(f.file, &e), -EILSEQ, &e, "damaged");
        assert_error(fixture_try_open(f.file, true, &e), -EILSEQ, &e, "damaged");
    }
    fixture_tear_down(&f);
}

/* A page of noise anywhere: an error or no difference, never a crash. Opening for more finds each one. */
static void overwritten_page(void **state)
{
    struct fixture f;
    struct spur_error e;
    struct stat st;
    struct store *s;
    unsigned n_found = 0;
    char page[4096], noise[4096];
    int fd;

    fixture_set_up(&f);
    s = fixture_create(&f);
    fixture_fill(s);
    store_close(s);
    memset(noise, 0xa5, sizeof(noise));
    fd = open(f.file, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 4096; at < st.st_size; at += 4096) {
        int r;

        assert_int_equal(pread(fd, page, 4096, at), 4096);
        assert_int_equal(pwrite(fd, noise, 4096, at), 4096);
        r = read_everything(f.file, &e);
        if (r)
            assert_error(r, -EILSEQ, &e, "damaged");
        n_found += r != 0;
        assert_error(fixture_try_open(f.file, true, &e), -EILSEQ, &e, "damaged");
        assert_int_equal(pwrite(fd, page, 4096, at), 4096);
    }
    assert_true(n_found > st.st_size / 4096 / 2);
    close(fd);
    fixture_tear_down(&f);
}

static void assert_damage(const struct fixture *f, const char *sql)
{
    struct spur_error e;
    char copy[400];
    sqlite3 *db, *to;
    sqlite3_backup *backup;

    fixture_name(f, "copy", copy);
    unlink(copy);
    assert_int_equal(sqlite3_open(f->file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_open(copy, &to), SQLITE_OK);
    backup = sqlite3_backup_init(to, "main", db, "main");
    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    sqlite3_backup_finish(backup);
    sqlite3_close(db);
    if (sqlite3_exec(to, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(to));
    sqlite3_close(to);
    assert_error(read_everything(copy, &e), -EILSEQ, &e, "damaged");
}

/* Whole as a database, but not what spur wrote. */
static void edited_by_hand(void **state)
{
    struct store_event event = {EVENT_STOPPED, 1, 0, 0, 0, NULL};
    struct fixture f;
    struct store *s;

    fixture_set_up(&f);
    s = fixture_create(&f);
    fixture_fill(s);
    assert_int_equal(store_add_event(s, &event, NULL), 0);
    store_close(s);
    assert_damage(&f, "UPDATE experiment SET value = '{' WHERE key = 'plan'");
    assert_damage(&f, "UPDATE experiment SET value = '{}' WHERE key = 'plan'");
    assert_damage(&f, "DELETE FROM experiment WHERE key = 'identity'");
    assert_damage(&f, "UPDATE experiment SET value = NULL WHERE key = 'environment'");
    assert_damage(&f, "UPDATE trials SET status = 'fine' WHERE row = 3");
    assert_damage(&f, "UPDATE trials SET row = 100000 WHERE row = 3");
    assert_damage(&f, "UPDATE results SET json = '[' WHERE row = 3");
    assert_damage(&f, "INSERT INTO histograms VALUES (3, 'none')");
    assert_damage(&f, "UPDATE events SET kind = 'party'");
    assert_damage(&f, "UPDATE events SET cell = 4");
    assert_damage(&f, "UPDATE events SET arm = 'x'");
    assert_damage(&f, "INSERT INTO intervals VALUES (100000, 0, 0, 1, 2, 3)");
    assert_damage(&f, "DROP VIEW figures; DROP VIEW ratios; DROP TABLE events");
    fixture_tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_short),
        cmocka_unit_test(overwritten_page),
        cmocka_unit_test(edited_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
