/* SPDX-License-Identifier: MIT */
/* The drawing workload that random and mix are rows of. */
#ifndef SPUR_WORKLOAD_RANDOM_H
#define SPUR_WORKLOAD_RANDOM_H

#include "workload/workload.h"

/* own_part: draw inside the thread's own part and keep away from its unfinished steps. */
int random_thread_open(const struct workload_plan *plan, unsigned index, bool own_part, unsigned read_percent,
                       struct workload_thread **ret_thread, bool *ret_idle, struct spur_error *e);
void random_thread_close(struct workload_thread *t);
bool random_thread_uses(const struct workload_thread *t, uint32_t file);
int random_thread_next(struct workload_thread *t, struct workload_step *step);
void random_thread_done(struct workload_thread *t, const struct workload_step *step);

#endif
