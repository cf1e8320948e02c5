/* SPDX-License-Identifier: MIT */
#include "driver/cuda.h"

#include "core/error.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

/* ------------------------------------------------------------------------------------------------
 * Loading. The one exception to "no state at file scope": an immutable table of a library that can be in a process
 * only once.
 */

static struct {
    pthread_once_t once;
    struct cuda_api api;
    struct spur_error error;
    int rc;
} loader = {.once = PTHREAD_ONCE_INIT};

static int missing_library(struct spur_error *e, const char *file)
{
    const char *why = dlerror();
    const char *sep = why ? ": " : "";
    int rc =
        error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "dlopen", "%s not found%s%s", file, sep, why ? why : "");

    error_remedy(e, "install the NVIDIA driver (Debian: nvidia-driver with libcuda1); in a container, pass the GPU and "
                    "its driver libraries through");
    return rc;
}

static int missing_symbol(struct spur_error *e, const char *file, const char *symbol)
{
    int rc = error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "dlsym", "%s has no %s", file, symbol);

    error_remedy(e, "the NVIDIA driver is too old for spur: 450.36 (CUDA 11.0) or newer is needed");
    return rc;
}

static int load_symbols(struct cuda_api *api, void *library, const char *file, struct spur_error *e)
{
#define X(member, symbol, arguments)                                                                                   \
    api->member = (CUresult(*) arguments)dlsym(library, #symbol);                                                      \
    if (!api->member)                                                                                                  \
        return missing_symbol(e, file, #symbol);
    CUDA_FUNCTIONS(X)
#undef X
    api->uuid_symbol = "cuDeviceGetUuid_v2";
    api->cuDeviceGetUuid = (CUresult(*)(CUuuid *, CUdevice))dlsym(library, api->uuid_symbol);
    if (!api->cuDeviceGetUuid) {
        api->uuid_symbol = "cuDeviceGetUuid";
        api->cuDeviceGetUuid = (CUresult(*)(CUuuid *, CUdevice))dlsym(library, api->uuid_symbol);
    }
    if (!api->cuDeviceGetUuid)
        return missing_symbol(e, file, api->uuid_symbol);
    api->is_fake = dlsym(library, "spur_fake_cuda") != NULL;
    return 0;
}

/* The library is never closed: drivers do not survive it. */
static void load(void)
{
    const char *named = getenv("SPUR_LIBCUDA");
    const char *file = named && *named ? named : LIBRARY;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    loader.rc = library ? load_symbols(&loader.api, library, file, &loader.error)
                        : missing_library(&loader.error, file);
}

int cuda_api_get(const struct cuda_api **ret, struct spur_error *e)
{
    pthread_once(&loader.once, load);
    if (loader.rc) {
        if (e)
            *e = loader.error;
        return loader.rc;
    }
    *ret = &loader.api;
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Errors
 */

static int errno_of(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return -ENOMEM;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
        return -ENODEV;
    default:
        return -EIO;
    }
}

int cuda_fail(const struct cuda_api *api, struct spur_error *e, CUresult code, const char *operation, const char *what,
              ...)
{
    const char *name = NULL, *text = NULL;
    char subject[320];
    va_list ap;

    va_start(ap, what);
    vsnprintf(subject, sizeof(subject), what, ap);
    va_end(ap);
    if (api->cuGetErrorName(code, &name) || !name)
        name = "unknown CUresult";
    if (api->cuGetErrorString(code, &text) || !text)
        text = "no description";
    return error_foreign(e, SPUR_SOURCE_CUDA, code, errno_of(code), operation, "%s: %s (%s)", subject, name, text);
}

static int init_fail(const struct cuda_api *api, CUresult code, struct spur_error *e)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int rc;

    if (code == CUDA_ERROR_NO_DEVICE) {
        const char *set = visible ? "CUDA_VISIBLE_DEVICES=" : "CUDA_VISIBLE_DEVICES is not set";

        rc = cuda_fail(api, e, code, "cuInit", "the driver shows no GPU to this process (%s%.64s)", set,
                       visible ? visible : "");
        error_remedy(e, visible ? "unset or widen CUDA_VISIBLE_DEVICES, and see whether `nvidia-smi -L` lists a GPU"
                                : "see whether `nvidia-smi -L` lists a GPU and /dev/nvidia0 can be opened");
        return rc;
    }
    rc = cuda_fail(api, e, code, "cuInit", "the CUDA driver does not start");
    error_remedy(e, code == CUDA_ERROR_STUB_LIBRARY
                        ? "this is the toolkit's stub: put the driver's own libcuda.so.1 first in the library path"
                        : "see `nvidia-smi` and `dmesg`: kernel module and libcuda must be of one version");
    return rc;
}

int cuda_ready(const struct cuda_api **ret, struct spur_error *e)
{
    CUresult code;
    int rc = cuda_api_get(ret, e);

    if (rc)
        return rc;
    code = (*ret)->cuInit(0);
    return code ? init_fail(*ret, code, e) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Devices
 */

static int count_devices(const struct cuda_api *api, int *ret, struct spur_error *e)
{
    int count = 0;
    CUresult code = api->cuDeviceGetCount(&count);

    if (code)
        return cuda_fail(api, e, code, "cuDeviceGetCount", "counting GPUs");
    *ret = count;
    return 0;
}

int cuda_device_count(int *ret, struct spur_error *e)
{
    const struct cuda_api *api;
    int rc = cuda_ready(&api, e);

    return rc ? rc : count_devices(api, ret, e);
}

static void format_uuid(const CUuuid *uuid, bool mig, char *to, size_t size)
{
    const unsigned char *b = uuid->bytes;

    snprintf(to, size, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", mig ? "MIG" : "GPU",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static int read_numa_node(const char *pci)
{
    const char *root = getenv("SPUR_ROOT");
    char path[512];
    int node = -1;
    FILE *f;

    snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/numa_node", root ? root : "", pci);
    f = fopen(path, "re");
    if (!f)
        return -1;
    if (fscanf(f, "%d", &node) != 1)
        node = -1;
    fclose(f);
    return node;
}

struct attribute {
    int number;
    int *value;
};

static int get_attributes(const struct cuda_api *api, CUdevice device, struct cuda_device_info *info,
                          struct spur_error *e)
{
    const struct attribute rows[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info->major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info->minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->n_multiprocessors},
    };

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CUresult code = api->cuDeviceGetAttribute(rows[i].value, rows[i].number, device);

        if (code)
            return cuda_fail(api, e, code, "cuDeviceGetAttribute", "attribute %d of GPU %d", rows[i].number, device);
    }
    return 0;
}

static int get_facts(const struct cuda_api *api, CUdevice device, struct cuda_device_info *info, struct spur_error *e)
{
    const char *operation;
    size_t bytes = 0;
    CUuuid uuid = {{0}};
    CUresult code;

    if ((code = api->cuDeviceGetName(info->name, sizeof(info->name), device)))
        operation = "cuDeviceGetName";
    else if ((code = api->cuDeviceGetUuid(&uuid, device)))
        operation = api->uuid_symbol;
    else if ((code = api->cuDeviceTotalMem(&bytes, device)))
        operation = "cuDeviceTotalMem_v2";
    else if ((code = api->cuDeviceGetPCIBusId(info->pci, sizeof(info->pci), device)))
        operation = "cuDeviceGetPCIBusId";
    else if ((code = api->cuDriverGetVersion(&info->driver_version)))
        operation = "cuDriverGetVersion";
    if (code)
        return cuda_fail(api, e, code, operation, "facts of GPU %d", device);
    for (char *c = info->pci; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    format_uuid(&uuid, strstr(info->name, " MIG ") != NULL, info->uuid, sizeof(info->uuid));
    info->total_bytes = bytes;
    info->numa_node = read_numa_node(info->pci);
    return get_attributes(api, device, info, e);
}

static int out_of_range(int index, int count, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "cuDeviceGet", "cuda:%d: no such GPU; this process sees %d, numbered from 0",
               index, count);
    error_remedy(e, "choose another index; CUDA_VISIBLE_DEVICES narrows and renumbers the GPUs that a process sees");
    return -ERANGE;
}

int cuda_device_info_get(int index, struct cuda_device_info *ret, struct spur_error *e)
{
    struct cuda_device_info info = {0};
    const struct cuda_api *api;
    CUdevice device = 0;
    CUresult code;
    int count = 0, rc;

    if ((rc = cuda_ready(&api, e)) || (rc = count_devices(api, &count, e)))
        return rc;
    if (index < 0 || index >= count)
        return out_of_range(index, count, e);
    code = api->cuDeviceGet(&device, index);
    if (code)
        return cuda_fail(api, e, code, "cuDeviceGet", "cuda:%d", index);
    rc = get_facts(api, device, &info, e);
    if (rc)
        return rc;
    info.is_fake = api->is_fake;
    *ret = info;
    return 0;
}
