/* SPDX-License-Identifier: MIT */
/* Prose in lines of 79 columns. */
#ifndef SPUR_CLI_WRAP_H
#define SPUR_CLI_WRAP_H

#include <stdio.h>

/* Prints @text from column @column (where the cursor is) with further lines indented by @indent; ends with a line
 * break. An empty line in @text stays one. */
void wrap_print(FILE *out, const char *text, int column, int indent);

#endif
