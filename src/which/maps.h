/* SPDX-License-Identifier: MIT */
/* Files that a process has mapped: /proc/N/maps (proc_pid_maps(5)). */
#ifndef SPUR_WHICH_MAPS_H
#define SPUR_WHICH_MAPS_H

#include <limits.h>
#include <stdbool.h>

struct maps_entry {
    char file[PATH_MAX];
    char range[64]; /* "7f00-7f10": its name in /proc/N/map_files */
    bool runs;      /* may be executed: of a library one range at least */
    bool deleted;   /* its name was removed, or given to another file */
};

/*
 * The file of one line, without the line break. False: nothing that has a name, or not such a line. A line break in a
 * name stands there as \012.
 */
bool maps_parse(const char *line, struct maps_entry *ret);

#endif
