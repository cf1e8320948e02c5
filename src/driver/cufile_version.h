/* SPDX-License-Identifier: MIT */
/* Which version a loaded libcufile is. */
#ifndef SPUR_DRIVER_CUFILE_VERSION_H
#define SPUR_DRIVER_CUFILE_VERSION_H

#include "driver/cufile.h"

/*
 * By cuFileGetVersion (NULL: it has none), which tells major and minor; patch and build from the name of @real_file
 * (libcufile.so.1.15.1) or, as Python wheels install a plain libcufile.so.0, from the package that lists the file as
 * its own. A name that contradicts cuFileGetVersion is not believed. @real_file may be NULL.
 */
void cufile_version_find(CUfileError_t (*get)(int *), const char *real_file, struct cufile_version *ret);

/* Numbers of the name "libcufile.so.1.15.1[.6]"; false: it has fewer than two. The rest of @ret is -1. */
bool cufile_version_of_name(const char *file, struct cufile_version *ret);

#endif
