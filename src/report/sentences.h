/* SPDX-License-Identifier: MIT */
/* Internal to the report: words for people. All text that is written is printable UTF-8 on one line. */
#ifndef SPUR_REPORT_SENTENCES_H
#define SPUR_REPORT_SENTENCES_H

#include <stdio.h>

#include "report/analysis.h"

/* Texts under construction: each one is written to `out` and ended. */
struct texts {
    FILE *out; /* NULL: out of memory, then all is in vain */
    char *text;
    size_t size;
    char **items;
    size_t n, room;
};

/* The next text. */
FILE *texts_begin(struct texts *t);
/* Keeps it; an empty one is dropped. -ENOMEM */
int texts_end(struct texts *t);
void texts_free(struct texts *t);

/* ------------------------------------------------------------------------------------------------
 * sentences_words.c
 */

/* Text of the user's; what is not printable as \xNN. */
void words_clean(FILE *out, const char *text);
void words_arm(FILE *out, const struct analysis *a, uint32_t arm);
/* As analysis_arm_label. */
void words_arm_in(FILE *out, const struct analysis *a, uint32_t cell, uint32_t arm);
/* "1.28"; "-" for NaN. Returns @ret. */
#define WORDS_RATIO 32
char *words_ratio(double ratio, char *ret);
/* "[1.22, 1.33]": one that excludes 1 does not show it as a bound. Nothing where there is none. */
void words_interval(FILE *out, double low, double high);
/* "3", "2.5" */
void words_percent(FILE *out, double share);
/* "2 trials", "1 trial" */
void words_count(FILE *out, size_t n, const char *one, const char *many);
/* "12 to 20 blocks would likely decide"; nothing where it cannot be told. */
void words_needed(FILE *out, unsigned low, unsigned high);

/* "8 threads", "64 KiB requests", "depth 4", "piece = 128K" */
void words_value(FILE *out, const struct experiment_axis *axis, uint32_t value);
/* "from 4 KiB to 64 KiB requests", "between 8 and 16 threads": @before and @between are the words in front. */
void words_range(FILE *out, const struct experiment_axis *axis, uint32_t low, uint32_t high, const char *before,
                 const char *between);
/* A number between the axis's values. */
void words_number(FILE *out, const struct experiment_axis *axis, double number);
/* "At 64 KiB requests, depth 4: ", the values of all axes but one (EXPERIMENT_NONE: of all); nothing where none has
 * more than one value. */
void words_fixed(FILE *out, const struct experiment *x, uint32_t cell, uint32_t but_axis);
/* "reads", "writes", "reads and writes" */
const char *words_verb(const struct experiment *x, uint32_t cell, uint32_t arm);

/* ------------------------------------------------------------------------------------------------
 * sentences_line.c
 */

/* Cells that are one sentence: along an axis, or a single one. */
struct stretch {
    uint32_t axis;         /* EXPERIMENT_NONE: a single cell */
    const uint32_t *cells; /* in rising order */
    size_t n_cells;
};

/* causes_words.c: a cause as one paragraph, with its confidence and what to try; malloc'd, NULL: out of memory. */
char *cause_paragraph(const struct analysis *a, const struct cause *c);
/* That some decided comparisons have no cause; malloc'd, NULL: all have one, or none is decided. */
char *cause_none_paragraph(const struct analysis *a);
/* causes_tries.c: what to try, added to @ret; @cases: of the cause's cells. -ENOMEM */
int cause_tries(const struct analysis *a, const struct cause *c, const struct cause_case *const *cases,
                struct texts *ret);

/* sentences_cached.c: O_DIRECT arms that a cache served; nothing where there is none. */
void warn_cached(FILE *out, const struct analysis *a);

/* sentences_borrowed.c: where @arm is undecided only by the spread of other comparisons; nothing where it is nowhere.
 */
void sentence_borrowed(FILE *out, const struct analysis *a, uint32_t arm);
/* One arm against the baseline. -ENOMEM */
int sentence_stretch(FILE *out, const struct analysis *a, const struct stretch *s, uint32_t arm);

#endif
