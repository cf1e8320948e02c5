/* SPDX-License-Identifier: MIT */
/* Files that are there, missing, foreign or not ours to write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "store_fixture.h"

#define NOBODY 65534

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *name, const char *text)
{
    char buffer[64] = "";
    FILE *file = fopen(name, "r");

    assert_non_null(file);
    assert_int_equal(fread(buffer, 1, sizeof(buffer), file), strlen(text));
    assert_string_equal(buffer, text);
    fclose(file);
}

/* ------------------------------------------------------------------------------------------------
 * Create
 */

static void nothing_is_overwritten(void **state)
{
    struct fixture f;
    struct spur_error e;
    struct stat st;
    char name[400];

    fixture_set_up(&f);
    write_bytes(f.file, "mine", 4);
    assert_error(fixture_try_create(&f, f.file, &e), -EPERM, &e, "exists already");
    assert_content(f.file, "mine");
    fixture_name(&f, "dangling", name);
    assert_int_equal(symlink("nowhere", name), 0);
    assert_error(fixture_try_create(&f, name, &e), -EPERM, &e, "exists already");
    assert_error(fixture_try_create(&f, f.folder, &e), -EPERM, &e, "exists already");
    fixture_name(&f, "new", name);
    strcat(name, "/");
    assert_error(fixture_try_create(&f, name, &e), -ENOENT, &e, "new/");
    fixture_name(&f, "new-journal", name);
    write_bytes(name, "mine", 4);
    fixture_name(&f, "new", name);
    assert_error(fixture_try_create(&f, name, &e), -EPERM, &e, "new-journal");
    fixture_name(&f, "new-journal", name);
    assert_content(name, "mine");
    unlink(name);
    fixture_name(&f, "new.lock", name);
    write_bytes(name, "mine", 4);
    fixture_name(&f, "new", name);
    assert_error(fixture_try_create(&f, name, &e), -EPERM, &e, "new.lock");
    assert_int_equal(lstat(name, &st), -1);
    fixture_name(&f, "new.lock", name);
    assert_content(name, "mine");
    fixture_tear_down(&f);
}

/* Waits for the lock of a store that is being made, then takes its name: 1 if it was free. */
static int take_name(const struct fixture *f)
{
    char lock[400];
    int fd;

    fixture_name(f, "results.lock", lock);
    while (access(lock, F_OK) < 0)
        continue;
    fd = open(f->file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return fd >= 0 && write(fd, "mine", 4) == 4;
}

/* Somebody else's file appears while the plan is being written. */
static void name_taken_meanwhile(void **state)
{
    struct fixture f;
    struct spur_error e;
    int status, taken = 0;

    fixture_set_up(&f);
    experiment_free(&f.x);
    fixture_plan(&f.x, 100);
    for (int i = 0; !taken && i < 50; i++) {
        pid_t pid = fork();

        if (!pid)
            _exit(take_name(&f));
        int r = fixture_try_create(&f, f.file, &e);

        if (!r) /* it came too late, and may wait for ever */
            kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        taken = WIFEXITED(status) && WEXITSTATUS(status) == 1;
        assert_int_equal(r, taken ? -EPERM : 0);
        if (taken)
            assert_content(f.file, "mine");
        unlink(f.file);
    }
    assert_true(taken);
    assert_int_equal(fixture_count_entries(f.folder), 0);
    fixture_tear_down(&f);
}

static void cannot_create(void **state)
{
    struct fixture f;
    struct spur_error e;
    char name[800];

    fixture_set_up(&f);
    fixture_name(&f, "missing/results", name);
    assert_error(fixture_try_create(&f, name, &e), -ENOENT, &e, "missing");
    fixture_name(&f, "", name);
    memset(name + strlen(name), 'n', 300);
    name[strlen(f.folder) + 301] = 0;
    assert_error(fixture_try_create(&f, name, &e), -ENAMETOOLONG, &e, "nnn");
    f.x.baseline = 7;
    assert_error(fixture_try_create(&f, f.file, &e), -EINVAL, &e, "not consistent");
    assert_int_equal(fixture_count_entries(f.folder), 0);
    fixture_tear_down(&f);
}

/* @body in a process that is nobody's, for root may do everything. */
static void as_somebody(int (*body)(const struct fixture *f, struct spur_error *e), const struct fixture *f,
                        int expected, const char *words)
{
    struct spur_error e = {0};
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(2);
        int r = body(f, &e);

        if (r != expected || !strstr(e.detail, words))
            fprintf(stderr, "%d, expected %d and '%s': %s\n", r, expected, words, e.detail);
        _exit(!(r == expected && strstr(e.detail, words)));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int create_body(const struct fixture *f, struct spur_error *e)
{
    return fixture_try_create(f, f->file, e);
}

static int read_body(const struct fixture *f, struct spur_error *e)
{
    return fixture_try_open(f->file, false, e);
}

static int write_body(const struct fixture *f, struct spur_error *e)
{
    return fixture_try_open(f->file, true, e);
}

static void folder_read_only(void **state)
{
    struct fixture f;

    fixture_set_up(&f);
    assert_int_equal(chmod(f.folder, 0555), 0);
    as_somebody(create_body, &f, -EACCES, "results");
    assert_int_equal(chmod(f.folder, 0755), 0);
    store_close(fixture_create(&f));
    assert_int_equal(chmod(f.file, 0444), 0);
    assert_int_equal(chmod(f.folder, 0555), 0);
    as_somebody(read_body, &f, 0, ""); /* reading needs no more than that */
    as_somebody(write_body, &f, -EACCES, "results");
    assert_int_equal(chmod(f.folder, 0777), 0);
    as_somebody(write_body, &f, -EACCES, "for writing");
    fixture_tear_down(&f);
}

/* A limit of file sizes stands for a full disk: the write fails in the middle of the plan. */
static int full_body(const struct fixture *f, struct spur_error *e)
{
    struct rlimit limit = {.rlim_cur = 16384, .rlim_max = 16384};

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return -1;
    return fixture_try_create(f, f->file, e);
}

static void disk_full(void **state)
{
    struct fixture f;

    fixture_set_up(&f);
    assert_int_equal(chmod(f.folder, 0777), 0);
    as_somebody(full_body, &f, -EIO, "results");
    assert_int_equal(fixture_count_entries(f.folder), 0);
    fixture_tear_down(&f);
}

static void mode_is_0600(void **state)
{
    static const mode_t masks[] = {0, 077, 0777};
    mode_t before = umask(022);

    for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
        struct fixture f;
        struct store *s;
        struct stat st;
        char name[400];

        fixture_set_up(&f);
        umask(masks[i]);
        s = fixture_create(&f);
        assert_int_equal(stat(f.file, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        fixture_name(&f, "results.lock", name);
        assert_int_equal(stat(name, &st), 0);
        assert_int_equal(st.st_mode & 07777 & ~0600, 0);
        store_close(s);
        umask(022);
        fixture_tear_down(&f);
    }
    umask(before);
}

/* ------------------------------------------------------------------------------------------------
 * Open
 */

static void not_results(void **state)
{
    struct fixture f;
    struct spur_error e;
    char name[400], noise[5000];
    sqlite3 *db;

    fixture_set_up(&f);
    for (int write = 0; write < 2; write++) {
        assert_error(fixture_try_open(f.file, write, &e), -ENOENT, &e, "results");
        assert_error(fixture_try_open(f.folder, write, &e), -EPERM, &e, f.folder);
        assert_error(fixture_try_open("/dev/null", write, &e), -EPERM, &e, "not a regular file");
    }
    fixture_name(&f, "empty", name);
    write_bytes(name, "", 0);
    assert_error(fixture_try_open(name, false, &e), -EPERM, &e, "not a results file");
    assert_error(fixture_try_open(name, true, &e), -EPERM, &e, "not a results file");
    fixture_name(&f, "text", name);
    memset(noise, 'w', sizeof(noise));
    write_bytes(name, noise, sizeof(noise));
    assert_error(fixture_try_open(name, false, &e), -EPERM, &e, "not an SQLite database");
    assert_error(fixture_try_open(name, true, &e), -EPERM, &e, "not an SQLite database");
    fixture_name(&f, "foreign", name);
    assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE experiment (key, value)", NULL, NULL, NULL), SQLITE_OK);
    assert_error(fixture_try_open(name, true, &e), -EPERM, &e, "of another program");
    assert_int_equal(sqlite3_exec(db, "PRAGMA application_id = 7", NULL, NULL, NULL), SQLITE_OK);
    assert_error(fixture_try_open(name, false, &e), -EPERM, &e, "of another program");
    sqlite3_close(db);
    fixture_tear_down(&f);
}

static void execute_file(sqlite3 *db, const char *name)
{
    static char text[32768];
    FILE *f = fopen(name, "r");

    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    fclose(f);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
}

static void set_version(const char *name, const char *pragma)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, pragma, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void other_versions(void **state)
{
    struct fixture f;
    struct spur_error e;

    fixture_set_up(&f);
    store_close(fixture_create(&f));
    set_version(f.file, "PRAGMA user_version = 3");
    assert_error(fixture_try_open(f.file, false, &e), -EPERM, &e, "newer spur");
    assert_error(fixture_try_open(f.file, true, &e), -EPERM, &e, "newer spur");
    set_version(f.file, "PRAGMA user_version = 0");
    assert_error(fixture_try_open(f.file, false, &e), -EILSEQ, &e, "never wrote");
    fixture_tear_down(&f);
}

/* A file of version 1 can be read, but not gone on with. */
static void version_before_the_wire(void **state)
{
    struct store_trial *trials;
    struct fixture f;
    struct spur_error e;
    struct store *s;
    json_t *result;
    sqlite3 *db;
    size_t n;

    fixture_set_up(&f);
    assert_int_equal(sqlite3_open(f.file, &db), SQLITE_OK);
    execute_file(db, SPUR_TEST_DATA "/results-1.sql");
    sqlite3_close(db);
    assert_error(fixture_try_open(f.file, true, &e), -EPERM, &e, "version 1 can only be read");
    assert_int_equal(store_open(f.file, false, &s, &e), 0);
    assert_int_equal(store_trials(s, &trials, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_true(trials[1].figures.metric[METRIC_P50] == 2353656);
    assert_true(trials[0].figures.machine_system_cpus == 0.0598411421622307);
    assert_string_equal(trials[0].served, "storage");
    assert_true(trials[0].window_s == 10 && !trials[0].error);
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        assert_true(isnan(trials[0].figures.wire[w]));
    assert_true(isnan(trials[0].figures.wire_retries));
    store_trials_free(trials, n);
    assert_int_equal(store_result(s, 1, &result, &e), 0);
    assert_true(json_is_array(json_object_get(result, "latency_histogram")));
    json_decref(result);
    store_close(s);
    fixture_tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_overwritten),
        cmocka_unit_test(name_taken_meanwhile),
        cmocka_unit_test(cannot_create),
        cmocka_unit_test(folder_read_only),
        cmocka_unit_test(disk_full),
        cmocka_unit_test(mode_is_0600),
        cmocka_unit_test(not_results),
        cmocka_unit_test(other_versions),
        cmocka_unit_test(version_before_the_wire),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
