/* SPDX-License-Identifier: MIT */
/* Device memory and registered host memory. See libcuda.h. */
#include "libcuda.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE       4096u
#define SMALL      (1u << 20) /* smaller allocations are not page-aligned, as with the real driver */
#define SMALL_SKEW 512u
#define DIRTY      (64u << 20) /* allocations up to this size begin with bytes that nobody expects */

static size_t page_round(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

struct region *region_of_device(CUdeviceptr address, size_t bytes)
{
    struct region *r = fake.regions;

    while (r && !(address >= r->device && address - r->device < r->bytes && bytes <= r->bytes - (address - r->device)))
        r = r->next;
    return r;
}

bool region_of_host(const void *host, size_t bytes, struct region **ret)
{
    uintptr_t from = (uintptr_t)host, to = from + bytes;

    *ret = NULL;
    for (struct region *r = fake.regions; r; r = r->next) {
        uintptr_t start = (uintptr_t)r->host, end = start + r->bytes;

        if (from >= end || to <= start)
            continue;
        if (!r->is_host || from < start || to > end)
            return false;
        *ret = r;
    }
    return true;
}

void region_use(struct region *r)
{
    if (r)
        r->n_uses++;
}

void region_done(struct region *r)
{
    if (r)
        r->n_uses--;
}

/* An address range of the GPU's for it, which the CPU cannot touch. */
static struct region *region_new(size_t bytes, size_t skew)
{
    struct region *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->bytes = bytes;
    r->mapped = page_round(bytes + skew);
    r->reserve = mmap(NULL, r->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->reserve == MAP_FAILED) {
        free(r);
        return NULL;
    }
    r->device = (CUdeviceptr)(uintptr_t)r->reserve + skew;
    return r;
}

static void region_free(struct region *r)
{
    munmap(r->reserve, r->mapped);
    if (r->backing)
        munmap(r->backing, r->mapped);
    free(r);
}

static void region_link(struct region *r)
{
    r->next = fake.regions;
    fake.regions = r;
}

/* Lock held. Memory that work in flight still uses: a mistake of the caller. */
static void region_unlink(struct region *r, const char *mistake)
{
    struct region **at = &fake.regions;

    if (r->n_uses)
        fake_violation(mistake);
    while (r->n_uses)
        pthread_cond_wait(&fake.progress, &fake.lock);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
}

/* ------------------------------------------------------------------------------------------------ */

static CUresult back(struct region *r, size_t skew)
{
    r->backing = mmap(NULL, r->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->backing == MAP_FAILED) {
        r->backing = NULL;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r->host = (uint8_t *)r->backing + skew;
    if (r->bytes <= DIRTY)
        memset(r->host, 0xa5, r->bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemAlloc_v2", &context);
    size_t skew = bytes < SMALL ? SMALL_SKEW : 0;
    struct region *r;

    if (code || !bytes)
        return code ? code : CUDA_ERROR_INVALID_VALUE;
    r = region_new(bytes, skew);
    if (!r || back(r, skew)) {
        if (r)
            region_free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    fake_lock();
    if (bytes > fake.total_bytes - fake.used_bytes[context->device]) {
        code = CUDA_ERROR_OUT_OF_MEMORY;
        region_free(r);
    } else {
        fake.used_bytes[context->device] += bytes;
        r->device_index = context->device;
        region_link(r);
        *address = r->device;
    }
    fake_unlock();
    return code;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemFree_v2", &context);
    struct region *r;

    if (code)
        return code;
    fake_lock();
    r = region_of_device(address, 1);
    if (!r || r->is_host || r->device != address) {
        fake_unlock();
        fake_violation("cuMemFree of an address that was not allocated");
        return CUDA_ERROR_INVALID_VALUE;
    }
    region_unlink(r, "cuMemFree of memory that work in flight uses");
    fake.used_bytes[r->device_index] -= r->bytes;
    fake_unlock();
    region_free(r);
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemHostRegister_v2", &context);
    struct region *r, *other;

    if (code || !bytes)
        return code ? code : CUDA_ERROR_INVALID_VALUE;
    r = region_new(bytes, 0);
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r->host = host;
    r->is_host = true;
    fake_lock();
    if (!region_of_host(host, bytes, &other) || other) {
        code = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        region_free(r);
    } else {
        region_link(r);
    }
    fake_unlock();
    return code;
}

CUresult cuMemHostUnregister(void *host)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemHostUnregister", &context);
    struct region *r = NULL;

    if (code)
        return code;
    fake_lock();
    if (!region_of_host(host, 1, &r) || !r || r->host != host) {
        fake_unlock();
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    region_unlink(r, "cuMemHostUnregister of memory that work in flight uses");
    fake_unlock();
    region_free(r);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned flags)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemHostGetDevicePointer_v2", &context);
    struct region *r = NULL;

    if (code)
        return code;
    fake_lock();
    if (!region_of_host(host, 1, &r) || !r)
        code = CUDA_ERROR_INVALID_VALUE;
    else
        *address = r->device + (uint64_t)((uint8_t *)host - r->host);
    fake_unlock();
    return code;
}

/* ------------------------------------------------------------------------------------------------ */

uint8_t *spur_fake_cuda_pin(CUdeviceptr address, size_t bytes, struct fake_cuda_pin *ret, bool *ret_inside)
{
    uint8_t *at = NULL;
    struct region *r;

    fake_lock();
    r = region_of_device(address, bytes);
    *ret_inside = r || region_of_device(address, 1);
    if (r) {
        region_use(r);
        at = r->host + (address - r->device);
        ret->region = r;
        ret->device = r->is_host ? -1 : r->device_index;
    }
    fake_unlock();
    return at;
}

void spur_fake_cuda_unpin(const struct fake_cuda_pin *pin)
{
    fake_lock();
    region_done(pin->region);
    pthread_cond_broadcast(&fake.progress);
    fake_unlock();
}
