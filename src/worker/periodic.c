/* SPDX-License-Identifier: MIT */
#include "worker/periodic.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "core/util.h"

/* True: it is to stop. */
static bool wait(struct periodic *p, uint64_t ns)
{
    uint64_t at = now_ns() + ns;
    struct timespec ts = {(time_t)(at / 1000000000ull), (long)(at % 1000000000ull)};
    uint64_t now;
    bool stop;

    pthread_mutex_lock(&p->lock);
    while (!p->stop && pthread_cond_timedwait(&p->changed, &p->lock, &ts) == 0)
        ;
    stop = p->stop;
    pthread_mutex_unlock(&p->lock);
    now = now_ns();
    p->late_ns = now > at ? now - at : 0;
    return stop;
}

static void go_first(void)
{
    struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void *periodic_main(void *arg)
{
    struct periodic *p = arg;
    struct rusage used = {0};
    uint64_t ns = p->first_ns;

    pthread_setname_np(pthread_self(), p->name);
    if (p->order == PERIODIC_FIRST)
        go_first();
    while (ns && !wait(p, ns))
        ns = p->tick(p->context);
    getrusage(RUSAGE_THREAD, &used);
    p->user_s = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    p->system_s = (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
    return NULL;
}

static void release(struct periodic *p)
{
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

int periodic_start(struct periodic *p, const char *name, enum periodic_order order, uint64_t first_ns,
                   uint64_t (*tick)(void *context), void *context)
{
    pthread_condattr_t attr;
    int r;

    *p = (struct periodic){.tick = tick, .context = context, .name = name, .order = order, .first_ns = first_ns};
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    r = pthread_create(&p->thread, NULL, periodic_main, p);
    if (r)
        release(p);
    return r;
}

void periodic_stop(struct periodic *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    release(p);
}
