/* SPDX-License-Identifier: MIT */
#include "worker/nvfs_use.h"

#include <string.h>

#include "core/util.h"

#define MIB   ((uint64_t)1 << 20)
#define WHOLE 0.9 /* both ends of a window cut requests in two */

static double share_of(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return 1;
    return (double)part / (double)whole;
}

/* Requests are cut into several operations, never joined; bytes are counted in whole MiB. */
static double share_of_op(uint64_t n, uint64_t mib, const struct tally *asked)
{
    double by_requests = share_of(n, asked->requests), by_bytes = n ? share_of(mib * MIB, asked->bytes) : 0;

    return by_requests > by_bytes ? by_requests : by_bytes;
}

static bool is_on(const struct probe_nvfs *n)
{
    return n->known && n->enabled;
}

void nvfs_use_read(const struct measure *m, const struct tally by_op[2], struct nvfs_use *ret)
{
    const struct probe_nvfs *a = &m->begin.nvfs, *b = &m->end.nvfs;
    double reads, writes;
    uint64_t asked = by_op[0].requests + by_op[1].requests;

    *ret = (struct nvfs_use){.extent = NVFS_UNKNOWN};
    if (!is_on(a) || !is_on(b) || b->reads < a->reads || b->writes < a->writes || b->read_mib < a->read_mib ||
        b->write_mib < a->write_mib)
        return;
    ret->reads = b->reads - a->reads;
    ret->writes = b->writes - a->writes;
    ret->bytes = (b->read_mib - a->read_mib + b->write_mib - a->write_mib) * MIB;
    ret->extent = ret->reads || ret->writes ? NVFS_PART : NVFS_STILL;
    if (ret->extent == NVFS_STILL || !asked)
        return;
    reads = share_of_op(ret->reads, b->read_mib - a->read_mib, &by_op[0]);
    writes = share_of_op(ret->writes, b->write_mib - a->write_mib, &by_op[1]);
    ret->share = (reads * (double)by_op[0].requests + writes * (double)by_op[1].requests) / (double)asked;
    if (reads >= WHOLE && writes >= WHOLE)
        ret->extent = NVFS_WHOLE;
}

bool nvfs_use_by_others(const struct trial *t, const struct nvfs_use *use, const struct tally by_op[2])
{
    const struct job *job = t->job;
    uint64_t in_flight = (uint64_t)job->threads * job->depth * job->request_bytes;

    if (job->unaligned || job->request_bytes % 4096) /* the library reads more than was asked for */
        return false;
    return (double)use->bytes > 1.1 * (double)(by_op[0].bytes + by_op[1].bytes) + (double)(in_flight + 2 * MIB);
}
