/* SPDX-License-Identifier: MIT */
/* Which libcufile an application loads or would load. Files are read, nothing is run. */
#ifndef SPUR_WHICH_H
#define SPUR_WHICH_H

#include "which/app.h"

/* What is asked, and the environment variables that the application will have; each may be NULL. */
struct which_question {
    uint64_t pid;        /* 0: none */
    const char *command; /* a program, by its name or path, perhaps with arguments */
    const char *python;  /* a virtual environment, prefix, folder of packages or interpreter */
    const char *root;    /* where all of it is; NULL: this machine */
    const char *library_path, *preload, *path, *home, *python_path;
};

/* docs/which.md; new reference. -errno with an error: what was asked about cannot be read. */
int which_answer(const struct which_question *q, json_t **ret, struct spur_error *e);

/* Whether any application of an answer has, or would get, a libcufile. */
bool which_is_found(const json_t *answer);

/* ------------------------------------------------------------------------------------------------
 * Its parts: each makes one application, as a new reference.
 */

/* program.c: a program that is started by its file; a script is followed to its interpreter. */
int which_program(const struct tree *t, const struct which_question *q, json_t **ret, struct spur_error *e);
/* Uses of a closure: who needs cuFile, and who opens it. */
void which_closure(struct app *a, const struct closure *c);
/* The file of @name by PATH (NULL: the usual one), as it is written there. False: none. */
bool which_in_path(const struct tree *t, const char *path, const char *name, char ret[PATH_MAX]);

/* python.c: an environment by its prefix, interpreter or folder of packages. */
int which_python(const struct tree *t, const struct which_question *q, const char *name, json_t **ret,
                 struct spur_error *e);
/* What packages of an environment have to do with cuFile, into an application that is open. */
int which_packages(struct app *a, const struct pyenv *p);

/* A SCAN_NEEDS or SCAN_OPENS hit: what its file gets. */
void which_object(struct app *a, const struct scan_hit *h);

/* The machine of an ELF file; of spur's own where @file is "" or none. */
uint16_t which_machine(const struct tree *t, const char *file);

/* process.c: a process; its own environment counts, not that of @q. */
int which_process(const struct which_question *q, json_t **ret, struct spur_error *e);

/* image.c: adds each Python environment below the root, and what programs and libraries outside of them would get. */
int which_image(const struct tree *t, const struct which_question *q, json_t *applications, struct spur_error *e);

#endif
