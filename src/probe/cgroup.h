/* SPDX-License-Identifier: MIT */
/* Limits of the control group that this process is in. Private to the probes. */
#ifndef SPUR_PROBE_CGROUP_H
#define SPUR_PROBE_CGROUP_H

#include "probe/probe.h"

/* A number that may be missing. */
struct cgroup_number {
    bool known;
    bool unlimited; /* known, and there is no limit */
    uint64_t value;
    char reason[PROBE_REASON];
};

/* Limits are the tightest of the group and all groups above it that can be seen. */
struct cgroup {
    unsigned version; /* 1 or 2 (of the CPU controller), 0: no group; see reason */
    char path[1024];  /* as /proc/self/cgroup names it */
    struct cgroup_number quota_us;
    uint64_t period_us;                                          /* of the quota */
    struct cgroup_number nr_periods, nr_throttled, throttled_us; /* of the group whose quota is the tightest */
    struct cgroup_number memory_max;
    char reason[PROBE_REASON];
};

void cgroup_read(const struct probe *p, struct cgroup *ret);

#endif
