/* SPDX-License-Identifier: MIT */
/* Charts over time: the rate inside trials, and trials in their order. */
#ifndef SPUR_REPORT_CHART_TIME_H
#define SPUR_REPORT_CHART_TIME_H

#include "report/chart.h"

#define CHART_MAX_CELLS  24
#define CHART_MAX_TRIALS 60 /* lines in a cell's chart */
#define CHART_MAX_PIECES 60 /* points of a line */
#define CHART_MAX_POINTS 2000

/* Rate over time of a cell's trials. */
struct chart_cell {
    uint32_t cell;
    size_t chart;             /* CHART_NONE: no trial has intervals */
    size_t n_drawn, n_trials; /* with figures */
};

struct chart_times {
    struct chart_cell *items; /* in the order of cells, spread evenly */
    size_t n, n_left_out;
};

int chart_times_make(struct store *s, const struct analysis *a, struct charts *list, struct chart_times *ret,
                     struct spur_error *e);
void chart_times_free(struct chart_times *times);

/* Each trial's rate against the mean of its arm in its cell, in the order in which they ran. */
struct chart_order {
    size_t chart; /* CHART_NONE: fewer than 2 trials have figures */
    size_t n_points, n_left_out, n_outliers;
    size_t n_beyond; /* drawn at the edge */
};

int chart_order_make(const struct analysis *a, struct charts *list, struct chart_order *ret);

#endif
