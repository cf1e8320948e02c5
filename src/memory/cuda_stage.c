/* SPDX-License-Identifier: MIT */
/* Page-locked host memory for copies to and from a GPU, and the list by which kernels may reach it. */
#include "memory/cuda_state.h"

#include "core/error.h"
#include "core/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE             4096u
#define HUGE_PAGE        (2u << 20)
#define HUGE_MIN         (256u << 10) /* as host memory: see host_map_alloc */
#define POLICY_PREFERRED 1            /* MPOL_PREFERRED of linux/mempolicy.h */

static size_t page_round(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Advice only: where a sandbox forbids mbind, or the node is full, pages come from elsewhere. */
static void prefer_node(void *host, size_t bytes, int node)
{
    unsigned long mask[16] = {0};
    const unsigned bits = 8 * sizeof(mask[0]);

    if (node < 0 || (unsigned)node >= bits * 16)
        return;
    mask[(unsigned)node / bits] = 1ul << ((unsigned)node % bits);
    (void)!syscall(SYS_mbind, host, bytes, POLICY_PREFERRED, mask, bits * 16 + 1, 0);
}

/* A mapping with inaccessible pages on both sides of [stage.host, stage.end): two stages are never neighbours, so a run
 * of copies that were merged never spans two registrations. Larger ones begin at a huge page. */
static int map_near(const struct cuda_memory_state *c, size_t bytes, struct cuda_stage *ret, struct spur_error *e)
{
    size_t unit = bytes >= HUGE_MIN ? HUGE_PAGE : PAGE, usable = round_up(bytes, unit);
    size_t mapped = usable + 2 * unit;
    uint8_t *base = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t host = ((uintptr_t)base + 2 * unit - 1) / unit * unit;

    if (base == MAP_FAILED || mprotect((void *)host, usable, PROT_READ | PROT_WRITE)) {
        int err = errno;

        if (base != MAP_FAILED)
            munmap(base, mapped);
        return error_errno(e, err, "mmap", "%zu bytes of host memory near %s", bytes, c->info.name);
    }
    prefer_node((void *)host, usable, c->info.numa_node);
    if (unit == HUGE_PAGE)
        madvise((void *)host, usable, MADV_HUGEPAGE);
    *ret = (struct cuda_stage){.host = host, .end = host + bytes, .base = base, .mapped = mapped};
    return 0;
}

static int add_stage(struct cuda_memory_state *c, const struct cuda_stage *stage)
{
    struct cuda_stage *more;

    pthread_mutex_lock(&c->lock);
    more = realloc(c->stages, (c->n_stages + 1) * sizeof(*more));
    if (more) {
        c->stages = more;
        c->stages[c->n_stages++] = *stage;
        atomic_fetch_add_explicit(&c->generation, 1, memory_order_release);
    }
    pthread_mutex_unlock(&c->lock);
    return more ? 0 : -ENOMEM;
}

/* False: @host is the start of no stage. */
static bool remove_stage(struct cuda_memory_state *c, const void *host, struct cuda_stage *ret)
{
    bool found = false;

    pthread_mutex_lock(&c->lock);
    for (unsigned i = 0; i < c->n_stages && !found; i++)
        if (c->stages[i].host == (uintptr_t)host) {
            *ret = c->stages[i];
            c->stages[i] = c->stages[--c->n_stages];
            found = true;
        }
    atomic_fetch_add_explicit(&c->generation, 1, memory_order_release);
    pthread_mutex_unlock(&c->lock);
    return found;
}

static int lock_failed(const struct cuda_memory_state *c, CUresult code, size_t bytes, struct spur_error *e)
{
    int rc = cuda_fail(c->api, e, code, "cuMemHostRegister_v2", "page-locking %zu bytes of host memory", bytes);

    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        error_remedy(e, "use fewer threads, less depth or smaller requests, or free host memory");
    return rc;
}

static int register_stage(struct cuda_memory_state *c, struct cuda_stage *stage, struct spur_error *e)
{
    void *host = (void *)stage->host;
    size_t bytes = stage->end - stage->host;
    CUresult code = c->api->cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    int rc = 0;

    if (code)
        return lock_failed(c, code, bytes, e);
    code = c->api->cuMemHostGetDevicePointer(&stage->device, host, 0);
    if (code)
        rc = cuda_fail(c->api, e, code, "cuMemHostGetDevicePointer_v2", "%zu bytes of host memory", bytes);
    else if (add_stage(c, stage))
        rc = error_errno(e, ENOMEM, "realloc", "list of page-locked memory");
    if (rc)
        c->api->cuMemHostUnregister(host);
    return rc;
}

int cuda_stage_alloc(struct spur_memory *m, size_t bytes, void **ret_host, struct spur_error *e)
{
    struct cuda_memory_state *c = cuda_state(m);
    struct cuda_stage stage = {0};
    int rc = cuda_enter(c, e);

    if (rc || (rc = map_near(c, page_round(bytes), &stage, e)))
        return rc;
    rc = register_stage(c, &stage, e);
    if (rc) {
        munmap(stage.base, stage.mapped);
        return rc;
    }
    *ret_host = (void *)stage.host;
    return 0;
}

void cuda_stage_free(struct spur_memory *m, void *host, size_t bytes)
{
    struct cuda_memory_state *c = cuda_state(m);
    struct cuda_stage stage;

    if (!host || !remove_stage(c, host, &stage))
        return;
    cuda_enter(c, NULL);
    c->api->cuMemHostUnregister(host);
    munmap(stage.base, stage.mapped);
}

static bool inside(const struct cuda_stage *stage, uintptr_t host, size_t bytes)
{
    return host >= stage->host && host < stage->end && bytes <= stage->end - host;
}

/* Streams mostly stay in one stage: it is remembered, and the lock taken only for another one or after a change. */
CUdeviceptr cuda_stage_find(struct cuda_memory_state *c, struct cuda_stream *t, const void *host, size_t bytes)
{
    uintptr_t at = (uintptr_t)host;
    bool found;

    found = t->near_generation == atomic_load_explicit(&c->generation, memory_order_acquire) &&
            inside(&t->near, at, bytes);
    if (!found) {
        t->near = (struct cuda_stage){0};
        pthread_mutex_lock(&c->lock);
        for (unsigned i = 0; i < c->n_stages && !found; i++)
            if ((found = inside(&c->stages[i], at, bytes)))
                t->near = c->stages[i];
        t->near_generation = atomic_load_explicit(&c->generation, memory_order_relaxed);
        pthread_mutex_unlock(&c->lock);
    }
    return found ? t->near.device + (at - t->near.host) : 0;
}
