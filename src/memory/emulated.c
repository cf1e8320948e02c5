/* SPDX-License-Identifier: MIT */
/*
 * A GPU emulated in host memory: a region of its own, and for each stream a copy engine, a thread with a queue that
 * completes copies, fills and checks later and in order. It reads a copy's source when it performs the copy, so a
 * buffer that is used again too early shows as wrong bytes, as it would on a GPU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "memory/memory.h"

enum job_kind { JOB_IN, JOB_OUT, JOB_FILL, JOB_CHECK };

struct job {
    enum job_kind kind;
    uint8_t *device;
    uint8_t *host;
    size_t bytes;
    struct pattern_fill fill;
    struct pattern_expect expect;
};

/* n_put and n_done count jobs since the stream was opened; a ticket is n_put when it was taken. */
struct engine {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, progress;
    struct job *ring;
    uint64_t ring_size, n_put, n_done;
    bool stop;
    struct pattern_verdict verdict; /* of the engine's thread; read by others when the queue is empty */
};

static void perform(struct engine *g, const struct job *j)
{
    switch (j->kind) {
    case JOB_IN:
        memcpy(j->device, j->host, j->bytes);
        break;
    case JOB_OUT:
        memcpy(j->host, j->device, j->bytes);
        break;
    case JOB_FILL:
        pattern_fill_range(j->device, j->bytes, &j->fill);
        break;
    case JOB_CHECK:
        pattern_check_range(j->device, j->bytes, &j->expect, &g->verdict);
        break;
    }
}

static void *engine_main(void *arg)
{
    struct engine *g = arg;

    pthread_mutex_lock(&g->lock);
    for (;;) {
        while (g->n_done == g->n_put && !g->stop)
            pthread_cond_wait(&g->work, &g->lock);
        if (g->n_done == g->n_put)
            break;
        struct job j = g->ring[g->n_done % g->ring_size];

        pthread_mutex_unlock(&g->lock);
        perform(g, &j);
        pthread_mutex_lock(&g->lock);
        g->n_done++;
        pthread_cond_broadcast(&g->progress);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static int emulated_stream_open(struct spur_memory *m, unsigned n_tickets, struct memory_stream **ret_stream,
                                struct spur_error *e)
{
    struct memory_stream *s = calloc(1, sizeof(*s));
    struct engine *g = calloc(1, sizeof(*g));
    int r = ENOMEM;

    if (!s || !g)
        goto fail;
    g->ring_size = n_tickets > 1024 ? n_tickets : 1024;
    g->ring = calloc(g->ring_size, sizeof(*g->ring));
    if (!g->ring)
        goto fail;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->work, NULL);
    pthread_cond_init(&g->progress, NULL);
    r = pthread_create(&g->thread, NULL, engine_main, g);
    if (r)
        goto fail;
    pthread_setname_np(g->thread, "spur-emu");
    s->memory = m;
    s->state = g;
    *ret_stream = s;
    return 0;
fail:
    if (g)
        free(g->ring);
    free(g);
    free(s);
    return error_errno(e, r, "pthread_create", "copy engine of the emulated GPU");
}

static void emulated_stream_close(struct memory_stream *s)
{
    struct engine *g = s->state;

    pthread_mutex_lock(&g->lock);
    g->stop = true;
    pthread_cond_signal(&g->work);
    pthread_mutex_unlock(&g->lock);
    pthread_join(g->thread, NULL);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->work);
    pthread_cond_destroy(&g->progress);
    free(g->ring);
    free(g);
    free(s);
}

static int put(struct memory_stream *s, const struct job *j)
{
    struct engine *g = s->state;

    pthread_mutex_lock(&g->lock);
    while (g->n_put - g->n_done == g->ring_size)
        pthread_cond_wait(&g->progress, &g->lock);
    g->ring[g->n_put++ % g->ring_size] = *j;
    pthread_cond_signal(&g->work);
    pthread_mutex_unlock(&g->lock);
    return 0;
}

static uint8_t *device_at(const struct spur_buffer *b, uint64_t offset)
{
    return (uint8_t *)(uintptr_t)b->address + offset;
}

static int emulated_copy_in(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, const void *host,
                            size_t bytes, struct spur_error *e)
{
    if (s)
        return put(s, &(struct job){JOB_IN, device_at(b, offset), (uint8_t *)host, bytes});
    memcpy(device_at(b, offset), host, bytes);
    return 0;
}

static int emulated_copy_out(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, void *host, size_t bytes,
                             struct spur_error *e)
{
    if (s)
        return put(s, &(struct job){JOB_OUT, device_at(b, offset), host, bytes});
    memcpy(host, device_at(b, offset), bytes);
    return 0;
}

static int emulated_mark(struct memory_stream *s, uint64_t *ret_ticket, struct spur_error *e)
{
    struct engine *g = s->state;

    pthread_mutex_lock(&g->lock);
    *ret_ticket = g->n_put + 1; /* + 1: tickets are above 0 */
    pthread_mutex_unlock(&g->lock);
    return 0;
}

static int emulated_done(struct memory_stream *s, uint64_t ticket, struct spur_error *e)
{
    struct engine *g = s->state;
    bool done;

    pthread_mutex_lock(&g->lock);
    done = g->n_done + 1 >= ticket;
    pthread_mutex_unlock(&g->lock);
    return done;
}

static int emulated_wait(struct memory_stream *s, uint64_t ticket, struct spur_error *e)
{
    struct engine *g = s->state;

    pthread_mutex_lock(&g->lock);
    while (g->n_done + 1 < ticket)
        pthread_cond_wait(&g->progress, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return 0;
}

static int emulated_fill(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                         const struct pattern_fill *fill, struct spur_error *e)
{
    return put(s, &(struct job){JOB_FILL, device_at(b, offset), NULL, bytes, .fill = *fill});
}

static int emulated_check(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                          const struct pattern_expect *expect, struct spur_error *e)
{
    return put(s, &(struct job){JOB_CHECK, device_at(b, offset), NULL, bytes, .expect = *expect});
}

static int drain(struct memory_stream *s)
{
    uint64_t ticket;

    emulated_mark(s, &ticket, NULL);
    return emulated_wait(s, ticket, NULL);
}

static int emulated_check_collect(struct memory_stream *s, struct pattern_verdict *ret_verdict, struct spur_error *e)
{
    struct engine *g = s->state;

    drain(s);
    *ret_verdict = g->verdict;
    g->verdict = (struct pattern_verdict){0};
    return 0;
}

static int emulated_digest(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                           uint64_t *ret_digest, struct spur_error *e)
{
    drain(s);
    *ret_digest = pattern_digest(device_at(b, offset), bytes);
    return 0;
}

/* Not locked: nothing is claimed of its speed, and ordinary users may lock 8 MiB or less. */
static int emulated_stage_alloc(struct spur_memory *m, size_t bytes, void **ret_host, struct spur_error *e)
{
    return host_map_alloc(bytes, ret_host, e);
}

static void emulated_describe(const struct spur_memory *m, struct spur_memory_info *info)
{
    snprintf(info->device_name, sizeof(info->device_name), "host memory and a copy engine thread");
}

const struct memory_ops emulated_memory = {
    .name = "emulated",
    .summary = "a GPU emulated in host memory, with a copy engine that completes later",
    .is_device = true,
    .is_emulated = true,
    .describe = emulated_describe,
    .stage_alloc = emulated_stage_alloc,
    .stream_open = emulated_stream_open,
    .stream_close = emulated_stream_close,
    .copy_in = emulated_copy_in,
    .copy_out = emulated_copy_out,
    .mark = emulated_mark,
    .done = emulated_done,
    .wait = emulated_wait,
    .fill = emulated_fill,
    .check = emulated_check,
    .check_collect = emulated_check_collect,
    .digest = emulated_digest,
};
