/* SPDX-License-Identifier: MIT */
/* Internal to the analysis: what the rules of causes.h see of each arm in each cell. */
#ifndef SPUR_REPORT_ANALYSIS_CAUSES_H
#define SPUR_REPORT_ANALYSIS_CAUSES_H

#include "report/analysis_parts.h"
#include "store/facts.h"

/* Of each pair [cell * n_arms + arm]; strings are borrowed from @a and @facts. *ret (malloc). */
int cause_sides_make(const struct analysis *a, const struct analysis_index *index, const struct store_facts *facts,
                     size_t n_facts, const struct store_interval *intervals, size_t n_intervals,
                     struct cause_side **ret);

#endif
