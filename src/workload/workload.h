/* SPDX-License-Identifier: MIT */
/*
 * The workload contract: what one thread asks for next. A new shape is one file that defines a struct workload_ops, and
 * one row in src/workload/table.c. The timed loop knows no shape.
 */
#ifndef SPUR_WORKLOAD_H
#define SPUR_WORKLOAD_H

#include "spur.h"

/* A file as workloads see it. */
struct workload_file {
    uint64_t bytes; /* length of the part that may be used (--range, tail cut where it must be) */
    uint64_t begin; /* offset at which it begins (--offset) */
};

/*
 * What all threads share; made before the threads start, read-only afterwards.
 *
 * Threads are dealt round over the files that hold a request: thread i works on file i % n, several threads on one file
 * cut it into parts at multiples of request_bytes; with more files than threads a thread has the files i, i +
 * n_threads,
 * ... whole. Aligned steps start at multiples of request_bytes after begin; the last one of a file has its true length.
 *
 * total_bytes. sequential: the first total_bytes of all files, one after another, each byte once; more than there is:
 * -EINVAL. random and mix: exactly total_bytes over all threads, whose shares differ by at most one request; it must be
 * a multiple of 4096 where request_bytes is one, else of request_bytes; unaligned: anything. A file's tail whose
 * length breaks that multiple is then not drawn.
 *
 * Writing (write, or mix): request_bytes must be a multiple of 4096, a block of the format, unless unaligned.
 * The same plan, seed and order of completions give the same steps.
 */
struct workload_plan {
    const struct workload_file *files;
    unsigned n_files;
    unsigned n_threads;
    uint64_t request_bytes;
    uint64_t total_bytes; /* --bytes over all threads, 0: until stopped */
    uint64_t seed;
    unsigned read_percent; /* for mix */
    unsigned depth;        /* requests that a thread keeps in flight */
    bool unaligned;        /* byte offsets */
    bool write;            /* for sequential and random: the direction */
};

/* One step. */
struct workload_step {
    uint32_t op; /* enum spur_op */
    uint32_t file;
    uint64_t offset;
    uint64_t length;
    uint64_t due_ns; /* CLOCK_MONOTONIC time before which it must not be issued; 0: at once */
};

struct workload_thread; /* defined by each workload */

struct workload_ops {
    const char *name; /* "sequential", "random", "mix" */
    const char *summary;
    bool writes; /* may write */
    /* State of thread @index; NULL with *ret_idle true if there is no work for it (more threads than parts).
     * -EINVAL: the plan cannot be (usage); -EPERM: no file holds a request. Both do not depend on @index. */
    int (*open)(const struct workload_plan *plan, unsigned index, struct workload_thread **ret_thread, bool *ret_idle,
                struct spur_error *e);
    void (*close)(struct workload_thread *t);
    /* Whether steps of this thread may name @file: it needs a handle. */
    bool (*uses)(const struct workload_thread *t, uint32_t file);
    /* 1: @step is filled; 0: the thread has done its share; -EAGAIN: only when steps of a writing workload are
     * unfinished: `depth` of them, or too few free places are left in the thread's part: complete one (done) first. A
     * call that gives -EAGAIN changes nothing. Never blocks; constant cost. Writing workloads never give a block that
     * an unfinished step of any thread covers: threads own disjoint parts, and done() releases. */
    int (*next)(struct workload_thread *t, struct workload_step *step);
    /* A step is complete, as success or failure: once for each step that next gave. Never NULL. */
    void (*done)(struct workload_thread *t, const struct workload_step *step);
};

extern const struct workload_ops *const workload_table[]; /* NULL-terminated */
extern const struct workload_ops sequential_workload, random_workload, mix_workload;

const struct workload_ops *workload_find(const char *name);

#endif
