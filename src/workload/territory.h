/* SPDX-License-Identifier: MIT */
/* Which places of which files a thread may ask for: the plan checked, threads dealt over files, files cut into parts.
 */
#ifndef SPUR_WORKLOAD_TERRITORY_H
#define SPUR_WORKLOAD_TERRITORY_H

#include "workload/workload.h"

#define WORKLOAD_BLOCK 4096u /* the unit of writing: a block of the pattern format */

enum territory_kind {
    TERRITORY_SEQUENTIAL, /* own parts, cut at total_bytes */
    TERRITORY_SHARED,     /* random reads: the whole of the thread's files */
    TERRITORY_OWN,        /* random writes and mix: own parts */
};

/* A run of places in one file. Aligned: place p is the request at start + p * request_bytes. Unaligned: at start + p.
 */
struct territory_part {
    uint32_t file;
    uint64_t start, end;  /* bytes in the file */
    uint64_t first_place; /* places of the parts before it */
    uint64_t n_places;    /* > 0 */
};

struct territory {
    struct territory_part *parts;
    unsigned n_parts; /* 0: idle */
    uint64_t n_places;
    unsigned granule_bits; /* unaligned own parts: granules of 2^bits bytes, at least a request and a block */
    uint32_t *guide;       /* for more than one part: guide[place >> guide_shift] is the first part to look at */
    unsigned guide_shift;
    uint64_t share_bytes; /* random with total_bytes: the thread's share */
};

/* Checks the plan and works out the territory of thread @index. -EINVAL (usage), -EPERM (no file holds a request),
 * -ENOMEM. */
int territory_init(struct territory *t, const struct workload_plan *plan, enum territory_kind kind, unsigned index,
                   struct spur_error *e);
void territory_destroy(struct territory *t);
bool territory_uses(const struct territory *t, uint32_t file);

/* Part that holds @place: constant expected cost for a uniformly drawn place. */
static inline const struct territory_part *territory_find(const struct territory *t, uint64_t place)
{
    const struct territory_part *p = t->parts;

    if (t->n_parts > 1) {
        p += t->guide[place >> t->guide_shift];
        while (place - p->first_place >= p->n_places)
            p++;
    }
    return p;
}

#endif
