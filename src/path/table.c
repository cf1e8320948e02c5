/* SPDX-License-Identifier: MIT */
/* The paths, in the order in which they are listed. A new one is one file and one row here. */
#include "path/path.h"

const struct path_ops *const path_table[] = {
    &null_path,   &buffered_path,     &mmap_path,         &odirect_path,  &fanout_path,
    &cufile_path, &cufile_batch_path, &cufile_async_path, &external_path, NULL,
};
