/* SPDX-License-Identifier: MIT */
/* What fanout promises of single requests: ends of files, edges of writes, segments, gathering, bounded staging. */
#include "test_fanout.h"

#include "path/direct.h"

#define FILE_BYTES ((1u << 20) + 777u)
#define KIB        1024u

#define SETTINGS(...)                                                                                                  \
    .settings = (const struct spur_key_value[]){__VA_ARGS__},                                                          \
    .n_settings = sizeof((const struct spur_key_value[]){__VA_ARGS__}) / sizeof(struct spur_key_value)

static const char *const engines[] = {"uring", "threads", "caller"};

static int64_t transfer(struct rig *g, enum spur_op op, uint64_t offset, uint64_t length, uint64_t at)
{
    struct spur_request r = request(g, op, offset, length, at, 7);
    struct spur_error e = {0};
    int64_t n = spur_queue_transfer(g->queue, &r, &e);

    if (n < 0)
        fail_msg("%s", e.detail);
    return n;
}

/* Bytes of the file, and poison on both sides. */
static void assert_read(struct rig *g, uint64_t at, uint64_t offset, uint64_t n)
{
    uint8_t *got = buffer_bytes(g, 0, g->buffer->bytes);

    assert_memory_equal(got + at, g->image + offset, n);
    for (uint64_t i = 0; i < g->buffer->bytes; i++)
        if ((i < at || i >= at + n) && got[i] != POISON)
            fail_msg("%llu bytes at %llu to %llu: byte %llu of the buffer was touched", (unsigned long long)n,
                     (unsigned long long)offset, (unsigned long long)at, (unsigned long long)i);
    free(got);
}

static void read_ends(struct rig *g)
{
    static const uint64_t offsets[] = {
        0, 1, 511, 4096, 8192 + 7, FILE_BYTES - 777, FILE_BYTES - 1, FILE_BYTES, FILE_BYTES + 5000};
    static const uint64_t lengths[] = {1, 511, 4096, 3 * 4096 + 777, 200000};

    for (unsigned i = 0; i < ARRAY_SIZE(offsets) * ARRAY_SIZE(lengths); i++) {
        uint64_t offset = offsets[i % ARRAY_SIZE(offsets)], length = lengths[i / ARRAY_SIZE(offsets)];
        uint64_t left = offset < FILE_BYTES ? FILE_BYTES - offset : 0, at = i % 3 ? 4096 : 4096 + 33;

        poison(g);
        assert_int_equal(transfer(g, SPUR_OP_READ, offset, length, at), length < left ? length : left);
        assert_read(g, at, offset, length < left ? length : left);
    }
}

/* Reads at every kind of place, up to and over the end of a file of an odd size. */
static void test_ends(void **state)
{
    static const char *const memories[] = {"pageable", "pinned", "emulated"};

    for (unsigned i = 0; i < 2 * ARRAY_SIZE(engines) * ARRAY_SIZE(memories); i++) {
        struct rig g = {0};
        struct rig_options o = {memories[i / 2 % 3], 2,         false,
                                256 * KIB,           256 * KIB, SETTINGS({"engine", engines[i / 6]}, {"piece", "64K"})};

        rig_file(&g, i % 2, FILE_BYTES, FILE_BYTES);
        rig_open(&g, &o);
        read_ends(&g);
        rig_close(&g);
        rig_file_gone(&g);
    }
}

/* What is read is the aligned cover, cut off at the end of the file, and nothing twice. */
static void test_cover(void **state)
{
    static const char *const memories[] = {"pinned", "emulated"};

    for (unsigned i = 0; i < 4; i++) {
        struct rig g = {0};
        struct rig_options o = {memories[i / 2], 1, false, 512 * KIB, 512 * KIB, SETTINGS({"piece", "64K"})};
        uint64_t align, cover;

        rig_file(&g, i % 2, FILE_BYTES, FILE_BYTES);
        rig_open(&g, &o);
        align = g.file->align;
        transfer(&g, SPUR_OP_READ, 5000, 300000, 8);
        cover = round_up(305000, align) - round_down(5000, align);
        assert_int_equal(evidence(&g, "wire_bytes_read"), cover);
        transfer(&g, SPUR_OP_READ, FILE_BYTES - 1000, 1000, 8);
        cover += FILE_BYTES - round_down(FILE_BYTES - 1000, align);
        assert_int_equal(evidence(&g, "wire_bytes_read"), cover);
        assert_int_equal(evidence(&g, "short_completions"), 0);
        rig_close(&g);
        rig_file_gone(&g);
    }
}

static void write_and_check(struct rig *g, uint64_t offset, uint64_t length, uint64_t at)
{
    uint8_t *bytes = malloc(length);

    draw_bytes(bytes, length);
    assert_int_equal(spur_buffer_write(g->buffer, at, bytes, length, NULL), 0);
    memcpy(g->image + offset, bytes, length);
    if (offset + length > g->bytes)
        g->bytes = offset + length;
    assert_int_equal(transfer(g, SPUR_OP_WRITE, offset, length, at), length);
    assert_file(g);
    free(bytes);
}

static void write_edges(struct rig *g)
{
    write_and_check(g, 0, 4096, 0);
    write_and_check(g, 8192, 65536, 4096);
    assert_int_equal(evidence(g, "edge_writes"), 0);
    write_and_check(g, 1, 1, 0);
    write_and_check(g, 4000, 200, 5); /* within two pages, no whole one */
    write_and_check(g, 511, 100000, 511);
    write_and_check(g, 20000, 150001, 77);
    write_and_check(g, 512, 1024, 0);
    write_and_check(g, FILE_BYTES - 100, 100, 3);
    write_and_check(g, FILE_BYTES - 100, 5000, 3); /* grows to exactly there */
    write_and_check(g, g->bytes, 12345, 9);
    if (g->file->align > 1)
        assert_true(evidence(g, "edge_writes") >= 7);
    else
        assert_int_equal(evidence(g, "edge_writes"), 0);
}

/* Writes change their bytes and no others, and the file ends where they do. */
static void test_edges(void **state)
{
    static const char *const memories[] = {"pageable", "emulated"};

    for (unsigned i = 0; i < 2 * ARRAY_SIZE(engines) * ARRAY_SIZE(memories); i++) {
        struct rig g = {0};
        struct rig_options o = {memories[i / 2 % 2], 1,         true,
                                256 * KIB,           512 * KIB, SETTINGS({"engine", engines[i / 4]}, {"piece", "64K"})};

        rig_file(&g, i % 2, FILE_BYTES, FILE_BYTES + 65536);
        rig_open(&g, &o);
        write_edges(&g);
        rig_close(&g);
        rig_file_gone(&g);
    }
}

/* All in flight at once, completed once each. */
static void move_all(struct rig *g, const struct spur_request *requests, unsigned n)
{
    unsigned *seen = calloc(n, sizeof(*seen)), n_in = 0, n_done = 0;
    struct spur_completion done[64];
    struct spur_error e = {0};

    while (n_done < n) {
        int r = n_in < n ? spur_queue_submit(g->queue, requests + n_in, n - n_in, &e) : 0;

        if (r < 0 && r != -EAGAIN)
            fail_msg("submit: %s", e.detail);
        n_in += r > 0 ? (unsigned)r : 0;
        r = spur_queue_reap(g->queue, done, 64, 1, &e);
        for (int i = 0; i < r; i++) {
            if (done[i].result < 0)
                fail_msg("%s", spur_queue_error(g->queue)->detail);
            assert_int_equal(done[i].result, requests[done[i].user_data].length);
            assert_int_equal(++seen[done[i].user_data], 1);
        }
        n_done += (unsigned)r;
    }
    free(seen);
}

/* The file from page to page: borders of requests at random bytes, or (sectors) now and then at sectors. */
static unsigned cut_pages(struct rig *g, struct spur_request *requests, unsigned pages, bool sectors)
{
    unsigned n = 0;

    for (uint64_t at = 0, end = (uint64_t)pages * 4096; at < end; n++) {
        uint64_t next = at + 1 + draw(draw(8) ? 2500 : 20000);

        if (sectors && draw(2))
            next = round_up(next, 512);
        next = next < end ? next : end;
        requests[n] = request(g, SPUR_OP_WRITE, at, next - at, at, n);
        at = next;
    }
    return n;
}

/* ------------------------------------------------------------------------------------------------
 * A backend that watches what is under way
 */

static bool on_wire[FANOUT_MAX_PIECES];
static const struct fanout_backend *watched;
static unsigned n_watched_edges;

static bool share_page(const struct fanout_piece *a, const struct fanout_piece *b)
{
    return a->io_offset / 4096 <= (b->io_offset + b->io_bytes - 1) / 4096 &&
           b->io_offset / 4096 <= (a->io_offset + a->io_bytes - 1) / 4096;
}

/* No page is written both ways at once, and a request's edges come after what is whole. */
static void watch_push(struct fanout_queue *q, uint32_t piece)
{
    const struct fanout_piece *p = &q->pieces[piece];

    n_watched_edges += p->buffered;
    for (uint32_t i = 0; i < q->setup.n_pieces; i++) {
        if (!on_wire[i] || q->pieces[i].buffered == p->buffered)
            continue;
        assert_false(share_page(p, &q->pieces[i]));
        assert_true(q->pieces[i].request != p->request);
    }
    on_wire[piece] = true;
    watched->push(q, piece);
}

static int watch_reap(struct fanout_queue *q, struct fanout_landed *landed, unsigned max, unsigned wait,
                      uint64_t timeout_ns, struct spur_error *e)
{
    int n = watched->reap(q, landed, max, wait, timeout_ns, e);

    for (int i = 0; i < n; i++)
        on_wire[landed[i].piece] = false;
    return n;
}

static void watch(struct rig *g)
{
    memset(on_wire, 0, sizeof(on_wire));
    n_watched_edges = 0;
    watched = engine(g)->backend;
    rig_own_backend(g);
    g->backend.push = watch_push;
    g->backend.reap = watch_reap;
}

/* Requests that share pages, written at the same time, some of them directly: nobody's bytes get lost. */
static void neighbours(const char *engine_name, bool sectors)
{
    enum { PAGES = 128 };
    static struct spur_request requests[PAGES * 4096];
    struct rig g = {0};
    struct rig_options o = {"pinned", 256, true, 64 * KIB, PAGES * 4096, SETTINGS({"engine", engine_name})};

    rig_file(&g, 0, PAGES * 4096, PAGES * 4096);
    rig_open(&g, &o);
    watch(&g);
    for (int round = 0; round < 12; round++) {
        unsigned n = cut_pages(&g, requests, PAGES, sectors);

        for (unsigned i = n - 1; i > 0; i--) { /* in any order */
            struct spur_request r = requests[i];
            unsigned k = (unsigned)draw(i + 1);

            requests[i] = requests[k];
            requests[k] = r;
        }
        for (unsigned i = 0; i < n; i++)
            requests[i].user_data = i;
        draw_bytes(g.image, g.bytes);
        assert_int_equal(spur_buffer_write(g.buffer, 0, g.image, g.bytes, NULL), 0);
        move_all(&g, requests, n);
        assert_file(&g);
    }
    assert_true(n_watched_edges > 0 || g.file->align == 1);
    rig_close(&g);
    rig_file_gone(&g);
}

static void test_neighbours(void **state)
{
    neighbours("uring", false);
    neighbours("threads", false);
}

static void test_neighbours_on_sectors(void **state)
{
    neighbours("uring", true);
    neighbours("threads", true);
}

/* Many small requests at once: few calls copy them; each is right. */
static void test_gathered(void **state)
{
    enum { N = 256 };
    struct spur_request requests[N];
    struct rig g = {0};
    struct rig_options o = {"emulated", N, false, 4096, N * 4096, SETTINGS({"engine", "uring"})};
    uint8_t *got;

    rig_file(&g, 0, N * 4096, N * 4096);
    rig_open(&g, &o);
    for (unsigned i = 0; i < N; i++)
        requests[i] = request(&g, SPUR_OP_READ, (i * 37 % N) * 4096, 4096, i * 4096, i);
    move_all(&g, requests, N);
    got = buffer_bytes(&g, 0, N * 4096);
    for (unsigned i = 0; i < N; i++)
        assert_memory_equal(got + i * 4096, g.image + requests[i].offset, 4096);
    free(got);
    assert_int_equal(evidence(&g, "copies"), N);
    assert_true(evidence(&g, "scatter_calls") > 0);
    assert_true(evidence(&g, "copy_batches") < N / 2);
    rig_close(&g);
    rig_file_gone(&g);
}

/* One request alone keeps many pieces under way. */
static void test_pieces_overlap(void **state)
{
    struct rig g = {0};
    struct rig_options o = {"emulated", 1, false, 1u << 20, 1u << 20, SETTINGS({"engine", "uring"}, {"piece", "64K"})};

    rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
    rig_open(&g, &o);
    transfer(&g, SPUR_OP_READ, 0, 1u << 20, 0);
    assert_int_equal(evidence(&g, "pieces"), 16);
    assert_true(evidence(&g, "pieces_in_flight_max") >= 8);
    rig_close(&g);
    rig_file_gone(&g);
}

/* Staging for two pieces, and much more than that asked for: it waits, it does not fail, and takes no more. */
static void test_small_stage(void **state)
{
    struct spur_request requests[8];

    for (unsigned write = 0; write < 2; write++) {
        struct rig g = {0};
        struct rig_options o = {"emulated", 8,
                                true,       128 * KIB,
                                1u << 20,   SETTINGS({"engine", "uring"}, {"piece", "16K"}, {"stage", "32K"})};
        uint8_t *got;

        rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
        rig_open(&g, &o);
        assert_true(strtoull(effective(&g, "stage_bytes").value, NULL, 10) <= 32 * KIB);
        for (unsigned i = 0; i < 8; i++)
            requests[i] = request(&g, write, i * 128 * KIB, 128 * KIB, i * 128 * KIB, i);
        if (write) {
            draw_bytes(g.image, 1u << 20);
            assert_int_equal(spur_buffer_write(g.buffer, 0, g.image, 1u << 20, NULL), 0);
        }
        move_all(&g, requests, 8);
        got = buffer_bytes(&g, 0, 1u << 20);
        assert_memory_equal(got, g.image, 1u << 20);
        free(got);
        assert_true(evidence(&g, "pieces_in_flight_max") <= 4);
        assert_file(&g);
        rig_close(&g);
        rig_file_gone(&g);
    }
}

/* Closed with requests under way: nothing is written into the buffer afterwards. */
static void test_close_drains(void **state)
{
    for (unsigned i = 0; i < ARRAY_SIZE(engines); i++) {
        struct spur_request requests[16];
        struct rig g = {0};
        struct rig_options o = {"pinned", 16, false, 64 * KIB, 1u << 20, SETTINGS({"engine", engines[i]})};
        struct spur_error e = {0};
        uint8_t *before, *after;

        rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
        rig_open(&g, &o);
        for (unsigned k = 0; k < 16; k++)
            requests[k] = request(&g, SPUR_OP_READ, k * 64 * KIB, 64 * KIB, k * 64 * KIB, k);
        assert_int_equal(spur_queue_submit(g.queue, requests, 16, &e), 16);
        spur_queue_close(g.queue);
        g.queue = NULL;
        before = buffer_bytes(&g, 0, 1u << 20);
        usleep(20000);
        after = buffer_bytes(&g, 0, 1u << 20);
        assert_memory_equal(before, after, 1u << 20);
        free(before);
        free(after);
        rig_close(&g);
        rig_file_gone(&g);
    }
}

static void test_full_and_idle(void **state)
{
    struct rig g = {0};
    struct rig_options o = {"pinned", 2, false, 4096, 3 * 4096, SETTINGS({"engine", "uring"})};
    struct spur_completion done[4];
    struct spur_request requests[3];
    struct spur_error e = {0};

    rig_file(&g, 0, FILE_BYTES, FILE_BYTES);
    rig_open(&g, &o);
    assert_int_equal(spur_queue_reap(g.queue, done, 4, 4, &e), 0);
    for (unsigned i = 0; i < 3; i++)
        requests[i] = request(&g, SPUR_OP_READ, i * 4096, 4096, i * 4096, i);
    assert_int_equal(spur_queue_submit(g.queue, requests, 3, &e), 2);
    assert_int_equal(spur_queue_submit(g.queue, requests + 2, 1, &e), -EAGAIN);
    assert_int_equal(spur_queue_reap(g.queue, done, 4, 4, &e), 2);
    assert_int_equal(spur_queue_submit(g.queue, requests + 2, 1, &e), 1);
    assert_int_equal(spur_queue_reap(g.queue, done, 4, 1, &e), 1);
    assert_int_equal(done[0].user_data, 2);
    rig_close(&g);
    rig_file_gone(&g);
}

/* /dev is memory, the devices behind its nodes are not: they are not read by the caller, one piece after another. */
static void test_nodes_are_no_files_in_memory(void **state)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct rig g = {0};

    assert_true(fd >= 0);
    assert_false(file_in_memory(fd));
    close(fd);
    rig_file(&g, 1, FILE_BYTES, FILE_BYTES);
    fd = open(g.filename, O_RDONLY | O_CLOEXEC);
    assert_true(file_in_memory(fd));
    close(fd);
    rig_file_gone(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_neighbours_on_sectors),
        cmocka_unit_test(test_gathered),
        cmocka_unit_test(test_pieces_overlap),
        cmocka_unit_test(test_small_stage),
        cmocka_unit_test(test_close_drains),
        cmocka_unit_test(test_full_and_idle),
        cmocka_unit_test(test_nodes_are_no_files_in_memory),
    };
    const char *seed = getenv("SPUR_TEST_SEED");

    if (need_ring())
        return 77;
    random_state = seed ? strtoull(seed, NULL, 0) : now_ns() | 1;
    print_message("SPUR_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
