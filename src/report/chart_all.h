/* SPDX-License-Identifier: MIT */
/* Every chart of a report, and what they leave out. */
#ifndef SPUR_REPORT_CHART_ALL_H
#define SPUR_REPORT_CHART_ALL_H

#include "report/chart_sets.h"
#include "report/chart_time.h"

struct chart_book {
    struct charts charts;
    struct chart_sets sets;
    struct chart_times times;
    struct chart_order order;
};

int chart_book_make(struct store *s, const struct analysis *a, struct chart_book *ret, struct spur_error *e);
void chart_book_free(struct chart_book *book);

#endif
