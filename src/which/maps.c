/* SPDX-License-Identifier: MIT */
#include "which/maps.h"

#include <stdio.h>
#include <string.h>

#define DELETED " (deleted)"

/* \012 is a line break; nothing else is escaped. */
static void unescape(char *text)
{
    char *p;

    while ((p = strstr(text, "\\012"))) {
        *p = '\n';
        memmove(p + 1, p + 4, strlen(p + 4) + 1);
    }
}

bool maps_parse(const char *line, struct maps_entry *ret)
{
    const char *p = line;
    size_t n;

    n = strcspn(p, " ");
    if (!n || n >= sizeof(ret->range) || !memchr(p, '-', n))
        return false;
    snprintf(ret->range, sizeof(ret->range), "%.*s", (int)n, p);
    ret->runs = strlen(p) > n + 4 && p[n + 3] == 'x'; /* "r-xp" */
    for (int i = 0; i < 5; i++) {                     /* range, rights, offset, device, inode */
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    if (p[0] != '/' || strlen(p) >= sizeof(ret->file))
        return false;
    strcpy(ret->file, p);
    n = strlen(ret->file);
    ret->deleted = n > strlen(DELETED) && !strcmp(ret->file + n - strlen(DELETED), DELETED);
    if (ret->deleted)
        ret->file[n - strlen(DELETED)] = '\0';
    unescape(ret->file);
    return true;
}
