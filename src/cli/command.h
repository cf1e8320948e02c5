/* SPDX-License-Identifier: MIT */
/* A command is a row: the parser, help and manual pages come from it. */
#ifndef SPUR_CLI_COMMAND_H
#define SPUR_CLI_COMMAND_H

#include <stdio.h>

#include "cli/exit.h"
#include "cli/option.h"

struct command_example {
    const char *line; /* "spur prepare /mnt/a/file --size 8G" */
    const char *words;
};

struct command_exit {
    enum exit_code code;
    const char *words; /* what it means for this command; NULL: the words of the table */
};

struct command {
    const char *name;
    const char *summary;          /* "times one path on a real file", no full stop */
    const char *arguments;        /* positional ones: "FILE", "[COMMAND]"; NULL: none */
    const char *arguments_manual; /* what they are */
    size_t min_arguments, max_arguments;
    const struct option *options; /* NULL: none */
    size_t options_size;          /* of the struct that the rows store into */
    bool hidden;
    const char *description;                /* paragraphs, separated by an empty line */
    const struct command_exit *exits;       /* ended by a row with code -1 */
    const struct command_example *examples; /* ended by a row without a line */
    const char *see_also;                   /* names of manual pages, space-separated: "spur-run" */
    /* After parsing: what rows cannot say (options that depend on each other). May be NULL. */
    int (*check)(void *options, const struct option_result *given, struct spur_error *e);
    /* Returns an exit code. */
    int (*run)(void *options, const struct option_result *given);
};

#define COMMAND_EXITS_END                                                                                              \
    {                                                                                                                  \
        (enum exit_code) - 1, NULL                                                                                     \
    }

/* Rows, in the order in which they are listed; NULL-terminated. src/main.c */
extern const struct command *const command_table[];
extern const struct command compare_command, report_command;
extern const struct command doctor_command, which_command, simfs_command;
extern const struct command run_command, worker_command, list_command, prepare_command, help_command, version_command;

/* The command of that name, also a hidden one; NULL: none. */
const struct command *command_find(const char *name);
/* Usage error with the nearest name. */
int command_unknown(const char *name, struct spur_error *e);

/* Parses, checks and runs; argv[0] is the command's name. Prints the error, if any, and returns the exit code. */
int command_run(const struct command *command, int argc, char **argv);

/* Help text (src/cli/help_text.c) and manual page in mdoc (src/cli/man.c); NULL: of spur itself. */
void help_text_print(FILE *out, const struct command *command);
void man_print(FILE *out, const struct command *command);

#endif
