/* SPDX-License-Identifier: MIT */
/* Offsets drawn uniformly: reads over the whole of the thread's files, writes and mix inside its own part. */
#include "workload/random.h"

#include <errno.h>
#include <stdlib.h>

#include "core/error.h"
#include "workload/claims.h"
#include "workload/draw.h"
#include "workload/territory.h"

#define N_REDRAWS 8 /* then the next free place after the drawn one is taken: few free places must not cost more */

struct workload_thread {
    struct draw draw;
    uint64_t request_bytes;
    uint64_t left_bytes; /* of the share; with no total_bytes it never ends */
    unsigned read_percent;
    unsigned depth, n_unfinished;
    uint64_t n_room; /* steps that surely find a place beside each other */
    bool own_part;
    bool unaligned;
    struct claims claimed;
    struct territory territory;
};

void random_thread_close(struct workload_thread *t)
{
    if (!t)
        return;
    claims_destroy(&t->claimed);
    territory_destroy(&t->territory);
    free(t);
}

static uint64_t count_room(const struct territory *t, bool unaligned)
{
    uint64_t n = 0;

    if (!unaligned)
        return t->n_places;
    for (unsigned i = 0; i < t->n_parts; i++)
        n += ((t->parts[i].n_places - 1) >> t->granule_bits) + 1;
    return n;
}

static int thread_make(const struct workload_plan *plan, unsigned index, const struct territory *territory,
                       struct workload_thread **ret_thread, struct spur_error *e)
{
    struct workload_thread *t = aligned_alloc(64, (sizeof(*t) + 63) / 64 * 64);

    if (!t)
        return error_errno(e, ENOMEM, "workload", "thread %u", index);
    *t = (struct workload_thread){.request_bytes = plan->request_bytes,
                                  .left_bytes = plan->total_bytes ? territory->share_bytes : UINT64_MAX,
                                  .depth = plan->depth ? plan->depth : 1,
                                  .n_room = count_room(territory, plan->unaligned),
                                  .unaligned = plan->unaligned};
    draw_seed(&t->draw, plan->seed, index);
    if (claims_init(&t->claimed, 2ull * t->depth) < 0) {
        free(t);
        return error_errno(e, ENOMEM, "workload", "depth %u", plan->depth);
    }
    t->territory = *territory;
    *ret_thread = t;
    return 0;
}

int random_thread_open(const struct workload_plan *plan, unsigned index, bool own_part, unsigned read_percent,
                       struct workload_thread **ret_thread, bool *ret_idle, struct spur_error *e)
{
    struct territory territory;
    struct workload_thread *t = NULL;
    int r = territory_init(&territory, plan, own_part ? TERRITORY_OWN : TERRITORY_SHARED, index, e);

    if (r < 0)
        return r;
    if (territory.n_parts) {
        r = thread_make(plan, index, &territory, &t, e);
        if (r < 0) {
            territory_destroy(&territory);
            return r;
        }
        t->own_part = own_part;
        t->read_percent = read_percent;
    } else {
        territory_destroy(&territory);
    }
    *ret_thread = t;
    *ret_idle = !t;
    return 0;
}

static void step_at(const struct workload_thread *t, uint64_t place, struct workload_step *step)
{
    const struct territory_part *p = territory_find(&t->territory, place);
    uint64_t scale = t->unaligned ? 1 : t->request_bytes, left;

    step->file = p->file;
    step->offset = p->start + (place - p->first_place) * scale;
    left = p->end - step->offset;
    left = left < t->left_bytes ? left : t->left_bytes;
    step->length = left < t->request_bytes ? left : t->request_bytes;
}

/* Claims of a step: its offset when aligned, else the one or two granules that it touches. */
static uint64_t first_claim(const struct workload_thread *t, const struct workload_step *step)
{
    return t->unaligned ? step->offset >> t->territory.granule_bits : step->offset;
}

static uint64_t last_claim(const struct workload_thread *t, const struct workload_step *step)
{
    return t->unaligned ? (step->offset + step->length - 1) >> t->territory.granule_bits : step->offset;
}

static bool try_claim(struct workload_thread *t, const struct workload_step *step)
{
    uint64_t first = first_claim(t, step), last = last_claim(t, step);

    if (last != first && claims_has(&t->claimed, step->file, last))
        return false;
    if (!claims_take(&t->claimed, step->file, first))
        return false;
    return last == first || claims_take(&t->claimed, step->file, last);
}

/* The place behind @place that can be free although its neighbour is not: the next request, or the next granule. */
static uint64_t place_after(const struct workload_thread *t, uint64_t place)
{
    const struct territory_part *p = territory_find(&t->territory, place);
    uint64_t granule = 1ull << t->territory.granule_bits, in_part = place - p->first_place, next;

    next = t->unaligned ? (in_part | (granule - 1)) + 1 : in_part + 1; /* parts start at whole granules */
    if (next < p->n_places)
        return p->first_place + next;
    next = p->first_place + p->n_places;
    return next < t->territory.n_places ? next : 0;
}

/*
 * From a drawn place, which is not free, onwards to the first that is. A claim rules out one place or, unaligned, one
 * start of a granule; there are fewer claims than those (n_room), so the walk ends.
 */
static void claim_after(struct workload_thread *t, uint64_t place, struct workload_step *step)
{
    do {
        place = place_after(t, place);
        step_at(t, place, step);
    } while (!try_claim(t, step));
}

static void claim_drawn(struct workload_thread *t, struct workload_step *step)
{
    uint64_t place = 0;

    t->n_unfinished++;
    for (unsigned i = 0; i < N_REDRAWS; i++) {
        place = draw_below(&t->draw, t->territory.n_places);
        step_at(t, place, step);
        if (try_claim(t, step))
            return;
    }
    claim_after(t, place, step);
}

static uint32_t draw_op(struct workload_thread *t)
{
    if (t->read_percent == 0 || t->read_percent == 100)
        return t->read_percent ? SPUR_OP_READ : SPUR_OP_WRITE;
    return ((draw_next(&t->draw) >> 32) * 100) >> 32 < t->read_percent ? SPUR_OP_READ : SPUR_OP_WRITE;
}

/* Fills @step in place: copied through a local, its narrow stores would stall the wide loads of the copy. */
bool random_thread_uses(const struct workload_thread *t, uint32_t file)
{
    return territory_uses(&t->territory, file);
}

int random_thread_next(struct workload_thread *t, struct workload_step *step)
{
    if (!t->left_bytes)
        return 0;
    if (t->own_part && (t->n_unfinished >= t->depth || t->claimed.n >= t->n_room))
        return -EAGAIN; /* before anything is drawn: how often a full thread is asked changes nothing */
    step->op = draw_op(t);
    step->due_ns = 0;
    if (t->own_part)
        claim_drawn(t, step);
    else
        step_at(t, draw_below(&t->draw, t->territory.n_places), step);
    if (t->left_bytes != UINT64_MAX)
        t->left_bytes -= step->length;
    return 1;
}

void random_thread_done(struct workload_thread *t, const struct workload_step *step)
{
    uint64_t first, last;

    if (!t->own_part)
        return;
    first = first_claim(t, step);
    last = last_claim(t, step);
    claims_remove(&t->claimed, step->file, first);
    if (last != first)
        claims_remove(&t->claimed, step->file, last);
    t->n_unfinished--;
}

static int random_open(const struct workload_plan *plan, unsigned index, struct workload_thread **ret_thread,
                       bool *ret_idle, struct spur_error *e)
{
    return random_thread_open(plan, index, plan->write, plan->write ? 0 : 100, ret_thread, ret_idle, e);
}

const struct workload_ops random_workload = {
    .name = "random",
    .summary = "each request at an offset drawn uniformly",
    .writes = true,
    .open = random_open,
    .close = random_thread_close,
    .uses = random_thread_uses,
    .next = random_thread_next,
    .done = random_thread_done,
};
