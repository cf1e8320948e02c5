/* SPDX-License-Identifier: MIT */
/* Internal to the statistics. */
#ifndef SPUR_STATS_NEEDED_H
#define SPUR_STATS_NEEDED_H

struct needed {
    double mean; /* log ratio so far */
    double sd;   /* moderated, of one block */
    double df;   /* of sd */
    unsigned n;  /* blocks so far */
    double alpha, log_margin;
};
/* Blocks in all that would likely decide: an optimistic and a pessimistic number. */
void needed_blocks(const struct needed *s, unsigned *ret_low, unsigned *ret_high);

#endif
