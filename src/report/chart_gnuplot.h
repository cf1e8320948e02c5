/* SPDX-License-Identifier: MIT */
/* Running gnuplot: no shell, no files, one process for all charts, a time limit. */
#ifndef SPUR_REPORT_CHART_GNUPLOT_H
#define SPUR_REPORT_CHART_GNUPLOT_H

#include "report/chart.h"

#define CHART_LIMIT_NS 30000000000ull
#define CHART_REASON   300 /* as in struct report_undrawn */

/* $GNUPLOT where it is set and not empty, else gnuplot of PATH. malloc'd; NULL: there is none. */
char *chart_gnuplot_find(void);

struct chart_gnuplot_run {
    const char *program;
    char *const *arguments; /* after the program; NULL-terminated */
    int directory;          /* to run in; -1: here */
    const char *input;
    size_t input_length;
    uint64_t limit_ns;
};

/* Runs to the end. *ret_output (malloc'd) is what it wrote to stdout. On failure @reason says why in one line (clean
 * text). -EIO: it failed; -ETIMEDOUT; -ENOMEM */
int chart_gnuplot_run(const struct chart_gnuplot_run *run, char **ret_output, size_t *ret_length,
                      char reason[CHART_REASON]);

/* Draws all charts of a list: fills their svg. All or none. -ENOENT: no gnuplot; @reason says why, "" on success. */
int charts_draw(struct charts *list, uint64_t limit_ns, char reason[CHART_REASON]);

#endif
