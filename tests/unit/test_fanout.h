/* SPDX-License-Identifier: MIT */
/* A file of known bytes, and fanout opened on it with given settings; shared by the tests of the engine. */
#ifndef SPUR_TEST_FANOUT_H
#define SPUR_TEST_FANOUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util.h"
#include "path/fanout.h"

#define POISON 0xa5

static uint64_t random_state = 1;

static inline uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static inline void draw_bytes(uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(draw(1u << 20) >> 5);
}

/* Where files are: on a disk as a rule, and in memory. */
static inline const char *place_name(unsigned place)
{
    const char *tmp = getenv("TMPDIR");

    return place == 1 ? "/dev/shm" : tmp ? tmp : "/tmp";
}

/* 77 with the reason where the kernel does not offer io_uring, else 0. */
static inline int need_ring(void)
{
    struct spur_error e = {0};

    if (fanout_uring.probe(&e) == 0)
        return 0;
    print_message("skipped: %s: %s\n", e.operation, e.detail);
    return 77;
}

struct rig {
    char directory[200], filename[220];
    uint8_t *image; /* what the file must hold */
    uint64_t bytes, room;
    struct spur_memory *memory;
    struct spur_path *path;
    struct spur_file *file;
    struct spur_buffer *buffer;
    struct spur_queue *queue;
    struct fanout_backend backend; /* a copy to be changed by the test */
};

/* A file of @bytes, and room for it to grow to @room. */
static inline void rig_file(struct rig *g, unsigned place, uint64_t bytes, uint64_t room)
{
    int fd;

    snprintf(g->directory, sizeof(g->directory), "%s/spur-fanout.XXXXXX", place_name(place));
    if (!mkdtemp(g->directory))
        fail_msg("%s: %s", g->directory, strerror(errno));
    snprintf(g->filename, sizeof(g->filename), "%s/f", g->directory);
    g->image = calloc(1, room);
    draw_bytes(g->image, bytes);
    g->bytes = bytes;
    g->room = room;
    fd = open(g->filename, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, g->image, bytes, 0), bytes);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    close(fd);
}

static inline void rig_file_gone(struct rig *g)
{
    unlink(g->filename);
    rmdir(g->directory);
    free(g->image);
}

struct rig_options {
    const char *memory;
    unsigned depth;
    bool write;
    size_t max_request, buffer;
    const struct spur_key_value *settings;
    size_t n_settings;
};

/* 0, or the code of the call that failed. */
static inline int rig_try(struct rig *g, const struct rig_options *o, struct spur_error *e)
{
    struct spur_path_options options = {sizeof(options), o->settings, o->n_settings, 1, o->max_request};
    unsigned flags = o->write ? SPUR_FILE_WRITE : 0;
    int r;

    if ((r = spur_memory_open(o->memory, &g->memory, e)) < 0 ||
        (r = spur_path_open("fanout", &options, &g->path, e)) < 0 ||
        (r = spur_file_open(g->path, g->filename, flags, &g->file, e)) < 0 ||
        (r = spur_buffer_alloc(g->memory, o->buffer, &g->buffer, e)) < 0 ||
        (r = spur_buffer_attach(g->path, g->buffer, e)) < 0)
        return r;
    return spur_queue_open(g->path, g->memory, o->depth, &g->queue, e);
}

static inline void rig_close(struct rig *g)
{
    spur_queue_close(g->queue);
    if (g->buffer && g->path)
        spur_buffer_detach(g->path, g->buffer);
    spur_buffer_free(g->buffer);
    spur_file_close(g->file);
    spur_path_close(g->path);
    spur_memory_close(g->memory);
    g->queue = NULL;
    g->buffer = NULL;
    g->file = NULL;
    g->path = NULL;
    g->memory = NULL;
}

static inline void rig_open(struct rig *g, const struct rig_options *o)
{
    struct spur_error e = {0};

    if (rig_try(g, o, &e) < 0)
        fail_msg("%s: %s: %s (%s)", o->memory, e.operation, e.detail, e.remedy);
}

static inline struct fanout_queue *engine(struct rig *g)
{
    return g->queue->state;
}

/* From now on the queue uses g->backend, which the test may change. */
static inline void rig_own_backend(struct rig *g)
{
    g->backend = *engine(g)->backend;
    engine(g)->backend = &g->backend;
}

/* What the buffer holds from @at on. To be freed. */
static inline uint8_t *buffer_bytes(struct rig *g, uint64_t at, size_t n)
{
    uint8_t *got = malloc(n);

    assert_int_equal(spur_buffer_read(g->buffer, at, got, n, NULL), 0);
    return got;
}

static inline void poison(struct rig *g)
{
    uint8_t *bytes = malloc(g->buffer->bytes);

    memset(bytes, POISON, g->buffer->bytes);
    assert_int_equal(spur_buffer_write(g->buffer, 0, bytes, g->buffer->bytes, NULL), 0);
    free(bytes);
}

static inline struct spur_request request(struct rig *g, enum spur_op op, uint64_t offset, uint64_t length, uint64_t at,
                                          uint64_t user_data)
{
    return (struct spur_request){.op = op,
                                 .file = g->file,
                                 .offset = offset,
                                 .length = length,
                                 .buffer = g->buffer,
                                 .buffer_offset = at,
                                 .user_data = user_data};
}

/* A fact by its key, as text; "" for null, NULL: none. */
struct wanted_fact {
    const char *key;
    bool found;
    char value[300], reason[300];
};

static inline void find_fact(void *context, const struct path_fact *fact)
{
    struct wanted_fact *w = context;

    if (strcmp(fact->key, w->key))
        return;
    w->found = true;
    snprintf(w->value, sizeof(w->value), "%s", fact->value ? fact->value : "");
    snprintf(w->reason, sizeof(w->reason), "%s", fact->reason ? fact->reason : "");
}

static inline struct wanted_fact effective(struct rig *g, const char *key)
{
    struct wanted_fact w = {.key = key};

    g->path->ops->effective(g->path, find_fact, &w);
    if (!w.found)
        fail_msg("no effective fact %s", key);
    return w;
}

static inline uint64_t evidence(struct rig *g, const char *key)
{
    struct wanted_fact w = {.key = key};

    g->path->ops->evidence(g->path, find_fact, &w);
    if (!w.found || !*w.value)
        fail_msg("no evidence %s", key);
    return strtoull(w.value, NULL, 10);
}

/* The file holds the image and not a byte more: in the page cache, and on the disk. */
static inline void assert_file(struct rig *g)
{
    uint8_t *got = malloc(g->room + 1);
    int fd = open(g->filename, O_RDONLY | O_CLOEXEC);

    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(pread(fd, got, g->room + 1, 0), g->bytes);
        for (uint64_t i = 0; i < g->bytes; i++)
            if (got[i] != g->image[i])
                fail_msg("file differs at byte %llu (%s)", (unsigned long long)i, pass ? "disk" : "cache");
        fdatasync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    close(fd);
    free(got);
}

#endif
