/* SPDX-License-Identifier: MIT */
/* Charts of a report: what each is made of, and the gnuplot script that it becomes. */
#ifndef SPUR_REPORT_CHART_H
#define SPUR_REPORT_CHART_H

#include "report/analysis.h"

#define CHART_NONE SIZE_MAX

struct chart {
    char *name;        /* of its files, of [a-z0-9-]: "threads-1-throughput" */
    char *title;       /* clean text (html_clean) */
    char *description; /* clean text: what is seen, for those who do not see it */
    unsigned width, height;
    char *data;     /* gnuplot data: blocks of numbers, for `index` */
    char *commands; /* gnuplot commands that read DATA and the variables of chart_write_head; no `set output`, `set key`
                     */
    bool has_key;   /* its file names the arms beside the plot */
    char *svg;      /* as gnuplot made it; NULL: not made */
};

struct charts {
    struct chart *items;
    size_t n;
};

/* A chart under construction: write data and commands, then chart_end. */
struct chart_draft {
    struct chart chart;
    FILE *data, *commands;
    size_t data_size, commands_size;
    size_t n_blocks; /* begun in data */
};

/* Takes title and description over (malloc'd; NULL counts as out of memory). Always to be ended. -ENOMEM */
int chart_begin(struct chart_draft *d, const char *name, char *title, char *description);
/* The next block of data; returns its index. */
size_t chart_block(struct chart_draft *d);
/* Adds the chart to @list and gives its index; with @keep false it is thrown away. -ENOMEM */
int chart_end(struct chart_draft *d, bool keep, struct charts *list, size_t *ret_index);
void charts_free(struct charts *list);

/* A single-quoted gnuplot string of text that may be anybody's. Labels of ticks are formats to gnuplot: for them
 * @is_format doubles each %. */
void chart_string(FILE *out, const char *text, bool is_format);
/* "NaN" for what is not known. */
void chart_number(FILE *out, double value);

/* The whole script of one chart for a page: its data inside, marker colours, SVG to stdout. */
void chart_write_inline(FILE *out, const struct chart *c, size_t index);
/* The script of a file, which reads @name.dat and writes @name.svg. */
void chart_write_file(FILE *out, const struct chart *c, const char *name);

#endif
