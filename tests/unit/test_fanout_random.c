/* SPDX-License-Identifier: MIT */
/*
 * Property of fanout: whatever the settings, memory, depth and file system, requests on byte ranges that do not overlap
 * move exactly their bytes, each completes once, and nothing beside them changes, in the buffer or in the file.
 * SPUR_TEST_SEED=N repeats a run, SPUR_TEST_ROUNDS=N makes it longer.
 */
#include "test_fanout.h"

#define FILE_BYTES  ((1u << 20) + 777u)
#define FILE_ROOM   (FILE_BYTES + 300000u)
#define MAX_REQUEST 400000u
#define MAX_PARTS   64u
#define SLICE       (MAX_REQUEST + 16384u)

struct setting_choice {
    const char *key;
    const char *values[6];
};

static const struct setting_choice choices[] = {
    {"engine", {"auto", "uring", "threads", "caller", "uring", "threads"}},
    {"piece", {"auto", "4K", "8K", "64K", "256K", "12K"}},
    {"stage", {"auto", "auto", "1M", "512K", "2M", "auto"}},
    {"batch", {"auto", "1", "4", "64", "auto", "2"}},
    {"async", {"auto", "yes", "no", "auto", "auto", "no"}},
    {"workers", {"auto", "1", "3", "auto", "2", "auto"}},
    {"direct", {"yes", "yes", "yes", "yes", "yes", "no"}},
};
#define N_CHOICES ARRAY_SIZE(choices)

/* Some bytes of the file that one request moves. */
struct part {
    bool write;
    uint64_t offset, length, at; /* at: in the buffer, of the first segment */
    uint64_t gap;                /* between segments */
    struct spur_segment segments[5];
    uint32_t n_segments;
    unsigned completed;
};

static struct part parts[MAX_PARTS];
static unsigned n_parts;
static uint8_t *model; /* of the buffer */
static char what[400]; /* the settings, for messages */

/* Neighbours share pages, sectors, or lie apart; the last may reach over the end of the file. */
static void draw_parts(struct rig *g, unsigned most, bool writable)
{
    uint64_t at = draw(3) ? draw(g->bytes) : 0;

    for (n_parts = 0; n_parts < most && at < g->bytes; n_parts++) {
        struct part *p = &parts[n_parts];
        static const uint64_t sizes[] = {700, 5000, 40000, MAX_REQUEST};

        memset(p, 0, sizeof(*p));
        p->write = writable && draw(2);
        if (draw(4) == 0)
            at = round_up(at, draw(2) ? 512 : 4096);
        if (at >= g->room)
            break;
        p->offset = at;
        p->length = 1 + draw(sizes[draw(4)]);
        if (draw(4) == 0)
            p->length = round_up(p->length, draw(2) ? 512 : 4096);
        if (p->length > MAX_REQUEST)
            p->length = MAX_REQUEST;
        if (p->write && p->offset + p->length > g->room)
            p->length = g->room - p->offset;
        p->at = n_parts * SLICE + (draw(2) ? 0 : draw(8192));
        at += p->length + (draw(2) ? 0 : draw(9000));
    }
}

static void draw_segments(struct rig *g, struct part *p)
{
    uint64_t rest = p->length, at = p->at;
    unsigned most = draw(3) ? 1 : 1 + (unsigned)draw(5);

    p->gap = draw(2) ? draw(600) : 512;
    while (rest) {
        uint64_t n = p->n_segments + 1 == most || rest == 1 ? rest : 1 + draw(rest);

        p->segments[p->n_segments++] = (struct spur_segment){g->buffer, at, n};
        rest -= n;
        at += n + p->gap;
    }
}

/* Walks the part's bytes: f(buffer offset, file offset, length). */
static void for_bytes(const struct part *p, uint64_t length,
                      void (*f)(uint64_t at, uint64_t offset, uint64_t n, void *), void *context)
{
    uint64_t offset = p->offset;

    for (uint32_t i = 0; i < p->n_segments && length; i++) {
        uint64_t n = p->segments[i].length < length ? p->segments[i].length : length;

        f(p->segments[i].offset, offset, n, context);
        offset += n;
        length -= n;
    }
}

static void into_model(uint64_t at, uint64_t offset, uint64_t n, void *context)
{
    memcpy(model + at, ((struct rig *)context)->image + offset, n);
}

static void into_image(uint64_t at, uint64_t offset, uint64_t n, void *context)
{
    memcpy(((struct rig *)context)->image + offset, model + at, n);
}

static uint64_t expected_result(const struct rig *g, const struct part *p)
{
    uint64_t left = p->offset < g->bytes ? g->bytes - p->offset : 0;

    return p->write || p->length < left ? p->length : left;
}

static struct spur_request part_request(struct rig *g, const struct part *p, uint64_t index)
{
    struct spur_request r = request(g, p->write ? SPUR_OP_WRITE : SPUR_OP_READ, p->offset, p->length, p->at, index);

    if (p->n_segments > 1) {
        r.n_segments = p->n_segments;
        r.segments = p->segments;
        r.buffer = NULL;
    }
    return r;
}

static void take(struct rig *g, unsigned *n_done, uint64_t grown)
{
    struct spur_completion done[MAX_PARTS];
    struct spur_error e = {0};
    unsigned max = 1 + (unsigned)draw(MAX_PARTS);
    int n = spur_queue_reap(g->queue, done, max, (unsigned)draw(max + 1), &e);

    if (n < 0)
        fail_msg("%s: reap: %s", what, e.detail);
    for (int i = 0; i < n; i++) {
        struct part *p = &parts[done[i].user_data];
        uint64_t expected = expected_result(g, p);
        bool at_grown_end = !p->write && p->offset + p->length > g->bytes && grown > g->bytes;

        p->completed++;
        if (done[i].result < 0)
            fail_msg("%s: %s", what, spur_queue_error(g->queue)->detail);
        if (!at_grown_end && (uint64_t)done[i].result != expected)
            fail_msg("%s: %llu at %llu: %lld", what, (unsigned long long)p->length, (unsigned long long)p->offset,
                     (long long)done[i].result);
    }
    *n_done += (unsigned)n;
}

/* Hands the parts in, some at a time, and takes completions in between. */
static void move_parts(struct rig *g, uint64_t grown)
{
    unsigned n_in = 0, n_done = 0;

    while (n_done < n_parts) {
        struct spur_request requests[MAX_PARTS];
        struct spur_error e = {0};
        unsigned n = n_in < n_parts ? 1 + (unsigned)draw(n_parts - n_in) : 0;
        int r = 0;

        for (unsigned i = 0; i < n; i++)
            requests[i] = part_request(g, &parts[n_in + i], n_in + i);
        if (n)
            r = spur_queue_submit(g->queue, requests, n, &e);
        if (r < 0 && r != -EAGAIN)
            fail_msg("%s: submit: %s", what, e.detail);
        n_in += r > 0 ? (unsigned)r : 0;
        take(g, &n_done, grown);
    }
    for (unsigned i = 0; i < n_parts; i++)
        assert_int_equal(parts[i].completed, 1);
}

static void assert_buffer(struct rig *g)
{
    uint8_t *got = buffer_bytes(g, 0, g->buffer->bytes);

    for (size_t i = 0; i < g->buffer->bytes; i++)
        if (got[i] != model[i])
            fail_msg("%s: buffer differs at %zu (slice %zu + %zu): %02x, not %02x", what, i, i / SLICE, i % SLICE,
                     got[i], model[i]);
    free(got);
}

static void play_round(struct rig *g, unsigned depth, bool writable)
{
    uint64_t grown = g->bytes;

    draw_bytes(model, 4096);
    for (size_t i = 4096; i < g->buffer->bytes; i += 4096)
        memcpy(model + i, model + draw(4096 / 8) * 8 / 2, g->buffer->bytes - i < 2048 ? g->buffer->bytes - i : 2048);
    draw_parts(g, depth * 2 < MAX_PARTS ? depth * 2 : MAX_PARTS, writable);
    for (unsigned i = 0; i < n_parts; i++) {
        draw_segments(g, &parts[i]);
        if (parts[i].write && parts[i].offset + parts[i].length > grown)
            grown = parts[i].offset + parts[i].length;
    }
    /* A read over an end that a write moves at the same time may see either: not drawn. */
    for (unsigned i = 0; i < n_parts; i++)
        if (grown > g->bytes && !parts[i].write && parts[i].offset + parts[i].length > g->bytes)
            parts[i].write = true;
    for (unsigned i = 0; i < n_parts; i++)
        if (parts[i].write && parts[i].offset + parts[i].length > grown)
            grown = parts[i].offset + parts[i].length;
    assert_int_equal(spur_buffer_write(g->buffer, 0, model, g->buffer->bytes, NULL), 0);
    for (unsigned i = 0; i < n_parts; i++)
        if (parts[i].write)
            for_bytes(&parts[i], parts[i].length, into_image, g);
        else
            for_bytes(&parts[i], expected_result(g, &parts[i]), into_model, g);
    move_parts(g, grown);
    g->bytes = grown;
    assert_buffer(g);
}

static void play(unsigned place, const char *memory)
{
    struct rig g = {0};
    struct spur_key_value settings[N_CHOICES];
    unsigned depth = draw(2) ? 1 + (unsigned)draw(8) : 1 + (unsigned)draw(64);
    bool writable = draw(3) != 0;
    struct rig_options o = {memory, depth, writable, MAX_REQUEST, 0, settings, N_CHOICES};
    int n = snprintf(what, sizeof(what), "%s %s depth %u", place_name(place), memory, depth);

    for (size_t i = 0; i < N_CHOICES; i++) {
        settings[i] = (struct spur_key_value){choices[i].key, choices[i].values[draw(6)]};
        n += snprintf(what + n, sizeof(what) - (size_t)n, " %s=%s", settings[i].key, settings[i].value);
    }
    o.buffer = SLICE * (depth * 2 < MAX_PARTS ? depth * 2 : MAX_PARTS);
    model = calloc(1, o.buffer);
    rig_file(&g, place, FILE_BYTES, FILE_ROOM);
    rig_open(&g, &o);
    for (int round = 0; round < 3; round++)
        play_round(&g, depth, writable);
    assert_file(&g);
    rig_close(&g);
    rig_file_gone(&g);
    free(model);
}

static void test_random(void **state)
{
    static const char *const memories[] = {"pageable", "pinned", "emulated"};
    const char *seed = getenv("SPUR_TEST_SEED"), *rounds = getenv("SPUR_TEST_ROUNDS");
    unsigned n = rounds ? (unsigned)atoi(rounds) : 40;

    random_state = seed ? strtoull(seed, NULL, 0) : now_ns() | 1;
    print_message("SPUR_TEST_SEED=%llu\n", (unsigned long long)random_state);
    for (unsigned i = 0; i < n; i++)
        play(i % 2, memories[i % 3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    if (need_ring())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
