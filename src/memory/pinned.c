/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"

const struct memory_ops pinned_memory = {
    .name = "pinned",
    .summary = "page-locked host memory, no GPU copy: comparable with fio",
    .is_page_locked = true,
};
