/* SPDX-License-Identifier: MIT */
/*
 * What the machine says. Every read of /proc, /sys, /run and /etc goes through a root that a test can move
 * (SPUR_ROOT in the environment of the test suite's programs, "" otherwise). Unreadable or malformed is never 0: each
 * struct says what is known. Part of the tool, not of the library (uses jansson).
 */
#ifndef SPUR_PROBE_H
#define SPUR_PROBE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spur.h"

#define PROBE_REASON 160

struct probe {
    char root[256]; /* prefixed to every path; "" on a real machine */
};

/* Root from the environment variable SPUR_ROOT, or "". */
void probe_init(struct probe *p);

/* Machine CPU times of /proc/stat since boot, in clock ticks, over all CPUs. */
struct probe_cpu {
    bool known;
    unsigned n_cpus; /* online: the cpuN lines */
    long ticks_per_second;
    uint64_t user, system, idle, iowait; /* user includes nice; system includes irq and softirq; steal is in total */
    uint64_t total;
    char reason[PROBE_REASON];
};
void probe_cpu_read(const struct probe *p, struct probe_cpu *ret);

/* /proc/self/io. read_bytes is exact on block-device file systems, 0 on tmpfs and FUSE. */
struct probe_process_io {
    bool known;
    uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
    char reason[PROBE_REASON];
};
void probe_process_io_read(const struct probe *p, struct probe_process_io *ret);

/* Block devices under a file system or device node, down to the leaves of stacked ones (dm, md, loop's own device). */
#define PROBE_MAX_LEAVES 32
struct probe_block {
    bool known;
    unsigned n_leaves;
    char leaves[PROBE_MAX_LEAVES][32]; /* "nvme0n1", "vda" (whole disks) */
    char top[32];                      /* device of the file system itself: "md0", "vda" */
    bool iostats;                      /* queue/iostats of every leaf is 1 */
    char reason[PROBE_REASON];
};
/* Finds the leaves of device @dev (st_dev of a file, or st_rdev of a device node). */
void probe_block_find(const struct probe *p, dev_t dev, struct probe_block *ret);

/* Sums of /sys/block/LEAF/stat over the leaves. */
struct probe_block_stat {
    bool known;
    uint64_t reads, read_bytes, read_ms, writes, write_bytes, write_ms, in_flight, io_ms, weighted_ms;
    char reason[PROBE_REASON];
};
void probe_block_read(const struct probe *p, const struct probe_block *block, struct probe_block_stat *ret);

/* How often this process's control group hit its CPU limit: of the group whose quota binds. */
struct probe_throttle {
    bool known;
    uint64_t periods, throttled_periods, throttled_us; /* since the group was made */
    char reason[PROBE_REASON];
};
void probe_throttle_read(const struct probe *p, struct probe_throttle *ret);

/* The mount that holds a file, from /proc/self/mountinfo by device number and longest mount point. */
struct probe_mount {
    bool known;
    char mount_point[4096], fs_type[64], source[4096], options[4096], super_options[4096];
    unsigned major, minor;
    char reason[PROBE_REASON];
};
void probe_mount_find(const struct probe *p, const char *filename, dev_t dev, struct probe_mount *ret);

/* Bytes of [offset, offset + length) of an open file that are in the page cache (mincore, in windows). Unknown where
 * the caller neither owns nor may write the file (mincore then reports everything), on FUSE, and for block devices. */
struct probe_residency {
    bool known;
    uint64_t resident_bytes;
    char reason[PROBE_REASON];
};
void probe_residency_read(int fd, uint64_t offset, uint64_t length, struct probe_residency *ret);

/*
 * Holes and unwritten extents in [offset, offset + length) of an open file: SEEK_HOLE/SEEK_DATA, then FIEMAP
 * (unwritten, whatever of it is in the page cache; DELALLOC counts as data). status: "data" (both looked, none found),
 * "holes", "unknown" (with reason: e.g. FUSE and NFSv3 report everything as data). tmpfs without FIEMAP is "data" if
 * SEEK_HOLE finds none. Waits for writing that is under way; starts none, and loads no page.
 */
struct probe_extents {
    char status[16];
    uint64_t hole_bytes, unwritten_bytes; /* the file's where status is data or holes */
    uint64_t first_offset;                /* of the first hole or unwritten extent */
    uint64_t unflushed_bytes; /* of unwritten_bytes, those that dirty pages are, or may be, to be written to: after a
                                 sync of the file they are known to be data or not */
    char reason[PROBE_REASON];
};
void probe_extents_read(int fd, uint64_t offset, uint64_t length, struct probe_extents *ret);

/*
 * Environment snapshot (DESIGN.md 5.9) as a new JSON object: clock {monotonic_ns, realtime_ns}, boot_id, kernel,
 * cpu {model, online, allowed (affinity), governor ("mixed" if CPUs differ), mhz_min, mhz_max (now)},
 * memory {total, available}, loadavg [3], cgroup {version, path, cpu_max {quota_us, period_us}, cpu_stat {nr_periods,
 * nr_throttled, throttled_us}, memory_max}, pressure {io, cpu: {some_avg10, some_total_us, full_...}},
 * io_uring {disabled: the sysctl}, memlock_limit. Bytes; the limits are the tightest of the group and those above it,
 * cpu_stat is that of the group whose quota binds. Unknown members are null and so are limits that do not exist; the
 * reason ("unlimited" for those) goes into @nulls under the member's name behind @prefix, "environment.begin." with
 * its dot.
 */
json_t *probe_environment(const struct probe *p, json_t *nulls, const char *prefix);

#endif
