/* SPDX-License-Identifier: MIT */
/*
 * Fanout where things go wrong: I/O that is short, interrupted, put off or failed (injected between the engine and its
 * backend), files cut off while in use, a kernel that forbids io_uring or locked memory, settings out of range.
 */
#include "test_fanout.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FILE_BYTES ((1u << 20) + 777u)
#define N_REQUESTS 8u
#define REQUEST    100000u
#define SLICE      (128u << 10)
#define SETTINGS(...)                                                                                                  \
    .settings = (const struct spur_key_value[]){__VA_ARGS__},                                                          \
    .n_settings = sizeof((const struct spur_key_value[]){__VA_ARGS__}) / sizeof(struct spur_key_value)

static const char *const engines[] = {"uring", "threads", "caller"};

/* ------------------------------------------------------------------------------------------------
 * Injection: what the backend says of a piece, changed before the engine hears it
 */

enum fault { FAULT_NONE, FAULT_SHORT, FAULT_INTERRUPT, FAULT_AGAIN, FAULT_FAIL, FAULT_ALWAYS_AGAIN, FAULT_ZERO };

static const struct fanout_backend *real;
static enum fault fault;
static uint64_t fail_offset; /* FAIL, ALWAYS_AGAIN, ZERO: the piece that holds this byte */
static unsigned n_injected;

static bool holds_fail_offset(const struct fanout_piece *p)
{
    return p->io_offset <= fail_offset && fail_offset < p->io_offset + p->io_bytes;
}

/* The bytes were moved; the engine is told of fewer and has to move the rest again. */
static int32_t shortened(int32_t result)
{
    if (result <= 1 || draw(3) == 0)
        return result;
    n_injected++;
    return 1 + (int32_t)draw((uint64_t)result - 1);
}

static int32_t inject(const struct fanout_piece *p, int32_t result)
{
    switch (fault) {
    case FAULT_NONE:
        return result;
    case FAULT_SHORT:
        return shortened(result);
    case FAULT_INTERRUPT:
    case FAULT_AGAIN:
        if (draw(2))
            return result;
        n_injected++;
        return fault == FAULT_AGAIN ? -EAGAIN : -EINTR;
    default:
        if (!holds_fail_offset(p))
            return result;
        n_injected++;
        return fault == FAULT_FAIL ? -EIO : fault == FAULT_ZERO ? 0 : -EAGAIN;
    }
}

static int inject_reap(struct fanout_queue *q, struct fanout_landed *landed, unsigned max, unsigned wait,
                       uint64_t timeout_ns, struct spur_error *e)
{
    int n = real->reap(q, landed, max, wait, timeout_ns, e);

    for (int i = 0; i < n; i++)
        landed[i].result = inject(&q->pieces[landed[i].piece], landed[i].result);
    return n;
}

static void rig_inject(struct rig *g, enum fault what)
{
    real = engine(g)->backend;
    rig_own_backend(g);
    g->backend.reap = inject_reap;
    fault = what;
    n_injected = 0;
}

/* ------------------------------------------------------------------------------------------------ */

static struct spur_completion completions[N_REQUESTS]; /* by request */

/* N_REQUESTS at once, each completed exactly once. */
static void move(struct rig *g, enum spur_op op, uint64_t first)
{
    struct spur_request requests[N_REQUESTS];
    unsigned seen[N_REQUESTS] = {0}, n = 0;
    struct spur_error e = {0};

    for (unsigned i = 0; i < N_REQUESTS; i++)
        requests[i] = request(g, op, first + i * REQUEST, REQUEST, i * SLICE + 3, i);
    assert_int_equal(spur_queue_submit(g->queue, requests, N_REQUESTS, &e), N_REQUESTS);
    while (n < N_REQUESTS) {
        struct spur_completion done[3];
        int r = spur_queue_reap(g->queue, done, 3, 1, &e);

        assert_true(r > 0);
        for (int i = 0; i < r; i++) {
            assert_int_equal(++seen[done[i].user_data], 1);
            completions[done[i].user_data] = done[i];
        }
        n += (unsigned)r;
    }
    assert_int_equal(spur_queue_reap(g->queue, completions, 1, 0, &e), 0);
}

static void assert_slice(struct rig *g, unsigned i, uint64_t first)
{
    uint8_t *got = buffer_bytes(g, i * SLICE, SLICE);

    assert_memory_equal(got + 3, g->image + first + i * REQUEST, REQUEST);
    assert_int_equal(got[2], POISON);
    assert_int_equal(got[3 + REQUEST], POISON);
    free(got);
}

static void fill_slices(struct rig *g, uint64_t first)
{
    for (unsigned i = 0; i < N_REQUESTS; i++) {
        draw_bytes(g->image + first + i * REQUEST, REQUEST);
        assert_int_equal(spur_buffer_write(g->buffer, i * SLICE + 3, g->image + first + i * REQUEST, REQUEST, NULL), 0);
    }
}

static void rig_for(struct rig *g, const char *engine_name, const char *memory, bool write)
{
    struct rig_options o = {memory,  N_REQUESTS,         write,
                            REQUEST, N_REQUESTS * SLICE, SETTINGS({"engine", engine_name}, {"piece", "16K"})};

    rig_file(g, 0, FILE_BYTES, FILE_BYTES);
    rig_open(g, &o);
    poison(g);
}

static void close_rig(struct rig *g)
{
    rig_close(g);
    rig_file_gone(g);
}

/* Faults from which the engine recovers: every byte is right, and they are counted. */
static void recovers(enum fault what, const char *counter)
{
    static const char *const memories[] = {"pinned", "emulated"};

    for (unsigned i = 0; i < ARRAY_SIZE(engines) * 4; i++) {
        bool write = i & 1;
        struct rig g = {0};

        rig_for(&g, engines[i / 4], memories[i / 2 % 2], write);
        rig_inject(&g, what);
        if (write)
            fill_slices(&g, 1001);
        move(&g, write ? SPUR_OP_WRITE : SPUR_OP_READ, 1001);
        for (unsigned k = 0; k < N_REQUESTS; k++) {
            if (completions[k].result != REQUEST)
                fail_msg("%s: %lld: %s", engines[i / 4], (long long)completions[k].result, g.queue->error.detail);
            assert_slice(&g, k, 1001);
        }
        assert_true(n_injected > 0);
        assert_true(evidence(&g, counter) > 0);
        assert_file(&g);
        close_rig(&g);
    }
}

static void test_short(void **state)
{
    recovers(FAULT_SHORT, "short_completions");
}

static void test_interrupted(void **state)
{
    recovers(FAULT_INTERRUPT, "retries");
}

static void test_put_off(void **state)
{
    recovers(FAULT_AGAIN, "retries");
}

/* One piece of one request fails: that request does, once, with its place named; the others are right. */
static void one_fails(enum fault what, int code, const char *words)
{
    static const char *const memories[] = {"pinned", "emulated"};

    for (unsigned i = 0; i < ARRAY_SIZE(engines) * 4; i++) {
        bool write = i & 1;
        struct rig g = {0};

        rig_for(&g, engines[i / 4], memories[i / 2 % 2], write);
        rig_inject(&g, what);
        fail_offset = 4 * REQUEST + 50000;
        if (write)
            fill_slices(&g, 0);
        move(&g, write ? SPUR_OP_WRITE : SPUR_OP_READ, 0);
        for (unsigned k = 0; k < N_REQUESTS; k++) {
            assert_int_equal(completions[k].result, k == 4 ? code : (int)REQUEST);
            if (k != 4)
                assert_slice(&g, k, 0);
        }
        assert_non_null(strstr(g.queue->error.detail, g.filename));
        assert_non_null(strstr(g.queue->error.detail, words));
        assert_non_null(strstr(g.queue->error.detail, "offset 4")); /* 4xxxxx */
        fault = FAULT_NONE;                                         /* and the queue goes on */
        move(&g, SPUR_OP_READ, 0);
        for (unsigned k = 0; k < N_REQUESTS; k++)
            assert_int_equal(completions[k].result, REQUEST);
        close_rig(&g);
    }
}

static void test_one_fails(void **state)
{
    one_fails(FAULT_FAIL, -EIO, "");
}

static void test_put_off_for_ever(void **state)
{
    one_fails(FAULT_ALWAYS_AGAIN, -EAGAIN, "");
    assert_true(n_injected < 1000);
}

static void test_no_progress(void **state)
{
    one_fails(FAULT_ZERO, -EIO, "");
}

/* Cut off behind the engine's back. */
static void test_truncated(void **state)
{
    static const char *const memories[] = {"pageable", "emulated"};

    for (unsigned i = 0; i < ARRAY_SIZE(engines) * 4; i++) {
        struct rig g = {0};
        struct rig_options o = {memories[i / 2 % 2],
                                N_REQUESTS,
                                false,
                                REQUEST,
                                N_REQUESTS * SLICE,
                                SETTINGS({"engine", engines[i / 4]}, {"piece", "16K"})};
        const uint64_t kept = 3 * REQUEST + 12345;

        rig_file(&g, i & 1, FILE_BYTES, FILE_BYTES);
        rig_open(&g, &o);
        poison(&g);
        assert_int_equal(truncate(g.filename, kept), 0);
        move(&g, SPUR_OP_READ, 0);
        for (unsigned k = 0; k < N_REQUESTS; k++)
            assert_int_equal(completions[k].result, k < 3 ? (int)REQUEST : -EIO);
        for (unsigned k = 0; k < 3; k++)
            assert_slice(&g, k, 0);
        assert_non_null(strstr(g.queue->error.detail, "truncated"));
        close_rig(&g);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Settings
 */

static void test_bad_settings(void **state)
{
    static const struct spur_key_value bad[] = {
        {"engine", "fast"},
        {"engine", ""},
        {"piece", "0"},
        {"piece", "5000"},
        {"piece", "4095"},
        {"piece", "1G"},
        {"piece", "-1"},
        {"piece", "64KB"},
        {"stage", "4K"},
        {"stage", "2G"},
        {"batch", "0"},
        {"batch", "1025"},
        {"async", "maybe"},
        {"workers", "0"},
        {"workers", "257"},
        {"direct", "auto"},
        {"stage", "99999999999999999999"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct spur_path_options options = {sizeof(options), &bad[i], 1, 1, 4096};
        struct spur_error e = {0};
        struct spur_path *p;

        if (spur_path_open("fanout", &options, &p, &e) != -EINVAL)
            fail_msg("%s=%s was taken", bad[i].key, bad[i].value);
        assert_int_equal(e.source, SPUR_SOURCE_SPUR);
        assert_int_equal(e.code, SPUR_CODE_USAGE);
        assert_non_null(strstr(e.detail, bad[i].key));
    }
}

/* What was set is what runs. */
static void test_settings_hold(void **state)
{
    struct rig g = {0};
    struct rig_options o = {"emulated",
                            4,
                            false,
                            256 << 10,
                            1 << 20,
                            SETTINGS({"engine", "uring"}, {"piece", "64K"}, {"stage", "1MiB"}, {"batch", "3"},
                                     {"async", "yes"}, {"workers", "2"})};

    rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
    rig_open(&g, &o);
    assert_string_equal(effective(&g, "engine").value, "uring");
    assert_string_equal(effective(&g, "piece_bytes").value, "65536");
    assert_string_equal(effective(&g, "batch").value, "3");
    assert_string_equal(effective(&g, "async").value, "yes");
    assert_string_equal(effective(&g, "workers").value, "2");
    assert_string_equal(effective(&g, "depth").value, "4");
    assert_string_equal(effective(&g, "direct").value, "yes");
    assert_string_equal(effective(&g, "registered_files").value, "yes");
    assert_true(strtoull(effective(&g, "stage_bytes").value, NULL, 10) <= 1 << 20);
    close_rig(&g);
}

/* ------------------------------------------------------------------------------------------------
 * Kernels and limits that forbid: each in a child of its own
 */

/* The child's answer: 0, or the line that failed. */
#define CHILD(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                    \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void in_child(void (*f)(struct rig *g), struct rig *g)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        f(g);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* From now on io_uring_setup fails with @err. */
static void forbid_ring(int err)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {ARRAY_SIZE(code), code};

    CHILD(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static struct rig_options one_read(const struct spur_key_value *setting)
{
    return (struct rig_options){"pageable", 2, false, REQUEST, SLICE, setting, 1};
}

static const struct spur_key_value engine_auto = {"engine", "auto"}, engine_uring = {"engine", "uring"};

static void read_in_child(struct rig *g)
{
    struct spur_request r = request(g, SPUR_OP_READ, 77, REQUEST, 0, 0);
    struct spur_error e = {0};

    CHILD(spur_queue_transfer(g->queue, &r, &e) == REQUEST);
    CHILD(!memcmp((void *)(uintptr_t)spur_buffer_address(g->buffer), g->image + 77, REQUEST));
}

static void falls_back_and_says_so(struct rig *g)
{
    struct rig_options o = one_read(&engine_auto);
    struct spur_error e = {0};

    forbid_ring(EPERM);
    CHILD(rig_try(g, &o, &e) == 0);
    CHILD(!strcmp(effective(g, "engine").value, "threads"));
    CHILD(strstr(effective(g, "engine").reason, "io_uring"));
    read_in_child(g);
}

static void refused_when_asked_for(struct rig *g)
{
    struct rig_options o = one_read(&engine_uring);
    struct spur_error e = {0};

    forbid_ring(EPERM);
    CHILD(rig_try(g, &o, &e) == -EPERM);
    CHILD(strstr(e.operation, "io_uring_setup") && strstr(e.remedy, "engine=threads"));
}

/* A shortage is no reason to do without. */
static void shortage_is_an_error(struct rig *g)
{
    struct rig_options o = one_read(&engine_auto);
    struct spur_error e = {0};

    forbid_ring(ENOMEM);
    CHILD(rig_try(g, &o, &e) == -ENOMEM);
    CHILD(*e.remedy);
}

static void test_ring_forbidden(void **state)
{
    struct rig g = {0};

    rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
    in_child(falls_back_and_says_so, &g);
    in_child(refused_when_asked_for, &g);
    in_child(shortage_is_an_error, &g);
    rig_file_gone(&g);
}

/* An ordinary user with little memory to lock: reads all the same, unregistered, with the reason. */
static void unregistered_for_want_of_memory(struct rig *g)
{
    struct rig_options o = one_read(&engine_uring);
    struct rlimit limit = {65536, 65536};
    struct spur_error e = {0};

    CHILD(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    CHILD(geteuid() != 0 || setresuid(65534, 65534, 65534) == 0);
    CHILD(rig_try(g, &o, &e) == 0);
    CHILD(!strcmp(effective(g, "registered_buffers").value, "no"));
    CHILD(strstr(effective(g, "registered_buffers").reason, "65536"));
    read_in_child(g);
}

static void test_little_lockable_memory(void **state)
{
    struct rig g = {0};

    rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
    assert_int_equal(chmod(g.directory, 0755), 0);
    in_child(unregistered_for_want_of_memory, &g);
    rig_file_gone(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_put_off),
        cmocka_unit_test(test_one_fails),
        cmocka_unit_test(test_put_off_for_ever),
        cmocka_unit_test(test_no_progress),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_settings_hold),
        cmocka_unit_test(test_ring_forbidden),
        cmocka_unit_test(test_little_lockable_memory),
    };
    const char *seed = getenv("SPUR_TEST_SEED");

    if (need_ring())
        return 77;
    random_state = seed ? strtoull(seed, NULL, 0) : now_ns() | 1;
    print_message("SPUR_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
