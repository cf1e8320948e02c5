/* SPDX-License-Identifier: MIT */
/* The memories, in the order in which they are listed. A new one is one file and one row here. */
#include "memory/memory.h"

const struct memory_ops *const memory_table[] = {
    &pageable_memory, &pinned_memory, &cuda_memory, &emulated_memory, NULL,
};
