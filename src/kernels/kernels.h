/* SPDX-License-Identifier: MIT */
/*
 * What the host side and the device kernels (spur.cu) must agree on. Arguments, in order:
 *
 *   spur_fill    u64 device address, u64 bytes, struct pattern_fill
 *   spur_check   u64 device address, u64 bytes, struct pattern_expect, u64 device address of a struct kernel_result
 *   spur_digest  u64 device address, u64 bytes, u64 device address of a struct kernel_result (its digest is added to)
 *   spur_copy    u64 device address of struct kernel_copy[], u32 count; one thread block per copy
 *
 * Every kernel takes any number of thread blocks of KERNEL_THREADS threads.
 */
#ifndef SPUR_KERNELS_H
#define SPUR_KERNELS_H

#include "pattern/pattern.h"

#define KERNEL_THREADS 256u
#define KERNEL_WARP    32u

struct kernel_copy {
    uint64_t from, to, bytes, reserved; /* 32 bytes: one read over the bus */
};

struct kernel_result {
    struct pattern_verdict verdict; /* verdict.offset begins as UINT64_MAX, so that "lower" needs no other field */
    uint64_t digest;
    uint32_t lock, reserved; /* held while the recorded bad block is replaced */
};

#ifndef __CUDACC__
/* PTX of spur.cu, ended by a zero byte (src/kernels/ptx.c). */
extern const char kernels_ptx[];
#endif

#endif
