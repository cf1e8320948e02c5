/* SPDX-License-Identifier: MIT */
/*
 * Which GPUs a worker sees: those of its job and no others, for a cuFile library may touch every GPU that it sees when
 * it opens its driver. CUDA numbers what it sees from 0, so the worker, told by SPUR_GPUS_NARROWED, opens the job's
 * first GPU as number 0, and goes on calling it by the number that was asked for.
 */
#ifndef SPUR_WORKER_VISIBLE_GPUS_H
#define SPUR_WORKER_VISIBLE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#define GPUS_NARROWED "SPUR_GPUS_NARROWED"

/*
 * Writes the value of CUDA_VISIBLE_DEVICES for @memory ("cuda:1", "cuda:0,2"): the entries with these numbers of the
 * present value @visible, or where that is NULL the numbers themselves, which CUDA counts in the same order. False:
 * nothing is to be narrowed: no GPU is named, there is one only, or a number is beyond what there is (@n_gpus, where
 * @visible is NULL; 0: unknown), which is for CUDA to say.
 */
bool visible_gpus(const char *memory, const char *visible, unsigned n_gpus, char *ret, size_t size);

/* GPUs of this machine as the kernel driver lists them (/proc/driver/nvidia/gpus); 0: it does not. */
unsigned visible_gpus_count(void);

#endif
