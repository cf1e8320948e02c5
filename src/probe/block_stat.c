/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "probe/disk.h"
#include "probe/read.h"

static bool add(const struct probe *p, const char *leaf, struct probe_block_stat *sum)
{
    struct probe_disk d;

    probe_disk_read(p, leaf, &d);
    if (!d.known) {
        memcpy(sum->reason, d.reason, sizeof(sum->reason));
        return false;
    }
    sum->reads += d.reads;
    sum->read_bytes += d.read_bytes;
    sum->read_ms += d.read_ms;
    sum->writes += d.writes;
    sum->write_bytes += d.write_bytes;
    sum->write_ms += d.write_ms;
    sum->in_flight += d.in_flight;
    sum->io_ms += d.io_ms;
    sum->weighted_ms += d.weighted_ms;
    return true;
}

void probe_block_read(const struct probe *p, const struct probe_block *block, struct probe_block_stat *ret)
{
    struct probe_block_stat sum = {0};

    if (!block->known)
        reason_set(sum.reason, "%s", block->reason);
    else if (!block->iostats) /* the kernel then counts nothing */
        reason_set(sum.reason, "%s", block->reason);
    else
        sum.known = true;
    for (unsigned i = 0; sum.known && i < block->n_leaves; i++)
        sum.known = add(p, block->leaves[i], &sum);
    if (sum.known)
        *ret = sum;
    else
        *ret = (struct probe_block_stat){0}, memcpy(ret->reason, sum.reason, sizeof(sum.reason));
}
