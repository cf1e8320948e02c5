/* SPDX-License-Identifier: MIT */
/* Backend: threads with pread and pwrite, where io_uring is forbidden. What is short or failed is the engine's concern.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "path/fanout.h"

struct pool {
    struct fanout_queue *queue;
    pthread_mutex_t lock; /* of what stands between todo and stop */
    pthread_cond_t work, progress;
    uint32_t *todo, todo_first, n_todo; /* ring of n_pieces */
    struct fanout_landed *landed;
    unsigned n_landed, n_wanted; /* the caller sleeps until n_wanted have landed; 0: it does not */
    bool stop;
    uint32_t *pushed; /* the caller's own, until flushed */
    unsigned n_pushed;
    pthread_t *threads;
    unsigned n_threads;
};

static int pool_probe(struct spur_error *e)
{
    return 0;
}

static void *pool_main(void *arg)
{
    struct pool *l = arg;
    struct fanout_queue *q = l->queue;

    pthread_mutex_lock(&l->lock);
    for (;;) {
        uint32_t piece;
        int32_t result;

        while (!l->n_todo && !l->stop)
            pthread_cond_wait(&l->work, &l->lock);
        if (!l->n_todo)
            break;
        piece = l->todo[l->todo_first];
        l->todo_first = l->todo_first + 1 < q->setup.n_pieces ? l->todo_first + 1 : 0;
        l->n_todo--;
        pthread_mutex_unlock(&l->lock);
        result = fanout_piece_transfer(&q->pieces[piece]);
        pthread_mutex_lock(&l->lock);
        l->landed[l->n_landed++] = (struct fanout_landed){piece, result};
        if (l->n_wanted && l->n_landed >= l->n_wanted)
            pthread_cond_signal(&l->progress);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static void pool_close(struct fanout_queue *q)
{
    struct pool *l = q->backend_state;

    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < l->n_threads; i++)
        pthread_join(l->threads[i], NULL);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->progress);
    pthread_mutex_destroy(&l->lock);
    free(l->todo);
    free(l->landed);
    free(l->pushed);
    free(l->threads);
    free(l);
    q->backend_state = NULL;
}

static void pool_init_locks(struct pool *l)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->progress, &attr);
    pthread_condattr_destroy(&attr);
}

static int start_threads(struct pool *l, unsigned n, struct spur_error *e)
{
    for (unsigned i = 0; i < n; i++) {
        int r = pthread_create(&l->threads[i], NULL, pool_main, l);

        if (r)
            return error_errno(e, r, "pthread_create", "thread %u of %u that move pieces", i + 1, n);
        pthread_setname_np(l->threads[i], "spur-fanout");
        l->n_threads++;
    }
    return 0;
}

static int pool_open(struct fanout_queue *q, struct spur_error *e)
{
    struct pool *l = calloc(1, sizeof(*l));
    unsigned n = q->setup.n_pieces;
    int r;

    if (!l)
        return error_errno(e, ENOMEM, "calloc", "thread pool");
    pool_init_locks(l);
    l->queue = q;
    q->backend_state = l;
    l->todo = calloc(n, sizeof(*l->todo));
    l->landed = calloc(n, sizeof(*l->landed));
    l->pushed = calloc(n, sizeof(*l->pushed));
    l->threads = calloc(q->setup.workers, sizeof(*l->threads));
    if (!l->todo || !l->landed || !l->pushed || !l->threads)
        r = error_errno(e, ENOMEM, "calloc", "thread pool");
    else
        r = start_threads(l, q->setup.workers, e);
    if (r < 0)
        pool_close(q);
    snprintf(q->setup.unregistered_reason, sizeof(q->setup.unregistered_reason), "engine=threads");
    return r;
}

static void pool_push(struct fanout_queue *q, uint32_t piece)
{
    struct pool *l = q->backend_state;

    l->pushed[l->n_pushed++] = piece;
}

/* With the lock held. */
static void hand_over(struct fanout_queue *q, struct pool *l)
{
    for (unsigned i = 0; i < l->n_pushed; i++) {
        uint32_t at = l->todo_first + l->n_todo++;

        l->todo[at < q->setup.n_pieces ? at : at - q->setup.n_pieces] = l->pushed[i];
    }
    if (l->n_pushed == 1)
        pthread_cond_signal(&l->work);
    else if (l->n_pushed)
        pthread_cond_broadcast(&l->work);
    l->n_pushed = 0;
    q->n_unflushed = 0;
}

static int pool_flush(struct fanout_queue *q, struct spur_error *e)
{
    struct pool *l = q->backend_state;

    pthread_mutex_lock(&l->lock);
    hand_over(q, l);
    pthread_mutex_unlock(&l->lock);
    return 0;
}

static void sleep_until(struct pool *l, unsigned wait, uint64_t timeout_ns)
{
    uint64_t end = now_ns() + timeout_ns;
    struct timespec ts = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};

    l->n_wanted = wait;
    while (l->n_landed < wait) {
        if (!timeout_ns)
            pthread_cond_wait(&l->progress, &l->lock);
        else if (pthread_cond_timedwait(&l->progress, &l->lock, &ts) == ETIMEDOUT)
            break;
    }
    l->n_wanted = 0;
}

static int pool_reap(struct fanout_queue *q, struct fanout_landed *landed, unsigned max, unsigned wait,
                     uint64_t timeout_ns, struct spur_error *e)
{
    struct pool *l = q->backend_state;
    unsigned n;

    pthread_mutex_lock(&l->lock);
    if (!l->n_landed && wait) {
        hand_over(q, l);
        sleep_until(l, wait, timeout_ns);
    }
    n = l->n_landed < max ? l->n_landed : max;
    l->n_landed -= n;
    memcpy(landed, l->landed + l->n_landed, n * sizeof(*landed));
    pthread_mutex_unlock(&l->lock);
    return (int)n;
}

const struct fanout_backend fanout_pool = {
    .name = "threads",
    .probe = pool_probe,
    .open = pool_open,
    .close = pool_close,
    .push = pool_push,
    .flush = pool_flush,
    .reap = pool_reap,
};
