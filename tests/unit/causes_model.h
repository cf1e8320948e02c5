/* SPDX-License-Identifier: MIT */
/*
 * A model of how arms come by their rates, for the tests of causes: callers that send a request's pieces some at a
 * time, wait for them, and compute; storage that takes a time for each piece and gives so much and no more. It knows
 * nothing of the rules.
 */
#ifndef SPUR_TEST_CAUSES_MODEL_H
#define SPUR_TEST_CAUSES_MODEL_H

#include "report/causes.h"

#define MODEL_BLOCKS 5

struct model_arm {
    double threads, depth;
    double request;      /* bytes */
    double pieces;       /* that a request becomes on the wire */
    double together;     /* of them that are under way at a time */
    double cached;       /* share of bytes that the wire never sees */
    double user, system; /* CPU seconds of a request */
    double polls;        /* share of its waiting that it spends computing */
    double latency;      /* of a piece, s */
    double stream;       /* bytes/s at which one piece is carried; 0: at once */
    double limit;        /* of the storage, bytes/s; 0: none */
    double foreign;      /* requests on the wire of somebody else, for one of its own */
    double noise;        /* sd of log, from block to block */
};

/* What a side would measure. Names, and what the model has no part in, are as an unremarkable side has them. */
void model_measure(const struct model_arm *arm, uint64_t *state, const double *drift, struct cause_side *ret,
                   double *ret_rates);
/* The comparison of two, judged as a family of one. */
void model_case(const struct model_arm *baseline, const struct model_arm *side, uint64_t *state,
                struct cause_case *ret);

/* 0..1; low..high evenly in the logarithm; a normal deviate; one of n. */
double model_uniform(uint64_t *state);
double model_between(uint64_t *state, double low, double high);
double model_normal(uint64_t *state);
unsigned model_pick(uint64_t *state, unsigned n);

#endif
