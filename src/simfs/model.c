/* SPDX-License-Identifier: MIT */
#include "simfs/model.h"

#include "pattern/pattern.h"

void model_init(struct model *m, const struct model_setup *setup)
{
    *m = (struct model){.setup = *setup, .random = setup->seed};
}

uint64_t model_random(uint64_t *state)
{
    *state += PATTERN_STEP;
    return pattern_mix(*state);
}

unsigned model_server(const struct model_setup *setup, uint64_t offset)
{
    return (unsigned)(offset / setup->rpc_bytes % setup->n_servers);
}

/* Each server has its share of the rate. */
static uint64_t carry_ns(const struct model_setup *s, enum model_op op, uint64_t bytes)
{
    unsigned __int128 ns = (unsigned __int128)bytes * s->n_servers * 1000000000u;

    return s->op[op].rate ? (uint64_t)(ns / s->op[op].rate) : 0;
}

static uint64_t draw_latency(struct model *m, enum model_op op)
{
    uint64_t latency = m->setup.op[op].latency_ns;
    double u;

    if (!m->setup.jitter_percent)
        return latency;
    u = (double)(model_random(&m->random) >> 11) / 0x1p53; /* [0, 1) */
    return (uint64_t)((double)latency * (1 + (2 * u - 1) * (double)m->setup.jitter_percent / 100));
}

uint64_t model_due(struct model *m, enum model_op op, unsigned server, uint64_t bytes, uint64_t now_ns)
{
    uint64_t *clk = &m->clk_ns[server];
    uint64_t soonest = now_ns + draw_latency(m, op);

    *clk = (*clk > now_ns ? *clk : now_ns) + carry_ns(&m->setup, op, bytes);
    return soonest > *clk ? soonest : *clk;
}

void model_hold(struct model *m, unsigned server, uint64_t until_ns)
{
    if (m->clk_ns[server] < until_ns)
        m->clk_ns[server] = until_ns;
}

double model_lone_ns(const struct model_setup *setup, enum model_op op, uint64_t bytes)
{
    double latency = (double)setup->op[op].latency_ns;
    double carry = setup->op[op].rate ? (double)bytes * setup->n_servers * 1e9 / (double)setup->op[op].rate : 0;

    return latency > carry ? latency : carry;
}

double model_rate(const struct model_setup *setup, enum model_op op, uint64_t bytes, unsigned n)
{
    double latency = (double)setup->op[op].latency_ns, rate = (double)setup->op[op].rate;
    double by_latency = latency > 0 ? (double)n * (double)bytes * 1e9 / latency : 0;

    if (!setup->op[op].rate || (latency > 0 && by_latency < rate))
        return by_latency; /* 0: no limit at all */
    return rate;
}
