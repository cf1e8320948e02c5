/* SPDX-License-Identifier: MIT */
#ifndef SPUR_CORE_PROGRAM_H
#define SPUR_CORE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The file of program @name as execvp would find it by PATH; a name with a slash is a file's. False: none that could be
 * run. */
bool program_find(const char *name, char *ret, size_t size);

#endif
