/* SPDX-License-Identifier: MIT */
/*
 * Counters of the nvidia-fs kernel module (/proc/driver/nvidia-fs/stats). They are machine-wide, and stand still while
 * rw_stats_enabled is 0: "did not move" says nothing until `enabled` has been read.
 */
#ifndef SPUR_PROBE_NVFS_H
#define SPUR_PROBE_NVFS_H

#include "probe/probe.h"

#define PROBE_NVFS_FILE "/proc/driver/nvidia-fs/stats"

struct probe_nvfs {
    bool loaded;                  /* the file is there */
    bool known;                   /* it could be read and says whether counting is on */
    bool enabled;                 /* "IO stats: Enabled" */
    uint64_t reads, writes;       /* operations that were started; only when enabled */
    uint64_t read_mib, write_mib; /* what they moved; 0 in layouts without it */
    char reason[PROBE_REASON];
};

void probe_nvfs_read(const struct probe *p, struct probe_nvfs *ret);

#endif
