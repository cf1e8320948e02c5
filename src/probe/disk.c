/* SPDX-License-Identifier: MIT */
#include "probe/disk.h"

#include <stdio.h>
#include <string.h>

#include "probe/read.h"

#define SECTOR 512u /* of /sys/block/NAME/stat, whatever the disk's is */

/* reads merges sectors ms, writes merges sectors ms, in_flight io_ms weighted_ms; more follow in newer kernels. */
static bool parse(const char *path, const char *at, uint64_t v[11], char *reason)
{
    for (unsigned i = 0; i < 11; i++)
        if (!parse_u64(&at, &v[i]) || (*at && *at != ' ')) {
            reason_set(reason, "%s: field %u is not a number", path, i + 1);
            return false;
        }
    if (v[2] <= UINT64_MAX / SECTOR && v[6] <= UINT64_MAX / SECTOR)
        return true;
    reason_set(reason, "%s: more sectors than there can be", path);
    return false;
}

void probe_disk_read(const struct probe *p, const char *name, struct probe_disk *ret)
{
    char path[96], line[512];
    uint64_t v[11];

    memset(ret, 0, sizeof(*ret));
    snprintf(path, sizeof(path), "/sys/block/%.64s/stat", name);
    if (read_line(p, path, line, sizeof(line), ret->reason) < 0 || !parse(path, line, v, ret->reason))
        return;
    *ret = (struct probe_disk){
        .known = true,
        .reads = v[0],
        .read_merges = v[1],
        .read_bytes = v[2] * SECTOR,
        .read_ms = v[3],
        .writes = v[4],
        .write_merges = v[5],
        .write_bytes = v[6] * SECTOR,
        .write_ms = v[7],
        .in_flight = v[8],
        .io_ms = v[9],
        .weighted_ms = v[10],
    };
}
