/* SPDX-License-Identifier: MIT */
/* Walks folders of a tree for what has to do with cuFile. Symbolic links are not walked into. */
#ifndef SPUR_WHICH_SCAN_H
#define SPUR_WHICH_SCAN_H

#include "which/mentions.h"
#include "which/tree.h"

#define SCAN_ENTRIES 8000000u /* more are not looked at */

enum scan_kind {
    SCAN_LIBRARY = 1,  /* a libcufile; file is without links */
    SCAN_NEEDS = 2,    /* an ELF file that needs name */
    SCAN_OPENS = 4,    /* an ELF file in whose data or code name stands */
    SCAN_PYTHON = 8,   /* Python source that opens name, or asks cuda.pathfinder for it (name "cufile") */
    SCAN_SITE = 16,    /* a folder with *.dist-info in it */
    SCAN_PREFIX = 32,  /* a folder with a pyvenv.cfg, or with conda-meta */
    SCAN_OUTSIDE = 64, /* with the ELF kinds: also programs (files in a bin folder), and nothing of Python's packages */
};

struct scan_hit {
    enum scan_kind kind;
    char *file;
    char name[MENTION_BYTES];
    bool in_code;
};

struct scan {
    unsigned kinds; /* what to look for */
    struct scan_hit *hits;
    size_t n_hits;
    size_t n_entries;
    size_t n_unreadable; /* folders */
    bool cut;
};

/* Adds what is below @folder. Shared objects are those with ".so" in their name. 0 or -ENOMEM. */
int scan_walk(struct scan *s, const struct tree *t, const char *folder);
void scan_free(struct scan *s);

/* What one file has to do with cuFile: SCAN_NEEDS or SCAN_OPENS hits, one for each name. 0 or -ENOMEM. */
int scan_elf(struct scan *s, const struct tree *t, const char *file);

#endif
