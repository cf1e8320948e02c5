/* SPDX-License-Identifier: MIT */
/*
 * Inside the fan-out engine:
 *
 *   fanout.c           the path's callbacks
 *   fanout_settings.c  settings, and what "auto" comes to on this machine
 *   fanout_plan.c      request -> pieces, arithmetic only
 *   fanout_queue.c     requests and pieces on their way: cut, sent, landed, done
 *   fanout_copy.c      copies between staging and memory, in batches with a ticket each
 *   fanout_uring.c     backend: io_uring
 *   fanout_pool.c      backend: threads with pread and pwrite
 *   fanout_caller.c    backend: the caller itself with pread and pwrite
 *   fanout_facts.c     effective settings and evidence
 *
 * A piece of a read: on the wire -> (staged: copied) -> done. Of a write: (staged: copied) -> on the wire -> done.
 * Everything of a queue is used by its one caller thread; only the pool's threads read pieces that are on the wire.
 */
#ifndef SPUR_PATH_FANOUT_H
#define SPUR_PATH_FANOUT_H

#include <pthread.h>
#include <sys/types.h>

#include "path/fanout_plan.h"
#include "path/path.h"

#define FANOUT_MAX_DEPTH  1024u
#define FANOUT_MAX_PIECES 1024u
#define FANOUT_SMALL_SLOT 8192u /* holds the cover of a 4 KiB request, and an edge */
#define FANOUT_BATCHES    64u   /* copy batches under way */
#define FANOUT_COPIES     1024u /* small copies in one call */
#define FANOUT_NONE       UINT32_MAX

enum fanout_choice { FANOUT_AUTO, FANOUT_YES, FANOUT_NO };
enum fanout_engine { FANOUT_ENGINE_AUTO, FANOUT_ENGINE_URING, FANOUT_ENGINE_THREADS, FANOUT_ENGINE_CALLER };

/* As asked for; 0 is "auto". */
struct fanout_settings {
    enum fanout_engine engine;
    enum fanout_choice async;
    bool direct;
    uint64_t piece, stage;
    unsigned batch, workers;
};

/* What a queue runs with; the same for all queues of a path but for what the kernel grants. */
struct fanout_setup {
    const char *engine;     /* static */
    bool engine_for_memory; /* chosen by auto because the files are in memory */
    uint32_t piece_bytes;
    const char *piece_source; /* static */
    uint64_t stage_bytes;
    unsigned depth, n_pieces, batch, workers;
    uint32_t async_min; /* pieces from this size on are given to kernel workers; UINT32_MAX: none */
    bool registered_files;
    uint64_t registered_buffer_bytes; /* 0: none, and why: */
    char unregistered_reason[256];
    char ring_flags[96];
};

struct fanout_stats {
    uint64_t pieces, bytes_read, bytes_written, edge_writes, short_completions, retries;
    uint64_t copies, scatters, gathers, batches;
    uint64_t sends, pieces_in_flight_max, pieces_in_flight_sum; /* sum: over the sends */
};

/* spur_path.state */
struct fanout_path {
    struct fanout_settings settings;
    const struct fanout_backend *backend;
    char backend_reason[256]; /* why not io_uring, where that was not asked for */
    uint64_t n_files_opened;
    struct fanout_attached {
        struct spur_buffer *buffer;
        pid_t thread;
    } * attached;
    size_t n_attached;

    pthread_mutex_t lock; /* of what follows: queues open and close on their own threads */
    struct fanout_queue *queues;
    struct fanout_stats closed; /* sum over closed queues */
    struct fanout_setup setup;  /* of the queue opened last, with the worst of all for what is registered */
    unsigned n_queues_opened;
};

/* spur_file.state */
struct fanout_file {
    uint64_t id; /* never used twice in a path: a registered descriptor of a closed file is not taken for another's */
};

struct fanout_piece {
    uint64_t io_offset, want_offset, segment_offset;
    uint8_t *host; /* where io_offset lies: staging, or the caller's memory */
    struct spur_file *file;
    uint32_t io_bytes, want_bytes, segment;
    uint32_t got; /* done of io_bytes; aligned while more is to come */
    uint32_t request, next, slot;
    uint16_t retries;
    bool write, buffered;
};

struct fanout_request {
    struct spur_request request; /* segments are always there: */
    struct spur_segment own;
    struct fanout_plan plan;
    uint64_t end;              /* file offset up to which bytes were moved */
    uint32_t on_wire, in_copy; /* pieces */
    int code;                  /* first failure, negative errno */
    bool parked;               /* edges wait until the direct pieces are done */
    bool copy_only;            /* counted in n_copy_only */
    bool sub_page, counted_sub_page, counted_edges, staged;
};

struct fanout_landed {
    uint32_t piece;
    int32_t result; /* bytes or negative errno */
};

/* Pieces linked by `next`. */
struct fanout_list {
    uint32_t first, last, n;
};

struct fanout_batch {
    uint64_t ticket;
    struct fanout_list pieces;
};

/* spur_queue.state */
struct fanout_queue {
    struct spur_queue *queue;
    struct fanout_path *path;
    const struct memory_ops *memory;
    struct memory_stream *stream;
    const struct fanout_backend *backend;
    void *backend_state;
    struct fanout_setup setup;
    bool is_device;

    struct fanout_request *requests;
    struct spur_error *errors; /* one per request */
    uint32_t *free_requests, n_free_requests;
    uint32_t *backlog, backlog_first, n_backlog; /* rings of `depth` requests: not yet cut to the end, ... */
    uint32_t *done, done_first, n_done;          /* ... and complete */

    struct fanout_piece *pieces;
    uint32_t *free_pieces, n_free_pieces;

    uint8_t *stage; /* n_small slots of FANOUT_SMALL_SLOT, then n_large of slot_bytes */
    uint32_t slot_bytes, n_small, n_large;
    uint32_t *free_small, *free_large, n_free_small, n_free_large;

    struct fanout_list to_copy;
    unsigned n_to_copy_large, gather_min;
    struct fanout_batch batches[FANOUT_BATCHES];
    unsigned batch_first, n_batches;
    struct memory_copy *scatter, *gather;
    unsigned n_scatter, n_gather;
    struct spur_error copy_error;

    unsigned n_wire, n_unflushed;
    unsigned n_copy_only;         /* requests whose only hope is a copy */
    unsigned n_gathering;         /* pieces of writes being copied */
    unsigned n_sub_page, n_edges; /* requests that write parts of pages directly, through the cache: never both */
    struct fanout_landed *landed;

    int broken; /* negative errno: the backend failed */
    struct spur_error broken_error;
    struct fanout_stats stats;
    struct fanout_queue *next;
};

/* Moves pieces. Errors of a piece are results; errors returned are of the backend itself. */
struct fanout_backend {
    const char *name;
    bool one_at_a_time; /* never more than one piece under way, whatever was pushed */
    /* -ENOSYS, -EPERM, -EACCES: not available here; anything else is an error. */
    int (*probe)(struct spur_error *e);
    /* Fills its part of q->setup. */
    int (*open)(struct fanout_queue *q, struct spur_error *e);
    void (*close)(struct fanout_queue *q);
    /* To be started by the next flush or reap. Never more than setup.n_pieces at once. */
    void (*push)(struct fanout_queue *q, uint32_t piece);
    int (*flush)(struct fanout_queue *q, struct spur_error *e);
    /* What has landed, up to @max. If that is nothing and @wait > 0: flushes and waits for @wait of them, or for
     * @timeout_ns (0: without end); may return with none. */
    int (*reap)(struct fanout_queue *q, struct fanout_landed *landed, unsigned max, unsigned wait, uint64_t timeout_ns,
                struct spur_error *e);
};

extern const struct fanout_backend fanout_uring, fanout_pool, fanout_caller;

/* fanout_caller.c: one pread or pwrite of what is missing of a piece; bytes or negative errno */
int32_t fanout_piece_transfer(const struct fanout_piece *p);

/* fanout_settings.c */
extern const struct spur_setting fanout_setting_rows[];
int fanout_settings_parse(const struct spur_path *p, struct fanout_settings *ret, struct spur_error *e);
int fanout_setup_decide(struct fanout_queue *q, struct spur_error *e);

/* fanout_queue.c */
int fanout_queue_init(struct fanout_queue *q, struct spur_error *e); /* arrays and slots; q->stage is there */
void fanout_queue_free(struct fanout_queue *q);
void fanout_queue_drain(struct fanout_queue *q);
void fanout_queue_accept(struct fanout_queue *q, const struct spur_request *requests, unsigned n);
int fanout_queue_reap(struct fanout_queue *q, struct spur_completion *ret, unsigned max, unsigned min,
                      struct spur_error *e);
int fanout_queue_flush(struct fanout_queue *q);
void fanout_piece_send(struct fanout_queue *q, uint32_t piece); /* to the wire */
void fanout_piece_finish(struct fanout_queue *q, uint32_t piece);
void fanout_request_fail(struct fanout_queue *q, uint32_t request, int code, const struct spur_error *e);
void fanout_list_append(struct fanout_queue *q, struct fanout_list *list, uint32_t piece);

static inline void fanout_request_moved(struct fanout_queue *q, struct fanout_request *r, int wire, int copy)
{
    bool copy_only;

    r->on_wire += (uint32_t)wire;
    r->in_copy += (uint32_t)copy;
    copy_only = !r->on_wire && r->in_copy;
    q->n_copy_only += (unsigned)copy_only - (unsigned)r->copy_only;
    r->copy_only = copy_only;
}

/* fanout_land.c: @result as of struct fanout_landed */
void fanout_piece_land(struct fanout_queue *q, uint32_t piece, int32_t result);

/* fanout_copy.c */
void fanout_copy_add(struct fanout_queue *q, uint32_t piece);
void fanout_copy_launch(struct fanout_queue *q);  /* if it is time for another batch */
bool fanout_copy_collect(struct fanout_queue *q); /* batches that are done; false: none */
void fanout_copy_wait(struct fanout_queue *q);    /* until the oldest batch is done */

/* fanout_facts.c */
void fanout_stats_add(struct fanout_stats *into, const struct fanout_stats *from);
void fanout_effective(struct spur_path *p, path_fact_fn emit, void *context);
void fanout_evidence(struct spur_path *p, path_fact_fn emit, void *context);

#endif
