/* SPDX-License-Identifier: MIT */
#include "path/defaults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* A synchronous path behind submit and reap: one request, done in submit, handed out by reap. */
struct queue_core {
    struct spur_completion done;
    bool has_done;
};

int path_queue_core_open(struct spur_queue *q, struct spur_error *e)
{
    q->core = calloc(1, sizeof(struct queue_core));
    return q->core ? 0 : error_errno(e, ENOMEM, "calloc", "opening a queue");
}

void path_queue_core_close(struct spur_queue *q)
{
    free(q->core);
}

static int default_open(struct spur_path *p, struct spur_error *e)
{
    return 0;
}

static void default_close(struct spur_path *p) {}

static void default_limits(const struct spur_file *f, struct spur_limits *limits) {}

static int default_attach(struct spur_path *p, struct spur_buffer *b, struct spur_error *e)
{
    return 0;
}

static void default_detach(struct spur_path *p, struct spur_buffer *b) {}

static int default_queue_open(struct spur_queue *q, struct spur_error *e)
{
    return 0;
}

static void default_queue_close(struct spur_queue *q) {}

static int default_probe(struct spur_error *e)
{
    return 0;
}

static void default_facts(struct spur_path *p, path_fact_fn emit, void *context) {}

/* Segments, one transfer each; a short one ends the request. */
int64_t path_split_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    struct spur_request piece = *r;
    int64_t sum = 0;

    if (!r->n_segments || q->path->ops->takes_segments)
        return q->path->ops->transfer(q, r, e);
    piece.n_segments = 0;
    for (uint32_t i = 0; i < r->n_segments; i++) {
        int64_t n;

        piece.buffer = r->segments[i].buffer;
        piece.buffer_offset = r->segments[i].offset;
        piece.length = r->segments[i].length;
        n = q->path->ops->transfer(q, &piece, e);
        if (n < 0)
            return n;
        sum += n;
        piece.offset += (uint64_t)n;
        if ((uint64_t)n < piece.length)
            break;
    }
    return sum;
}

static int sync_submit(struct spur_queue *q, const struct spur_request *requests, unsigned n, struct spur_error *e)
{
    struct queue_core *core = q->core;
    struct spur_error why = {0};

    core->done.user_data = requests[0].user_data;
    core->done.result = path_split_transfer(q, &requests[0], &why);
    core->done.stream = NULL;
    if (core->done.result < 0)
        q->error = why;
    core->has_done = true;
    return 1;
}

static int sync_reap(struct spur_queue *q, struct spur_completion *completions, unsigned max, unsigned min,
                     struct spur_error *e)
{
    struct queue_core *core = q->core;

    if (!core->has_done)
        return 0;
    completions[0] = core->done;
    core->has_done = false;
    return 1;
}

/* A queued path behind transfer. */
static int64_t queued_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    struct spur_completion c;
    int n = q->path->ops->submit(q, r, 1, e);

    if (n < 0)
        return n;
    n = q->path->ops->reap(q, &c, 1, 1, e);
    if (n < 0)
        return n;
    if (c.result < 0 && e)
        *e = q->error;
    return c.result;
}

const struct path_ops *path_ops_complete(const struct path_ops *row)
{
    struct path_ops *ops = malloc(sizeof(*ops));

    if (!ops)
        return NULL;
    *ops = *row;
#define FILL(slot, with)                                                                                               \
    if (!ops->slot)                                                                                                    \
    ops->slot = with
    FILL(probe, default_probe);
    FILL(open, default_open);
    FILL(close, default_close);
    FILL(limits, default_limits);
    FILL(attach, default_attach);
    FILL(detach, default_detach);
    FILL(queue_open, default_queue_open);
    FILL(queue_close, default_queue_close);
    FILL(effective, default_facts);
    FILL(evidence, default_facts);
    FILL(submit, sync_submit);
    FILL(reap, sync_reap);
    FILL(transfer, queued_transfer);
#undef FILL
    return ops;
}
