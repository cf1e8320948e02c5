/* SPDX-License-Identifier: MIT */
/* Sets of panels: one along each swept axis for each combination of the other axes' values. */
#ifndef SPUR_REPORT_CHART_SETS_H
#define SPUR_REPORT_CHART_SETS_H

#include "report/chart.h"

#define CHART_MAX_SETS  12
#define CHART_MAX_ALONG 120 /* points along an axis */

enum panel { PANEL_RATE, PANEL_REQUESTS, PANEL_LATENCY, PANEL_CPU, PANEL_WIRE, N_PANELS };

struct chart_set {
    uint32_t axis;              /* EXPERIMENT_NONE: nothing is swept, bars of arms */
    uint32_t first_cell;        /* gives the values of the other axes */
    uint32_t *cells;            /* in the order in which they are drawn; EXPERIMENT_NONE: the plan has no such cell */
    double *x;                  /* numbers of the axis, rising; NULL: its values are names */
    size_t n_cells, n_left_out; /* points that are drawn, spread evenly; others */
    bool machine_cpu;           /* CPUs of the machine; else of the worker's process */
    char *others;               /* "request 64K, op read" (clean); "" without other axes */
    size_t panels[N_PANELS];    /* indices of charts; CHART_NONE: no figure to draw */
};

struct chart_sets {
    struct chart_set *items;
    size_t n, n_left_out;
};

/* At most CHART_MAX_SETS. -ENOMEM */
int chart_sets_make(const struct analysis *a, struct chart_sets *ret);
void chart_sets_free(struct chart_sets *sets);

/* The analysis of an arm's line along a set; NULL: there is none (names, bars). */
const struct line *chart_set_line(const struct analysis *a, const struct chart_set *set, uint32_t arm);
/* Of an arm at a point of a set; NULL where the plan has no such cell. */
const struct arm_cell *chart_set_at(const struct analysis *a, const struct chart_set *set, size_t point, uint32_t arm);
/* The text of the axis's value at a point; "" without an axis. */
const char *chart_set_value(const struct analysis *a, const struct chart_set *set, size_t point);

/* Adds the charts of a set to @list. -ENOMEM */
int chart_set_draw(const struct analysis *a, struct chart_set *set, size_t number, struct charts *list);

#endif
