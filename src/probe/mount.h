/* SPDX-License-Identifier: MIT */
/* Lines of /proc/self/mountinfo. Private to the probes. */
#ifndef SPUR_PROBE_MOUNT_H
#define SPUR_PROBE_MOUNT_H

#include "probe/probe.h"

/* One line, cut in place; escapes are undone but in the options. */
struct mount_line {
    unsigned major, minor;
    char *root, *mount_point, *options, *fs_type, *source, *super_options;
};

/* Calls @visit for each line until it returns true. -ENOENT: no line was taken; other errors with the reason. */
typedef bool (*mount_visit_fn)(void *context, const struct mount_line *line);
int mount_walk(const struct probe *p, mount_visit_fn visit, void *context, char *reason);

/* Any mount of the device, and the mount whose mount point is the longest prefix of a name (the last such line: it lies
 * on top). ret->known says whether there is one. */
void mount_find_device(const struct probe *p, dev_t dev, struct probe_mount *ret);
void mount_find_name(const struct probe *p, const char *absolute, struct probe_mount *ret);

/* The mount that holds @absolute, whose device number is @dev; the file system itself is not asked. */
void mount_find(const struct probe *p, const char *absolute, dev_t dev, struct probe_mount *ret);

/* Undoes \ooo, as which the kernel writes blanks, backslashes and the like. */
void mount_unescape(char *s);

/* Whether the comma-separated @options hold the word @name. */
bool mount_has_option(const char *options, const char *name);

#endif
