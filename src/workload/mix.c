/* SPDX-License-Identifier: MIT */
#include "workload/random.h"

/* Reads too stay in the thread's own part: one of a block that another thread is writing could not be verified. */
static int mix_open(const struct workload_plan *plan, unsigned index, struct workload_thread **ret_thread,
                    bool *ret_idle, struct spur_error *e)
{
    return random_thread_open(plan, index, true, plan->read_percent, ret_thread, ret_idle, e);
}

const struct workload_ops mix_workload = {
    .name = "mix",
    .summary = "reads and writes at offsets drawn uniformly, in the given share",
    .writes = true,
    .open = mix_open,
    .close = random_thread_close,
    .uses = random_thread_uses,
    .next = random_thread_next,
    .done = random_thread_done,
};
