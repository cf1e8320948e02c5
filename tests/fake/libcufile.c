/* SPDX-License-Identifier: MIT */
/* The driver of the fake libcufile: open, close, properties. See libcufile.h. */
#include "libcufile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const int fake_cufile_is_simulated = 1;

struct fake_state state = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

void state_lock(void)
{
    pthread_mutex_lock(&state.lock);
}

void state_unlock(void)
{
    pthread_mutex_unlock(&state.lock);
}

CUfileError_t status_of(int code)
{
    return (CUfileError_t){.err = code, .cu_err = code == CUFILE_CUDA_DRIVER_ERROR ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS};
}

/* The first opening in a process fixes the configuration. */
static int configure(void)
{
    static bool is_fixed;
    int rc;

    if (is_fixed)
        return 0;
    rc = config_load();
    is_fixed = !rc;
    return rc;
}

int driver_ensure(void)
{
    int rc;

    if (state.is_open)
        return 0;
    rc = configure();
    if (rc)
        return rc;
    if (!has_direct_road() && !config_number(KEY_ALLOW_COMPAT) && !config_number(KEY_FORCE_COMPAT))
        return CUFILE_DRIVER_NOT_INITIALIZED;
    state.is_open = true;
    state.uses = 1;
    stats_begin();
    log_open();
    if (!has_direct_road())
        log_line("NOTICE", "running in compatible mode");
    return 0;
}

CUfileError_t cuFileDriverOpen(void)
{
    int code = fault_code("cuFileDriverOpen");
    bool was_open;

    if (code)
        return status_of(code);
    state_lock();
    was_open = state.is_open;
    code = driver_ensure();
    if (was_open)
        state.uses++;
    state_unlock();
    return status_of(code);
}

static CUfileError_t close_driver(const char *symbol)
{
    int code = fault_code(symbol);

    state_lock();
    if (!code && !state.is_open) {
        code = CUFILE_DRIVER_NOT_INITIALIZED;
    } else if (!code && --state.uses == 0) {
        while (state.n_inflight)
            pthread_cond_wait(&state.progress, &state.lock);
        log_line("INFO", "driver closed");
        state.is_open = false;
    }
    state_unlock();
    return status_of(code);
}

CUfileError_t cuFileDriverClose(void)
{
    return close_driver("cuFileDriverClose");
}

CUfileError_t cuFileDriverClose_v2(void)
{
    return close_driver("cuFileDriverClose");
}

long cuFileUseCount(void)
{
    long n;

    fault_enter("cuFileUseCount");
    state_lock();
    n = state.is_open ? state.uses : 0;
    state_unlock();
    return n;
}

CUfileError_t cuFileGetVersion(int *version)
{
    int code = fault_code("cuFileGetVersion");

    if (!code)
        *version = profile_get()->version;
    return status_of(code);
}

/* ------------------------------------------------------------------------------------------------ */

static void fill(CUfileDrvProps_t *p, const struct profile *profile)
{
    bool streams = config_number(KEY_PARALLEL_IO) && config_number(KEY_IO_THREADS);

    if (profile->weight[ROAD_NVFS]) {
        p->nvfs.major_version = 2;
        p->nvfs.minor_version = 28;
        p->nvfs.dstatusflags |= 1u << 2 | 1u << 4; /* NFS, NVMe */
    }
    if (profile->weight[ROAD_P2P])
        p->nvfs.dstatusflags |= 1u << 4;
    p->nvfs.poll_thresh_size = config_number(KEY_POLL_SIZE);
    p->nvfs.max_direct_io_size = config_number(KEY_DIRECT_IO);
    p->nvfs.dcontrolflags = (unsigned)(config_number(KEY_POLL_MODE) | config_number(KEY_ALLOW_COMPAT) << 1 |
                                       config_number(KEY_FALLBACK) << 4);
    p->fflags = 1u << 1 | (unsigned)streams << 2 | (unsigned)config_number(KEY_PARALLEL_IO) << 3 |
                (unsigned)(profile->weight[ROAD_P2P] != 0) << 4;
    p->max_device_cache_size = (unsigned)config_number(KEY_DEVICE_CACHE);
    p->per_buffer_cache_size = (unsigned)config_number(KEY_BUFFER_CACHE);
    p->max_device_pinned_mem_size = (unsigned)config_number(KEY_PINNED);
    p->max_batch_io_size = (unsigned)config_number(KEY_BATCH);
    p->max_batch_io_timeout_msecs = (unsigned)config_number(KEY_BATCH_TIMEOUT);
}

CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t *properties)
{
    int code = fault_code("cuFileDriverGetProperties");
    CUfileDrvProps_t p = {0};

    if (code || !properties)
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    state_lock();
    code = driver_ensure();
    if (!code)
        fill(&p, profile_get());
    state_unlock();
    if (!code)
        memcpy(properties, &p, profile_get()->properties_bytes);
    return status_of(code);
}

/*
 * The older calls by which an application sets properties: before 1.17 once the driver is open; since then before, and
 * without effect afterwards.
 */
static CUfileError_t set_property(const char *symbol, enum key key, size_t value)
{
    bool is_early = profile_get()->version < 1170;
    int code = fault_code(symbol);

    state_lock();
    if (!code && is_early && !state.is_open)
        code = CUFILE_DRIVER_NOT_INITIALIZED;
    if (!code && is_early == state.is_open)
        code = config_put(key, value);
    state_unlock();
    return status_of(code);
}

CUfileError_t cuFileDriverSetPollMode(bool poll, size_t threshold_kb)
{
    CUfileError_t status = set_property("cuFileDriverSetPollMode", KEY_POLL_SIZE, threshold_kb);

    return status.err ? status : set_property("poll-mode", KEY_POLL_MODE, poll);
}

CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t kb)
{
    return set_property("cuFileDriverSetMaxDirectIOSize", KEY_DIRECT_IO, kb);
}

CUfileError_t cuFileDriverSetMaxCacheSize(size_t kb)
{
    return set_property("cuFileDriverSetMaxCacheSize", KEY_DEVICE_CACHE, kb);
}

CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t kb)
{
    return set_property("cuFileDriverSetMaxPinnedMemSize", KEY_PINNED, kb);
}

CUfileError_t cuFileGetBARSizeInKB(int gpu, size_t *kb)
{
    int code = fault_code("cuFileGetBARSizeInKB");

    if (!code && !kb)
        code = CUFILE_INVALID_VALUE;
    if (!code)
        *kb = 0; /* as the real one in compatibility mode */
    return status_of(code);
}

/* Bits of CUfileP2PFlags: 0 P2PDMA, 1 nvidia-fs. */
CUfileError_t cuFileDriverGetP2PFlags(int status_flag, int *flags)
{
    int code = fault_code("cuFileDriverGetP2PFlags");
    const struct profile *p = profile_get();

    if (!code && !flags)
        code = CUFILE_INVALID_VALUE;
    state_lock();
    if (!code && !state.is_open)
        code = CUFILE_DRIVER_NOT_INITIALIZED;
    state_unlock();
    if (!code)
        *flags = (p->weight[ROAD_P2P] ? 1 : 0) | (p->weight[ROAD_NVFS] ? 2 : 0);
    return status_of(code);
}

CUfileError_t cuFileDriverSetP2PFlags(int status_flag, int flags)
{
    int code = fault_code("cuFileDriverSetP2PFlags");

    return status_of(code ? code : CUFILE_INVALID_VALUE); /* the road is the profile's */
}

CUfileError_t cuFileExportPCIeTopology(const char *file)
{
    int code = fault_code("cuFileExportPCIeTopology");

    return status_of(code ? code : CUFILE_INTERNAL_ERROR); /* there is no topology */
}

/* ------------------------------------------------------------------------------------------------ */

/* Lock held. */
enum road road_next(void)
{
    const struct profile *p = profile_get();
    unsigned total = 0;
    uint64_t n;

    if (config_number(KEY_FORCE_COMPAT) || !p->files_supported)
        return ROAD_POSIX;
    for (unsigned i = 0; i < N_ROADS; i++)
        total += p->weight[i];
    n = state.n_dealt++ % total;
    for (unsigned i = 0; i < N_ROADS; i++) {
        if (n < p->weight[i])
            return (enum road)i;
        n -= p->weight[i];
    }
    return ROAD_POSIX;
}
