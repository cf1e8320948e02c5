/* SPDX-License-Identifier: MIT */
/*
 * What a request costs this machine besides the model's time, seen in those who ask again. A thread that waits for an
 * answer cannot ask anew before it has it: from when the answer was due until its next request arrives is the
 * most that the way to it and back took. What was measured when the mount began can be too much, if the machine was
 * busy then or is quicker now; this bounds it, so that nobody sees a storage that is faster than it says.
 */
#ifndef SPUR_SIMFS_OVERHEAD_H
#define SPUR_SIMFS_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "simfs/model.h"

#define OVERHEAD_CALLERS 64 /* threads that are remembered */
#define OVERHEAD_SEEN    32 /* of a size */
#define OVERHEAD_SIZES   24 /* powers of two from 4 KiB on */

struct overhead_caller {
    pid_t pid; /* 0: free */
    enum model_op op;
    uint64_t bytes, due_ns;
    bool alone; /* nothing else of that thread was on its way at the same time */
};

struct overhead_seen {
    uint64_t ns[OVERHEAD_SEEN];
    unsigned n;       /* ever */
    uint64_t most_ns; /* what follows from them */
};

/* Not thread-safe. All zero: nothing seen yet. */
struct overhead {
    struct overhead_caller callers[OVERHEAD_CALLERS];
    struct overhead_seen seen[MODEL_N_OPS][OVERHEAD_SIZES];
};

/* Thread @pid asks at @now_ns, past the cache. */
void overhead_arrive(struct overhead *o, pid_t pid, uint64_t now_ns);
/* And its request of @bytes will be answered at @due_ns. Not called: that is not known, and it teaches nothing. */
void overhead_expect(struct overhead *o, pid_t pid, enum model_op op, uint64_t bytes, uint64_t due_ns);

/* The most that may be taken off the wait of a request of @bytes: the lower quartile of the last that were seen, for a
 * caller may also do something else before it asks again. UINT64_MAX: none was. */
uint64_t overhead_most(const struct overhead *o, enum model_op op, uint64_t bytes);

#endif
