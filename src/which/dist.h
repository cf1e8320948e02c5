/* SPDX-License-Identifier: MIT */
/* Installed Python packages, by their *.dist-info/METADATA, and conda's by conda-meta/NAME.json: who requires whom. */
#ifndef SPUR_WHICH_DIST_H
#define SPUR_WHICH_DIST_H

#include <jansson.h>

#include "which/requirement.h"
#include "which/tree.h"

#define DIST_MAX       8192
#define METADATA_BYTES (1u << 20) /* more of a file is not read; requirements stand at its beginning */

struct dist {
    char *name; /* as written; any bytes */
    char normal[PACKAGE_NAME];
    char *version;
    char *site; /* folder in the tree that it is installed in */
    char *info; /* its dist-info folder or conda's file */
    struct requirement *requires;
    size_t n_requires;
    bool is_conda;
};

struct dists {
    struct dist *items;
    size_t n;
    size_t n_unreadable; /* folders without a name in them, or that cannot be read */
};

/* Adds those of a folder, as site-packages. A folder that is not there has none. 0 or -ENOMEM. */
int dists_read_site(struct dists *d, const struct tree *t, const char *site);
/* Adds conda's of @prefix/conda-meta. */
int dists_read_conda(struct dists *d, const struct tree *t, const char *prefix);
void dists_free(struct dists *d);

/* nvidia-cufile, nvidia-cufile-cu12, conda's libcufile: a package that brings cuFile. */
bool dist_is_cufile(const struct dist *d);

/*
 * The package of which @file (in the tree) is a part, by its RECORD, or for conda's by the list in its file. NULL:
 * none says so.
 */
const struct dist *dists_owner(const struct dists *d, const struct tree *t, const char *file);

/*
 * Why @target is installed: an array of chains, each an array of {name, version, needs, as, pinned, satisfied} from a
 * package that no other requires down to the one before @target; `as` is what it asks of the next, extras first. Each
 * ancestor once, by its shortest chain; at most 8. [] if nothing requires it. Cycles end. New reference.
 */
json_t *dists_chains(const struct dists *d, const struct dist *target, const char *python_version, const char *machine);

#endif
