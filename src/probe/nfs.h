/* SPDX-License-Identifier: MIT */
/*
 * What the NFS client counts of one mount (/proc/self/mountstats). Mounts that share a superblock share all of this;
 * mounts of one server share its transports. Requests to the data servers of a pNFS layout are not in it.
 */
#ifndef SPUR_PROBE_NFS_H
#define SPUR_PROBE_NFS_H

#include "probe/probe.h"

enum probe_nfs_op_kind { NFS_READ, NFS_WRITE, NFS_COMMIT, N_NFS_OPS };

/* _print_rpc_iostats(), net/sunrpc/stats.c: summed when an operation ends. Bytes are those of whole RPC messages. */
struct probe_nfs_op {
    uint64_t ops, transmissions, timeouts, sent_bytes, received_bytes;
    uint64_t queue_ms;   /* from the task's begin to its (last) transmission */
    uint64_t rtt_ms;     /* from transmission to reply */
    uint64_t execute_ms; /* from the task's begin to its end */
    uint64_t errors;     /* since Linux 5.3 */
    bool has_errors;
};

/* Sums over the mount's transports (xs_tcp_print_stats(), xprt_rdma_print_stats()). The four sums grow at each
 * transmission by what is there at that moment: divided by transmissions they are means as a request finds them. */
struct probe_nfs_transports {
    unsigned n;   /* `xprt:` lines */
    bool known;   /* every one is of a known kind */
    char kind[8]; /* "tcp", "rdma", "udp"; "mixed" */
    uint64_t sends, receives, connects;
    uint64_t outstanding_sum;                     /* of sends less receives */
    uint64_t backlog_sum;                         /* tasks that wait for a slot */
    bool has_queues;                              /* the rest: not of rdma */
    uint64_t max_slots, sending_sum, pending_sum; /* max_slots: the greatest that one had in use */
};

struct probe_nfs_mount {
    bool known;
    char version[8], protocol[8];                   /* as the options say: "4.2", "rdma" */
    uint64_t rsize_bytes, wsize_bytes, nconnect;    /* nconnect 1 where the options do not name it */
    char pnfs[32];                                  /* layout; "" where none is configured */
    uint64_t server_read_bytes, server_write_bytes; /* payload of READ and WRITE */
    struct probe_nfs_op op[N_NFS_OPS];
    struct probe_nfs_transports transports;
    char reason[PROBE_REASON];
};

void probe_nfs_read(const struct probe *p, const char *mount_point, struct probe_nfs_mount *ret);

#endif
