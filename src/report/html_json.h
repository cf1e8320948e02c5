/* SPDX-License-Identifier: MIT */
/* Any JSON as rows of a definition list, its keys with dots. */
#ifndef SPUR_REPORT_HTML_JSON_H
#define SPUR_REPORT_HTML_JSON_H

#include <jansson.h>
#include <stdio.h>

/* Rows for all of @value under @name ("" at the top); @nulls (may be NULL) gives reasons of nulls by key. At most @max
 * rows; *left_out counts the others. */
struct html_json {
    FILE *out;
    const json_t *nulls;
    size_t max, n, left_out;
};
void html_json(struct html_json *j, const char *name, const json_t *value);

#endif
