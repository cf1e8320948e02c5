/* SPDX-License-Identifier: MIT */
/* What a path gets for the slots that it leaves empty. */
#ifndef SPUR_PATH_DEFAULTS_H
#define SPUR_PATH_DEFAULTS_H

#include "path/path.h"

/* A copy of @row with every slot filled; NULL: out of memory. To be freed. */
const struct path_ops *path_ops_complete(const struct path_ops *row);

/* The defaults' share of a queue: completions of synchronous paths wait there to be reaped. */
int path_queue_core_open(struct spur_queue *q, struct spur_error *e);
void path_queue_core_close(struct spur_queue *q);

/* One synchronous request; its segments one after another where the path does not take them. */
int64_t path_split_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e);

#endif
