/* SPDX-License-Identifier: MIT */
#include "worker/mutation.h"

#ifdef SPUR_MUTATIONS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_on(const char *name)
{
    const char *chosen = getenv("SPUR_MUTATE");

    return chosen && !strcmp(chosen, name);
}

static void exchange(struct trial_thread *t, uint64_t a, uint64_t b, size_t bytes)
{
    uint8_t x[PATTERN_BLOCK], y[PATTERN_BLOCK];

    spur_buffer_read(t->buffer, a, x, bytes, NULL);
    spur_buffer_read(t->buffer, b, y, bytes, NULL);
    spur_buffer_write(t->buffer, a, y, bytes, NULL);
    spur_buffer_write(t->buffer, b, x, bytes, NULL);
}

void mutation_read(struct trial_thread *t, unsigned slot)
{
    uint64_t at = t->requests[slot].buffer_offset;
    uint64_t length = t->requests[slot].length;
    uint64_t where = at + (length * 2 / 3);
    uint8_t byte;

    if (is_on("flip")) {
        spur_buffer_read(t->buffer, where, &byte, 1, NULL);
        byte ^= 0x10;
        spur_buffer_write(t->buffer, where, &byte, 1, NULL);
    } else if (is_on("swap") && length >= 2 * PATTERN_BLOCK) {
        exchange(t, at, at + PATTERN_BLOCK, PATTERN_BLOCK);
    } else if (is_on("tear") && length >= 2 * PATTERN_BLOCK) {
        exchange(t, at + PATTERN_SECTOR, at + PATTERN_BLOCK + PATTERN_SECTOR, PATTERN_SECTOR);
    } else if (is_on("short") && length >= PATTERN_BLOCK) {
        uint8_t zero[PATTERN_SECTOR] = {0};

        spur_buffer_write(t->buffer, at + length - sizeof(zero), zero, sizeof(zero), NULL);
    }
}

bool mutation_skip_stamp(struct trial_thread *t)
{
    return is_on("stale");
}
#endif
