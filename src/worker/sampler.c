/* SPDX-License-Identifier: MIT */
#include "worker/sampler.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "core/util.h"

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
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    uint64_t seed;
    uint64_t cost_ns;       /* CPU time of the last sample */
    struct samples samples; /* of the thread, until it ends */
    double squares;
    uint64_t late_ns; /* of all samples */
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

/* True: it is to stop. */
static bool wait(struct sampler *s)
{
    uint64_t at = now_ns() + next_wait_ns(s);
    struct timespec ts = {(time_t)(at / 1000000000ull), (long)(at % 1000000000ull)};
    uint64_t now;
    bool stop;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && pthread_cond_timedwait(&s->changed, &s->lock, &ts) == 0)
        ;
    stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    now = now_ns();
    s->late_ns += !stop && now > at ? now - at : 0;
    return stop;
}

/* A sampler that must wait for a CPU comes when the load has ebbed: with as many requests being answered as there are
 * CPUs it would see the moments between bursts only. So it goes before them, where it may (CAP_SYS_NICE). */
static void be_on_time(void)
{
    struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void *sampler_main(void *arg)
{
    struct sampler *s = arg;
    struct rusage used = {0};

    pthread_setname_np(pthread_self(), "spur-sampler");
    be_on_time();
    while (s->samples.known && !wait(s)) {
        uint64_t began = cpu_ns();

        take(s);
        s->cost_ns = cpu_ns() - began;
    }
    getrusage(RUSAGE_THREAD, &used);
    s->samples.user_s = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    s->samples.system_s = (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
    return NULL;
}

static int start(struct sampler *s)
{
    pthread_condattr_t attr;
    int r;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    r = pthread_create(&s->thread, NULL, sampler_main, s);
    if (r) {
        pthread_cond_destroy(&s->changed);
        pthread_mutex_destroy(&s->lock);
    }
    return r;
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
    if (start(s)) {
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
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    *ret = s->samples;
    ret->mean_late_ns = ret->n ? (double)s->late_ns / ret->n : 0;
    ret->deviation = ret->n > 1 ? sqrt(s->squares / (ret->n - 1)) : 0;
    if (ret->known && ret->n < MIN_SAMPLES) {
        ret->known = false;
        snprintf(ret->reason, sizeof(ret->reason),
                 "the window was too short: fewer than 10 samples, at 50 a second and fewer");
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
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
