/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"

const struct memory_ops pageable_memory = {
    .name = "pageable",
    .summary = "ordinary host memory, no GPU copy",
};
