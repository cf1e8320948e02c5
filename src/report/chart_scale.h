/* SPDX-License-Identifier: MIT */
/* Units and ticks of axes. */
#ifndef SPUR_REPORT_CHART_SCALE_H
#define SPUR_REPORT_CHART_SCALE_H

#include <stdbool.h>
#include <stddef.h>

/* A value in bytes/s, 1/s, ns or CPUs is drawn as value / factor. */
struct chart_unit {
    const char *name; /* "GiB/s" */
    double factor;
};

/* The unit in which @largest has 1 to 4 digits before the point. */
struct chart_unit chart_unit_rate(double largest);
struct chart_unit chart_unit_bytes(double largest);
struct chart_unit chart_unit_requests(double largest);
struct chart_unit chart_unit_time(double largest_ns);

#define CHART_TICKS 24

struct chart_scale {
    bool is_log;
    double low, high; /* ends of the axis */
    double ticks[CHART_TICKS];
    size_t n_ticks;
};

/* From 0 to a round number above @max (> 0). */
void chart_scale_zero(double max, struct chart_scale *ret);
/* Round numbers around low..high (low < high). */
void chart_scale_span(double low, double high, struct chart_scale *ret);
/* 0 < min <= max: some room around them; ticks at powers of ten, with 2 and 5 where there are few. */
void chart_scale_log(double min, double max, struct chart_scale *ret);
/* Log where the values go far apart, for then a linear axis hides the small ones. */
void chart_scale_rate(double min, double max, struct chart_scale *ret);

/*
 * An axis of swept values, in rising order: log if they are > 0 and span a factor of 8 or more. ret_labelled: which of
 * them have room for a label of @width (share of the axis, 0..1) each; the first and last have.
 */
void chart_scale_swept(const double *values, size_t n, const double *width, struct chart_scale *ret,
                       bool *ret_labelled);

/* "0.25", "10", "2000": no exponent. */
#define CHART_TICK_TEXT 32
char *chart_tick_text(double value, char *ret);

#endif
