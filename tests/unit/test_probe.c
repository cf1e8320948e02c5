/* SPDX-License-Identifier: MIT */
/* The probes on recorded and constructed machines (tests/data), and on files that are missing, cut or wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "probe/probe.h"

static struct probe at(const char *machine)
{
    struct probe p;

    assert_true(snprintf(p.root, sizeof(p.root), "%s/%s", SPUR_TEST_DATA, machine) < (int)sizeof(p.root));
    assert_int_equal(access(p.root, F_OK), 0);
    return p;
}

/* A root of its own under the working directory. */
static struct probe empty_root(void)
{
    struct probe p = {.root = "probe-XXXXXX"};

    assert_non_null(mkdtemp(p.root));
    return p;
}

static void write_file(const struct probe *p, const char *path, const char *text, size_t n)
{
    char full[512];
    FILE *f;

    snprintf(full, sizeof(full), "%s%s", p->root, path);
    for (char *slash = full + strlen(p->root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
    }
    f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const struct probe *p, const char *path, const char *text)
{
    write_file(p, path, text, strlen(text));
}

static void remove_root(const struct probe *p)
{
    char command[300];

    snprintf(command, sizeof(command), "rm -r '%s'", p->root);
    assert_int_equal(system(command), 0);
}

/* ------------------------------------------------------------------------------------------------
 * CPU time and I/O of the process
 */

static void cpu_of_a_recorded_machine(void **state)
{
    struct probe p = at("machine-virtio");
    struct probe_cpu c;

    probe_cpu_read(&p, &c); /* cpu  63846 907 24418 849802 9069 0 438 451 0 0 */
    assert_true(c.known);
    assert_int_equal(c.n_cpus, 2);
    assert_int_equal(c.ticks_per_second, sysconf(_SC_CLK_TCK));
    assert_int_equal(c.user, 63846 + 907);
    assert_int_equal(c.system, 24418 + 0 + 438);
    assert_int_equal(c.idle, 849802);
    assert_int_equal(c.iowait, 9069);
    assert_int_equal(c.total, 63846 + 907 + 24418 + 849802 + 9069 + 0 + 438 + 451);
}

static void check_cpu_unknown(const char *text)
{
    struct probe p = empty_root();
    struct probe_cpu c;

    if (text)
        put(&p, "/proc/stat", text);
    probe_cpu_read(&p, &c);
    assert_false(c.known);
    assert_non_null(strstr(c.reason, "/proc/stat"));
    remove_root(&p);
}

static void cpu_unknown(void **state)
{
    check_cpu_unknown(NULL);
    check_cpu_unknown("");
    check_cpu_unknown("cpu  1 2 3\ncpu0 1 2 3\n");
    check_cpu_unknown("cpu  1 2 3 4 5 6 7 8 9 10\n"); /* no cpuN */
    check_cpu_unknown("cpu  1 2 x 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    check_cpu_unknown("cpu  1 2 3 4 5 6 99999999999999999999 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    check_cpu_unknown("intr 1\n");
}

/* guest is part of user, steal part of the total; neither twice. */
static void cpu_counts_guest_once(void **state)
{
    struct probe p = empty_root();
    struct probe_cpu c;

    put(&p, "/proc/stat", "cpu  100 20 30 400 5 6 7 8 90 9\ncpu0 100 20 30 400 5 6 7 8 90 9\nintr 0\ncpux 1\n");
    probe_cpu_read(&p, &c);
    assert_true(c.known);
    assert_int_equal(c.n_cpus, 1);
    assert_int_equal(c.user, 120);
    assert_int_equal(c.system, 43);
    assert_int_equal(c.total, 100 + 20 + 30 + 400 + 5 + 6 + 7 + 8);
    remove_root(&p);
}

#define IO_LINES "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n"

static void process_io(void **state)
{
    struct probe p = at("machine-virtio");
    struct probe_process_io io;

    probe_process_io_read(&p, &io);
    assert_true(io.known);
    assert_int_equal(io.rchar, 6976);
    assert_int_equal(io.syscr, 10);
    p = empty_root();
    put(&p, "/proc/self/io", IO_LINES);
    probe_process_io_read(&p, &io);
    assert_true(io.known);
    assert_int_equal(io.wchar, 2);
    assert_int_equal(io.syscw, 4);
    assert_int_equal(io.read_bytes, 5);
    assert_int_equal(io.write_bytes, 6); /* not cancelled_write_bytes */
    for (size_t n = 0; n < strlen(IO_LINES) - strlen("6\ncancelled_write_bytes: 7\n"); n++) {
        write_file(&p, "/proc/self/io", IO_LINES, n);
        probe_process_io_read(&p, &io);
        assert_false(io.known);
        assert_non_null(strstr(io.reason, "/proc/self/io"));
    }
    write_file(&p, "/proc/self/io", IO_LINES "\0", strlen(IO_LINES) + 1);
    probe_process_io_read(&p, &io);
    assert_false(io.known);
    remove_root(&p);
}

/* ------------------------------------------------------------------------------------------------
 * Block devices
 */

static void block_plain_disk(void **state)
{
    struct probe p = at("machine-virtio");
    struct probe_block_stat s;
    struct probe_block b;

    probe_block_find(&p, makedev(254, 0), &b);
    assert_true(b.known);
    assert_int_equal(b.n_leaves, 1);
    assert_string_equal(b.leaves[0], "vda");
    assert_string_equal(b.top, "vda");
    assert_true(b.iostats);
    probe_block_read(&p, &b, &s);
    assert_true(s.known);
    assert_int_equal(s.reads, 1373710);
    assert_int_equal(s.read_bytes, 139720124ull * 512);
    assert_int_equal(s.read_ms, 1176568);
    assert_int_equal(s.writes, 107241);
    assert_int_equal(s.write_bytes, 133613040ull * 512);
    assert_int_equal(s.write_ms, 217612);
    assert_int_equal(s.in_flight, 0);
    assert_int_equal(s.io_ms, 119176);
    assert_int_equal(s.weighted_ms, 1400411);
}

static bool has_leaf(const struct probe_block *b, const char *name)
{
    for (unsigned i = 0; i < b->n_leaves; i++)
        if (!strcmp(b->leaves[i], name))
            return true;
    return false;
}

/* Two disks, one by a partition: their stat files are summed, not the partition's nor md's own. */
static void block_md(void **state)
{
    struct probe p = at("md-nvme");
    struct probe_block_stat s;
    struct probe_block b;

    probe_block_find(&p, makedev(9, 127), &b);
    assert_true(b.known);
    assert_string_equal(b.top, "md127");
    assert_int_equal(b.n_leaves, 2);
    assert_true(has_leaf(&b, "nvme0n1") && has_leaf(&b, "nvme1n1"));
    assert_true(b.iostats);
    probe_block_read(&p, &b, &s);
    assert_true(s.known);
    assert_int_equal(s.reads, 3000);
    assert_int_equal(s.read_bytes, 240000 * 512);
    assert_int_equal(s.in_flight, 7);
    assert_int_equal(s.weighted_ms, 2300);
    probe_block_find(&p, makedev(259, 2), &b);
    assert_true(b.known);
    assert_string_equal(b.top, "nvme1n1p1");
    assert_int_equal(b.n_leaves, 1);
    assert_string_equal(b.leaves[0], "nvme1n1");
}

/* dm on dm on a partition; the disk does not count its I/O, so nothing is known of it. */
static void block_dm_without_iostats(void **state)
{
    struct probe p = at("dm-nvme");
    struct probe_block_stat s;
    struct probe_block b;

    probe_block_find(&p, makedev(253, 1), &b);
    assert_true(b.known);
    assert_string_equal(b.top, "dm-1");
    assert_int_equal(b.n_leaves, 1);
    assert_string_equal(b.leaves[0], "nvme0n1");
    assert_false(b.iostats);
    probe_block_read(&p, &b, &s);
    assert_false(s.known);
    assert_int_equal(s.read_bytes, 0);
    assert_non_null(strstr(s.reason, "iostats"));
}

static void check_block(unsigned major, unsigned minor, const char *leaf, const char *reason)
{
    struct probe p = at("loop-overlay");
    struct probe_block b;

    probe_block_find(&p, makedev(major, minor), &b);
    assert_int_equal(b.known, leaf != NULL);
    assert_int_equal(b.n_leaves, leaf ? 1 : 0);
    if (leaf)
        assert_string_equal(b.leaves[0], leaf);
    else
        assert_non_null(strstr(b.reason, reason));
}

static void block_loop_and_anonymous(void **state)
{
    check_block(7, 0, "sda", NULL);
    check_block(7, 1, NULL, "loop1: no file");
    check_block(7, 2, NULL, "tmpfs at /run");
    check_block(8, 2, "sda", NULL);
    check_block(0, 44, "sda", NULL);
    check_block(0, 45, NULL, "/mnt/other disk/l2 is on another device");
    check_block(0, 46, NULL, "no upperdir");
    check_block(0, 47, NULL, "btrfs at /mnt/b");
    check_block(0, 48, NULL, "nfs4 at /mnt/nfs");
    check_block(0, 99, NULL, "no mount of device 0:99");
    check_block(8, 99, NULL, "/sys/dev/block/8:99");
}

static void block_that_stands_on_itself(void **state)
{
    struct probe p = empty_root();
    struct probe_block b;
    char path[300];

    put(&p, "/sys/devices/virtual/block/dm-0/slaves/x", "");
    snprintf(path, sizeof(path), "%s/sys/devices/virtual/block/dm-0/slaves/dm-0", p.root);
    assert_int_equal(symlink("../../dm-0", path), 0);
    snprintf(path, sizeof(path), "%s/sys/devices/virtual/block/dm-0/slaves/x", p.root);
    assert_int_equal(unlink(path), 0);
    put(&p, "/sys/dev/block/none", "");
    snprintf(path, sizeof(path), "%s/sys/dev/block/253:0", p.root);
    assert_int_equal(symlink("../../devices/virtual/block/dm-0", path), 0);
    probe_block_find(&p, makedev(253, 0), &b);
    assert_false(b.known);
    assert_non_null(strstr(b.reason, "levels"));
    remove_root(&p);
}

static void block_stat_malformed(void **state)
{
    static const char *const bad[] = {"", "1 2 3\n", "1 2 3 4 5 6 7 8 9 10 x\n", "1 2 3 4 5 6 7 8 9 10 -1\n"};
    struct probe_block b = {.known = true, .n_leaves = 2, .iostats = true, .leaves = {"a", "b"}};
    struct probe p = empty_root();
    struct probe_block_stat s;

    put(&p, "/sys/block/a/stat", "1 2 3 4 5 6 7 8 9 10 11\n");
    for (unsigned i = 0; i < 5; i++) {
        if (i < 4)
            put(&p, "/sys/block/b/stat", bad[i]);
        else
            assert_int_equal(remove(strcat(strcpy((char[300]){0}, p.root), "/sys/block/b/stat")), 0);
        probe_block_read(&p, &b, &s);
        assert_false(s.known);
        assert_int_equal(s.reads, 0); /* no half sum */
        assert_non_null(strstr(s.reason, "/sys/block/b/stat"));
    }
    remove_root(&p);
}

/* ------------------------------------------------------------------------------------------------
 * Mounts
 */

static void check_mount(const char *name, unsigned major, unsigned minor, const char *point, const char *source)
{
    static struct probe_mount m;
    struct probe p = at("loop-overlay");

    probe_mount_find(&p, name, makedev(major, minor), &m);
    assert_int_equal(m.known, point != NULL);
    if (!point) {
        assert_non_null(strstr(m.reason, name));
        return;
    }
    assert_string_equal(m.mount_point, point);
    assert_string_equal(m.source, source);
}

static void mounts(void **state)
{
    static struct probe_mount m;
    struct probe p = at("loop-overlay");

    check_mount("/srv/x", 8, 2, "/", "/dev/sda2");
    check_mount("/mnt/other disk/f", 8, 16, "/mnt/other disk", "/dev/sdb"); /* \040 undone */
    check_mount("/mnt/same/f", 0, 44, "/mnt/same", "overlay");
    check_mount("/mnt/same/deep/f", 8, 16, "/mnt/same/deep", "/dev/sdb");
    check_mount("/mnt/samething", 8, 2, "/", "/dev/sda2");
    check_mount("/mnt/twiceover", 8, 2, "/", "/dev/sda2"); /* a prefix ends at a slash */
    check_mount("/mnt/b/f", 0, 63, "/mnt/b", "/dev/sdb");  /* a subvolume's device is in no line */
    check_mount("/mnt/nfs/f", 0, 48, "/mnt/nfs", "server:/export");
    check_mount("/srv/f", 9, 9, NULL, NULL);
    check_mount("/srv/f", 0, 63, NULL, NULL); /* the mount that holds the name has a device, and another */
    probe_mount_find(&p, "/mnt/twice/f", makedev(8, 2), &m);
    assert_true(m.known);
    assert_string_equal(m.options, "ro,relatime"); /* the upper of two */
    probe_mount_find(&p, "/mnt/nfs/f", makedev(0, 48), &m);
    assert_string_equal(m.fs_type, "nfs4");
    assert_non_null(strstr(m.super_options, "nconnect=8"));
    assert_int_equal(m.minor, 48);
}

static void check_mount_unknown(const char *text)
{
    static struct probe_mount m;
    struct probe p = empty_root();

    if (text)
        put(&p, "/proc/self/mountinfo", text);
    probe_mount_find(&p, "/x", makedev(8, 2), &m);
    assert_false(m.known);
    assert_non_null(strstr(m.reason, "/proc/self/mountinfo"));
    remove_root(&p);
}

static void mounts_unknown(void **state)
{
    static char text[10000];

    check_mount_unknown(NULL);
    check_mount_unknown("");
    check_mount_unknown("22 1 8:2 / / rw,relatime shared:1 ext4 /dev/sda2 rw\n"); /* no " - " */
    check_mount_unknown("22 1 8-2 / / rw,relatime - ext4 /dev/sda2 rw\n");
    check_mount_unknown("22 1 8:2 / / rw,relatime - ext4\n");
    snprintf(text, sizeof(text), "22 1 8:2 / / rw - ext4 /dev/sda2 rw,%05000d\n", 0); /* cut options would lie */
    check_mount_unknown(text);
}

/* ------------------------------------------------------------------------------------------------
 * Environment
 */

/* Every null has a reason, and every reason its null: counted, and looked up by name. */
static unsigned check_nulls(const json_t *o, const json_t *nulls, const char *prefix)
{
    const char *key;
    unsigned n = 0;
    json_t *v;

    json_object_foreach((json_t *)o, key, v)
    {
        char full[300];

        snprintf(full, sizeof(full), "%s%s", prefix, key);
        if (json_is_null(v)) {
            assert_true(json_is_string(json_object_get(nulls, full)));
            assert_true(json_string_length(json_object_get(nulls, full)) > 0);
            n++;
        } else if (json_is_object(v)) {
            strcat(full, ".");
            n += check_nulls(v, nulls, full);
        }
    }
    return n;
}

static json_t *environment(const struct probe *p, json_t **ret_nulls)
{
    json_t *o;

    *ret_nulls = json_object();
    o = probe_environment(p, *ret_nulls, "environment.begin.");
    assert_non_null(o);
    assert_int_equal(check_nulls(o, *ret_nulls, "environment.begin."), json_object_size(*ret_nulls));
    return o;
}

static json_int_t number(json_t *o, const char *group, const char *key)
{
    json_t *v = json_object_get(group ? json_object_get(o, group) : o, key);

    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static const char *text_of(json_t *o, const char *key)
{
    assert_true(json_is_string(json_object_get(o, key)));
    return json_string_value(json_object_get(o, key));
}

static void environment_of_a_recorded_machine(void **state)
{
    struct probe p = at("machine-virtio");
    json_t *nulls, *o = environment(&p, &nulls), *cpu = json_object_get(o, "cpu"),
                   *group = json_object_get(o, "cgroup");

    assert_true(number(o, "clock", "monotonic_ns") > 0);
    assert_true(number(o, "clock", "realtime_ns") > 1500000000000000000ll);
    assert_int_equal(strlen(text_of(o, "boot_id")), 36);
    assert_int_equal(strncmp(text_of(o, "kernel"), "6.18.", 5), 0);
    assert_string_equal(text_of(cpu, "model"), "AMD EPYC");
    assert_int_equal(number(cpu, NULL, "online"), 2);
    assert_int_equal(number(cpu, NULL, "allowed"), 2);
    assert_true(json_real_value(json_object_get(cpu, "mhz_min")) > 2596);
    assert_true(json_is_null(json_object_get(cpu, "governor")));
    assert_true(number(o, "memory", "total") == 24683652ll * 1024);
    assert_int_equal(json_array_size(json_object_get(o, "loadavg")), 3);
    assert_int_equal(number(group, NULL, "version"), 1);
    assert_string_equal(text_of(group, "path"), "/");
    assert_true(json_is_null(json_object_get(group, "cpu_max")));
    assert_string_equal(text_of(nulls, "environment.begin.cgroup.cpu_max"), "unlimited");
    assert_string_equal(text_of(nulls, "environment.begin.cgroup.memory_max"), "unlimited");
    assert_int_equal(number(group, "cpu_stat", "nr_throttled"), 0);
    assert_int_equal(number(o, "io_uring", "disabled"), 0);
    assert_int_equal(number(o, NULL, "memlock_limit"), 8388608);
    assert_true(number(json_object_get(o, "pressure"), "io", "some_total_us") > 0);
    json_decref(o);
    json_decref(nulls);
}

static void environment_of_a_throttled_group(void **state)
{
    struct probe p = at("cgroup2-throttled");
    json_t *nulls, *o = environment(&p, &nulls), *cpu = json_object_get(o, "cpu"),
                   *group = json_object_get(o, "cgroup");

    assert_int_equal(number(group, NULL, "version"), 2);
    assert_string_equal(text_of(group, "path"), "/kubepods/pod7/job");
    assert_int_equal(number(group, "cpu_max", "quota_us"), 150000); /* 3 CPUs bind, not the group's "max" nor 64 */
    assert_int_equal(number(group, "cpu_max", "period_us"), 50000);
    assert_int_equal(number(group, "cpu_stat", "nr_periods"), 12000);
    assert_int_equal(number(group, "cpu_stat", "nr_throttled"), 345);
    assert_int_equal(number(group, "cpu_stat", "throttled_us"), 6789012);
    assert_true(number(group, NULL, "memory_max") == 17179869184ll);
    assert_int_equal(number(cpu, NULL, "online"), 5);
    assert_int_equal(number(cpu, NULL, "allowed"), 3);
    assert_string_equal(text_of(cpu, "governor"), "performance");
    assert_true(json_real_value(json_object_get(cpu, "mhz_min")) == 2000.0);
    assert_true(json_real_value(json_object_get(cpu, "mhz_max")) == 2008.0);
    assert_string_equal(text_of(nulls, "environment.begin.cpu.model"), "/proc/cpuinfo: no model name");
    assert_string_equal(text_of(nulls, "environment.begin.memlock_limit"), "unlimited");
    assert_non_null(strstr(text_of(nulls, "environment.begin.pressure.io"), "/proc/pressure/io"));
    assert_int_equal(number(o, "io_uring", "disabled"), 2);
    json_decref(o);
    json_decref(nulls);
}

static void environment_of_nothing(void **state)
{
    struct probe p = empty_root();
    json_t *nulls, *o = environment(&p, &nulls);

    assert_true(json_object_size(nulls) >= 15);
    assert_non_null(strstr(text_of(nulls, "environment.begin.cgroup"), "/proc/self/cgroup"));
    json_decref(o);
    json_decref(nulls);
    remove_root(&p);
}

/* A container's view: the mount's root is the group itself, and the path is shown from outside. */
static void cgroup_of_a_container(void **state)
{
    struct probe p = empty_root();
    json_t *nulls, *o, *group;

    put(&p, "/proc/self/cgroup", "12:memory:/docker/77\n4:cpu,cpuacct:/docker/77/job\n1:name=systemd:/x\n");
    put(&p, "/proc/self/mountinfo",
        "1 0 8:2 / / rw - ext4 /dev/sda2 rw\n"
        "2 1 0:30 /docker/77 /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"
        "3 1 0:31 /docker/77 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
        "4 1 0:32 /docker/77 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put(&p, "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
    put(&p, "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    put(&p, "/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 5000999\n");
    put(&p, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
    o = environment(&p, &nulls);
    group = json_object_get(o, "cgroup");
    assert_int_equal(number(group, NULL, "version"), 1);
    assert_int_equal(number(group, "cpu_max", "quota_us"), 250000);
    assert_int_equal(number(group, "cpu_stat", "nr_throttled"), 4);
    assert_int_equal(number(group, "cpu_stat", "throttled_us"), 5000); /* nanoseconds there */
    assert_int_equal(number(group, NULL, "memory_max"), 1073741824);
    json_decref(o);
    json_decref(nulls);
    put(&p, "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "many\n");
    o = environment(&p, &nulls);
    assert_non_null(strstr(text_of(nulls, "environment.begin.cgroup.cpu_max"), "malformed"));
    json_decref(o);
    json_decref(nulls);
    remove_root(&p);
}

/* Numbers that JSON has not, and text that is not UTF-8, become nulls. */
static void environment_of_odd_files(void **state)
{
    struct probe p = empty_root();
    json_t *nulls, *o;

    put(&p, "/proc/loadavg", "nan 0.1 0.2 1/2 3\n");
    put(&p, "/proc/sys/kernel/osrelease", "6.1\xff\n");
    put(&p, "/proc/sys/kernel/io_uring_disabled", "yes\n");
    put(&p, "/proc/cpuinfo", "model name\t: \xfe\xfe\ncpu MHz\t\t: inf\n");
    put(&p, "/proc/meminfo", "MemTotal:       99999999999999999999 kB\nMemAvailable: 5 kB\n");
    put(&p, "/sys/devices/system/cpu/online", "3-1\n");
    put(&p, "/proc/pressure/io", "some avg10=\n");
    put(&p, "/proc/self/cgroup", "nonsense\n");
    o = environment(&p, &nulls);
    assert_true(json_is_null(json_object_get(o, "loadavg")));
    assert_true(json_is_null(json_object_get(o, "kernel")));
    assert_true(json_is_null(json_object_get(json_object_get(o, "io_uring"), "disabled")));
    assert_true(json_is_null(json_object_get(json_object_get(o, "cpu"), "model")));
    assert_true(json_is_null(json_object_get(json_object_get(o, "cpu"), "mhz_max")));
    assert_true(json_is_null(json_object_get(json_object_get(o, "cpu"), "online")));
    assert_true(json_is_null(json_object_get(json_object_get(o, "memory"), "total")));
    assert_int_equal(number(o, "memory", "available"), 5 * 1024);
    assert_true(json_is_null(json_object_get(json_object_get(o, "pressure"), "io")));
    json_decref(o);
    json_decref(nulls);
    remove_root(&p);
}

static void loadavg_malformed(void **state)
{
    static const char *const bad[] = {"1e999 0 0 1/2 3\n", "-1 0 0 1/2 3\n", "0.1 0.2\n", "0.1 0.2 x\n"};
    struct probe p = empty_root();

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *nulls, *o;

        put(&p, "/proc/loadavg", bad[i]);
        o = environment(&p, &nulls);
        assert_true(json_is_null(json_object_get(o, "loadavg")));
        json_decref(o);
        json_decref(nulls);
    }
    remove_root(&p);
}

/* Each file of a machine, cut after every few bytes: no crash (under the sanitizers: no stray read), every null
 * explained. */
static void cut_files(void **state)
{
    static const char *const files[] = {
        "/proc/stat",        "/proc/self/io", "/proc/self/mountinfo", "/proc/self/cgroup", "/proc/self/limits",
        "/proc/self/status", "/proc/cpuinfo", "/proc/meminfo",        "/proc/loadavg",     "/proc/pressure/io"};
    static struct probe_mount m;
    struct probe whole = at("machine-virtio"), p = empty_root();
    char text[8192], path[300];

    for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", whole.root, files[i]);
        FILE *f = fopen(path, "r");
        size_t n;

        assert_non_null(f);
        n = fread(text, 1, sizeof(text), f);
        fclose(f);
        for (size_t k = 0; k <= n; k += 1 + k / 40) {
            struct probe_process_io io;
            struct probe_block b;
            struct probe_cpu c;
            json_t *nulls;

            write_file(&p, files[i], text, k);
            json_decref(environment(&p, &nulls));
            json_decref(nulls);
            probe_cpu_read(&p, &c);
            probe_process_io_read(&p, &io);
            probe_mount_find(&p, "/dev/shm/x", makedev(0, 23), &m);
            probe_block_find(&p, makedev(0, 23), &b);
            assert_true(c.known || c.reason[0]);
            assert_true(io.known || io.reason[0]);
            assert_true(m.known || m.reason[0]);
            assert_true(!b.known && b.reason[0]);
        }
    }
    remove_root(&p);
}

static void root_from_the_environment(void **state)
{
    struct probe p;

    assert_int_equal(setenv("SPUR_ROOT", "/somewhere", 1), 0);
    probe_init(&p);
    assert_string_equal(p.root, "/somewhere");
    assert_int_equal(unsetenv("SPUR_ROOT"), 0);
    probe_init(&p);
    assert_string_equal(p.root, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_of_a_recorded_machine),
        cmocka_unit_test(cpu_unknown),
        cmocka_unit_test(cpu_counts_guest_once),
        cmocka_unit_test(process_io),
        cmocka_unit_test(block_plain_disk),
        cmocka_unit_test(block_md),
        cmocka_unit_test(block_dm_without_iostats),
        cmocka_unit_test(block_loop_and_anonymous),
        cmocka_unit_test(block_that_stands_on_itself),
        cmocka_unit_test(block_stat_malformed),
        cmocka_unit_test(mounts),
        cmocka_unit_test(mounts_unknown),
        cmocka_unit_test(environment_of_a_recorded_machine),
        cmocka_unit_test(environment_of_a_throttled_group),
        cmocka_unit_test(environment_of_nothing),
        cmocka_unit_test(cgroup_of_a_container),
        cmocka_unit_test(environment_of_odd_files),
        cmocka_unit_test(loadavg_malformed),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(root_from_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
