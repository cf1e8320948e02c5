/* SPDX-License-Identifier: MIT */
/* "did you mean ...?": the name nearest to a misspelt one. */
#ifndef SPUR_CLI_NEAREST_H
#define SPUR_CLI_NEAREST_H

#include <stddef.h>

/* Name @index of a list, NULL past the end: spur_path_name and spur_memory_name are such functions. */
typedef const char *(*nearest_fn)(size_t index);

/* Number of insertions, deletions, replacements and swaps of neighbours that make @b of @a. */
size_t nearest_distance(const char *a, const char *b);

/* The name to propose for @word, or NULL if none is near enough (about a third of its letters). */
const char *nearest_name(const char *word, nearest_fn name);
/* The same in a NULL-terminated array. */
const char *nearest_in(const char *word, const char *const *names);

#endif
