/* SPDX-License-Identifier: MIT */
/*
 * Counts requests in flight at moments of the window, as a check of what sums over time say. On a thread of its own,
 * about 50 times a second, at times that no rhythm of the load can fall in with, and more seldom where that would take
 * more than 1/200 of a CPU; it touches nothing of the timed loop, and says how much CPU it used.
 */
#ifndef SPUR_WORKER_SAMPLER_H
#define SPUR_WORKER_SAMPLER_H

#include "probe/storage.h"

struct sampler;

struct samples {
    bool known;
    unsigned n;
    double mean, deviation; /* standard deviation of one sample */
    uint64_t max;
    double mean_late_ns;     /* from when a sample was due until it was there, less the CPU time of taking it */
    double user_s, system_s; /* CPU of the sampling thread */
    char reason[PROBE_REASON];
};

/* @p, @storage and @idle must outlive it. NULL: no thread could be had. */
struct sampler *sampler_start(const struct probe *p, const struct storage *storage, const struct storage_idle *idle);
/* Ends it and frees it; NULL is allowed. */
void sampler_stop(struct sampler *s, struct samples *ret);

/* Whether a mean over time and sampled counts say the same: they differ by no more than a fifth, three standard errors
 * of the samples, and 0.1. */
bool samples_agree(const struct samples *s, double mean);
/* Whether the thread waited so long for a CPU (a tenth of @service_ns, what a request takes) that its samples may
 * be of the ebbs of a load that takes all CPUs in bursts. */
bool samples_late(const struct samples *s, double service_ns);

#endif
