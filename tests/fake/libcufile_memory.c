/* SPDX-License-Identifier: MIT */
/* Where the bytes are, and registered buffers. See libcufile.h. */
#include "libcuda.h"
#include "libcufile.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct registered {
    struct registered *next;
    const void *base;
    size_t bytes;
    struct target target;
};

static struct {
    void *library; /* the fake libcuda, once somebody loaded it */
    uint8_t *(*pin)(CUdeviceptr, size_t, struct fake_cuda_pin *, bool *);
    void (*unpin)(const struct fake_cuda_pin *);
    CUresult (*launch)(CUstream, void (*)(void *), void *);
    CUresult (*uuid)(CUuuid *, CUdevice);
    struct registered *registered;
} memory;

/* Lock held. The driver is loaded by whoever made the memory; without it there is no device memory. */
static bool find_driver(void)
{
    const char *named = getenv("SPUR_LIBCUDA");

    if (memory.library)
        return memory.pin != NULL;
    memory.library = dlopen(named && *named ? named : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!memory.library)
        return false;
    memory.pin = (uint8_t * (*)(CUdeviceptr, size_t, struct fake_cuda_pin *, bool *))
        dlsym(memory.library, "spur_fake_cuda_pin");
    memory.unpin = (void (*)(const struct fake_cuda_pin *))dlsym(memory.library, "spur_fake_cuda_unpin");
    memory.launch = (CUresult(*)(CUstream, void (*)(void *), void *))dlsym(memory.library, "cuLaunchHostFunc");
    memory.uuid = (CUresult(*)(CUuuid *, CUdevice))dlsym(memory.library, "cuDeviceGetUuid_v2");
    return memory.pin != NULL;
}

static int host_allowed(void)
{
    return profile_get()->version >= 1070 && config_number(KEY_SYSTEM_MEMORY) ? 0 : 5013;
}

/* Lock held. */
static int resolve(const void *address, size_t bytes, struct target *ret)
{
    struct target t = {.device = -1};
    struct fake_cuda_pin pin;
    bool inside = false;

    if (!address)
        return 5012;
    if (find_driver())
        t.at = memory.pin((CUdeviceptr)(uintptr_t)address, bytes, &pin, &inside);
    if (inside && !t.at)
        return 5014;
    if (!t.at) {
        t.at = (uint8_t *)(uintptr_t)address;
        *ret = t;
        return host_allowed();
    }
    t.is_pinned = true;
    t.region = pin.region;
    t.device = pin.device;
    *ret = t;
    return 0;
}

void target_done(const struct target *t)
{
    struct fake_cuda_pin pin = {.region = t->region, .device = t->device};

    if (t->is_pinned)
        memory.unpin(&pin);
}

static struct registered **find(const void *base)
{
    struct registered **at = &memory.registered;

    while (*at && (*at)->base != base)
        at = &(*at)->next;
    return at;
}

int target_find(const void *base, size_t bytes, off_t offset, struct target *ret)
{
    struct registered *r;
    int code;

    if (offset < 0)
        return CUFILE_INVALID_VALUE;
    state_lock();
    r = *find(base);
    if (r && ((size_t)offset > r->bytes || bytes > r->bytes - (size_t)offset))
        code = CUFILE_INVALID_MAPPING_RANGE;
    else
        code = resolve((const uint8_t *)base + offset, bytes, ret);
    state_unlock();
    return code;
}

void memory_uuid(int device, unsigned char uuid[16])
{
    CUuuid u;

    memset(uuid, 0, 16);
    if (device >= 0 && memory.uuid && !memory.uuid(&u, device))
        memcpy(uuid, u.bytes, 16);
}

CUresult memory_call(CUstream stream, void (*function)(void *), void *argument)
{
    bool found;

    state_lock();
    found = find_driver() && memory.launch;
    state_unlock();
    return found ? memory.launch(stream, function, argument) : CUDA_ERROR_NOT_INITIALIZED;
}

/* ------------------------------------------------------------------------------------------------ */

/* Lock held. */
static int add(const void *base, size_t bytes, int *ret_device)
{
    struct registered *r;
    int code = driver_ensure();

    if (code)
        return code;
    if (*find(base))
        return CUFILE_MEMORY_ALREADY_REGISTERED;
    r = calloc(1, sizeof(*r));
    if (!r)
        return 5043;
    code = resolve(base, bytes, &r->target);
    if (code) {
        free(r);
        return code;
    }
    r->base = base;
    r->bytes = bytes;
    r->next = memory.registered;
    memory.registered = r;
    *ret_device = r->target.device;
    return 0;
}

CUfileError_t cuFileBufRegister(const void *base, size_t bytes, int flags)
{
    int code = fault_code("cuFileBufRegister"), device = -1;

    if (!code && (!bytes || flags & ~(CUFILE_RDMA_REGISTER | CUFILE_RDMA_RELAXED_ORDERING)))
        code = CUFILE_INVALID_VALUE;
    state_lock();
    if (!code)
        code = add(base, bytes, &device);
    state_unlock();
    stats_registered(false, false, !code, device, bytes);
    if (code)
        log_line("ERROR", "cuFileBufRegister of %zu bytes failed with %d", bytes, code);
    return status_of(code);
}

CUfileError_t cuFileBufDeregister(const void *base)
{
    int code = fault_code("cuFileBufDeregister");
    struct registered **at, *r = NULL;

    state_lock();
    at = find(base);
    if (!code && *at) {
        r = *at;
        *at = r->next;
    }
    state_unlock();
    if (!code && !r) {
        code = CUFILE_MEMORY_NOT_REGISTERED;
        fake_violation("cuFileBufDeregister of a buffer that is not registered");
    }
    stats_registered(false, true, !code, r ? r->target.device : -1, r ? r->bytes : 0);
    if (r)
        target_done(&r->target);
    free(r);
    return status_of(code);
}
