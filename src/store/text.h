/* SPDX-License-Identifier: MIT */
/* Names are bytes, JSON and SQLite's TEXT are UTF-8: between the two. */
#ifndef SPUR_STORE_TEXT_H
#define SPUR_STORE_TEXT_H

#include <jansson.h>
#include <stdbool.h>

bool text_is_utf8(const char *text);
/* Each byte that is no part of UTF-8, and each %, becomes %XX. NULL becomes null. New reference; NULL: out of memory.
 */
json_t *text_to_json(const char *text);
/* 0, -EINVAL (not a string, a broken %XX), -ENOMEM. null gives NULL with 0. */
int text_from_json(const json_t *json, char **ret);

#endif
