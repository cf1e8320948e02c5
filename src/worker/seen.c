/* SPDX-License-Identifier: MIT */
#include "worker/seen.h"

#include <string.h>

void seen_init(struct seen *s, const struct probe *p, const struct target_list *targets)
{
    memset(s, 0, sizeof(*s));
    s->probe = p;
    for (size_t i = 0; i < targets->n; i++)
        if (!i || targets->items[i].device != targets->items[i - 1].device)
            storage_add(p, targets->items[i].filename, targets->items[i].device, &s->storage);
    storage_idle_read(p, &s->storage, &s->idle);
}

static void take_counters(struct seen *s, struct seen_reading *ret)
{
    for (unsigned i = 0; i < s->storage.n; i++)
        storage_read(s->probe, &s->storage.items[i], &ret->counters[i]);
}

static void take_rest(struct seen *s, struct seen_reading *ret)
{
    probe_net_read(s->probe, &ret->net);
    probe_rdma_read(s->probe, &ret->rdma);
    probe_throttle_read(s->probe, &ret->throttle);
}

/* At both ends the counters come first: they are late by the same. */
void seen_begin(struct seen *s)
{
    const char *unused;

    take_counters(s, &s->begin);
    take_rest(s, &s->begin);
    if (seen_source(s, &unused))
        s->sampler = sampler_start(s->probe, &s->storage, &s->idle);
}

void seen_end(struct seen *s)
{
    take_counters(s, &s->end);
    sampler_stop(s->sampler, &s->samples);
    s->sampler = NULL;
    take_rest(s, &s->end);
    for (unsigned i = 0; i < s->storage.n; i++)
        storage_window_make(&s->storage.items[i], &s->begin.counters[i], &s->end.counters[i], &s->item[i]);
    storage_window_sum(&s->storage, s->item, &s->sum);
}

void seen_free(struct seen *s)
{
    struct samples unused;

    if (s->sampler)
        sampler_stop(s->sampler, &unused);
    s->sampler = NULL;
    storage_free(&s->storage);
}

const char *seen_source(const struct seen *s, const char **ret_reason)
{
    const char *name = NULL;

    *ret_reason = "there are no files";
    for (unsigned i = 0; i < s->storage.n; i++) {
        const char *one = storage_source_name(s->storage.items[i].source);

        *ret_reason = s->storage.items[i].reason;
        if (!one)
            return NULL;
        name = name && strcmp(name, one) ? "mixed" : one;
    }
    return name;
}
