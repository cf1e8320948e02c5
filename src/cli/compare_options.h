/* SPDX-License-Identifier: MIT */
/* What spur compare takes: its own rows, and the options of spur run, whose values may be ranges and lists. */
#ifndef SPUR_CLI_COMPARE_OPTIONS_H
#define SPUR_CLI_COMPARE_OPTIONS_H

#include "cli/command.h"
#include "cli/run_options.h"
#include "plan/plan.h"

/* Options of spur run that take a value here; compare_options.c has the table. */
#define COMPARE_MAX_VALUES 32

struct compare_options {
    struct option_texts files, settings, arms, axes, prepares;
    const char *values[COMPARE_MAX_VALUES]; /* by compare_value_key */
    bool unaligned, overwrite, device_ok;   /* flags of run */

    const char *baseline;
    uint64_t n_blocks;
    bool aa, until_decided, quick, dry_run, allow_code, quiet;
    unsigned region; /* enum experiment_region */
    bool seed_given;
    uint64_t seed, limit_ns;
    const char *results, *resume, *write_job, *html, *match;
};

extern const struct option compare_rows[];

/* Key of values[@index]; NULL past the end. */
const char *compare_value_key(size_t index);

extern const char compare_description[];
extern const struct command_exit compare_exits[];
extern const struct command_example compare_examples[];

/* What spur knows of a key, for src/plan. */
extern const struct plan_keys compare_keys;
/* The option of spur run that a key of an arm or axis stands for; NULL: it is a setting of a path, or unknown. */
const struct option *compare_key_option(const char *key);
/* compare_values.c: plan_keys.check */
int compare_value_check(void *context, const char *path, const char *key, const char *value, struct spur_error *e);

#endif
