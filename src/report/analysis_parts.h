/* SPDX-License-Identifier: MIT */
/* Internal to the analysis: its steps, each in a file of its own, in the order in which they are taken. */
#ifndef SPUR_REPORT_ANALYSIS_PARTS_H
#define SPUR_REPORT_ANALYSIS_PARTS_H

#include "report/analysis.h"
#include "store/facts.h"

/* Trials by pair (an arm in a cell), and what was left out. */
struct analysis_index {
    size_t n_pairs;
    size_t *first;          /* [pair], n_pairs + 1: where its trials begin in */
    uint32_t *trials;       /* indices of a->trials, pair by pair, in the order of rows */
    uint32_t *decided_from; /* [cell]: block from which on it was left out; EXPERIMENT_NONE: none */
    uint32_t *stopped_from; /* [pair] */
    uint32_t n_rows_due;    /* rows before this one were to be run by now */
};

/* All: -ENOMEM, the rest of the analysis untouched. */
int analysis_index_make(const struct analysis *a, struct analysis_index *ret);
void analysis_index_free(struct analysis_index *index);

/* analysis_arms.c: arm_cells, n_blocks_done, n_without_figures */
int analysis_arms(struct analysis *a, const struct analysis_index *index);
/* analysis_pairs.c: comparisons, aa, harness_biased */
int analysis_pairs(struct analysis *a, const struct analysis_index *index);
/* analysis_lines.c */
int analysis_lines(struct analysis *a, const struct analysis_index *index);
/* analysis_flags.c: drift, outliers, what the experiment is and how it ended */
int analysis_flags(struct analysis *a, const struct analysis_index *index);
/* sentences.c, sentences_warnings.c */
int analysis_sentences(struct analysis *a);
int analysis_warnings(struct analysis *a);

/* analysis_causes.c: what the rules see, from the trials of @s, and what they find. -ENOMEM, and errors of the store */
int analysis_causes(struct analysis *a, struct store *s, const struct analysis_index *index,
                    const struct store_facts *facts, size_t n_facts, struct spur_error *e);
/* causes_words.c: text and tries of a cause; @cases: of its cells, in their order. -ENOMEM */
int cause_words(const struct analysis *a, struct cause *c, const struct cause_case *const *cases);

/* Whether its figures count: it is complete and was not found wrong. */
bool analysis_has_figures(const struct store_trial *t);

/* The comparison of @arm in @cell, the A/A copy's too; NULL: the baseline. */
const struct comparison *analysis_comparison(const struct analysis *a, uint32_t cell, uint32_t arm);

#endif
