/* SPDX-License-Identifier: MIT */
/* What the files of the cuda memory share. */
#ifndef SPUR_MEMORY_CUDA_STATE_H
#define SPUR_MEMORY_CUDA_STATE_H

#include "driver/cuda.h"
#include "kernels/kernels.h"
#include "memory/memory.h"

#include <pthread.h>
#include <stdatomic.h>

/* Page-locked host memory that the GPU can reach. */
struct cuda_stage {
    uintptr_t host, end;
    CUdeviceptr device; /* of host */
    void *base;         /* of the mapping that holds it */
    size_t mapped;
};

/* spur_memory.state */
struct cuda_memory_state {
    const struct cuda_api *api;
    struct cuda_device_info info;
    CUdevice device;
    CUcontext context; /* the primary one, retained */
    CUmodule module;
    CUfunction fill, check, digest, copy;

    pthread_mutex_t lock; /* of the stages */
    struct cuda_stage *stages;
    unsigned n_stages;
    atomic_uint generation; /* rises with every change of the stages */
};

/* A table of copies that a kernel reads; free again once ticket `after` is done. */
struct cuda_slot {
    struct kernel_copy *table;
    CUdeviceptr device;
    uint64_t after; /* 0: never used */
};

#define CUDA_SLOT_COPIES 256u

/* What lies in page-locked memory in front of a stream's tables. */
struct cuda_mailbox {
    struct kernel_result found;   /* written by the copy out of the GPU */
    struct kernel_result initial; /* never changes: copied to the GPU to begin anew */
};

/* memory_stream.state */
struct cuda_stream {
    CUstream stream;
    CUevent *events; /* ticket t is events[t % n_events] */
    unsigned n_events;
    uint64_t last, done; /* tickets: the latest taken, the highest known to be done */

    struct cuda_mailbox *mailbox;
    size_t mailbox_bytes;
    CUdeviceptr result; /* struct kernel_result in device memory */

    struct cuda_slot *slots;
    unsigned n_slots, next_slot;

    struct cuda_stage near; /* the stage looked up last */
    unsigned near_generation;
};

static inline struct cuda_memory_state *cuda_state(const struct spur_memory *m)
{
    return m->state;
}

static inline struct cuda_stream *cuda_stream_of(const struct memory_stream *s)
{
    return s->state;
}

/* Makes the memory's context current on this thread; cheap when it is. */
int cuda_enter(const struct cuda_memory_state *c, struct spur_error *e);

/* cuda_stage.c */
int cuda_stage_alloc(struct spur_memory *m, size_t bytes, void **ret_host, struct spur_error *e);
void cuda_stage_free(struct spur_memory *m, void *host, size_t bytes);
/* Device address of host memory [host, host + bytes) if it lies in one stage, else 0. */
CUdeviceptr cuda_stage_find(struct cuda_memory_state *c, struct cuda_stream *t, const void *host, size_t bytes);

/* cuda_stream.c */
int cuda_stream_open(struct spur_memory *m, unsigned n_tickets, struct memory_stream **ret, struct spur_error *e);
void cuda_stream_close(struct memory_stream *s);
int cuda_mark(struct memory_stream *s, uint64_t *ret_ticket, struct spur_error *e);
int cuda_done(struct memory_stream *s, uint64_t ticket, struct spur_error *e);
int cuda_wait(struct memory_stream *s, uint64_t ticket, struct spur_error *e);

/* cuda_copy.c */
int cuda_copy_in(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, const void *host, size_t bytes,
                 struct spur_error *e);
int cuda_copy_out(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, void *host, size_t bytes,
                  struct spur_error *e);
int cuda_scatter(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e);
int cuda_gather(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e);

/* cuda_pattern.c */
int cuda_fill(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
              const struct pattern_fill *fill, struct spur_error *e);
int cuda_check(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
               const struct pattern_expect *expect, struct spur_error *e);
int cuda_check_collect(struct memory_stream *s, struct pattern_verdict *ret_verdict, struct spur_error *e);
int cuda_digest(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes, uint64_t *ret_digest,
                struct spur_error *e);

#endif
