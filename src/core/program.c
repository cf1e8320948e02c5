/* SPDX-License-Identifier: MIT */
#include "core/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool program_find(const char *name, char *ret, size_t size)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/')) {
        snprintf(ret, size, "%s", name);
        return access(ret, X_OK) == 0;
    }
    for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
        size_t length = strcspn(at, ":");

        snprintf(ret, size, "%.*s/%s", (int)length, at, name);
        if (length && access(ret, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}
