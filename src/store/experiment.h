/* SPDX-License-Identifier: MIT */
/*
 * An experiment as it was planned: what src/plan makes, src/store keeps and src/report reads. Plain data; strings are
 * owned by the struct (experiment_free). Texts are the user's bytes where they are names: escape them on the way out.
 */
#ifndef SPUR_STORE_EXPERIMENT_H
#define SPUR_STORE_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPERIMENT_NONE   UINT32_MAX
#define EXPERIMENT_SCHEMA 1 /* of the plan as JSON */

/* A key is an option of `spur run` without its dashes, or a setting of a path. A key may stand more than once (file).
 */
struct experiment_setting {
    char *key, *value;
};

struct experiment_settings {
    struct experiment_setting *items;
    size_t n;
};

struct experiment_arm {
    char *name;
    struct experiment_settings settings;
    bool is_aa; /* the second copy of the baseline (--aa) */
};

/* What the numbers of an axis are. */
enum experiment_unit { UNIT_NONE, UNIT_BYTES, UNIT_NS, UNIT_COUNT, UNIT_PERCENT };

struct experiment_value {
    char *text;    /* as an option takes it: "64K" */
    double number; /* in bytes, ns, counts or percent; NaN where the axis has no unit */
};

struct experiment_axis {
    char *key;
    enum experiment_unit unit; /* UNIT_NONE: its values are names, in the order given */
    struct experiment_value *values;
    size_t n_values;
    char *prepare_command; /* NULL; else run whenever a block goes over to another value: words, {} is the value */
    bool is_label;         /* the key is no option or setting: only the command gives it meaning */
    uint32_t n_left_out;   /* values that were asked for and that --quick left out */
};

enum experiment_state {
    PAIR_PLANNED,
    PAIR_NOT_APPLICABLE, /* the arm cannot take a value of the cell: known before the first trial */
    PAIR_REFUSED,        /* its road is not there: known before the first trial */
};

/* What one arm can do in one cell. */
struct experiment_pair {
    enum experiment_state state;
    char *reason; /* one line; NULL where planned */
};

/* A point of all axes; without axes there is one cell. */
struct experiment_cell {
    char *label;                   /* "request 64K, threads 8"; "all" without axes */
    uint32_t *value;               /* index into each axis's values */
    struct experiment_pair *pairs; /* one for each arm */
};

/* A trial in the order in which it is to be run. */
struct experiment_row {
    uint32_t block, cell, arm;
    uint32_t cell_position; /* of its cell in the block, from 0 */
    uint32_t arm_position;  /* of its arm in the cell, from 0 */
    uint32_t predecessor;   /* arm that ran before it in this cell; EXPERIMENT_NONE: it is the first */
    uint64_t seed;          /* of the trial: the same for all arms of a cell in a block */
};

/* An arm's setting that pilots found before the plan was written down (--match inflight). */
struct experiment_match {
    uint32_t arm;
    char *key; /* threads, depth */
    uint32_t value;
    uint32_t n_pilots;
    double target, in_flight; /* wire requests: what was looked for, and what the pilot at that value kept */
    uint32_t cell;            /* in a plan of several, only there: the arm has no such setting of its own then */
};

enum experiment_region { REGION_SAME, REGION_ROTATE };

struct experiment {
    struct experiment_settings common; /* of all arms: options of run that are no axis and no arm's setting */
    struct experiment_arm *arms;       /* arms[baseline] is the baseline */
    size_t n_arms;
    uint32_t baseline;
    uint32_t aa; /* the A/A copy among arms; EXPERIMENT_NONE: none */
    struct experiment_axis *axes;
    size_t n_axes;
    struct experiment_cell *cells;
    size_t n_cells;
    struct experiment_match *matches; /* none without --match */
    size_t n_matches;
    struct experiment_row *rows;
    size_t n_rows;
    uint32_t n_blocks; /* at most */
    bool
        until_decided; /* looks after 5, 10 and 20 blocks, each at a third of alpha; decided cells are left out after */
    bool quick;        /* short windows: for trying out */
    enum experiment_region region;
    double margin;     /* 0.03 */
    double alpha;      /* 0.05 */
    uint64_t seed;     /* of order and trials */
    uint64_t limit_ns; /* of the whole; 0: none */
    char *command;     /* that repeats it, quoted for a shell */
    char *memory;      /* resolved: "cuda:0", "emulated"; NULL: each arm or cell has its own */
};

void experiment_free(struct experiment *x);

/* Whole, strict JSON ("schema": 1); new reference, NULL: out of memory. Bytes of names that are not UTF-8 travel as
 * %XX. */
json_t *experiment_to_json(const struct experiment *x);
/* -EINVAL: not of this schema, or not consistent (an index out of range). Nothing to free then. */
int experiment_from_json(const json_t *json, struct experiment *ret);

/* Value of @key for @arm in @cell: the arm's own, the axis's, or the common one (the first, where it stands twice);
 * NULL: the option's default. */
const char *experiment_value_of(const struct experiment *x, uint32_t cell, uint32_t arm, const char *key);
/* The same of a key that may stand more than once (file): value @index of those that hold; NULL past the last. */
const char *experiment_value_at(const struct experiment *x, uint32_t cell, uint32_t arm, const char *key, size_t index);

/* Memory @index among those that arms and cells use, each once; NULL past the end. */
const char *experiment_memory(const struct experiment *x, size_t index);

/* What pilots found for @arm in @cell; NULL: nothing. */
const struct experiment_match *experiment_match_of(const struct experiment *x, uint32_t cell, uint32_t arm);

#endif
