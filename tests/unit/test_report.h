/* SPDX-License-Identifier: MIT */
/* Synthetic experiments for the tests of the report: rates are what the test says, times a noise that is always the
 * same. */
#ifndef SPUR_TEST_REPORT_H
#define SPUR_TEST_REPORT_H

#include "report/report.h"

struct made {
    char dir[40], file[60];
    struct experiment x;
    struct store *store;
    struct analysis a;
    uint32_t n_trials; /* rows that are run, in their order; made_plan sets all */

    /* To be filled between made_plan and made_run. */
    void *context;
    /* Changes what a trial is; it comes with figures. May be NULL. */
    void (*trial)(const struct made *m, const struct experiment_row *row, struct store_trial *t);
    /* Whether a row is not run at all. May be NULL. */
    bool (*is_absent)(const struct made *m, const struct experiment_row *row);
    /* Rate of an arm in a cell, in MiB/s; CPU per GiB is half a second for the baseline and half of that for others. */
    double (*rate)(const struct made *m, uint32_t cell, uint32_t arm);
    bool wire;    /* trials know what the storage saw */
    double noise; /* standard deviation of log rates of a trial, about */
};

/* Arms are separated by spaces, the first is the baseline; "aa" is its second copy. */
void made_begin(struct made *m, const char *arms);
void made_axis(struct made *m, const char *key, enum experiment_unit unit, const char *values);
void made_setting(struct experiment_settings *s, const char *key, const char *value);
/* Cells and rows, all pairs planned. */
void made_plan(struct made *m, uint32_t n_blocks);
/* State of a pair; its rows are taken out. */
void made_state(struct made *m, uint32_t cell, uint32_t arm, enum experiment_state state, const char *reason);
/* Makes the file and runs the trials; made_finish analyses. In between go the events. */
void made_run(struct made *m);
void made_event(struct made *m, enum store_event_kind kind, uint32_t block, uint32_t cell, uint32_t arm,
                const char *text);
void made_finish(struct made *m);
void made_free(struct made *m);

/* -1..1, of about a normal distribution with deviation 1/3; the same for the same numbers. */
double made_noise(uint32_t a, uint32_t b, uint32_t c);

#endif
