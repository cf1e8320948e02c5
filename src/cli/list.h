/* SPDX-License-Identifier: MIT */
/* spur list: facts are gathered as JSON (docs/list-json.md) and printed as they are or as text. */
#ifndef SPUR_CLI_LIST_H
#define SPUR_CLI_LIST_H

#include <jansson.h>
#include <stdio.h>

/* New reference; NULL: out of memory. */
json_t *list_gather(void);
/* io_uring on this kernel, for this user: {usable, reason, disabled_sysctl, features[]}. New reference. */
json_t *list_uring(json_t *nulls);
void list_text_print(FILE *out, const json_t *list);

/* A string whatever its bytes: those that are not UTF-8 are shown as \xNN. "" is null. New reference. */
json_t *list_string(const char *text);
/* "cause; remedy" of an error. New reference. */
json_t *list_reason(const char *detail, const char *remedy);

#endif
