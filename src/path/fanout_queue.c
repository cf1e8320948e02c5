/* SPDX-License-Identifier: MIT */
/*
 * Requests and pieces on their way. A visit takes what has landed, launches and collects copies, and cuts and sends
 * what there is room for. A request is complete when it is cut to the end and no piece of it is on the wire or in a
 * copy, also if it failed: its memory is not given back while the kernel or a GPU may still use it.
 */
#include <errno.h>

#include "core/error.h"
#include "core/util.h"
#include "path/fanout.h"

#define MAX_LANDED 256u
#define SPIN_NS    20000u /* of looking for the end of a copy, before ... */
#define PAUSES     16
#define NAP_NS     50000u /* ... looking at intervals while I/O is under way */

void fanout_list_append(struct fanout_queue *q, struct fanout_list *list, uint32_t piece)
{
    q->pieces[piece].next = FANOUT_NONE;
    if (list->n++)
        q->pieces[list->last].next = piece;
    else
        list->first = piece;
    list->last = piece;
}

static void ring_put(uint32_t *ring, uint32_t size, uint32_t first, uint32_t *n, uint32_t item)
{
    uint32_t at = first + (*n)++;

    ring[at < size ? at : at - size] = item;
}

static uint32_t ring_take(uint32_t *ring, uint32_t size, uint32_t *first, uint32_t *n)
{
    uint32_t item = ring[*first];

    *first = *first + 1 < size ? *first + 1 : 0;
    (*n)--;
    return item;
}

static void backlog_put(struct fanout_queue *q, uint32_t request)
{
    ring_put(q->backlog, q->setup.depth, q->backlog_first, &q->n_backlog, request);
}

static void backlog_take(struct fanout_queue *q)
{
    ring_take(q->backlog, q->setup.depth, &q->backlog_first, &q->n_backlog);
}

/* ------------------------------------------------------------------------------------------------
 * Requests
 */

static void accept(struct fanout_queue *q, const struct spur_request *request)
{
    uint32_t i = q->free_requests[--q->n_free_requests];
    struct fanout_request *r = &q->requests[i];
    const struct spur_file *f = request->file;
    uint32_t page = f->align_address > 4096 ? f->align_address : 4096;
    bool write = request->op == SPUR_OP_WRITE;
    /* O_DIRECT fills the last unit up behind the end of the file: that must not reach the caller's memory. */
    bool past_end = !write && request->offset + request->length > f->bytes && f->bytes % f->align;
    struct fanout_shape shape = {f->align, f->align_address, f->align > page ? f->align : page, q->setup.piece_bytes,
                                 !q->is_device && !past_end};

    r->request = *request;
    if (!request->n_segments) {
        r->own = (struct spur_segment){request->buffer, request->buffer_offset, request->length};
        r->request.segments = &r->own;
        r->request.n_segments = 1;
    }
    fanout_plan_begin(&r->plan, &shape, write, request->offset, request->length, r->request.segments,
                      r->request.n_segments);
    r->end = request->offset + request->length;
    r->on_wire = r->in_copy = 0;
    r->code = 0;
    r->parked = r->copy_only = r->counted_sub_page = r->counted_edges = r->staged = false;
    r->sub_page = write && f->align > 1 && !((request->offset | request->length) & (shape.align - 1)) &&
                  ((request->offset | request->length) & (shape.page - 1));
    backlog_put(q, i);
}

void fanout_request_fail(struct fanout_queue *q, uint32_t request, int code, const struct spur_error *e)
{
    struct fanout_request *r = &q->requests[request];

    if (r->code)
        return;
    r->code = code;
    q->errors[request] = *e;
}

/* Cut to the end, or not to be cut any further. */
static bool is_cut(const struct fanout_request *r)
{
    return r->code || fanout_plan_done(&r->plan);
}

static void complete(struct fanout_queue *q, uint32_t i)
{
    struct fanout_request *r = &q->requests[i];

    q->n_sub_page -= r->counted_sub_page;
    q->n_edges -= r->counted_edges;
    ring_put(q->done, q->setup.depth, q->done_first, &q->n_done, i);
}

/* To be called for a request that is not in the backlog, when it may have ended. */
static void settle(struct fanout_queue *q, uint32_t i)
{
    struct fanout_request *r = &q->requests[i];

    if (r->on_wire || r->in_copy)
        return;
    if (is_cut(r)) {
        complete(q, i);
    } else if (r->parked) {
        r->parked = false;
        backlog_put(q, i);
    }
}

static bool in_backlog(const struct fanout_request *r)
{
    return !r->parked && !fanout_plan_done(&r->plan);
}

static unsigned take_done(struct fanout_queue *q, struct spur_completion *ret, unsigned max)
{
    unsigned n = 0;

    for (; n < max && q->n_done; n++) {
        uint32_t i = ring_take(q->done, q->setup.depth, &q->done_first, &q->n_done);
        struct fanout_request *r = &q->requests[i];

        ret[n].user_data = r->request.user_data;
        ret[n].result = r->code ? r->code : (int64_t)(r->end - r->request.offset);
        ret[n].stream = r->staged && q->is_device ? q->stream->native : NULL;
        if (r->code)
            q->queue->error = q->errors[i];
        q->free_requests[q->n_free_requests++] = i;
    }
    return n;
}

/* ------------------------------------------------------------------------------------------------
 * Pieces
 */

static uint8_t *slot_address(const struct fanout_queue *q, uint32_t slot)
{
    if (slot < q->n_small)
        return q->stage + (uint64_t)slot * FANOUT_SMALL_SLOT;
    return q->stage + (uint64_t)q->n_small * FANOUT_SMALL_SLOT + (uint64_t)(slot - q->n_small) * q->slot_bytes;
}

static uint32_t slot_take(struct fanout_queue *q, uint32_t bytes)
{
    if (bytes <= FANOUT_SMALL_SLOT && q->n_free_small)
        return q->free_small[--q->n_free_small];
    return q->n_free_large ? q->free_large[--q->n_free_large] : FANOUT_NONE;
}

static void slot_give(struct fanout_queue *q, uint32_t slot)
{
    if (slot == FANOUT_NONE)
        return;
    if (slot < q->n_small)
        q->free_small[q->n_free_small++] = slot;
    else
        q->free_large[q->n_free_large++] = slot;
}

static void count_in_flight(struct fanout_queue *q)
{
    unsigned n = q->backend->one_at_a_time ? 1 : q->n_wire;

    q->stats.sends++;
    q->stats.pieces_in_flight_sum += n;
    if (n > q->stats.pieces_in_flight_max)
        q->stats.pieces_in_flight_max = n;
}

void fanout_piece_send(struct fanout_queue *q, uint32_t piece)
{
    struct fanout_piece *p = &q->pieces[piece];

    fanout_request_moved(q, &q->requests[p->request], 1, 0);
    q->n_wire++;
    count_in_flight(q);
    q->backend->push(q, piece);
    q->n_unflushed++;
}

void fanout_piece_finish(struct fanout_queue *q, uint32_t piece)
{
    struct fanout_piece *p = &q->pieces[piece];
    uint32_t request = p->request;

    slot_give(q, p->slot);
    q->free_pieces[q->n_free_pieces++] = piece;
    if (!in_backlog(&q->requests[request]))
        settle(q, request);
}

static uint8_t *memory_at(const struct fanout_request *r, const struct fanout_cut *cut)
{
    const struct spur_segment *s = &r->request.segments[cut->segment];

    return (uint8_t *)(uintptr_t)(s->buffer->address + s->offset + (cut->io_offset - cut->segment_offset));
}

/* false: no room in staging now. */
static bool piece_start(struct fanout_queue *q, uint32_t request, const struct fanout_cut *cut)
{
    struct fanout_request *r = &q->requests[request];
    uint32_t slot = cut->straight ? FANOUT_NONE : slot_take(q, cut->io_bytes);
    struct fanout_piece *p;
    uint32_t i;

    if (!cut->straight && slot == FANOUT_NONE)
        return false;
    i = q->free_pieces[--q->n_free_pieces];
    p = &q->pieces[i];
    p->io_offset = cut->io_offset;
    p->want_offset = cut->want_offset;
    p->segment_offset = cut->segment_offset;
    p->segment = cut->segment;
    p->io_bytes = cut->io_bytes;
    p->want_bytes = cut->want_bytes;
    p->host = cut->straight ? memory_at(r, cut) : slot_address(q, slot);
    p->file = r->request.file;
    p->request = request;
    p->slot = slot;
    p->got = 0;
    p->retries = 0;
    p->write = r->request.op == SPUR_OP_WRITE;
    p->buffered = cut->buffered;
    q->stats.pieces++;
    q->stats.edge_writes += cut->buffered;
    fanout_plan_advance(&r->plan, cut);
    r->staged |= !cut->straight;
    if (cut->straight || !p->write) {
        fanout_piece_send(q, i);
        return true;
    }
    q->n_gathering++;
    fanout_request_moved(q, r, 0, 1);
    fanout_copy_add(q, i);
    return true;
}

/*
 * A page that one request writes directly in part must not be written through the cache at the same time for another:
 * the cache would write back what it read before. Requests of both kinds take turns.
 */
static bool may_write(struct fanout_queue *q, struct fanout_request *r, const struct fanout_cut *cut)
{
    if (cut->buffered && !r->counted_edges) {
        if (q->n_sub_page)
            return false;
        r->counted_edges = true;
        q->n_edges++;
    }
    if (r->sub_page && !r->counted_sub_page) {
        if (q->n_edges)
            return false;
        r->counted_sub_page = true;
        q->n_sub_page++;
    }
    return true;
}

/* Cuts the oldest request of the backlog once; false: it has to wait, and those behind it. */
static bool issue_one(struct fanout_queue *q)
{
    uint32_t i = q->backlog[q->backlog_first];
    struct fanout_request *r = &q->requests[i];
    struct fanout_cut cut;

    if (is_cut(r)) {
        backlog_take(q);
        r->plan.direct.begin = r->plan.direct.end;
        r->plan.edges[0] = r->plan.edges[1] = (struct fanout_range){0, 0};
        settle(q, i);
        return true;
    }
    fanout_plan_peek(&r->plan, &cut);
    if (cut.buffered && !r->counted_edges && (r->on_wire || r->in_copy)) {
        backlog_take(q);
        r->parked = true;
        return true;
    }
    if (!may_write(q, r, &cut) || !piece_start(q, i, &cut))
        return false;
    if (fanout_plan_done(&r->plan))
        backlog_take(q);
    return true;
}

static void issue(struct fanout_queue *q)
{
    while (q->n_backlog && q->n_free_pieces && !q->broken)
        if (!issue_one(q))
            break;
}

/* ------------------------------------------------------------------------------------------------
 * Visits
 */

static void set_broken(struct fanout_queue *q, int code, const struct spur_error *e)
{
    if (q->broken)
        return;
    q->broken = code;
    q->broken_error = *e;
}

int fanout_queue_flush(struct fanout_queue *q)
{
    struct spur_error e;
    int r;

    if (!q->n_unflushed || q->broken)
        return q->broken;
    r = q->backend->flush(q, &e);
    if (r < 0)
        set_broken(q, r, &e);
    return r;
}

/* Copies, and cuts what there is room for now. */
static bool move_on(struct fanout_queue *q)
{
    bool collected;

    fanout_copy_launch(q);
    collected = fanout_copy_collect(q);
    issue(q);
    if (!q->to_copy.n)
        return collected;
    fanout_copy_launch(q);
    return fanout_copy_collect(q) || collected;
}

/* true: something happened. */
static bool visit(struct fanout_queue *q, unsigned wait, uint64_t timeout_ns)
{
    struct spur_error e;
    int n = q->n_wire ? q->backend->reap(q, q->landed, MAX_LANDED, wait, timeout_ns, &e) : 0;
    bool moved;

    if (n < 0)
        set_broken(q, n, &e);
    for (int i = 0; i < n; i++)
        fanout_piece_land(q, q->landed[i].piece, q->landed[i].result);
    moved = move_on(q);
    return moved || n > 0;
}

/* Some request has only copies to wait for: look at copies and I/O in turn, and do not sleep for long. */
static bool wait_for_copies(struct fanout_queue *q, uint64_t *since)
{
    uint64_t now = now_ns();

    fanout_queue_flush(q);
    if (!*since)
        *since = now;
    if (now - *since < SPIN_NS) {
        for (int i = 0; i < PAUSES; i++) /* each look takes a lock of the driver's */
            pause_cpu();
        return visit(q, 0, 0);
    }
    if (q->n_wire)
        return visit(q, 1, NAP_NS);
    if (!q->n_batches)
        return visit(q, 0, 0);
    fanout_copy_wait(q);
    move_on(q);
    return true;
}

/* One visit, sleeping until something lands if nothing else is to be done; need: requests that the caller waits for. */
static void visit_waiting(struct fanout_queue *q, unsigned need, uint64_t *since)
{
    bool copies = q->n_batches || q->to_copy.n;
    unsigned wait = q->setup.batch;

    if (copies && (q->n_copy_only || q->n_gathering || !q->n_wire)) {
        if (wait_for_copies(q, since))
            *since = 0;
        return;
    }
    *since = 0;
    if (!q->is_device && need > wait && !q->n_backlog)
        wait = need;
    if (q->n_backlog || wait > q->n_wire)
        wait = 1;
    visit(q, wait, 0);
}

int fanout_queue_reap(struct fanout_queue *q, struct spur_completion *ret, unsigned max, unsigned min,
                      struct spur_error *e)
{
    unsigned n = take_done(q, ret, max);
    uint64_t since = 0;

    if (n >= min)
        visit(q, 0, 0);
    while (n < min && !q->broken) {
        visit_waiting(q, min - n, &since);
        n += take_done(q, ret + n, max - n);
    }
    n += take_done(q, ret + n, max - n);
    fanout_queue_flush(q);
    if (n || !q->broken)
        return (int)n;
    if (e)
        *e = q->broken_error;
    return q->broken;
}

void fanout_queue_accept(struct fanout_queue *q, const struct spur_request *requests, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        accept(q, &requests[i]);
    issue(q);
    if (q->to_copy.n || q->n_batches)
        move_on(q);
}

/* Nothing of the caller's is used any more after this; what was not begun fails with -ECANCELED. */
void fanout_queue_drain(struct fanout_queue *q)
{
    struct spur_error e;
    uint64_t since = 0;

    error_errno(&e, ECANCELED, "close", "the queue was closed");
    for (uint32_t i = 0; i < q->setup.depth; i++)
        fanout_request_fail(q, i, -ECANCELED, &e);
    while ((q->n_wire || q->n_batches || q->to_copy.n) && !q->broken)
        visit_waiting(q, 0, &since);
}

/* ------------------------------------------------------------------------------------------------
 * Arrays
 */

static uint32_t *index_stack(uint32_t n, uint32_t first)
{
    uint32_t *stack = malloc((n + 1) * sizeof(*stack));

    /* Taken from the end: low indices first. */
    for (uint32_t i = 0; stack && i < n; i++)
        stack[i] = first + n - 1 - i;
    return stack;
}

int fanout_queue_init(struct fanout_queue *q, struct spur_error *e)
{
    unsigned depth = q->setup.depth, n_pieces = q->setup.n_pieces;

    q->requests = calloc(depth, sizeof(*q->requests));
    q->errors = calloc(depth, sizeof(*q->errors));
    q->free_requests = index_stack(depth, 0);
    q->backlog = calloc(depth, sizeof(*q->backlog));
    q->done = calloc(depth, sizeof(*q->done));
    q->pieces = calloc(n_pieces, sizeof(*q->pieces));
    q->free_pieces = index_stack(n_pieces, 0);
    q->free_small = index_stack(q->n_small, 0);
    q->free_large = index_stack(q->n_large, q->n_small);
    q->scatter = calloc(FANOUT_COPIES, sizeof(*q->scatter));
    q->gather = calloc(FANOUT_COPIES, sizeof(*q->gather));
    q->landed = calloc(MAX_LANDED, sizeof(*q->landed));
    if (!q->requests || !q->errors || !q->free_requests || !q->backlog || !q->done || !q->pieces || !q->free_pieces ||
        !q->free_small || !q->free_large || !q->scatter || !q->gather || !q->landed)
        return error_errno(e, ENOMEM, "calloc", "queue of depth %u", depth);
    q->n_free_requests = depth;
    q->n_free_pieces = n_pieces;
    q->n_free_small = q->n_small;
    q->n_free_large = q->n_large;
    q->to_copy = (struct fanout_list){FANOUT_NONE, FANOUT_NONE, 0};
    return 0;
}

void fanout_queue_free(struct fanout_queue *q)
{
    free(q->requests);
    free(q->errors);
    free(q->free_requests);
    free(q->backlog);
    free(q->done);
    free(q->pieces);
    free(q->free_pieces);
    free(q->free_small);
    free(q->free_large);
    free(q->scatter);
    free(q->gather);
    free(q->landed);
}
