/* SPDX-License-Identifier: MIT */
/* A record of a machine in the making. Private to record*.c. */
#ifndef SPUR_DOCTOR_RECORD_H
#define SPUR_DOCTOR_RECORD_H

#include <limits.h>

#include "doctor/check.h"
#include "doctor/scrub.h"

struct record {
    const struct doctor *d;
    int dir;
    struct scrub scrub;
    char *paths[64]; /* real names of files, and of what lies below them: their mounts are kept */
    size_t n_paths;
    struct spur_error *e;
};

/* How a file's text is cut down: to the lines or words that begin with one of @keep (by '|'), or at a character. */
enum cut { CUT_NONE, CUT_LINES, CUT_WORDS, CUT_FIRST_PAREN, CUT_MOUNTS, CUT_DASH };

/* record_cut.c; in place. */
void record_cut(const struct record *r, enum cut how, const char *keep, char *text);

/* record_write.c: below the record's directory, at their scrubbed paths. 0 or -errno with r->e. */
int record_write_text(struct record *r, const char *path, enum scrub_depth depth, const char *text);
int record_write_folder(struct record *r, const char *path);
/* Links of the way to @path, as they are; *ret: the way without them. */
int record_write_links(struct record *r, const char *path, char ret[PATH_MAX]);

/* record_note.c: learns what is to be replaced: people, hosts, the files' names, their mounts. */
void record_note_all(struct record *r);

#endif
