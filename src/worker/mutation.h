/* SPDX-License-Identifier: MIT */
/*
 * Mutations: damage done on purpose, so that the suite can show that verification would see it. They exist in the test
 * program spur-mutant only (built with SPUR_MUTATIONS, chosen by the environment variable SPUR_MUTATE); in spur these
 * calls are empty.
 */
#ifndef SPUR_WORKER_MUTATION_H
#define SPUR_WORKER_MUTATION_H

#include "worker/trial.h"

#ifdef SPUR_MUTATIONS
/* Before the check of a completed read. */
void mutation_read(struct trial_thread *t, unsigned slot);
/* True: leave the old header in what is about to be written. */
bool mutation_skip_stamp(struct trial_thread *t);
#else
static inline void mutation_read(struct trial_thread *t, unsigned slot)
{
    (void)t;
    (void)slot;
}
static inline bool mutation_skip_stamp(struct trial_thread *t)
{
    (void)t;
    return false;
}
#endif

#endif
