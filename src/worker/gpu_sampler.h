/* SPDX-License-Identifier: MIT */
/*
 * What the GPUs' links carried and how busy they were, sampled about twice a second over the window by NVML on a thread
 * of its own. The same on every road, so it is evidence of none; ceilings are judged by it.
 */
#ifndef SPUR_WORKER_GPU_SAMPLER_H
#define SPUR_WORKER_GPU_SAMPLER_H

#include "driver/nvml.h"

#define GPU_SAMPLER_MAX   16
#define GPU_SAMPLER_LEAST 3 /* samples for a mean */

struct gpu_mean {
    unsigned n; /* samples */
    double mean;
    uint64_t max;
    char reason[NVML_REASON]; /* of a sample that could not be had: then n is 0 */
};

struct gpu_samples {
    bool known; /* the thread ran */
    unsigned n_gpus;
    struct {
        char uuid[48];
        struct gpu_mean received, sent; /* PCIe, bytes per second */
        struct gpu_mean utilisation;    /* percent */
    } gpus[GPU_SAMPLER_MAX];
    double user_s, system_s; /* CPU of the sampling thread */
    char reason[160];
};

struct gpu_sampler;

/* Loads NVML for these GPUs; always gives an object, which says in its samples why there are none. NULL: no memory. */
struct gpu_sampler *gpu_sampler_open(const char (*uuids)[48], unsigned n);
void gpu_sampler_start(struct gpu_sampler *s);
/* Ends the thread. */
void gpu_sampler_stop(struct gpu_sampler *s, struct gpu_samples *ret);
/* NULL is allowed. Stopped before. */
void gpu_sampler_close(struct gpu_sampler *s);

#endif
