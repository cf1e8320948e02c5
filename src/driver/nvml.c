/* SPDX-License-Identifier: MIT */
#include "driver/nvml.h"

#include "core/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0, PCIE_SENT = 0, PCIE_RECEIVED = 1 };

typedef struct nvmlDevice_st *device_t;
struct utilisation {
    unsigned gpu, memory;
};

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*by_uuid)(const char *, device_t *);
    /* Optional: NULL makes the values unknown. */
    int (*clock)(device_t, int, unsigned *);
    int (*reasons)(device_t, unsigned long long *);
    int (*temperature)(device_t, int, unsigned *);
    int (*power)(device_t, unsigned *);
    int (*utilisation)(device_t, struct utilisation *);
    int (*pcie)(device_t, int, unsigned *);
};

/* ------------------------------------------------------------------------------------------------
 * Loading
 */

struct symbol {
    const char *name;
    void **to;
    bool needed;
};

static int load_symbols(struct nvml *n, const char *file, struct spur_error *e)
{
    const struct symbol rows[] = {
        {"nvmlInit_v2", (void **)&n->init, true},
        {"nvmlShutdown", (void **)&n->shutdown, true},
        {"nvmlErrorString", (void **)&n->error_string, true},
        {"nvmlDeviceGetHandleByUUID", (void **)&n->by_uuid, true},
        {"nvmlDeviceGetClockInfo", (void **)&n->clock, false},
        {"nvmlDeviceGetCurrentClocksEventReasons", (void **)&n->reasons, false},
        {"nvmlDeviceGetTemperature", (void **)&n->temperature, false},
        {"nvmlDeviceGetPowerUsage", (void **)&n->power, false},
        {"nvmlDeviceGetUtilizationRates", (void **)&n->utilisation, false},
        {"nvmlDeviceGetPcieThroughput", (void **)&n->pcie, false},
    };

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        *rows[i].to = dlsym(n->library, rows[i].name);
        if (rows[i].needed && !*rows[i].to)
            return error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "dlsym", "%s has no %s", file, rows[i].name);
    }
    if (!n->reasons) /* its name before driver 535 */
        n->reasons =
            (int (*)(device_t, unsigned long long *))dlsym(n->library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    return 0;
}

static int load(struct nvml *n, struct spur_error *e)
{
    const char *named = getenv("SPUR_LIBNVML");
    const char *file = named && *named ? named : LIBRARY;
    int code, rc;

    n->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        const char *why = dlerror();

        rc = error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "dlopen", "%s not found: %s", file,
                           why ? why : "no reason given");
        error_remedy(e, "install the NVIDIA driver's libraries (Debian: libnvidia-ml1); without them GPU clocks and "
                        "throttling are not recorded");
        return rc;
    }
    rc = load_symbols(n, file, e);
    if (rc)
        return rc;
    code = n->init();
    if (code)
        return error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "nvmlInit_v2", "NVML does not start: %s (%d)",
                             n->error_string(code), code);
    return 0;
}

int nvml_open(struct nvml **ret, struct spur_error *e)
{
    struct nvml *n = calloc(1, sizeof(*n));
    int rc;

    if (!n)
        return error_errno(e, ENOMEM, "malloc", "NVML");
    rc = load(n, e);
    if (rc) {
        if (n->library)
            dlclose(n->library);
        free(n);
        return rc;
    }
    *ret = n;
    return 0;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

/* ------------------------------------------------------------------------------------------------
 * Reading
 */

static void put(const struct nvml *n, struct nvml_value *v, const char *call, int code, uint64_t value)
{
    memset(v, 0, sizeof(*v));
    v->known = !code;
    if (v->known)
        v->value = value;
    else
        snprintf(v->reason, sizeof(v->reason), "%s: %s", call, n->error_string(code));
}

static void put_missing(struct nvml_value *v, const char *call)
{
    memset(v, 0, sizeof(*v));
    snprintf(v->reason, sizeof(v->reason), "this NVML has no %s", call);
}

static void read_clock(const struct nvml *n, device_t device, int clock, struct nvml_value *v)
{
    unsigned mhz = 0;

    if (!n->clock) {
        put_missing(v, "nvmlDeviceGetClockInfo");
        return;
    }
    int code = n->clock(device, clock, &mhz);

    put(n, v, "nvmlDeviceGetClockInfo", code, mhz);
}

static void name_reasons(uint64_t mask, char *to, size_t size)
{
    static const struct {
        uint64_t bit;
        const char *word;
    } rows[] = {
        {0x1, "idle"},
        {0x2, "application clock setting"},
        {0x4, "software power cap"},
        {0x8, "hardware slowdown"},
        {0x10, "sync boost"},
        {0x20, "software thermal slowdown"},
        {0x40, "hardware thermal slowdown"},
        {0x80, "hardware power brake"},
        {0x100, "display clock setting"},
    };
    uint64_t rest = mask;
    size_t used = 0;

    snprintf(to, size, "%s", mask ? "" : "none");
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!(mask & rows[i].bit))
            continue;
        rest &= ~rows[i].bit;
        used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ", " : "", rows[i].word);
    }
    if (rest)
        snprintf(to + used, size - used, "%sunnamed 0x%llx", used ? ", " : "", (unsigned long long)rest);
}

static void read_reasons(const struct nvml *n, device_t device, struct nvml_reading *r)
{
    unsigned long long mask = 0;

    r->throttle_words[0] = '\0';
    if (!n->reasons) {
        put_missing(&r->throttle, "nvmlDeviceGetCurrentClocksEventReasons");
        return;
    }
    int code = n->reasons(device, &mask);

    put(n, &r->throttle, "nvmlDeviceGetCurrentClocksEventReasons", code, mask);
    if (r->throttle.known)
        name_reasons(mask, r->throttle_words, sizeof(r->throttle_words));
}

static void read_heat(const struct nvml *n, device_t device, struct nvml_reading *r)
{
    unsigned value = 0;

    if (n->temperature) {
        int code = n->temperature(device, TEMPERATURE_GPU, &value);

        put(n, &r->temperature_c, "nvmlDeviceGetTemperature", code, value);
    } else {
        put_missing(&r->temperature_c, "nvmlDeviceGetTemperature");
    }
    if (n->power) {
        int code = n->power(device, &value);

        put(n, &r->power_mw, "nvmlDeviceGetPowerUsage", code, value);
    } else {
        put_missing(&r->power_mw, "nvmlDeviceGetPowerUsage");
    }
}

static void read_utilisation(const struct nvml *n, device_t device, struct nvml_value *gpu, struct nvml_value *memory)
{
    static const char call[] = "nvmlDeviceGetUtilizationRates";
    struct utilisation u = {0, 0};

    if (!n->utilisation) {
        put_missing(gpu, call);
        put_missing(memory, call);
        return;
    }
    int code = n->utilisation(device, &u);

    put(n, gpu, call, code, u.gpu);
    put(n, memory, call, code, u.memory);
}

int nvml_read(struct nvml *n, const char *uuid, struct nvml_reading *ret, struct spur_error *e)
{
    device_t device = NULL;
    int code = n->by_uuid(uuid, &device);

    if (code)
        return error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "nvmlDeviceGetHandleByUUID", "%s: %s (%d)", uuid,
                             n->error_string(code), code);
    read_clock(n, device, CLOCK_SM, &ret->sm_mhz);
    read_clock(n, device, CLOCK_MEMORY, &ret->memory_mhz);
    read_reasons(n, device, ret);
    read_heat(n, device, ret);
    read_utilisation(n, device, &ret->utilisation_percent, &ret->memory_utilisation_percent);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

/* NVML's unit is kilobytes (1000) per second; the manual says KB/s. */
static void read_pcie(const struct nvml *n, device_t device, int direction, struct nvml_value *v)
{
    unsigned kb = 0;

    if (!n->pcie) {
        put_missing(v, "nvmlDeviceGetPcieThroughput");
        return;
    }
    int code = n->pcie(device, direction, &kb);

    put(n, v, "nvmlDeviceGetPcieThroughput", code, (uint64_t)kb * 1000);
}

int nvml_traffic_read(struct nvml *n, const char *uuid, struct nvml_traffic *ret, struct spur_error *e)
{
    struct nvml_value memory;
    device_t device = NULL;
    int code = n->by_uuid(uuid, &device);

    if (code)
        return error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "nvmlDeviceGetHandleByUUID", "%s: %s (%d)", uuid,
                             n->error_string(code), code);
    read_pcie(n, device, PCIE_RECEIVED, &ret->received);
    read_pcie(n, device, PCIE_SENT, &ret->sent);
    read_utilisation(n, device, &ret->utilisation_percent, &memory);
    return 0;
}
