/* SPDX-License-Identifier: MIT */
/*
 * Places of a thread's territory that its unfinished steps cover: a small open-addressing set with linear probing, at
 * most a quarter full, so every call has constant expected cost and touches a cache line or two.
 */
#ifndef SPUR_WORKLOAD_CLAIMS_H
#define SPUR_WORKLOAD_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

struct claim {
    uint64_t place; /* offset or granule in the file */
    uint32_t file;
    uint32_t taken;
};

struct claims {
    struct claim *slots;
    unsigned bits; /* 2^bits slots */
    unsigned n;
};

/* Room for @n_most claims at once. -ENOMEM. */
int claims_init(struct claims *c, uint64_t n_most);
void claims_destroy(struct claims *c);

static inline uint32_t claims_home(const struct claims *c, uint32_t file, uint64_t place)
{
    uint64_t h = (place ^ ((uint64_t)file << 40) ^ file) * 0x9e3779b97f4a7c15ull;

    return (uint32_t)(h >> (64 - c->bits));
}

/* Slot of the place, or the free slot where it would go. */
static inline uint32_t claims_slot(const struct claims *c, uint32_t file, uint64_t place)
{
    uint32_t mask = (1u << c->bits) - 1, i = claims_home(c, file, place);

    while (c->slots[i].taken && (c->slots[i].place != place || c->slots[i].file != file))
        i = (i + 1) & mask;
    return i;
}

static inline bool claims_has(const struct claims *c, uint32_t file, uint64_t place)
{
    return c->slots[claims_slot(c, file, place)].taken;
}

/* False if it is there already. There must be room. */
static inline bool claims_take(struct claims *c, uint32_t file, uint64_t place)
{
    struct claim *s = &c->slots[claims_slot(c, file, place)];

    if (s->taken)
        return false;
    s->place = place;
    s->file = file;
    s->taken = 1;
    c->n++;
    return true;
}

/* Nothing happens if it is not there. Moves later entries of the run back over the gap (Knuth, 6.4, algorithm R), so
 * no tombstones pile up. */
static inline void claims_remove(struct claims *c, uint32_t file, uint64_t place)
{
    uint32_t mask = (1u << c->bits) - 1, gap = claims_slot(c, file, place), i = gap, home;

    if (!c->slots[gap].taken)
        return;
    while (c->slots[i = (i + 1) & mask].taken) {
        home = claims_home(c, c->slots[i].file, c->slots[i].place);
        if (((i - home) & mask) < ((i - gap) & mask)) /* its home lies after the gap */
            continue;
        c->slots[gap] = c->slots[i];
        gap = i;
    }
    c->slots[gap].taken = 0;
    c->n--;
}

#endif
