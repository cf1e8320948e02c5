/* SPDX-License-Identifier: MIT */
/*
 * Copies between staging and memory. Small ones are gathered: while a batch is under way those that land wait for the
 * next, unless there are many. Each batch has a ticket; its pieces go on when that is done. For host memory copies are
 * memcpy and a batch is done as soon as it was launched.
 */
#include "path/fanout.h"

#define LARGE_COPY 65536u /* from here on a copy engine beats a gathering kernel */

void fanout_copy_add(struct fanout_queue *q, uint32_t piece)
{
    fanout_list_append(q, &q->to_copy, piece);
    q->n_to_copy_large += q->pieces[piece].want_bytes >= LARGE_COPY;
}

static int copy_now(struct fanout_queue *q, const struct memory_copy *c, bool write, struct spur_error *e)
{
    q->stats.copies++;
    if (write)
        return q->memory->copy_out(q->stream, c->buffer, c->offset, c->host, c->bytes, e);
    return q->memory->copy_in(q->stream, c->buffer, c->offset, c->host, c->bytes, e);
}

static int flush_scatter(struct fanout_queue *q, struct spur_error *e)
{
    unsigned n = q->n_scatter;

    q->n_scatter = 0;
    if (n <= 1)
        return n ? copy_now(q, q->scatter, false, e) : 0;
    q->stats.copies += n;
    q->stats.scatters++;
    return q->memory->scatter(q->stream, q->scatter, n, e);
}

static int flush_gather(struct fanout_queue *q, struct spur_error *e)
{
    unsigned n = q->n_gather;

    q->n_gather = 0;
    if (n <= 1)
        return n ? copy_now(q, q->gather, true, e) : 0;
    q->stats.copies += n;
    q->stats.gathers++;
    return q->memory->gather(q->stream, q->gather, n, e);
}

static int copy_one(struct fanout_queue *q, const struct memory_copy *c, bool write, struct spur_error *e)
{
    if (c->bytes >= LARGE_COPY)
        return copy_now(q, c, write, e);
    if (write) {
        q->gather[q->n_gather++] = *c;
        return q->n_gather == FANOUT_COPIES ? flush_gather(q, e) : 0;
    }
    q->scatter[q->n_scatter++] = *c;
    return q->n_scatter == FANOUT_COPIES ? flush_scatter(q, e) : 0;
}

/* The wanted part of a piece, segment by segment. */
static int copy_piece(struct fanout_queue *q, const struct fanout_piece *p, struct spur_error *e)
{
    const struct spur_segment *s = &q->requests[p->request].request.segments[p->segment];
    uint64_t skip = p->want_offset - p->segment_offset;
    uint8_t *host = p->host + (p->want_offset - p->io_offset);
    uint64_t left = p->want_bytes;

    for (; left; s++, skip = 0) {
        uint64_t n = s->length - skip < left ? s->length - skip : left;
        int r = copy_one(q, &(struct memory_copy){s->buffer, s->offset + skip, host, n}, p->write, e);

        if (r < 0)
            return r;
        host += n;
        left -= n;
    }
    return 0;
}

static int launch(struct fanout_queue *q, uint64_t *ret_ticket, struct spur_error *e)
{
    int r = 0;

    for (uint32_t i = q->to_copy.first; i != FANOUT_NONE && !r; i = q->pieces[i].next)
        r = copy_piece(q, &q->pieces[i], e);
    if (!r)
        r = flush_scatter(q, e);
    if (!r)
        r = flush_gather(q, e);
    if (!r)
        r = q->memory->mark(q->stream, ret_ticket, e);
    q->n_scatter = q->n_gather = 0;
    return r;
}

/* A read is done now; a write may go to the wire. */
static void batch_done(struct fanout_queue *q, const struct fanout_list *list, int code, const struct spur_error *e)
{
    for (uint32_t i = list->first, next; i != FANOUT_NONE; i = next) {
        struct fanout_piece *p = &q->pieces[i];
        struct fanout_request *r = &q->requests[p->request];

        next = p->next;
        if (code < 0)
            fanout_request_fail(q, p->request, code, e);
        q->n_gathering -= p->write;
        fanout_request_moved(q, r, 0, -1);
        if (p->write && !r->code)
            fanout_piece_send(q, i);
        else
            fanout_piece_finish(q, i);
    }
}

/* Some of the copies may be under way: staging must not be used again before they have ended. */
static void launch_failed(struct fanout_queue *q, const struct fanout_list *list, int code, const struct spur_error *e)
{
    uint64_t ticket;

    if (q->memory->mark(q->stream, &ticket, NULL) == 0)
        q->memory->wait(q->stream, ticket, NULL);
    batch_done(q, list, code, e);
}

static bool is_time(const struct fanout_queue *q)
{
    if (!q->to_copy.n || q->n_batches == FANOUT_BATCHES)
        return false;
    return !q->n_batches || q->n_to_copy_large || q->to_copy.n >= q->gather_min || !q->n_wire;
}

void fanout_copy_launch(struct fanout_queue *q)
{
    struct spur_error *e = &q->copy_error;
    struct fanout_list list;
    uint64_t ticket = 0;
    int r;

    if (!is_time(q))
        return;
    r = launch(q, &ticket, e);
    list = q->to_copy;
    q->to_copy = (struct fanout_list){FANOUT_NONE, FANOUT_NONE, 0};
    q->n_to_copy_large = 0;
    if (r < 0) {
        launch_failed(q, &list, r, e);
        return;
    }
    q->batches[(q->batch_first + q->n_batches++) % FANOUT_BATCHES] = (struct fanout_batch){ticket, list};
    q->stats.batches++;
}

static void oldest_done(struct fanout_queue *q, int code, const struct spur_error *e)
{
    struct fanout_list list = q->batches[q->batch_first].pieces;

    q->batch_first = (q->batch_first + 1) % FANOUT_BATCHES;
    q->n_batches--;
    batch_done(q, &list, code, e);
}

bool fanout_copy_collect(struct fanout_queue *q)
{
    bool any = false;

    while (q->n_batches) {
        int r = q->memory->done(q->stream, q->batches[q->batch_first].ticket, &q->copy_error);

        if (!r)
            break;
        oldest_done(q, r < 0 ? r : 0, &q->copy_error);
        any = true;
    }
    return any;
}

void fanout_copy_wait(struct fanout_queue *q)
{
    int r = q->memory->wait(q->stream, q->batches[q->batch_first].ticket, &q->copy_error);

    oldest_done(q, r < 0 ? r : 0, &q->copy_error);
}
