/* SPDX-License-Identifier: MIT */
/*
 * What the synchronous host paths share: the kernel moves the bytes to or from host memory, and where the memory is a
 * device they are staged in page-locked memory and copied. The request is complete when its copy is.
 */
#ifndef SPUR_PATH_HOST_H
#define SPUR_PATH_HOST_H

#include "path/path.h"

/* Moves @length bytes between the file and host memory; reads may put up to round_up(length, f->align) bytes. */
typedef int64_t (*host_io_fn)(struct spur_file *f, uint32_t op, void *host, size_t length, uint64_t offset,
                              struct spur_error *e);

int host_queue_open(struct spur_queue *q, struct spur_error *e);
void host_queue_close(struct spur_queue *q);
int64_t host_transfer(struct spur_queue *q, const struct spur_request *r, host_io_fn io, struct spur_error *e);

/* Opens f->fd and finds its size; a slot for buffered and mmap. */
int host_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e);
void host_file_close(struct spur_file *f);

#endif
