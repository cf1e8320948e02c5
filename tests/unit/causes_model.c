/* SPDX-License-Identifier: MIT */
#include "causes_model.h"

#include <math.h>

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

double model_uniform(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
}

double model_between(uint64_t *state, double low, double high)
{
    return low * pow(high / low, model_uniform(state));
}

double model_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(model_uniform(state)));

    return radius * cos(2 * M_PI * model_uniform(state));
}

unsigned model_pick(uint64_t *state, unsigned n)
{
    return (unsigned)(next(state) % n);
}

/* ------------------------------------------------------------------------------------------------
 * The mechanism
 */

struct steady {
    double rate, in_flight, service, piece, cpus;
};

/* One round of a caller: waves of pieces, then computing; @depth rounds overlap, but not their computing. */
static struct steady solve(const struct model_arm *m, double service)
{
    double pieces = m->pieces * (1 - m->cached), waves = pieces / m->together;
    double wait = waves * service, compute = m->user + m->system;
    double round = fmax((wait + compute) / m->depth, compute), per_second = m->threads / round;

    return (struct steady){
        .rate = per_second * m->request,
        .in_flight = per_second * pieces * service,
        .service = service,
        .piece = m->request / m->pieces,
        .cpus = per_second * (compute + m->polls * wait / m->depth),
    };
}

/* A piece takes longer where more is asked than the storage gives. */
static struct steady settle(const struct model_arm *m)
{
    double alone = m->latency + (m->stream > 0 ? m->request / m->pieces / m->stream : 0), low = alone, high = alone;
    struct steady s = solve(m, alone);

    if (!(m->limit > 0) || s.rate * (1 - m->cached) <= m->limit)
        return s;
    while (solve(m, high).rate * (1 - m->cached) > m->limit)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (solve(m, middle).rate * (1 - m->cached) > m->limit)
            low = middle;
        else
            high = middle;
    }
    return solve(m, high);
}

/* ------------------------------------------------------------------------------------------------
 * Measuring it
 */

static void figure(const double *values, struct stats_figure *ret)
{
    stats_figure(values, MODEL_BLOCKS, ret);
}

static double small(uint64_t *state)
{
    return exp(0.005 * model_normal(state));
}

void model_measure(const struct model_arm *m, uint64_t *state, const double *drift, struct cause_side *ret,
                   double *ret_rates)
{
    struct steady s = settle(m);
    double requests[MODEL_BLOCKS], in_flight[MODEL_BLOCKS], bytes[MODEL_BLOCKS], service[MODEL_BLOCKS],
        per_request[MODEL_BLOCKS], rising[MODEL_BLOCKS], others = 1 + m->foreign;

    *ret =
        (struct cause_side){.served = "storage", .observed = "host", .route = "", .file = "/mnt/a/f", .link_name = ""};
    for (int i = 0; i < MODEL_BLOCKS; i++) {
        double slow = exp(m->noise * model_normal(state)) * drift[i];

        ret_rates[i] = s.rate / slow;
        requests[i] = ret_rates[i] / m->request;
        service[i] = s.service * 1e9 * slow * small(state);
        in_flight[i] = s.in_flight * others * small(state);
        bytes[i] = s.piece * small(state);
        per_request[i] = m->pieces * (1 - m->cached) * others * small(state);
        rising[i] = exp(0.02 * model_normal(state));
        ret->n_rising += rising[i] > 1;
    }
    figure(ret_rates, &ret->rate);
    figure(requests, &ret->requests);
    figure(service, &ret->service_ns);
    figure(in_flight, &ret->in_flight);
    figure(bytes, &ret->wire_bytes);
    figure(per_request, &ret->per_request);
    figure(rising, &ret->rising);
    ret->user_cpus = s.cpus * 0.3;
    ret->system_cpus = s.cpus * 0.7;
    ret->cpu_per_gib = s.cpus / (s.rate / (double)(1ull << 30));
    ret->machine_per_gib = ret->cpu_per_gib * 1.1;
    ret->threads = m->threads;
    ret->depth = m->depth;
    ret->cpus_online = 64;
    ret->trial_cpus = s.cpus * 1.1;
    ret->machine_cpus = ret->trial_cpus + 0.2;
    ret->link_share = NAN;
    ret->set_rate = NAN;
    ret->reads = true;
}

void model_case(const struct model_arm *baseline, const struct model_arm *side, uint64_t *state, struct cause_case *ret)
{
    const struct stats_family_options options = {0.05, 0.03, true};
    double drift[MODEL_BLOCKS], rates[2][MODEL_BLOCKS], logs[MODEL_BLOCKS];
    struct stats_sample sample = {logs, MODEL_BLOCKS};

    *ret = (struct cause_case){.arm = 1, .margin = 0.03};
    for (int i = 0; i < MODEL_BLOCKS; i++)
        drift[i] = exp(0.03 * model_normal(state));
    model_measure(baseline, state, drift, &ret->baseline, rates[0]);
    model_measure(side, state, drift, &ret->side, rates[1]);
    for (int i = 0; i < MODEL_BLOCKS; i++)
        logs[i] = log(rates[1][i] / rates[0][i]);
    stats_family(&sample, 1, &options, &ret->rate);
    ret->best_rate = fmax(ret->baseline.rate.center, ret->side.rate.center);
}
