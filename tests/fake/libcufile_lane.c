/* SPDX-License-Identifier: MIT */
/*
 * How bytes travel on a direct road: past the page cache, several pieces of a request in flight, and without a read or
 * write system call, so that the process's rchar and wchar stand still as they do with the real ones. By the kernel's
 * own queue (io_submit(2)), which containers allow where they forbid io_uring. See libcufile.h.
 */
#include "libcufile.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct slot {
    struct iocb request;
    bool is_over;
    ssize_t result;
    uint8_t *bounce; /* of a piece's aligned cover; made when it is needed */
    uint8_t *to;     /* where a read that is in `bounce` belongs; NULL: it is there already */
    size_t head, bytes;
};

/* One request's at a time, by one thread. */
struct lane {
    struct lane *next;
    aio_context_t context;
    struct slot slots[MOST_PIECES];
};

static struct {
    pthread_mutex_t lock;
    struct lane *idle;
} lanes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct lane *make(void)
{
    struct lane *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    if (syscall(SYS_io_setup, MOST_PIECES, &l->context)) {
        free(l);
        return NULL;
    }
    return l;
}

struct lane *lane_take(void)
{
    struct lane *l;

    pthread_mutex_lock(&lanes.lock);
    l = lanes.idle;
    if (l)
        lanes.idle = l->next;
    pthread_mutex_unlock(&lanes.lock);
    return l ? l : make();
}

void lane_give(struct lane *l)
{
    pthread_mutex_lock(&lanes.lock);
    l->next = lanes.idle;
    lanes.idle = l;
    pthread_mutex_unlock(&lanes.lock);
}

__attribute__((destructor)) static void at_exit(void)
{
    struct lane *l;

    while ((l = lanes.idle)) {
        lanes.idle = l->next;
        syscall(SYS_io_destroy, l->context);
        for (unsigned i = 0; i < MOST_PIECES; i++)
            free(l->slots[i].bounce);
        free(l);
    }
}

/* ------------------------------------------------------------------------------------------------ */

static int need_bounce(struct slot *s)
{
    return s->bounce ? 0 : -posix_memalign((void **)&s->bounce, PAGE, profile_get()->piece_bytes + 2 * PAGE);
}

static bool is_aligned(const void *at, size_t bytes, off_t offset)
{
    return ((uintptr_t)at | bytes | (size_t)offset) % PAGE == 0;
}

static void submit(struct lane *l, struct slot *s, int fd, int operation, const void *at, size_t bytes, off_t offset)
{
    struct iocb *requests[] = {&s->request};

    s->request = (struct iocb){.aio_data = (uint64_t)(uintptr_t)s,
                               .aio_lio_opcode = (uint16_t)operation,
                               .aio_fildes = (uint32_t)fd,
                               .aio_buf = (uint64_t)(uintptr_t)at,
                               .aio_nbytes = bytes,
                               .aio_offset = offset};
    if (syscall(SYS_io_submit, l->context, 1, requests) != 1) {
        s->result = -errno;
        s->is_over = true;
    }
}

void lane_read(struct lane *l, unsigned slot, const struct fake_file *f, uint8_t *to, size_t bytes, off_t offset)
{
    size_t head = (size_t)offset % PAGE;
    struct slot *s = &l->slots[slot];

    s->is_over = false;
    s->to = NULL;
    if (!f->is_past_cache || is_aligned(to, bytes, offset)) {
        submit(l, s, f->direct_fd, IOCB_CMD_PREAD, to, bytes, offset);
        return;
    }
    s->result = need_bounce(s);
    s->is_over = s->result < 0;
    if (s->is_over)
        return;
    s->to = to;
    s->head = head;
    s->bytes = bytes;
    submit(l, s, f->direct_fd, IOCB_CMD_PREAD, s->bounce, (head + bytes + PAGE - 1) / PAGE * PAGE,
           offset - (off_t)head);
}

void lane_write(struct lane *l, unsigned slot, const struct fake_file *f, const uint8_t *from, size_t bytes,
                off_t offset)
{
    struct slot *s = &l->slots[slot];

    s->is_over = false;
    s->to = NULL;
    submit(l, s, is_aligned(from, bytes, offset) ? f->direct_fd : f->cached_fd, IOCB_CMD_PWRITE, from, bytes, offset);
}

static void reap(struct lane *l)
{
    struct io_event events[MOST_PIECES];
    long n = syscall(SYS_io_getevents, l->context, 1, MOST_PIECES, events, NULL);

    if (n < 0 && errno != EINTR)
        abort();
    for (long i = 0; i < n; i++) {
        struct slot *s = (struct slot *)(uintptr_t)events[i].data; /* NOLINT: ours */

        s->result = (ssize_t)events[i].res;
        s->is_over = true;
    }
}

ssize_t lane_end(struct lane *l, unsigned slot)
{
    struct slot *s = &l->slots[slot];

    while (!s->is_over)
        reap(l);
    if (!s->to || s->result < 0)
        return s->result;
    if ((size_t)s->result <= s->head)
        return 0;
    if ((size_t)s->result - s->head < s->bytes)
        s->bytes = (size_t)s->result - s->head;
    memcpy(s->to, s->bounce + s->head, s->bytes);
    return (ssize_t)s->bytes;
}
