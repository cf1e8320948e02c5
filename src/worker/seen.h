/* SPDX-License-Identifier: MIT */
/* What the storage saw of a trial's window: docs/wire.md. (wire.h is the protocol of workers.) */
#ifndef SPUR_WORKER_SEEN_H
#define SPUR_WORKER_SEEN_H

#include "probe/net.h"
#include "probe/storage.h"
#include "worker/sampler.h"
#include "worker/target.h"

struct seen_reading {
    struct storage_counters counters[STORAGE_MAX];
    struct probe_ports net, rdma;
    struct probe_throttle throttle;
};

struct seen {
    const struct probe *probe;
    struct storage storage;
    struct storage_idle idle;
    struct seen_reading begin, end;
    struct sampler *sampler; /* between begin and end */
    struct samples samples;
    struct storage_window item[STORAGE_MAX], sum; /* after the end */
};

/* Before the first request. @p must outlive it. */
void seen_init(struct seen *s, const struct probe *p, const struct target_list *targets);
void seen_begin(struct seen *s);
void seen_end(struct seen *s);
void seen_free(struct seen *s);

/* "block", "nfs", "simfs", "mixed"; NULL with the reason. */
const char *seen_source(const struct seen *s, const char **ret_reason);

#endif
