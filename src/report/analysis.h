/* SPDX-License-Identifier: MIT */
/*
 * What an experiment's trials say: everything that any form of the report shows is computed here once, so text, JSON,
 * CSV, markdown and HTML cannot disagree.
 */
#ifndef SPUR_REPORT_ANALYSIS_H
#define SPUR_REPORT_ANALYSIS_H

#include "report/causes.h"
#include "stats/stats.h"
#include "store/store.h"

/* One arm in one cell, over its blocks. */
struct arm_cell {
    enum experiment_state state; /* planned, not applicable, refused */
    const char *reason;          /* of not applicable and refused; borrowed from the experiment */
    unsigned n_planned;          /* rows of it that were to be run by now: for a finished experiment, all */
    unsigned n_ok, n_failed, n_refused;
    unsigned n_cached;   /* of n_ok, those that the page cache served */
    const char *stopped; /* reason of EVENT_STOPPED, or NULL; borrowed */
    const char *error;   /* of its last trial without figures, or NULL; borrowed */
    char observed[16];   /* of all its trials with figures: "host"; "mixed" where they differ; "" none */
    char served[16];     /* likewise */
    char verify[16];     /* "ok" if all are; "off"; "failed" if any is */
    struct stats_figure metric[N_METRICS];
    struct stats_figure wire[N_WIRE_FIGURES]; /* what the storage saw */
    double wire_retries;                      /* sum over the trials that know it; NaN: none does */
    struct stats_figure process_user_cpus, process_system_cpus, machine_user_cpus, machine_system_cpus;
};

/* An arm in a cell against the baseline. */
struct comparison {
    uint32_t arm, cell;
    struct stats_effect metric[N_METRICS];
    const char *ranked_apart; /* why there is no verdict although both have figures ("served from memory against
                                 storage"); NULL: none such */
};

/* Along one axis, the others held at one point. */
struct line {
    uint32_t axis, arm;
    uint32_t first_cell; /* a cell of the line: gives the values of the other axes */
    uint32_t *cells;     /* along the axis in its order; n_cells = the axis's values */
    size_t n_cells;
    size_t saturates; /* index into cells from which on the rate gains less than the margin; n_cells: not seen */
    struct stats_crossover crossovers[4]; /* of the rate against the baseline; none for the baseline itself */
    size_t n_crossovers;
};

struct outlier {
    uint32_t row;
    double value, center; /* of the rate: the trial's, and the geometric mean of its arm in its cell */
};

/* From the least to the greatest over the cells of a cause; NaN: the number is of the other arm alone. */
struct cause_span {
    const char *key;
    double faster_low, faster_high, slower_low, slower_high;
};

/* Findings of one kind that agree, over their cells. */
struct cause {
    enum cause_kind kind;
    enum cause_confidence confidence; /* the lowest of them */
    const char *variant;
    char *subject;
    uint32_t arm; /* against the baseline; the baseline itself only for `too short` */
    bool arm_is_faster, is_same;
    double ratio_low, ratio_high; /* of rates, faster / slower; `same`, `noise`: arm / baseline */
    uint32_t *cells;              /* in rising order */
    size_t n_cells;
    struct cause_span numbers[CAUSE_NUMBERS];
    char *text;     /* one or two sentences */
    char **tries;   /* what to try: settings ("threads=11") or words */
    size_t n_tries; /* for the slower arm; of `same` and the rest for both */
};

struct analysis {
    const struct experiment *x;
    struct store_trial *trials; /* owned; all, in the order of rows */
    size_t n_trials;
    struct store_event *events;
    size_t n_events;
    uint32_t n_blocks_done;         /* blocks all of whose rows were run or left out with a reason */
    struct arm_cell *arm_cells;     /* [cell * n_arms + arm] */
    struct comparison *comparisons; /* of each arm but the baseline and the A/A copy in each cell, cell by cell */
    size_t n_comparisons;
    struct comparison *aa; /* of the A/A copy in each cell; NULL: none planned */
    size_t n_aa;
    bool harness_biased; /* an A/A cell is better or worse */
    struct line *lines;  /* along each axis that has numbers and at least 2 values */
    size_t n_lines;
    struct stats_drift drift; /* of the rate, over all trials */
    struct outlier *outliers;
    size_t n_outliers;
    double family_alpha;  /* alpha, or alpha / 3 with until_decided */
    struct cause *causes; /* arm by arm, in the order of enum cause_kind */
    size_t n_causes;
    size_t n_decided, n_unexplained; /* comparisons that are better or worse; those of them without a cause */
    bool emulated, simulated, quick, unverified, finished, interrupted, limited;
    bool foreign;             /* bytes were held against buffered reads, not against spur's pattern */
    size_t n_without_figures; /* trials failed or refused */
    char **sentences;         /* the summary, plain sentences in the order in which they are to be read; UTF-8 */
    size_t n_sentences;
    char *
        *warnings; /* what must be read before any figure: harness biased, emulated, drift, fewer than 5 blocks, ... */
    size_t n_warnings;
};

static inline const struct arm_cell *analysis_arm_cell(const struct analysis *a, uint32_t cell, uint32_t arm)
{
    return &a->arm_cells[cell * a->x->n_arms + arm];
}

/* Reads the store's trials and events; @s must outlive ret. */
int analysis_make(struct store *s, struct analysis *ret, struct spur_error *e);
void analysis_free(struct analysis *a);

/* An arm as reports name it: its name, and what was observed where that is not `host`: "cufile (compat)"; and that
 * another program ran it: "fio (external, unverified)". Returns @ret. */
char *analysis_arm_label(const struct analysis *a, uint32_t cell, uint32_t arm, char *ret, size_t size);

#endif
