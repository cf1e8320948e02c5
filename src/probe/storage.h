/* SPDX-License-Identifier: MIT */
/*
 * What the storage below a set of files saw in a stretch of time: requests on the wire, from the counters of the kernel
 * or of simfs at its two ends. Nothing here knows what was asked for. docs/wire.md has the formulas with their sources.
 */
#ifndef SPUR_PROBE_STORAGE_H
#define SPUR_PROBE_STORAGE_H

#include "probe/disk.h"
#include "probe/nfs.h"
#include "probe/simfs.h"

#define STORAGE_MAX 48

enum storage_source { STORAGE_NONE, STORAGE_BLOCK, STORAGE_NFS, STORAGE_SIMFS };

/* "block", "nfs", "simfs"; NULL for NONE. */
const char *storage_source_name(enum storage_source source);

/* A thing that counts: a whole disk, or a mount. */
struct storage_item {
    enum storage_source source; /* NONE: nothing counts the requests to these files; reason says why */
    char *name;                 /* disk ("nvme0n1") or mount point; owned */
    char *host;                 /* NFS: server, as the mount names it; else NULL; owned */
    dev_t device;               /* of the mount; 0 for disks */
    char reason[PROBE_REASON];
};

struct storage {
    unsigned n;
    struct storage_item items[STORAGE_MAX];
    bool shared; /* two mounts among those found share a superblock, and so all counters: there is one item of them */
    char *loop_file; /* one of them is a loop device: the file that it is bound to; owned */
    bool full;       /* there are more than STORAGE_MAX: the sum cannot be known */
};

/* Adds what counts the requests to @filename, on @dev (st_dev, or st_rdev of a device node); what is there already is
 * not added twice. Nothing else is read or changed. */
void storage_add(const struct probe *p, const char *filename, dev_t dev, struct storage *s);
void storage_free(struct storage *s);

/* One item's counters. */
struct storage_counters {
    bool known;
    uint64_t t_ns; /* CLOCK_MONOTONIC, in the middle of the reading */
    union {
        struct probe_disk disk;
        struct probe_nfs_mount nfs;
        struct probe_simfs simfs;
    };
    char reason[PROBE_REASON];
};
void storage_read(const struct probe *p, const struct storage_item *item, struct storage_counters *ret);

/* Requests of one kind that were answered. */
struct storage_requests {
    uint64_t n, bytes;
    bool is_timed;       /* service_ns is theirs */
    uint64_t service_ns; /* sum: from handing over to answer */
};

/* Between two readings. A counter that went back makes all unknown. */
struct storage_window {
    bool known;
    bool is_exact; /* times are in nanoseconds; else they are sums of whole milliseconds */
    double seconds;
    struct storage_requests read, write, all;
    uint64_t busy_ns; /* integral over time of the number handed over and not answered */
    bool is_stuck;    /* some were under way and none was answered: busy_ns may miss them */
    bool has_retries;
    uint64_t retries;
    bool has_server_cpu;
    double server_cpu_s;
    char reason[PROBE_REASON]; /* why it is not known */
};
void storage_window_make(const struct storage_item *item, const struct storage_counters *begin,
                         const struct storage_counters *end, struct storage_window *ret);
/* Over all items. Unknown if one of them is, with its reason; and without items. */
void storage_window_sum(const struct storage *s, const struct storage_window *windows, struct storage_window *ret);

/*
 * Disks that counted less than a tenth of what this process alone read through them in the window (@read_bytes, from
 * /proc/self/io) miss most of it, as the head of an NVMe multipath device does in some kernels: the sum is not known
 * then. Not where a loop's page cache may have answered.
 */
void storage_window_check(const struct storage *s, uint64_t read_bytes, struct storage_window *sum);

/* Means of a known window: NULL, or the reason why there is none. */
const char *storage_mean_service(const struct storage_window *w, const struct storage_requests *r, double *ret_ns);
const char *storage_mean_in_flight(const struct storage_window *w, double *ret);

/* How many are in flight now, over all items; false with the reason. @idle: what storage_idle found, or NULL. */
struct storage_idle {
    uint64_t unanswered[STORAGE_MAX]; /* NFS: sends less receives of transports on which nothing is under way */
    uint64_t repeated[STORAGE_MAX];   /* and transmissions that were not the first */
};
bool storage_in_flight(const struct probe *p, const struct storage *s, const struct storage_idle *idle, uint64_t *ret,
                       char *reason);
/* To be called before the trial's first request. */
void storage_idle_read(const struct probe *p, const struct storage *s, struct storage_idle *ret);

#endif
