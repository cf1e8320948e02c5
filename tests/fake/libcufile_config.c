/* SPDX-License-Identifier: MIT */
/*
 * Configuration: set by call before the environment before cufile.json before defaults, fixed when the driver opens.
 * Before that the getters tell only what was set by call, as those of 1.14 to 1.20 do.
 */
#include "libcufile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANY UINT64_MAX

static const struct row {
    const char *key, *variable;
    int variable_until; /* the variable is gone in this version and later; 0: never */
    bool is_bool;
    uint64_t otherwise, min, max, multiple;
    int since; /* the getters know it */
} rows[N_KEYS] = {
    [KEY_STATS] = {"profile.cufile_stats", "CUFILE_STATS_LEVEL", 0, false, 0, 0, 3, 1, 0},
    [KEY_QUEUE_DEPTH] = {"execution.max_io_queue_depth", NULL, 0, false, 128, 1, 256, 1, 0},
    [KEY_IO_THREADS] = {"execution.max_io_threads", NULL, 0, false, 4, 0, 32, 1, 0},
    [KEY_THRESHOLD] = {"execution.min_io_threshold_size_kb", NULL, 0, false, 1024, 4, UINT32_MAX, 1, 0},
    [KEY_PARALLELISM] = {"execution.max_request_parallelism", NULL, 0, false, 4, 0, 8, 1, 0},
    [KEY_DIRECT_IO] = {"properties.max_direct_io_size_kb", NULL, 0, false, 1024, 64, 16384, 64, 0},
    [KEY_DEVICE_CACHE] = {"properties.max_device_cache_size_kb", NULL, 0, false, 131072, 0, ANY, 4, 0},
    [KEY_BUFFER_CACHE] = {"properties.per_buffer_cache_size_kb", NULL, 0, false, 1024, 64, 16384, 4, 0},
    [KEY_PINNED] = {"properties.max_device_pinned_mem_size_kb", NULL, 0, false, 33554432, 64, ANY, 4, 0},
    [KEY_BATCH] = {"properties.io_batchsize", NULL, 0, false, 128, 1, 256, 1, 0},
    [KEY_POLL_SIZE] = {"properties.poll_mode_max_size_kb", NULL, 0, false, 4, 4, ANY, 4, 0},
    [KEY_BATCH_TIMEOUT] = {"properties.max_batch_io_timeout_msecs", NULL, 0, false, 5, 1, 1000, 1, 0},
    [KEY_POLL_MODE] = {"properties.use_poll_mode", NULL, 0, true, 0, 0, 1, 1, 0},
    [KEY_ALLOW_COMPAT] = {"properties.allow_compat_mode", "CUFILE_ALLOW_COMPAT_MODE", 1170, true, 1, 0, 1, 1, 0},
    [KEY_FORCE_COMPAT] = {"properties.force_compat_mode", "CUFILE_FORCE_COMPAT_MODE", 0, true, 0, 0, 1, 1, 0},
    [KEY_API_CHECK] = {"miscellaneous.api_check_aggressive", NULL, 0, true, 0, 0, 1, 1, 0},
    [KEY_PARALLEL_IO] = {"execution.parallel_io", NULL, 0, true, 1, 0, 1, 1, 0},
    [KEY_NVTX] = {"profile.nvtx", "CUFILE_NVTX", 1170, true, 0, 0, 1, 1, 0},
    [KEY_SYSTEM_MEMORY] = {"properties.allow_system_memory", NULL, 0, true, 1, 0, 1, 1, 0},
    [KEY_P2PDMA] = {"properties.use_pci_p2pdma", "CUFILE_USE_PCIP2PDMA", 0, true, 0, 0, 1, 1, 0},
    [KEY_IOURING] = {"properties.prefer_iouring", NULL, 0, true, 0, 0, 1, 1, 0},
    [KEY_FORCE_ODIRECT] = {"properties.force_odirect_mode", NULL, 0, true, 0, 0, 1, 1, 0},
    [KEY_SKIP_TOPOLOGY] = {"miscellaneous.skip_topology_detection", "CUFILE_SKIP_TOPOLOGY_DETECTION", 0, true, 0, 0, 1,
                           1, 0},
    [KEY_MEMOPS_BYPASS] = {"miscellaneous.stream_memops_bypass", "CUFILE_STREAM_MEMOPS_BYPASS", 0, true, 0, 0, 1, 1, 0},
    [KEY_VANILLA_POSIX] = {"properties.vanilla_posix_io_mode", NULL, 0, true, 0, 0, 1, 1, 1190},
    [KEY_FALLBACK] = {"properties.gds_fallback_io", NULL, 0, true, 0, 0, 1, 1, 1190},
};

#define TEXT 512

static struct {
    uint64_t running[N_KEYS]; /* once the driver is open */
    uint64_t set[N_KEYS];
    bool is_set[N_KEYS];
    char set_level[32], set_dir[TEXT];
    char level[32], dir[TEXT];
} config;

static uint64_t max_of(enum key key)
{
    int version = profile_get()->version;

    if (key == KEY_IO_THREADS && version >= 1170)
        return 128;
    if (key == KEY_BATCH && version >= 1180) /* the limit was lifted */
        return 1 << 20;
    return rows[key].max;
}

static uint64_t default_of(enum key key)
{
    int version = profile_get()->version;

    if (key == KEY_IO_THREADS && version >= 1170)
        return 8;
    if (key == KEY_DIRECT_IO && version >= 1200)
        return 16384;
    return rows[key].otherwise;
}

static bool in_range(enum key key, uint64_t value)
{
    return value >= rows[key].min && value <= max_of(key) && value % rows[key].multiple == 0;
}

/* ------------------------------------------------------------------------------------------------
 * Sources
 */

static bool to_number(enum key key, const char *text, uint64_t *ret)
{
    char *end;

    if (rows[key].is_bool && (!strcmp(text, "true") || !strcmp(text, "false"))) {
        *ret = *text == 't';
        return true;
    }
    *ret = strtoull(text, &end, 0);
    return *text && *text != '-' && !*end;
}

static int take_key(void *context, const char *key, const char *value, bool is_string)
{
    uint64_t number;

    if (!strcmp(key, "properties.use_compat_mode"))
        key = "properties.allow_compat_mode";
    if (!strcmp(key, "logging.level"))
        snprintf(config.level, sizeof(config.level), "%.31s", value);
    if (!strcmp(key, "logging.dir"))
        snprintf(config.dir, sizeof(config.dir), "%.511s", value);
    for (enum key i = 0; i < N_KEYS; i++) {
        if (strcmp(rows[i].key, key))
            continue;
        if (is_string || !to_number(i, value, &number) || !in_range(i, number))
            return -EINVAL;
        config.running[i] = number;
    }
    return 0;
}

static char *file_text(void)
{
    const char *named = getenv("CUFILE_ENV_PATH_JSON"), *root = getenv("SPUR_ROOT");
    char path[4096], *text = NULL;
    size_t size = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%.2000s/etc/cufile.json", root ? root : "");
    if (!named && !root)
        return NULL; /* a test must not depend on the machine's own */
    f = fopen(named && *named ? named : path, "re");
    if (!f)
        return NULL;
    if (getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

static int take_file(void)
{
    char *text = file_text();
    int rc = text ? json_walk(text, take_key, NULL) : 0;

    free(text);
    return rc;
}

static void take_environment(void)
{
    const char *level = getenv("CUFILE_LOGGING_LEVEL");
    int version = profile_get()->version;

    for (enum key i = 0; i < N_KEYS; i++) {
        const char *text = rows[i].variable ? getenv(rows[i].variable) : NULL;
        uint64_t number;

        if (i == KEY_STATS && version < 1170)
            continue;
        if (text && !(rows[i].variable_until && version >= rows[i].variable_until) && to_number(i, text, &number) &&
            in_range(i, number))
            config.running[i] = number;
    }
    if (level && *level)
        snprintf(config.level, sizeof(config.level), "%.31s", level);
}

int config_load(void)
{
    int rc;

    for (enum key i = 0; i < N_KEYS; i++)
        config.running[i] = default_of(i);
    snprintf(config.level, sizeof(config.level), "ERROR");
    *config.dir = '\0';
    rc = take_file();
    if (rc)
        return rc;
    take_environment();
    for (enum key i = 0; i < N_KEYS; i++)
        if (config.is_set[i])
            config.running[i] = config.set[i];
    if (*config.set_level)
        snprintf(config.level, sizeof(config.level), "%s", config.set_level);
    if (*config.set_dir)
        snprintf(config.dir, sizeof(config.dir), "%s", config.set_dir);
    return 0;
}

uint64_t config_number(enum key key)
{
    return config.running[key];
}

int config_put(enum key key, uint64_t value)
{
    if (!in_range(key, value))
        return CUFILE_INVALID_VALUE;
    if (state.is_open) {
        config.running[key] = value;
        return 0;
    }
    config.set[key] = value;
    config.is_set[key] = true;
    return 0;
}

const char *config_log_dir(void)
{
    return config.dir;
}

const char *config_log_level(void)
{
    return config.level;
}

/* ------------------------------------------------------------------------------------------------
 * Calls
 */

static bool known(int number, enum key first, enum key last, enum key *ret)
{
    if (number < 0 || number > (int)(last - first))
        return false;
    *ret = first + (unsigned)number;
    return rows[*ret].since <= profile_get()->version;
}

static CUfileError_t get(const char *symbol, int number, enum key first, enum key last, uint64_t *ret)
{
    int code = fault_code(symbol);
    enum key key;

    if (code || !known(number, first, last, &key) || (key == KEY_NVTX && profile_get()->version >= 1170))
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    state_lock();
    *ret = state.is_open ? config.running[key] : config.is_set[key] ? config.set[key] : 0;
    state_unlock();
    return status_of(0);
}

static CUfileError_t set(const char *symbol, int number, enum key first, enum key last, uint64_t value)
{
    int code = fault_code(symbol);
    enum key key;

    if (code || !known(number, first, last, &key))
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    state_lock();
    code = state.is_open ? CUFILE_DRIVER_ALREADY_OPEN : config_put(key, value);
    state_unlock();
    return status_of(code);
}

CUfileError_t cuFileGetParameterSizeT(int parameter, size_t *value)
{
    uint64_t number = 0;
    CUfileError_t status = get("cuFileGetParameterSizeT", parameter, 0, KEY_LAST_SIZE, &number);

    if (!status.err)
        *value = number;
    return status;
}

CUfileError_t cuFileGetParameterBool(int parameter, bool *value)
{
    uint64_t number = 0;
    CUfileError_t status = get("cuFileGetParameterBool", parameter, KEY_POLL_MODE, N_KEYS - 1, &number);

    if (!status.err)
        *value = number != 0;
    return status;
}

CUfileError_t cuFileSetParameterSizeT(int parameter, size_t value)
{
    return set("cuFileSetParameterSizeT", parameter, 0, KEY_LAST_SIZE, value);
}

CUfileError_t cuFileSetParameterBool(int parameter, bool value)
{
    return set("cuFileSetParameterBool", parameter, KEY_POLL_MODE, N_KEYS - 1, value);
}

CUfileError_t cuFileGetParameterString(int parameter, char *value, int size)
{
    int code = fault_code("cuFileGetParameterString");
    const char *text;

    if (code || size <= 0 || (parameter != CUFILE_PARAM_LOGGING_LEVEL && parameter != CUFILE_PARAM_LOG_DIR))
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    state_lock();
    if (parameter == CUFILE_PARAM_LOGGING_LEVEL)
        text = state.is_open ? config.level : config.set_level;
    else
        text = state.is_open ? config.dir : config.set_dir;
    if (strlen(text) >= (size_t)size)
        code = CUFILE_INVALID_VALUE;
    else
        strcpy(value, text);
    state_unlock();
    return status_of(code);
}

CUfileError_t cuFileSetParameterString(int parameter, const char *value)
{
    int code = fault_code("cuFileSetParameterString");

    if (code || (parameter != CUFILE_PARAM_LOGGING_LEVEL && parameter != CUFILE_PARAM_LOG_DIR))
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    state_lock();
    if (state.is_open)
        code = CUFILE_DRIVER_ALREADY_OPEN;
    else if (parameter == CUFILE_PARAM_LOGGING_LEVEL)
        snprintf(config.set_level, sizeof(config.set_level), "%.31s", value);
    else
        snprintf(config.set_dir, sizeof(config.set_dir), "%.511s", value);
    state_unlock();
    return status_of(code);
}

CUfileError_t cuFileGetParameterMinMaxValue(int parameter, size_t *min, size_t *max)
{
    int code = fault_code("cuFileGetParameterMinMaxValue");

    if (code || parameter < 1 || parameter > KEY_LAST_SIZE || !min || !max)
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    *min = rows[parameter].min;
    *max = max_of((enum key)parameter);
    return status_of(0);
}

/* ------------------------------------------------------------------------------------------------
 * Slabs: told as they stand by default; not configurable here
 */

static CUfileError_t slabs(const char *symbol, const size_t *from, unsigned n_from, size_t *sizes, size_t *counts,
                           int n)
{
    int code = fault_code(symbol);

    state_lock();
    if (!code && (!state.is_open || n != (int)n_from))
        code = CUFILE_INVALID_VALUE;
    state_unlock();
    for (unsigned i = 0; !code && i < n_from; i++) {
        sizes[i] = from[i];
        counts[i] = from[n_from + i];
    }
    return status_of(code);
}

CUfileError_t cuFileGetParameterPosixPoolSlabArray(size_t *sizes_kb, size_t *counts, int n)
{
    static const size_t posix[] = {4, 1024, 16384, 128, 64, 64};

    return slabs("cuFileGetParameterPosixPoolSlabArray", posix, 3, sizes_kb, counts, n);
}

CUfileError_t cuFileGetParameterGpuBounceBufferSlabArray(size_t *sizes_kb, size_t *counts, int n)
{
    static const size_t gpu[] = {1024, 8192, 16384, 65536, 128, 8, 4, 2};

    return slabs("cuFileGetParameterGpuBounceBufferSlabArray", gpu, 4, sizes_kb, counts, n);
}

CUfileError_t cuFileSetParameterPosixPoolSlabArray(const size_t *sizes_kb, const size_t *counts, int n)
{
    int code = fault_code("cuFileSetParameterPosixPoolSlabArray");

    return status_of(code ? code : CUFILE_INVALID_VALUE);
}

CUfileError_t cuFileSetParameterGpuBounceBufferSlabArray(const size_t *sizes_kb, const size_t *counts, int n)
{
    int code = fault_code("cuFileSetParameterGpuBounceBufferSlabArray");

    return status_of(code ? code : CUFILE_INVALID_VALUE);
}
