/* SPDX-License-Identifier: MIT */
#include "path/fanout_plan.h"

#include "memory/memory.h"

static uint64_t down(uint64_t value, uint32_t power)
{
    return value & ~(uint64_t)(power - 1);
}

static uint64_t up(uint64_t value, uint32_t power)
{
    return down(value + power - 1, power);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void begin_unaligned_write(struct fanout_plan *p)
{
    uint64_t lo = up(p->request.begin, p->shape.page);
    uint64_t hi = down(p->request.end, p->shape.page);

    if (lo >= hi) {
        p->direct = (struct fanout_range){0, 0};
        p->edges[0] = p->request;
        return;
    }
    p->direct = (struct fanout_range){lo, hi};
    p->edges[0] = (struct fanout_range){p->request.begin, lo};
    p->edges[1] = (struct fanout_range){hi, p->request.end};
}

void fanout_plan_begin(struct fanout_plan *p, const struct fanout_shape *shape, bool write, uint64_t offset,
                       uint64_t length, const struct spur_segment *segments, uint32_t n_segments)
{
    p->shape = *shape;
    p->segments = segments;
    p->n_segments = n_segments;
    p->segment = 0;
    p->segment_offset = offset;
    p->request = (struct fanout_range){offset, offset + length};
    p->edges[0] = p->edges[1] = (struct fanout_range){0, 0};
    if (write && ((offset | length) & (shape->align - 1)))
        begin_unaligned_write(p);
    else
        p->direct = (struct fanout_range){down(offset, shape->align), up(offset + length, shape->align)};
}

/* Moves the cursor to the segment that holds file offset @at. */
static void seek(struct fanout_plan *p, uint64_t at)
{
    if (at < p->segment_offset) {
        p->segment = 0;
        p->segment_offset = p->request.begin;
    }
    while (at >= p->segment_offset + p->segments[p->segment].length) {
        p->segment_offset += p->segments[p->segment].length;
        p->segment++;
    }
}

/* The aligned part of segment @i (at file offset @offset) that may be moved without staging; false: none. */
static bool straight_run(const struct fanout_plan *p, uint32_t i, uint64_t offset, struct fanout_range *ret)
{
    const struct spur_segment *s = &p->segments[i];
    uint64_t lo = up(offset, (uint32_t)most(p->shape.align, p->shape.align_address));
    uint64_t hi = down(offset + s->length, p->shape.align);

    if (lo >= hi || ((s->buffer->address + s->offset + (lo - offset)) & (p->shape.align_address - 1)))
        return false;
    ret->begin = lo;
    ret->end = hi;
    return hi - lo >= FANOUT_STRAIGHT_MIN || (lo == p->request.begin && hi == p->request.end);
}

/* Where staging that begins at @at must end: at the next straight run, or at @limit. */
static uint64_t staged_end(const struct fanout_plan *p, uint64_t at, uint64_t limit)
{
    uint64_t offset = p->segment_offset;

    for (uint32_t i = p->segment; i < p->n_segments && offset < limit; i++) {
        struct fanout_range run;

        if (straight_run(p, i, offset, &run) && run.begin > at)
            return least(limit, run.begin);
        offset += p->segments[i].length;
    }
    return limit;
}

static void cut_range(const struct fanout_plan *p, uint64_t begin, uint64_t end, struct fanout_cut *cut)
{
    cut->io_offset = begin;
    cut->io_bytes = (uint32_t)(end - begin);
    cut->want_offset = most(begin, p->request.begin);
    cut->want_bytes = (uint32_t)(least(end, p->request.end) - cut->want_offset);
    cut->segment = p->segment;
    cut->segment_offset = p->segment_offset;
}

static void peek_direct(struct fanout_plan *p, struct fanout_cut *cut)
{
    uint64_t at = p->direct.begin;
    uint64_t limit = least(at + p->shape.piece, p->direct.end);
    struct fanout_range run;

    seek(p, most(at, p->request.begin));
    cut->buffered = false;
    cut->straight = p->shape.host && straight_run(p, p->segment, p->segment_offset, &run) && at >= run.begin &&
                    at < run.end;
    if (cut->straight)
        limit = least(limit, run.end);
    else if (p->shape.host)
        limit = staged_end(p, at, limit);
    cut_range(p, at, limit, cut);
}

static void peek_edge(struct fanout_plan *p, const struct fanout_range *edge, struct fanout_cut *cut)
{
    uint64_t limit = least(edge->begin + p->shape.piece, edge->end);

    seek(p, edge->begin);
    cut->buffered = true;
    cut->straight = p->shape.host && p->segment_offset + p->segments[p->segment].length >= limit;
    cut_range(p, edge->begin, limit, cut);
}

static struct fanout_range *next_range(struct fanout_plan *p)
{
    if (!fanout_plan_direct_done(p))
        return &p->direct;
    return p->edges[0].begin != p->edges[0].end ? &p->edges[0] : &p->edges[1];
}

void fanout_plan_peek(struct fanout_plan *p, struct fanout_cut *ret_cut)
{
    struct fanout_range *range = next_range(p);

    if (range == &p->direct)
        peek_direct(p, ret_cut);
    else
        peek_edge(p, range, ret_cut);
}

void fanout_plan_advance(struct fanout_plan *p, const struct fanout_cut *cut)
{
    next_range(p)->begin = cut->io_offset + cut->io_bytes;
}
