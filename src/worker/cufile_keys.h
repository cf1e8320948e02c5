/* SPDX-License-Identifier: MIT */
/* Keys of cufile.json with their types and ranges, and where each key of a text stands. */
#ifndef SPUR_WORKER_CUFILE_KEYS_H
#define SPUR_WORKER_CUFILE_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum key_kind { KEY_BOOL, KEY_NUMBER, KEY_TEXT, KEY_LIST, KEY_SECTION, KEY_ANY };

struct cufile_key {
    const char *name; /* dotted */
    enum key_kind kind;
    long min, max;     /* of numbers; max 0: none is known */
    long multiple;     /* 0: any */
    const char *words; /* of texts: allowed ones by blanks; NULL: any */
};

/* False: no such key is known. @library: 1000 * major + minor, or 0 where it is unknown: ranges grew. */
bool cufile_key_find(const char *name, int library, struct cufile_key *ret);
/* What is wrong with this value, in words that follow the key's name; false: nothing. *ret_fatal: the library will not
 * have it, where it is false the library goes on without it. */
bool cufile_key_wrong(const struct cufile_key *key, const json_t *value, char *ret, size_t size, bool *ret_fatal);
/* The known key whose last word is nearest, or whose last word it is; NULL. */
const char *cufile_key_near(const char *name);

/* Calls @visit with each key of a text that is JSON with comments, and its line; a key of an object in a list has the
 * list's name. */
typedef void (*cufile_key_visit)(void *context, const char *dotted, unsigned line);
void cufile_keys_walk(const char *text, cufile_key_visit visit, void *context);

#endif
