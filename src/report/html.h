/* SPDX-License-Identifier: MIT */
/* Parts of the page, each in a file of its own. All write to page->out; text of users goes through html_text. */
#ifndef SPUR_REPORT_HTML_H
#define SPUR_REPORT_HTML_H

#include "report/chart_all.h"
#include "report/html_text.h"
#include "report/report.h"

struct page {
    FILE *out;
    struct store *s;
    const struct analysis *a;
    const struct chart_book *book;
    const struct report_undrawn *undrawn;
    double forest_log; /* half width of the drawn intervals, as log of a ratio */
};

/* html_head.c: from the doctype to the end of the summary */
void html_head(const struct page *p);
/* html_style.c */
void html_style(FILE *out);
/* html_cells.c: the table of verdicts */
void html_cells(const struct page *p);
/* html_panels.c, html_time.c */
void html_panels(const struct page *p);
void html_times(const struct page *p);
void html_order(const struct page *p);
/* html_metrics.c: latency, requests, CPU */
void html_metrics(const struct page *p);
/* html_wire.c: what the storage saw; nothing where no trial knows it */
void html_wire(const struct page *p);
/* html_why.c: the causes */
void html_why(const struct page *p);
/* html_evidence.c */
int html_evidence(const struct page *p, struct spur_error *e);
/* html_missing.c: trials without figures */
void html_missing(const struct page *p);
/* html_method.c: the command, the plan, how it was measured */
void html_method(const struct page *p);

/* ------------------------------------------------------------------------------------------------
 * html_format.c: figures as text, and small elements
 */

#define HTML_FIGURE 48

/* "1.95 GiB/s", "812 us", "0.310 s/GiB"; "-" for NaN. Returns @ret. */
char *html_figure(enum metric m, double value, char *ret);
/* "better" with its shape, and the blocks that would decide. */
void html_verdict(FILE *out, const struct stats_effect *e);
/* [low, high] */
void html_interval(FILE *out, const struct stats_effect *e);
/* Scale of the drawn intervals, for all tables alike. */
double html_forest_scale(const struct analysis *a);
/* The style attribute of a table of cells: width of labels, place of the margin. */
void html_table_style(const struct page *p);
/* The interval against 1 and the margin, drawn. */
void html_forest(const struct page *p, const struct stats_effect *e);
/* The arm's name as analysis_arm_label gives it, escaped. */
void html_arm(FILE *out, const struct analysis *a, uint32_t cell, uint32_t arm);
/* "figure" with a chart; nothing for CHART_NONE. */
void html_chart(const struct page *p, size_t index);

#endif
