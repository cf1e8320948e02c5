/* SPDX-License-Identifier: MIT */
#ifndef SPUR_REPORT_JSON_NULLS_H
#define SPUR_REPORT_JSON_NULLS_H

#include <jansson.h>

/* Why each null of a report is one: {"comparisons[].metrics.*.low": "fewer than two blocks"}, only of nulls that are
 * there. New reference; NULL: out of memory. */
json_t *json_nulls(const json_t *report);

#endif
