/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "worker/histogram.h"
#include "workload/draw.h"

static struct histogram *make(void)
{
    struct histogram *h = malloc(sizeof(*h));

    assert_non_null(h);
    histogram_init(h);
    return h;
}

/* Each bucket's range holds its values, and a bucket is narrower than 1/128 of them. */
static void check_value(uint64_t v)
{
    unsigned i = histogram_index(v);
    uint64_t low = histogram_lower(i), high = histogram_lower(i + 1);

    assert_true(low <= v && v < high);
    assert_true(high - low == 1 || (high - low) * 128 <= low);
}

static void buckets_hold_their_values(void **state)
{
    struct draw d;

    for (uint64_t v = 0; v < 70000; v++)
        check_value(v);
    for (unsigned bit = 7; bit < HISTOGRAM_MAX_BITS; bit++)
        for (int64_t off = -3; off <= 3; off++)
            check_value((1ull << bit) + (uint64_t)off);
    draw_seed(&d, 1, 0);
    for (unsigned i = 0; i < 200000; i++)
        check_value(draw_next(&d) >> (20 + i % 44));
    assert_int_equal(histogram_index((1ull << HISTOGRAM_MAX_BITS) - 1), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_index(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_lower(0), 0);
    assert_int_equal(histogram_lower(HISTOGRAM_BUCKETS), 1ull << HISTOGRAM_MAX_BITS);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        assert_int_equal(histogram_index(histogram_lower(i)), i);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Rank of the quantile in exact arithmetic: ceil(n * num / den). */
static const struct {
    double q;
    uint64_t num, den;
} quantiles[] = {{0.5, 1, 2},        {0.9, 9, 10},         {0.99, 99, 100}, {0.999, 999, 1000}, {0.9999, 9999, 10000},
                 {0.07, 7, 100},     {0.1, 1, 10},         {0.29, 29, 100}, {0.57, 57, 100},    {1e-9, 1, 1000000000},
                 {0.333, 333, 1000}, {0.00001, 1, 100000}, {1.0, 1, 1}};

static void check_quantiles(uint64_t *values, uint64_t n)
{
    struct histogram *h = make();

    for (uint64_t i = 0; i < n; i++)
        histogram_record(h, values[i]);
    qsort(values, n, sizeof(*values), compare);
    assert_int_equal(h->count, n);
    assert_int_equal(h->min_ns, values[0]);
    assert_int_equal(h->max_ns, values[n - 1]);
    for (unsigned k = 0; k < sizeof(quantiles) / sizeof(quantiles[0]); k++) {
        uint64_t rank = (n * quantiles[k].num + quantiles[k].den - 1) / quantiles[k].den;
        uint64_t want = values[rank - 1], got = histogram_quantile(h, quantiles[k].q);

        assert_true(fabs((double)got - (double)want) * 256 <= (double)want);
        assert_true(got >= h->min_ns && got <= h->max_ns);
        if (want < 128)
            assert_int_equal(got, want);
    }
    free(h);
}

static uint64_t uniform(struct draw *d)
{
    return draw_below(d, 1000000);
}
static uint64_t small(struct draw *d)
{
    return draw_below(d, 128);
}
/* Pareto with exponent 1: no mean. */
static uint64_t heavy(struct draw *d)
{
    double u = ((double)(draw_next(d) >> 11) + 1) / 9007199254740993.0, v = 1000 / u;

    return v < 1.7e13 ? (uint64_t)v : 17000000000000ull;
}

static uint64_t two_modes(struct draw *d)
{
    return draw_below(d, 1000) ? 80000 + draw_below(d, 9) : 900000000;
}
static uint64_t constant(struct draw *d)
{
    return 123456789;
}

static void quantiles_against_sorted(void **state)
{
    static const uint64_t counts[] = {1, 2, 3, 10, 100, 999, 1000, 100000};
    uint64_t (*const shapes[])(struct draw *) = {uniform, small, heavy, two_modes, constant};
    uint64_t *values = malloc(100000 * sizeof(*values));
    struct draw d;

    draw_seed(&d, 7, 0);
    for (unsigned s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        for (unsigned c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            for (uint64_t i = 0; i < counts[c]; i++)
                values[i] = shapes[s](&d);
            check_quantiles(values, counts[c]);
        }
    free(values);
}

static void overflow_is_counted(void **state)
{
    struct histogram *h = make();

    assert_int_equal(histogram_quantile(h, 0.5), 0);
    assert_int_equal(h->min_ns, UINT64_MAX);
    histogram_record(h, (1ull << 44) - 1);
    assert_int_equal(h->n_over, 0);
    histogram_record(h, 1ull << 44);
    histogram_record(h, 1ull << 50);
    assert_int_equal(h->n_over, 2);
    assert_int_equal(h->bucket[HISTOGRAM_BUCKETS - 1], 3);
    assert_int_equal(h->max_ns, 1ull << 50);
    assert_int_equal(histogram_quantile(h, 1), 1ull << 50);
    assert_int_equal(h->sum_ns, (1ull << 44) - 1 + (1ull << 44) + (1ull << 50));
    free(h);
}

static void add_is_as_if_recorded(void **state)
{
    struct histogram *a = make(), *b = make(), *both = make();
    struct draw d;

    draw_seed(&d, 3, 0);
    for (unsigned i = 0; i < 10000; i++) {
        uint64_t v = heavy(&d);

        histogram_record(i % 3 ? a : b, v);
        histogram_record(both, v);
    }
    histogram_record(b, 1ull << 60);
    histogram_record(both, 1ull << 60);
    histogram_add(a, b);
    assert_memory_equal(a, both, sizeof(*a));
    histogram_init(b);
    histogram_add(a, b); /* an empty one changes nothing, min included */
    assert_memory_equal(a, both, sizeof(*a));
    free(a);
    free(b);
    free(both);
}

/* A histogram caught between a bucket and its count, as a reader beside the writer sees it. */
static void add_counts_by_buckets(void **state)
{
    struct histogram *a = make(), *b = make();

    histogram_record(b, 500);
    histogram_record(b, 600);
    b->count--;
    histogram_add(a, b);
    assert_int_equal(a->count, 2);
    assert_in_range(histogram_quantile(b, 0.5), 500, 503);
    free(a);
    free(b);
}

#define N_WRITTEN 2000000

static void *writer(void *arg)
{
    for (unsigned i = 0; i < N_WRITTEN; i++)
        histogram_record(arg, 100 + i % 5000);
    return NULL;
}

/* What a reader sees only grows, agrees with itself, and lies in the range that was written. */
static void reader_beside_writer(void **state)
{
    struct histogram *h = make(), *seen = make();
    uint64_t last = 0, p50, sum;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, writer, h), 0);
    do {
        histogram_init(seen);
        histogram_add(seen, h);
        sum = 0;
        for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
            sum += seen->bucket[i];
        assert_int_equal(sum, seen->count);
        assert_true(seen->count >= last && seen->count <= N_WRITTEN);
        last = seen->count;
        p50 = histogram_quantile(h, 0.5);
        assert_true(!p50 || (p50 >= 100 && p50 < 5100));
    } while (last < N_WRITTEN);
    pthread_join(thread, NULL);
    assert_int_equal(h->count, N_WRITTEN);
    free(h);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_hold_their_values), cmocka_unit_test(quantiles_against_sorted),
        cmocka_unit_test(overflow_is_counted),       cmocka_unit_test(add_is_as_if_recorded),
        cmocka_unit_test(add_counts_by_buckets),     cmocka_unit_test(reader_beside_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
