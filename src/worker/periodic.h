/* SPDX-License-Identifier: MIT */
/* A thread that does something at intervals until it is stopped, and says how much CPU it took. */
#ifndef SPUR_WORKER_PERIODIC_H
#define SPUR_WORKER_PERIODIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * One that has to wait for a CPU comes when the load has ebbed: with as many requests being answered as there are CPUs
 * it would see the moments between bursts only. PERIODIC_FIRST goes before other threads where it may (SCHED_FIFO,
 * CAP_SYS_NICE); only for ticks that are short.
 */
enum periodic_order { PERIODIC_AS_OTHERS, PERIODIC_FIRST };

struct periodic {
    uint64_t (*tick)(void *context); /* ns to wait before the next one; 0: there is no next one */
    void *context;
    const char *name; /* of the thread, at most 15 characters */
    enum periodic_order order;
    uint64_t first_ns;
    uint64_t late_ns; /* for the tick: how long after its time it came */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    double user_s, system_s; /* CPU of the thread; after the end */
};

/* The first tick comes after @first_ns. @p and @context must stay where they are until the end. 0, or a positive errno:
 * then there is no thread. */
int periodic_start(struct periodic *p, const char *name, enum periodic_order order, uint64_t first_ns,
                   uint64_t (*tick)(void *context), void *context);
/* Ends it, without waiting for the next tick; only after a start that gave 0. */
void periodic_stop(struct periodic *p);

#endif
