/* SPDX-License-Identifier: MIT */
/* The probes on this machine: residency, extents, and counters that must move. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "probe/probe.h"

#define MIB (1ull << 20)

static int make_file(const char *folder)
{
    char name[300];
    int fd;

    snprintf(name, sizeof(name), "%s/probe-live-XXXXXX", folder);
    fd = mkostemp(name, O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(unlink(name), 0);
    return fd;
}

static void write_at(int fd, uint64_t offset, size_t n)
{
    char *data = malloc(n);

    memset(data, 'x', n);
    assert_int_equal(pwrite(fd, data, n, (off_t)offset), n);
    free(data);
}

static void read_at(int fd, uint64_t offset, size_t n)
{
    char *data = malloc(n);

    assert_int_equal(pread(fd, data, n, (off_t)offset), n);
    free(data);
}

static unsigned long fs_type(int fd)
{
    struct statfs fs;

    assert_int_equal(fstatfs(fd, &fs), 0);
    return (unsigned long)fs.f_type;
}

/* ext4 and XFS, also below an overlay, keep maps that are known; elsewhere the answer may be "unknown". */
static bool keeps_a_map(int fd)
{
    unsigned long type = fs_type(fd);

    if (type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC)
        return true;
    print_message("skipped: the working directory is on file system 0x%lx, not ext4 or XFS\n", type);
    return false;
}

static struct probe_extents extents(int fd, uint64_t offset, uint64_t length)
{
    struct probe_extents x;

    probe_extents_read(fd, offset, length, &x);
    return x;
}

static void extents_of_data(void **state)
{
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    write_at(fd, 0, 4 * MIB + 5);
    assert_string_equal(extents(fd, 0, UINT64_MAX).status, "data"); /* not yet written back */
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(lseek(fd, 123, SEEK_SET), 123);
    x = extents(fd, 0, UINT64_MAX);
    assert_string_equal(x.status, "data");
    assert_int_equal(x.hole_bytes + x.unwritten_bytes, 0);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 123);
    assert_string_equal(extents(fd, 4 * MIB + 5, 1).status, "unknown"); /* past the end */
    close(fd);
}

static void extents_of_a_sparse_file(void **state)
{
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    assert_int_equal(ftruncate(fd, 16 * MIB), 0);
    write_at(fd, 0, 2 * MIB);
    write_at(fd, 5 * MIB, MIB);
    assert_int_equal(fsync(fd), 0);
    x = extents(fd, 0, UINT64_MAX);
    assert_string_equal(x.status, "holes");
    assert_int_equal(x.hole_bytes, 13 * MIB);
    assert_int_equal(x.unwritten_bytes, 0);
    assert_int_equal(x.first_offset, 2 * MIB);
    assert_string_equal(extents(fd, 0, 2 * MIB).status, "data");
    assert_string_equal(extents(fd, 5 * MIB, MIB).status, "data");
    x = extents(fd, 4 * MIB, 2 * MIB);
    assert_string_equal(x.status, "holes");
    assert_int_equal(x.hole_bytes, MIB);
    assert_int_equal(x.first_offset, 4 * MIB);
    close(fd);
}

static void extents_of_an_allocated_file(void **state)
{
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    assert_int_equal(fallocate(fd, 0, 0, 8 * MIB), 0);
    x = extents(fd, 0, UINT64_MAX);
    assert_string_equal(x.status, "holes");
    assert_int_equal(x.unwritten_bytes, 8 * MIB);
    assert_int_equal(x.hole_bytes, 0);
    write_at(fd, MIB, MIB);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(ftruncate(fd, 10 * MIB), 0); /* and a hole behind */
    x = extents(fd, 0, UINT64_MAX);
    assert_int_equal(x.unwritten_bytes, 7 * MIB);
    assert_int_equal(x.hole_bytes, 2 * MIB);
    assert_string_equal(extents(fd, MIB, MIB).status, "data");
    write_at(fd, 0, 10 * MIB); /* dirty pages over unwritten extents are no holes, but not surely on the disk either */
    assert_string_not_equal(extents(fd, 0, UINT64_MAX).status, "holes");
    assert_int_equal(fsync(fd), 0);
    assert_string_equal(extents(fd, 0, UINT64_MAX).status, "data");
    close(fd);
}

/* Pages of what was never written, read into the cache, are no data; dirty ones may be, and a sync tells. */
static void extents_in_the_cache(void **state)
{
    static char buffer[MIB];
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    assert_int_equal(fallocate(fd, 0, 0, 2 * MIB), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pread(fd, buffer, i ? MIB : 1, i ? MIB : 0), i ? MIB : 1);
        x = extents(fd, 0, UINT64_MAX);
        assert_string_not_equal(x.status, "data");
        assert_int_equal(x.unwritten_bytes, 2 * MIB);
        assert_int_equal(x.hole_bytes, 0);
        assert_int_equal(x.first_offset, 0);
        assert_true(!strcmp(x.status, "holes") || x.unflushed_bytes); /* above an overlay nothing counts pages */
    }
    write_at(fd, 0, MIB);
    assert_string_not_equal(extents(fd, 0, MIB).status, "holes");
    assert_int_equal(fsync(fd), 0);
    assert_string_equal(extents(fd, 0, MIB).status, "data");
    assert_int_equal(extents(fd, 0, MIB).unflushed_bytes, 0);
    assert_string_not_equal(extents(fd, MIB, MIB).status, "data");
    close(fd);
}

/* 700 unwritten extents in what SEEK_DATA calls one hole: more than one FIEMAP call holds. */
static void extents_many_in_one_hole(void **state)
{
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    for (unsigned i = 0; i < 700; i++)
        assert_int_equal(fallocate(fd, 0, i * 131072ull, 65536), 0);
    x = extents(fd, 0, UINT64_MAX);
    assert_string_equal(x.status, "holes");
    assert_int_equal(x.unwritten_bytes, 700 * 65536);
    assert_int_equal(x.hole_bytes, 699 * 65536);
    close(fd);
}

static void extents_many(void **state)
{
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    assert_int_equal(fallocate(fd, 0, 0, 1400 * 65536), 0);
    for (unsigned i = 0; i < 700; i++)
        write_at(fd, i * 131072ull, 65536);
    assert_int_equal(fsync(fd), 0);
    x = extents(fd, 0, UINT64_MAX);
    assert_string_equal(x.status, "holes");
    assert_int_equal(x.unwritten_bytes, 700 * 65536);
    assert_int_equal(x.first_offset, 65536);
    close(fd);
}

/* An extent map of 2 TiB costs no more than its extents. */
static void extents_of_a_huge_file(void **state)
{
    int fd = make_file(".");
    struct probe_extents x;

    if (!keeps_a_map(fd) || ftruncate(fd, 2ll << 40) < 0) {
        close(fd);
        skip();
    }
    write_at(fd, (2ull << 40) - MIB, MIB);
    assert_int_equal(fsync(fd), 0);
    x = extents(fd, 0, UINT64_MAX);
    assert_string_equal(x.status, "holes");
    assert_int_equal(x.hole_bytes, (2ull << 40) - MIB);
    assert_string_equal(extents(fd, (2ull << 40) - MIB, MIB).status, "data");
    close(fd);
}

static void extents_on_tmpfs(void **state)
{
    int fd = make_file("/dev/shm");

    if (fs_type(fd) != TMPFS_MAGIC) {
        print_message("skipped: /dev/shm is no tmpfs\n");
        close(fd);
        skip();
    }
    write_at(fd, 0, 2 * MIB);
    assert_string_equal(extents(fd, 0, UINT64_MAX).status, "data");
    assert_int_equal(ftruncate(fd, 3 * MIB), 0);
    assert_string_equal(extents(fd, 0, UINT64_MAX).status, "holes");
    assert_int_equal(extents(fd, 0, UINT64_MAX).hole_bytes, MIB);
    close(fd);
}

static void extents_unknown(void **state)
{
    struct probe_extents x = extents(-1, 0, 10);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), proc = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    assert_string_equal(x.status, "unknown");
    assert_true(x.reason[0] != 0);
    assert_string_equal(extents(fd, 0, 10).status, "unknown");
    assert_string_equal(extents(proc, 0, 10).status, "unknown");
    close(fd);
    close(proc);
}

static uint64_t resident(int fd, uint64_t offset, uint64_t length)
{
    struct probe_residency r;

    probe_residency_read(fd, offset, length, &r);
    if (!r.known)
        print_message("residency: %s\n", r.reason);
    assert_true(r.known);
    return r.resident_bytes;
}

/* Another process may hold a page for a moment, so dropping is asked for until it works. */
static void drop(int fd)
{
    for (unsigned i = 0; i < 1000 && resident(fd, 0, UINT64_MAX); i++) {
        assert_int_equal(fsync(fd), 0);
        assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    }
    assert_int_equal(resident(fd, 0, UINT64_MAX), 0);
}

static void residency_before_and_after(void **state)
{
    int fd = make_file(".");

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    write_at(fd, 0, 4 * MIB + 100);
    assert_int_equal(resident(fd, 0, UINT64_MAX), 4 * MIB + 100);
    drop(fd);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0); /* no read-ahead */
    read_at(fd, MIB, MIB);
    assert_int_equal(resident(fd, MIB, MIB), MIB);
    assert_int_equal(resident(fd, MIB + 100, 5000), 5000); /* edges inside pages */
    assert_true(resident(fd, 0, UINT64_MAX) < 2 * MIB);
    assert_int_equal(resident(fd, 3 * MIB, UINT64_MAX), 0);
    assert_int_equal(resident(fd, 5 * MIB, 10), 0); /* past the end */
    close(fd);
}

/* Pages on both sides of the edge between two windows of 256 MiB, each counted once. */
static void residency_over_windows(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), edge = 256 * MIB;
    int fd = make_file(".");

    if (!keeps_a_map(fd)) {
        close(fd);
        skip();
    }
    assert_int_equal(ftruncate(fd, 600 * MIB), 0);
    for (unsigned i = 1; i <= 2; i++)
        write_at(fd, i * edge - page, 2 * page);
    assert_int_equal(resident(fd, 0, UINT64_MAX), 4 * page);
    assert_int_equal(resident(fd, edge - 10, 20), 20);
    assert_int_equal(resident(fd, edge - 10, edge), page + 10 + page - 10);
    close(fd);
}

/* In a child that is somebody else: 0 known, 1 unknown with a reason. */
static int as_somebody(const char *name)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct probe_residency r;
        int fd;

        if (setgid(54321) < 0 || setuid(54321) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
            _exit(9);
        fd = open(name, O_RDONLY);
        if (fd < 0)
            _exit(8);
        probe_residency_read(fd, 0, UINT64_MAX, &r);
        _exit(r.known ? 0 : r.reason[0] && !r.resident_bytes ? 1 : 7);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void residency_for_others(void **state)
{
    char name[] = "/dev/shm/probe-live-XXXXXX";
    int fd, may_read, may_write;

    if (geteuid() != 0) {
        print_message("skipped: only root can become somebody else\n");
        skip();
    }
    fd = mkstemp(name);
    assert_true(fd >= 0);
    write_at(fd, 0, 10000);
    assert_int_equal(fchmod(fd, 0644), 0);
    may_read = as_somebody(name);
    assert_int_equal(fchmod(fd, 0646), 0);
    may_write = as_somebody(name);
    unlink(name);
    close(fd);
    assert_int_equal(may_read, 1);
    assert_int_equal(may_write, 0);
}

static void residency_unknown(void **state)
{
    struct probe_residency r;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    probe_residency_read(fd, 0, 10, &r);
    assert_false(r.known);
    assert_true(r.reason[0] != 0);
    close(fd);
    probe_residency_read(-1, 0, 10, &r);
    assert_false(r.known);
    assert_true(r.reason[0] != 0);
}

/* The disk under the working directory counts what is written through. */
static void block_counters_move(void **state)
{
    const struct probe p = {.root = ""};
    struct probe_block_stat before, after;
    struct probe_block b;
    struct stat st;
    int fd = make_file(".");

    assert_int_equal(fstat(fd, &st), 0);
    probe_block_find(&p, st.st_dev, &b);
    if (!b.known || !b.iostats) {
        assert_true(b.reason[0] != 0);
        print_message("skipped: %s\n", b.reason);
        close(fd);
        skip();
    }
    assert_true(b.n_leaves >= 1 && b.top[0]);
    probe_block_read(&p, &b, &before);
    assert_true(before.known);
    write_at(fd, 0, 8 * MIB);
    assert_int_equal(fdatasync(fd), 0);
    probe_block_read(&p, &b, &after);
    assert_true(after.known);
    assert_true(after.write_bytes - before.write_bytes >= 8 * MIB);
    assert_true(after.writes > before.writes);
    close(fd);
}

static void counters_of_this_process_move(void **state)
{
    const struct probe p = {.root = ""};
    struct probe_process_io before, after;
    int fd = make_file(".");

    write_at(fd, 0, MIB);
    probe_process_io_read(&p, &before);
    if (!before.known) {
        print_message("skipped: %s\n", before.reason);
        close(fd);
        skip();
    }
    read_at(fd, 0, MIB);
    probe_process_io_read(&p, &after);
    assert_true(after.known);
    assert_true(after.rchar - before.rchar >= MIB);
    assert_true(after.syscr > before.syscr);
    close(fd);
}

static void cpu_time_goes_on(void **state)
{
    const struct probe p = {.root = ""};
    struct probe_cpu before, after;
    unsigned n = 0;

    probe_cpu_read(&p, &before);
    assert_true(before.known);
    assert_int_equal(before.n_cpus, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(before.user + before.system + before.idle + before.iowait <= before.total);
    do {
        usleep(10000);
        probe_cpu_read(&p, &after);
        assert_true(after.known);
    } while (after.total == before.total && ++n < 1000);
    assert_true(after.total > before.total);
}

static void mount_of_the_working_directory(void **state)
{
    const struct probe p = {.root = ""};
    static struct probe_mount m;
    struct stat st;
    char *here = realpath(".", NULL);

    assert_int_equal(stat(".", &st), 0);
    probe_mount_find(&p, ".", st.st_dev, &m);
    assert_true(m.known);
    assert_int_equal(strncmp(here, m.mount_point, strlen(m.mount_point)), 0);
    assert_true(m.fs_type[0] && m.options[0]);
    free(here);
    probe_mount_find(&p, "no such file", st.st_dev, &m);
    assert_false(m.known);
    assert_non_null(strstr(m.reason, "no such file"));
}

static void environment_of_this_machine(void **state)
{
    const struct probe p = {.root = ""};
    json_t *nulls = json_object(), *o = probe_environment(&p, nulls, "");
    const char *key;
    json_t *reason;

    assert_true(json_integer_value(json_object_get(json_object_get(o, "cpu"), "online")) > 0);
    assert_true(json_integer_value(json_object_get(json_object_get(o, "memory"), "total")) > 0);
    assert_true(json_is_string(json_object_get(o, "boot_id")));
    json_object_foreach(nulls, key, reason) print_message("%s: %s\n", key, json_string_value(reason));
    json_decref(o);
    json_decref(nulls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_of_data),
        cmocka_unit_test(extents_of_a_sparse_file),
        cmocka_unit_test(extents_of_an_allocated_file),
        cmocka_unit_test(extents_in_the_cache),
        cmocka_unit_test(extents_many),
        cmocka_unit_test(extents_many_in_one_hole),
        cmocka_unit_test(extents_of_a_huge_file),
        cmocka_unit_test(extents_on_tmpfs),
        cmocka_unit_test(extents_unknown),
        cmocka_unit_test(residency_before_and_after),
        cmocka_unit_test(residency_over_windows),
        cmocka_unit_test(residency_for_others),
        cmocka_unit_test(residency_unknown),
        cmocka_unit_test(block_counters_move),
        cmocka_unit_test(counters_of_this_process_move),
        cmocka_unit_test(cpu_time_goes_on),
        cmocka_unit_test(mount_of_the_working_directory),
        cmocka_unit_test(environment_of_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
