/* SPDX-License-Identifier: MIT */
/* Backend: one io_uring a queue, with registered descriptors, buffers and ring. */
#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "path/fanout.h"

#define MAX_REGION  (1ull << 30) /* the kernel's limit for one registered range */
#define MAX_PEEK    64u
#define PROBE_BYTES 8192u

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define WITH_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
void __tsan_write_range(void *address, long size);
void __tsan_read_range(void *address, long size);
#define WITH_TSAN 1
#endif

struct region {
    uint8_t *begin;
    uint64_t bytes;
};

struct uring {
    struct io_uring ring;
    pthread_t opener;
    struct region *regions; /* registered, by index */
    unsigned n_regions, last_region;
    uint64_t *file_ids; /* registered: descriptor i * 2, the one without O_DIRECT i * 2 + 1 */
    unsigned n_files;
    uint32_t async_min;
};

/* ------------------------------------------------------------------------------------------------
 * Ring
 */

/* What a sysctl or a filter that forbids io_uring looks like; a shortage is an error, not a reason to do without. */
static bool is_unavailable(int err)
{
    return err == ENOSYS || err == EPERM || err == EACCES;
}

static int setup_error(int err, unsigned entries, struct spur_error *e)
{
    FILE *f = fopen("/proc/sys/kernel/io_uring_disabled", "re");
    int disabled = -1;

    if (f) {
        if (fscanf(f, "%d", &disabled) != 1)
            disabled = -1;
        fclose(f);
    }
    if (is_unavailable(err) && disabled > 0)
        error_errno(e, err, "io_uring_setup", "io_uring is forbidden here (kernel.io_uring_disabled=%d)", disabled);
    else if (is_unavailable(err))
        error_errno(e, err, "io_uring_setup", "io_uring is not offered here (old kernel, or a container's filter)");
    else
        error_errno(e, err, "io_uring_setup", "ring of %u entries", entries);
    if (is_unavailable(err))
        error_remedy(e, "allow io_uring, or set engine=threads");
    else if (err == ENOMEM)
        error_remedy(e, "raise the limit on locked memory (ulimit -l), or use fewer threads or less depth");
    else if (err == EMFILE)
        error_remedy(e, "raise the limit on open files (ulimit -n)");
    return -err;
}

static int uring_probe(struct spur_error *e)
{
    struct io_uring ring;
    int r = io_uring_queue_init(2, &ring, 0);

    if (r < 0)
        return setup_error(-r, 2, e);
    io_uring_queue_exit(&ring);
    return 0;
}

static const struct {
    unsigned flags;
    const char *names;
} flag_sets[] = {
    {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
     "SINGLE_ISSUER|DEFER_TASKRUN"},
    {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "COOP_TASKRUN"},
    {0, ""},
};

static int ring_open(struct uring *u, struct fanout_setup *s, struct spur_error *e)
{
    unsigned entries = 8;
    int r = -EINVAL;

    while (entries < s->n_pieces)
        entries *= 2;
    for (size_t i = 0; i < ARRAY_SIZE(flag_sets) && r == -EINVAL; i++) {
        struct io_uring_params params = {.flags = flag_sets[i].flags | IORING_SETUP_CQSIZE, .cq_entries = entries * 2};

        r = io_uring_queue_init_params(entries, &u->ring, &params);
        snprintf(s->ring_flags, sizeof(s->ring_flags), "%s", flag_sets[i].names);
    }
    if (r < 0)
        return setup_error(-r, entries, e);
    if (io_uring_register_ring_fd(&u->ring) == 1)
        strcat(s->ring_flags, *s->ring_flags ? "|registered" : "registered");
    return 0;
}

/* Kernel workers: as many as were decided, on the CPUs to which this thread is bound. */
static int workers_limit(struct uring *u, const struct fanout_setup *s, struct spur_error *e)
{
    unsigned limits[2] = {s->workers, s->workers};
    cpu_set_t cpus;
    int r = io_uring_register_iowq_max_workers(&u->ring, limits);

    if (r < 0)
        return error_errno(e, -r, "io_uring_register_iowq_max_workers", "%u kernel workers", s->workers);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        io_uring_register_iowq_aff(&u->ring, sizeof(cpus), &cpus);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Registered descriptors
 */

static int files_register(struct uring *u, struct fanout_queue *q, struct spur_error *e)
{
    const struct spur_path *p = q->queue->path;
    _cleanup_free_ int *fds = calloc(2 * p->n_files + 1, sizeof(*fds));

    u->file_ids = calloc(p->n_files + 1, sizeof(*u->file_ids));
    if (!fds || !u->file_ids)
        return error_errno(e, ENOMEM, "calloc", "table of %zu files", p->n_files);
    for (size_t i = 0; i < p->n_files; i++) {
        u->file_ids[i] = ((struct fanout_file *)p->files[i]->state)->id;
        fds[2 * i] = p->files[i]->fd;
        fds[2 * i + 1] = p->files[i]->fd_buffered;
    }
    if (p->n_files && io_uring_register_files(&u->ring, fds, (unsigned)(2 * p->n_files)) == 0) {
        u->n_files = (unsigned)p->n_files;
        q->setup.registered_files = true;
    }
    return 0;
}

/* Index in the table, or -1. The file's own index is right unless files were closed before the queue was opened. */
static int file_find(const struct uring *u, const struct spur_file *f)
{
    uint64_t id = ((const struct fanout_file *)f->state)->id;

    if (f->index < u->n_files && u->file_ids[f->index] == id)
        return (int)f->index;
    for (unsigned i = 0; i < u->n_files; i++)
        if (u->file_ids[i] == id)
            return (int)i;
    return -1;
}

/* ------------------------------------------------------------------------------------------------
 * Registered buffers
 */

static bool is_mine(const struct fanout_path *p, const struct spur_buffer *b)
{
    pid_t thread = gettid();

    for (size_t i = 0; i < p->n_attached; i++)
        if (p->attached[i].buffer == b)
            return p->attached[i].thread == thread;
    return false;
}

/* Threads that attach a buffer each register their own; otherwise every queue registers all. */
static bool has_own(const struct fanout_queue *q)
{
    for (size_t i = 0; i < q->path->n_attached; i++)
        if (is_mine(q->path, q->path->attached[i].buffer))
            return true;
    return false;
}

static unsigned region_add(struct region *regions, unsigned n, uint8_t *begin, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += MAX_REGION, n++)
        if (regions)
            regions[n] = (struct region){begin + at, bytes - at < MAX_REGION ? bytes - at : MAX_REGION};
    return n;
}

/* Staging and the attached host buffers; regions NULL: counts only. */
static unsigned regions_list(const struct fanout_queue *q, struct region *regions)
{
    unsigned n = region_add(regions, 0, q->stage, q->setup.stage_bytes);
    bool own = has_own(q);

    for (size_t i = 0; i < q->path->n_attached; i++) {
        struct spur_buffer *b = q->path->attached[i].buffer;

        if (!b->memory->ops->is_device && (!own || is_mine(q->path, b)))
            n = region_add(regions, n, (uint8_t *)(uintptr_t)b->address, b->bytes);
    }
    return n;
}

static void unregistered_because(struct fanout_setup *s, int err, uint64_t bytes)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (err == ENOMEM && limit.rlim_cur != RLIM_INFINITY)
        snprintf(s->unregistered_reason, sizeof(s->unregistered_reason),
                 "io_uring_register_buffers: %llu bytes do not fit the limit on locked memory of %llu (ulimit -l)",
                 (unsigned long long)bytes, (unsigned long long)limit.rlim_cur);
    else
        snprintf(s->unregistered_reason, sizeof(s->unregistered_reason), "io_uring_register_buffers, %llu bytes: %s",
                 (unsigned long long)bytes, strerrordesc_np(err));
}

static int buffers_register(struct uring *u, struct fanout_queue *q, struct spur_error *e)
{
    unsigned n = regions_list(q, NULL);
    _cleanup_free_ struct iovec *iov = calloc(n + 1, sizeof(*iov));
    uint64_t bytes = 0;
    int r;

    u->regions = calloc(n + 1, sizeof(*u->regions));
    if (!iov || !u->regions)
        return error_errno(e, ENOMEM, "calloc", "table of %u buffers", n);
    regions_list(q, u->regions);
    for (unsigned i = 0; i < n; i++) {
        iov[i] = (struct iovec){u->regions[i].begin, u->regions[i].bytes};
        bytes += u->regions[i].bytes;
    }
    r = io_uring_register_buffers(&u->ring, iov, n);
    if (r < 0) {
        unregistered_because(&q->setup, -r, bytes);
        return 0;
    }
    u->n_regions = n;
    q->setup.registered_buffer_bytes = bytes;
    return 0;
}

/* Index of the registered range that holds the bytes, or -1. */
static int region_find(struct uring *u, const uint8_t *begin, uint32_t bytes)
{
    for (unsigned k = 0, i = u->last_region; k < u->n_regions; k++, i = i + 1 < u->n_regions ? i + 1 : 0) {
        const struct region *r = &u->regions[i];

        if (begin < r->begin || begin + bytes > r->begin + r->bytes)
            continue;
        u->last_region = i;
        return (int)i;
    }
    return -1;
}

/* Some kernels fail, or misplace, reads into registered memory at certain offsets: three reads from memory tell. */
static int probe_reads(struct uring *u, int fd, uint8_t *stage)
{
    static const struct {
        unsigned at, bytes;
    } reads[] = {{4096, 2048}, {6144, 2048}, {0, 4096}};
    int worst = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(reads); i++) {
        struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

        io_uring_prep_read_fixed(sqe, fd, stage + reads[i].at, reads[i].bytes, reads[i].at, 0);
        io_uring_sqe_set_data64(sqe, reads[i].bytes);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(reads); i++) {
        struct io_uring_cqe *cqe;
        int r;

        do
            r = io_uring_submit_and_wait(&u->ring, 1);
        while (r == -EINTR);
        if (r < 0 || io_uring_peek_cqe(&u->ring, &cqe) < 0)
            return -EIO;
        if (cqe->res != (int)cqe->user_data)
            worst = cqe->res < 0 ? cqe->res : -EIO;
        io_uring_cqe_seen(&u->ring, cqe);
    }
    return worst;
}

static int probe_registered(struct uring *u, uint8_t *stage)
{
    _cleanup_free_ uint8_t *pattern = malloc(PROBE_BYTES);
    _cleanup_fd_ int fd = memfd_create("spur-probe", MFD_CLOEXEC);
    int r;

    if (fd < 0 || !pattern)
        return -ENOMEM;
    for (unsigned i = 0; i < PROBE_BYTES; i++)
        pattern[i] = (uint8_t)(i * 31 + (i >> 8) + 1);
    if (pwrite(fd, pattern, PROBE_BYTES, 0) != (ssize_t)PROBE_BYTES)
        return -EIO;
    memset(stage, 0, PROBE_BYTES);
    r = probe_reads(u, fd, stage);
    return r ? r : memcmp(stage, pattern, PROBE_BYTES) ? -EILSEQ : 0;
}

static int buffers_open(struct uring *u, struct fanout_queue *q, struct spur_error *e)
{
    int r = buffers_register(u, q, e);

    if (r < 0 || !u->n_regions)
        return r;
    r = probe_registered(u, q->stage);
    if (r == 0)
        return 0;
    io_uring_unregister_buffers(&u->ring);
    u->n_regions = 0;
    q->setup.registered_buffer_bytes = 0;
    snprintf(q->setup.unregistered_reason, sizeof(q->setup.unregistered_reason),
             "this kernel reads registered buffers wrongly: %s", strerrordesc_np(-r));
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Backend
 */

static void uring_close(struct fanout_queue *q)
{
    struct uring *u = q->backend_state;

    if (!u)
        return;
    if (u->ring.ring_fd >= 0) {
        if (!pthread_equal(u->opener, pthread_self())) {
            /* The registered ring is the opener's: here its index would name another ring, or none. */
            u->ring.enter_ring_fd = u->ring.ring_fd;
            u->ring.int_flags = 0;
        }
        io_uring_queue_exit(&u->ring);
    }
    free(u->regions);
    free(u->file_ids);
    free(u);
    q->backend_state = NULL;
}

static int uring_open(struct fanout_queue *q, struct spur_error *e)
{
    struct uring *u = calloc(1, sizeof(*u));
    int r;

    if (!u)
        return error_errno(e, ENOMEM, "calloc", "ring");
    u->ring.ring_fd = -1;
    u->opener = pthread_self();
    u->async_min = q->setup.async_min;
    q->backend_state = u;
    r = ring_open(u, &q->setup, e);
    if (r < 0)
        u->ring.ring_fd = -1;
    if (!r)
        r = workers_limit(u, &q->setup, e);
    if (!r)
        r = files_register(u, q, e);
    if (!r)
        r = buffers_open(u, q, e);
    if (r < 0)
        uring_close(q);
    return r;
}

/* The kernel's reading and writing is invisible to sanitizers: say here what it will do. */
static void announce(const struct fanout_piece *p, uint8_t *at, uint32_t bytes)
{
#ifdef WITH_ASAN
    if (__asan_region_is_poisoned(at, bytes))
        __builtin_trap();
#endif
#ifdef WITH_TSAN
    if (p->write)
        __tsan_read_range(at, bytes);
    else
        __tsan_write_range(at, bytes);
#endif
}

static void uring_push(struct fanout_queue *q, uint32_t piece)
{
    struct uring *u = q->backend_state;
    const struct fanout_piece *p = &q->pieces[piece];
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring); /* as many entries as pieces: there is one */
    uint8_t *at = p->host + p->got;
    uint32_t bytes = p->io_bytes - p->got;
    int file = file_find(u, p->file);
    int region = region_find(u, at, bytes);
    int fd = file >= 0 ? 2 * file + p->buffered : p->buffered ? p->file->fd_buffered : p->file->fd;
    int op = region >= 0 ? (p->write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED)
                         : (p->write ? IORING_OP_WRITE : IORING_OP_READ);

    announce(p, at, bytes);
    io_uring_prep_rw(op, sqe, fd, at, bytes, p->io_offset + p->got);
    sqe->user_data = piece;
    sqe->buf_index = region >= 0 ? (uint16_t)region : 0;
    sqe->flags = (file >= 0 ? IOSQE_FIXED_FILE : 0) | (bytes >= u->async_min ? IOSQE_ASYNC : 0);
}

/* Interruptions and a full completion queue are no errors: what has landed is taken, then it is tried again. */
static int enter_result(struct fanout_queue *q, int r, struct spur_error *e)
{
    if (r >= 0 || r == -EINTR || r == -EAGAIN || r == -EBUSY || r == -ETIME) {
        struct uring *u = q->backend_state;

        q->n_unflushed = io_uring_sq_ready(&u->ring);
        return 0;
    }
    error_errno(e, -r, "io_uring_enter", "%u pieces under way", q->n_wire);
    if (r == -EEXIST)
        error_remedy(e, "a queue must be used by the thread that opened it");
    return r;
}

static int uring_flush(struct fanout_queue *q, struct spur_error *e)
{
    struct uring *u = q->backend_state;

    return enter_result(q, io_uring_submit(&u->ring), e);
}

static int take(struct uring *u, struct fanout_landed *landed, unsigned max)
{
    struct io_uring_cqe *cqes[MAX_PEEK];
    unsigned n = 0, k;

    do {
        k = io_uring_peek_batch_cqe(&u->ring, cqes, max - n < MAX_PEEK ? max - n : MAX_PEEK);
        for (unsigned i = 0; i < k; i++)
            landed[n + i] = (struct fanout_landed){(uint32_t)cqes[i]->user_data, cqes[i]->res};
        io_uring_cq_advance(&u->ring, k);
        n += k;
    } while (k == MAX_PEEK && n < max);
    return (int)n;
}

static int uring_reap(struct fanout_queue *q, struct fanout_landed *landed, unsigned max, unsigned wait,
                      uint64_t timeout_ns, struct spur_error *e)
{
    struct uring *u = q->backend_state;
    struct __kernel_timespec ts = {.tv_nsec = (long long)timeout_ns};
    struct io_uring_cqe *cqe;
    int n = take(u, landed, max), r;

    if (n || !wait)
        return n;
    if (timeout_ns && (u->ring.features & IORING_FEAT_EXT_ARG))
        r = io_uring_submit_and_wait_timeout(&u->ring, &cqe, wait, &ts, NULL);
    else
        r = io_uring_submit_and_wait(&u->ring, wait);
    r = enter_result(q, r, e);
    return r < 0 ? r : take(u, landed, max);
}

const struct fanout_backend fanout_uring = {
    .name = "uring",
    .probe = uring_probe,
    .open = uring_open,
    .close = uring_close,
    .push = uring_push,
    .flush = uring_flush,
    .reap = uring_reap,
};
