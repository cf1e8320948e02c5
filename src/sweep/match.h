/* SPDX-License-Identifier: MIT */
/*
 * Settings at which arms keep the same number of wire requests in flight (compare --match inflight): found by untimed
 * pilots before the plan is written down, then part of it. What is left of a difference is not concurrency.
 */
#ifndef SPUR_SWEEP_MATCH_H
#define SPUR_SWEEP_MATCH_H

#include "sweep/sweep.h"

#define MATCH_CLOSE   1.1  /* within that factor of the target it is enough */
#define MATCH_APART   1.25 /* beyond, the arms cannot be said to be matched */
#define MATCH_LEAST   0.1  /* in flight: below, next to nothing of the arm reaches the wire */
#define MATCH_PILOTS  8    /* of one arm, at most */
#define MATCH_HIGHEST 1024 /* of threads or depth that is tried */

/* ------------------------------------------------------------------------------------------------
 * match_search.c: one arm
 */

/* Mean number in flight at @value of threads or depth. -ERANGE: the arm cannot take so many. Other errors end it. */
typedef int match_measure(void *context, uint32_t value, double *ret_in_flight, struct spur_error *e);

struct match_found {
    uint32_t value;
    double in_flight; /* there */
    unsigned n_pilots;
    uint32_t refused; /* a value that the arm could not take, @e says why; 0: none */
};

/* The value nearest to @target, from @start on; the number in flight is taken not to fall as the value rises. 0 also
 * where the nearest is not near: see match_is_near. */
int match_search(double target, uint32_t start, match_measure *measure, void *context, struct match_found *ret,
                 struct spur_error *e);
bool match_is_near(double in_flight, double target);

/* ------------------------------------------------------------------------------------------------
 * match.c: all arms
 */

struct match_options {
    double target;  /* requests in flight; NaN: what the baseline keeps as it is */
    bool may_write; /* pilots of writing ops write, as their trials do: not with --dry-run */
    void (*said)(void *context, const char *line); /* NULL: nobody listens */
    void *context;
};

/*
 * Fills x->matches, cell by cell (@pairs checked), and in a plan of one cell makes them the arms' settings. The jobs of
 * @pairs are then out of date. -EINVAL: an arm leaves neither threads nor depth to change. -EPERM (REFUSED): nothing
 * counts what is on the wire there, or an arm cannot come near.
 */
int match_arms(struct experiment *x, const struct sweep_pair *pairs, const struct match_options *o,
               struct spur_error *e);

#endif
