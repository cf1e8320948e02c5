/* SPDX-License-Identifier: MIT */
#include "worker/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/util.h"
#include "worker/periodic.h"

#define PERIOD_NS   20000000ull /* mean; each wait is drawn from half to one and a half of it */
#define DUTY        200         /* and at least this many times what a sample costs */
#define MIN_SAMPLES 10
#define SHARE       0.2
#define LEAST       0.1
#define LATE        0.1

struct sampler {
    const struct probe *probe;
    const struct storage *storage;
    const struct storage_idle *idle;
    struct periodic thread;
    uint64_t seed;
    uint64_t cost_ns;       /* CPU time of the last sample */
    struct samples samples; /* of the thread, until it ends */
    double squares;
    uint64_t late_ns; /* of all samples: waits for a CPU, and for a server that answers when it has one */
};

static uint64_t cpu_ns(void)
{
    struct timespec ts = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static uint64_t next_wait_ns(struct sampler *s)
{
    uint64_t period_ns = s->cost_ns * DUTY > PERIOD_NS ? s->cost_ns * DUTY : PERIOD_NS;

    s->seed ^= s->seed << 13; /* xorshift64 */
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return period_ns / 2 + s->seed % period_ns;
}

/* Welford's way of adding to a mean and a sum of squares. */
static void take(struct sampler *s)
{
    double delta;
    uint64_t n;

    if (!s->samples.known || !storage_in_flight(s->probe, s->storage, s->idle, &n, s->samples.reason)) {
        s->samples.known = false; /* some without others would be a choice among them */
        return;
    }
    s->samples.n++;
    delta = (double)n - s->samples.mean;
    s->samples.mean += delta / s->samples.n;
    s->squares += delta * ((double)n - s->samples.mean);
    s->samples.max = n > s->samples.max ? n : s->samples.max;
}

static uint64_t tick(void *context)
{
    struct sampler *s = context;
    uint64_t began = cpu_ns(), asked = now_ns(), took;

    take(s);
    took = now_ns() - asked;
    s->cost_ns = cpu_ns() - began;
    s->late_ns += s->thread.late_ns + (took > s->cost_ns ? took - s->cost_ns : 0);
    return s->samples.known ? next_wait_ns(s) : 0;
}

struct sampler *sampler_start(const struct probe *p, const struct storage *storage, const struct storage_idle *idle)
{
    struct sampler *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->probe = p;
    s->storage = storage;
    s->idle = idle;
    s->seed = now_ns() | 1;
    s->samples.known = true;
    if (periodic_start(&s->thread, "spur-sampler", PERIODIC_FIRST, next_wait_ns(s), tick, s)) {
        free(s);
        return NULL;
    }
    return s;
}

void sampler_stop(struct sampler *s, struct samples *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (!s) {
        snprintf(ret->reason, sizeof(ret->reason), "no thread could be had to sample with");
        return;
    }
    periodic_stop(&s->thread);
    *ret = s->samples;
    ret->user_s = s->thread.user_s;
    ret->system_s = s->thread.system_s;
    ret->mean_late_ns = ret->n ? (double)s->late_ns / ret->n : 0;
    ret->deviation = ret->n > 1 ? sqrt(s->squares / (ret->n - 1)) : 0;
    if (ret->known && ret->n < MIN_SAMPLES) {
        ret->known = false;
        snprintf(ret->reason, sizeof(ret->reason),
                 "the window was too short: fewer than 10 samples, at 50 a second and fewer");
    }
    free(s);
}

bool samples_agree(const struct samples *s, double mean)
{
    return fabs(s->mean - mean) <= SHARE * fmax(s->mean, mean) + 3 * s->deviation / sqrt(s->n) + LEAST;
}

bool samples_late(const struct samples *s, double service_ns)
{
    return s->mean_late_ns > LATE * service_ns;
}
