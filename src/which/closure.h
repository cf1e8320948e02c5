/* SPDX-License-Identifier: MIT */
/* All objects that the loader loads when a program starts: breadth first, each name once, as ld.so does it. */
#ifndef SPUR_WHICH_CLOSURE_H
#define SPUR_WHICH_CLOSURE_H

#include "which/loader.h"

#define CLOSURE_MAX 2048 /* objects; more are not looked at */

struct closure_item {
    struct object object;
    char name[256];     /* as it was asked for; "" for the program */
    struct found found; /* how; of the program only file and real */
    size_t asked_by;    /* index of the item that needs it */
};

struct closure_missing {
    char name[256];
    size_t asked_by;
};

struct closure {
    struct closure_item **items; /* [0] is the program */
    size_t n_items;
    struct closure_missing *missing;
    size_t n_missing;
    bool cut; /* there were more than CLOSURE_MAX */
};

/*
 * Of the program @file (in the tree), with LD_PRELOAD @preload (may be NULL). -errno with an error if the program
 * itself cannot be read; what one of its libraries lacks is in missing[].
 */
int closure_make(const struct loader *l, const char *file, const char *preload, struct closure *ret,
                 struct spur_error *e);
void closure_free(struct closure *c);

/* The item whose name, SONAME or file (without links) is this; NULL: none. */
const struct closure_item *closure_by_name(const struct closure *c, const char *name);
const struct closure_item *closure_by_file(const struct closure *c, const char *real);

#endif
