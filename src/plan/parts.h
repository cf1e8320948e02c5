/* SPDX-License-Identifier: MIT */
/*
 * Inside the plan:
 *
 *   spec.c       what was asked for, as it comes in
 *   values.c     lists, ranges and numbers of one key
 *   arm.c        NAME:key=value,...
 *   job.c        job file -> spec: sections and keys
 *   job_line.c   a job file's lines, on their way through inih
 *   job_write.c  experiment -> job file
 *   expand.c     spec -> keys in their places: common, axes, arms
 *   arms.c       arms of an experiment
 *   check.c      keys and values against the arms' paths
 *   cells.c      cells and their labels
 *   order.c      rows
 *   settings.c   settings of one arm in one cell
 *   command.c    words of a prepare command
 */
#ifndef SPUR_PLAN_PARTS_H
#define SPUR_PLAN_PARTS_H

#include <stdio.h>

#include "plan/plan.h"

#define PLAN_MAX_VALUES 1000u
#define PLAN_MAX_NAME   64u
#define PLAN_MAX_ROWS   1000000u

/* -ENOMEM, worded. */
int plan_no_memory(struct spur_error *e);
/* Puts "@where: " before the detail of an error that was just filled; returns @r. */
int plan_at(struct spur_error *e, const char *where, int r);
/* "@where: no option or setting is called @key", with the nearest one. */
int plan_unknown_key(const struct plan_keys *keys, const char *key, const char *where, struct spur_error *e);
/* Kind of @key; UNKNOWN and FIXED are usage errors. */
int plan_key_find(const struct plan_keys *keys, const char *key, const char *where, struct plan_key *ret,
                  struct spur_error *e);

/* Copy of @n bytes without the blanks around them. NULL: out of memory. */
char *plan_trim(const char *text, size_t n);
/* *items grows by one of @size bytes, zeroed. NULL: out of memory; *items stays valid. */
void *plan_grow(void *items, size_t *n, size_t size);

/* Appends to @items (copies). */
int plan_item_add(struct plan_item **items, size_t *n, const char *key, const char *value, const char *where,
                  struct spur_error *e);
void plan_items_free(struct plan_item *items, size_t n);
const struct plan_item *plan_item_find(const struct plan_item *items, size_t n, const char *key);

/* A new arm without settings; a name that is bad or there already is a usage error. */
int plan_arm_new(struct plan_spec *s, const char *name, const char *where, struct spur_error *e);
const struct plan_arm_spec *plan_arm_find(const struct plan_spec *s, const char *name);

/* Appends a setting to a list of an experiment (copies). */
int plan_setting_add(struct experiment_settings *settings, const char *key, const char *value, struct spur_error *e);
const char *plan_setting_find(const struct experiment_settings *settings, const char *key);

/* One value of a list, from *p on; *p is then at the comma after it or at the end. */
int plan_list_next(const char **p, char **ret, struct spur_error *e);
/* The value as a list takes it: in double quotes where it needs them. */
void plan_list_write(FILE *out, const char *value);

/* An axis of the spec, before it is one of the experiment. */
struct plan_axis_source {
    const struct plan_item *item;
    const struct plan_item *prepare; /* NULL: none */
    struct plan_key key;
    struct experiment_value *values;
    size_t n_values, n_left_out; /* left out by --quick */
};

/* What expand.c and arms.c work on. */
struct plan_work {
    const struct plan_spec *s;
    const struct plan_keys *keys;
    struct experiment *x;
    struct plan_axis_source *sources;
    size_t n_sources;
    struct spur_error *e;
};

/* NULL: @key is no axis. */
struct plan_axis_source *plan_source_find(const struct plan_work *w, const char *key);
/* Fills x->arms, baseline and aa, from the spec or from the values of path. */
int plan_arms(struct plan_work *w);
/* Every key is of a path that an arm has, and takes every value that is given. x->arms without the A/A copy. */
int plan_check(struct plan_work *w);
/* Fills x->cells. */
int plan_cells(struct experiment *x, struct spur_error *e);

/*
 * Where the comment of a job file's line begins, @n without one. A semicolon after a blank begins one, unless it stands
 * in double quotes. -1: such a semicolon follows a double quote that is not closed.
 */
long plan_line_comment(const char *line, size_t n);
/* The first byte of @line that a job file cannot hold, or NULL. */
const char *plan_line_bad_byte(const char *line, size_t n);

/* A job file, line by line. */
struct plan_lines {
    const char *rest; /* of the file's text, zero-terminated */
    const char *end;
    unsigned number;   /* of the line last read, from 1 */
    const char *piece; /* of a key's line: what inih has not got yet */
    const char *piece_end;
    bool first_piece;
};

/* Next line that is not empty, without comment and blanks around it. 1: there is one, 0: no more. */
int plan_lines_next(struct plan_lines *l, const char **ret, size_t *ret_n, struct spur_error *e);
/* Makes "key = value" ready for plan_lines_piece. */
int plan_lines_begin(struct plan_lines *l, const char *line, size_t n, struct spur_error *e);
/* The next piece, as inih reads lines. NULL: the line is through. */
char *plan_lines_piece(struct plan_lines *l, char *ret, size_t size);
/* A value (or a piece of it) as it came out of inih, appended to *value. */
int plan_lines_append(char **value, const char *piece, struct spur_error *e);

#endif
