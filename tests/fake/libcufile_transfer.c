/* SPDX-License-Identifier: MIT */
/* Reads and writes: a request in pieces, by the profile's mechanism. See libcufile.h. */
#include "libcufile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A piece on its way. */
struct piece {
    bool is_set;
    size_t bytes;
    uint64_t finish_ns; /* by the model */
    ssize_t result;     /* of ROAD_POSIX, which is read and written at once */
};

/* A request on its way. */
struct course {
    const struct transfer *t;
    struct target target;
    enum road road;
    bool is_unaligned;
    int fd;
    bool is_direct_io; /* of fd */
    uint8_t *bounce;   /* of ROAD_POSIX */
    struct lane *lane; /* of the others */
    size_t limit;      /* bytes to move: fewer than asked for where a fault says so */
    struct piece pieces[MOST_PIECES];
    bool is_over; /* a piece failed or fell short; what comes after it does not count */
    size_t done;
    ssize_t error;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------
 * One piece
 */

static ssize_t read_all(int fd, uint8_t *to, size_t bytes, off_t offset)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = pread(fd, to + done, bytes - done, offset + (off_t)done);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        if (n > 0 && done % PAGE) /* the end of the file; O_DIRECT cannot go on from here */
            break;
    }
    return (ssize_t)done;
}

/* With O_DIRECT the aligned cover goes through a bounce buffer. */
static ssize_t read_piece(const struct course *c, size_t at, size_t bytes)
{
    off_t from = c->t->file_offset + (off_t)at;
    size_t head = (size_t)from % PAGE, cover = (head + bytes + PAGE - 1) / PAGE * PAGE;
    ssize_t n;

    if (!c->is_direct_io)
        return read_all(c->fd, c->target.at + at, bytes, from);
    n = read_all(c->fd, c->bounce, cover, from - (off_t)head);
    if (n <= (ssize_t)head)
        return n < 0 ? n : 0;
    n -= (ssize_t)head;
    if ((size_t)n > bytes)
        n = (ssize_t)bytes;
    memcpy(c->target.at + at, c->bounce + head, (size_t)n);
    return n;
}

static ssize_t write_piece(const struct course *c, size_t at, size_t bytes)
{
    off_t to = c->t->file_offset + (off_t)at;
    bool direct = c->is_direct_io && !c->is_unaligned;
    const uint8_t *from = c->target.at + at;
    size_t done = 0;

    if (direct)
        from = memcpy(c->bounce, from, bytes);
    while (done < bytes) {
        ssize_t n = pwrite(direct ? c->fd : c->t->file->cached_fd, from + done, bytes - done, to + (off_t)done);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return (ssize_t)done;
}

static void begin_piece(struct course *c, unsigned slot, size_t at, size_t bytes)
{
    const struct transfer *t = c->t;
    struct piece *p = &c->pieces[slot];

    *p = (struct piece){.is_set = true, .bytes = bytes, .finish_ns = model_issue(bytes)};
    if (c->road == ROAD_POSIX)
        p->result = t->is_write ? write_piece(c, at, bytes) : read_piece(c, at, bytes);
    else if (t->is_write)
        lane_write(c->lane, slot, t->file, c->target.at + at, bytes, t->file_offset + (off_t)at);
    else
        lane_read(c->lane, slot, t->file, c->target.at + at, bytes, t->file_offset + (off_t)at);
}

static void end_piece(struct course *c, unsigned slot)
{
    struct piece *p = &c->pieces[slot];
    ssize_t n;

    if (!p->is_set)
        return;
    p->is_set = false;
    n = c->road == ROAD_POSIX ? p->result : lane_end(c->lane, slot);
    model_wait(p->finish_ns);
    if (c->is_over)
        return;
    c->is_over = n < (ssize_t)p->bytes;
    if (n < 0)
        c->error = n;
    else
        c->done += (size_t)n;
}

/* ------------------------------------------------------------------------------------------------
 * All pieces
 */

/* Up to @most in flight; the model says when each is there at the earliest. */
static ssize_t run_pieces(struct course *c, unsigned most)
{
    size_t piece = profile_get()->piece_bytes;
    unsigned slot = 0;

    for (size_t at = 0; at < c->limit; at += piece) {
        end_piece(c, slot);
        if (c->is_over)
            break;
        begin_piece(c, slot, at, c->limit - at < piece ? c->limit - at : piece);
        slot = (slot + 1) % most;
    }
    for (unsigned i = 0; i < most; i++)
        end_piece(c, (slot + i) % most);
    return c->error ? c->error : (ssize_t)c->done;
}

static ssize_t run_mechanism(struct course *c)
{
    bool parallel_io = config_number(KEY_PARALLEL_IO) && config_number(KEY_IO_THREADS);
    bool is_large = c->t->bytes > profile_get()->piece_bytes && c->t->bytes > config_number(KEY_THRESHOLD) << 10;
    unsigned most = (unsigned)config_number(KEY_PARALLELISM);
    ssize_t n;

    if (!is_large || !parallel_io || profile_get()->mechanism == MECHANISM_SERIAL)
        return run_pieces(c, 1);
    if (profile_get()->mechanism == MECHANISM_PARALLEL)
        return run_pieces(c, most ? most : 1);
    model_enter();
    n = run_pieces(c, 1);
    model_leave();
    return n;
}

/* ------------------------------------------------------------------------------------------------
 * One request
 */

static int validate(const struct transfer *t)
{
    int mode;

    if (!t->file)
        return CUFILE_HANDLE_NOT_REGISTERED;
    if (t->file_offset < 0 || t->offset < 0 || !t->bytes)
        return CUFILE_INVALID_VALUE;
    mode = t->file->flags & O_ACCMODE;
    return mode == (t->is_write ? O_RDONLY : O_WRONLY) ? CUFILE_INVALID_FILE_OPEN_FLAG : 0;
}

static int choose(struct course *c)
{
    const struct transfer *t = c->t;
    int code = 0;

    c->is_unaligned = ((size_t)t->file_offset | t->bytes | (uintptr_t)t->base | (size_t)t->offset) % PAGE != 0;
    state_lock();
    if (!state.is_open)
        code = CUFILE_DRIVER_NOT_INITIALIZED;
    c->road = road_next();
    if (c->road == ROAD_POSIX && !config_number(KEY_ALLOW_COMPAT) && !config_number(KEY_FORCE_COMPAT))
        code = CUFILE_IO_NOT_SUPPORTED;
    state_unlock();
    c->fd = t->file->fd;
    c->is_direct_io = t->file->is_direct_io;
    if (c->road == ROAD_POSIX && t->is_batch && !t->is_write && profile_get()->batch_cached) {
        c->fd = t->file->cached_fd;
        c->is_direct_io = false;
    }
    return code;
}

static ssize_t run_course(struct course *c)
{
    ssize_t n;

    if (c->road != ROAD_POSIX) {
        c->lane = lane_take();
        if (!c->lane)
            return -errno;
        n = run_mechanism(c);
        lane_give(c->lane);
        return n;
    }
    if (posix_memalign((void **)&c->bounce, PAGE, profile_get()->piece_bytes + 2 * PAGE))
        return -ENOMEM;
    n = run_mechanism(c);
    free(c->bounce);
    return n;
}

static void begin(int step)
{
    state_lock();
    state.n_inflight += (unsigned)step;
    pthread_cond_broadcast(&state.progress);
    state_unlock();
}

/* Lock not held; `fault` was taken by the entry point. */
static ssize_t run(const struct transfer *t, const struct fault *fault, struct outcome *o)
{
    struct course c = {.t = t, .target = {.device = -1}, .limit = t->bytes};
    int code = fault->is_set ? fault->code : validate(t);
    ssize_t n;

    if (!code)
        code = choose(&c);
    if (!code)
        code = target_find(t->base, t->bytes, t->offset, &c.target);
    o->road = c.road;
    o->is_unaligned = c.is_unaligned;
    if (code)
        return -code;
    if (fault->short_bytes < c.limit)
        c.limit = fault->short_bytes;
    n = run_course(&c);
    o->device = c.target.device;
    target_done(&c.target);
    return n;
}

static ssize_t run_counted(const struct transfer *t, const struct fault *fault, bool is_vectored)
{
    struct outcome o = {.is_write = t->is_write, .is_batch = t->is_batch, .device = -1, .asked_bytes = t->bytes};
    uint64_t from = now_ns();

    begin(1);
    o.result = run(t, fault, &o);
    o.ns = now_ns() - from;
    if (o.road == ROAD_NVFS)
        nvfs_count(t->is_write, o.result);
    if (!is_vectored)
        stats_count(&o);
    if (o.result < 0)
        log_line("ERROR", "%s of %zu bytes failed with %zd", t->is_write ? "write" : "read", t->bytes, o.result);
    else
        log_line("TRACE", "cuFile IO mode: %s",
                 o.road == ROAD_POSIX  ? "POSIX"
                 : o.road == ROAD_NVFS ? "NVFS"
                                       : "P2PDMA");
    begin(-1);
    return o.result;
}

ssize_t transfer_run(const struct transfer *t)
{
    struct fault fault = fault_enter(t->is_write ? "batch-write" : "batch-read");

    return run_counted(t, &fault, false);
}

/* In compatibility mode the code travels in errno, else as a negative result. */
static ssize_t answer(ssize_t n)
{
    if (n >= 0)
        return n;
    if (-n > CUFILE_BASE_ERROR && has_direct_road())
        return n;
    errno = (int)-n;
    return -1;
}

static ssize_t call(const char *symbol, const struct transfer *t)
{
    struct fault fault = fault_enter(symbol);

    return answer(run_counted(t, &fault, false));
}

ssize_t cuFileRead(CUfileHandle_t handle, void *base, size_t bytes, off_t file_offset, off_t offset)
{
    struct transfer t = {file_of(handle), base, bytes, file_offset, offset, false, false};

    return call("cuFileRead", &t);
}

ssize_t cuFileWrite(CUfileHandle_t handle, const void *base, size_t bytes, off_t file_offset, off_t offset)
{
    struct transfer t = {file_of(handle), base, bytes, file_offset, offset, true, false};

    return call("cuFileWrite", &t);
}

/* ------------------------------------------------------------------------------------------------
 * Vectors: one element after the other
 */

static ssize_t vectored(const char *symbol, struct transfer t, const CUfileIOVec_t *iov, size_t n_iov)
{
    struct fault fault = fault_enter(symbol);
    uint64_t from = now_ns();
    ssize_t n = 0, total = 0;

    for (size_t i = 0; i < n_iov; i++) {
        t.base = iov[i].base;
        t.bytes = iov[i].len;
        n = run_counted(&t, &fault, true);
        if (n < 0)
            break;
        total += n;
        t.file_offset += n;
        if ((size_t)n < iov[i].len)
            break;
    }
    if (total || n >= 0)
        n = total;
    stats_count_vectored(t.is_write, n, now_ns() - from);
    return answer(n);
}

ssize_t cuFileReadv(CUfileHandle_t handle, const CUfileIOVec_t *iov, size_t n_iov, off_t file_offset, unsigned flags)
{
    struct transfer t = {.file = file_of(handle), .file_offset = file_offset};

    return vectored("cuFileReadv", t, iov, n_iov);
}

ssize_t cuFileWritev(CUfileHandle_t handle, const CUfileIOVec_t *iov, size_t n_iov, off_t file_offset, unsigned flags)
{
    struct transfer t = {.file = file_of(handle), .file_offset = file_offset, .is_write = true};

    return vectored("cuFileWritev", t, iov, n_iov);
}
