/* SPDX-License-Identifier: MIT */
/*
 * What NVML says of a GPU at one moment: clocks, throttling, temperature, power, utilisation. Loaded by dlopen
 * (libnvidia-ml.so.1; SPUR_LIBNVML in the environment names another file). Each value is known or says why not.
 */
#ifndef SPUR_DRIVER_NVML_H
#define SPUR_DRIVER_NVML_H

#include "spur.h"

struct nvml;

#define NVML_REASON 96

/* A number that may be unknown. */
struct nvml_value {
    bool known;
    uint64_t value;
    char reason[NVML_REASON]; /* why it is not known */
};

struct nvml_reading {
    struct nvml_value sm_mhz, memory_mhz;
    struct nvml_value throttle; /* bit mask of NVML's clock event (throttle) reasons */
    char throttle_words[256];   /* the bits in words, "none", or "" if unknown */
    struct nvml_value temperature_c;
    struct nvml_value power_mw;
    struct nvml_value utilisation_percent, memory_utilisation_percent; /* over NVML's own last sample period */
};

/* -ENODEV: no library, or it does not start. */
int nvml_open(struct nvml **ret, struct spur_error *e);
void nvml_close(struct nvml *n);

/*
 * Reads the GPU with this UUID ("GPU-..."). Fails only if the GPU cannot be found; single values that cannot be read
 * are unknown with a reason.
 */
int nvml_read(struct nvml *n, const char *uuid, struct nvml_reading *ret, struct spur_error *e);

/*
 * What the PCIe link of that GPU carried over the last 20 ms, in bytes per second, as NVML measures it (the call takes
 * that long). The same on every road to the GPU, so it is evidence of none; ceilings are judged by it.
 */
struct nvml_traffic {
    struct nvml_value received, sent; /* by the GPU */
    struct nvml_value utilisation_percent;
};
int nvml_traffic_read(struct nvml *n, const char *uuid, struct nvml_traffic *ret, struct spur_error *e);

#endif
