/* SPDX-License-Identifier: MIT */
/* The untimed pilot of cuFile's direct road: a few requests with compatibility mode forbidden, before a byte is timed.
 */
#ifndef SPUR_WORKER_PILOT_H
#define SPUR_WORKER_PILOT_H

#include "worker/job.h"

/* Whether the job asks for a direct road (route=direct, which is the default of cuFile's paths). */
bool pilot_is_needed(const struct job *job);

/*
 * Reads a few requests of the job's first file in a process of its own. 0: they arrived by a direct road, or by one
 * that nothing tells apart (*ret_pilot says which). -EPERM (REFUSED): the library would not, with its reason. Reads
 * also for writing ops: nothing is written. *ret_pilot, new reference: {status, observed, says}.
 */
int pilot_run(const struct job *job, uint64_t stall_ns, json_t **ret_pilot, struct spur_error *e);

#endif
