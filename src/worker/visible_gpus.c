/* SPDX-License-Identifier: MIT */
#include "worker/visible_gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "probe/probe.h"

unsigned visible_gpus_count(void)
{
    struct probe probe;
    char path[sizeof(probe.root) + 40];
    struct dirent *entry;
    unsigned n = 0;
    DIR *d;

    probe_init(&probe);
    snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", probe.root);
    d = opendir(path);
    while (d && (entry = readdir(d)))
        n += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static unsigned count_entries(const char *list)
{
    unsigned n = *list ? 1 : 0;

    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* Entry @index of a list with commas. */
static void copy_entry(const char *list, unsigned long index, char *ret, size_t size)
{
    while (index--)
        list += strcspn(list, ",") + 1;
    snprintf(ret, size, "%.*s", (int)strcspn(list, ","), list);
}

bool visible_gpus(const char *memory, const char *visible, unsigned n_gpus, char *ret, size_t size)
{
    const char *at = strchr(memory, ':');
    unsigned n = visible ? count_entries(visible) : n_gpus;
    size_t used = 0;

    if (strncmp(memory, "cuda:", 5) || n < 2)
        return false;
    do {
        unsigned long index = isdigit((unsigned char)at[1]) ? strtoul(at + 1, NULL, 10) : n;
        char entry[80];

        if (index >= n)
            return false;
        if (visible)
            copy_entry(visible, index, entry, sizeof(entry));
        else
            snprintf(entry, sizeof(entry), "%lu", index);
        used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? "," : "", entry);
        if (used >= size)
            return false;
        at = strchr(at + 1, ',');
    } while (at);
    return true;
}
