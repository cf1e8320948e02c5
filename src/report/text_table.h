/* SPDX-License-Identifier: MIT */
/* Internal to the report: columns as wide as their widest cell, and paragraphs. */
#ifndef SPUR_REPORT_TEXT_TABLE_H
#define SPUR_REPORT_TEXT_TABLE_H

#include <stdio.h>

#include "report/analysis.h"

#define TEXT_WIDTH   100
#define TEXT_COLUMNS 12

struct text_table {
    const char *align; /* a letter a column: l, r */
    size_t n_columns;
    char **cells; /* of clean text; NULL: out of memory, shown as nothing */
    size_t n, room;
};

/* The next cell, row by row; printf-like. */
void text_table_add(struct text_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for text of the user's. */
void text_table_add_name(struct text_table *t, const char *name);
/* Each line begins with @indent. */
void text_table_print(FILE *out, const struct text_table *t, const char *indent);
/* GitHub-flavoured, the first row being the head. */
void text_table_print_markdown(FILE *out, const struct text_table *t);
void text_table_free(struct text_table *t);

/* Clean text, broken at spaces: the first line begins with @first, the others with spaces of its length. */
void text_paragraph(FILE *out, const char *first, const char *text);

/* What the forms in words share: text_cells.c */

/* The table of rates and the one of the other metrics, with their heads. */
void text_rates(struct text_table *t, const struct analysis *a);
void text_others(struct text_table *t, const struct analysis *a);
/* What the storage saw, of each arm in each cell that knows it. */
void text_wire(struct text_table *t, const struct analysis *a);
bool text_has_wire(const struct analysis *a);
/* Whether any of the other metrics has a ratio. */
bool text_has_others(const struct analysis *a);
/* What the columns mean; one paragraph, malloc'd, NULL: out of memory. */
char *text_legend(const struct analysis *a);
/* "2026-12-01 04:58 to 05:10 UTC"; empty without trials. */
void text_when(FILE *out, const struct analysis *a);
/* "path=odirect, depth=4" */
void text_settings(FILE *out, const struct experiment_settings *s);

#endif
