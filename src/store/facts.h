/* SPDX-License-Identifier: MIT */
/* What causes need of a trial beyond its figures, taken from its result (docs/run-json.md). NaN: not known. */
#ifndef SPUR_STORE_FACTS_H
#define SPUR_STORE_FACTS_H

#include "store/store.h"

#define FACTS_LINK 48

struct store_facts {
    uint32_t row;
    double threads, depth;  /* effective */
    double workers;         /* for each thread; 0: the path reports none */
    double allowed_cpus;    /* that the worker may run on */
    double online_cpus;     /* of the machine */
    double busy_before;     /* CPUs, before the trial */
    double throttled_share; /* of the periods of the control group; 0: there is no limit */
    bool gpu_slowed;        /* its clocks were held down by heat or power, at either end */
    bool foreign;           /* files were not in spur's format: bytes were held against buffered reads */
    bool samples_disagree;  /* wire.sampled.agrees is false */
    char link[FACTS_LINK];  /* the fullest link of `wire`; "" none has a speed */
    double link_share;      /* of its speed, in the fuller direction */
    char library[32];       /* version of the cuFile that moved the bytes: "1.15.1.6"; "" none */
    double set_rate;        /* of simulated mounts, bytes/s; NaN: none of them, or no limit */
};

/* @extract: what STATEMENT_FACTS picks out of a result, null where missing; NULL: nothing is known. */
void facts_take(const json_t *extract, struct store_facts *ret);

/* Of all trials that left a result, in the order of rows; *ret is owned by the caller (free). */
int store_facts(struct store *s, struct store_facts **ret, size_t *ret_n, struct spur_error *e);

#endif
