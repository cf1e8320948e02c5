/* SPDX-License-Identifier: MIT */
/* One libcufile: which version it is, and what is known of that. As JSON (docs/which.md: libraries[]). */
#ifndef SPUR_WHICH_LIBRARY_H
#define SPUR_WHICH_LIBRARY_H

#include <jansson.h>

#include "driver/cufile_versions.h"
#include "which/tree.h"

/*
 * Of the file @real in the tree (without links): file, version, version_source, version_least, version_most, cuda,
 * sha256, bytes, known. What is not known is null, with its reason beside it. @contents: where to read it from
 * instead, as the file itself was deleted (/proc/N/map_files/...; may be NULL). New reference.
 */
json_t *library_describe(const struct tree *t, const char *real, const char *contents);

/*
 * The version, as far as file name, package or a string in it tell; .source says by which. False: none does, and only
 * *@ret_least and *@ret_most, minor versions by what the library exports, are known (-1: nothing is).
 */
bool library_version(const struct tree *t, const char *real, int fd, struct cufile_version *ret, int *ret_least,
                     int *ret_most);

/* "libcufile.so", "libcufile.so.0", "libcufile.so.1.9.1", not libcufile_rdma.so.1 nor libcufile.so.txt. */
bool library_is_cufile(const char *file);

/* The same by what the file @fd is, whatever its name: its SONAME, or that it has cuFile's functions. NULL: no cuFile;
 * else why it is one, in words that follow "it is a libcufile by its ". */
const char *library_is_cufile_inside(int fd);

/* A string whatever its bytes (not UTF-8: \xNN); "" and NULL are null. */
json_t *which_string(const char *text);

#endif
