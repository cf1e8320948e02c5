/* SPDX-License-Identifier: MIT */
/*
 * The library by its public calls: every path that moves bytes, over every memory, on a file of an odd size: whole and
 * in part, aligned as its limits say, with segments; bounds and limits are kept; each accepted request completes once.
 */
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

#include "spur.h"

#define FILE_BYTES (1000000u + 777u)
#define POISON     0xa5

static const char *const paths[] = {"buffered", "mmap", "odirect", "fanout"};
static const char *const memories[] = {"pageable", "pinned", "emulated", "cuda:0"};
static char filename[100];
static uint8_t content[FILE_BYTES];

struct rig {
    struct spur_memory *memory;
    struct spur_path *path;
    struct spur_file *file;
    struct spur_buffer *buffer;
    struct spur_queue *queue;
    struct spur_limits limits;
};

#define BUFFER_BYTES (1u << 20)

static void rig_open(struct rig *g, const char *path, const char *memory, unsigned flags, unsigned depth)
{
    struct spur_error e = {0};
    struct spur_path_options options = {.size = sizeof(options), .max_request_bytes = BUFFER_BYTES};
    uint8_t *poison = malloc(BUFFER_BYTES);

    memset(poison, POISON, BUFFER_BYTES);
    if (spur_memory_open(memory, &g->memory, &e) < 0)
        fail_msg("%s: %s", memory, e.detail);
    if (spur_path_open(path, &options, &g->path, &e) < 0 || spur_file_open(g->path, filename, flags, &g->file, &e) < 0)
        fail_msg("%s: %s", path, e.detail);
    g->limits.size = sizeof(g->limits);
    spur_file_limits(g->file, &g->limits);
    if (depth > g->limits.max_depth)
        depth = g->limits.max_depth;
    assert_int_equal(spur_buffer_alloc(g->memory, BUFFER_BYTES, &g->buffer, &e), 0);
    assert_int_equal(spur_buffer_write(g->buffer, 0, poison, BUFFER_BYTES, &e), 0);
    assert_int_equal(spur_buffer_attach(g->path, g->buffer, &e), 0);
    if (spur_queue_open(g->path, g->memory, depth, &g->queue, &e) < 0)
        fail_msg("%s, %s: %s", path, memory, e.detail);
    free(poison);
}

static void rig_close(struct rig *g)
{
    spur_queue_close(g->queue);
    spur_buffer_detach(g->path, g->buffer);
    spur_buffer_free(g->buffer);
    spur_file_close(g->file);
    spur_path_close(g->path);
    spur_memory_close(g->memory);
}

/* Bytes [at, at + n) of the buffer are those of the file at @offset, and the poison after them is untouched. */
static void assert_moved(struct rig *g, uint64_t at, uint64_t offset, size_t n)
{
    uint8_t *got = malloc(n + 64);

    assert_int_equal(spur_buffer_read(g->buffer, at, got, n + 64, NULL), 0);
    assert_memory_equal(got, content + offset, n);
    for (size_t i = n; i < n + 64; i++)
        assert_int_equal(got[i], POISON);
    free(got);
}

static void read_piece(const char *path, const char *memory, uint64_t offset, uint64_t length, uint64_t expected)
{
    struct spur_error e = {0};
    struct rig g = {0};
    int64_t n;

    rig_open(&g, path, memory, 0, 1);
    struct spur_request r = {
        .op = SPUR_OP_READ, .file = g.file, .offset = offset, .length = length, .buffer = g.buffer};

    n = spur_queue_transfer(g.queue, &r, &e);
    if (n != (int64_t)expected)
        fail_msg("%s, %s, %llu at %llu: %lld (%s)", path, memory, (unsigned long long)length,
                 (unsigned long long)offset, (long long)n, e.detail);
    assert_moved(&g, 0, offset, (size_t)n);
    rig_close(&g);
}

static void for_all(void (*f)(const char *path, const char *memory))
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        for (size_t k = 0; k < sizeof(memories) / sizeof(memories[0]); k++)
            f(paths[i], memories[k]);
}

static void whole_and_tail(const char *path, const char *memory)
{
    read_piece(path, memory, 0, FILE_BYTES, FILE_BYTES);
    read_piece(path, memory, 4096, 8192, 8192);
    read_piece(path, memory, 999424, FILE_BYTES - 999424, FILE_BYTES - 999424); /* to the end of an odd size */
}

static void test_whole_and_tail(void **state)
{
    for_all(whole_and_tail);
}

/* A request past the end gives the bytes that there are, and the rest of the destination stays as it was. */
static void past_the_end(const char *path, const char *memory)
{
    read_piece(path, memory, 999424, 8192, FILE_BYTES - 999424);
}

static void test_past_the_end(void **state)
{
    for_all(past_the_end);
}

static void test_unaligned(void **state)
{
    static const struct {
        uint64_t offset, length;
    } cases[] = {{1, 1}, {511, 2}, {4095, 4097}, {8199, 777}, {12345, 300000}, {FILE_BYTES - 1, 1}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (size_t k = 0; k < sizeof(memories) / sizeof(memories[0]); k++) {
            read_piece("buffered", memories[k], cases[c].offset, cases[c].length, cases[c].length);
            read_piece("mmap", memories[k], cases[c].offset, cases[c].length, cases[c].length);
            read_piece("fanout", memories[k], cases[c].offset, cases[c].length, cases[c].length);
        }
}

static void segments(const char *path, const char *memory)
{
    struct spur_error e = {0};
    struct rig g = {0};
    int64_t n;

    rig_open(&g, path, memory, 0, 1);
    const struct spur_segment s[3] = {{g.buffer, 65536, 4096}, {g.buffer, 0, 8192}, {g.buffer, 131072, 12288}};
    struct spur_request r = {
        .op = SPUR_OP_READ, .file = g.file, .offset = 8192, .length = 24576, .segments = s, .n_segments = 3};

    n = spur_queue_transfer(g.queue, &r, &e);
    if (n != 24576)
        fail_msg("%s, %s: %lld (%s)", path, memory, (long long)n, e.detail);
    assert_moved(&g, 65536, 8192, 4096);
    assert_moved(&g, 0, 12288, 8192);
    assert_moved(&g, 131072, 20480, 12288);
    rig_close(&g);
}

static void test_segments(void **state)
{
    for_all(segments);
}

static void write_and_compare(const char *path, const char *memory)
{
    struct spur_error e = {0};
    struct rig g = {0};
    uint8_t fresh[16384], *back = malloc(FILE_BYTES);
    int fd;

    for (size_t i = 0; i < sizeof(fresh); i++)
        fresh[i] = (uint8_t)(rand() >> 7);
    rig_open(&g, path, memory, SPUR_FILE_WRITE, 1);
    struct spur_request r = {.op = SPUR_OP_WRITE,
                             .file = g.file,
                             .offset = 40960,
                             .length = sizeof(fresh),
                             .buffer = g.buffer,
                             .buffer_offset = 4096};

    assert_int_equal(spur_buffer_write(g.buffer, 4096, fresh, sizeof(fresh), &e), 0);
    if (spur_queue_transfer(g.queue, &r, &e) != (int64_t)sizeof(fresh))
        fail_msg("%s, %s: %s", path, memory, e.detail);
    rig_close(&g);
    memcpy(content + 40960, fresh, sizeof(fresh));
    fd = open(filename, O_RDONLY);
    assert_int_equal(read(fd, back, FILE_BYTES), FILE_BYTES); /* nothing else changed, the size neither */
    assert_int_equal(read(fd, fresh, 1), 0);
    assert_memory_equal(back, content, FILE_BYTES);
    close(fd);
    free(back);
}

static void test_write(void **state)
{
    for_all(write_and_compare);
}

/* submit and reap on every path: what was accepted completes once, what was not does not. */
static void queued(const char *path, const char *memory)
{
    struct spur_error e = {0};
    struct rig g = {0};
    struct spur_request r[8];
    struct spur_completion done[8];
    unsigned submitted = 0, completed = 0, seen[8] = {0};

    rig_open(&g, path, memory, 0, 4);
    for (unsigned i = 0; i < 8; i++)
        r[i] = (struct spur_request){.op = SPUR_OP_READ,
                                     .file = g.file,
                                     .offset = 65536 * i,
                                     .length = 65536,
                                     .buffer = g.buffer,
                                     .buffer_offset = 65536 * i,
                                     .user_data = i};
    while (completed < 8) {
        int n = submitted < 8 ? spur_queue_submit(g.queue, r + submitted, 8 - submitted, &e) : 0;

        assert_true(n >= 0 || n == -EAGAIN);
        submitted += n > 0 ? (unsigned)n : 0;
        n = spur_queue_reap(g.queue, done, 8, 1, &e);
        assert_true(n > 0);
        for (int i = 0; i < n; i++) {
            assert_int_equal(done[i].result, 65536);
            assert_int_equal(seen[done[i].user_data]++, 0);
        }
        completed += (unsigned)n;
        assert_true(completed <= submitted);
    }
    assert_int_equal(spur_queue_reap(g.queue, done, 8, 1, &e), 0);
    for (unsigned i = 0; i < 7; i++) {
        uint8_t got[65536];

        assert_int_equal(spur_buffer_read(g.buffer, 65536 * i, got, sizeof(got), &e), 0);
        assert_memory_equal(got, content + 65536 * i, sizeof(got));
    }
    rig_close(&g);
}

static void test_queued(void **state)
{
    for_all(queued);
}

static void test_limits_kept(void **state)
{
    struct spur_error e = {0};
    struct rig g = {0};
    struct spur_request r;
    struct spur_queue *q;

    rig_open(&g, "odirect", "pinned", 0, 1);
    r = (struct spur_request){.op = SPUR_OP_READ, .file = g.file, .length = 4096, .buffer = g.buffer};
    if (g.limits.offset_align > 1) {
        r.offset = 1;
        assert_int_equal(spur_queue_submit(g.queue, &r, 1, &e), -EINVAL);
        assert_non_null(strstr(e.detail, "multiple of"));
        r.offset = 0;
        r.length = 4097;
        assert_int_equal(spur_queue_transfer(g.queue, &r, &e), -EINVAL);
    }
    r.length = 0;
    assert_int_equal(spur_queue_submit(g.queue, &r, 1, &e), -EINVAL);
    r.length = 4096;
    r.buffer_offset = BUFFER_BYTES - 512;
    assert_int_equal(spur_queue_submit(g.queue, &r, 1, &e), -EINVAL); /* past the end of the buffer */
    r.buffer_offset = UINT64_MAX - 511;
    assert_int_equal(spur_queue_submit(g.queue, &r, 1, &e), -EINVAL);
    r.buffer_offset = 0;
    r.op = SPUR_OP_WRITE; /* the file was opened for reading */
    assert_int_equal(spur_queue_submit(g.queue, &r, 1, &e), -EINVAL);
    assert_int_equal(spur_queue_open(g.path, g.memory, 2, &q, &e), -EINVAL);
    assert_non_null(strstr(e.detail, "at most 1 request"));
    assert_int_equal(spur_queue_open(g.path, g.memory, 0, &q, &e), -EINVAL);
    rig_close(&g);
}

static void test_bad_names(void **state)
{
    struct spur_path_options options = {.size = sizeof(options)};
    const struct spur_key_value unknown = {"no-such-key", "1"};
    struct spur_error e = {0};
    struct spur_memory *m;
    struct spur_path *p;
    struct spur_file *f;

    assert_int_equal(spur_memory_open("cuda:x", &m, &e), -EINVAL);
    assert_int_equal(spur_memory_open("pinned:0", &m, &e), -EINVAL);
    assert_int_equal(spur_path_open("direct", &options, &p, &e), -EINVAL);
    options.settings = &unknown;
    options.n_settings = 1;
    assert_int_equal(spur_path_open("odirect", &options, &p, &e), -EINVAL);
    assert_non_null(strstr(e.detail, "no-such-key"));
    assert_int_equal(spur_path_open("buffered", NULL, &p, &e), 0);
    assert_int_equal(spur_file_open(p, "/no/such/file", 0, &f, &e), -ENOENT);
    assert_non_null(strstr(e.detail, "/no/such/file"));
    spur_path_close(p);
}

/* A file that shrinks under a path gives an error that says so, also from a mapping. */
static void truncated(const char *path, const char *memory)
{
    struct spur_error e = {0};
    struct rig g = {0};
    int fd = open(filename, O_RDWR);
    int64_t n;

    rig_open(&g, path, memory, 0, 1);
    struct spur_request r = {.op = SPUR_OP_READ, .file = g.file, .offset = 524288, .length = 65536, .buffer = g.buffer};

    assert_int_equal(ftruncate(fd, 100000), 0);
    n = spur_queue_transfer(g.queue, &r, &e);
    if (n != -EIO || !strstr(e.detail, filename))
        fail_msg("%s, %s: %lld (%s)", path, memory, (long long)n, e.detail);
    rig_close(&g);
    assert_int_equal(pwrite(fd, content, FILE_BYTES, 0), FILE_BYTES);
    fsync(fd);
    close(fd);
}

static void test_truncated(void **state)
{
    for_all(truncated);
}

static int make_file(void **state)
{
    const char *dir = getenv("TMPDIR");
    int fd;

    snprintf(filename, sizeof(filename), "%.60s/spur-paths.XXXXXX", dir ? dir : ".");
    fd = mkstemp(filename);
    for (size_t i = 0; i < FILE_BYTES; i++)
        content[i] = (uint8_t)(rand() >> 5);
    if (fd < 0 || write(fd, content, FILE_BYTES) != FILE_BYTES || fsync(fd) < 0)
        return -1;
    close(fd);
    return 0;
}

static int remove_file(void **state)
{
    return unlink(filename);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_and_tail), cmocka_unit_test(test_past_the_end), cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_write),        cmocka_unit_test(test_queued),
        cmocka_unit_test(test_limits_kept),    cmocka_unit_test(test_bad_names),    cmocka_unit_test(test_truncated),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
