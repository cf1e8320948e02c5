/* SPDX-License-Identifier: MIT */
/*
 * Backend: the caller's own thread moves the pieces, with pread and pwrite, one after another. Where a file is in
 * memory there is nothing to wait for, and handing a piece to another thread costs more than it saves unless CPUs are
 * idle. A visit moves a small share, so that copies of what has landed run beside the next piece.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/error.h"
#include "path/fanout.h"

#define VISIT_BYTES  (256u << 10) /* of a visit: at least one piece, small ones up to so much */
#define VISIT_PIECES 64u

struct caller {
    uint32_t *todo; /* ring of n_pieces */
    uint32_t first, n;
};

static int caller_probe(struct spur_error *e)
{
    return 0;
}

static void caller_close(struct fanout_queue *q)
{
    struct caller *c = q->backend_state;

    free(c->todo);
    free(c);
    q->backend_state = NULL;
}

static int caller_open(struct fanout_queue *q, struct spur_error *e)
{
    struct caller *c = calloc(1, sizeof(*c));

    if (c)
        c->todo = calloc(q->setup.n_pieces, sizeof(*c->todo));
    if (!c || !c->todo) {
        free(c);
        return error_errno(e, ENOMEM, "calloc", "queue of depth %u", q->setup.depth);
    }
    q->backend_state = c;
    snprintf(q->setup.unregistered_reason, sizeof(q->setup.unregistered_reason), "engine=caller");
    return 0;
}

static void caller_push(struct fanout_queue *q, uint32_t piece)
{
    struct caller *c = q->backend_state;
    uint32_t at = c->first + c->n++;

    c->todo[at < q->setup.n_pieces ? at : at - q->setup.n_pieces] = piece;
}

static int caller_flush(struct fanout_queue *q, struct spur_error *e)
{
    q->n_unflushed = 0;
    return 0;
}

int32_t fanout_piece_transfer(const struct fanout_piece *p)
{
    int fd = p->buffered ? p->file->fd_buffered : p->file->fd;
    size_t bytes = p->io_bytes - p->got;
    off_t at = (off_t)(p->io_offset + p->got);
    ssize_t n = p->write ? pwrite(fd, p->host + p->got, bytes, at) : pread(fd, p->host + p->got, bytes, at);

    return n < 0 ? -errno : (int32_t)n;
}

static int caller_reap(struct fanout_queue *q, struct fanout_landed *landed, unsigned max, unsigned wait,
                       uint64_t timeout_ns, struct spur_error *e)
{
    struct caller *c = q->backend_state;
    uint64_t bytes = 0;
    unsigned n = 0;

    q->n_unflushed = 0;
    if (max > VISIT_PIECES)
        max = VISIT_PIECES;
    while (n < max && c->n && bytes < VISIT_BYTES) {
        uint32_t piece = c->todo[c->first];

        c->first = c->first + 1 < q->setup.n_pieces ? c->first + 1 : 0;
        c->n--;
        landed[n++] = (struct fanout_landed){piece, fanout_piece_transfer(&q->pieces[piece])};
        bytes += q->pieces[piece].io_bytes;
    }
    return (int)n;
}

const struct fanout_backend fanout_caller = {
    .name = "caller",
    .one_at_a_time = true,
    .probe = caller_probe,
    .open = caller_open,
    .close = caller_close,
    .push = caller_push,
    .flush = caller_flush,
    .reap = caller_reap,
};
