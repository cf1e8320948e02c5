/* SPDX-License-Identifier: MIT */
/*
 * cuFile's stream interface. A stream keeps its requests in order, so as many streams as requests can be in flight are
 * used, up to a number; each request's size and offsets live in its slot until it is done, for the library reads them
 * when its turn comes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/fit.h"
#include "core/util.h"
#include "path/cufile_path.h"

#define MOST_STREAMS 16u
#define MOST_DEPTH   4096u

struct slot {
    struct spur_request request;
    size_t bytes;
    off_t file_offset, buffer_offset;
    ssize_t done;
    uint64_t ticket;
    unsigned stream;
    bool busy;
};

struct async_queue {
    unsigned depth, n_streams, next_stream;
    struct memory_stream **streams;
    bool *registered;
    struct slot *slots;
    unsigned *free_slots, n_free;
};

static int parse_streams(const struct spur_path *p, struct spur_error *e)
{
    const char *text = path_setting(p, "streams");
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (end == text || *end || n < 1 || n > MOST_STREAMS) {
        error_spur(e, SPUR_CODE_USAGE, "set", "streams=%s: not a number from 1 to %u", text, MOST_STREAMS);
        return -EINVAL;
    }
    return 0;
}

static int cufile_async_open(struct spur_path *p, struct spur_error *e)
{
    const struct cufile_path_state *s;
    int r = parse_streams(p, e);

    if (!r)
        r = cufile_path_open(p, e);
    if (r < 0)
        return r;
    s = p->state;
    if (s->lib->cuFileReadAsync && s->lib->cuFileWriteAsync)
        return 0;
    error_spur(e, SPUR_CODE_REFUSED, "cufile-async", "%s has no stream interface", cufile_file(s));
    error_remedy(e, "it came with cuFile 1.7 (CUDA 12.2); use --path cufile");
    cufile_path_close(p);
    return -EPERM;
}

static void async_limits(const struct spur_file *f, struct spur_limits *limits)
{
    limits->max_depth = MOST_DEPTH;
}

static void async_queue_close(struct spur_queue *q)
{
    const struct cufile_path_state *s = q->path->state;
    struct async_queue *a = q->state;

    for (unsigned i = 0; a && a->streams && i < a->n_streams; i++) {
        if (!a->streams[i])
            continue;
        if (a->registered[i])
            s->lib->cuFileStreamDeregister(a->streams[i]->native);
        q->memory->ops->stream_close(a->streams[i]);
    }
    if (a) {
        free(a->streams);
        free(a->registered);
        free(a->slots);
        free(a->free_slots);
    }
    free(a);
    q->state = NULL;
}

static int make_streams(struct spur_queue *q, struct async_queue *a, struct spur_error *e)
{
    const struct cufile_path_state *s = q->path->state;
    const unsigned flags = CUFILE_STREAM_FIXED_BUF_OFFSET | CUFILE_STREAM_FIXED_FILE_OFFSET |
                           CUFILE_STREAM_FIXED_FILE_SIZE;

    for (unsigned i = 0; i < a->n_streams; i++) {
        CUfileError_t status = {0};
        int r = q->memory->ops->stream_open(q->memory, a->depth, &a->streams[i], e);

        if (r < 0)
            return r;
        if (!a->streams[i]->native) {
            error_spur(e, SPUR_CODE_USAGE, "memory", "path cufile-async: memory %s has no streams", q->memory->name);
            error_remedy(e, "use --memory cuda:N");
            return -EINVAL;
        }
        if (s->lib->cuFileStreamRegister && s->lib->cuFileStreamDeregister)
            status = s->lib->cuFileStreamRegister(a->streams[i]->native, flags);
        if (status.err)
            return cufile_error(e, status, "cuFileStreamRegister", "stream %u of %u", i + 1, a->n_streams);
        a->registered[i] = s->lib->cuFileStreamRegister && s->lib->cuFileStreamDeregister;
    }
    return 0;
}

static unsigned n_streams(const struct spur_queue *q)
{
    unsigned n = (unsigned)strtoul(path_setting(q->path, "streams"), NULL, 10);

    return n < q->depth ? n : q->depth;
}

static int async_queue_open(struct spur_queue *q, struct spur_error *e)
{
    struct async_queue *a = calloc(1, sizeof(*a));
    int r;

    if (!a)
        return error_errno(e, ENOMEM, "calloc", "a queue of streams");
    q->state = a;
    a->depth = q->depth;
    a->n_streams = n_streams(q);
    a->streams = calloc(a->n_streams, sizeof(*a->streams));
    a->registered = calloc(a->n_streams, sizeof(*a->registered));
    a->slots = calloc(a->depth, sizeof(*a->slots));
    a->free_slots = calloc(a->depth, sizeof(unsigned));
    if (!a->streams || !a->registered || !a->slots || !a->free_slots)
        r = error_errno(e, ENOMEM, "calloc", "a queue of %u requests", a->depth);
    else
        r = make_streams(q, a, e);
    if (r < 0) {
        async_queue_close(q);
        return r;
    }
    while (a->n_free < a->depth) {
        a->free_slots[a->n_free] = a->n_free;
        a->n_free++;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static int submit_one(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    const struct cufile_path_state *s = q->path->state;
    struct async_queue *a = q->state;
    struct slot *slot = &a->slots[a->free_slots[a->n_free - 1]];
    struct memory_stream *stream = a->streams[a->next_stream];
    bool reads = r->op == SPUR_OP_READ;
    CUfileError_t status;
    int rc;

    *slot = (struct slot){.request = *r,
                          .bytes = r->length,
                          .file_offset = (off_t)r->offset,
                          .buffer_offset = (off_t)r->buffer_offset,
                          .stream = a->next_stream};
    status = (reads ? s->lib->cuFileReadAsync
                    : s->lib->cuFileWriteAsync)(cufile_handle(r->file), cufile_base(r->buffer), &slot->bytes,
                                                &slot->file_offset, &slot->buffer_offset, &slot->done, stream->native);
    if (status.err)
        return cufile_error(e, status, reads ? "cuFileReadAsync" : "cuFileWriteAsync", "%s: offset %llu, %llu bytes",
                            fit_name(r->file->filename).text, (unsigned long long)r->offset,
                            (unsigned long long)r->length);
    rc = q->memory->ops->mark(stream, &slot->ticket, e);
    if (rc < 0)
        return rc;
    slot->busy = true;
    a->n_free--;
    a->next_stream = (a->next_stream + 1) % a->n_streams;
    return 0;
}

static int async_submit(struct spur_queue *q, const struct spur_request *requests, unsigned n, struct spur_error *e)
{
    struct async_queue *a = q->state;
    unsigned i = 0;
    int r = 0;

    if (!a->n_free)
        return -EAGAIN;
    while (i < n && a->n_free && (r = submit_one(q, &requests[i], e)) == 0)
        i++;
    return i ? (int)i : r;
}

static int64_t slot_result(struct spur_queue *q, const struct slot *slot)
{
    struct spur_error e = {0};
    int64_t n;

    if (slot->done < 0) {
        n = cufile_error_transfer(&e, slot->done, (int)-slot->done, "cuFileReadAsync/WriteAsync",
                                  "%s: offset %llu, %llu bytes", fit_name(slot->request.file->filename).text,
                                  (unsigned long long)slot->request.offset, (unsigned long long)slot->request.length);
        return path_fail(q, &e, n);
    }
    if ((uint64_t)slot->done >= slot->request.length)
        return (int64_t)slot->request.length;
    n = cufile_move(q, &slot->request, (uint64_t)slot->done, &e); /* a short one goes on by itself */
    return n < 0 ? path_fail(q, &e, n) : n;
}

/* Takes what is done; waits for the one that was submitted first on its stream if @wait. */
static int take(struct spur_queue *q, struct spur_completion *completions, unsigned max, bool wait,
                struct spur_error *e)
{
    struct async_queue *a = q->state;
    unsigned n = 0;

    for (unsigned i = 0; i < a->depth && n < max; i++) {
        struct slot *slot = &a->slots[i];
        int r;

        if (!slot->busy)
            continue;
        r = q->memory->ops->done(a->streams[slot->stream], slot->ticket, e);
        if (r == 0 && wait && !n)
            r = q->memory->ops->wait(a->streams[slot->stream], slot->ticket, e) < 0 ? -EIO : 1;
        if (r < 0)
            return r;
        if (!r)
            continue;
        completions[n++] = (struct spur_completion){slot->request.user_data, slot_result(q, slot), NULL};
        slot->busy = false;
        a->free_slots[a->n_free++] = i;
    }
    return (int)n;
}

static int async_reap(struct spur_queue *q, struct spur_completion *completions, unsigned max, unsigned min,
                      struct spur_error *e)
{
    int n = take(q, completions, max, false, e), more;

    while (n >= 0 && (unsigned)n < min) {
        more = take(q, completions + n, max - (unsigned)n, true, e);
        if (more < 0)
            return more;
        n += more;
    }
    return n;
}

static const struct spur_setting async_settings[] = {
    CUFILE_SETTINGS,
    {"streams", "count", "1..16", "1", "CUDA streams of each queue; each keeps its requests in order"},
    {0},
};

const struct path_ops cufile_async_path = {
    .name = "cufile-async",
    .summary = "NVIDIA's cuFile, its stream interface: requests queued on CUDA streams",
    .settings = async_settings,
    .observed = SPUR_OBSERVED_UNKNOWN,
    .needs_real_memory = true,
    .probe = cufile_path_probe,
    .open = cufile_async_open,
    .close = cufile_path_close,
    .file_open = cufile_file_open,
    .file_close = cufile_file_close,
    .limits = async_limits,
    .attach = cufile_attach,
    .detach = cufile_detach,
    .queue_open = async_queue_open,
    .queue_close = async_queue_close,
    .submit = async_submit,
    .reap = async_reap,
    .effective = cufile_effective,
    .evidence = cufile_evidence,
    .roads = cufile_roads,
    .asked_road = cufile_asked_road,
};
