/* SPDX-License-Identifier: MIT */
/*
 * When a simulated storage answers. Each server has a link that carries one request after the other:
 *
 *   clk = max(clk, now) + size / rate,  due = max(now + latency, clk)
 *
 * Then a lone request takes max(latency, size / rate), and n in flight give min(n x size / latency, rate). Reads and
 * writes share a server's link, each at its own rate.
 */
#ifndef SPUR_SIMFS_MODEL_H
#define SPUR_SIMFS_MODEL_H

#include <stdint.h>

#define MODEL_MAX_SERVERS 64

enum model_op { MODEL_READ, MODEL_WRITE, MODEL_N_OPS };

struct model_link {
    uint64_t latency_ns;
    uint64_t rate; /* bytes per second, of all servers together; 0: no limit */
};

struct model_setup {
    struct model_link op[MODEL_N_OPS];
    uint64_t jitter_percent; /* latency x (1 - j .. 1 + j), uniformly */
    uint64_t rpc_bytes;      /* offsets are dealt to servers in pieces of that size */
    unsigned n_servers;
    uint64_t seed; /* of the jitter */
};

/* Not thread-safe. */
struct model {
    struct model_setup setup;
    uint64_t clk_ns[MODEL_MAX_SERVERS]; /* when the link is free again */
    uint64_t random;
};

void model_init(struct model *m, const struct model_setup *setup);

/* The server of a request at @offset: (offset / rpc) modulo the number of servers. */
unsigned model_server(const struct model_setup *setup, uint64_t offset);

/* A request of @bytes arrives at @now_ns, no earlier than the one before; returns when it is answered. */
uint64_t model_due(struct model *m, enum model_op op, unsigned server, uint64_t bytes, uint64_t now_ns);

/* Nothing leaves @server before @until_ns. */
void model_hold(struct model *m, unsigned server, uint64_t until_ns);

/* What the model says of requests of @bytes to one server of N: ns that a lone one takes, and bytes per second with
 * @n in flight, spread evenly over the servers. */
double model_lone_ns(const struct model_setup *setup, enum model_op op, uint64_t bytes);
double model_rate(const struct model_setup *setup, enum model_op op, uint64_t bytes, unsigned n);

/* Uniform in [0, 2^64): SplitMix64. */
uint64_t model_random(uint64_t *state);

#endif
