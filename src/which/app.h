/* SPDX-License-Identifier: MIT */
/*
 * One application being looked at: who uses cuFile in it (uses), which file each gets, and all copies that it could
 * have had (libraries). Gathered as JSON (docs/which.md).
 */
#ifndef SPUR_WHICH_APP_H
#define SPUR_WHICH_APP_H

#include <jansson.h>

#include "which/closure.h"
#include "which/pyenv.h"
#include "which/scan.h"

struct app {
    const struct tree *tree;
    struct loader loader;
    const struct dists *dists; /* NULL: no packages */
    const char *python_version;
    const struct object *program; /* NULL: not known */
    json_t *json;                 /* the application */
    json_t *uses, *libraries;     /* members of it */
    bool is_loaded;               /* a process has one: no search changes that */
};

/* @kind: "process", "program", "python", "image". @library_path: its LD_LIBRARY_PATH or NULL. 0 or -ENOMEM. */
int app_open(struct app *a, const struct tree *t, const char *kind, const char *name, const char *library_path,
             uint16_t machine);
/* Sorts what was found, and gives the JSON; new reference. */
json_t *app_close(struct app *a);

/* A remark for the reader. */
void app_note(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* @object (NULL: none is known) gets @name by the loader's search; @how: "needed", "dlopen", "python". */
void app_search(struct app *a, const char *how, const struct object *object, const char *name, bool in_code);
/* The same where it is known which file it gets. */
void app_use(struct app *a, const char *how, const char *object, const char *name, const struct found *found);
/* What any program gets that opens @name; nothing if it would find none, for nobody was seen to ask. */
void app_offer(struct app *a, const char *name);
/* A library that is mapped by a process; deleted: its name is no longer that file. */
void app_mapped(struct app *a, const char *file, bool deleted, const char *contents);
/* Another copy, and why it is not taken. Nothing happens if it is known already. */
void app_copy(struct app *a, const char *real, const char *why);

/* Whether a file was found for anyone. */
bool app_has_library(const json_t *application);

#endif
