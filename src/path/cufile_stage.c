/* SPDX-License-Identifier: MIT */
#include "path/cufile_stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util.h"

static const char *const names[] = {"load", "open", "use", "close", "exit"};

void cufile_stage_note(enum cufile_stage stage, const char *file, const char *version)
{
    const char *note = getenv(CUFILE_STAGE_VARIABLE);
    _cleanup_fd_ int fd = note && *note ? open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

    if (fd >= 0)
        dprintf(fd, "%s\n%s\n%s\n", names[stage], file, version);
}

/* The next line, without its end. */
static void take_line(FILE *f, char *ret, size_t size)
{
    size_t n = 0;
    int c;

    while ((c = getc(f)) != EOF && c != '\n')
        if (n + 1 < size)
            ret[n++] = (char)c;
    ret[n] = 0;
}

bool cufile_stage_read(const char *note, struct cufile_stage_seen *ret)
{
    FILE *f = fopen(note, "re");
    char word[16];

    if (!f)
        return false;
    take_line(f, word, sizeof(word));
    take_line(f, ret->file, sizeof(ret->file));
    take_line(f, ret->version, sizeof(ret->version));
    fclose(f);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strcmp(names[i], word)) {
            ret->stage = (enum cufile_stage)i;
            return true;
        }
    return false;
}
