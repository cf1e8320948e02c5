/* SPDX-License-Identifier: MIT */
/* Internal to the analysis: what the rules of causes.h see of each arm in each cell. */
#ifndef SPUR_REPORT_ANALYSIS_CAUSES_H
#define SPUR_REPORT_ANALYSIS_CAUSES_H

#include "report/analysis_parts.h"
#include "store/facts.h"

/* Of each pair [cell * n_arms + arm]; strings are borrowed from @a and @facts, but for the files. *ret:
 * cause_sides_free. */
int cause_sides_make(const struct analysis *a, const struct analysis_index *index, const struct store_facts *facts,
                     size_t n_facts, const struct store_interval *intervals, size_t n_intervals,
                     struct cause_side **ret);
void cause_sides_free(struct cause_side *sides, size_t n);

/*
 * All files of an arm in a cell as one text (malloc; NULL: out of memory): texts are equal where the files are, in
 * whatever order they were named.
 */
char *cause_files(const struct experiment *x, uint32_t cell, uint32_t arm);
/* Whether all of @some are among @all; both are such texts. */
bool cause_files_within(const char *some, const char *all);

#endif
