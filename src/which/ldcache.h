/* SPDX-License-Identifier: MIT */
/*
 * /etc/ld.so.cache, which ldconfig writes: names of libraries and where they are. The format of glibc 2.2 and later
 * ("glibc-ld.so.cache1.1"), by itself or behind an old table; the old table alone (before 2.2) is read too. Facts:
 * glibc, sysdeps/generic/dl-cache.h.
 */
#ifndef SPUR_WHICH_LDCACHE_H
#define SPUR_WHICH_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "which/tree.h"

#define LDCACHE_REASON 120

struct ldcache {
    char *data; /* NULL: there is none */
    size_t size;
    const char *base; /* of the new format's offsets; of the old one's strings */
    const char *entries;
    uint32_t n_entries;
    bool is_old;
    uint32_t extensions;         /* offset from base; 0: none */
    char reason[LDCACHE_REASON]; /* why there is none, or what is wrong with it */
};

/* Reads it from the tree. Not there, or damaged: an empty cache with the reason. */
void ldcache_read(const struct tree *t, struct ldcache *ret);
/* The same of bytes that it takes over (malloc'ed). */
void ldcache_parse(char *data, size_t size, struct ldcache *ret);
void ldcache_free(struct ldcache *c);

/*
 * Path for @name, for libraries of the machine @machine (EM_X86_64, EM_AARCH64); entries of glibc-hwcaps folders only
 * up to @level (x86-64-vN), the highest first. @index 0 is what the loader takes, 1 the next of that name. NULL: none.
 */
const char *ldcache_find(const struct ldcache *c, const char *name, uint16_t machine, unsigned level, size_t index);

#endif
