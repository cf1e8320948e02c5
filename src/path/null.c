/* SPDX-License-Identifier: MIT */
/*
 * Moves nothing: the template for a new path, and the measure of the harness's own cost. Its figures are those of the
 * loop around it; no byte of the file reaches the memory, so nothing can be verified.
 */
#include <unistd.h>

#include "path/direct.h"
#include "path/path.h"

static int null_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    int fd = file_open_fd(f->filename, false, false, e);
    int r;

    if (fd < 0)
        return fd;
    r = file_size_get(fd, f->filename, &f->bytes, e);
    close(fd);
    return r;
}

static void null_file_close(struct spur_file *f) {}

static int64_t null_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    return (int64_t)r->length;
}

const struct path_ops null_path = {
    .name = "null",
    .summary = "moves no bytes: the cost of the harness itself",
    .observed = SPUR_OBSERVED_UNKNOWN,
    .moves_no_bytes = true,
    .file_open = null_file_open,
    .file_close = null_file_close,
    .transfer = null_transfer,
};
