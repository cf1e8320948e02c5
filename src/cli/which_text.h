/* SPDX-License-Identifier: MIT */
/* spur which as text, from its JSON. */
#ifndef SPUR_CLI_WHICH_TEXT_H
#define SPUR_CLI_WHICH_TEXT_H

#include <jansson.h>
#include <stdio.h>

void which_text_print(FILE *out, const json_t *answer);

#endif
