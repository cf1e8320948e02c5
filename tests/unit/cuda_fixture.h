/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the CUDA memory. They run on the fake libcuda (SPUR_LIBCUDA), or on a GPU where it is unset.
 */
#ifndef CUDA_FIXTURE_H
#define CUDA_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cuda.h"
#include "memory/memory.h"

/* What the fake lets tests do; all NULL on a real driver. */
struct fake_hooks {
    void (*inject)(const char *rules);
    void (*delay)(unsigned us);
    unsigned long (*calls)(const char *symbol);
    unsigned (*leaks)(void);
};

static inline struct fake_hooks fake_hooks_get(void)
{
    const char *file = getenv("SPUR_LIBCUDA");
    void *library = file && *file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    struct fake_hooks h = {0};

    if (!library)
        return h;
    h.inject = (void (*)(const char *))dlsym(library, "spur_fake_cuda_fail");
    h.delay = (void (*)(unsigned))dlsym(library, "spur_fake_cuda_delay");
    h.calls = (unsigned long (*)(const char *))dlsym(library, "spur_fake_cuda_calls");
    h.leaks = (unsigned (*)(void))dlsym(library, "spur_fake_cuda_leaks");
    return h;
}

/* 0, or 77 after saying why the tests are skipped. */
static inline int skip_without_cuda(void)
{
    struct spur_error e;

    if (!spur_memory_probe("cuda:0", &e))
        return 0;
    printf("skipped: %s: %s\n", e.operation, e.detail);
    return 77;
}

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
    return pattern_mix(r->state += PATTERN_STEP);
}

static inline uint64_t random_below(struct random *r, uint64_t n)
{
    return random_next(r) % n;
}

/* A memory with one buffer, one stage and one stream. */
struct rig {
    struct spur_memory *memory;
    struct spur_buffer *buffer;
    struct memory_stream *stream;
    uint8_t *stage;
    size_t bytes; /* of the buffer and of the stage */
};

#define assert_good(call, e)                                                                                           \
    do {                                                                                                               \
        if ((call) < 0)                                                                                                \
            fail_msg("%s: %s: %s", #call, (e)->operation, (e)->detail);                                                \
    } while (0)

static inline void rig_open(struct rig *r, size_t bytes, unsigned n_tickets)
{
    struct spur_error e;
    void *stage;

    r->bytes = bytes;
    assert_good(spur_memory_open("cuda:0", &r->memory, &e), &e);
    assert_good(spur_buffer_alloc(r->memory, bytes, &r->buffer, &e), &e);
    assert_good(r->memory->ops->stage_alloc(r->memory, bytes, &stage, &e), &e);
    assert_good(r->memory->ops->stream_open(r->memory, n_tickets, &r->stream, &e), &e);
    r->stage = stage;
}

static inline void rig_close(struct rig *r)
{
    r->memory->ops->stream_close(r->stream);
    r->memory->ops->stage_free(r->memory, r->stage, r->bytes);
    spur_buffer_free(r->buffer);
    spur_memory_close(r->memory);
}

static inline void rig_wait(struct rig *r)
{
    struct spur_error e;
    uint64_t ticket;

    assert_good(r->memory->ops->mark(r->stream, &ticket, &e), &e);
    assert_good(r->memory->ops->wait(r->stream, ticket, &e), &e);
}

#endif
