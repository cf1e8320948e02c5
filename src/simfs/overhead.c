/* SPDX-License-Identifier: MIT */
#include "simfs/overhead.h"

#include <stdlib.h>
#include <string.h>

#include "core/util.h"

static unsigned size_class(uint64_t bytes)
{
    unsigned class = 0;

    for (bytes >>= 13; bytes && class < OVERHEAD_SIZES - 1; bytes >>= 1)
        class ++;
    return class;
}

static struct overhead_caller *caller_of(struct overhead *o, pid_t pid)
{
    return &o->callers[(unsigned)pid % OVERHEAD_CALLERS];
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void see(struct overhead_seen *s, uint64_t ns)
{
    uint64_t sorted[OVERHEAD_SEEN];
    unsigned n;

    s->ns[s->n++ % OVERHEAD_SEEN] = ns;
    if (s->n > OVERHEAD_SEEN && s->n % 8)
        return; /* sorting has its cost, too */
    n = s->n < OVERHEAD_SEEN ? s->n : OVERHEAD_SEEN;
    memcpy(sorted, s->ns, n * sizeof(sorted[0]));
    qsort(sorted, n, sizeof(sorted[0]), by_value);
    s->most_ns = sorted[n / 4];
}

void overhead_arrive(struct overhead *o, pid_t pid, uint64_t now_ns)
{
    struct overhead_caller *c = caller_of(o, pid);
    bool overtakes = c->pid == pid && now_ns < c->due_ns;

    if (c->pid == pid && c->alone && !overtakes)
        see(&o->seen[c->op][size_class(c->bytes)], now_ns - c->due_ns);
    *c = (struct overhead_caller){.pid = pid, .due_ns = overtakes ? c->due_ns : 0};
}

void overhead_expect(struct overhead *o, pid_t pid, enum model_op op, uint64_t bytes, uint64_t due_ns)
{
    struct overhead_caller *c = caller_of(o, pid);

    *c = (struct overhead_caller){
        .pid = pid,
        .op = op,
        .bytes = bytes,
        .due_ns = due_ns > c->due_ns ? due_ns : c->due_ns,
        .alone = !c->due_ns,
    };
}

uint64_t overhead_most(const struct overhead *o, enum model_op op, uint64_t bytes)
{
    const struct overhead_seen *s = &o->seen[op][size_class(bytes)];

    return s->n ? s->most_ns : UINT64_MAX;
}
