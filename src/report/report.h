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

/* Why nothing was drawn. */
struct report_undrawn {
    bool is_absent; /* there is no gnuplot */
    char why[300];  /* in one line of clean text, "gnuplot was not found"; "": all was drawn */
};

/* One self-contained page. Charts by gnuplot; where it is not there or fails the tables remain, and the page says so.
 */
int report_html(FILE *out, struct store *s, const struct analysis *a, struct report_undrawn *ret, struct spur_error *e);
/* Data and gnuplot scripts, and the SVG files where gnuplot draws them, into the new directory @dir: mode 0600, all or
 * none. -EPERM (REFUSED): it exists and is not empty. */
int report_charts(const char *dir, struct store *s, const struct analysis *a, struct report_undrawn *ret,
                  struct spur_error *e);

#endif
