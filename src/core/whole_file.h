/* SPDX-License-Identifier: MIT */
/* A file that is written whole or not at all. */
#ifndef SPUR_CORE_WHOLE_FILE_H
#define SPUR_CORE_WHOLE_FILE_H

#include <stddef.h>

#include "spur.h"

/*
 * Writes a temporary file of mode 0600 beside @filename, syncs it and renames it: what was there before is replaced, so
 * ask first. Errors name @what ("--json") and the file.
 */
int whole_file_write(const char *filename, const void *data, size_t length, const char *what, struct spur_error *e);

/* Whether a new file can be made beside @filename, and take its place without replacing a symbolic link (REFUSED): so
 * that it is said before long work, not after it. */
int whole_file_check(const char *filename, const char *what, struct spur_error *e);

#endif
