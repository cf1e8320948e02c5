/* SPDX-License-Identifier: MIT */
/*
 * A file system seen from a root of its own: this machine's, a process's or an image's at rest. Symbolic links are
 * followed by us, below the root: an absolute one starts at the root again, and ".." ends there. Files are only read.
 */
#ifndef SPUR_WHICH_TREE_H
#define SPUR_WHICH_TREE_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "spur.h"

struct tree {
    int fd;
    char root[PATH_MAX]; /* without a slash at the end; "" is this machine's */
    char cwd[PATH_MAX];  /* where relative names begin, in the tree; "": they cannot be resolved */
};

/* "/" or a directory. -errno with an error that names it. */
int tree_open(struct tree *t, const char *root, struct spur_error *e);
void tree_close(struct tree *t);

/* The name without links and dots, absolute in the tree. -ENOENT, -ELOOP (over 40 links), -ENOTDIR, -ENAMETOOLONG. */
int tree_resolve(const struct tree *t, const char *name, char ret[PATH_MAX]);
/* As tree_resolve, but the last part, if it is a link, stays one. */
int tree_resolve_parent(const struct tree *t, const char *name, char ret[PATH_MAX]);

/* A regular file for reading, or -errno (-EISDIR: a directory; -EINVAL: something else). @ret_real may be NULL. */
int tree_open_file(const struct tree *t, const char *name, char ret_real[PATH_MAX]);
/* The directory, to be closed by closedir; NULL with errno. */
DIR *tree_open_dir(const struct tree *t, const char *name);

/* Up to @most bytes of a regular file, with a NUL behind them, to be freed; NULL with errno. */
char *tree_read(const struct tree *t, const char *name, size_t most, size_t *ret_length);

bool tree_is_dir(const struct tree *t, const char *name);
bool tree_is_file(const struct tree *t, const char *name);

/* Name of a file of the tree as the rest of the system sees it: the root before it. */
void tree_outside(const struct tree *t, const char *name, char *ret, size_t size);

/* "A/B" in a buffer of PATH_MAX bytes; false: too long. */
bool tree_join(char ret[PATH_MAX], const char *folder, const char *name);

#endif
