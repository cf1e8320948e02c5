/* SPDX-License-Identifier: MIT */
/* What the counters of nvidia-fs, which are the whole machine's, say of one window's trial. */
#ifndef SPUR_WORKER_NVFS_USE_H
#define SPUR_WORKER_NVFS_USE_H

#include "worker/measure.h"

enum nvfs_extent {
    NVFS_UNKNOWN, /* not read at both ends, or off at one of them */
    NVFS_STILL,
    NVFS_PART,  /* moved, by less than the trial asked for: whose it was is not known */
    NVFS_WHOLE, /* by nine tenths of the requests or bytes of each kind that the trial asked for, or more */
};

struct nvfs_use {
    enum nvfs_extent extent;
    double share;           /* of what the trial asked for, 1 at most */
    uint64_t reads, writes; /* since the window's begin */
    uint64_t bytes;         /* the same, in whole MiB; 0 where this nvidia-fs does not count them */
};

/* @by_op: what the trial's own requests moved in the window, reads and writes. */
void nvfs_use_read(const struct measure *m, const struct tally by_op[2], struct nvfs_use *ret);

/* Whether they counted more bytes than the trial's requests can have moved. */
bool nvfs_use_by_others(const struct trial *t, const struct nvfs_use *use, const struct tally by_op[2]);

#endif
