/* SPDX-License-Identifier: MIT */
/* Exit codes: one table, nothing else. */
#ifndef SPUR_CLI_EXIT_H
#define SPUR_CLI_EXIT_H

#include <stddef.h>

#include "spur.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_REFUSED = 3,
    EXIT_NOT_DIRECT = 4,
    EXIT_INTERRUPTED = 130,
    EXIT_TERMINATED = 143,
};

struct exit_row {
    enum exit_code code;
    const char *words;
};

/* Row @index of the table, in rising order of codes; NULL past the end. */
const struct exit_row *exit_row(size_t index);

/* Usage -> EXIT_USAGE, refused (error_is_refusal) -> EXIT_REFUSED, everything else -> EXIT_FAILED. */
enum exit_code exit_code_of(const struct spur_error *e);

/*
 * "spur COMMAND: cause (call that failed); remedy" as one line on stderr; returns the exit code. Line breaks and
 * control characters (of file names) are shown as escapes. The call is named where a system call or a driver failed;
 * spur's own judgement has none.
 */
enum exit_code exit_report(const char *command, const struct spur_error *e);

/* The same line in a buffer, without the line break. */
void exit_message(const char *command, const struct spur_error *e, char *ret_text, size_t size);

/* @text with line breaks and control characters as escapes; anything else, also what is not UTF-8, stays. */
void exit_escape(const char *text, char *ret_text, size_t size);

#endif
