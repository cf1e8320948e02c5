/* SPDX-License-Identifier: MIT */
/*
 * The memory contract: where bytes end (reads) or start (writes). A new kind is one file that defines a
 * struct memory_ops, and one row in src/memory/table.c. State lives in spur_memory.state, spur_buffer.state
 * and memory_stream.state; nothing at file scope.
 *
 * Slots left NULL are filled from the host defaults (src/memory/host.c), which treat spur_buffer.address as a
 * CPU address, so the core never tests for NULL.
 *
 * A stream is an in-order queue of copies and checks, used by one thread. With stream == NULL a call is complete
 * on return. Host memory given to an asynchronous call must stay untouched until a ticket taken later is done.
 */
#ifndef SPUR_MEMORY_H
#define SPUR_MEMORY_H

#include "pattern/pattern.h"
#include "spur.h"

struct memory_ops;

struct spur_memory {
    const struct memory_ops *ops; /* complete: defaults filled in */
    unsigned index;               /* N of "cuda:N", else 0 */
    char name[32];
    void *state;
};

struct spur_buffer {
    struct spur_memory *memory;
    uint64_t address; /* CPU or device address, page-aligned */
    size_t bytes;
    void *state;
};

struct memory_stream {
    struct spur_memory *memory;
    void *native; /* CUstream for cuda, else NULL: goes into spur_completion.stream */
    void *state;
    struct pattern_verdict verdict; /* used by synchronous kinds; others keep their own and merge on collect */
};

/* One copy of a scatter or gather. */
struct memory_copy {
    struct spur_buffer *buffer;
    uint64_t offset; /* in the buffer */
    void *host;      /* memory from stage_alloc or a page-locked buffer */
    size_t bytes;
};

struct memory_ops {
    const char *name;
    const char *summary;
    bool takes_index; /* "cuda:N" */
    bool is_device;   /* bytes cannot be reached by the CPU: paths must stage and copy */
    bool is_emulated;
    bool is_page_locked; /* host memory, page-locked */

    /* 0, or negative errno with the exact reason. */
    int (*probe)(unsigned index, struct spur_error *e);
    /* Fills m->state. For a GPU: retains the context and makes it current on the calling thread. */
    int (*open)(struct spur_memory *m, struct spur_error *e);
    void (*close)(struct spur_memory *m);
    /* Adds device facts; the core has filled what the flags say. */
    void (*describe)(const struct spur_memory *m, struct spur_memory_info *info);
    /* Called once on every thread that will use the memory (makes the context current). */
    int (*thread_enter)(struct spur_memory *m, struct spur_error *e);

    /* b->bytes is set; fills b->address (page-aligned) and b->state. */
    int (*alloc)(struct spur_memory *m, struct spur_buffer *b, struct spur_error *e);
    void (*free)(struct spur_buffer *b);

    /* Host memory that copies to and from this memory run from at full speed (page-locked, near the device);
     * page-aligned. Default: page-locked host memory. */
    int (*stage_alloc)(struct spur_memory *m, size_t bytes, void **ret_host, struct spur_error *e);
    void (*stage_free)(struct spur_memory *m, void *host, size_t bytes);

    /* Streams. n_tickets: the most tickets that will be undone at once. */
    int (*stream_open)(struct spur_memory *m, unsigned n_tickets, struct memory_stream **ret_stream,
                       struct spur_error *e);
    void (*stream_close)(struct memory_stream *s); /* waits for what was enqueued */

    /* Copies; stream NULL: complete on return. */
    int (*copy_in)(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, const void *host, size_t bytes,
                   struct spur_error *e);
    int (*copy_out)(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, void *host, size_t bytes,
                    struct spur_error *e);
    /* Many small copies into (scatter) or out of (gather) the memory at the cost of about one. Copies must not
     * overlap. The array may be reused on return. Default: a loop over copy_in / copy_out. */
    int (*scatter)(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e);
    int (*gather)(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e);

    /* A ticket (> 0, rising) is done when all that was enqueued on the stream before it is done. */
    int (*mark)(struct memory_stream *s, uint64_t *ret_ticket, struct spur_error *e);
    int (*done)(struct memory_stream *s, uint64_t ticket, struct spur_error *e); /* 1, 0, negative errno */
    int (*wait)(struct memory_stream *s, uint64_t ticket, struct spur_error *e);

    /* The pattern, where the bytes lie. In stream order; s must not be NULL. */
    int (*fill)(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                const struct pattern_fill *fill, struct spur_error *e);
    int (*check)(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                 const struct pattern_expect *expect, struct spur_error *e);
    /* Waits for the stream, returns what its checks found since the stream was opened, or the last collect. */
    int (*check_collect)(struct memory_stream *s, struct pattern_verdict *ret_verdict, struct spur_error *e);
    /* Order-independent digest (pattern_digest) of a range; complete on return. */
    int (*digest)(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes, uint64_t *ret_digest,
                  struct spur_error *e);
};

/* Rows; NULL-terminated. src/memory/table.c */
extern const struct memory_ops *const memory_table[];
extern const struct memory_ops pageable_memory, pinned_memory, cuda_memory, emulated_memory;

/* Host defaults, for kinds that reuse some of them (src/memory/host.c). */
extern const struct memory_ops host_memory_defaults;

/* Page-locked host memory without a GPU: mmap, touched and mlocked; -ENOMEM names RLIMIT_MEMLOCK. */
int host_lock_alloc(size_t bytes, void **ret_host, struct spur_error *e);
void host_lock_free(void *host, size_t bytes);
/* The same without locking: mapped and touched. Freed by host_lock_free. */
int host_map_alloc(size_t bytes, void **ret_host, struct spur_error *e);

/* -EINVAL with a detail unless [offset, offset + bytes) lies in the buffer. */
int memory_check_range(const struct spur_buffer *b, uint64_t offset, size_t bytes, struct spur_error *e);

#endif
