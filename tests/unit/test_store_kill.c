/* SPDX-License-Identifier: MIT */
/* kill -9 of a writer at any moment: what it had reported is there, the plan is whole, the next writer may go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <time.h>

#include "store_fixture.h"

#define N_KILLS 20

/* The result is big enough to spread a transaction over many pages. */
static json_t *make_result(uint32_t row)
{
    json_t *result = json_object(), *numbers = json_array();

    for (uint32_t i = 0; i < 2000; i++)
        json_array_append_new(numbers, json_integer(row * 2000 + i));
    json_object_set_new(result, "numbers", numbers);
    return result;
}

/* Adds trials from @first on, and says so after each. */
static _Noreturn void write_trials(const struct fixture *f, uint32_t first, int fd)
{
    struct store *s;

    if (store_open(f->file, true, &s, NULL) < 0)
        _exit(1);
    for (uint32_t row = first; row < store_experiment(s)->n_rows; row++) {
        struct store_trial t = fixture_trial(row);
        json_t *result = make_result(row);

        t.result = result;
        if (store_add_trial(s, &t, NULL) < 0 || write(fd, &row, sizeof(row)) != sizeof(row))
            _exit(1);
        json_decref(result);
    }
    _exit(0);
}

static void check_trials(struct store *s, size_t n)
{
    struct store_trial *trials;
    size_t count;

    assert_int_equal(store_trials(s, &trials, &count, NULL), 0);
    assert_int_equal(count, n);
    for (uint32_t row = 0; row < n; row++) {
        struct store_trial expected = fixture_trial(row);
        json_t *result = make_result(row), *back;

        assert_same_trial(&expected, &trials[row]);
        assert_int_equal(store_result(s, row, &back, NULL), 0);
        assert_true(json_equal(result, back));
        json_decref(result);
        json_decref(back);
    }
    store_trials_free(trials, count);
}

static void check_pages(const char *name)
{
    sqlite3_stmt *statement;
    sqlite3 *db;

    assert_int_equal(sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(statement, 0), "ok");
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static size_t count_trials(struct store *s)
{
    struct store_trial *trials;
    size_t n;

    assert_int_equal(store_trials(s, &trials, &n, NULL), 0);
    store_trials_free(trials, n);
    return n;
}

/* Starts a writer at row @n, kills it some time after its first report and returns how many trials are reported. */
static uint32_t kill_writer(const struct fixture *f, uint32_t n)
{
    struct spur_error e;
    struct store *s;
    uint32_t row;
    pid_t pid;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        close(fds[0]);
        write_trials(f, n, fds[1]);
    }
    close(fds[1]);
    for (int i = 0; read(fds[0], &row, sizeof(row)) == sizeof(row); i++, n++) {
        assert_int_equal(row, n);
        if (i)
            continue;
        assert_int_equal(store_open(f->file, true, &s, &e), -EPERM); /* it lives */
        usleep((useconds_t)rand() % 12000);
        assert_int_equal(kill(pid, SIGKILL), 0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(fds[0]);
    return n;
}

static void killed_while_adding(void **state)
{
    struct fixture f;
    uint32_t n = 0;

    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    fixture_set_up(&f);
    experiment_free(&f.x);
    fixture_plan(&f.x, 400);
    store_close(fixture_create(&f));
    for (int i = 0; i < N_KILLS; i++) {
        uint32_t reported = kill_writer(&f, n);
        struct store *s = fixture_open(&f, i % 2);

        n = (uint32_t)count_trials(s);
        if (n != reported && n != reported + 1) /* stored, but killed before it could say so */
            fail_msg("%u reported, %u stored", reported, n);
        assert_true(n < f.x.n_rows);
        check_trials(s, n);
        assert_same_plan(&f.x, store_experiment(s));
        store_close(s);
        check_pages(f.file);
    }
    fixture_tear_down(&f);
}

/* ------------------------------------------------------------------------------------------------
 * A journal to roll back
 */

static void copy(const char *from, const char *to)
{
    static char buffer[1 << 20];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    size_t n;

    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(buffer, 1, sizeof(buffer), in)))
        assert_int_equal(fwrite(buffer, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* A process that dies with pages of an open transaction written: with a cache of one page they go out at once. */
static void die_in_transaction(const struct fixture *f)
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        sqlite3 *db;

        if (sqlite3_open(f->file, &db) ||
            sqlite3_exec(db, "PRAGMA cache_size = 1; BEGIN; DELETE FROM results; DELETE FROM trials; DELETE FROM plan",
                         NULL, NULL, NULL))
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static int read_as_nobody(const struct fixture *f, char *ret_detail, size_t size)
{
    struct spur_error e = {0};
    struct store *s;
    int fds[2], r = 0;

    assert_int_equal(pipe(fds), 0);
    if (!fork()) {
        if (geteuid() == 0 && setuid(65534) < 0)
            _exit(1);
        r = store_open(f->file, false, &s, &e);
        if (write(fds[1], &r, sizeof(r)) < 0 || write(fds[1], e.detail, strlen(e.detail)) < 0)
            _exit(1);
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &r, sizeof(r)), sizeof(r));
    wait(NULL);
    memset(ret_detail, 0, size);
    assert_true(read(fds[0], ret_detail, size - 1) >= 0);
    close(fds[0]);
    return r;
}

static void rolled_back(void **state)
{
    char journal[100], saved[100], saved_journal[100], detail[600];
    struct fixture f;
    struct store *s;

    fixture_set_up(&f);
    s = fixture_create(&f);
    for (uint32_t row = 0; row < 20; row++) {
        struct store_trial t = fixture_trial(row);
        json_t *result = make_result(row);

        t.result = result;
        assert_int_equal(store_add_trial(s, &t, NULL), 0);
        json_decref(result);
    }
    store_close(s);
    die_in_transaction(&f);
    snprintf(journal, sizeof(journal), "%s-journal", f.file);
    snprintf(saved, sizeof(saved), "%s.saved", f.file);
    snprintf(saved_journal, sizeof(saved_journal), "%s.saved-journal", f.file);
    copy(f.file, saved);
    copy(journal, saved_journal);
    /* Who may not write cannot roll back, and is told so. */
    assert_int_equal(chmod(f.file, 0444), 0);
    assert_int_equal(chmod(journal, 0444), 0);
    assert_int_equal(chmod(f.folder, 0555), 0);
    assert_int_equal(read_as_nobody(&f, detail, sizeof(detail)), -EACCES);
    assert_non_null(strstr(detail, "rolled back"));
    assert_int_equal(chmod(f.folder, 0700), 0);
    assert_int_equal(chmod(f.file, 0600), 0);
    assert_int_equal(chmod(journal, 0600), 0);
    for (int write = 0; write < 2; write++) {
        copy(saved, f.file);
        copy(saved_journal, journal);
        s = fixture_open(&f, write);
        check_trials(s, 20);
        assert_same_plan(&f.x, store_experiment(s));
        store_close(s);
        assert_int_equal(access(journal, F_OK), -1);
    }
    fixture_tear_down(&f);
}

/* Killed at any moment of its making, a file is whole or not there. */
static void killed_while_creating(void **state)
{
    struct fixture f;
    unsigned n_absent = 0, n_whole = 0;
    uint64_t took_ns;

    fixture_set_up(&f);
    experiment_free(&f.x);
    fixture_plan(&f.x, 300);
    took_ns = now_ns();
    store_close(fixture_create(&f));
    took_ns = now_ns() - took_ns;
    unlink(f.file);
    for (int i = 0; i < 16; i++) {
        pid_t pid = fork();
        struct store *s;

        if (!pid) {
            store_create(f.file, &f.x, f.identity, f.environment, &s, NULL);
            _exit(0);
        }
        usleep((useconds_t)(took_ns / 1000 * (unsigned)i / 12));
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        if (access(f.file, F_OK) < 0) {
            n_absent++;
            continue;
        }
        n_whole++;
        s = fixture_open(&f, true);
        assert_same_plan(&f.x, store_experiment(s));
        store_close(s);
        unlink(f.file);
    }
    print_message("absent %u, whole %u\n", n_absent, n_whole);
    assert_true(n_absent > 0);
    fixture_tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_while_adding),
        cmocka_unit_test(rolled_back),
        cmocka_unit_test(killed_while_creating),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
