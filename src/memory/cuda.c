/* SPDX-License-Identifier: MIT */
/* Memory of an NVIDIA GPU, through the driver API. */
#include "memory/cuda_state.h"

#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

int cuda_enter(const struct cuda_memory_state *c, struct spur_error *e)
{
    CUresult code = c->api->cuCtxSetCurrent(c->context);

    return code ? cuda_fail(c->api, e, code, "cuCtxSetCurrent", "%s", c->info.name) : 0;
}

static int cuda_probe(unsigned index, struct spur_error *e)
{
    struct cuda_device_info info;

    return cuda_device_info_get((int)index, &info, e);
}

/* ------------------------------------------------------------------------------------------------
 * Opening
 */

static int load_module(struct cuda_memory_state *c, struct spur_error *e)
{
    char log[400] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    CUresult code = c->api->cuModuleLoadDataEx(&c->module, kernels_ptx, 2, options, values);
    int rc;

    if (!code)
        return 0;
    log[strcspn(log, "\n")] = '\0';
    rc = cuda_fail(c->api, e, code, "cuModuleLoadDataEx", "spur's kernels on %s%s%.200s", c->info.name,
                   *log ? ": " : "", log);
    if (code == CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
        error_remedy(e, "install libnvidia-ptxjitcompiler.so.1 of the same driver (containers: the `compute` and "
                        "`utility` driver capabilities)");
    return rc;
}

static int find_kernels(struct cuda_memory_state *c, struct spur_error *e)
{
    const struct {
        const char *name;
        CUfunction *to;
    } rows[] = {
        {"spur_fill", &c->fill}, {"spur_check", &c->check}, {"spur_digest", &c->digest}, {"spur_copy", &c->copy}};

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CUresult code = c->api->cuModuleGetFunction(rows[i].to, c->module, rows[i].name);

        if (code)
            return cuda_fail(c->api, e, code, "cuModuleGetFunction", "kernel %s", rows[i].name);
    }
    return 0;
}

static int open_device(struct cuda_memory_state *c, unsigned index, struct spur_error *e)
{
    CUresult code;
    int rc = cuda_device_info_get((int)index, &c->info, e);

    if (rc || (rc = cuda_ready(&c->api, e)))
        return rc;
    code = c->api->cuDeviceGet(&c->device, (int)index);
    if (code)
        return cuda_fail(c->api, e, code, "cuDeviceGet", "cuda:%u", index);
    code = c->api->cuDevicePrimaryCtxRetain(&c->context, c->device);
    if (code) {
        c->context = NULL;
        return cuda_fail(c->api, e, code, "cuDevicePrimaryCtxRetain", "%s", c->info.name);
    }
    if ((rc = cuda_enter(c, e)) || (rc = load_module(c, e)))
        return rc;
    return find_kernels(c, e);
}

static void close_state(struct cuda_memory_state *c)
{
    if (c->context) {
        cuda_enter(c, NULL);
        if (c->module)
            c->api->cuModuleUnload(c->module);
        c->api->cuCtxSetCurrent(NULL);
        c->api->cuDevicePrimaryCtxRelease(c->device);
    }
    pthread_mutex_destroy(&c->lock);
    free(c->stages);
    free(c);
}

static int cuda_open(struct spur_memory *m, struct spur_error *e)
{
    struct cuda_memory_state *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return error_errno(e, ENOMEM, "malloc", "%s", m->name);
    pthread_mutex_init(&c->lock, NULL);
    rc = open_device(c, m->index, e);
    if (rc) {
        close_state(c);
        return rc;
    }
    m->state = c;
    return 0;
}

static void cuda_close(struct spur_memory *m)
{
    close_state(cuda_state(m));
    m->state = NULL;
}

static void cuda_describe(const struct spur_memory *m, struct spur_memory_info *info)
{
    const struct cuda_device_info *d = &cuda_state(m)->info;

    snprintf(info->device_name, sizeof(info->device_name), "%s", d->name);
    snprintf(info->uuid, sizeof(info->uuid), "%s", d->uuid);
    snprintf(info->pci_address, sizeof(info->pci_address), "%s", d->pci);
    info->numa_node = d->numa_node;
    info->total_bytes = d->total_bytes;
    info->is_simulated = info->is_emulated = d->is_fake;
}

static int cuda_thread_enter(struct spur_memory *m, struct spur_error *e)
{
    return cuda_enter(cuda_state(m), e);
}

/* ------------------------------------------------------------------------------------------------
 * Buffers
 */

/* spur_buffer.state is the address that the driver gave, which may be lower than the page-aligned one. */
static CUdeviceptr *raw_address(struct spur_buffer *b)
{
    return (CUdeviceptr *)&b->state;
}

static int try_alloc(const struct cuda_memory_state *c, struct spur_buffer *b, size_t bytes, CUdeviceptr *ret,
                     struct spur_error *e)
{
    CUresult code = c->api->cuMemAlloc(ret, bytes);
    int rc;

    if (!code)
        return 0;
    rc = cuda_fail(c->api, e, code, "cuMemAlloc_v2", "%zu bytes on %s", b->bytes, c->info.name);
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        error_remedy(e,
                     "use fewer threads, less depth or smaller requests, or free the GPU: `nvidia-smi` shows who uses "
                     "its %llu MiB",
                     (unsigned long long)(c->info.total_bytes >> 20));
    return rc;
}

/* The driver aligns small allocations to less than a page: those are made again with a page to spare. */
static int cuda_alloc(struct spur_memory *m, struct spur_buffer *b, struct spur_error *e)
{
    const struct cuda_memory_state *c = cuda_state(m);
    size_t bytes = (b->bytes + PAGE - 1) / PAGE * PAGE;
    CUdeviceptr address;
    int rc = cuda_enter(c, e);

    if (rc || (rc = try_alloc(c, b, bytes, &address, e)))
        return rc;
    if (address % PAGE) {
        c->api->cuMemFree(address);
        rc = try_alloc(c, b, bytes + PAGE, &address, e);
        if (rc)
            return rc;
    }
    *raw_address(b) = address;
    b->address = (address + PAGE - 1) / PAGE * PAGE;
    return 0;
}

static void cuda_free(struct spur_buffer *b)
{
    const struct cuda_memory_state *c = cuda_state(b->memory);

    cuda_enter(c, NULL);
    c->api->cuMemFree(*raw_address(b));
}

const struct memory_ops cuda_memory = {
    .name = "cuda",
    .summary = "memory of an NVIDIA GPU (cuda:N)",
    .takes_index = true,
    .is_device = true,
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .describe = cuda_describe,
    .thread_enter = cuda_thread_enter,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .stage_alloc = cuda_stage_alloc,
    .stage_free = cuda_stage_free,
    .stream_open = cuda_stream_open,
    .stream_close = cuda_stream_close,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .scatter = cuda_scatter,
    .gather = cuda_gather,
    .mark = cuda_mark,
    .done = cuda_done,
    .wait = cuda_wait,
    .fill = cuda_fill,
    .check = cuda_check,
    .check_collect = cuda_check_collect,
    .digest = cuda_digest,
};
