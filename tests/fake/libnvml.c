/* SPDX-License-Identifier: MIT */
/*
 * An NVML for tests: one GPU, that of the fake libcuda. FAKE_NVML_BROKEN=1: values cannot be read. Has the old name of
 * the throttle reasons only. The link carries 3 GB/s to it and 1 GB/s from it.
 */
#include "driver/nvml.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

typedef struct nvmlDevice_st *device_t;

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *device);
EXPORT int nvmlDeviceGetClockInfo(device_t device, int clock, unsigned *mhz);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(device_t device, unsigned long long *mask);
EXPORT int nvmlDeviceGetTemperature(device_t device, int sensor, unsigned *celsius);
EXPORT int nvmlDeviceGetPowerUsage(device_t device, unsigned *milliwatts);
EXPORT int nvmlDeviceGetPcieThroughput(device_t device, int direction, unsigned *kb);

static int broken(void)
{
    return getenv("FAKE_NVML_BROKEN") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlInit_v2(void)
{
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int code)
{
    return code == NOT_SUPPORTED ? "Not Supported" : code == NOT_FOUND ? "Not Found" : "Success";
}

int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *device)
{
    *device = (device_t)0x10;
    return strncmp(uuid, "GPU-fa", 6) ? NOT_FOUND : SUCCESS;
}

int nvmlDeviceGetClockInfo(device_t device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1980 : clock == 2 ? 3201 : 0;
    return broken();
}

int nvmlDeviceGetCurrentClocksThrottleReasons(device_t device, unsigned long long *mask)
{
    *mask = 0x4 | 0x40 | 0x1000;
    return broken();
}

int nvmlDeviceGetTemperature(device_t device, int sensor, unsigned *celsius)
{
    *celsius = 31;
    return sensor ? NOT_SUPPORTED : broken();
}

int nvmlDeviceGetPowerUsage(device_t device, unsigned *milliwatts)
{
    *milliwatts = 78123;
    return broken();
}

int nvmlDeviceGetPcieThroughput(device_t device, int direction, unsigned *kb)
{
    *kb = direction == 1 ? 3000000 : 1000000;
    return broken();
}
