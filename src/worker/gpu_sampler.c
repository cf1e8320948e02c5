/* SPDX-License-Identifier: MIT */
#include "worker/gpu_sampler.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/util.h"

#define PERIOD_NS 400000000ull /* and NVML itself measures 20 ms a direction */

struct gpu_sampler {
    struct nvml *nvml;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool running, stop;
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

static void take(struct gpu_sampler *s)
{
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
}

/* True: it is to stop. */
static bool wait(struct gpu_sampler *s)
{
    uint64_t at = now_ns() + PERIOD_NS;
    struct timespec ts = {(time_t)(at / 1000000000ull), (long)(at % 1000000000ull)};
    bool stop;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && pthread_cond_timedwait(&s->changed, &s->lock, &ts) == 0)
        ;
    stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static void *gpu_sampler_main(void *arg)
{
    struct gpu_sampler *s = arg;
    struct rusage used = {0};

    pthread_setname_np(pthread_self(), "spur-gpu");
    while (!wait(s))
        take(s);
    getrusage(RUSAGE_THREAD, &used);
    s->samples.user_s = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    s->samples.system_s = (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
    return NULL;
}

struct gpu_sampler *gpu_sampler_open(const char (*uuids)[48], unsigned n)
{
    struct gpu_sampler *s = calloc(1, sizeof(*s));
    pthread_condattr_t attr;
    struct spur_error e = {0};

    if (!s)
        return NULL;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
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
    if (pthread_create(&s->thread, NULL, gpu_sampler_main, s))
        snprintf(s->samples.reason, sizeof(s->samples.reason), "no thread could be had to sample with");
    else
        s->running = s->samples.known = true;
}

void gpu_sampler_stop(struct gpu_sampler *s, struct gpu_samples *ret)
{
    if (s && s->running) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
        s->running = false;
    }
    *ret = s ? s->samples : (struct gpu_samples){.reason = "out of memory"};
}

void gpu_sampler_close(struct gpu_sampler *s)
{
    if (!s)
        return;
    nvml_close(s->nvml);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
