/* SPDX-License-Identifier: MIT */
/*
 * Where the dynamic loader of glibc finds a library, without running it. The rules are those of ld.so(8) and of
 * glibc's elf/dl-load.c: RPATH of the object that asks and of those that loaded it (unless it has a RUNPATH),
 * LD_LIBRARY_PATH, its RUNPATH, ld.so.cache, the default folders; in each folder glibc-hwcaps/x86-64-v4..v2 first; a
 * file of another machine is passed over. Not known: LD_AUDIT, prelinking, the hwcaps folders from before 2.37.
 */
#ifndef SPUR_WHICH_LOADER_H
#define SPUR_WHICH_LOADER_H

#include "which/elf.h"
#include "which/ldcache.h"
#include "which/tree.h"

enum found_by {
    BY_PATH, /* the name is a path */
    BY_PRELOAD,
    BY_RPATH,
    BY_LIBRARY_PATH,
    BY_RUNPATH,
    BY_CACHE,
    BY_DEFAULT,
    BY_PACKAGE, /* cuda.pathfinder's own order, before the loader's */
};

struct loader {
    const struct tree *tree;
    char *library_path; /* LD_LIBRARY_PATH; NULL: unset */
    struct ldcache cache;
    uint16_t machine;
    unsigned level;  /* of x86-64 (1 to 4); 1 for others */
    const char *lib; /* $LIB: lib/x86_64-linux-gnu, lib64 */
    const char *platform;
};

/* A loaded object: who asked for it is @parent (NULL: the program itself, or what Python opened). */
struct object {
    char file[PATH_MAX];   /* in the tree, without links */
    char opened[PATH_MAX]; /* absolute, as it was opened: $ORIGIN is its folder. "": the same as file */
    struct elf elf;
    const struct object *parent;
};

struct found {
    char file[PATH_MAX]; /* as the loader opens it */
    char real[PATH_MAX]; /* without links */
    enum found_by by;
    char where[PATH_MAX + 64]; /* the folder as written: "$ORIGIN/../lib"; "" where there is nothing to say */
    char owner[PATH_MAX];      /* the object whose RPATH or RUNPATH it is; "" */
    char fault[ELF_REASON];    /* the loader ends with an error here; "" */
};

#define FOUND_MAX 16

/* @library_path may be NULL; it is copied. @machine is EM_X86_64 or EM_AARCH64. */
void loader_open(struct loader *l, const struct tree *t, uint16_t machine, const char *library_path);
void loader_close(struct loader *l);

/*
 * All files that the search for @name meets, in order, without doubles: the first is the one that is loaded. @from asks
 * for it; @program is the main program (may be NULL). Returns how many there are, at most FOUND_MAX.
 */
size_t loader_find(const struct loader *l, const struct object *from, const struct object *program, const char *name,
                   struct found ret[FOUND_MAX]);

/* "RPATH", "LD_LIBRARY_PATH", "ld.so.cache", ... */
const char *loader_by_name(enum found_by by);

#endif
