/* SPDX-License-Identifier: MIT */
/*
 * cuFile's batch interface. A batch handle takes entries again only when all of its last ones are done, so each submit
 * uses a handle of its own, from a pool that is made at set-up; as many handles as requests can be in flight.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/fit.h"
#include "core/util.h"
#include "path/cufile_path.h"

#define MOST_ENTRIES 128u /* of one batch, before 1.18 */

struct entry {
    struct spur_request request;
    int64_t result;
    bool done;
};

struct batch {
    CUfileBatchHandle_t handle;
    unsigned n, n_done; /* entries of the last submit */
    unsigned *slots;    /* of each, index into entries */
};

struct batch_queue {
    unsigned depth;
    struct entry *entries;
    unsigned *free_slots, n_free;
    struct batch *batches; /* depth of them; busy: n > n_done */
    CUfileIOParams_t *params;
    CUfileIOEvents_t *events;
    unsigned *done_slots, n_done; /* finished, not yet handed out */
};

static int no_batches(const struct spur_path *p, struct spur_error *e)
{
    const struct cufile_path_state *s = p->state;

    error_spur(e, SPUR_CODE_REFUSED, "cufile-batch", "%s has no batch interface", cufile_file(s));
    error_remedy(e, "it came with cuFile 1.2; use --path cufile");
    return -EPERM;
}

static int cufile_batch_open(struct spur_path *p, struct spur_error *e)
{
    const struct cufile_path_state *s;
    int r = cufile_path_open(p, e);

    if (r < 0)
        return r;
    s = p->state;
    if (s->lib->cuFileBatchIOSetUp && s->lib->cuFileBatchIOSubmit && s->lib->cuFileBatchIOGetStatus)
        return 0;
    r = no_batches(p, e);
    cufile_path_close(p);
    return r;
}

static void batch_limits(const struct spur_file *f, struct spur_limits *limits)
{
    limits->max_depth = MOST_ENTRIES;
}

static void batch_queue_close(struct spur_queue *q)
{
    const struct cufile_path_state *s = q->path->state;
    struct batch_queue *b = q->state;

    for (unsigned i = 0; b && b->batches && i < b->depth; i++) {
        if (b->batches[i].handle && s->lib->cuFileBatchIODestroy)
            s->lib->cuFileBatchIODestroy(b->batches[i].handle);
        free(b->batches[i].slots);
    }
    if (b) {
        free(b->entries);
        free(b->free_slots);
        free(b->batches);
        free(b->params);
        free(b->events);
        free(b->done_slots);
    }
    free(b);
    q->state = NULL;
}

static int make_batches(const struct spur_queue *q, struct batch_queue *b, struct spur_error *e)
{
    const struct cufile_path_state *s = q->path->state;

    for (unsigned i = 0; i < b->depth; i++) {
        CUfileError_t status = s->lib->cuFileBatchIOSetUp(&b->batches[i].handle, b->depth);

        if (status.err) {
            b->batches[i].handle = NULL;
            return cufile_error(e, status, "cuFileBatchIOSetUp", "%u entries", b->depth);
        }
        b->batches[i].slots = calloc(b->depth, sizeof(unsigned));
        if (!b->batches[i].slots)
            return error_errno(e, ENOMEM, "calloc", "a batch of %u entries", b->depth);
    }
    return 0;
}

static int batch_queue_open(struct spur_queue *q, struct spur_error *e)
{
    struct batch_queue *b = calloc(1, sizeof(*b));
    int r;

    if (!b)
        return error_errno(e, ENOMEM, "calloc", "a queue of batches");
    q->state = b;
    b->depth = q->depth;
    b->entries = calloc(b->depth, sizeof(*b->entries));
    b->free_slots = calloc(b->depth, sizeof(unsigned));
    b->done_slots = calloc(b->depth, sizeof(unsigned));
    b->batches = calloc(b->depth, sizeof(*b->batches));
    b->params = calloc(b->depth, sizeof(*b->params));
    b->events = calloc(b->depth, sizeof(*b->events));
    if (!b->entries || !b->free_slots || !b->done_slots || !b->batches || !b->params || !b->events)
        r = error_errno(e, ENOMEM, "calloc", "a queue of %u requests", b->depth);
    else
        r = make_batches(q, b, e);
    if (r < 0) {
        batch_queue_close(q);
        return r;
    }
    while (b->n_free < b->depth) {
        b->free_slots[b->n_free] = b->n_free;
        b->n_free++;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static struct batch *idle_batch(struct batch_queue *b)
{
    for (unsigned i = 0; i < b->depth; i++)
        if (b->batches[i].n == b->batches[i].n_done)
            return &b->batches[i];
    return NULL; /* not reached: each busy batch holds one slot at least */
}

static void fill_entry(struct batch_queue *b, struct batch *batch, unsigned i, const struct spur_request *r)
{
    unsigned slot = b->free_slots[--b->n_free];
    CUfileIOParams_t *p = &b->params[i];

    b->entries[slot] = (struct entry){.request = *r};
    batch->slots[i] = slot;
    *p = (CUfileIOParams_t){.mode = CUFILE_BATCH,
                            .batch = {.devPtr_base = cufile_base(r->buffer),
                                      .file_offset = (off_t)r->offset,
                                      .devPtr_offset = (off_t)r->buffer_offset,
                                      .size = r->length},
                            .fh = cufile_handle(r->file),
                            .opcode = r->op == SPUR_OP_READ ? CUFILE_READ : CUFILE_WRITE,
                            .cookie = (void *)(uintptr_t)slot};
}

static int batch_submit(struct spur_queue *q, const struct spur_request *requests, unsigned n, struct spur_error *e)
{
    const struct cufile_path_state *s = q->path->state;
    struct batch_queue *b = q->state;
    struct batch *batch = b->n_free ? idle_batch(b) : NULL;
    CUfileError_t status;

    if (!batch)
        return -EAGAIN;
    n = n < b->n_free ? n : b->n_free;
    for (unsigned i = 0; i < n; i++)
        fill_entry(b, batch, i, &requests[i]);
    batch->n = n;
    batch->n_done = 0;
    status = s->lib->cuFileBatchIOSubmit(batch->handle, n, b->params, 0);
    if (!status.err)
        return (int)n;
    for (unsigned i = 0; i < n; i++)
        b->free_slots[b->n_free++] = batch->slots[i];
    batch->n = 0;
    return cufile_error(e, status, "cuFileBatchIOSubmit", "%u entries, the first at offset %llu of %s", n,
                        (unsigned long long)requests[0].offset, fit_name(requests[0].file->filename).text);
}

/* Words for an entry that did not complete; its count is a negative code. */
static int64_t entry_failed(struct spur_queue *q, const struct entry *entry, const CUfileIOEvents_t *event)
{
    struct spur_error e = {0};
    int r = cufile_error_transfer(&e, (ssize_t)event->ret < 0 ? (ssize_t)event->ret : -5000 - EIO, EIO,
                                  "cuFileBatchIOGetStatus", "%s: offset %llu: status %d, count %lld",
                                  fit_name(entry->request.file->filename).text,
                                  (unsigned long long)entry->request.offset, event->status, (long long)event->ret);

    return path_fail(q, &e, r);
}

/* A short entry goes on by itself: the contract knows short requests at the end of a file only. */
static int64_t entry_result(struct spur_queue *q, const struct entry *entry, const CUfileIOEvents_t *event)
{
    struct spur_error e = {0};
    int64_t n;

    if (event->status != CUFILE_BATCH_COMPLETE || (ssize_t)event->ret < 0)
        return entry_failed(q, entry, event);
    if (event->ret >= entry->request.length)
        return (int64_t)entry->request.length;
    n = cufile_move(q, &entry->request, event->ret, &e);
    return n < 0 ? path_fail(q, &e, n) : n;
}

static void take_event(struct spur_queue *q, struct batch *batch, const CUfileIOEvents_t *event)
{
    struct batch_queue *b = q->state;
    unsigned slot = (unsigned)(uintptr_t)event->cookie;

    if (event->status == CUFILE_BATCH_WAITING || event->status == CUFILE_BATCH_PENDING || slot >= b->depth ||
        b->entries[slot].done)
        return;
    b->entries[slot].result = entry_result(q, &b->entries[slot], event);
    b->entries[slot].done = true;
    b->done_slots[b->n_done++] = slot;
    batch->n_done++;
}

/* What is done of one batch; waits up to 1 ms for one entry if @wait. */
static int look(struct spur_queue *q, struct batch *batch, bool wait, struct spur_error *e)
{
    const struct cufile_path_state *s = q->path->state;
    struct batch_queue *b = q->state;
    struct timespec timeout = {0, wait ? 1000000 : 0};
    unsigned n = batch->n - batch->n_done;
    CUfileError_t status;

    memset(b->events, 0, n * sizeof(*b->events));
    status = s->lib->cuFileBatchIOGetStatus(batch->handle, wait ? 1 : 0, &n, b->events, &timeout);
    if (status.err)
        return cufile_error(e, status, "cuFileBatchIOGetStatus", "%u entries", batch->n - batch->n_done);
    for (unsigned i = 0; i < n && i < b->depth; i++)
        take_event(q, batch, &b->events[i]);
    return 0;
}

static int look_at_all(struct spur_queue *q, bool wait, struct spur_error *e)
{
    struct batch_queue *b = q->state;
    int r = 0;

    for (unsigned i = 0; !r && i < b->depth; i++) {
        if (b->batches[i].n == b->batches[i].n_done)
            continue;
        r = look(q, &b->batches[i], wait, e);
        wait = wait && !b->n_done; /* for the first one, then only what is there */
    }
    return r;
}

static int batch_reap(struct spur_queue *q, struct spur_completion *completions, unsigned max, unsigned min,
                      struct spur_error *e)
{
    struct batch_queue *b = q->state;
    unsigned n = 0;
    int r = look_at_all(q, false, e);

    while (!r && b->n_done < min)
        r = look_at_all(q, true, e);
    if (r < 0)
        return r;
    while (n < max && b->n_done) {
        unsigned slot = b->done_slots[--b->n_done];

        completions[n++] = (struct spur_completion){b->entries[slot].request.user_data, b->entries[slot].result, NULL};
        b->free_slots[b->n_free++] = slot;
    }
    return (int)n;
}

const struct path_ops cufile_batch_path = {
    .name = "cufile-batch",
    .summary = "NVIDIA's cuFile, its batch interface: up to 128 requests of a thread in flight",
    .settings = cufile_settings,
    .observed = SPUR_OBSERVED_UNKNOWN,
    .needs_real_memory = true,
    .probe = cufile_path_probe,
    .open = cufile_batch_open,
    .close = cufile_path_close,
    .file_open = cufile_file_open,
    .file_close = cufile_file_close,
    .limits = batch_limits,
    .attach = cufile_attach,
    .detach = cufile_detach,
    .queue_open = batch_queue_open,
    .queue_close = batch_queue_close,
    .submit = batch_submit,
    .reap = batch_reap,
    .effective = cufile_effective,
    .evidence = cufile_evidence,
    .roads = cufile_roads,
    .asked_road = cufile_asked_road,
};
