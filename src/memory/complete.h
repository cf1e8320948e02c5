/* SPDX-License-Identifier: MIT */
#ifndef SPUR_MEMORY_COMPLETE_H
#define SPUR_MEMORY_COMPLETE_H

#include "memory/memory.h"

/* A copy of @row whose empty slots are the host defaults'; NULL: out of memory. To be freed. */
const struct memory_ops *memory_ops_complete(const struct memory_ops *row);

#endif
