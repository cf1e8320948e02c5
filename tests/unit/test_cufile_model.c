/* SPDX-License-Identifier: MIT */
/*
 * The mechanisms of the fake libcufile, with drawn parameters: what a queueing model says of n pieces must be seen, as
 * ratios within one process. Waits are never shorter than the model's, so lower bounds are strict; a loaded machine can
 * only make something slower, so a claim "faster" takes the shortest of some tries.
 */
#include "test_cufile.h"

#include "core/util.h"

#include <pthread.h>

#define QUIET "CUFILE_LOGFILE_PATH=/dev/null"

static unsigned n_pieces, n_threads;
static uint64_t latency_ns;
static size_t piece_bytes;

struct reader {
    struct cufile *c;
    CUfileHandle_t file;
    uint8_t *to;
    size_t bytes;
    ssize_t result;
};

static void *read_once(void *argument)
{
    struct reader *r = argument;

    r->result = r->c->cuFileRead(r->file, r->to, r->bytes, 0, 0);
    return NULL;
}

/* Nanoseconds until @n threads have each read @bytes once; 0: a read failed. */
static uint64_t time_of(struct cufile *c, CUfileHandle_t file, unsigned n, size_t bytes)
{
    struct reader readers[16];
    pthread_t threads[16];
    uint64_t from;
    bool good = true;

    for (unsigned i = 0; i < n; i++)
        readers[i] = (struct reader){c, file, malloc(bytes), bytes, 0};
    from = now_ns();
    for (unsigned i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, read_once, &readers[i]);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    from = now_ns() - from;
    for (unsigned i = 0; i < n; i++) {
        good = good && readers[i].result == (ssize_t)bytes && is_right(readers[i].to, bytes, 0);
        free(readers[i].to);
    }
    return good ? from : 0;
}

/* The shortest of up to five tries to stay below @limit. */
static uint64_t short_time_of(struct cufile *c, CUfileHandle_t file, unsigned n, size_t bytes, uint64_t limit)
{
    uint64_t best = time_of(c, file, n, bytes);

    for (int i = 0; i < 4 && best >= limit; i++) {
        uint64_t again = time_of(c, file, n, bytes);

        if (again < best)
            best = again;
    }
    return best;
}

/* Opens a file of n_pieces, runs @measure on it. */
static int with_file(struct cufile *c, int (*measure)(struct cufile *c, CUfileHandle_t file))
{
    int fd = made_file(n_pieces * piece_bytes, O_RDONLY), rc;
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    rc = measure(c, file);
    c->cuFileHandleDeregister(file);
    close(fd);
    return rc;
}

static const char *settings_of(const char *more)
{
    static char text[400];

    snprintf(text, sizeof(text), QUIET " FAKE_CUFILE_PIECE_KB=%zu FAKE_CUFILE_LATENCY_US=%lu %s", piece_bytes >> 10,
             (unsigned long)(latency_ns / 1000), more);
    return text;
}

/* Pieces above the threshold from which requests are split (1 MiB), so that one more piece makes a request large. */
static void draw(void)
{
    struct random r = {(uint64_t)getpid() * 77 + now_ns()};

    piece_bytes = (2 + random_below(&r, 3)) << 19;
    n_pieces = 6 + (unsigned)random_below(&r, 7);
    n_threads = 3 + (unsigned)random_below(&r, 4);
    latency_ns = (20 + random_below(&r, 20)) * 1000000;
    printf("drawn: %u pieces of %zu KiB, %u threads, %lu ms\n", n_pieces, piece_bytes >> 10, n_threads,
           (unsigned long)(latency_ns / 1000000));
}

/* ------------------------------------------------------------------------------------------------ */

static int serial_measure(struct cufile *c, CUfileHandle_t file)
{
    uint64_t one = time_of(c, file, 1, piece_bytes), all = time_of(c, file, 1, n_pieces * piece_bytes);
    uint64_t limit = n_threads * n_pieces * latency_ns * 2 / 3;
    uint64_t many = short_time_of(c, file, n_threads, n_pieces * piece_bytes, limit);

    want(one >= latency_ns && all >= n_pieces * latency_ns);
    want(many >= n_pieces * latency_ns);
    want(many < limit); /* threads do not wait for each other */
    return 0;
}

static int serial_body(struct cufile *c)
{
    return with_file(c, serial_measure);
}

static void pieces_travel_one_at_a_time(void **state)
{
    draw();
    in_child("1.15.1.6", settings_of(""), serial_body);
    in_child("1.20.0.107", settings_of("FAKE_CUFILE_MECHANISM=serial-pieces"), serial_body);
}

static int parallel_measure(struct cufile *c, CUfileHandle_t file)
{
    uint64_t limit = n_pieces * latency_ns * 2 / 3, all = short_time_of(c, file, 1, n_pieces * piece_bytes, limit);

    want(all >= (n_pieces + 3) / 4 * latency_ns); /* max_request_parallelism is 4 */
    want(all < limit);
    return 0;
}

static int parallel_body(struct cufile *c)
{
    return with_file(c, parallel_measure);
}

static int unsplit_body(struct cufile *c)
{
    want(!c->cuFileSetParameterBool(4, false).err); /* execution.parallel_io */
    return with_file(c, serial_measure);
}

static int one_at_a_time_body(struct cufile *c)
{
    want(!c->cuFileSetParameterSizeT(4, 1).err); /* execution.max_request_parallelism */
    return with_file(c, serial_measure);
}

static int small_body(struct cufile *c)
{
    want(!c->cuFileSetParameterSizeT(3, 1 << 20).err); /* execution.min_io_threshold_size_kb: 1 GiB */
    return with_file(c, serial_measure);
}

static void pieces_travel_together(void **state)
{
    draw();
    in_child("1.18.1.6", settings_of(""), parallel_body);
    in_child("1.20.0.107", settings_of(""), parallel_body);
    in_child("1.18.1.6", settings_of(""), unsplit_body);
    in_child("1.18.1.6", settings_of(""), one_at_a_time_body);
    in_child("1.18.1.6", settings_of(""), small_body);
}

/* ------------------------------------------------------------------------------------------------ */

static int serialised_measure(struct cufile *c, CUfileHandle_t file)
{
    uint64_t large = time_of(c, file, n_threads, n_pieces * piece_bytes);
    uint64_t small = short_time_of(c, file, n_threads, piece_bytes, n_threads * latency_ns);

    want(large >= n_threads * n_pieces * latency_ns);            /* one request after the other */
    want(small >= latency_ns && small < n_threads * latency_ns); /* one piece is not large */
    return 0;
}

static int serialised_body(struct cufile *c)
{
    return with_file(c, serialised_measure);
}

static int two_slots_measure(struct cufile *c, CUfileHandle_t file)
{
    uint64_t limit = 4 * n_pieces * latency_ns * 4 / 5;
    uint64_t large = short_time_of(c, file, 4, n_pieces * piece_bytes, limit);

    want(large >= 2 * n_pieces * latency_ns);
    want(large < limit);
    return 0;
}

static int two_slots_body(struct cufile *c)
{
    return with_file(c, two_slots_measure);
}

static void large_requests_wait_for_each_other(void **state)
{
    draw();
    in_child("1.18.0.66", settings_of(""), serialised_body);
    in_child("1.18.0.66", settings_of("FAKE_CUFILE_SLOTS=2"), two_slots_body);
    in_child("1.18.0.66", settings_of(""), unsplit_body);
}

/* ------------------------------------------------------------------------------------------------ */

static uint64_t rate_ns; /* that a piece takes of the shared rate */

static int rate_measure(struct cufile *c, CUfileHandle_t file)
{
    uint64_t all = time_of(c, file, 1, n_pieces * piece_bytes);
    uint64_t many = time_of(c, file, n_threads, n_pieces * piece_bytes);

    want(all >= n_pieces * rate_ns);
    want(many >= n_threads * n_pieces * rate_ns); /* more threads do not make the pipe wider */
    return 0;
}

static int rate_body(struct cufile *c)
{
    return with_file(c, rate_measure);
}

static void rate_is_shared(void **state)
{
    char more[64];

    draw();
    rate_ns = latency_ns / 2;
    snprintf(more, sizeof(more), "FAKE_CUFILE_RATE_MIB=%lu",
             (unsigned long)(piece_bytes * 1000000000ull / rate_ns >> 20));
    in_child("1.18.1.6", settings_of(more), rate_body);
    in_child("1.15.1.6", settings_of(more), rate_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_travel_one_at_a_time),
        cmocka_unit_test(pieces_travel_together),
        cmocka_unit_test(large_requests_wait_for_each_other),
        cmocka_unit_test(rate_is_shared),
    };

    if (!getenv("SPUR_LIBCUDA") || !getenv("SPUR_FAKE_CUFILE")) {
        printf("skipped: SPUR_LIBCUDA and SPUR_FAKE_CUFILE must name the fakes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
