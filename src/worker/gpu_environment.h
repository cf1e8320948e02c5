/* SPDX-License-Identifier: MIT */
#ifndef SPUR_WORKER_GPU_ENVIRONMENT_H
#define SPUR_WORKER_GPU_ENVIRONMENT_H

#include <jansson.h>

/* Clocks, throttling and use of a GPU by NVML, for `environment.*.gpu`: new reference. What is null has its reason in
 * @nulls, under @prefix. */
json_t *gpu_environment_read(const char *uuid, json_t *nulls, const char *prefix);

#endif
