/* SPDX-License-Identifier: MIT */
/* The CUDA memory: buffers, copies, scatter and gather, tickets. */
#include "cuda_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fake_hooks hooks;

static void randomise(struct random *r, void *to, size_t bytes)
{
    uint8_t *p = to;

    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)random_next(r);
}

static void opens_and_describes(void **state)
{
    struct spur_memory_info info = {.size = sizeof(info)};
    struct cuda_device_info device;
    struct spur_memory *m;
    struct spur_error e;

    assert_good(cuda_device_info_get(0, &device, &e), &e);
    assert_good(spur_memory_open("cuda:0", &m, &e), &e);
    assert_int_equal(spur_memory_describe(m, &info), 0);
    assert_string_equal(info.name, "cuda:0");
    assert_string_equal(info.uuid, device.uuid);
    assert_string_equal(info.pci_address, device.pci);
    assert_string_equal(info.device_name, device.name);
    assert_true(info.is_device);
    assert_int_equal(info.is_emulated, hooks.inject != NULL);
    assert_true(info.total_bytes > 0 && info.total_bytes == device.total_bytes);
    spur_memory_close(m);
}

static void buffers_are_page_aligned(void **state)
{
    const size_t sizes[] = {4096, 8192, 12288, 65536, 1 << 20, (1 << 20) + 4096, 5 << 20};
    struct spur_buffer *b[7];
    struct spur_memory *m;
    struct spur_error e;

    assert_good(spur_memory_open("cuda:0", &m, &e), &e);
    for (unsigned i = 0; i < 7; i++) {
        assert_good(spur_buffer_alloc(m, sizes[i], &b[i], &e), &e);
        assert_int_equal(b[i]->address % 4096, 0);
    }
    for (unsigned i = 0; i < 7; i++)
        spur_buffer_free(b[i]);
    spur_memory_close(m);
}

static void copies_arrive(void **state)
{
    const size_t bytes = 1 << 20;
    uint8_t *model = malloc(bytes), *back = malloc(bytes);
    struct random random = {1};
    struct spur_error e;
    struct rig r;

    rig_open(&r, bytes, 4);
    randomise(&random, model, bytes);
    assert_good(r.memory->ops->copy_in(NULL, r.buffer, 0, model, bytes, &e), &e);
    for (unsigned i = 0; i < 200; i++) {
        size_t n = random_below(&random, 70000), at = random_below(&random, bytes - n);
        bool stream = random_below(&random, 2);

        randomise(&random, r.stage, n);
        memcpy(model + at, r.stage, n);
        assert_good(r.memory->ops->copy_in(stream ? r.stream : NULL, r.buffer, at, r.stage, n, &e), &e);
        if (stream)
            rig_wait(&r);
    }
    assert_good(r.memory->ops->copy_out(r.stream, r.buffer, 0, r.stage, bytes, &e), &e);
    assert_good(r.memory->ops->copy_out(NULL, r.buffer, 0, back, bytes, &e), &e);
    rig_wait(&r);
    assert_memory_equal(r.stage, model, bytes);
    assert_memory_equal(back, model, bytes);
    rig_close(&r);
    free(model);
    free(back);
}

/* The point of the fake: a buffer that is used again before its copy ended shows. */
static void early_reuse_shows(void **state)
{
    uint8_t back[4096];
    struct spur_error e;
    struct rig r;

    if (!hooks.delay)
        skip();
    rig_open(&r, 4096, 4);
    hooks.delay(20000);
    memset(r.stage, 1, 4096);
    assert_good(r.memory->ops->copy_in(r.stream, r.buffer, 0, r.stage, 4096, &e), &e);
    memset(r.stage, 2, 4096);
    rig_wait(&r);
    hooks.delay(0);
    assert_good(r.memory->ops->copy_out(NULL, r.buffer, 0, back, 4096, &e), &e);
    assert_int_equal(back[100], 2);
    rig_close(&r);
}

static void offsets_past_4_gib(void **state)
{
    const uint64_t bytes = 5ull << 30, at = (4ull << 30) + 12345;
    struct spur_memory *m;
    struct spur_buffer *b;
    struct spur_error e;
    uint8_t in[5000], out[5000];
    struct random random = {2};

    assert_good(spur_memory_open("cuda:0", &m, &e), &e);
    assert_good(spur_buffer_alloc(m, bytes, &b, &e), &e);
    randomise(&random, in, sizeof(in));
    assert_good(m->ops->copy_in(NULL, b, at, in, sizeof(in), &e), &e);
    assert_good(m->ops->copy_out(NULL, b, at, out, sizeof(out), &e), &e);
    assert_memory_equal(in, out, sizeof(in));
    assert_good(m->ops->copy_out(NULL, b, at & 0xffffffff, out, sizeof(out), &e), &e);
    assert_memory_not_equal(in, out, sizeof(in));
    spur_buffer_free(b);
    spur_memory_close(m);
}

/* ------------------------------------------------------------------------------------------------
 * Scatter and gather
 */

#define REGION (8u << 20)
#define MOST   700u

/* Pieces that do not overlap at either end; some are neighbours, some empty. */
static unsigned deal(struct random *random, struct rig *r, struct memory_copy *copies, size_t most_bytes)
{
    unsigned n = 1 + (unsigned)random_below(random, MOST);
    size_t at = random_below(random, 100), host = random_below(random, 100);
    unsigned i = 0;

    while (i < n) {
        size_t bytes = random_below(random, 4) ? random_below(random, most_bytes) : 4096;

        if (at + bytes > REGION || host + bytes > REGION)
            break;
        copies[i++] = (struct memory_copy){r->buffer, at, r->stage + host, bytes};
        at += bytes;
        host += bytes;
        if (random_below(random, 3)) {
            at += random_below(random, 200) * 16;
            host += random_below(random, 20) * (random_below(random, 2) ? 4096 - host % 4096 : 8);
        }
    }
    return i;
}

static void shuffle(struct random *random, struct memory_copy *copies, unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned j = (unsigned)random_below(random, i);
        struct memory_copy c = copies[j];

        copies[j] = copies[i - 1];
        copies[i - 1] = c;
    }
}

static void scatter_and_gather_random(void **state)
{
    uint8_t *model = malloc(REGION), *host = malloc(REGION), *back = malloc(REGION);
    struct memory_copy copies[MOST];
    struct random random = {3};
    struct spur_error e;
    struct rig r;

    rig_open(&r, REGION, 2);
    randomise(&random, model, REGION);
    assert_good(r.memory->ops->copy_in(NULL, r.buffer, 0, model, REGION, &e), &e);
    for (unsigned round = 0; round < 24; round++) {
        unsigned n = deal(&random, &r, copies, round % 3 ? 6000 : 90000);

        if (round % 2)
            shuffle(&random, copies, n);
        for (size_t i = 0; i < REGION / 8; i++)
            ((uint64_t *)r.stage)[i] = random_next(&random);
        for (unsigned i = 0; i < n; i++)
            memcpy(model + copies[i].offset, copies[i].host, copies[i].bytes);
        assert_good(r.memory->ops->scatter(r.stream, copies, n, &e), &e);
        rig_wait(&r);
        assert_good(r.memory->ops->copy_out(NULL, r.buffer, 0, back, REGION, &e), &e);
        assert_memory_equal(back, model, REGION);

        n = deal(&random, &r, copies, round % 3 ? 6000 : 90000);
        memset(r.stage, 0x5a, REGION);
        memset(host, 0x5a, REGION);
        for (unsigned i = 0; i < n; i++)
            memcpy(host + ((uint8_t *)copies[i].host - r.stage), model + copies[i].offset, copies[i].bytes);
        assert_good(r.memory->ops->gather(r.stream, copies, n, &e), &e);
        rig_wait(&r);
        assert_memory_equal(r.stage, host, REGION);
    }
    rig_close(&r);
    free(model);
    free(host);
    free(back);
}

/* Host memory that the GPU does not know: copied, never by kernel. */
static void scatter_from_unknown_memory(void **state)
{
    struct memory_copy copies[64];
    struct random random = {4};
    uint8_t *host = malloc(64 * 4096), *back = malloc(64 * 4096);
    struct spur_error e;
    struct rig r;

    rig_open(&r, 64 * 4096, 1);
    randomise(&random, host, 64 * 4096);
    for (unsigned i = 0; i < 64; i++) /* halfway from the stage, halfway not */
        copies[i] =
            (struct memory_copy){r.buffer, (uint64_t)i * 4096, (i < 40 ? host : r.stage) + (63 - i) * 4096, 4096};
    memcpy(r.stage, host, 64 * 4096);
    assert_good(r.memory->ops->scatter(r.stream, copies, 64, &e), &e);
    rig_wait(&r);
    assert_good(r.memory->ops->copy_out(NULL, r.buffer, 0, back, 64 * 4096, &e), &e);
    for (unsigned i = 0; i < 64; i++)
        assert_memory_equal(back + i * 4096, host + (63 - i) * 4096, 4096);
    rig_close(&r);
    free(host);
    free(back);
}

static unsigned long calls(const char *symbol)
{
    return hooks.calls(symbol);
}

/* What a scatter costs: one launch for many pieces, one copy for one run. */
static void scatter_costs_one_call(void **state)
{
    struct memory_copy copies[256];
    unsigned long launches, in;
    struct spur_error e;
    struct rig r;

    if (!hooks.calls)
        skip();
    rig_open(&r, 512 * 4096, 1);
    for (unsigned i = 0; i < 256; i++)
        copies[i] = (struct memory_copy){r.buffer, i * 8192ull, r.stage + i * 4096, 4096};
    launches = calls("cuLaunchKernel");
    in = calls("cuMemcpyHtoDAsync_v2");
    assert_good(r.memory->ops->scatter(r.stream, copies, 256, &e), &e);
    assert_int_equal(calls("cuLaunchKernel") - launches, 1);
    assert_int_equal(calls("cuMemcpyHtoDAsync_v2") - in, 0);
    for (unsigned i = 0; i < 256; i++)
        copies[i].offset = i * 4096ull;
    assert_good(r.memory->ops->scatter(r.stream, copies, 256, &e), &e);
    assert_int_equal(calls("cuLaunchKernel") - launches, 1);
    assert_int_equal(calls("cuMemcpyHtoDAsync_v2") - in, 1);
    rig_close(&r);
}

/* Tables are used again only when no launch reads them: with late kernels, with and without tickets in between. */
static void reuse_tables(bool tickets)
{
    enum { N = 8, ROUNDS = 40 };
    uint8_t *back = malloc(ROUNDS * N * 4096);
    struct memory_copy copies[N];
    struct random random = {5};
    struct spur_error e;
    uint64_t ticket;
    struct rig r;

    rig_open(&r, ROUNDS * N * 4096, 1);
    randomise(&random, r.stage, r.bytes);
    if (hooks.delay)
        hooks.delay(300);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < N; i++) {
            uint64_t at = (round * N + i) * 4096ull;

            copies[i] = (struct memory_copy){r.buffer, r.bytes - 4096 - at, r.stage + at, 4096};
        }
        assert_good(r.memory->ops->scatter(r.stream, copies, N, &e), &e);
        if (tickets)
            assert_good(r.memory->ops->mark(r.stream, &ticket, &e), &e);
    }
    rig_wait(&r);
    if (hooks.delay)
        hooks.delay(0);
    assert_good(r.memory->ops->copy_out(NULL, r.buffer, 0, back, r.bytes, &e), &e);
    for (unsigned i = 0; i < ROUNDS * N; i++)
        assert_memory_equal(back + r.bytes - 4096 - i * 4096ull, r.stage + i * 4096ull, 4096);
    rig_close(&r);
    free(back);
}

static void tables_are_not_reused_early(void **state)
{
    reuse_tables(false);
    reuse_tables(true);
}

/* A stage that was freed is forgotten, also by streams that remember it. */
static void freed_stages_are_forgotten(void **state)
{
    struct memory_copy copies[16];
    struct spur_error e;
    unsigned long launches;
    void *stage;
    struct rig r;

    if (!hooks.calls)
        skip();
    rig_open(&r, 16 * 8192, 1);
    assert_good(r.memory->ops->stage_alloc(r.memory, 16 * 4096, &stage, &e), &e);
    for (unsigned i = 0; i < 16; i++)
        copies[i] = (struct memory_copy){r.buffer, i * 8192ull, (uint8_t *)stage + i * 4096, 4096};
    launches = calls("cuLaunchKernel");
    assert_good(r.memory->ops->scatter(r.stream, copies, 16, &e), &e);
    rig_wait(&r);
    assert_int_equal(calls("cuLaunchKernel") - launches, 1);
    r.memory->ops->stage_free(r.memory, stage, 16 * 4096);
    assert_ptr_equal(
        mmap(stage, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
        stage);
    memset(stage, 1, 16 * 4096);
    launches = calls("cuLaunchKernel");
    for (unsigned i = 0; i < 2; i++) /* the second time the stream has looked in vain before */
        assert_good(r.memory->ops->scatter(r.stream, copies, 16, &e), &e);
    rig_wait(&r);
    assert_int_equal(calls("cuLaunchKernel") - launches, 0);
    munmap(stage, 16 * 4096);
    rig_close(&r);
}

/* ------------------------------------------------------------------------------------------------
 * Tickets
 */

static void tickets_rise_and_end(void **state)
{
    const unsigned n = 8;
    uint64_t tickets[40];
    struct spur_error e;
    struct rig r;

    rig_open(&r, 1 << 20, n);
    if (hooks.delay)
        hooks.delay(500);
    for (unsigned i = 0; i < 40; i++) {
        assert_good(r.memory->ops->copy_in(r.stream, r.buffer, i * 4096, r.stage + i * 4096, 4096, &e), &e);
        assert_good(r.memory->ops->mark(r.stream, &tickets[i], &e), &e);
        assert_true(i ? tickets[i] > tickets[i - 1] : tickets[0] > 0);
        if (i >= n - 1)
            assert_good(r.memory->ops->wait(r.stream, tickets[i - (n - 1)], &e), &e);
    }
    if (hooks.delay) /* the last copy takes its time */
        assert_int_equal(r.memory->ops->done(r.stream, tickets[39], &e), 0);
    while (!r.memory->ops->done(r.stream, tickets[39], &e))
        ;
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(r.memory->ops->done(r.stream, tickets[i], &e), 1);
    assert_int_equal(r.memory->ops->done(r.stream, tickets[39] + 1, &e), -EINVAL);
    assert_int_equal(r.memory->ops->wait(r.stream, 0, &e), -EINVAL);
    if (hooks.delay)
        hooks.delay(0);
    rig_close(&r);
}

struct job {
    struct spur_memory *memory;
    uint64_t seed;
};

static void *work(void *argument)
{
    enum { BYTES = 1 << 20 };
    struct job *job = argument;
    const struct memory_ops *ops = job->memory->ops;
    struct random random = {job->seed};
    struct memory_copy copies[32];
    struct memory_stream *s;
    struct spur_buffer *b;
    struct spur_error e;
    uint64_t ticket;
    void *stage;
    uint8_t *back = malloc(BYTES);

    assert_good(ops->thread_enter(job->memory, &e), &e);
    assert_good(spur_buffer_alloc(job->memory, BYTES, &b, &e), &e);
    assert_good(ops->stage_alloc(job->memory, BYTES, &stage, &e), &e);
    assert_good(ops->stream_open(job->memory, 4, &s, &e), &e);
    for (unsigned round = 0; round < 20; round++) {
        randomise(&random, stage, BYTES);
        assert_good(ops->copy_in(s, b, 0, stage, BYTES, &e), &e);
        for (unsigned i = 0; i < 32; i++)
            copies[i] = (struct memory_copy){b, (uint64_t)i * 32768, (uint8_t *)stage + (31 - i) * 32768, 32768};
        assert_good(ops->scatter(s, copies, 32, &e), &e);
        assert_good(ops->mark(s, &ticket, &e), &e);
        assert_good(ops->wait(s, ticket, &e), &e);
        assert_good(ops->copy_out(NULL, b, 0, back, BYTES, &e), &e);
        for (unsigned i = 0; i < 32; i++)
            assert_memory_equal(back + i * 32768, (uint8_t *)stage + (31 - i) * 32768, 32768);
    }
    ops->stream_close(s);
    ops->stage_free(job->memory, stage, BYTES);
    spur_buffer_free(b);
    free(back);
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    pthread_t threads[4];
    struct job jobs[4];
    struct spur_memory *m;
    struct spur_error e;

    assert_good(spur_memory_open("cuda:0", &m, &e), &e);
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] = (struct job){m, i + 10};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    spur_memory_close(m);
}

/* ------------------------------------------------------------------------------------------------
 * Errors
 */

static void out_of_memory_is_named(void **state)
{
    struct spur_memory *m;
    struct spur_buffer *b;
    struct spur_error e;

    assert_good(spur_memory_open("cuda:0", &m, &e), &e);
    assert_int_equal(spur_buffer_alloc(m, 1ull << 45, &b, &e), -ENOMEM);
    assert_int_equal(e.source, SPUR_SOURCE_CUDA);
    assert_int_equal(e.code, CUDA_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(e.detail, "CUDA_ERROR_OUT_OF_MEMORY"));
    assert_true(*e.remedy);
    spur_memory_close(m);
}

/* One of everything. Returns the first error; gives back whatever it had. */
static int everything(struct spur_error *e)
{
    const struct memory_ops *ops = NULL;
    struct pattern_fill fill = {.uuid = {1, 2}, .generation = PATTERN_GENERATION_MIN};
    struct pattern_expect expect = {.uuid = {1, 2}, .generation = PATTERN_GENERATION_MIN};
    struct pattern_verdict verdict;
    struct memory_copy copies[8];
    struct spur_memory *m = NULL;
    struct spur_buffer *b = NULL;
    struct memory_stream *s = NULL;
    void *stage = NULL;
    uint64_t ticket, digest;
    uint8_t plain[4096] = {0};
    int rc;

    if ((rc = spur_memory_open("cuda:0", &m, e)) < 0)
        return rc;
    ops = m->ops;
    if ((rc = spur_buffer_alloc(m, 65536, &b, e)) < 0 || (rc = ops->stage_alloc(m, 65536, &stage, e)) < 0 ||
        (rc = ops->stream_open(m, 2, &s, e)) < 0)
        goto out;
    for (unsigned i = 0; i < 8; i++)
        copies[i] = (struct memory_copy){b, i * 8192ull, (uint8_t *)stage + i * 4096, 4096};
    if ((rc = ops->copy_in(NULL, b, 0, plain, 4096, e)) < 0 || (rc = ops->scatter(s, copies, 8, e)) < 0 ||
        (rc = ops->mark(s, &ticket, e)) < 0 || (rc = ops->done(s, ticket, e)) < 0 ||
        (rc = ops->wait(s, ticket, e)) < 0 || (rc = ops->fill(s, b, 0, 65536, &fill, e)) < 0 ||
        (rc = ops->check(s, b, 0, 65536, &expect, e)) < 0 || (rc = ops->check_collect(s, &verdict, e)) < 0 ||
        (rc = ops->digest(s, b, 0, 65536, &digest, e)) < 0 || (rc = ops->gather(s, copies, 8, e)) < 0 ||
        (rc = ops->copy_out(NULL, b, 0, plain, 4096, e)) < 0)
        goto out;
    rc = verdict.bytes_ok == 65536 ? 0 : -EILSEQ;
out:
    if (s)
        ops->stream_close(s);
    ops->stage_free(m, stage, 65536);
    if (b)
        spur_buffer_free(b);
    spur_memory_close(m);
    return rc;
}

#define MOST_CALLS 40 /* a wait may ask any number of times */

/* Every call of every function fails once: named, with its code, and nothing is left behind. */
static void each_failure_is_named(void **state)
{
    static const char *const symbols[] = {
#define X(member, symbol, arguments) #symbol,
        CUDA_FUNCTIONS(X)
#undef X
    };
    static const char *const giving_back[] = {
        "cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2",      "cuMemHostUnregister",
        "cuStreamDestroy_v2",           "cuEventDestroy_v2", "cuModuleUnload"};
    unsigned n_failures = 0;
    struct spur_error e;

    if (!hooks.inject)
        skip();
    for (unsigned i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        unsigned long before = calls(symbols[i]), n;
        bool gives = false;

        for (unsigned k = 0; k < sizeof(giving_back) / sizeof(giving_back[0]); k++)
            gives |= !strcmp(symbols[i], giving_back[k]);
        assert_good(everything(&e), &e);
        n = calls(symbols[i]) - before;
        if (!strcmp(symbols[i], "cuStreamSynchronize"))
            n--; /* the last one is stream_close's: there is nobody to tell */
        for (unsigned long k = 1; k <= n && k <= MOST_CALLS && !gives; k++) {
            char rule[80];
            int rc;

            snprintf(rule, sizeof(rule), "%s:%lu:999", symbols[i], k);
            hooks.inject(rule);
            memset(&e, 0, sizeof(e));
            before = calls(symbols[i]);
            rc = everything(&e);
            hooks.inject(NULL);
            assert_int_equal(hooks.leaks(), 0);
            if (!rc && calls(symbols[i]) - before < k) /* waiting asks as often as it takes: fewer times than before */
                continue;
            if (!rc) { /* on the way out there is nobody to tell */
                assert_string_equal(symbols[i], "cuCtxSetCurrent");
                continue;
            }
            n_failures++;
            assert_int_equal(rc, -EIO);
            assert_int_equal(e.source, SPUR_SOURCE_CUDA);
            assert_int_equal(e.code, 999);
            assert_string_equal(e.operation, symbols[i]);
            assert_non_null(strstr(e.detail, "CUDA_ERROR_UNKNOWN"));
        }
    }
    assert_true(n_failures > 40);
}

/* The fake's own promise, on which the others stand: it ends a process that leaks or frees too early. */
static int status_of(void (*body)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(9);
        body();
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void leak(void)
{
    struct rig r;

    rig_open(&r, 4096, 1);
}

static void free_in_flight(void)
{
    struct spur_error e;
    struct rig r;

    rig_open(&r, 4096, 1);
    hooks.delay(100000);
    r.memory->ops->copy_in(r.stream, r.buffer, 0, r.stage, 4096, &e);
    spur_buffer_free(r.buffer);
    _exit(0);
}

static void touch_device_memory(void)
{
    struct rig r;

    signal(SIGSEGV, SIG_DFL);
    rig_open(&r, 4096, 1);
    *(volatile char *)(uintptr_t)r.buffer->address = 1;
    _exit(0);
}

static void the_fake_catches(void **state)
{
    int status;

    if (!hooks.inject || !getenv("FAKE_CUDA_CHECK"))
        skip();
    status = status_of(leak);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = status_of(free_in_flight);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = status_of(touch_device_memory);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fake_catches),           cmocka_unit_test(opens_and_describes),
        cmocka_unit_test(buffers_are_page_aligned),   cmocka_unit_test(copies_arrive),
        cmocka_unit_test(early_reuse_shows),          cmocka_unit_test(offsets_past_4_gib),
        cmocka_unit_test(scatter_and_gather_random),  cmocka_unit_test(scatter_from_unknown_memory),
        cmocka_unit_test(scatter_costs_one_call),     cmocka_unit_test(tables_are_not_reused_early),
        cmocka_unit_test(freed_stages_are_forgotten), cmocka_unit_test(tickets_rise_and_end),
        cmocka_unit_test(threads_do_not_meet),        cmocka_unit_test(out_of_memory_is_named),
        cmocka_unit_test(each_failure_is_named),
    };

    if (skip_without_cuda())
        return 77;
    hooks = fake_hooks_get();
    if (hooks.delay)
        hooks.delay(0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
