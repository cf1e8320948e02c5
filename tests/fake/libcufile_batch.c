/* SPDX-License-Identifier: MIT */
/* The batch API: threads of the batch's own take entries in order. See libcufile.h. */
#include "libcufile.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 16

struct entry {
    CUfileIOParams_t request;
    int status; /* 0: free */
    ssize_t result;
    uint64_t order;
};

struct batch {
    struct batch *next;
    unsigned n, n_threads;
    struct entry *entries;
    uint64_t n_submitted;
    bool stop;
    pthread_cond_t wake, done;
    pthread_t threads[MOST_THREADS];
};

static struct batch *batches;

/* Lock held. */
static struct batch *batch_of(CUfileBatchHandle_t handle)
{
    struct batch *b = batches;

    while (b && b != handle)
        b = b->next;
    return b;
}

/* Lock held. The oldest entry that waits. */
static struct entry *next_waiting(struct batch *b)
{
    struct entry *found = NULL;

    for (unsigned i = 0; i < b->n; i++)
        if (b->entries[i].status == CUFILE_BATCH_WAITING && (!found || b->entries[i].order < found->order))
            found = &b->entries[i];
    return found;
}

static ssize_t perform(const CUfileIOParams_t *p)
{
    struct transfer t = {
        .file = file_of(p->fh),
        .base = p->batch.devPtr_base,
        .bytes = p->batch.size,
        .file_offset = p->batch.file_offset,
        .offset = p->batch.devPtr_offset,
        .is_write = p->opcode == CUFILE_WRITE,
        .is_batch = true,
    };

    return transfer_run(&t);
}

static void *work(void *argument)
{
    struct batch *b = argument;

    state_lock();
    for (;;) {
        struct entry *e = next_waiting(b);
        ssize_t n;

        if (b->stop)
            break;
        if (!e) {
            pthread_cond_wait(&b->wake, &state.lock);
            continue;
        }
        e->status = CUFILE_BATCH_PENDING;
        state_unlock();
        n = perform(&e->request);
        state_lock();
        e->result = n;
        e->status = n < 0 ? CUFILE_BATCH_FAILED : CUFILE_BATCH_COMPLETE;
        pthread_cond_broadcast(&b->done);
    }
    state_unlock();
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ */

static void end(struct batch *b)
{
    state_lock();
    b->stop = true;
    pthread_cond_broadcast(&b->wake);
    state_unlock();
    for (unsigned i = 0; i < b->n_threads; i++)
        pthread_join(b->threads[i], NULL);
    pthread_cond_destroy(&b->wake);
    pthread_cond_destroy(&b->done);
    free(b->entries);
    free(b);
}

static struct batch *make(unsigned n)
{
    struct batch *b = calloc(1, sizeof(*b));
    pthread_condattr_t clock;

    if (!b)
        return NULL;
    b->n = n;
    b->entries = calloc(n, sizeof(*b->entries));
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&b->wake, NULL);
    pthread_cond_init(&b->done, &clock);
    pthread_condattr_destroy(&clock);
    while (b->entries && b->n_threads < n && b->n_threads < MOST_THREADS) {
        if (pthread_create(&b->threads[b->n_threads], NULL, work, b))
            break;
        b->n_threads++;
    }
    if (b->n_threads)
        return b;
    end(b);
    return NULL;
}

CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t *batch, unsigned n)
{
    int code = fault_code("cuFileBatchIOSetUp");
    struct batch *b = NULL;

    if (!batch)
        raise(SIGSEGV); /* as the real one does */
    state_lock();
    if (!code)
        code = driver_ensure();
    if (!code && (!n || n > config_number(KEY_BATCH)))
        code = CUFILE_INVALID_VALUE;
    state_unlock();
    if (!code && !(b = make(n)))
        code = 5043;
    if (b) {
        state_lock();
        b->next = batches;
        batches = b;
        *batch = b;
        state_unlock();
    }
    stats_batch(BATCH_SETUP, !code);
    return status_of(code);
}

static bool is_sound(const CUfileIOParams_t *p)
{
    return p->mode == CUFILE_BATCH && (p->opcode == CUFILE_READ || p->opcode == CUFILE_WRITE) && p->batch.size &&
           p->batch.devPtr_base && p->batch.file_offset >= 0 && p->batch.devPtr_offset >= 0 && file_of(p->fh);
}

/* Lock held. All or none. */
static int put(struct batch *b, unsigned n, const CUfileIOParams_t *requests)
{
    unsigned n_free = 0, at = 0;

    for (unsigned i = 0; i < b->n; i++)
        n_free += !b->entries[i].status;
    if (n > n_free)
        return CUFILE_BATCH_FULL;
    for (unsigned i = 0; i < n; i++) {
        while (b->entries[at].status)
            at++;
        b->entries[at].request = requests[i];
        b->entries[at].order = b->n_submitted++;
        b->entries[at].status = CUFILE_BATCH_WAITING;
    }
    pthread_cond_broadcast(&b->wake);
    return 0;
}

CUfileError_t cuFileBatchIOSubmit(CUfileBatchHandle_t batch, unsigned n, CUfileIOParams_t *requests, unsigned flags)
{
    int code = fault_code("cuFileBatchIOSubmit");
    struct batch *b;

    for (unsigned i = 0; !code && i < n; i++)
        if (!is_sound(&requests[i]))
            code = profile_get()->version >= 1150 ? CUFILE_INTERNAL_BATCH_SUBMIT_ERROR : 5035;
    state_lock();
    b = batch_of(batch);
    if (!code)
        code = b && n ? put(b, n, requests) : CUFILE_INVALID_VALUE;
    state_unlock();
    stats_batch(BATCH_SUBMIT, !code);
    return status_of(code);
}

/* ------------------------------------------------------------------------------------------------ */

#define IS_OVER(status)                                                                                                \
    ((status) & (CUFILE_BATCH_COMPLETE | CUFILE_BATCH_FAILED | CUFILE_BATCH_CANCELED | CUFILE_BATCH_TIMEOUT))

static unsigned n_over(const struct batch *b)
{
    unsigned n = 0;

    for (unsigned i = 0; i < b->n; i++)
        n += IS_OVER(b->entries[i].status) != 0;
    return n;
}

static unsigned collect(struct batch *b, unsigned most, CUfileIOEvents_t *events)
{
    unsigned n = 0;

    for (unsigned i = 0; i < b->n && n < most; i++) {
        struct entry *e = &b->entries[i];

        if (!IS_OVER(e->status))
            continue;
        events[n++] = (CUfileIOEvents_t){e->request.cookie, e->status, (size_t)e->result};
        e->status = 0;
    }
    return n;
}

static struct timespec deadline_of(const struct timespec *timeout)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += timeout->tv_sec;
    t.tv_nsec += timeout->tv_nsec;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Lock held. */
static void wait_for(struct batch *b, unsigned min, const struct timespec *timeout)
{
    struct timespec deadline = {0};
    int rc = 0;

    if (timeout)
        deadline = deadline_of(timeout);
    while (n_over(b) < min && rc != ETIMEDOUT)
        rc = timeout ? pthread_cond_timedwait(&b->done, &state.lock, &deadline)
                     : pthread_cond_wait(&b->done, &state.lock);
}

CUfileError_t cuFileBatchIOGetStatus(CUfileBatchHandle_t batch, unsigned min, unsigned *n, CUfileIOEvents_t *events,
                                     struct timespec *timeout)
{
    int code = fault_code("cuFileBatchIOGetStatus");
    unsigned n_events = 0;
    struct batch *b;

    if (code || !n || !events || min > *n)
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    state_lock();
    b = batch_of(batch);
    if (b) {
        wait_for(b, min, timeout);
        n_events = *n = collect(b, *n, events);
    }
    state_unlock();
    for (unsigned i = 0; i < n_events; i++)
        stats_batch(BATCH_COMPLETE, events[i].status == CUFILE_BATCH_COMPLETE);
    return status_of(b ? 0 : CUFILE_INVALID_VALUE);
}

/* What has not begun is given up; the rest ends by itself. */
CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t batch)
{
    int code = fault_code("cuFileBatchIOCancel");
    struct batch *b;

    state_lock();
    b = batch_of(batch);
    for (unsigned i = 0; !code && b && i < b->n; i++)
        if (b->entries[i].status == CUFILE_BATCH_WAITING)
            b->entries[i].status = CUFILE_BATCH_CANCELED;
    if (b)
        pthread_cond_broadcast(&b->done);
    state_unlock();
    if (!code && !b)
        code = CUFILE_INVALID_VALUE;
    stats_batch(BATCH_CANCEL, !code);
    return status_of(code);
}

void cuFileBatchIODestroy(CUfileBatchHandle_t batch)
{
    struct batch **at = &batches, *b;

    fault_enter("cuFileBatchIODestroy");
    state_lock();
    while (*at && *at != batch)
        at = &(*at)->next;
    b = *at;
    if (b)
        *at = b->next;
    state_unlock();
    stats_batch(BATCH_DESTROY, b != NULL);
    if (b)
        end(b);
    else
        fake_violation("cuFileBatchIODestroy of a batch that is not set up");
}
