/* SPDX-License-Identifier: MIT */
/*
 * How far a process has come with its cuFile library, noted in a file before each step: a library that takes the
 * process down leaves no other word of which it was.
 */
#ifndef SPUR_CUFILE_STAGE_H
#define SPUR_CUFILE_STAGE_H

#include <stdbool.h>

/* Names the file; unset: nothing is noted. */
#define CUFILE_STAGE_VARIABLE "SPUR_CUFILE_STAGE"

enum cufile_stage {
    CUFILE_STAGE_LOAD,  /* dlopen */
    CUFILE_STAGE_OPEN,  /* parameters and cuFileDriverOpen */
    CUFILE_STAGE_USE,   /* until the path is closed */
    CUFILE_STAGE_CLOSE, /* cuFileDriverClose */
    CUFILE_STAGE_EXIT,  /* the driver is closed; the library is left to the end of the process */
};

struct cufile_stage_seen {
    enum cufile_stage stage;
    char file[4096];  /* the file that was mapped; at LOAD what was asked for */
    char version[64]; /* "": not known */
};

void cufile_stage_note(enum cufile_stage stage, const char *file, const char *version);
/* False: there is no note, or none that was written whole. */
bool cufile_stage_read(const char *note, struct cufile_stage_seen *ret);

#endif
