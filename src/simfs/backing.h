/* SPDX-License-Identifier: MIT */
/* Where simfs's bytes come from: memory, files of a directory (mapped), or the block format made as it is asked for. */
#ifndef SPUR_SIMFS_BACKING_H
#define SPUR_SIMFS_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simfs/simfs.h"

struct backing_file {
    uint8_t *data; /* NULL: made as it is asked for */
    uint64_t uuid[2], generation, key_seed;
};

struct backing {
    struct backing_file *files;
    uint64_t n_files, file_bytes;
    bool writable;
};

/* Room that backing_at may need for @bytes. */
#define BACKING_SCRATCH(bytes) ((bytes) + 8192)

int backing_open(struct backing *b, const struct simfs_options *o, struct spur_error *e);
void backing_close(struct backing *b);

/* [offset, offset + bytes) of a file, within its size: where it lies, or made in @scratch. */
const uint8_t *backing_at(const struct backing *b, uint64_t file, uint64_t offset, size_t bytes, void *scratch);

#endif
