/* SPDX-License-Identifier: MIT */
/*
 * How a request is cut into pieces: arithmetic only.
 *
 * Reads cover the request with aligned pieces: begin rounded down, end rounded up, never more. Where the bytes may land
 * straight in the caller's memory (host memory, aligned address) they do; what lies between such runs goes through
 * staging. Runs meet at aligned offsets only, so nothing is read twice.
 *
 * Writes never touch a byte outside the request. A write that keeps to the alignment goes through O_DIRECT as a whole.
 * Of any other only the whole pages do; the rest (edges) goes through the page cache, afterwards. Whole pages, not
 * aligned units: the cache dirties and writes back whole pages, so a page must not be written both ways at once.
 */
#ifndef SPUR_PATH_FANOUT_PLAN_H
#define SPUR_PATH_FANOUT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "spur.h"

/* Runs shorter than this go through staging with their neighbours: one I/O and a copy beat several I/Os. */
#define FANOUT_STRAIGHT_MIN 65536u

/* What a plan must keep to; aligns, page and piece are powers of two or (piece) a multiple of the others. */
struct fanout_shape {
    uint32_t align;         /* of file offsets and lengths */
    uint32_t align_address; /* of addresses */
    uint32_t page;          /* granule of unaligned writes; >= both */
    uint32_t piece;         /* largest I/O */
    bool host;              /* I/O may go straight to the caller's memory */
};

struct fanout_range {
    uint64_t begin, end;
};

/* Where the next piece begins. */
struct fanout_plan {
    struct fanout_shape shape;
    const struct spur_segment *segments;
    uint32_t n_segments;
    uint32_t segment;             /* cursor: this segment ... */
    uint64_t segment_offset;      /* ... begins at this file offset */
    struct fanout_range request;  /* in the file */
    struct fanout_range direct;   /* not yet cut, aligned */
    struct fanout_range edges[2]; /* not yet cut, through the page cache */
};

/* One piece. */
struct fanout_cut {
    uint64_t io_offset;      /* what the kernel is asked for */
    uint64_t want_offset;    /* the part that belongs to the request */
    uint64_t segment_offset; /* file offset at which `segment` begins */
    uint32_t segment;        /* that holds want_offset */
    uint32_t io_bytes;
    uint32_t want_bytes;
    bool straight; /* io == want, one segment, aligned address: no staging */
    bool buffered; /* an edge */
};

void fanout_plan_begin(struct fanout_plan *p, const struct fanout_shape *shape, bool write, uint64_t offset,
                       uint64_t length, const struct spur_segment *segments, uint32_t n_segments);
/* The next piece, without going past it; not to be called when done. Edges come last. */
void fanout_plan_peek(struct fanout_plan *p, struct fanout_cut *ret_cut);
void fanout_plan_advance(struct fanout_plan *p, const struct fanout_cut *cut);

static inline bool fanout_plan_direct_done(const struct fanout_plan *p)
{
    return p->direct.begin == p->direct.end;
}

static inline bool fanout_plan_done(const struct fanout_plan *p)
{
    return fanout_plan_direct_done(p) && p->edges[0].begin == p->edges[0].end && p->edges[1].begin == p->edges[1].end;
}

#endif
