/* SPDX-License-Identifier: MIT */
/* One writer, many readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>

#include "store_fixture.h"

static void second_writer(void **state)
{
    struct store_trial t = fixture_trial(0), *back;
    struct fixture f;
    struct spur_error e;
    struct store *s, *reader;
    char name[400], pid[32];
    size_t n;

    fixture_set_up(&f);
    s = fixture_create(&f);
    snprintf(pid, sizeof(pid), "process %ld on ", (long)getpid());
    assert_error(fixture_try_open(f.file, true, &e), -EPERM, &e, pid);
    assert_non_null(strstr(e.remedy, "spur report"));
    fixture_name(&f, "link", name);
    assert_int_equal(symlink("results", name), 0);
    assert_error(fixture_try_open(name, true, &e), -EPERM, &e, pid);
    /* The refused attempts and a reader left SQLite's own locks alone. */
    reader = fixture_open(&f, false);
    assert_int_equal(store_add_trial(s, &t, NULL), 0);
    assert_int_equal(store_trials(reader, &back, &n, NULL), 0);
    assert_int_equal(n, 1);
    store_trials_free(back, n);
    store_close(reader);
    store_close(s);
    assert_int_equal(fixture_try_open(name, true, &e), 0);
    fixture_name(&f, "hard", name);
    assert_int_equal(link(f.file, name), 0);
    assert_error(fixture_try_open(name, true, &e), -EPERM, &e, "hard links");
    assert_int_equal(fixture_try_open(name, false, &e), 0);
    fixture_tear_down(&f);
}

/* A lock that somebody else holds, of whom nothing is known; and a file that moved away from its lock. */
static void lock_of_an_unknown(void **state)
{
    struct fixture f;
    struct spur_error e;
    struct store *s;
    char name[400];
    int fd;

    fixture_set_up(&f);
    s = fixture_create(&f);
    fixture_name(&f, "results.lock", name);
    fd = open(name, O_RDWR);
    assert_true(fd >= 0 && ftruncate(fd, 0) == 0);
    close(fd);
    assert_error(fixture_try_open(f.file, true, &e), -EPERM, &e, "another process is writing it");
    fixture_name(&f, "moved", name);
    assert_int_equal(rename(f.file, name), 0);
    assert_error(fixture_try_create(&f, f.file, &e), -EPERM, &e, "another process is writing it");
    store_close(s);
    assert_int_equal(fixture_try_create(&f, f.file, &e), 0);
    fixture_tear_down(&f);
}

/* Several at once: whenever one has the lock, no other has. */
static void lock_contended(void **state)
{
    enum { PROCESSES = 4, ROUNDS = 30 };
    struct fixture f;
    char name[400];
    int status;

    fixture_set_up(&f);
    store_close(fixture_create(&f));
    fixture_name(&f, "held", name);
    for (int p = 0; p < PROCESSES; p++) {
        if (fork())
            continue;
        for (int i = 0, held = 0; held < ROUNDS && i < 100000; i++) {
            struct store *s;
            int r = store_open(f.file, true, &s, NULL);

            if (r == -EPERM) {
                usleep(200);
                continue;
            }
            if (r || mkdir(name, 0700) < 0)
                _exit(1); /* somebody else is inside */
            held++;
            rmdir(name);
            store_close(s);
        }
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(fixture_count_entries(f.folder), 1);
    fixture_tear_down(&f);
}

/* A writer in the middle of a transaction: readers see what was there before it, or wait. */
static void reader_during_write(void **state)
{
    struct fixture f;
    struct store *s, *reader;
    struct store_trial *back;
    struct stat before, after;
    sqlite3 *db;
    size_t n;
    int status, fds[2];
    char byte;

    fixture_set_up(&f);
    s = fixture_create(&f);
    fixture_fill(s);
    store_close(s);
    assert_int_equal(pipe(fds), 0);
    if (!fork()) {
        if (sqlite3_open(f.file, &db) || sqlite3_exec(db, "BEGIN EXCLUSIVE; DELETE FROM intervals", NULL, NULL, NULL) ||
            write(fds[1], "x", 1) != 1)
            _exit(1);
        usleep(200000);
        _exit(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL));
    }
    assert_int_equal(read(fds[0], &byte, 1), 1);
    reader = fixture_open(&f, false); /* waits */
    assert_int_equal(wait(&status) > 0 ? status : -1, 0);
    assert_int_equal(sqlite3_open(f.file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM trials", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(stat(f.file, &before), 0);
    assert_int_equal(store_trials(reader, &back, &n, NULL), 0);
    assert_int_equal(n, f.x.n_rows);
    store_trials_free(back, n);
    store_close(reader);
    assert_int_equal(stat(f.file, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
    sqlite3_close(db);
    close(fds[0]);
    close(fds[1]);
    fixture_tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_writer),
        cmocka_unit_test(lock_of_an_unknown),
        cmocka_unit_test(lock_contended),
        cmocka_unit_test(reader_during_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
