/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "probe/read.h"

#define SECTOR 512u /* of /sys/block/NAME/stat, whatever the disk's is */

/* Documentation/block/stat.rst: reads merges sectors ms, writes merges sectors ms, in_flight io_ms weighted_ms, ... */
static bool add(const struct probe *p, const char *leaf, struct probe_block_stat *sum)
{
    char path[96], line[512];
    const char *at = line;
    uint64_t v[11];

    snprintf(path, sizeof(path), "/sys/block/%s/stat", leaf);
    if (read_line(p, path, line, sizeof(line), sum->reason) < 0)
        return false;
    for (unsigned i = 0; i < 11; i++)
        if (!parse_u64(&at, &v[i]) || (*at && *at != ' ')) {
            reason_set(sum->reason, "%s: field %u is not a number", path, i + 1);
            return false;
        }
    sum->reads += v[0];
    sum->read_bytes += v[2] * SECTOR;
    sum->read_ms += v[3];
    sum->writes += v[4];
    sum->write_bytes += v[6] * SECTOR;
    sum->write_ms += v[7];
    sum->in_flight += v[8];
    sum->io_ms += v[9];
    sum->weighted_ms += v[10];
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
