/* SPDX-License-Identifier: MIT */
/* The forms of a report. All come from one struct analysis. Names of the user's are escaped in each form's own way. */
#ifndef SPUR_REPORT_REPORT_H
#define SPUR_REPORT_REPORT_H

#include <stdio.h>

#include "report/analysis.h"

/* Plain text: warnings, one line a cell and arm with both figures, ratio, interval and verdict, then the sentences. */
void report_text(FILE *out, const struct analysis *a);
/* New reference (docs/report-json.md). */
json_t *report_json(const struct analysis *a);
/* One row a trial, RFC 4180, header line first. */
int report_csv(FILE *out, struct store *s, const struct analysis *a, struct spur_error *e);
/* GitHub-flavoured tables and the sentences. */
void report_markdown(FILE *out, const struct analysis *a);

/* One self-contained page. Charts by gnuplot; without it the tables remain and the page says what to install: then
 * *ret_without is "gnuplot", else NULL. */
int report_html(FILE *out, struct store *s, const struct analysis *a, const char **ret_without, struct spur_error *e);
/* Data and gnuplot scripts, and the SVG files where gnuplot is there, into the new directory @dir. -EPERM (REFUSED): it
 * exists and is not empty. */
int report_charts(const char *dir, struct store *s, const struct analysis *a, const char **ret_without,
                  struct spur_error *e);

#endif
