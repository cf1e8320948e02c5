/* SPDX-License-Identifier: MIT */
/* The memories of a trial: one, or several GPUs to which the threads are dealt in turn. */
#ifndef SPUR_WORKER_TRIAL_MEMORY_H
#define SPUR_WORKER_TRIAL_MEMORY_H

#include "worker/trial.h"

/*
 * Opens what job->memory names: a memory, "auto" (a GPU where one answers, else the emulated one; memory_reason then
 * says why), or "cuda:0,1". Fills memories, n_memories, memory and memory_info (of the first). Usage errors: an unknown
 * name, the same GPU twice, more GPUs than threads. What was opened is closed by trial_memory_close, also after an
 * error.
 */
int trial_memory_open(struct trial *t, struct spur_error *e);
void trial_memory_close(struct trial *t);

/* Where the bytes of @thread end or start. */
struct spur_memory *trial_memory_of(const struct trial *t, unsigned thread);

#endif
