/* SPDX-License-Identifier: MIT */
#include "simfs/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/util.h"

/* ------------------------------------------------------------------------------------------------
 * Heap
 */

static bool is_before(const struct queue_item *a, const struct queue_item *b)
{
    return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->order < b->order);
}

static void sift_up(struct queue *q, size_t i)
{
    struct queue_item *item = q->heap[i];

    for (; i && is_before(item, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = item;
}

static struct queue_item *pop(struct queue *q)
{
    struct queue_item *first = q->heap[0], *item = q->heap[--q->n];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < q->n; i = child) {
        if (child + 1 < q->n && is_before(q->heap[child + 1], q->heap[child]))
            child++;
        if (!is_before(q->heap[child], item))
            break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = item;
    return first;
}

static int make_room(struct queue *q)
{
    size_t room = q->room ? 2 * q->room : 1024;
    struct queue_item **grown;

    if (q->n < q->room)
        return 0;
    grown = realloc(q->heap, room * sizeof(struct queue_item *));
    if (!grown)
        return -ENOMEM;
    q->heap = grown;
    q->room = room;
    return 0;
}

int queue_push(struct queue *q, struct queue_item *item)
{
    int r;

    pthread_mutex_lock(&q->mutex);
    r = make_room(q);
    if (!r) {
        item->order = q->order++;
        q->heap[q->n] = item;
        sift_up(q, q->n++);
        if (q->heap[0] == item) /* the clock must be set anew */
            pthread_cond_signal(q->watched ? &q->first : &q->idle);
    }
    pthread_mutex_unlock(&q->mutex);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Threads
 */

/* One thread sleeps until the first item's time; the others until they are called. */
static void wait_for_time(struct queue *q, uint64_t due_ns)
{
    struct timespec at = {.tv_sec = (time_t)(due_ns / 1000000000u), .tv_nsec = (long)(due_ns % 1000000000u)};

    q->watched = true;
    pthread_cond_timedwait(&q->first, &q->mutex, &at);
    q->watched = false;
}

static void *thread_main(void *arg)
{
    struct queue *q = arg;

    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    pthread_mutex_lock(&q->mutex);
    while (q->n || !q->stopping) {
        if (!q->n || (!q->stopping && q->watched)) {
            pthread_cond_wait(&q->idle, &q->mutex);
        } else if (q->stopping || q->heap[0]->due_ns <= now_ns()) {
            struct queue_item *item = pop(q);

            if (q->n && !q->watched)
                pthread_cond_signal(&q->idle);
            pthread_mutex_unlock(&q->mutex);
            q->answer(q->context, item);
            pthread_mutex_lock(&q->mutex);
        } else {
            wait_for_time(q, q->heap[0]->due_ns);
        }
    }
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

int queue_start(struct queue *q, unsigned n_threads, queue_answer_fn answer, void *context)
{
    pthread_condattr_t monotonic;

    memset(q, 0, sizeof(*q));
    q->answer = answer;
    q->context = context;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->first, &monotonic);
    pthread_cond_init(&q->idle, NULL);
    pthread_condattr_destroy(&monotonic);
    for (; q->n_threads < n_threads && q->n_threads < QUEUE_MAX_THREADS; q->n_threads++) {
        int r = pthread_create(&q->threads[q->n_threads], NULL, thread_main, q);

        if (r) {
            queue_stop(q);
            return -r;
        }
    }
    return 0;
}

void queue_stop(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->stopping = true;
    pthread_cond_broadcast(&q->first);
    pthread_cond_broadcast(&q->idle);
    pthread_mutex_unlock(&q->mutex);
    for (unsigned i = 0; i < q->n_threads; i++)
        pthread_join(q->threads[i], NULL);
    free(q->heap);
    pthread_cond_destroy(&q->first);
    pthread_cond_destroy(&q->idle);
    pthread_mutex_destroy(&q->mutex);
}
