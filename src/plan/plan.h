/* SPDX-License-Identifier: MIT */
/*
 * From what the user asked for to an experiment that is written down before its first trial: keys and their values,
 * arms, axes, cells, blocks and the order of trials. Knows no path and no option by itself: the caller tells it what a
 * key is. Errors are usage errors (-EINVAL), worded in @e with cause and remedy.
 */
#ifndef SPUR_PLAN_PLAN_H
#define SPUR_PLAN_PLAN_H

#include "spur.h"
#include "store/experiment.h"

/* What a key is. */
enum plan_key_kind {
    PLAN_KEY_UNKNOWN,
    PLAN_KEY_OPTION,  /* of spur run */
    PLAN_KEY_SETTING, /* of at least one path (--set) */
    PLAN_KEY_FIXED,   /* an option that can be neither arm's setting nor axis: seed, json, quiet */
};

struct plan_key {
    enum plan_key_kind kind;
    enum experiment_unit unit; /* how its numbers are written; UNIT_NONE: words, or unknown */
    bool plain_seconds;        /* UNIT_NS: a number without a unit is in seconds */
    bool repeats;              /* may be given more than once (file) */
};

struct plan_keys {
    void *context;
    struct plan_key (*find)(void *context, const char *key);
    /* Nearest known key to a misspelt one, or NULL. */
    const char *(*nearest)(void *context, const char *key);
    /* Name @index of the paths, NULL past the end: an arm without a path setting is named after one. */
    const char *(*path_name)(size_t index);
    /* Whether path @path has setting @key. NULL: not checked. */
    bool (*path_takes)(void *context, const char *path, const char *key);
    /* Whether an option (@path NULL), or a setting of @path, takes @value, whatever else is given. Usage error without
     * the key. NULL: not checked. */
    int (*check)(void *context, const char *path, const char *key, const char *value, struct spur_error *e);
};

/* An option with its value as the user gave it, from the command line or a job file. */
struct plan_item {
    char *key; /* "request", "axis", "arm", "blocks", ... */
    char *value;
    char *where;     /* for errors: "--request", "job.ini:12: request" */
    size_t position; /* among all items and axes of the spec, in the order in which they came */
};

/* [arm NAME] of a job file, or --arm NAME:key=value,... */
struct plan_arm_spec {
    char *name;
    struct plan_item *items;
    size_t n_items;
    char *where;
};

/* What was asked for; filled by plan_spec_add_* in any order. Freed by plan_spec_free. Zero-initialise. */
struct plan_spec {
    struct plan_item *items; /* options of run; a range or a list is an axis */
    size_t n_items;
    struct plan_item *axes; /* key and values: --axis KEY=VALUES */
    size_t n_axes;
    struct plan_item *prepares; /* axis key and command: --prepare KEY=COMMAND */
    size_t n_prepares;
    struct plan_arm_spec *arms;
    size_t n_arms;
    const char *job_file; /* NULL: none; borrowed */

    /* From here on set by the caller; plan_job_read only gives back the keys that it does not know itself. */
    const char *baseline; /* arm's name; NULL: the first. Borrowed, as all below */
    bool aa, until_decided, quick;
    uint32_t n_blocks; /* 1..1000; with until_decided 20 */
    enum experiment_region region;
    uint64_t seed, limit_ns;
    const char *memory; /* resolved */
    const char *command;
};

/* One run option as given (a value, a range or a list). A job file's value does not replace one that is there: command
 * lines are added first. */
int plan_spec_add_option(struct plan_spec *s, const char *key, const char *value, const char *where,
                         struct spur_error *e);
/* "KEY=VALUES" of --axis. */
int plan_spec_add_axis(struct plan_spec *s, const char *text, const char *where, struct spur_error *e);
/* "KEY=COMMAND" of --prepare. */
int plan_spec_add_prepare(struct plan_spec *s, const char *text, const char *where, struct spur_error *e);
/* "NAME:key=value,key=value" of --arm; "NAME" alone: the path of that name. */
int plan_spec_add_arm(struct plan_spec *s, const char *text, const char *where, struct spur_error *e);
/* Takes item @at out of @items. */
void plan_item_remove(struct plan_item *items, size_t *n, size_t at);
void plan_spec_free(struct plan_spec *s);

/*
 * Splits at commas; a value that is begun with a double quote goes to the next one ("" inside it is a quote). White
 * space around values is dropped. Owned by the caller (plan_list_free). An empty value or an open quote is an error.
 */
int plan_list_split(const char *text, char ***ret, size_t *ret_n, struct spur_error *e);
void plan_list_free(char **list, size_t n);
/* Values of one key: a list of values and ranges; "a..b" doubles, "a..b*k" multiplies by k, b is always among them,
 * b may be less than a (then it falls). Each value once. At most 1000 values. */
int plan_values(const char *text, const struct plan_key *key, struct experiment_value **ret, size_t *ret_n,
                struct spur_error *e);
void plan_values_free(struct experiment_value *values, size_t n);

/*
 * Reads a job file (INI: [sweep] and one [arm NAME] each; keys are options without dashes, `axis` and `prepare` may
 * stand more than once) into @s. Sweep keys that are neither axis, prepare nor an option of run (arm sections apart) go
 * to @option with their value and place: baseline, blocks, aa, ... Relative file names stay relative to where spur
 * runs. -ENOENT etc. where it cannot be read; usage errors name file and line.
 */
int plan_job_read(const char *filename, const struct plan_keys *keys, struct plan_spec *s,
                  int (*option)(void *context, const char *key, const char *value, const char *where,
                                struct spur_error *e),
                  void *context, struct spur_error *e);
/* The plan as a job file, of which plan_job_read makes the same plan. malloc'd text. */
int plan_job_write(const struct experiment *x, char **ret_text, struct spur_error *e);

/*
 * Everything but the order: arms (the A/A copy last), axes, cells, pairs all planned. Checks: at least two arms (an A/A
 * copy counts), names unique, keys known and of a path that an arm has, a key is an axis or an arm's setting or common,
 * a label axis has a command. Axes come in the order: prepared ones, then as given.
 */
int plan_expand(const struct plan_spec *s, const struct plan_keys *keys, struct experiment *ret, struct spur_error *e);

/* Labels of all cells anew, after values of axes were changed. */
int plan_labels(struct experiment *x, struct spur_error *e);

/*
 * Writes the rows: for each block the cells in shuffled order - grouped by the values of prepared axes, so that a
 * command runs once a value - and in each cell the arms back to back in an order balanced over blocks: rows of a
 * Williams square (Latin square for odd numbers with its mirror image), so that over a full turn each arm stands in
 * each place, and after each other arm, equally often. Pairs that are not planned get no row; a cell with fewer than
 * two planned arms is left out. Deterministic in x->seed.
 */
int plan_order(struct experiment *x, struct spur_error *e);

/* Settings of @arm in @cell, in the order common, axes, arm; a key that does not repeat stands once. Borrowed strings;
 * *ret is owned by the caller (free). */
int plan_settings(const struct experiment *x, uint32_t cell, uint32_t arm, struct experiment_setting **ret,
                  size_t *ret_n, struct spur_error *e);

/* The words of a prepare command with {} replaced; NULL-terminated, owned by the caller (plan_words_free). */
int plan_command_words(const char *command, const char *value, char ***ret, struct spur_error *e);
void plan_words_free(char **words);
/* Those words, each quoted for a shell; malloc'd, NULL: out of memory, or a bad command. */
char *plan_command_text(const char *command, const char *value);

#endif
