/* SPDX-License-Identifier: MIT */
#include "worker/gpu_sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/periodic.h"

#define PERIOD_NS 400000000ull /* and NVML itself measures 20 ms a direction */

struct gpu_sampler {
    struct nvml *nvml;
    struct periodic thread;
    bool running;
    struct gpu_samples samples;
};

static void add(struct gpu_mean *m, const struct nvml_value *v)
{
    if (!v->known) {
        snprintf(m->reason, sizeof(m->reason), "%s", v->reason);
        return;
    }
    m->n++;
    m->mean += ((double)v->value - m->mean) / m->n;
    m->max = v->value > m->max ? v->value : m->max;
}

static uint64_t take(void *context)
{
    struct gpu_sampler *s = context;

    for (unsigned i = 0; i < s->samples.n_gpus; i++) {
        struct nvml_traffic traffic;
        struct spur_error e = {0};

        if (nvml_traffic_read(s->nvml, s->samples.gpus[i].uuid, &traffic, &e) < 0) {
            snprintf(s->samples.gpus[i].received.reason, NVML_REASON, "%.95s", e.detail);
            continue;
        }
        add(&s->samples.gpus[i].received, &traffic.received);
        add(&s->samples.gpus[i].sent, &traffic.sent);
        add(&s->samples.gpus[i].utilisation, &traffic.utilisation_percent);
    }
    return PERIOD_NS;
}

struct gpu_sampler *gpu_sampler_open(const char (*uuids)[48], unsigned n)
{
    struct gpu_sampler *s = calloc(1, sizeof(*s));
    struct spur_error e = {0};

    if (!s)
        return NULL;
    for (unsigned i = 0; i < n && i < GPU_SAMPLER_MAX; i++)
        snprintf(s->samples.gpus[s->samples.n_gpus++].uuid, sizeof(s->samples.gpus[0].uuid), "%s", uuids[i]);
    if (!n)
        snprintf(s->samples.reason, sizeof(s->samples.reason), "the memory is not that of a GPU");
    else if (nvml_open(&s->nvml, &e) < 0)
        snprintf(s->samples.reason, sizeof(s->samples.reason), "%.159s", e.detail);
    return s;
}

void gpu_sampler_start(struct gpu_sampler *s)
{
    if (!s || !s->nvml)
        return;
    if (periodic_start(&s->thread, "spur-gpu", PERIODIC_AS_OTHERS, PERIOD_NS, take, s))
        snprintf(s->samples.reason, sizeof(s->samples.reason), "no thread could be had to sample with");
    else
        s->running = s->samples.known = true;
}

void gpu_sampler_stop(struct gpu_sampler *s, struct gpu_samples *ret)
{
    if (s && s->running) {
        periodic_stop(&s->thread);
        s->samples.user_s = s->thread.user_s;
        s->samples.system_s = s->thread.system_s;
        s->running = false;
    }
    *ret = s ? s->samples : (struct gpu_samples){.reason = "out of memory"};
}

void gpu_sampler_close(struct gpu_sampler *s)
{
    if (!s)
        return;
    nvml_close(s->nvml);
    free(s);
}
