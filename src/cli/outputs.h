/* SPDX-License-Identifier: MIT */
/* Files that one command writes: no two of them may be one, by whatever names. */
#ifndef SPUR_CLI_OUTPUTS_H
#define SPUR_CLI_OUTPUTS_H

#include <stddef.h>

#include "spur.h"

struct output {
    const char *option; /* "html" */
    const char *file;   /* "-": standard output; NULL: not asked for */
};

/*
 * -EINVAL (USAGE): two of @outputs go to one file, or one of them to the results file @db or to what is kept beside
 * that (its lock, SQLite's journals). -EPERM (REFUSED): the latter, and it exists. Files that exist are told by device
 * and inode, others by those of their folder, and name; a folder that is not there is left to whoever opens the file.
 */
int outputs_check(const struct output *outputs, size_t n, const char *db, struct spur_error *e);

#endif
