/* SPDX-License-Identifier: MIT */
#include "workload/territory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* Files that hold a request, with the bytes that count. Threads are dealt round over them. */
struct deal {
    const struct workload_plan *plan;
    enum territory_kind kind;
    uint64_t unit; /* parts are cut at its multiples */
    unsigned granule_bits;
    uint32_t *file;
    uint64_t *begin, *bytes;
    unsigned n;
};

static bool writes(const struct workload_plan *plan, enum territory_kind kind)
{
    return kind == TERRITORY_OWN || plan->write;
}

/* What total_bytes, and with it every step of a random workload, must be a multiple of. */
static uint64_t total_multiple(const struct workload_plan *plan)
{
    if (plan->unaligned)
        return 1;
    return plan->request_bytes % WORKLOAD_BLOCK ? plan->request_bytes : WORKLOAD_BLOCK;
}

static int check_request(const struct workload_plan *plan, enum territory_kind kind, struct spur_error *e)
{
    if (!plan->request_bytes || plan->request_bytes > INT64_MAX / 2)
        return error_spur(e, SPUR_CODE_USAGE, "workload", "request of %" PRIu64 " bytes: out of range",
                          plan->request_bytes);
    if (plan->unaligned && kind == TERRITORY_SEQUENTIAL)
        return error_spur(e, SPUR_CODE_USAGE, "workload",
                          "unaligned offsets are drawn: a sequential workload has none");
    if (!plan->unaligned && writes(plan, kind) && plan->request_bytes % WORKLOAD_BLOCK)
        return error_spur(e, SPUR_CODE_USAGE, "workload",
                          "request of %" PRIu64 " bytes: requests that write must be a multiple of %u, the block",
                          plan->request_bytes, WORKLOAD_BLOCK);
    return 0;
}

static int check_plan(const struct workload_plan *plan, enum territory_kind kind, unsigned index, struct spur_error *e)
{
    uint64_t multiple = total_multiple(plan);

    if (!plan->n_threads || index >= plan->n_threads)
        return error_spur(e, SPUR_CODE_USAGE, "workload", "thread %u of %u: out of range", index, plan->n_threads);
    if (plan->read_percent > 100)
        return error_spur(e, SPUR_CODE_USAGE, "workload", "%u percent reads: more than 100", plan->read_percent);
    if (kind != TERRITORY_SEQUENTIAL && plan->total_bytes % multiple)
        return error_spur(e, SPUR_CODE_USAGE, "workload",
                          "total of %" PRIu64 " bytes: must be a multiple of %" PRIu64
                          " with random requests of %" PRIu64,
                          plan->total_bytes, multiple, plan->request_bytes);
    return 0;
}

static int check_sizes(const struct workload_plan *plan, enum territory_kind kind, struct spur_error *e)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < plan->n_files; i++)
        if (plan->files[i].bytes > INT64_MAX || plan->files[i].begin > INT64_MAX - plan->files[i].bytes ||
            __builtin_add_overflow(sum, plan->files[i].bytes, &sum))
            return error_spur(e, SPUR_CODE_USAGE, "workload", "file %u: %" PRIu64 " bytes are too many", i,
                              plan->files[i].bytes);
    if (kind == TERRITORY_SEQUENTIAL && plan->total_bytes > sum)
        return error_usage(e, "workload", "take fewer bytes, larger files or a time (seconds)",
                           "total of %" PRIu64 " bytes is more than the %" PRIu64
                           " bytes of the files that may be used: sequential workloads take each byte once",
                           plan->total_bytes, sum);
    return 0;
}

static uint64_t count_places(const struct workload_plan *plan, uint64_t bytes)
{
    if (plan->unaligned)
        return bytes >= plan->request_bytes ? bytes - plan->request_bytes + 1 : 0;
    return bytes / plan->request_bytes + (bytes % plan->request_bytes != 0);
}

/* Bytes of a file that count; *left is what is left of total_bytes for sequential ones. */
static uint64_t bytes_that_count(const struct deal *d, uint64_t bytes, uint64_t *left)
{
    const struct workload_plan *plan = d->plan;
    uint64_t tail;

    if (!plan->total_bytes)
        return bytes;
    if (d->kind == TERRITORY_SEQUENTIAL) {
        bytes = bytes < *left ? bytes : *left;
        *left -= bytes;
        return bytes;
    }
    tail = plan->unaligned ? 0 : bytes % plan->request_bytes;
    return tail % total_multiple(plan) ? bytes - tail : bytes;
}

static void deal_destroy(struct deal *d)
{
    free(d->file);
    free(d->begin);
    free(d->bytes);
}

static void deal_files(struct deal *d)
{
    uint64_t left = d->plan->total_bytes, bytes;

    for (unsigned i = 0; i < d->plan->n_files; i++) {
        bytes = bytes_that_count(d, d->plan->files[i].bytes, &left);
        if (!count_places(d->plan, bytes))
            continue;
        d->file[d->n] = i;
        d->begin[d->n] = d->plan->files[i].begin;
        d->bytes[d->n++] = bytes;
    }
}

static int deal_init(struct deal *d, const struct workload_plan *plan, enum territory_kind kind, struct spur_error *e)
{
    *d = (struct deal){.plan = plan, .kind = kind, .unit = plan->request_bytes};
    if (plan->unaligned && kind == TERRITORY_OWN) {
        d->granule_bits = 12;
        while (1ull << d->granule_bits < plan->request_bytes)
            d->granule_bits++;
        d->unit = 1ull << d->granule_bits;
    }
    for (unsigned i = 0; d->granule_bits && i < plan->n_files; i++)
        if (plan->files[i].begin % d->unit)
            return error_spur(e, SPUR_CODE_USAGE, "workload",
                              "file %u begins at %" PRIu64 ": unaligned writes need a multiple of %" PRIu64, i,
                              plan->files[i].begin, d->unit);
    d->file = calloc(plan->n_files + 1, sizeof(*d->file));
    d->begin = calloc(plan->n_files + 1, sizeof(*d->begin));
    d->bytes = calloc(plan->n_files + 1, sizeof(*d->bytes));
    if (!d->file || !d->begin || !d->bytes)
        return error_errno(e, ENOMEM, "workload", "%u files", plan->n_files);
    deal_files(d);
    if (!d->n)
        return error_spur(e, SPUR_CODE_REFUSED, "workload", "none of %u files holds a request of %" PRIu64 " bytes",
                          plan->n_files, plan->request_bytes);
    return 0;
}

/* Start of part @rank of @n of a run of @units: no product that could overflow. */
static uint64_t cut(uint64_t units, unsigned rank, unsigned n)
{
    return units / n * rank + units % n * rank / n;
}

/* The only part of thread @index where there are not more files than threads; false if nothing is in it. */
static bool part_of_file(const struct deal *d, unsigned index, struct territory_part *ret)
{
    unsigned slot = index % d->n, n_sharers = (d->plan->n_threads - slot + d->n - 1) / d->n;
    uint64_t bytes = d->bytes[slot], units = bytes / d->unit + (bytes % d->unit != 0);

    *ret = (struct territory_part){.file = d->file[slot], .start = 0, .end = bytes};
    if (d->kind != TERRITORY_SHARED) {
        ret->start = cut(units, index / d->n, n_sharers) * d->unit;
        ret->end = cut(units, index / d->n + 1, n_sharers) * d->unit;
        ret->end = ret->end < bytes ? ret->end : bytes;
    }
    ret->n_places = ret->end > ret->start ? count_places(d->plan, ret->end - ret->start) : 0;
    ret->start += d->begin[slot];
    ret->end += d->begin[slot];
    return ret->n_places > 0;
}

static void take_files(struct territory *t, const struct deal *d, unsigned index)
{
    struct territory_part *p;

    for (unsigned slot = index; slot < d->n; slot += d->plan->n_threads) {
        p = &t->parts[t->n_parts++];
        *p = (struct territory_part){.file = d->file[slot],
                                     .start = d->begin[slot],
                                     .end = d->begin[slot] + d->bytes[slot],
                                     .first_place = t->n_places};
        p->n_places = count_places(d->plan, d->bytes[slot]);
        t->n_places += p->n_places;
    }
}

static void take_parts(struct territory *t, const struct deal *d, unsigned index)
{
    if (d->n > d->plan->n_threads) {
        take_files(t, d, index);
    } else if (part_of_file(d, index, &t->parts[0])) {
        t->n_parts = 1;
        t->n_places = t->parts[0].n_places;
    }
}

/* Requests are dealt to the threads that have places; the clipped one goes to the first with the smaller count. */
static void take_share(struct territory *t, const struct deal *d, unsigned index)
{
    uint64_t request = d->plan->request_bytes, n = d->plan->total_bytes / request,
             rest = d->plan->total_bytes % request;
    unsigned rank = 0, n_active = 0;
    struct territory_part part;

    for (unsigned i = 0; i < d->plan->n_threads; i++) {
        rank = i == index ? n_active : rank;
        n_active += d->n > d->plan->n_threads || part_of_file(d, i, &part);
    }
    t->share_bytes = (n / n_active + (rank < n % n_active)) * request;
    if (rank == n % n_active)
        t->share_bytes += rest;
    if (!t->share_bytes)
        t->n_parts = 0;
}

/* Twice as many entries as parts at most, so a uniformly drawn place is a step or two from its part. */
static int make_guide(struct territory *t)
{
    uint64_t n_entries, part = 0;

    while ((t->n_places - 1) >> t->guide_shift >= 2ull * t->n_parts)
        t->guide_shift++;
    n_entries = ((t->n_places - 1) >> t->guide_shift) + 1;
    t->guide = calloc(n_entries, sizeof(*t->guide));
    if (!t->guide)
        return -ENOMEM;
    for (uint64_t i = 0; i < n_entries; i++) {
        while ((i << t->guide_shift) - t->parts[part].first_place >= t->parts[part].n_places)
            part++;
        t->guide[i] = (uint32_t)part;
    }
    return 0;
}

static int take_all(struct territory *t, const struct deal *d, unsigned index, struct spur_error *e)
{
    t->granule_bits = d->granule_bits;
    t->parts = calloc(d->n / d->plan->n_threads + 1, sizeof(*t->parts));
    if (!t->parts)
        return error_errno(e, ENOMEM, "workload", "%u files", d->n);
    take_parts(t, d, index);
    if (t->n_parts && d->plan->total_bytes && d->kind != TERRITORY_SEQUENTIAL)
        take_share(t, d, index);
    if (t->n_parts > 1 && make_guide(t) < 0)
        return error_errno(e, ENOMEM, "workload", "%u files", d->n);
    return 0;
}

int territory_init(struct territory *t, const struct workload_plan *plan, enum territory_kind kind, unsigned index,
                   struct spur_error *e)
{
    struct deal deal;
    int r;

    memset(t, 0, sizeof(*t));
    r = check_request(plan, kind, e);
    if (r == 0)
        r = check_plan(plan, kind, index, e);
    if (r == 0)
        r = check_sizes(plan, kind, e);
    if (r < 0)
        return r;
    r = deal_init(&deal, plan, kind, e);
    if (r == 0)
        r = take_all(t, &deal, index, e);
    deal_destroy(&deal);
    if (r < 0)
        territory_destroy(t);
    return r;
}

void territory_destroy(struct territory *t)
{
    free(t->parts);
    free(t->guide);
    t->parts = NULL;
    t->guide = NULL;
}

bool territory_uses(const struct territory *t, uint32_t file)
{
    for (unsigned i = 0; i < t->n_parts; i++)
        if (t->parts[i].file == file)
            return true;
    return false;
}
