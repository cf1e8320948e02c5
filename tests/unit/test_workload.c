/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "workload/claims.h"
#include "workload/draw.h"
#include "workload/workload.h"

#define MAX_THREADS 12
#define MAX_DEPTH   16
#define BLOCK       4096ull

/* All threads of a plan, driven by one thread in an order that is drawn. */
struct thread {
    struct workload_thread *t;
    bool idle, ended;
    struct workload_step flight[MAX_DEPTH];
    unsigned n_flight;
    uint64_t n_steps, n_reads, bytes;
};

struct run {
    const struct workload_ops *ops;
    struct workload_plan plan;
    struct workload_file files[8];
    struct thread threads[MAX_THREADS];
    struct draw draw;
    uint8_t *covered[8]; /* per byte: how often; only where a test counts bytes */
    uint64_t digest;     /* of all steps in their order */
    uint8_t *owner[8];   /* per block: thread + 1 that had it */
    uint8_t *busy[8];    /* per block: unfinished steps */
    bool writing;
};

static void run_open(struct run *r)
{
    struct spur_error e;

    for (unsigned i = 0; i < r->plan.n_threads; i++) {
        struct thread *t = &r->threads[i];

        assert_int_equal(r->ops->open(&r->plan, i, &t->t, &t->idle, &e), 0);
        assert_int_equal(t->idle, t->t == NULL);
        t->ended = t->idle;
    }
}

static void run_close(struct run *r)
{
    for (unsigned i = 0; i < r->plan.n_threads; i++)
        r->ops->close(r->threads[i].t);
    for (unsigned f = 0; f < r->plan.n_files; f++) {
        free(r->covered[f]);
        free(r->owner[f]);
        free(r->busy[f]);
    }
}

static void maps_make(struct run *r, bool count_bytes)
{
    for (unsigned f = 0; f < r->plan.n_files; f++) {
        uint64_t bytes = r->files[f].bytes;

        r->covered[f] = count_bytes ? calloc(bytes + 1, 1) : NULL;
        r->owner[f] = calloc(bytes / BLOCK + 2, 1);
        r->busy[f] = calloc(bytes / BLOCK + 2, 1);
    }
}

static void check_step(const struct run *r, const struct workload_step *s)
{
    uint64_t bytes = r->files[s->file].bytes, request = r->plan.request_bytes;

    assert_true(s->file < r->plan.n_files);
    assert_true(s->length > 0 && s->length <= request);
    assert_true(s->offset < bytes && s->length <= bytes - s->offset);
    assert_int_equal(s->due_ns, 0);
    if (!r->plan.unaligned)
        assert_int_equal(s->offset % request, 0);
    if (!r->plan.total_bytes && (r->plan.unaligned || bytes - s->offset >= request))
        assert_int_equal(s->length, request);
    else if (!r->plan.total_bytes)
        assert_int_equal(s->length, bytes - s->offset);
    if (r->plan.total_bytes && r->ops != &sequential_workload && request % BLOCK == 0 && !r->plan.unaligned)
        assert_int_equal(s->length % BLOCK, 0);
}

static void mark_step(struct run *r, unsigned index, const struct workload_step *s)
{
    r->digest = draw_mix(r->digest + draw_mix(s->offset ^ draw_mix(s->length + s->op)) + s->file * 31 + index);
    for (uint64_t i = s->offset; r->covered[0] && i < s->offset + s->length; i++)
        r->covered[s->file][i] += r->covered[s->file][i] < 255;
    if (!r->writing)
        return;
    for (uint64_t b = s->offset / BLOCK; b <= (s->offset + s->length - 1) / BLOCK; b++) {
        uint8_t *owner = &r->owner[s->file][b], *busy = &r->busy[s->file][b];

        assert_true(*owner == 0 || *owner == index + 1);
        assert_int_equal(*busy, 0);
        *owner = (uint8_t)(index + 1);
        *busy = 1;
    }
}

static void complete(struct run *r, struct thread *t, unsigned k)
{
    struct workload_step s = t->flight[k];

    for (uint64_t b = s.offset / BLOCK; r->writing && b <= (s.offset + s.length - 1) / BLOCK; b++)
        r->busy[s.file][b] = 0;
    t->flight[k] = t->flight[--t->n_flight];
    r->ops->done(t->t, &s);
}

static void advance(struct run *r, unsigned index)
{
    struct thread *t = &r->threads[index];
    struct workload_step s;
    int got;

    if (t->n_flight == r->plan.depth) {
        complete(r, t, (unsigned)draw_below(&r->draw, t->n_flight));
        return;
    }
    got = r->ops->next(t->t, &s);
    if (got == -EAGAIN) {
        assert_true(r->writing && t->n_flight > 0);
        complete(r, t, (unsigned)draw_below(&r->draw, t->n_flight));
    } else if (got == 0) {
        assert_true(r->plan.total_bytes > 0);
        assert_int_equal(r->ops->next(t->t, &s), 0);
        t->ended = true;
    } else {
        assert_int_equal(got, 1);
        check_step(r, &s);
        mark_step(r, index, &s);
        t->flight[t->n_flight++] = s;
        t->n_steps++;
        t->n_reads += s.op == SPUR_OP_READ;
        t->bytes += s.length;
    }
}

/* With total_bytes until all threads ended, else for @n_rounds. */
static void run_all(struct run *r, unsigned n_rounds)
{
    bool going = true;

    for (unsigned round = 0; going && (r->plan.total_bytes || round < n_rounds); round++) {
        going = false;
        for (unsigned i = 0; i < r->plan.n_threads; i++)
            if (!r->threads[i].ended && draw_below(&r->draw, 4))
                advance(r, i);
        for (unsigned i = 0; i < r->plan.n_threads; i++)
            going |= !r->threads[i].ended;
    }
}

static uint64_t sum_bytes(const struct run *r)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < r->plan.n_threads; i++)
        sum += r->threads[i].bytes;
    return sum;
}

static uint64_t sum_files(const struct run *r)
{
    uint64_t sum = 0;

    for (unsigned f = 0; f < r->plan.n_files; f++)
        sum += r->files[f].bytes;
    return sum;
}

/* A plan drawn from seed @n: few small files, so that parts are tiny and edges are common. */
static struct run *run_draw(unsigned n, const struct workload_ops *ops, bool write)
{
    static const uint64_t requests[] = {4096, 8192, 12288, 65536, 512, 1000, 7, 5000};
    struct run *r = calloc(1, sizeof(*r));
    struct draw *d = &r->draw;

    draw_seed(d, n, 99);
    r->ops = ops;
    r->writing = write || ops == &mix_workload;
    r->plan = (struct workload_plan){.files = r->files,
                                     .n_files = 1 + (unsigned)draw_below(d, 6),
                                     .n_threads = 1 + (unsigned)draw_below(d, MAX_THREADS),
                                     .request_bytes = requests[draw_below(d, r->writing ? 4 : 7)],
                                     .seed = draw_next(d),
                                     .read_percent = (unsigned)draw_below(d, 101),
                                     .depth = 1 + (unsigned)draw_below(d, MAX_DEPTH),
                                     .write = write};
    for (unsigned f = 0; f < r->plan.n_files; f++)
        r->files[f].bytes = draw_below(d, 3) ? draw_below(d, 40) * BLOCK : draw_below(d, 40 * BLOCK);
    r->files[draw_below(d, r->plan.n_files)].bytes += 2 * 65536;
    return r;
}

static void run_free(struct run *r)
{
    run_close(r);
    free(r);
}

/* The first total_bytes of all files, each byte once, and nothing else; no total_bytes is special. */
static void sequential_covers_exactly(void **state)
{
    for (unsigned n = 0; n < 300; n++) {
        struct run *r = run_draw(n, &sequential_workload, n % 2);
        uint64_t sum = sum_files(r), left;

        r->plan.total_bytes = n % 5 ? 1 + draw_below(&r->draw, sum) : sum;
        left = r->plan.total_bytes;
        maps_make(r, true);
        run_open(r);
        run_all(r, 0);
        assert_int_equal(sum_bytes(r), left);
        for (unsigned f = 0; f < r->plan.n_files; f++)
            for (uint64_t i = 0; i<r->files[f].bytes; i++, left -= left> 0)
                if (r->covered[f][i] != (left > 0)) /* no call a byte */
                    fail_msg("byte %lu of file %u", (unsigned long)i, f);
        run_free(r);
    }
}

/* Without total_bytes the threads go round: every byte comes, and comes again. */
static void sequential_wraps(void **state)
{
    for (unsigned n = 0; n < 24; n++) {
        struct run *r = run_draw(n, &sequential_workload, n % 2);

        r->plan.request_bytes = 4096ull << n % 3;
        maps_make(r, true);
        run_open(r);
        run_all(r, 700);
        for (unsigned f = 0; f < r->plan.n_files; f++)
            for (uint64_t i = 0; i < r->files[f].bytes && r->plan.n_files <= r->plan.n_threads; i++)
                if (r->covered[f][i] < 2) /* no call a byte */
                    fail_msg("byte %lu of file %u", (unsigned long)i, f);
        run_free(r);
    }
}

static void sequential_order(void **state)
{
    struct workload_file files[] = {{10000}, {0}, {4096}, {9000}};
    struct workload_plan plan = {.files = files, .n_files = 4, .n_threads = 2, .request_bytes = 4096, .depth = 1};
    static const struct workload_step want[2][8] = {{{0, 0, 0, 4096},
                                                     {0, 0, 4096, 4096},
                                                     {0, 0, 8192, 1808},
                                                     {0, 3, 0, 4096},
                                                     {0, 3, 4096, 4096},
                                                     {0, 3, 8192, 808},
                                                     {0, 0, 0, 4096},
                                                     {0, 0, 4096, 4096}},
                                                    {{0, 2, 0, 4096},
                                                     {0, 2, 0, 4096},
                                                     {0, 2, 0, 4096},
                                                     {0, 2, 0, 4096},
                                                     {0, 2, 0, 4096},
                                                     {0, 2, 0, 4096},
                                                     {0, 2, 0, 4096},
                                                     {0, 2, 0, 4096}}};

    for (unsigned i = 0; i < 2; i++) {
        struct workload_thread *t;
        struct workload_step s;
        bool idle;

        assert_int_equal(sequential_workload.open(&plan, i, &t, &idle, NULL), 0);
        for (unsigned k = 0; k < 8; k++) {
            assert_int_equal(sequential_workload.next(t, &s), 1);
            assert_memory_equal(&s, &want[i][k], sizeof(s));
        }
        sequential_workload.close(t);
    }
}

/* Writers: blocks belong to one thread, and no block has two unfinished steps (checked in mark_step). */
static void writers_keep_apart(void **state)
{
    const struct workload_ops *shapes[] = {&random_workload, &mix_workload, &sequential_workload};

    for (unsigned n = 0; n < 600; n++) {
        struct run *r = run_draw(n, shapes[n % 3], true);

        if (n % 3 != 2 && n % 4 == 0) {
            static const uint64_t odd[] = {1, 7, 4096, 5000, 8192, 65537};

            r->plan.unaligned = true;
            r->plan.request_bytes = odd[draw_below(&r->draw, 6)];
        }
        maps_make(r, false);
        run_open(r);
        run_all(r, 1000);
        assert_true(sum_bytes(r) > 0);
        run_free(r);
    }
}

static void random_totals_are_exact(void **state)
{
    for (unsigned n = 0; n < 400; n++) {
        struct run *r = run_draw(n, n % 2 ? &random_workload : &mix_workload, n % 4 == 1);
        uint64_t request, multiple, low = UINT64_MAX, high = 0;

        r->plan.unaligned = n % 5 == 0;
        request = r->plan.request_bytes;
        multiple = r->plan.unaligned ? 1 : request % BLOCK ? request : BLOCK;
        r->plan.total_bytes = (1 + draw_below(&r->draw, 400000) / multiple) * multiple;
        maps_make(r, false);
        run_open(r);
        run_all(r, 0);
        assert_int_equal(sum_bytes(r), r->plan.total_bytes);
        for (unsigned i = 0; i < r->plan.n_threads; i++) {
            if (r->threads[i].idle)
                continue;
            low = r->threads[i].bytes < low ? r->threads[i].bytes : low;
            high = r->threads[i].bytes > high ? r->threads[i].bytes : high;
        }
        assert_true(high - low <= request);
        run_free(r);
    }
}

static uint64_t digest_of(unsigned n, const struct workload_ops *ops, uint64_t seed_added)
{
    struct run *r = run_draw(n, ops, n % 3 == 0);
    uint64_t digest;

    r->plan.n_threads = 1 + n % 3;
    r->files[0].bytes = 32ull << 20;
    r->plan.seed += seed_added;
    maps_make(r, false);
    run_open(r);
    run_all(r, 500);
    digest = r->digest;
    run_free(r);
    return digest;
}

static void same_seed_same_steps(void **state)
{
    for (unsigned n = 0; n < 40; n++) {
        const struct workload_ops *ops = n % 2 ? &random_workload : &mix_workload;

        assert_int_equal(digest_of(n, ops, 0), digest_of(n, ops, 0));
        assert_int_not_equal(digest_of(n, ops, 0), digest_of(n, ops, 1));
    }
}

/* Threads must not walk in step. */
static void threads_draw_differently(void **state)
{
    struct workload_file file = {1ull << 40};
    struct workload_plan plan = {.files = &file, .n_files = 1, .n_threads = 2, .request_bytes = 4096, .depth = 1};
    struct workload_thread *t[2];
    struct workload_step s[2];
    unsigned n_same = 0;
    bool idle;

    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(random_workload.open(&plan, i, &t[i], &idle, NULL), 0);
    for (unsigned k = 0; k < 1000; k++) {
        for (unsigned i = 0; i < 2; i++)
            random_workload.next(t[i], &s[i]);
        n_same += s[0].offset == s[1].offset;
    }
    assert_true(n_same < 3);
    random_workload.close(t[0]);
    random_workload.close(t[1]);
}

/* chi-square with k - 1 degrees of freedom: mean k - 1, deviation sqrt(2 (k - 1)); six deviations are allowed. */
static void check_uniform(const uint64_t *counts, const double *weights, unsigned k)
{
    double n = 0, chi = 0;

    for (unsigned i = 0; i < k; i++)
        n += (double)counts[i];
    for (unsigned i = 0; i < k; i++)
        chi += ((double)counts[i] - n * weights[i]) * ((double)counts[i] - n * weights[i]) / (n * weights[i]);
    assert_true(fabs(chi - (k - 1)) < 6 * sqrt(2.0 * (k - 1)));
}

#define N_CELLS 97u

static void aligned_draws_are_uniform(void **state)
{
    const struct workload_ops *shapes[] = {&random_workload, &random_workload, &mix_workload};
    struct workload_file file = {N_CELLS * 4096 - 1000}; /* the tail counts as one */
    struct workload_plan plan = {
        .files = &file, .n_files = 1, .n_threads = 1, .request_bytes = 4096, .depth = 1, .read_percent = 50};

    for (unsigned k = 0; k < 3; k++) {
        uint64_t counts[N_CELLS] = {0};
        double weights[N_CELLS];
        struct workload_thread *t;
        struct workload_step s;
        bool idle;

        plan.write = k == 1;
        assert_int_equal(shapes[k]->open(&plan, 0, &t, &idle, NULL), 0);
        for (unsigned i = 0; i < 200000; i++) {
            assert_int_equal(shapes[k]->next(t, &s), 1);
            counts[s.offset / 4096]++;
            shapes[k]->done(t, &s);
        }
        for (unsigned i = 0; i < N_CELLS; i++)
            weights[i] = 1.0 / N_CELLS;
        check_uniform(counts, weights, N_CELLS);
        shapes[k]->close(t);
    }
}

/* Files of very different sizes: each place of the union is as likely as any other. */
static void draws_over_many_files(void **state)
{
    enum { N = 50 };
    struct workload_file files[N];
    struct workload_plan plan = {.files = files, .n_files = N, .n_threads = 1, .request_bytes = 4096, .depth = 1};
    uint64_t counts[N] = {0}, sum = 0;
    double weights[N];
    struct workload_thread *t;
    struct workload_step s;
    bool idle;

    for (unsigned f = 0; f < N; f++) {
        files[f] = (struct workload_file){(f % 7 == 0 ? 2000ull : 3 + f) * 4096, f * 1000ull};
        sum += files[f].bytes;
    }
    assert_int_equal(random_workload.open(&plan, 0, &t, &idle, NULL), 0);
    for (unsigned i = 0; i < 300000; i++) {
        assert_int_equal(random_workload.next(t, &s), 1);
        assert_true(s.offset >= files[s.file].begin && (s.offset - files[s.file].begin) % 4096 == 0);
        assert_true(s.offset + s.length <= files[s.file].begin + files[s.file].bytes);
        counts[s.file]++;
    }
    for (unsigned f = 0; f < N; f++)
        weights[f] = (double)files[f].bytes / (double)sum;
    check_uniform(counts, weights, N);
    random_workload.close(t);
}

static void unaligned_draws_are_uniform(void **state)
{
    struct workload_file file = {64 * 4096 + 999};
    struct workload_plan plan = {
        .files = &file, .n_files = 1, .n_threads = 1, .request_bytes = 1000, .depth = 1, .unaligned = true};
    uint64_t counts[64] = {0}, low[64] = {0}, last = 0;
    double weights[64];
    struct workload_thread *t;
    struct workload_step s;
    bool idle;

    for (unsigned i = 0; i < 64; i++)
        weights[i] = 1.0 / 64;
    for (plan.write = false;; plan.write = true) {
        memset(counts, 0, sizeof(counts));
        memset(low, 0, sizeof(low));
        assert_int_equal(random_workload.open(&plan, 0, &t, &idle, NULL), 0);
        for (unsigned i = 0; i < 200000; i++) {
            assert_int_equal(random_workload.next(t, &s), 1);
            assert_int_equal(s.length, 1000);
            assert_true(s.offset <= 64 * 4096 - 1);
            counts[s.offset / 4096]++;
            low[s.offset % 64]++;
            last = s.offset > last ? s.offset : last;
            random_workload.done(t, &s);
        }
        check_uniform(counts, weights, 64);
        check_uniform(low, weights, 64);
        assert_true(last > 64 * 4096 - 20);
        random_workload.close(t);
        if (plan.write)
            break;
    }
}

static void mix_keeps_its_share(void **state)
{
    static const unsigned percents[] = {0, 1, 30, 70, 99, 100};
    struct workload_file file = {64ull << 20};
    struct workload_plan plan = {.files = &file, .n_files = 1, .n_threads = 3, .request_bytes = 4096, .depth = 4};
    struct workload_thread *t;
    struct workload_step s;
    bool idle;

    for (unsigned k = 0; k < 6; k++) {
        double n = 200000, p = percents[k] / 100.0, n_reads = 0;

        plan.read_percent = percents[k];
        assert_int_equal(mix_workload.open(&plan, 1, &t, &idle, NULL), 0);
        for (unsigned i = 0; i < n; i++) {
            assert_int_equal(mix_workload.next(t, &s), 1);
            n_reads += s.op == SPUR_OP_READ;
            mix_workload.done(t, &s);
        }
        assert_true(fabs(n_reads - n * p) <= 6 * sqrt(n * p * (1 - p)));
        mix_workload.close(t);
    }
}

/* Two free places, depth eight: what is over is refused until something is done, and asking often changes nothing. */
static void full_part_says_again(void **state)
{
    const struct workload_ops *shapes[] = {&random_workload, &mix_workload, &sequential_workload};
    struct workload_file file = {4 * 4096};
    struct workload_plan plan = {.files = &file,
                                 .n_files = 1,
                                 .n_threads = 2,
                                 .request_bytes = 4096,
                                 .depth = 8,
                                 .write = true,
                                 .read_percent = 50};

    for (unsigned k = 0; k < 3; k++) {
        struct workload_step s[3];
        struct workload_thread *t;
        bool idle;

        assert_int_equal(shapes[k]->open(&plan, 1, &t, &idle, NULL), 0);
        assert_int_equal(shapes[k]->next(t, &s[0]), 1);
        assert_int_equal(shapes[k]->next(t, &s[1]), 1);
        assert_int_equal(s[0].offset + s[1].offset, 2 * 4096 + 3 * 4096);
        for (unsigned i = 0; i < 1000; i++)
            assert_int_equal(shapes[k]->next(t, &s[2]), -EAGAIN);
        shapes[k]->done(t, &s[0]);
        assert_int_equal(shapes[k]->next(t, &s[2]), 1);
        assert_int_equal(s[2].offset, s[0].offset);
        shapes[k]->close(t);
    }
}

static void depth_is_kept(void **state)
{
    struct workload_file file = {1ull << 30};
    struct workload_plan plan = {
        .files = &file, .n_files = 1, .n_threads = 1, .request_bytes = 4096, .depth = 3, .write = true};
    struct workload_thread *t;
    struct workload_step s;
    bool idle;

    assert_int_equal(random_workload.open(&plan, 0, &t, &idle, NULL), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(random_workload.next(t, &s), 1);
    assert_int_equal(random_workload.next(t, &s), -EAGAIN);
    random_workload.close(t);
}

static void asking_again_changes_nothing(void **state)
{
    struct workload_file file = {64 * 4096};
    struct workload_plan plan = {.files = &file,
                                 .n_files = 1,
                                 .n_threads = 1,
                                 .request_bytes = 4096,
                                 .depth = 4,
                                 .write = true,
                                 .read_percent = 40};
    struct workload_thread *t[2];
    struct workload_step s[2];
    bool idle;

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mix_workload.open(&plan, 0, &t[i], &idle, NULL), 0);
        for (unsigned k = 0; k < 3; k++)
            mix_workload.next(t[i], &s[i]);
    }
    for (unsigned k = 0; k < 500; k++) {
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(mix_workload.next(t[i], &s[i]), 1);
        for (unsigned i = 0; i < k % 7; i++)
            assert_int_equal(mix_workload.next(t[1], &(struct workload_step){0}), -EAGAIN);
        assert_memory_equal(&s[0], &s[1], sizeof(s[0]));
        for (unsigned i = 0; i < 2; i++)
            mix_workload.done(t[i], &s[i]);
    }
    mix_workload.close(t[0]);
    mix_workload.close(t[1]);
}

static void more_threads_than_places(void **state)
{
    const struct workload_ops *shapes[] = {&random_workload, &mix_workload, &sequential_workload};
    struct workload_file file = {3 * 4096 - 5};
    struct workload_plan plan = {
        .files = &file, .n_files = 1, .n_threads = 8, .request_bytes = 4096, .depth = 1, .write = true};

    for (unsigned k = 0; k < 3; k++) {
        unsigned n_idle = 0;

        for (unsigned i = 0; i < 8; i++) {
            struct workload_thread *t;
            bool idle;

            assert_int_equal(shapes[k]->open(&plan, i, &t, &idle, NULL), 0);
            assert_int_equal(idle, t == NULL);
            n_idle += idle;
            shapes[k]->close(t);
        }
        assert_int_equal(n_idle, 5);
    }
}

/* Sizes of a file of 3 TiB and an odd tail: parts meet, offsets stay 64 bits wide. */
static void files_over_a_tebibyte(void **state)
{
    const uint64_t bytes = (3ull << 40) + 12345, request = 1 << 20;
    struct workload_file files[] = {{bytes}, {5ull << 40}};
    struct workload_plan plan = {.files = files, .n_files = 1, .n_threads = 7, .request_bytes = request, .depth = 32};
    uint64_t expected = 0, high = 0;
    struct workload_thread *t;
    struct workload_step s;
    bool idle;

    for (unsigned i = 0; i < 7; i++) { /* the first step of each part, walked to the part before's end */
        assert_int_equal(sequential_workload.open(&plan, i, &t, &idle, NULL), 0);
        assert_int_equal(sequential_workload.next(t, &s), 1);
        assert_true(i ? s.offset >= expected : s.offset == 0);
        assert_true(s.offset - expected <= request || i == 0);
        expected = (s.offset / request + (bytes / request + 1) / 7) * request;
        sequential_workload.close(t);
    }
    plan.unaligned = true;
    plan.n_files = 2;
    plan.n_threads = 1;
    for (unsigned own = 0; own < 2; own++) {
        plan.write = own;
        assert_int_equal(random_workload.open(&plan, 0, &t, &idle, NULL), 0);
        for (unsigned i = 0; i < 20000; i++) {
            assert_int_equal(random_workload.next(t, &s), 1);
            assert_true(s.offset + request <= files[s.file].bytes);
            high = s.offset > high ? s.offset : high;
            random_workload.done(t, &s);
        }
        assert_true(high > (49ull << 40) / 10);
        random_workload.close(t);
    }
}

/* The last part of a 1 TiB + 4097 file ends with its one odd byte past a block. */
static void last_step_of_a_huge_file(void **state)
{
    const uint64_t bytes = (1ull << 40) + 4097, request = 1ull << 30;
    struct workload_file file = {bytes};
    struct workload_plan plan = {
        .files = &file, .n_files = 1, .n_threads = 4, .request_bytes = request, .total_bytes = bytes, .depth = 4};
    uint64_t sum = 0, last_end = 0;

    for (unsigned i = 0; i < 4; i++) {
        struct workload_thread *t;
        struct workload_step s;
        bool idle;

        assert_int_equal(sequential_workload.open(&plan, i, &t, &idle, NULL), 0);
        while (sequential_workload.next(t, &s) == 1) {
            assert_int_equal(s.offset, last_end);
            last_end = s.offset + s.length;
            sum += s.length;
        }
        sequential_workload.close(t);
    }
    assert_int_equal(sum, bytes);
    assert_int_equal(last_end, bytes);
}

static int open_one(const struct workload_ops *ops, const struct workload_plan *plan, struct spur_error *e)
{
    struct workload_thread *t = NULL;
    bool idle;
    int r;

    memset(e, 0, sizeof(*e));
    r = ops->open(plan, 0, &t, &idle, e);
    ops->close(t);
    return r;
}

static void bad_plans_are_worded(void **state)
{
    struct workload_file files[] = {{100000}, {50000}};
    const struct workload_plan good = {.files = files, .n_files = 2, .n_threads = 2, .request_bytes = 8192, .depth = 1};
    struct workload_plan plan = good;
    struct spur_error e;

    plan.total_bytes = 150001;
    assert_int_equal(open_one(&sequential_workload, &plan, &e), -EINVAL);
    assert_int_equal(e.code, SPUR_CODE_USAGE);
    assert_non_null(strstr(e.detail, "150001"));
    assert_non_null(strstr(e.detail, "150000"));
    assert_int_equal(open_one(&random_workload, &plan, &e), -EINVAL);
    assert_non_null(strstr(e.detail, "multiple of 4096"));
    plan.total_bytes = 150000 / 4096 * 4096;
    assert_int_equal(open_one(&random_workload, &plan, &e), 0);
    plan.request_bytes = 1000;
    plan.total_bytes = 1500;
    assert_int_equal(open_one(&random_workload, &plan, &e), -EINVAL);
    assert_non_null(strstr(e.detail, "multiple of 1000"));
    plan = good;
    plan.request_bytes = 512;
    assert_int_equal(open_one(&mix_workload, &plan, &e), -EINVAL);
    assert_non_null(strstr(e.detail, "multiple of 4096"));
    plan.request_bytes = 0;
    assert_int_equal(open_one(&random_workload, &plan, &e), -EINVAL);
    plan = good;
    plan.unaligned = true;
    assert_int_equal(open_one(&sequential_workload, &plan, &e), -EINVAL);
    plan.request_bytes = 100001;
    assert_int_equal(open_one(&random_workload, &plan, &e), -EPERM);
    assert_int_equal(e.code, SPUR_CODE_REFUSED);
    assert_non_null(strstr(e.detail, "100001"));
    plan = good;
    plan.n_files = 0;
    assert_int_equal(open_one(&sequential_workload, &plan, &e), -EPERM);
    plan = good;
    plan.read_percent = 101;
    assert_int_equal(open_one(&mix_workload, &plan, &e), -EINVAL);
    plan = good;
    files[0].bytes = UINT64_MAX - 5;
    assert_int_equal(open_one(&sequential_workload, &plan, &e), -EINVAL);
}

/* Against a plain array, with places that share a home. */
static void claims_are_a_set(void **state)
{
    enum { N = 64 };
    bool taken[2][N] = {{false}};
    unsigned n = 0;
    struct claims c;
    struct draw d;

    draw_seed(&d, 5, 0);
    assert_int_equal(claims_init(&c, 8), 0);
    for (unsigned i = 0; i < 200000; i++) {
        unsigned f = (unsigned)draw_below(&d, 2), p = (unsigned)draw_below(&d, N);

        assert_int_equal(claims_has(&c, f, p * 4096ull), taken[f][p]);
        if (taken[f][p] || n == 30) {
            n -= taken[f][p];
            taken[f][p] = false;
            claims_remove(&c, f, p * 4096ull);
        } else {
            assert_true(claims_take(&c, f, p * 4096ull));
            assert_false(claims_take(&c, f, p * 4096ull));
            taken[f][p] = true;
            n++;
        }
        assert_int_equal(c.n, n);
    }
    claims_destroy(&c);
}

static void table_is_whole(void **state)
{
    for (unsigned i = 0; workload_table[i]; i++) {
        const struct workload_ops *ops = workload_table[i];

        assert_ptr_equal(workload_find(ops->name), ops);
        assert_true(ops->summary && ops->open && ops->close && ops->next && ops->done);
    }
    assert_null(workload_find("sequentia"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_a_set),
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(sequential_covers_exactly),
        cmocka_unit_test(sequential_wraps),
        cmocka_unit_test(sequential_order),
        cmocka_unit_test(writers_keep_apart),
        cmocka_unit_test(random_totals_are_exact),
        cmocka_unit_test(same_seed_same_steps),
        cmocka_unit_test(threads_draw_differently),
        cmocka_unit_test(aligned_draws_are_uniform),
        cmocka_unit_test(draws_over_many_files),
        cmocka_unit_test(unaligned_draws_are_uniform),
        cmocka_unit_test(mix_keeps_its_share),
        cmocka_unit_test(full_part_says_again),
        cmocka_unit_test(depth_is_kept),
        cmocka_unit_test(asking_again_changes_nothing),
        cmocka_unit_test(more_threads_than_places),
        cmocka_unit_test(files_over_a_tebibyte),
        cmocka_unit_test(last_step_of_a_huge_file),
        cmocka_unit_test(bad_plans_are_worded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
