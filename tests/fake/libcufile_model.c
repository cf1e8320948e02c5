/* SPDX-License-Identifier: MIT */
/*
 * The queueing model: a lone piece takes max(latency, size / rate); n in flight share the rate, so that they give
 * min(n * size / latency, rate). See libcufile.h.
 */
#include "libcufile.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S 1000000000ull

static struct {
    pthread_mutex_t lock;
    pthread_cond_t left;
    uint64_t pipe_free_ns; /* when the last byte that was accepted is through */
    unsigned n_inside;
} model = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t model_issue(size_t bytes)
{
    const struct profile *p = profile_get();
    uint64_t now, through;

    if (!p->latency_ns && !p->bytes_per_s)
        return 0;
    now = now_ns();
    pthread_mutex_lock(&model.lock);
    through = later(model.pipe_free_ns, now);
    if (p->bytes_per_s)
        through += (uint64_t)((double)bytes * NS_PER_S / (double)p->bytes_per_s);
    model.pipe_free_ns = through;
    pthread_mutex_unlock(&model.lock);
    return later(through, now + p->latency_ns);
}

void model_wait(uint64_t until_ns)
{
    struct timespec t = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};

    while (until_ns && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

void model_enter(void)
{
    pthread_mutex_lock(&model.lock);
    while (model.n_inside == profile_get()->slots)
        pthread_cond_wait(&model.left, &model.lock);
    model.n_inside++;
    pthread_mutex_unlock(&model.lock);
}

void model_leave(void)
{
    pthread_mutex_lock(&model.lock);
    model.n_inside--;
    pthread_cond_signal(&model.left);
    pthread_mutex_unlock(&model.lock);
}
