/* SPDX-License-Identifier: MIT */
/* Requests that wait for their time: a heap, and threads that answer what is due. */
#ifndef SPUR_SIMFS_QUEUE_H
#define SPUR_SIMFS_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_item {
    uint64_t due_ns;
    uint64_t order; /* of equal times, first come, first served; set by the queue */
};

#define QUEUE_MAX_THREADS 16

/* Answers and frees @item; on one of the queue's threads, without its lock. */
typedef void (*queue_answer_fn)(void *context, struct queue_item *item);

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t first; /* the thread that watches the clock */
    pthread_cond_t idle;  /* the others */
    struct queue_item **heap;
    size_t n, room;
    uint64_t order;
    bool watched, stopping;
    queue_answer_fn answer;
    void *context;
    pthread_t threads[QUEUE_MAX_THREADS];
    unsigned n_threads;
};

/* 0 or negative errno. */
int queue_start(struct queue *q, unsigned n_threads, queue_answer_fn answer, void *context);

/* -ENOMEM: not taken. */
int queue_push(struct queue *q, struct queue_item *item);

/* Everything in it is answered at once, also what is still pushed; returns when it is empty and its threads have ended.
 * Nothing may be pushed afterwards. */
void queue_stop(struct queue *q);

#endif
