/* SPDX-License-Identifier: MIT */
/* What spur's simulated storage counts of itself (MOUNT/.spur/stats). */
#ifndef SPUR_PROBE_SIMFS_H
#define SPUR_PROBE_SIMFS_H

#include "probe/probe.h"

struct probe_simfs {
    bool known;
    uint64_t time_ns; /* the server's clock at the moment of these numbers */
    uint64_t reads, read_bytes, writes, write_bytes, errors, short_answers;
    uint64_t in_flight;  /* now */
    uint64_t service_ns; /* sum over answered requests, from arrival to answer */
    uint64_t busy_ns;    /* integral over time of the number in flight */
    uint64_t cpu_ns;     /* of the server's process */
    /* How it was set; 0: not said */
    uint64_t latency_ns, rate_bytes_per_s, rpc_bytes, servers, connection;
    char reason[PROBE_REASON];
};

void probe_simfs_read(const struct probe *p, const char *mount_point, struct probe_simfs *ret);

/* Requests that the kernel has accepted for a FUSE file system and that are not answered
 * (/sys/fs/fuse/connections/N/waiting, readable by its owner alone). @dev: st_dev of its files. 0 or negative errno. */
int probe_fuse_waiting(const struct probe *p, dev_t dev, uint64_t *ret, char *reason);

#endif
