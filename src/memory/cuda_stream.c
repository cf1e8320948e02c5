/* SPDX-License-Identifier: MIT */
/* Streams of a GPU and their tickets: a ring of events. */
#include <time.h>

#include "core/util.h"
#include "memory/cuda_state.h"

#define WAIT_SPIN_NS 30000u
#define WAIT_NAP_NS  20000
#define WAIT_PAUSES  32

#include "core/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SLOTS 64u

/* ------------------------------------------------------------------------------------------------
 * Opening and closing
 */

static int make_events(const struct cuda_memory_state *c, struct cuda_stream *t, unsigned n, struct spur_error *e)
{
    t->events = calloc(n, sizeof(*t->events));
    if (!t->events)
        return error_errno(e, ENOMEM, "malloc", "%u events", n);
    for (; t->n_events < n; t->n_events++) {
        CUresult code = c->api->cuEventCreate(&t->events[t->n_events], CU_EVENT_DISABLE_TIMING);

        if (code)
            return cuda_fail(c->api, e, code, "cuEventCreate", "event %u of %u", t->n_events, n);
    }
    return 0;
}

/* One page-locked block: the mailbox, then the tables. One slot more than tickets: a caller who takes a ticket after
 * each scatter never waits for a table. */
static int make_slots(struct spur_memory *m, struct cuda_stream *t, struct spur_error *e)
{
    const size_t table_bytes = CUDA_SLOT_COPIES * sizeof(struct kernel_copy);
    unsigned n = t->n_events + 1 < MOST_SLOTS ? t->n_events + 1 : MOST_SLOTS;
    uint8_t *host;
    void *block;
    int rc;

    t->slots = calloc(n, sizeof(*t->slots));
    if (!t->slots)
        return error_errno(e, ENOMEM, "malloc", "%u tables of copies", n);
    t->mailbox_bytes = sizeof(*t->mailbox) + n * table_bytes;
    rc = cuda_stage_alloc(m, t->mailbox_bytes, &block, e);
    if (rc)
        return rc;
    t->mailbox = block;
    t->mailbox->initial.verdict.offset = UINT64_MAX;
    host = (uint8_t *)(t->mailbox + 1);
    for (t->n_slots = 0; t->n_slots < n; t->n_slots++, host += table_bytes) {
        t->slots[t->n_slots].table = (struct kernel_copy *)host;
        t->slots[t->n_slots].device = cuda_stage_find(cuda_state(m), t, host, table_bytes);
    }
    return 0;
}

static int make_result(const struct cuda_memory_state *c, struct cuda_stream *t, struct spur_error *e)
{
    const size_t bytes = sizeof(struct kernel_result);
    CUresult code = c->api->cuMemAlloc(&t->result, bytes);

    if (code)
        return cuda_fail(c->api, e, code, "cuMemAlloc_v2", "%zu bytes on %s for verdicts", bytes, c->info.name);
    code = c->api->cuMemcpyHtoDAsync(t->result, &t->mailbox->initial, bytes, t->stream);
    if (code)
        return cuda_fail(c->api, e, code, "cuMemcpyHtoDAsync_v2", "%zu bytes for verdicts", bytes);
    return 0;
}

static int make_stream(struct spur_memory *m, struct cuda_stream *t, unsigned n_tickets, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(m);
    CUresult code;
    int rc = cuda_enter(c, e);

    if (rc)
        return rc;
    code = c->api->cuStreamCreate(&t->stream, CU_STREAM_NON_BLOCKING);
    if (code) {
        t->stream = NULL;
        return cuda_fail(c->api, e, code, "cuStreamCreate", "on %s", c->info.name);
    }
    if ((rc = make_events(c, t, n_tickets ? n_tickets : 1, e)) || (rc = make_slots(m, t, e)))
        return rc;
    return make_result(c, t, e);
}

/* Takes a half-made stream too. */
static void destroy(struct spur_memory *m, struct cuda_stream *t)
{
    const struct cuda_memory_state *c = cuda_state(m);

    cuda_enter(c, NULL);
    if (t->stream) {
        c->api->cuStreamSynchronize(t->stream);
        c->api->cuStreamDestroy(t->stream);
    }
    for (unsigned i = 0; i < t->n_events; i++)
        c->api->cuEventDestroy(t->events[i]);
    if (t->result)
        c->api->cuMemFree(t->result);
    if (t->mailbox)
        cuda_stage_free(m, t->mailbox, t->mailbox_bytes);
    free(t->events);
    free(t->slots);
    free(t);
}

int cuda_stream_open(struct spur_memory *m, unsigned n_tickets, struct memory_stream **ret, struct spur_error *e)
{
    struct memory_stream *s = calloc(1, sizeof(*s));
    struct cuda_stream *t = calloc(1, sizeof(*t));
    int rc;

    if (!s || !t) {
        free(s);
        free(t);
        return error_errno(e, ENOMEM, "malloc", "stream");
    }
    rc = make_stream(m, t, n_tickets, e);
    if (rc) {
        destroy(m, t);
        free(s);
        return rc;
    }
    s->memory = m;
    s->native = t->stream;
    s->state = t;
    *ret = s;
    return 0;
}

void cuda_stream_close(struct memory_stream *s)
{
    if (!s)
        return;
    destroy(s->memory, cuda_stream_of(s));
    free(s);
}

/* ------------------------------------------------------------------------------------------------
 * Tickets
 */

/* An event that was recorded again since stands for a later ticket: it is done no earlier, so the answer is true. */
static CUevent event_of(const struct cuda_stream *t, uint64_t ticket)
{
    return t->events[ticket % t->n_events];
}

static int check_ticket(const struct cuda_stream *t, uint64_t ticket, struct spur_error *e)
{
    if (ticket && ticket <= t->last)
        return 0;
    return error_spur(e, SPUR_CODE_USAGE, "ticket", "ticket %llu was never given; the last one is %llu",
                      (unsigned long long)ticket, (unsigned long long)t->last);
}

static void reached(struct cuda_stream *t, uint64_t ticket)
{
    if (ticket > t->done)
        t->done = ticket;
}

int cuda_mark(struct memory_stream *s, uint64_t *ret_ticket, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    struct cuda_stream *t = cuda_stream_of(s);
    CUresult code = c->api->cuEventRecord(event_of(t, t->last + 1), t->stream);

    if (code)
        return cuda_fail(c->api, e, code, "cuEventRecord", "ticket %llu", (unsigned long long)t->last + 1);
    *ret_ticket = ++t->last;
    return 0;
}

int cuda_done(struct memory_stream *s, uint64_t ticket, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    struct cuda_stream *t = cuda_stream_of(s);
    CUresult code;
    int rc;

    if (ticket && ticket <= t->done)
        return 1;
    rc = check_ticket(t, ticket, e);
    if (rc)
        return rc;
    code = c->api->cuEventQuery(event_of(t, ticket));
    if (code == CUDA_ERROR_NOT_READY)
        return 0;
    if (code)
        return cuda_fail(c->api, e, code, "cuEventQuery", "work before ticket %llu", (unsigned long long)ticket);
    reached(t, ticket);
    return 1;
}

/*
 * cuEventSynchronize spins inside the driver, on a CPU that other threads could use and under a lock that they need. A
 * short wait is spun here, with few queries; a long one naps in between.
 */
static CUresult await_event(const struct cuda_api *api, CUevent event)
{
    const struct timespec nap = {0, WAIT_NAP_NS};
    uint64_t began = now_ns();
    CUresult code;

    while ((code = api->cuEventQuery(event)) == CUDA_ERROR_NOT_READY) {
        if (now_ns() - began > WAIT_SPIN_NS)
            nanosleep(&nap, NULL);
        else
            for (int i = 0; i < WAIT_PAUSES; i++)
                pause_cpu();
    }
    return code;
}

int cuda_wait(struct memory_stream *s, uint64_t ticket, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(s->memory);
    struct cuda_stream *t = cuda_stream_of(s);
    CUresult code;
    int rc;

    if (ticket && ticket <= t->done)
        return 0;
    rc = check_ticket(t, ticket, e);
    if (rc)
        return rc;
    code = await_event(c->api, event_of(t, ticket));
    if (code)
        return cuda_fail(c->api, e, code, "cuEventQuery", "work before ticket %llu", (unsigned long long)ticket);
    reached(t, ticket);
    return 0;
}
