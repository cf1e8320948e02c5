/* SPDX-License-Identifier: MIT */
/* Bytes through network interfaces and RDMA ports: of the whole machine (interfaces: of its network namespace). */
#ifndef SPUR_PROBE_NET_H
#define SPUR_PROBE_NET_H

#include "probe/probe.h"

#define PROBE_MAX_PORTS 64

struct probe_port {
    char name[48];                       /* "eth0"; "mlx5_0/1": device and port */
    bool known;                          /* both directions */
    uint64_t received_bytes, sent_bytes; /* since it was set up */
    bool has_speed, is_hardware;         /* is_hardware: of interfaces; false: bridges, tunnels, lo, containers' */
    uint64_t speed_bits_per_s;           /* as negotiated */
    char reason[PROBE_REASON];           /* of what is not known */
};

struct probe_ports {
    bool known;
    unsigned n, n_left_out;                   /* left out: over PROBE_MAX_PORTS */
    struct probe_port items[PROBE_MAX_PORTS]; /* by name */
    char reason[PROBE_REASON];
};

/* net.c: /proc/net/dev, /sys/class/net. RDMA does not show here. */
void probe_net_read(const struct probe *p, struct probe_ports *ret);
/* rdma.c: /sys/class/infiniband, whose data counters are in words of 4 bytes. */
void probe_rdma_read(const struct probe *p, struct probe_ports *ret);

#endif
