/* SPDX-License-Identifier: MIT */
/* Which road the bytes of the window took, judged from counters of both its ends. */
#ifndef SPUR_WORKER_ROAD_H
#define SPUR_WORKER_ROAD_H

#include "worker/measure.h"

struct road {
    enum spur_observed observed;
    const char *source; /* where the counters were read that decided it */
    char strength[16];  /* of the evidence: strong, supporting, none */
    char says[400];     /* what it rests on */
    bool counted;       /* operations by road are known */
    uint64_t n_operations, n_nvfs, n_p2p, n_posix, n_bounced;
};

#define ROAD_LIBRARY "library statistics"

/* @by_op: what was moved in the window, reads and writes. For paths whose road a library decides (ops->roads); for
 * others it is what the code itself is. */
void road_judge(const struct trial *t, const struct measure *m, const struct tally by_op[2], struct road *ret);

/* 0; or -EPERM (REFUSED): another road was asked for than @road. Nothing is said against an unknown one. */
int road_check(const struct trial *t, const struct road *road, struct spur_error *e);

#endif
