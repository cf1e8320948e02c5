/* SPDX-License-Identifier: MIT */
/* What to try: settings of the slower arm, or of both, one a text. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"
#include "report/sentences.h"

struct advice {
    const struct analysis *a;
    const struct cause *c;
    const struct cause_case *const *cases;
    struct texts *tries;
    int r; /* -ENOMEM */
};

static void __attribute__((format(printf, 2, 3))) try(struct advice *d, const char *format, ...)
{
    FILE *out = d->r ? NULL : texts_begin(d->tries);
    va_list list;

    if (!out) {
        d->r = -ENOMEM;
        return;
    }
    va_start(list, format);
    vfprintf(out, format, list);
    va_end(list);
    d->r = texts_end(d->tries);
}

static const struct cause_side *slower(const struct advice *d, size_t i)
{
    return d->c->arm_is_faster ? &d->cases[i]->baseline : &d->cases[i]->side;
}

static uint32_t slower_arm(const struct advice *d)
{
    return d->c->arm_is_faster ? d->a->x->baseline : d->c->arm;
}

static const char *path_of(const struct advice *d)
{
    const char *path = experiment_value_of(d->a->x, d->c->cells[0], slower_arm(d), "path");

    return path ? path : "";
}

/* A lock in the library, which no counter shows. A cufile.json of the user's may have told a version otherwise. */
static bool is_one_at_a_time(const struct advice *d, size_t i)
{
    const struct cause_side *s = slower(d, i);
    const char *json = experiment_value_of(d->a->x, d->c->cells[i], slower_arm(d), "json");

    return *s->one_at_a_time && s->per_request.center >= CAUSE_SPLIT_RATIO && (!json || !strcmp(json, "auto")) &&
           !experiment_value_of(d->a->x, d->c->cells[i], slower_arm(d), "json.execution.parallel_io");
}

/* Its callers neither compute nor wait for the wire. */
static bool may_be_locked(const struct advice *d, size_t i)
{
    return is_one_at_a_time(d, i) || (slower(d, i)->is_library && cause_does_not_wait(slower(d, i)));
}

/* The first cell where it is so; the number of cells: none. */
static size_t first_cell(const struct advice *d, bool (*is_so)(const struct advice *d, size_t i))
{
    size_t i = 0;

    while (i < d->c->n_cells && !is_so(d, i))
        i++;
    return i;
}

/* As many more as the rate is to rise by, at the service time that was seen; nothing is known of what comes beyond. */
static void try_more_callers(struct advice *d)
{
    const struct cause_side *s = slower(d, 0);
    const char *key = s->depth > 1 ? "depth" : "threads";
    double now = s->depth > 1 ? s->depth : s->threads;

    if (d->c->n_cells == 1 && now > 0)
        try(d, "%s=%.0f", key, ceil(now * d->c->ratio_high - 0.01));
    else
        try(d, "%.2gx as many threads (or depth)", d->c->ratio_high);
}

static void try_fanout(struct advice *d)
{
    if (strcmp(path_of(d), "fanout"))
        try(d, "path=fanout");
}

static void try_library(struct advice *d)
{
    size_t locked = first_cell(d, is_one_at_a_time);

    if (locked < d->c->n_cells)
        try(d, "library= of another version (%s): callers of this one wait for each other, however many they are",
            slower(d, locked)->one_at_a_time);
    else if (slower(d, 0)->is_library && slower(d, 0)->per_request.center >= CAUSE_SPLIT_RATIO)
        try(d, "library= of a cuFile whose pieces of a request travel together (spur which)");
}

static void advise_in_flight(struct advice *d)
{
    if (first_cell(d, may_be_locked) == d->c->n_cells)
        try_more_callers(d);
    try_fanout(d);
    try_library(d);
}

static void advise_splitting(struct advice *d)
{
    if (!strcmp(d->c->variant, "small")) {
        try(d, "larger pieces: the mount's rsize and wsize, max_sectors_kb of the disk, piece= of fanout");
        return;
    }
    try_fanout(d);
    try(d, "requests of the other's wire size, and more of them at a time (threads, depth)");
}

static void advise_saturation(struct advice *d)
{
    const struct cause_case *c = d->cases[0];

    try(d, "more mounts or disks (a file on each), nconnect, a faster link");
    if (!strcmp(d->c->variant, "slower"))
        return;
    if (c->side.in_flight.center >= CAUSE_QUEUE_RATIO * c->baseline.in_flight.center ||
        c->baseline.in_flight.center >= CAUSE_QUEUE_RATIO * c->side.in_flight.center)
        try(d, "less in flight: the lower number reaches the rate, with less latency");
}

static void advise_cpu(struct advice *d)
{
    const struct cause_side *s = slower(d, 0);

    if (s->rate.center / s->requests.center <= CAUSE_SMALL_REQUEST)
        try(d, "larger requests");
    if (strcmp(d->c->variant, "machine") && s->cpus_online > s->threads)
        try(d, "more threads (the machine has %.0f CPUs)", s->cpus_online);
    try_fanout(d);
}

static void advise_cache(struct advice *d)
{
    if (!strcmp(d->c->variant, "reads"))
        try(d, "a file larger than memory, or path=odirect or fanout for both arms");
    else
        try(d, "longer windows, or path=odirect or fanout for both arms");
}

static void advise_not_direct(struct advice *d)
{
    try(d, "route=direct, which refuses what is not direct");
    try(d, "spur doctor FILE, for the reason");
}

static void advise_throttled(struct advice *d)
{
    if (!strcmp(d->c->variant, "GPU"))
        try(d, "pauses between trials, or better cooling; then run it again");
    else
        try(d, "a higher cpu.max of the control group");
}

static void advise_too_short(struct advice *d)
{
    const char *seconds = experiment_value_of(d->a->x, d->c->cells[0], d->c->arm, "seconds");

    if (seconds && strlen(seconds) < 16) {
        try(d, "warmup=%s", seconds);
        return;
    }
    try(d, "a longer warm-up");
}

static void advise_noise(struct advice *d)
{
    const struct stats_effect *e = &d->cases[0]->rate;

    if (d->c->n_cells == 1 && e->blocks_high && e->blocks_high < 1000)
        try(d, "blocks=%u", e->blocks_high);
    else
        try(d, "more blocks");
    try(d, "longer windows (seconds), where the storage varies within them");
}

static void advise_held_back(struct advice *d)
{
    try(d, "the file, the mount or the disk for yourself alone: others' requests are counted too");
}

typedef void advise_fn(struct advice *d);

static advise_fn *const advisers[N_CAUSES] = {
    [CAUSE_CONCURRENCY] = advise_in_flight, [CAUSE_SPLITTING] = advise_splitting,
    [CAUSE_SATURATION] = advise_saturation, [CAUSE_CPU] = advise_cpu,
    [CAUSE_CACHE] = advise_cache,           [CAUSE_NOT_DIRECT] = advise_not_direct,
    [CAUSE_THROTTLED] = advise_throttled,   [CAUSE_TOO_SHORT] = advise_too_short,
    [CAUSE_NOISE] = advise_noise,           [CAUSE_HELD_BACK] = advise_held_back,
};

int cause_tries(const struct analysis *a, const struct cause *c, const struct cause_case *const *cases,
                struct texts *ret)
{
    struct advice d = {a, c, cases, ret, 0};

    advisers[c->kind](&d);
    return d.r;
}
