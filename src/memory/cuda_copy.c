/* SPDX-License-Identifier: MIT */
/*
 * Copies between host memory and a GPU. Many small ones become one kernel launch: its thread blocks read (or write)
 * page-locked host memory over the bus themselves, which costs the CPU one call instead of hundreds.
 */
#include "memory/cuda_state.h"

#include "core/error.h"

#include <errno.h>

#define KERNEL_MOST_BYTES   (64u << 10) /* of one copy: larger ones are as fast on a copy engine */
#define KERNEL_LEAST_COPIES 4u          /* fewer cost less one by one */

/* ------------------------------------------------------------------------------------------------
 * Single copies. Without a stream the thread's own is used and waited for: the plain synchronous calls may return
 * before the bytes of a pageable source have arrived.
 */

static int finish(const struct cuda_memory_state *c, CUresult code, const struct memory_stream *s,
                  const char *operation, size_t bytes, uint64_t offset, struct spur_error *e)
{
    if (code)
        return cuda_fail(c->api, e, code, operation, "%zu bytes at %llu of a buffer", bytes,
                         (unsigned long long)offset);
    if (s)
        return 0;
    code = c->api->cuStreamSynchronize(CU_STREAM_PER_THREAD);
    return code ? cuda_fail(c->api, e, code, "cuStreamSynchronize", "copy of %zu bytes", bytes) : 0;
}

static CUstream stream_for(const struct memory_stream *s)
{
    return s ? cuda_stream_of(s)->stream : CU_STREAM_PER_THREAD;
}

int cuda_copy_in(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, const void *host, size_t bytes,
                 struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(b->memory);
    CUresult code;
    int rc = cuda_enter(c, e);

    if (rc || !bytes)
        return rc;
    code = c->api->cuMemcpyHtoDAsync(b->address + offset, host, bytes, stream_for(s));
    return finish(c, code, s, "cuMemcpyHtoDAsync_v2", bytes, offset, e);
}

int cuda_copy_out(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, void *host, size_t bytes,
                  struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(b->memory);
    CUresult code;
    int rc = cuda_enter(c, e);

    if (rc || !bytes)
        return rc;
    code = c->api->cuMemcpyDtoHAsync(host, b->address + offset, bytes, stream_for(s));
    return finish(c, code, s, "cuMemcpyDtoHAsync_v2", bytes, offset, e);
}

/* ------------------------------------------------------------------------------------------------
 * Runs: neighbouring copies that go on where the one before ended, at both ends
 */

static unsigned run_length(const struct memory_copy *copies, unsigned n, size_t *ret_bytes)
{
    size_t bytes = copies[0].bytes;
    unsigned i = 1;

    for (; i < n; i++) {
        if (copies[i].buffer != copies[0].buffer || copies[i].offset != copies[0].offset + bytes ||
            (uint8_t *)copies[i].host != (uint8_t *)copies[0].host + bytes)
            break;
        bytes += copies[i].bytes;
    }
    *ret_bytes = bytes;
    return i;
}

static int copy_runs(struct memory_stream *s, const struct memory_copy *copies, unsigned n, bool in,
                     struct spur_error *e)
{
    size_t bytes;

    for (unsigned i = 0; i < n;) {
        const struct memory_copy *c = &copies[i];
        int rc;

        i += run_length(c, n - i, &bytes);
        rc = in ? cuda_copy_in(s, c->buffer, c->offset, c->host, bytes, e)
                : cuda_copy_out(s, c->buffer, c->offset, c->host, bytes, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * One launch for many
 */

static bool kernel_pays(const struct memory_copy *copies, unsigned n)
{
    unsigned n_runs = 0;
    size_t bytes;

    for (unsigned i = 0; i < n; n_runs++) {
        i += run_length(&copies[i], n - i, &bytes);
        if (bytes > KERNEL_MOST_BYTES)
            return false;
    }
    return n_runs >= KERNEL_LEAST_COPIES;
}

/* The next table that no launch reads any more. */
static int take_slot(struct memory_stream *s, struct cuda_slot **ret, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    struct cuda_stream *t = cuda_stream_of(s);
    struct cuda_slot *slot = &t->slots[t->next_slot];
    int rc = 0;

    if (slot->after && slot->after <= t->last) {
        rc = cuda_wait(s, slot->after, e);
    } else if (slot->after) { /* no ticket was taken since */
        CUresult code = c->api->cuStreamSynchronize(t->stream);

        if (code)
            rc = cuda_fail(c->api, e, code, "cuStreamSynchronize", "earlier copies");
    }
    if (rc)
        return rc;
    t->next_slot = (t->next_slot + 1) % t->n_slots;
    *ret = slot;
    return 0;
}

/* Fills a table from the first copies; returns how many it took, 0 if the next one lies in no stage. */
static unsigned fill_table(struct memory_stream *s, const struct memory_copy *copies, unsigned n, bool in,
                           struct kernel_copy *table, unsigned *ret_rows)
{
    unsigned used = 0, rows = 0;
    size_t bytes;

    while (used < n && rows < CUDA_SLOT_COPIES) {
        const struct memory_copy *c = &copies[used];
        unsigned run = run_length(c, n - used, &bytes);
        CUdeviceptr host = cuda_stage_find(cuda_state(s->memory), cuda_stream_of(s), c->host, bytes);
        CUdeviceptr device = c->buffer->address + c->offset;

        if (bytes && !host)
            break;
        used += run;
        if (bytes)
            table[rows++] = (struct kernel_copy){in ? host : device, in ? device : host, bytes, 0};
    }
    *ret_rows = rows;
    return used;
}

static int launch_table(struct memory_stream *s, struct cuda_slot *slot, unsigned rows, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    struct cuda_stream *t = cuda_stream_of(s);
    void *arguments[] = {&slot->device, &rows};
    CUresult code = c->api->cuLaunchKernel(c->copy, rows, 1, 1, KERNEL_THREADS, 1, 1, 0, t->stream, arguments, NULL);

    if (code)
        return cuda_fail(c->api, e, code, "cuLaunchKernel", "copying %u pieces", rows);
    slot->after = t->last + 1;
    return 0;
}

/* Returns how many of the copies were launched (0: the first one's host memory is in no stage), or an error. */
static int copy_by_kernel(struct memory_stream *s, const struct memory_copy *copies, unsigned n, bool in,
                          struct spur_error *e)
{
    unsigned used = 0, rows;

    while (used < n) {
        struct cuda_slot *slot;
        unsigned taken;
        int rc = take_slot(s, &slot, e);

        if (rc)
            return rc;
        taken = fill_table(s, copies + used, n - used, in, slot->table, &rows);
        rc = rows ? launch_table(s, slot, rows, e) : 0;
        if (rc)
            return rc;
        used += taken;
        if (!taken)
            break;
    }
    return (int)used;
}

static int copy_many(struct memory_stream *s, const struct memory_copy *copies, unsigned n, bool in,
                     struct spur_error *e)
{
    int used = 0, rc = cuda_enter(cuda_state(s->memory), e);

    if (rc)
        return rc;
    if (kernel_pays(copies, n)) {
        used = copy_by_kernel(s, copies, n, in, e);
        if (used < 0)
            return used;
    }
    return copy_runs(s, copies + used, n - (unsigned)used, in, e);
}

int cuda_scatter(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e)
{
    return copy_many(s, copies, n, true, e);
}

int cuda_gather(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e)
{
    return copy_many(s, copies, n, false, e);
}
