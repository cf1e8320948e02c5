/* SPDX-License-Identifier: MIT */
/*
 * How arms look, everywhere: a colour of eight that colour-blind readers can tell apart (each has a contrast of at
 * least 3 to its ground, light and dark), a shape and a dash. From the ninth arm on colours come again with other
 * dashes.
 */
#ifndef SPUR_REPORT_CHART_STYLE_H
#define SPUR_REPORT_CHART_STYLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHART_COLORS 8

/* What else is drawn than arms. */
enum chart_ink { INK_TEXT, INK_MUTED, INK_GRID, INK_GROUND, INK_BAND, N_INKS };

struct chart_palette {
    const char *arms[CHART_COLORS]; /* "#rrggbb" */
    const char *inks[N_INKS];
};
extern const struct chart_palette chart_light, chart_dark;

/* Names of the CSS variables: "--arm0", "--text". The first takes any arm's index. */
const char *chart_ink_variable(enum chart_ink ink);

/* gnuplot's point types and dash of an arm. */
unsigned chart_point_filled(size_t arm);
unsigned chart_point_open(size_t arm);
const char *chart_dash(size_t arm); /* "solid", "(22,5)" */

/*
 * Charts in a page are drawn in marker colours that stand for variables: rgb(1, 0, index) is an arm's colour,
 * rgb(1, 1, ink) an ink. Nothing else uses these.
 */
#define CHART_MARK_RED 1
#define CHART_MARK_ARM 0
#define CHART_MARK_INK 1

/* The same line and shape in a legend of the page: an inline SVG. */
void chart_style_swatch(FILE *out, size_t arm);

#endif
