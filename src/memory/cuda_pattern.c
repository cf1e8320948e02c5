/* SPDX-License-Identifier: MIT */
/* Filling, checking and digesting the pattern on a GPU, by kernels in stream order. */
#include "memory/cuda_state.h"

#include "core/error.h"

#include <errno.h>

/* Enough thread blocks to fill the GPU, and no more than there is work for. */
static unsigned grid_for(const struct cuda_memory_state *c, uint64_t bytes, uint64_t bytes_per_block)
{
    uint64_t wanted = (bytes + bytes_per_block - 1) / bytes_per_block + 1;
    uint64_t most = (uint64_t)c->info.n_multiprocessors * 8;

    return (unsigned)(wanted < most ? wanted : most);
}

static int launch(struct memory_stream *s, CUfunction f, unsigned grid, void **arguments, const char *what,
                  struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    CUresult code;
    int rc = cuda_enter(c, e);

    if (rc)
        return rc;
    code = c->api->cuLaunchKernel(f, grid, 1, 1, KERNEL_THREADS, 1, 1, 0, cuda_stream_of(s)->stream, arguments, NULL);
    return code ? cuda_fail(c->api, e, code, "cuLaunchKernel", "%s on %s", what, c->info.name) : 0;
}

#define BYTES_PER_BLOCK ((uint64_t)PATTERN_BLOCK * KERNEL_THREADS / KERNEL_WARP)

int cuda_fill(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
              const struct pattern_fill *fill, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    uint64_t address = b->address + offset, n = bytes;
    struct pattern_fill copy = *fill;
    void *arguments[] = {&address, &n, &copy};

    return bytes ? launch(s, c->fill, grid_for(c, n, BYTES_PER_BLOCK), arguments, "filling", e) : 0;
}

int cuda_check(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
               const struct pattern_expect *expect, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    uint64_t address = b->address + offset, n = bytes;
    struct pattern_expect copy = *expect;
    void *arguments[] = {&address, &n, &copy, &cuda_stream_of(s)->result};

    return bytes ? launch(s, c->check, grid_for(c, n, BYTES_PER_BLOCK), arguments, "checking", e) : 0;
}

/* Brings the stream's result here and lets it begin anew. */
static int collect(struct memory_stream *s, struct kernel_result *ret, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    struct cuda_stream *t = cuda_stream_of(s);
    const char *operation = "cuMemcpyDtoHAsync_v2";
    CUresult code;
    int rc = cuda_enter(c, e);

    if (rc)
        return rc;
    code = c->api->cuMemcpyDtoHAsync(&t->mailbox->found, t->result, sizeof(*ret), t->stream);
    if (!code) {
        operation = "cuMemcpyHtoDAsync_v2";
        code = c->api->cuMemcpyHtoDAsync(t->result, &t->mailbox->initial, sizeof(*ret), t->stream);
    }
    if (!code) {
        operation = "cuStreamSynchronize";
        code = c->api->cuStreamSynchronize(t->stream);
    }
    if (code)
        return cuda_fail(c->api, e, code, operation, "result of checking on %s", c->info.name);
    t->done = t->last;
    *ret = t->mailbox->found;
    return 0;
}

int cuda_check_collect(struct memory_stream *s, struct pattern_verdict *ret_verdict, struct spur_error *e)
{
    struct kernel_result found;
    int rc = collect(s, &found, e);

    if (rc)
        return rc;
    if (!found.verdict.fault)
        found.verdict.offset = 0;
    pattern_verdict_merge(&s->verdict, &found.verdict);
    *ret_verdict = s->verdict;
    s->verdict = (struct pattern_verdict){0};
    return 0;
}

/* The digest shares the result with the checks: what those had found is kept for their collect. */
int cuda_digest(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes, uint64_t *ret_digest,
                struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    uint64_t address = b->address + offset, n = bytes;
    void *arguments[] = {&address, &n, &cuda_stream_of(s)->result};
    struct kernel_result found;
    int rc = bytes ? launch(s, c->digest, grid_for(c, n, 8 * KERNEL_THREADS * 4), arguments, "digesting", e) : 0;

    if (rc || (rc = collect(s, &found, e)))
        return rc;
    if (!found.verdict.fault)
        found.verdict.offset = 0;
    pattern_verdict_merge(&s->verdict, &found.verdict);
    *ret_digest = found.digest + pattern_mix(bytes);
    return 0;
}
