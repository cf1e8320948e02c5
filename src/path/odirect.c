/* SPDX-License-Identifier: MIT */
/*
 * The host path of the GDS literature: O_DIRECT into page-locked host memory, then a copy to the GPU; one request a
 * thread, one copy a request. Where O_DIRECT is not possible it refuses: it never reads through the page cache.
 */
#include <errno.h>
#include <stdio.h>

#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"
#include "path/host.h"

static int odirect_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    struct direct_align align;
    int r;

    f->fd = file_open_fd(f->filename, f->flags & SPUR_FILE_WRITE, true, e);
    if (f->fd < 0)
        return f->fd;
    r = file_size_get(f->fd, f->filename, &f->bytes, e);
    if (!r)
        r = direct_align_get(f->fd, f->filename, &align, e);
    if (r < 0) {
        host_file_close(f);
        return r;
    }
    f->align = align.offset;
    f->align_address = align.memory;
    return 0;
}

static void odirect_limits(const struct spur_file *f, struct spur_limits *limits)
{
    limits->offset_align = f->align;
    limits->length_align = f->align;
    limits->address_align = f->align_address;
}

static int64_t move(struct spur_file *f, uint32_t op, void *host, size_t length, uint64_t offset, struct spur_error *e)
{
    if (op == SPUR_OP_READ)
        return file_read(f->fd, f->filename, host, length, offset, f->align, f->bytes, e);
    return file_write(f->fd, f->filename, host, length, offset, e);
}

static int64_t odirect_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    return host_transfer(q, r, move, e);
}

static void odirect_effective(struct spur_path *p, path_fact_fn emit, void *context)
{
    char value[32];

    if (!p->n_files)
        return;
    snprintf(value, sizeof(value), "%u", p->files[0]->align);
    emit(context, &(struct path_fact){"align_bytes", value, NULL});
}

const struct path_ops odirect_path = {
    .name = "odirect",
    .summary = "O_DIRECT into host memory (page-locked for a GPU), then a copy: the host path",
    .observed = SPUR_OBSERVED_HOST,
    .file_open = odirect_file_open,
    .file_close = host_file_close,
    .limits = odirect_limits,
    .queue_open = host_queue_open,
    .queue_close = host_queue_close,
    .transfer = odirect_transfer,
    .effective = odirect_effective,
};
