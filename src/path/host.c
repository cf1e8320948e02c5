/* SPDX-License-Identifier: MIT */
#include "path/host.h"

#include <errno.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"

struct host_queue {
    struct memory_stream *stream;
    void *stage; /* NULL: never needed */
    size_t stage_bytes;
};

/* Host memory is read into where it lies, unless the last read of an odd-sized file has to be rounded up. */
static bool needs_stage(const struct spur_queue *q)
{
    const struct spur_path *p = q->path;

    if (q->memory->ops->is_device)
        return true;
    for (size_t i = 0; i < p->n_files; i++)
        if (p->files[i]->bytes % p->files[i]->align)
            return true;
    return false;
}

static uint32_t largest_align(const struct spur_path *p)
{
    uint32_t align = 1;

    for (size_t i = 0; i < p->n_files; i++)
        if (p->files[i]->align > align)
            align = p->files[i]->align;
    return align;
}

int host_queue_open(struct spur_queue *q, struct spur_error *e)
{
    struct host_queue *h = calloc(1, sizeof(*h));
    int r;

    if (!h)
        return error_errno(e, ENOMEM, "calloc", "opening a queue");
    q->state = h;
    r = q->memory->ops->stream_open(q->memory, 4, &h->stream, e);
    if (!r && needs_stage(q)) {
        h->stage_bytes = round_up(q->path->max_request_bytes, largest_align(q->path));
        r = q->memory->ops->stage_alloc(q->memory, h->stage_bytes, &h->stage, e);
    }
    if (r < 0)
        host_queue_close(q);
    return r;
}

void host_queue_close(struct spur_queue *q)
{
    struct host_queue *h = q->state;

    if (!h)
        return;
    if (h->stream)
        q->memory->ops->stream_close(h->stream);
    if (h->stage)
        q->memory->ops->stage_free(q->memory, h->stage, h->stage_bytes);
    free(h);
    q->state = NULL;
}

static int finish_copies(struct spur_queue *q, struct spur_error *e)
{
    struct host_queue *h = q->state;
    uint64_t ticket;
    int r = q->memory->ops->mark(h->stream, &ticket, e);

    return r < 0 ? r : q->memory->ops->wait(h->stream, ticket, e);
}

static int64_t staged_read(struct spur_queue *q, const struct spur_request *r, host_io_fn io, struct spur_error *e)
{
    struct host_queue *h = q->state;
    int64_t n = io(r->file, r->op, h->stage, r->length, r->offset, e);
    int c;

    if (n <= 0)
        return n;
    c = q->memory->ops->copy_in(h->stream, r->buffer, r->buffer_offset, h->stage, (size_t)n, e);
    if (!c)
        c = finish_copies(q, e);
    return c < 0 ? c : n;
}

static int64_t staged_write(struct spur_queue *q, const struct spur_request *r, host_io_fn io, struct spur_error *e)
{
    struct host_queue *h = q->state;
    int c = q->memory->ops->copy_out(h->stream, r->buffer, r->buffer_offset, h->stage, r->length, e);

    if (!c)
        c = finish_copies(q, e);
    return c < 0 ? c : io(r->file, r->op, h->stage, r->length, r->offset, e);
}

int64_t host_transfer(struct spur_queue *q, const struct spur_request *r, host_io_fn io, struct spur_error *e)
{
    const struct spur_file *f = r->file;
    /* O_DIRECT fills the last unit up behind the end of the file: only what was asked for may reach the caller's
     * memory. */
    bool whole = f->align == 1 || r->offset + r->length <= round_down(f->bytes, f->align);

    if (!q->memory->ops->is_device && (whole || r->op == SPUR_OP_WRITE))
        return io(r->file, r->op, (uint8_t *)(uintptr_t)r->buffer->address + r->buffer_offset, r->length, r->offset, e);
    return r->op == SPUR_OP_READ ? staged_read(q, r, io, e) : staged_write(q, r, io, e);
}

int host_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    int r;

    f->fd = file_open_fd(f->filename, f->flags & SPUR_FILE_WRITE, false, e);
    if (f->fd < 0)
        return f->fd;
    r = file_size_get(f->fd, f->filename, &f->bytes, e);
    if (r < 0)
        host_file_close(f);
    return r;
}

void host_file_close(struct spur_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->fd_buffered >= 0)
        close(f->fd_buffered);
    f->fd = f->fd_buffered = -1;
}
