/* SPDX-License-Identifier: MIT */
/*
 * An option is a row: the parser, --help and the manual page all come from it. A command's rows end with a row without
 * a name. Values go into the command's struct of options, which the caller zeroes; defaults go through the same
 * parsers.
 */
#ifndef SPUR_CLI_OPTION_H
#define SPUR_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/nearest.h"
#include "spur.h"

enum option_kind {
    OPTION_FLAG,    /* bool; takes no value */
    OPTION_SIZE,    /* uint64_t, bytes */
    OPTION_TIME,    /* uint64_t, ns; the unit must be written */
    OPTION_SECONDS, /* uint64_t, ns; a plain number is in seconds */
    OPTION_COUNT,   /* uint64_t */
    OPTION_PERCENT, /* uint64_t, 0..100 */
    OPTION_SEED,    /* uint64_t, any */
    OPTION_CHOICE,  /* unsigned: index in choices[] */
    OPTION_NAME,    /* const char *: one of names(0), names(1), ... */
    OPTION_TEXT,    /* const char *: any bytes */
    OPTION_TEXTS,   /* struct option_texts; may be repeated */
};

struct option_texts {
    const char **items; /* of argv */
    size_t n_items;
};

struct option {
    const char *name;    /* "request", without the dashes */
    const char *metavar; /* "SIZE"; NULL for flags */
    enum option_kind kind;
    size_t offset;              /* in the command's struct */
    uint64_t min, max;          /* of numbers, in bytes, ns or counts; max 0: no limit but the type's */
    const char *default_text;   /* parsed as if it were given; NULL: the struct keeps its zero */
    const char *absent;         /* what its absence means, where default_text is NULL: "random" */
    const char *const *choices; /* of OPTION_CHOICE, NULL-terminated */
    nearest_fn names;           /* of OPTION_NAME */
    const char *conflicts;      /* name of an option that cannot be given together with this one */
    bool required;
    const char *help;   /* one line */
    const char *manual; /* paragraph of the manual page, after help */
};

/* What a command line gave. Freed by option_result_free. */
struct option_result {
    const struct option *rows;
    uint64_t given;   /* bit i: row i was given */
    char **arguments; /* positional ones, in order; untouched bytes */
    size_t n_arguments;
    bool help; /* --help was met; parsing stopped there */
    struct option_texts *texts[8];
    size_t n_texts;
};

#define OPTION_MAX_ROWS 64

/*
 * Parses argv[1..argc-1]. Options may stand anywhere before "--"; "-" is a positional argument. -EINVAL with a usage
 * error: unknown option (the nearest name is proposed), value missing or out of range, given twice, in conflict,
 * required but missing.
 */
int option_parse(const struct option *rows, int argc, char **argv, void *ret_values, struct option_result *ret_result,
                 struct spur_error *e);
void option_result_free(struct option_result *result);

/*
 * Stores one value outside a command line (of a job file): a flag takes yes or no. Not for OPTION_TEXTS. @text must
 * live as long as the values. -EINVAL: as option_parse, or no such row.
 */
int option_set(const struct option *rows, const char *name, const char *text, void *values, struct spur_error *e);

/* Whether option @name was on the command line. */
bool option_given(const struct option_result *result, const char *name);

/* Number of rows. */
size_t option_count(const struct option *rows);

/* Usage error "--OPTION: 'VALUE' is not known", with the nearest name or the list of names as its remedy. */
int option_unknown_value(const char *option, const char *value, nearest_fn names, struct spur_error *e);

/* "4K to 1G", "at least 1", "read, write, mix"; empty where anything goes. Returns @ret_text. */
char *option_range_text(const struct option *row, char *ret_text, size_t size);

#endif
