/* SPDX-License-Identifier: MIT */
/* The untimed pilot of cuFile's direct road: a few requests with compatibility mode forbidden, before a byte is timed.
 */
#ifndef SPUR_WORKER_PILOT_H
#define SPUR_WORKER_PILOT_H

#include "worker/job.h"

/* Whether the job asks for a direct road (route=direct, which is the default of cuFile's paths). */
bool pilot_is_needed(const struct job *job);

/*
 * Reads a few requests of the job's first file, to each of its GPUs, in a process of its own. 0: they arrived by a
 * direct road, or by one that nothing tells apart (*ret_pilot says which). -EPERM: refused, by the library for the
 * road's sake, with its reason, or for what no road would change (no GPU, no library, the file). -EINVAL: usage, as the
 * trial itself would say it. Others: it failed (an I/O error, a crash, a hang). Reads also for writing ops: nothing is
 * written. *ret_pilot, new reference: {status, observed, says}. *ret_signal: SIGINT or SIGTERM that ended it (-EINTR);
 * 0.
 */
int pilot_run(const struct job *job, uint64_t stall_ns, json_t **ret_pilot, int *ret_signal, struct spur_error *e);

#endif
