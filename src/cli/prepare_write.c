/* SPDX-License-Identifier: MIT */
/*
 * Threads take chunks of the file in order, fill a buffer and write it past the page cache. More threads than the disk
 * needs: while one fills, another writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/prepare.h"
#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"

#define CHUNK_BYTES (4u << 20)
#define TICK_NS     100000000u /* between looks at the stop flag and the progress */

struct engine {
    struct prepare_writer *writer;
    uint64_t body_bytes; /* written by the threads; with O_DIRECT the odd end is left */
    uint64_t next_chunk; /* atomic */
    uint64_t done_bytes; /* atomic */
    bool direct;         /* atomic; falls to false where the file system takes the flag but refuses the writes */
    bool in_memory;
    bool failed; /* atomic */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned n_running;      /* under mutex */
    struct spur_error error; /* the first one; under mutex */
    int result;
};

struct lane {
    struct engine *engine;
    pthread_t thread;
    void *buffer;
    uint64_t last_offset; /* of the last chunk that went into the page cache */
    uint64_t last_bytes;
};

static void fill_content(const struct prepare_content *c, void *buffer, size_t bytes, uint64_t offset)
{
    struct pattern_fill fill = {
        .uuid = {c->uuid[0], c->uuid[1]},
        .offset = offset,
        .generation = c->generation,
        .key_seed = c->seed + offset / PATTERN_BLOCK * PATTERN_STEP,
    };

    pattern_fill_range(buffer, bytes, &fill);
}

/* The first block of a file that is not whole yet. */
static void set_unfinished(void *block)
{
    struct pattern_header *h = block;

    h->magic = PATTERN_MAGIC_PART;
    h->checksum = pattern_checksum(h);
}

static int sync_file(int fd, const char *name, struct spur_error *e)
{
    if (fsync(fd) == 0)
        return 0;
    error_errno(e, errno, "fsync", "%s", name);
    error_remedy(e, "the storage did not keep what was written; look at the kernel's log");
    return -e->code;
}

static int write_first(int fd, const char *name, const struct prepare_content *c, size_t bytes, bool unfinished,
                       struct spur_error *e)
{
    uint64_t block[PATTERN_BLOCK / 8];
    int64_t r;

    fill_content(c, block, sizeof(block), 0);
    if (unfinished)
        set_unfinished(block);
    r = file_write(fd, name, block, bytes < sizeof(block) ? bytes : sizeof(block), 0, e);
    return r < 0 ? (int)r : sync_file(fd, name, e);
}

int prepare_mark(int fd, const char *name, const struct prepare_content *c, size_t bytes, struct spur_error *e)
{
    return write_first(fd, name, c, bytes, true, e);
}

int prepare_seal(int fd, const char *name, const struct prepare_content *c, struct spur_error *e)
{
    return write_first(fd, name, c, c->bytes < PATTERN_BLOCK ? (size_t)c->bytes : PATTERN_BLOCK, false, e);
}

/* ------------------------------------------------------------------------------------------------
 * Threads
 */

/* Pages of the lane's last chunk go to the disk and out of the cache; those of the new one start on their way. */
static void push_out(struct lane *l, uint64_t offset, uint64_t bytes)
{
    int fd = l->engine->writer->fd;

    if (l->engine->in_memory)
        return;
    if (bytes)
        sync_file_range(fd, (off_t)offset, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
    if (l->last_bytes) {
        sync_file_range(fd, (off_t)l->last_offset, (off_t)l->last_bytes,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        posix_fadvise(fd, (off_t)l->last_offset, (off_t)l->last_bytes, POSIX_FADV_DONTNEED);
    }
    l->last_offset = offset;
    l->last_bytes = bytes;
}

static int write_chunk(struct lane *l, uint64_t offset, size_t bytes, struct spur_error *e)
{
    struct engine *g = l->engine;
    const struct prepare_writer *w = g->writer;
    int64_t r;

    fill_content(&w->content, l->buffer, bytes, offset);
    if (offset == 0 && bytes >= PATTERN_HEADER)
        set_unfinished(l->buffer);
    r = file_write(w->fd, w->name, l->buffer, bytes, offset, e);
    if (r == -EINVAL) {
        __atomic_store_n(&g->direct, false, __ATOMIC_RELAXED);
        file_set_direct(w->fd, false);
        r = file_write(w->fd, w->name, l->buffer, bytes, offset, e);
    }
    if (r < 0)
        return (int)r;
    if (!__atomic_load_n(&g->direct, __ATOMIC_RELAXED))
        push_out(l, offset, bytes);
    __atomic_fetch_add(&g->done_bytes, bytes, __ATOMIC_RELAXED);
    return 0;
}

static int write_chunks(struct lane *l, struct spur_error *e)
{
    struct engine *g = l->engine;
    int r = 0;

    while (!r && !*g->writer->stop && !__atomic_load_n(&g->failed, __ATOMIC_RELAXED)) {
        uint64_t offset = __atomic_fetch_add(&g->next_chunk, 1, __ATOMIC_RELAXED) * CHUNK_BYTES;
        uint64_t rest = offset < g->body_bytes ? g->body_bytes - offset : 0;

        if (!rest)
            break;
        r = write_chunk(l, offset, rest < CHUNK_BYTES ? (size_t)rest : CHUNK_BYTES, e);
    }
    push_out(l, 0, 0);
    return r;
}

static void *lane_main(void *arg)
{
    struct lane *l = arg;
    struct engine *g = l->engine;
    struct spur_error e = {0};
    int r = write_chunks(l, &e);

    pthread_mutex_lock(&g->mutex);
    if (r < 0 && !g->result) {
        g->result = r;
        g->error = e;
    }
    if (r < 0)
        __atomic_store_n(&g->failed, true, __ATOMIC_RELAXED);
    g->n_running--;
    pthread_cond_signal(&g->changed);
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

static int start_lane(struct lane *l, struct engine *g, struct spur_error *e)
{
    int r;

    l->engine = g;
    l->buffer = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l->buffer == MAP_FAILED)
        return error_errno(e, ENOMEM, "mmap", "buffer of a writing thread");
    pthread_mutex_lock(&g->mutex);
    g->n_running++;
    pthread_mutex_unlock(&g->mutex);
    r = pthread_create(&l->thread, NULL, lane_main, l);
    if (!r)
        return 0;
    munmap(l->buffer, CHUNK_BYTES);
    pthread_mutex_lock(&g->mutex);
    g->n_running--;
    pthread_mutex_unlock(&g->mutex);
    error_errno(e, r, "pthread_create", "writing thread");
    error_remedy(e, "use fewer --threads");
    return -r;
}

static void wait_for_lanes(struct engine *g)
{
    const struct prepare_writer *w = g->writer;
    struct timespec until;

    pthread_mutex_lock(&g->mutex);
    while (g->n_running) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&g->changed, &g->mutex, &until);
        if (w->progress)
            w->progress(w->context, __atomic_load_n(&g->done_bytes, __ATOMIC_RELAXED));
    }
    pthread_mutex_unlock(&g->mutex);
}

static int run_lanes(struct engine *g, struct spur_error *e)
{
    uint64_t n_chunks = (g->body_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    unsigned n = g->writer->n_threads < n_chunks ? g->writer->n_threads : (unsigned)n_chunks;
    _cleanup_free_ struct lane *lanes = calloc(n + 1, sizeof(*lanes));
    unsigned n_started = 0;
    int r = lanes ? 0 : error_errno(e, ENOMEM, "calloc", "writing threads");

    while (!r && n_started < n) {
        r = start_lane(&lanes[n_started], g, e);
        n_started += !r;
    }
    if (r < 0)
        __atomic_store_n(&g->failed, true, __ATOMIC_RELAXED);
    wait_for_lanes(g);
    for (unsigned i = 0; i < n_started; i++) {
        pthread_join(lanes[i].thread, NULL);
        munmap(lanes[i].buffer, CHUNK_BYTES);
    }
    if (!r && g->result) {
        r = g->result;
        *e = g->error;
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

static void choose_direct(struct engine *g)
{
    struct prepare_writer *w = g->writer;
    struct direct_align align;
    uint64_t multiple;

    g->in_memory = file_in_memory(w->fd);
    g->body_bytes = w->content.bytes;
    if (g->in_memory || file_set_direct(w->fd, true) < 0)
        return;
    if (direct_align_get(w->fd, w->name, &align, NULL) < 0) {
        file_set_direct(w->fd, false);
        return;
    }
    multiple = align.offset > PATTERN_BLOCK ? align.offset : PATTERN_BLOCK;
    g->body_bytes = round_down(w->content.bytes, multiple);
    g->direct = true;
}

/* What O_DIRECT could not write: less than a block or so at the end. */
static int write_end(struct engine *g, struct spur_error *e)
{
    const struct prepare_writer *w = g->writer;
    uint64_t rest = w->content.bytes - g->body_bytes;
    _cleanup_free_ void *buffer = NULL;
    int64_t r;

    file_set_direct(w->fd, false);
    if (!rest)
        return 0;
    buffer = malloc(rest + PATTERN_BLOCK);
    if (!buffer)
        return error_errno(e, ENOMEM, "malloc", "end of %s", w->name);
    fill_content(&w->content, buffer, rest, g->body_bytes);
    if (g->body_bytes == 0 && rest >= PATTERN_HEADER)
        set_unfinished(buffer);
    r = file_write(w->fd, w->name, buffer, rest, g->body_bytes, e);
    return r < 0 ? (int)r : 0;
}

int prepare_write(struct prepare_writer *w, struct spur_error *e)
{
    struct engine g = {.writer = w};
    pthread_condattr_t attr;
    int r;

    pthread_mutex_init(&g.mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&g.changed, &attr);
    pthread_condattr_destroy(&attr);
    choose_direct(&g);
    r = run_lanes(&g, e);
    w->direct = g.direct;
    if (!r && *w->stop)
        r = -EINTR;
    if (!r)
        r = write_end(&g, e);
    if (!r)
        r = sync_file(w->fd, w->name, e);
    if (!r)
        posix_fadvise(w->fd, 0, 0, POSIX_FADV_DONTNEED);
    pthread_cond_destroy(&g.changed);
    pthread_mutex_destroy(&g.mutex);
    return r;
}
