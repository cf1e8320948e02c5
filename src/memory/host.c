/* SPDX-License-Identifier: MIT */
/* Host memory: what a memory gets for the slots that it leaves empty. Copies are memcpy, done on return. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/error.h"
#include "core/util.h"
#include "memory/complete.h"
#include "memory/memory.h"

#define HUGE_PAGE (2u << 20)
#define HUGE_MIN  (HUGE_PAGE / 8)

static uint8_t *host_at(const struct spur_buffer *b, uint64_t offset)
{
    return (uint8_t *)(uintptr_t)b->address + offset;
}

static int host_probe(unsigned index, struct spur_error *e)
{
    return 0;
}

static int host_open(struct spur_memory *m, struct spur_error *e)
{
    return 0;
}

static void host_close(struct spur_memory *m) {}

static void host_describe(const struct spur_memory *m, struct spur_memory_info *info) {}

static int host_thread_enter(struct spur_memory *m, struct spur_error *e)
{
    return 0;
}

/* Address space for a buffer: whole huge pages where it is not small. */
static size_t mapped_bytes(size_t bytes)
{
    return round_up(bytes, bytes >= HUGE_MIN ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE));
}

/*
 * Huge pages where the kernel has them: scattered pages of 4 KiB are a segment each for the block layer, which cuts
 * requests by segments. From an eighth of a huge page on, so that a path with one request in flight has them as well as
 * one with many.
 */
int host_map_alloc(size_t bytes, void **ret_host, struct spur_error *e)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = mapped_bytes(bytes);
    size_t slack = bytes >= HUGE_MIN ? HUGE_PAGE - page : 0;
    uint8_t *p = mmap(NULL, mapped + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t skip;

    if (p == MAP_FAILED)
        return error_errno(e, errno, "mmap", "%zu bytes of host memory", bytes);
    skip = slack ? (size_t)(round_up((uintptr_t)p, HUGE_PAGE) - (uintptr_t)p) : 0;
    if (skip)
        munmap(p, skip);
    if (slack > skip)
        munmap(p + skip + mapped, slack - skip);
    p += skip;
    if (slack)
        madvise(p, mapped, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes; i += page) /* no page fault may fall into a timed part */
        ((volatile uint8_t *)p)[i] = 0;
    *ret_host = p;
    return 0;
}

/* Locking names the limit; whatever else fails is out of memory. */
static int lock_pages(void *p, size_t bytes, struct spur_error *e)
{
    struct rlimit limit = {0};
    int r;

    if (mlock(p, bytes) == 0)
        return 0;
    r = errno;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
        error_errno(e, r, "mlock", "%zu bytes of page-locked memory, over the limit of %llu (RLIMIT_MEMLOCK)", bytes,
                    (unsigned long long)limit.rlim_cur);
    else if (limit.rlim_cur != RLIM_INFINITY)
        error_errno(e, r, "mlock",
                    "%zu more bytes of page-locked memory, where the process may lock %llu in all (RLIMIT_MEMLOCK)",
                    bytes, (unsigned long long)limit.rlim_cur);
    else
        error_errno(e, r, "mlock", "%zu bytes of page-locked memory", bytes);
    error_remedy(e, "raise the limit (ulimit -l, or LimitMEMLOCK= of the service) or use fewer threads, less depth or "
                    "smaller requests");
    return -r;
}

int host_lock_alloc(size_t bytes, void **ret_host, struct spur_error *e)
{
    void *p;
    int r = host_map_alloc(bytes, &p, e);

    if (r < 0)
        return r;
    r = lock_pages(p, round_up(bytes, (size_t)sysconf(_SC_PAGESIZE)), e);
    if (r < 0) {
        host_lock_free(p, bytes);
        return r;
    }
    *ret_host = p;
    return 0;
}

void host_lock_free(void *host, size_t bytes)
{
    if (host)
        munmap(host, mapped_bytes(bytes));
}

static int host_alloc(struct spur_memory *m, struct spur_buffer *b, struct spur_error *e)
{
    void *p;
    int r = m->ops->is_page_locked ? host_lock_alloc(b->bytes, &p, e) : host_map_alloc(b->bytes, &p, e);

    if (r < 0)
        return r;
    b->address = (uintptr_t)p;
    return 0;
}

static void host_free(struct spur_buffer *b)
{
    host_lock_free(host_at(b, 0), b->bytes);
}

static int host_stage_alloc(struct spur_memory *m, size_t bytes, void **ret_host, struct spur_error *e)
{
    return host_lock_alloc(bytes, ret_host, e);
}

static void host_stage_free(struct spur_memory *m, void *host, size_t bytes)
{
    host_lock_free(host, bytes);
}

static int host_stream_open(struct spur_memory *m, unsigned n_tickets, struct memory_stream **ret_stream,
                            struct spur_error *e)
{
    struct memory_stream *s = calloc(1, sizeof(*s));

    if (!s)
        return error_errno(e, ENOMEM, "calloc", "opening a stream");
    s->memory = m;
    *ret_stream = s;
    return 0;
}

static void host_stream_close(struct memory_stream *s)
{
    free(s);
}

static int host_copy_in(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, const void *host, size_t bytes,
                        struct spur_error *e)
{
    memcpy(host_at(b, offset), host, bytes);
    return 0;
}

static int host_copy_out(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, void *host, size_t bytes,
                         struct spur_error *e)
{
    memcpy(host, host_at(b, offset), bytes);
    return 0;
}

static int host_scatter(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e)
{
    for (unsigned i = 0; i < n; i++) {
        const struct memory_copy *c = &copies[i];
        int r = s->memory->ops->copy_in(s, c->buffer, c->offset, c->host, c->bytes, e);

        if (r < 0)
            return r;
    }
    return 0;
}

static int host_gather(struct memory_stream *s, const struct memory_copy *copies, unsigned n, struct spur_error *e)
{
    for (unsigned i = 0; i < n; i++) {
        const struct memory_copy *c = &copies[i];
        int r = s->memory->ops->copy_out(s, c->buffer, c->offset, c->host, c->bytes, e);

        if (r < 0)
            return r;
    }
    return 0;
}

static int host_mark(struct memory_stream *s, uint64_t *ret_ticket, struct spur_error *e)
{
    *ret_ticket = 1;
    return 0;
}

static int host_done(struct memory_stream *s, uint64_t ticket, struct spur_error *e)
{
    return 1;
}

static int host_wait(struct memory_stream *s, uint64_t ticket, struct spur_error *e)
{
    return 0;
}

static int host_fill(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                     const struct pattern_fill *fill, struct spur_error *e)
{
    pattern_fill_range(host_at(b, offset), bytes, fill);
    return 0;
}

static int host_check(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                      const struct pattern_expect *expect, struct spur_error *e)
{
    pattern_check_range(host_at(b, offset), bytes, expect, &s->verdict);
    return 0;
}

static int host_check_collect(struct memory_stream *s, struct pattern_verdict *ret_verdict, struct spur_error *e)
{
    *ret_verdict = s->verdict;
    s->verdict = (struct pattern_verdict){0};
    return 0;
}

static int host_digest(struct memory_stream *s, struct spur_buffer *b, uint64_t offset, size_t bytes,
                       uint64_t *ret_digest, struct spur_error *e)
{
    *ret_digest = pattern_digest(host_at(b, offset), bytes);
    return 0;
}

const struct memory_ops host_memory_defaults = {
    .name = "host",
    .summary = "defaults",
    .probe = host_probe,
    .open = host_open,
    .close = host_close,
    .describe = host_describe,
    .thread_enter = host_thread_enter,
    .alloc = host_alloc,
    .free = host_free,
    .stage_alloc = host_stage_alloc,
    .stage_free = host_stage_free,
    .stream_open = host_stream_open,
    .stream_close = host_stream_close,
    .copy_in = host_copy_in,
    .copy_out = host_copy_out,
    .scatter = host_scatter,
    .gather = host_gather,
    .mark = host_mark,
    .done = host_done,
    .wait = host_wait,
    .fill = host_fill,
    .check = host_check,
    .check_collect = host_check_collect,
    .digest = host_digest,
};

const struct memory_ops *memory_ops_complete(const struct memory_ops *row)
{
    const struct memory_ops *d = &host_memory_defaults;
    struct memory_ops *ops = malloc(sizeof(*ops));

    if (!ops)
        return NULL;
    *ops = *row;
#define FILL(slot)                                                                                                     \
    if (!ops->slot)                                                                                                    \
    ops->slot = d->slot
    FILL(probe);
    FILL(open);
    FILL(close);
    FILL(describe);
    FILL(thread_enter);
    FILL(alloc);
    FILL(free);
    FILL(stage_alloc);
    FILL(stage_free);
    FILL(stream_open);
    FILL(stream_close);
    FILL(copy_in);
    FILL(copy_out);
    FILL(scatter);
    FILL(gather);
    FILL(mark);
    FILL(done);
    FILL(wait);
    FILL(fill);
    FILL(check);
    FILL(check_collect);
    FILL(digest);
#undef FILL
    return ops;
}
