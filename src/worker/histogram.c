/* SPDX-License-Identifier: MIT */
#include "worker/histogram.h"

#include <math.h>
#include <string.h>

#define GET(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

void histogram_init(struct histogram *h)
{
    memset(h, 0, sizeof(*h));
    h->min_ns = UINT64_MAX;
}

uint64_t histogram_lower(unsigned i)
{
    const unsigned n_sub = 1u << HISTOGRAM_SUB_BITS;

    if (i < n_sub)
        return i;
    return (uint64_t)(n_sub + (i & (n_sub - 1))) << ((i >> HISTOGRAM_SUB_BITS) - 1);
}

static uint64_t bucket_middle(unsigned i)
{
    uint64_t lower = histogram_lower(i);

    return lower + (histogram_lower(i + 1) - lower) / 2;
}

/* count is taken from the buckets, not from from->count, so that the two agree in @into also when the writer goes on
 * meanwhile. */
void histogram_add(struct histogram *into, const struct histogram *from)
{
    uint64_t n, n_added = 0, min_ns, max_ns;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        n = GET(from->bucket[i]);
        if (!n)
            continue;
        HISTOGRAM_PUT(into->bucket[i], into->bucket[i] + n);
        n_added += n;
    }
    HISTOGRAM_PUT(into->count, into->count + n_added);
    HISTOGRAM_PUT(into->sum_ns, into->sum_ns + GET(from->sum_ns));
    HISTOGRAM_PUT(into->n_over, into->n_over + GET(from->n_over));
    min_ns = GET(from->min_ns);
    if (min_ns < into->min_ns)
        HISTOGRAM_PUT(into->min_ns, min_ns);
    max_ns = GET(from->max_ns);
    if (max_ns > into->max_ns)
        HISTOGRAM_PUT(into->max_ns, max_ns);
}

static uint64_t total(const struct histogram *h)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        n += GET(h->bucket[i]);
    return n;
}

/* 0.07 * 100 is 7.000000000000001 in binary: the product is taken down by more than its rounding error first. */
static uint64_t rank_of(double q, uint64_t n)
{
    double product = q * (double)n;
    double rank = ceil(product - product * 1e-14);

    if (!(rank >= 1))
        return 1;
    return rank >= (double)n ? n : (uint64_t)rank;
}

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
    if (v > high)
        v = high;
    return v < low ? low : v;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
    uint64_t n = total(h), rank, seen = 0;

    if (!n)
        return 0;
    rank = rank_of(q, n);
    if (rank == n)
        return GET(h->max_ns);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += GET(h->bucket[i]);
        if (seen >= rank)
            return clamp(bucket_middle(i), GET(h->min_ns), GET(h->max_ns));
    }
    return GET(h->max_ns);
}
