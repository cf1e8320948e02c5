/* SPDX-License-Identifier: MIT */
/*
 * The device kernels; what they share with the host is in kernels.h and judge.h. One warp takes one block of the
 * pattern at a time. spur.ptx is made from this file by make-ptx.sh and is part of the source tree.
 */
#include "kernels/judge.h"

#define ALL_LANES 0xffffffffu

static __device__ __forceinline__ unsigned lane_of(void)
{
    return threadIdx.x % KERNEL_WARP;
}

static __device__ __forceinline__ uint64_t warp_of(void)
{
    return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / KERNEL_WARP;
}

static __device__ __forceinline__ uint64_t n_warps(void)
{
    return (uint64_t)gridDim.x * blockDim.x / KERNEL_WARP;
}

static __device__ __forceinline__ void add(uint64_t *to, uint64_t value)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
}

/* ------------------------------------------------------------------------------------------------ */

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS)
    spur_fill(uint8_t *dst, uint64_t bytes, struct pattern_fill fill)
{
    uint64_t n_blocks = (bytes + PATTERN_BLOCK - 1) / PATTERN_BLOCK;

    for (uint64_t k = warp_of(); k < n_blocks; k += n_warps()) {
        uint64_t left = bytes - k * PATTERN_BLOCK;

        fill_lane(dst + k * PATTERN_BLOCK, left < PATTERN_BLOCK ? (unsigned)left : PATTERN_BLOCK, &fill, k, lane_of());
    }
}

/* ------------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ unsigned warp_min(unsigned v)
{
    for (unsigned d = KERNEL_WARP / 2; d; d /= 2)
        v = min(v, __shfl_xor_sync(ALL_LANES, v, d));
    return v;
}

/* One lane only. The offset only ever falls, so a stale look at it can but cause a needless lock. */
static __device__ void record(struct kernel_result *r, const struct judge *j)
{
    volatile struct pattern_verdict *v = &r->verdict;
    uint64_t offset = j->block_offset + j->byte;

    add(&r->verdict.blocks_bad, 1);
    if (offset >= v->offset)
        return;
    while (atomicCAS(&r->lock, 0u, 1u))
        ;
    __threadfence();
    if (offset < v->offset) {
        v->offset = offset;
        v->fault = j->fault;
        v->expected = j->expected;
        v->found = j->found;
    }
    __threadfence();
    atomicExch(&r->lock, 0u);
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS)
    spur_check(const uint8_t *src, uint64_t bytes, struct pattern_expect expect, struct kernel_result *result)
{
    uint64_t n_parts = judge_n_parts(expect.offset, bytes);
    uint64_t ok = 0, unjudged = 0;

    for (uint64_t k = warp_of(); k < n_parts; k += n_warps()) {
        struct judge_part part = judge_part(expect.offset, bytes, k);
        struct judge j;

        if (judge_open(&j, src + part.skip, &part, &expect)) { /* the same for all lanes */
            unsigned wrong = warp_min(judge_lane(&j, lane_of()));

            if (wrong < JUDGE_WORDS)
                judge_word(&j, wrong);
        }
        if (j.fault && lane_of() == 0)
            record(result, &j);
        if (!j.fault && j.judged)
            ok += part.hi - part.lo;
        else if (!j.fault)
            unjudged += part.hi - part.lo;
        __syncwarp();
    }
    if (lane_of() == 0 && ok)
        add(&result->verdict.bytes_ok, ok);
    if (lane_of() == 0 && unjudged)
        add(&result->verdict.bytes_unjudged, unjudged);
}

/* ------------------------------------------------------------------------------------------------ */

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS)
    spur_digest(const uint8_t *src, uint64_t bytes, struct kernel_result *result)
{
    uint64_t n_words = (bytes + 7) / 8;
    uint64_t n_threads = (uint64_t)gridDim.x * blockDim.x;
    uint64_t sum = 0;

#pragma unroll 4
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += n_threads)
        sum += digest_share(src, bytes, i);
    for (unsigned d = KERNEL_WARP / 2; d; d /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, d);
    if (lane_of() == 0)
        add(&result->digest, sum);
}

/* ------------------------------------------------------------------------------------------------ */

/* Host memory is at one of the two ends: reads over the bus are kept in flight four at a time. */
static __device__ __forceinline__ uint64_t copy_vectors(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    const uint4 *src = (const uint4 *)from;
    uint4 *dst = (uint4 *)to;
    uint64_t n = bytes / sizeof(uint4);

#pragma unroll 4
    for (uint64_t i = threadIdx.x; i < n; i += KERNEL_THREADS)
        dst[i] = src[i];
    return n * sizeof(uint4);
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS) spur_copy(const struct kernel_copy *table, unsigned n)
{
    for (unsigned k = blockIdx.x; k < n; k += gridDim.x) {
        const uint8_t *from = (const uint8_t *)table[k].from;
        uint8_t *to = (uint8_t *)table[k].to;
        uint64_t bytes = table[k].bytes, done = 0;

        if (((uint64_t)from | (uint64_t)to) % sizeof(uint4) == 0)
            done = copy_vectors(to, from, bytes);
        else if (((uint64_t)from | (uint64_t)to) % 8 == 0)
            for (; done + 8 * KERNEL_THREADS <= bytes; done += 8 * KERNEL_THREADS)
                ((uint64_t *)(to + done))[threadIdx.x] = ((const uint64_t *)(from + done))[threadIdx.x];
        for (uint64_t i = done + threadIdx.x; i < bytes; i += KERNEL_THREADS)
            to[i] = from[i];
    }
}
