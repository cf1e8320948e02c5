/* SPDX-License-Identifier: MIT */
/* Reading the small text files of /proc and /sys below a movable root, and numbers in them. Private to the probes. */
#ifndef SPUR_PROBE_READ_H
#define SPUR_PROBE_READ_H

#include <stddef.h>

#include "probe/probe.h"

/* Path below the root. False if it does not fit. */
bool read_path(const struct probe *p, char *ret, size_t size, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* Opens @path below the root; no link leads out of a moved one. The descriptor, or -1 with errno. */
int read_open(const struct probe *p, const char *path, int flags);

/* The whole file as text, to be freed; NULL with the reason, which names the file: missing, unreadable, over 16 MiB,
 * or with a NUL byte in it; errno is that of opening it, or EIO. */
char *read_text(const struct probe *p, const char *path, char *reason);

/* Its first line, without the newline. 0 or negative errno. */
int read_line(const struct probe *p, const char *path, char *ret, size_t size, char *reason);

/* A file that holds one number. 0 or negative errno. */
int read_u64(const struct probe *p, const char *path, uint64_t *ret, char *reason);

/* Number in decimal at *s, after blanks; *s moves behind it. Something else or more than 64 bits: false. */
bool parse_u64(const char **s, uint64_t *ret);

/* Value of the line "KEY<separator> VALUE" of @text, as number. False if there is none. */
bool parse_key_u64(const char *text, const char *key, char separator, uint64_t *ret);

void reason_set(char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
