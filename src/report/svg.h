/* SPDX-License-Identifier: MIT */
/* gnuplot's SVG made fit to stand inside a page beside others. */
#ifndef SPUR_REPORT_SVG_H
#define SPUR_REPORT_SVG_H

#include <stdio.h>

struct svg_look {
    const char *prefix; /* of every id in it: [a-z0-9-] */
    unsigned width, height;
    const char *title, *description; /* text; escaped here */
};

/*
 * Writes the document @svg ("<svg" ... "</svg>") as an element: ids and what refers to them get the prefix, marker
 * colours become CSS variables (chart_style.h), black and white the page's text and ground; it has a role, a title and
 * a description, and scales with its container. Everything that refers outside the document is dropped.
 */
void svg_write(FILE *out, const char *svg, const struct svg_look *look);

#endif
