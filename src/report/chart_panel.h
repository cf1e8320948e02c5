/* SPDX-License-Identifier: MIT */
/* What the panels of a set share: the figures that they draw, their units and their axes. */
#ifndef SPUR_REPORT_CHART_PANEL_H
#define SPUR_REPORT_CHART_PANEL_H

#include "report/chart_scale.h"
#include "report/chart_sets.h"

/* A panel draws one figure of each arm and point, or two: p50 and p99, user and system; on the wire, the number in
 * flight and, where there are lines, the mean size, which has an axis of its own at the right. */
struct panel_view {
    const struct analysis *a;
    const struct chart_set *set;
    enum panel panel;
    bool is_bars;
    struct chart_unit unit;
    struct chart_scale y;
    bool has_right; /* part 1 is drawn against the right axis */
    struct chart_unit right_unit;
    struct chart_scale right;
};

/* Figure @part (0, 1) in the unit of the view: center, low, high; NaN where there is none. */
struct panel_figure {
    double center, low, high;
};
struct panel_figure panel_figure_of(const struct panel_view *v, const struct arm_cell *c, unsigned part);
struct panel_figure panel_figure(const struct panel_view *v, size_t point, uint32_t arm, unsigned part);
unsigned panel_parts(const struct panel_view *v);

/* False: there is no figure in the whole panel. */
bool panel_view_make(const struct analysis *a, const struct chart_set *set, enum panel panel, struct panel_view *ret);
/* malloc'd texts of the chart. */
char *panel_title(const struct panel_view *v);
char *panel_description(const struct panel_view *v);

/* Whiskers are arrows with flat heads: gnuplot's own error bars paint over the point with the ground's colour. */
#define CHART_WHISKER "heads size graph 0.009,90"

/* The y axis: range and ticks. */
void panel_write_y(FILE *out, const struct chart_scale *y);
void panel_write_right(FILE *out, const struct chart_scale *y);
/* The x axis of swept numbers, or of names and bars. -ENOMEM */
int panel_write_x_numbers(FILE *out, const struct panel_view *v);
int panel_write_x_names(FILE *out, const struct panel_view *v);

int panel_draw_lines(struct chart_draft *d, const struct panel_view *v);
int panel_draw_bars(struct chart_draft *d, const struct panel_view *v);

#endif
