/* SPDX-License-Identifier: MIT */
/* The files of a trial: found, judged safe and true to read or write, before anything is opened for writing. */
#ifndef SPUR_WORKER_TARGET_H
#define SPUR_WORKER_TARGET_H

#include "probe/probe.h"
#include "worker/job.h"

/* What others' writing changes (modified.h). */
struct target_state {
    bool known;
    uint64_t bytes;
    int64_t s;
    uint32_t ns; /* of the time of modification */
};

struct target {
    char *filename;
    uint64_t bytes;        /* of the file */
    uint64_t begin_bytes;  /* where the part that the trial may touch begins: --offset */
    uint64_t usable_bytes; /* length of that part: --range */
    bool is_block_device;
    bool is_spur;     /* in spur's block format */
    bool in_memory;   /* tmpfs and the like */
    uint64_t uuid[2]; /* of the file if is_spur; else of what a writing trial will write */
    int fd;           /* read-only, through the page cache; kept open for residency and comparisons */
    bool away;        /* fd names the file, and is not open to read */
    dev_t device;     /* st_dev, or st_rdev of a block device */
    char fs_type[16];
    struct probe_extents extents;
    struct target_state seen;
    bool modified; /* by another process, during the trial */
};

struct target_list {
    struct target *items;
    size_t n;
    size_t n_skipped; /* files of a directory that are smaller than one request */
};

/*
 * Expands and judges the job's files. Exit codes follow from @e: usage (--range), refused (holes, foreign file to
 * write, FIFO, ...), errno (missing, unreadable).
 */
int target_list_make(const struct job *job, struct target_list *ret_list, struct spur_error *e);
void target_list_free(struct target_list *list);
/*
 * Before and after the part that is timed. FUSE has writes past the cache in flight together only while no descriptor
 * of the file goes through the page cache (since Linux 6.9): ours of files there is put away in a trial that writes.
 */
void target_list_put_away(const struct job *job, struct target_list *list);
int target_list_take_back(struct target_list *list, struct spur_error *e);
/* Takes the mark of spur's format from a file of which only a part is in it: it is foreign again. */
int target_disown(const struct target *t, struct spur_error *e);

#endif
