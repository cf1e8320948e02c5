/* SPDX-License-Identifier: MIT */
/* The fan-out engine as a path: its callbacks. fanout.h says what lies where. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"
#include "path/fanout.h"

/* ------------------------------------------------------------------------------------------------
 * Path
 */

/* Threads where io_uring is not offered, and then it is said. For files in memory the choice is made again when a queue
 * is opened (fanout_settings.c). */
static int choose_backend(struct fanout_path *f, struct spur_error *e)
{
    struct spur_error why;
    int r;

    f->backend = f->settings.engine == FANOUT_ENGINE_THREADS  ? &fanout_pool
                 : f->settings.engine == FANOUT_ENGINE_CALLER ? &fanout_caller
                                                              : &fanout_uring;
    r = f->backend->probe(&why);
    if (r == 0)
        return 0;
    if (f->settings.engine == FANOUT_ENGINE_AUTO && (r == -ENOSYS || r == -EPERM || r == -EACCES)) {
        f->backend = &fanout_pool;
        snprintf(f->backend_reason, sizeof(f->backend_reason), "%s: %.200s", why.operation, why.detail);
        return 0;
    }
    if (e)
        *e = why;
    return r;
}

static int fanout_open(struct spur_path *p, struct spur_error *e)
{
    struct fanout_path *f = calloc(1, sizeof(*f));
    int r;

    if (!f)
        return error_errno(e, ENOMEM, "calloc", "path fanout");
    r = fanout_settings_parse(p, &f->settings, e);
    if (!r)
        r = choose_backend(f, e);
    if (r < 0) {
        free(f);
        return r;
    }
    pthread_mutex_init(&f->lock, NULL);
    p->state = f;
    return 0;
}

static void fanout_close(struct spur_path *p)
{
    struct fanout_path *f = p->state;

    pthread_mutex_destroy(&f->lock);
    free(f->attached);
    free(f);
}

static int fanout_attach(struct spur_path *p, struct spur_buffer *b, struct spur_error *e)
{
    struct fanout_path *f = p->state;
    struct fanout_attached *grown = realloc(f->attached, (f->n_attached + 1) * sizeof(*grown));

    if (!grown)
        return error_errno(e, ENOMEM, "realloc", "attaching a buffer");
    grown[f->n_attached++] = (struct fanout_attached){b, gettid()};
    f->attached = grown;
    return 0;
}

static void fanout_detach(struct spur_path *p, struct spur_buffer *b)
{
    struct fanout_path *f = p->state;

    for (size_t i = 0; i < f->n_attached; i++) {
        if (f->attached[i].buffer != b)
            continue;
        memmove(&f->attached[i], &f->attached[i + 1], (f->n_attached - i - 1) * sizeof(*f->attached));
        f->n_attached--;
        return;
    }
}

/* ------------------------------------------------------------------------------------------------
 * File
 */

static int align_get(struct spur_file *f, struct spur_error *e)
{
    struct direct_align a;
    int r = direct_align_get(f->fd, f->filename, &a, e);

    if (r < 0)
        return r;
    if ((a.offset & (a.offset - 1)) || (a.memory & (a.memory - 1)))
        return error_errno(e, EOPNOTSUPP, "statx", "%s: O_DIRECT wants multiples of %u and %u, no powers of two",
                           f->filename, a.offset, a.memory);
    f->align = a.offset;
    f->align_address = a.memory;
    return 0;
}

static int open_descriptors(struct spur_file *f, bool direct, struct spur_error *e)
{
    bool write = f->flags & SPUR_FILE_WRITE;
    int r = f->fd = file_open_fd(f->filename, write, direct, e);

    if (r < 0)
        return r;
    r = file_size_get(f->fd, f->filename, &f->bytes, e);
    if (!r && direct)
        r = align_get(f, e);
    if (r < 0 || !write || f->align == 1)
        return r;
    f->fd_buffered = file_open_fd(f->filename, true, false, e);
    return f->fd_buffered < 0 ? f->fd_buffered : 0;
}

static void close_descriptors(struct spur_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->fd_buffered >= 0)
        close(f->fd_buffered);
    f->fd = f->fd_buffered = -1;
}

static int fanout_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    struct fanout_path *path = p->state;
    struct fanout_file *state = calloc(1, sizeof(*state));
    int r;

    if (!state)
        return error_errno(e, ENOMEM, "calloc", "%s", f->filename);
    r = open_descriptors(f, path->settings.direct, e);
    if (r == -EOPNOTSUPP)
        error_remedy(e, "set direct=no to go through the page cache, or use a file on another file system");
    if (r < 0) {
        close_descriptors(f);
        free(state);
        return r;
    }
    state->id = ++path->n_files_opened;
    f->state = state;
    return 0;
}

static void fanout_file_close(struct spur_file *f)
{
    close_descriptors(f);
    free(f->state);
}

static void fanout_limits(const struct spur_file *f, struct spur_limits *limits)
{
    limits->max_depth = FANOUT_MAX_DEPTH;
}

/* ------------------------------------------------------------------------------------------------
 * Queue
 */

/* Staging for host memory is no source of GPU copies: ordinary memory, populated. */
static int stage_alloc(struct fanout_queue *q, struct spur_error *e)
{
    void *stage;
    int r = 0;

    if (q->is_device) {
        r = q->memory->stage_alloc(q->queue->memory, q->setup.stage_bytes, &stage, e);
    } else {
        stage =
            mmap(NULL, q->setup.stage_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (stage == MAP_FAILED)
            r = error_errno(e, errno, "mmap", "%llu bytes of staging", (unsigned long long)q->setup.stage_bytes);
    }
    if (r < 0)
        return r;
    q->stage = stage;
    return 0;
}

static void stage_free(struct fanout_queue *q)
{
    if (!q->stage)
        return;
    if (q->is_device)
        q->memory->stage_free(q->queue->memory, q->stage, q->setup.stage_bytes);
    else
        munmap(q->stage, q->setup.stage_bytes);
}

static int queue_set_up(struct fanout_queue *q, struct spur_error *e)
{
    int r = fanout_setup_decide(q, e);

    if (!r)
        r = fanout_queue_init(q, e);
    if (!r)
        r = stage_alloc(q, e);
    if (!r)
        r = q->memory->stream_open(q->queue->memory, FANOUT_BATCHES + 1, &q->stream, e);
    if (!r)
        r = q->backend->open(q, e);
    return r;
}

static void queue_tear_down(struct fanout_queue *q)
{
    if (q->backend_state)
        q->backend->close(q);
    if (q->stream)
        q->memory->stream_close(q->stream);
    if (!q->n_wire) /* else the ring broke and the kernel may still write there: rather lost than overwritten */
        stage_free(q);
    fanout_queue_free(q);
    free(q);
}

/* What one queue could not register is not said to be registered. */
static void publish(struct fanout_queue *q)
{
    struct fanout_path *f = q->path;
    struct fanout_setup before;

    pthread_mutex_lock(&f->lock);
    before = f->setup;
    f->setup = q->setup;
    if (f->n_queues_opened++) {
        f->setup.registered_files &= before.registered_files;
        if (!before.registered_buffer_bytes) {
            f->setup.registered_buffer_bytes = 0;
            memcpy(f->setup.unregistered_reason, before.unregistered_reason, sizeof(before.unregistered_reason));
        }
    }
    q->next = f->queues;
    f->queues = q;
    pthread_mutex_unlock(&f->lock);
}

static int fanout_queue_open(struct spur_queue *queue, struct spur_error *e)
{
    struct fanout_queue *q = calloc(1, sizeof(*q));
    int r;

    if (!q)
        return error_errno(e, ENOMEM, "calloc", "opening a queue");
    if (queue->depth > FANOUT_MAX_DEPTH) {
        free(q);
        return error_spur(e, SPUR_CODE_USAGE, "depth", "fanout keeps at most %u requests in flight, not %u",
                          FANOUT_MAX_DEPTH, queue->depth);
    }
    q->queue = queue;
    q->path = queue->path->state;
    q->memory = queue->memory->ops;
    q->is_device = q->memory->is_device;
    q->backend = q->path->backend;
    r = queue_set_up(q, e);
    if (r < 0) {
        queue_tear_down(q);
        return r;
    }
    queue->state = q;
    publish(q);
    return 0;
}

static void fanout_queue_close(struct spur_queue *queue)
{
    struct fanout_queue *q = queue->state;
    struct fanout_queue **link = &q->path->queues;

    fanout_queue_drain(q);
    pthread_mutex_lock(&q->path->lock);
    while (*link != q)
        link = &(*link)->next;
    *link = q->next;
    fanout_stats_add(&q->path->closed, &q->stats);
    pthread_mutex_unlock(&q->path->lock);
    queue_tear_down(q);
}

static int fanout_submit(struct spur_queue *queue, const struct spur_request *requests, unsigned n,
                         struct spur_error *e)
{
    struct fanout_queue *q = queue->state;

    if (q->broken) {
        if (e)
            *e = q->broken_error;
        return q->broken;
    }
    fanout_queue_accept(q, requests, n);
    fanout_queue_flush(q);
    return (int)n;
}

static int fanout_reap(struct spur_queue *queue, struct spur_completion *completions, unsigned max, unsigned min,
                       struct spur_error *e)
{
    return fanout_queue_reap(queue->state, completions, max, min, e);
}

/* Not flushed at once: the waiting does that too, in one system call. */
static int64_t fanout_transfer(struct spur_queue *queue, const struct spur_request *request, struct spur_error *e)
{
    struct fanout_queue *q = queue->state;
    struct spur_completion done = {0};
    int r = q->broken;

    if (!r) {
        fanout_queue_accept(q, request, 1);
        r = fanout_queue_reap(q, &done, 1, 1, e);
    } else if (e) {
        *e = q->broken_error;
    }
    if (r < 0)
        return r;
    if (done.result < 0 && e)
        *e = queue->error;
    return done.result;
}

const struct path_ops fanout_path = {
    .name = "fanout",
    .summary = "requests split into pieces, many in flight from one thread, each copied as it lands",
    .settings = fanout_setting_rows,
    .observed = SPUR_OBSERVED_HOST,
    .takes_segments = true,
    .open = fanout_open,
    .close = fanout_close,
    .file_open = fanout_file_open,
    .file_close = fanout_file_close,
    .limits = fanout_limits,
    .attach = fanout_attach,
    .detach = fanout_detach,
    .queue_open = fanout_queue_open,
    .queue_close = fanout_queue_close,
    .transfer = fanout_transfer,
    .submit = fanout_submit,
    .reap = fanout_reap,
    .effective = fanout_effective,
    .evidence = fanout_evidence,
};
