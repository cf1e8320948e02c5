/* SPDX-License-Identifier: MIT */
/*
 * Latency histogram with constant-cost recording: log-linear buckets (as HdrHistogram's), 128 per power of two, so a
 * value is off by less than 1/128 (0.8 %) of itself, exact below 128 ns; range 0 .. 2^44 ns (4.9 h), larger values go
 * into the last bucket and are counted. min, max and sum are exact. One writer; readers may look at any time (relaxed
 * atomics), and see a histogram at most a few requests old.
 */
#ifndef SPUR_HISTOGRAM_H
#define SPUR_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_MAX_BITS 44
#define HISTOGRAM_BUCKETS  ((HISTOGRAM_MAX_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
    uint64_t count, sum_ns, min_ns, max_ns, n_over; /* min_ns is UINT64_MAX when count is 0 */
    uint64_t bucket[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_index(uint64_t ns)
{
    if (ns < (1u << HISTOGRAM_SUB_BITS))
        return (unsigned)ns;
    unsigned top = 63u - (unsigned)__builtin_clzll(ns);
    unsigned shift = top - HISTOGRAM_SUB_BITS;
    unsigned i = ((shift + 1) << HISTOGRAM_SUB_BITS) + (unsigned)((ns >> shift) & ((1u << HISTOGRAM_SUB_BITS) - 1));
    return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

#define HISTOGRAM_PUT(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static inline void histogram_record(struct histogram *h, uint64_t ns)
{
    unsigned i = histogram_index(ns);

    HISTOGRAM_PUT(h->bucket[i], h->bucket[i] + 1);
    HISTOGRAM_PUT(h->count, h->count + 1);
    HISTOGRAM_PUT(h->sum_ns, h->sum_ns + ns);
    if (__builtin_expect(ns < h->min_ns, 0))
        HISTOGRAM_PUT(h->min_ns, ns);
    if (__builtin_expect(ns > h->max_ns, 0))
        HISTOGRAM_PUT(h->max_ns, ns);
    if (__builtin_expect(ns >> HISTOGRAM_MAX_BITS, 0))
        HISTOGRAM_PUT(h->n_over, h->n_over + 1);
}

void histogram_init(struct histogram *h);
/* Adds @from (read with relaxed atomics) to @into. */
void histogram_add(struct histogram *into, const struct histogram *from);
/* Smallest recorded value that at least fraction @q (0 < q <= 1) of all samples do not exceed; the middle of its
 * bucket, kept within [min, max]. 0 when empty: ask count first. */
uint64_t histogram_quantile(const struct histogram *h, double q);
/* Lower end of bucket @i in ns. */
uint64_t histogram_lower(unsigned i);

#endif
