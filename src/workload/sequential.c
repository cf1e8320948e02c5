/* SPDX-License-Identifier: MIT */
/* Each thread walks its own parts from start to end, round and round, or once over what total_bytes covers. */
#include <errno.h>
#include <stdlib.h>

#include "core/error.h"
#include "workload/claims.h"
#include "workload/territory.h"

struct workload_thread {
    uint64_t offset, request_bytes;
    const struct territory_part *part;
    uint32_t op;
    bool once;   /* total_bytes: no second round */
    bool claims; /* writes that come round again must not catch up with unfinished ones */
    unsigned depth;
    struct claims claimed;
    struct territory territory;
};

static void sequential_close(struct workload_thread *t)
{
    if (!t)
        return;
    claims_destroy(&t->claimed);
    territory_destroy(&t->territory);
    free(t);
}

static int sequential_open(const struct workload_plan *plan, unsigned index, struct workload_thread **ret_thread,
                           bool *ret_idle, struct spur_error *e)
{
    struct territory territory;
    struct workload_thread *t;
    int r = territory_init(&territory, plan, TERRITORY_SEQUENTIAL, index, e);

    if (r < 0)
        return r;
    *ret_thread = NULL;
    *ret_idle = !territory.n_parts;
    if (*ret_idle) {
        territory_destroy(&territory);
        return 0;
    }
    t = aligned_alloc(64, (sizeof(*t) + 63) / 64 * 64);
    if (!t) {
        territory_destroy(&territory);
        return error_errno(e, ENOMEM, "workload", "thread %u", index);
    }
    *t = (struct workload_thread){.offset = territory.parts[0].start,
                                  .request_bytes = plan->request_bytes,
                                  .part = territory.parts,
                                  .op = plan->write ? SPUR_OP_WRITE : SPUR_OP_READ,
                                  .once = plan->total_bytes != 0,
                                  .claims = plan->write && !plan->total_bytes,
                                  .depth = plan->depth ? plan->depth : 1,
                                  .territory = territory};
    if (claims_init(&t->claimed, t->depth) < 0) {
        sequential_close(t);
        return error_errno(e, ENOMEM, "workload", "depth %u", plan->depth);
    }
    *ret_thread = t;
    return 0;
}

/* False at the end of the only round. */
static bool next_part(struct workload_thread *t)
{
    if (++t->part == t->territory.parts + t->territory.n_parts) {
        if (t->once) {
            t->part--;
            return false;
        }
        t->part = t->territory.parts;
    }
    t->offset = t->part->start;
    return true;
}

static bool sequential_uses(const struct workload_thread *t, uint32_t file)
{
    return territory_uses(&t->territory, file);
}

static int sequential_next(struct workload_thread *t, struct workload_step *step)
{
    uint64_t left;

    if (t->offset == t->part->end && !next_part(t))
        return 0;
    if (t->claims) {
        if (t->claimed.n >= t->depth || !claims_take(&t->claimed, t->part->file, t->offset))
            return -EAGAIN;
    }
    left = t->part->end - t->offset;
    *step = (struct workload_step){.op = t->op,
                                   .file = t->part->file,
                                   .offset = t->offset,
                                   .length = left < t->request_bytes ? left : t->request_bytes};
    t->offset += step->length;
    return 1;
}

static void sequential_done(struct workload_thread *t, const struct workload_step *step)
{
    if (t->claims)
        claims_remove(&t->claimed, step->file, step->offset);
}

const struct workload_ops sequential_workload = {
    .name = "sequential",
    .summary = "each thread walks its own part of the files from start to end",
    .writes = true,
    .open = sequential_open,
    .close = sequential_close,
    .uses = sequential_uses,
    .next = sequential_next,
    .done = sequential_done,
};
