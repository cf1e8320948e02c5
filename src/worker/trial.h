/* SPDX-License-Identifier: MIT */
/* One trial inside the worker process: its objects, its threads, its window. */
#ifndef SPUR_WORKER_TRIAL_H
#define SPUR_WORKER_TRIAL_H

#include <pthread.h>

#include "memory/memory.h"
#include "worker/histogram.h"
#include "worker/job.h"
#include "worker/target.h"
#include "workload/workload.h"

#define MAX_INTERVALS      65536u
#define MAX_FOREIGN_CHECKS (1u << 18) /* of one thread: requests of foreign files whose digest is kept */

/* Counters of one direction or file. */
struct tally {
    uint64_t bytes, requests;
};

/* A timed request of a foreign file, to be compared with an independent read afterwards. */
struct foreign_check {
    uint32_t file;
    uint64_t offset, length, digest;
};

/* What checking found; error names the first mismatch. */
struct checks {
    uint64_t bytes_ok;          /* of what completed inside the window (or of the pass) */
    uint64_t bytes_outside_ok;  /* of what completed after the window */
    uint64_t bytes_deferred_ok; /* of foreign files, inside the window, compared after it */
    uint64_t bytes_unjudged, blocks_bad;
    uint64_t cost_ns;  /* wall time that threads spent on checking */
    uint64_t stamp_ns; /* and on putting new headers into what they write */
    struct spur_error mismatch;
};

/* A stretch of work: the timed part, or the untimed pass. */
struct leg {
    const struct workload_ops *workload;
    uint64_t start_ns;     /* nothing is issued before it */
    uint64_t t0_ns, t1_ns; /* what completes in [t0, t1] counts; after t1 nothing is issued */
    bool counts;           /* false: nothing is recorded */
    enum job_verify check; /* VERIFY_INLINE: each request */
};

enum phase { PHASE_SETUP, PHASE_TIMED, PHASE_PASS, PHASE_END };

/* A thread's last write where --bytes ended in the middle of a request: it reached the start of its cell only. */
struct cut_write {
    uint64_t bytes; /* 0: there is none */
    uint64_t cell;
    uint32_t file;
};

struct slot {
    struct workload_step step;
    uint64_t issue_ns;
};

struct trial_thread {
    struct trial *trial;
    unsigned index;
    pthread_t thread;
    struct spur_file **files; /* one for each target */
    struct spur_buffer *buffer;
    uint64_t buffer_base; /* where this thread's slots begin in it */
    struct spur_queue *queue;
    struct memory_stream *stream; /* for stamps and checks */
    struct workload_thread *work;
    bool idle; /* no part of the work is its own */
    struct slot *slots;
    struct spur_request *requests; /* by slot */
    unsigned *free_slots;
    struct spur_completion *completions;
    unsigned *batch; /* slots to stamp or check together */

    struct tally by_op[2];
    struct tally *by_file;
    struct tally *intervals;
    uint64_t interval, interval_end_ns; /* current */
    uint64_t first_done_ns, last_done_ns;
    uint64_t n_completions; /* of all phases; read by the coordinator */
    struct histogram histogram;

    struct checks checks; /* of the current leg */
    unsigned since_check;
    struct cut_write cut;
    struct foreign_check *foreign;
    uint64_t n_foreign, n_foreign_full; /* kept, and not kept for want of room */
    bool pass_cut;                      /* a part of the pass was not done */
    bool failed;
    struct spur_error error;
} __attribute__((aligned(128)));

#define TRIAL_MAX_MEMORIES 16

struct trial {
    const struct job *job;
    struct target_list targets;
    struct spur_memory *memory;          /* the first: all are of one kind */
    struct spur_memory_info memory_info; /* of it */
    struct spur_memory *memories[TRIAL_MAX_MEMORIES];
    unsigned n_memories;     /* several: GPUs to which threads are dealt in turn */
    char memory_reason[200]; /* why --memory auto did not take a GPU; empty where it did or was not asked */
    struct spur_path *path;
    struct spur_file **files; /* all handles: of thread 0's files, then thread 1's, ... or one set */
    size_t n_files;
    struct spur_buffer **buffers;
    size_t n_buffers;
    struct spur_limits limits; /* the strictest over the files */
    uint64_t slot_bytes;       /* of a thread's buffer, for each request in flight */
    uint64_t write_shift; /* mix: writes start that far behind reads in a slot, for reads would spoil their payload */
    struct workload_file *workload_files;
    struct workload_plan plan, pass_plan;
    const struct workload_ops *workload, *pass_workload;
    bool reads_back;  /* the pass is a read-back of what was written */
    bool synchronous; /* one request a thread, by transfer */
    bool moves_bytes;
    struct external *external;   /* another program that runs the trial; NULL: none */
    uint64_t tail_skipped_bytes; /* ends of files that the path cannot write */
    uint64_t generation_base;
    uint32_t **cells; /* writing: by file and request-sized cell, how often it was written */
    struct trial_thread *threads;
    unsigned n_threads;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum phase phase;
    unsigned turn;      /* rises with each phase */
    unsigned n_arrived; /* threads that are done with the phase */
    int wake_fd;        /* eventfd: the last thread arrived */
    struct leg leg;
    uint32_t stop; /* atomic: issue nothing more */
};

/* trial.c: makes everything up to threads that are ready; trial_free ends threads and frees all. */
int trial_make(const struct job *job, struct trial *ret_trial, struct spur_error *e);
void trial_free(struct trial *t);
/* The same without buffers and threads: whether the trial can be, and with which effective settings. */
int trial_open(const struct job *job, struct trial *ret_trial, struct spur_error *e);
void trial_close(struct trial *t);
/* Lets the threads run @leg; trial->wake_fd becomes readable when all are done. */
void trial_start(struct trial *t, const struct leg *leg, enum phase phase);
/* All threads are done with the current phase. */
bool trial_arrived(struct trial *t);
void trial_wait(struct trial *t);
void trial_stop(struct trial *t);

/* threads.c */
int trial_start_threads(struct trial *t, struct spur_error *e);
void trial_thread_free(struct trial_thread *w);

/* loop.c */
void loop_run(struct trial_thread *t, const struct leg *leg);

/* check.c: all on the thread's own stream and buffer. */
int check_stamp(struct trial_thread *t, const unsigned *slots, unsigned n);
/* inside: they completed inside the window */
void check_reads(struct trial_thread *t, const struct leg *leg, const unsigned *slots, unsigned n, bool inside);
/* After the timed part: kept digests against independent buffered reads. */
void check_foreign(struct trial_thread *t, uint64_t deadline_ns);
/* After a writing trial: reads back thread @index's share of the written cells through fresh descriptors. */
void check_read_back(struct trial_thread *t, uint64_t deadline_ns);
/* Bytes of a cell, and those of them that the last write to it reached. */
uint64_t check_cell_bytes(const struct trial *t, uint32_t file, uint64_t cell);
uint64_t check_last_written(const struct trial *t, uint32_t file, uint64_t cell);
void check_note_mismatch(struct trial_thread *t, const char *filename, const struct pattern_verdict *v);

static inline bool trial_stopping(const struct trial *t)
{
    return __atomic_load_n(&t->stop, __ATOMIC_RELAXED);
}

#endif
