/* SPDX-License-Identifier: MIT */
/* What a whole disk counts of itself (/sys/block/NAME/stat; the same numbers are a line of /proc/diskstats). */
#ifndef SPUR_PROBE_DISK_H
#define SPUR_PROBE_DISK_H

#include "probe/probe.h"

/* Since the disk was added; Documentation/block/stat.rst. Times are sums over requests, in whole milliseconds. */
struct probe_disk {
    bool known;
    uint64_t reads, read_merges, read_bytes, read_ms;
    uint64_t writes, write_merges, write_bytes, write_ms;
    uint64_t in_flight; /* now: handed to the driver and not completed */
    uint64_t io_ms;     /* time with at least one in flight */
    uint64_t weighted_ms;
    char reason[PROBE_REASON];
};

/* @name: kernel name, such as "nvme0n1". While queue/iostats is 0 the numbers stand still: probe_block_find() says so.
 */
void probe_disk_read(const struct probe *p, const char *name, struct probe_disk *ret);

#endif
