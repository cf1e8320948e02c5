/* SPDX-License-Identifier: MIT */
#ifndef SPUR_CLI_REPORT_FILE_H
#define SPUR_CLI_REPORT_FILE_H

#include "report/report.h"

/* Whether a page may be written to @file: it does not exist, or is a page of spur's. -EPERM (REFUSED), or an errno. */
int report_html_check(const char *file, struct spur_error *e);

/* One line to stderr if nothing was drawn: why, and what to do. @command "report", @what "--html". */
void report_say_undrawn(const char *command, const char *what, const struct report_undrawn *undrawn);

#endif
