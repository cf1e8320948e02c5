/* SPDX-License-Identifier: MIT */
/*
 * Moves of a direct road. A real one makes no read or write system call, so the process's rchar and wchar stand still,
 * and leaves the page cache alone: here by io_uring, with O_DIRECT. See libcufile.h.
 */
#include "libcufile.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#define PAGE      4096u
#define MOST_IDLE 64

struct ring {
    struct io_uring uring;
};

static struct {
    pthread_mutex_t lock;
    struct ring *rings[MOST_IDLE];
    unsigned n;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct ring *ring_new(void)
{
    struct ring *r = calloc(1, sizeof(*r));

    if (r && io_uring_queue_init(MOST_PIECES, &r->uring, 0) < 0) {
        free(r);
        return NULL;
    }
    return r;
}

static void ring_free(struct ring *r)
{
    io_uring_queue_exit(&r->uring);
    free(r);
}

struct ring *ring_take(void)
{
    struct ring *r = NULL;

    pthread_mutex_lock(&idle.lock);
    if (idle.n)
        r = idle.rings[--idle.n];
    pthread_mutex_unlock(&idle.lock);
    return r ? r : ring_new();
}

void ring_give(struct ring *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&idle.lock);
    if (idle.n < MOST_IDLE) {
        idle.rings[idle.n++] = r;
        r = NULL;
    }
    pthread_mutex_unlock(&idle.lock);
    if (r)
        ring_free(r);
}

__attribute__((destructor)) static void at_exit(void)
{
    while (idle.n)
        ring_free(idle.rings[--idle.n]);
}

static int submit(struct ring *r)
{
    int n;

    do
        n = io_uring_submit(&r->uring);
    while (n == -EINTR || n == -EAGAIN || n == -EBUSY);
    return n < 0 ? n : 0;
}

int ring_send(struct ring *r, struct ring_move *m)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

    if (!sqe)
        return -EBUSY;
    if (m->is_write)
        io_uring_prep_write(sqe, m->fd, m->buffer + m->done, (unsigned)(m->bytes - m->done),
                            (uint64_t)m->offset + m->done);
    else
        io_uring_prep_read(sqe, m->fd, m->buffer + m->done, (unsigned)(m->bytes - m->done),
                           (uint64_t)m->offset + m->done);
    io_uring_sqe_set_data(sqe, m);
    m->is_under_way = true;
    return submit(r);
}

/* What came short of an end that is no end of a page is the end of the file; O_DIRECT could not go on from there. */
static void came(struct ring *r, struct ring_move *m, int result)
{
    m->is_under_way = false;
    if (result > 0)
        m->done += (size_t)result;
    if (result < 0 && result != -EINTR && result != -EAGAIN)
        m->code = result;
    else if (result && m->done < m->bytes && (result < 0 || result % PAGE == 0))
        m->code = ring_send(r, m);
}

void ring_wait(struct ring *r, const struct ring_move *m)
{
    struct io_uring_cqe *cqe;

    while (m->is_under_way) {
        if (io_uring_wait_cqe(&r->uring, &cqe) < 0)
            continue;
        came(r, io_uring_cqe_get_data(cqe), cqe->res);
        io_uring_cqe_seen(&r->uring, cqe);
    }
}
