/* SPDX-License-Identifier: MIT */
/* Internal to the report: what the storage saw of an arm in a cell, in words. text_wire.c */
#ifndef SPUR_REPORT_WIRE_WORDS_H
#define SPUR_REPORT_WIRE_WORDS_H

#include "report/analysis.h"

#define WIRE_WORDS 48
#define WIRE_LEGEND                                                                                                    \
    "What the storage saw, from the counters of the kernel or of the simulated mount (docs/wire.md): requests in "     \
    "flight on the wire, size and time of one, their number for each of the caller's requests, and how many were "     \
    "sent "                                                                                                            \
    "again in all trials; geometric means over blocks. Other users of the same disks and mounts are in it; of an arm " \
    "that the "                                                                                                        \
    "page cache served it would be they alone, so that has none."

/* Whether there is anything to show. */
bool wire_is_known(const struct arm_cell *c);
/* "8.1", "1 MiB", "570 us", "16.0"; "-" where it is not known. Returns @ret. */
char *wire_words(const struct arm_cell *c, enum wire_figure w, char *ret);
char *wire_retries_words(const struct arm_cell *c, char *ret);

#endif
