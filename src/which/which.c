/* SPDX-License-Identifier: MIT */
#include "which/which.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "driver/cufile_versions.h"
#include "which/library.h"

bool which_is_found(const json_t *answer)
{
    const json_t *application;
    size_t i;

    json_array_foreach(json_object_get(answer, "applications"), i,
                       application) if (app_has_library(application)) return true;
    return false;
}

static int ask_tree(const struct tree *t, const struct which_question *q, json_t *applications, struct spur_error *e)
{
    json_t *application = NULL;
    int r;

    if (!q->command && !q->python)
        return which_image(t, q, applications, e);
    r = q->command ? which_program(t, q, &application, e) : which_python(t, q, q->python, &application, e);
    if (!r)
        json_array_append(applications, application);
    json_decref(application);
    return r;
}

static int ask_root(const struct which_question *q, json_t *applications, struct spur_error *e)
{
    struct tree t;
    int r = tree_open(&t, q->root ? q->root : "/", e);

    if (r < 0)
        return r;
    /* In an image names are taken from its top. */
    if (q->root || !getcwd(t.cwd, sizeof(t.cwd)))
        strcpy(t.cwd, "/");
    r = ask_tree(&t, q, applications, e);
    tree_close(&t);
    return r;
}

static int ask(const struct which_question *q, json_t *applications, struct spur_error *e)
{
    json_t *application = NULL;
    int r;

    if (!q->pid)
        return ask_root(q, applications, e);
    r = which_process(q, &application, e);
    if (!r)
        json_array_append(applications, application);
    json_decref(application);
    return r;
}

int which_answer(const struct which_question *q, json_t **ret, struct spur_error *e)
{
    json_t *applications = json_array();
    int r = ask(q, applications, e);

    if (!r) {
        *ret = json_pack("{s:s, s:s, s:{s:o, s:o, s:o, s:o}, s:{s:s, s:s}, s:O}", "schema", "spur-which-1", "spur",
                         spur_version(), "asked", "pid", q->pid ? json_integer((json_int_t)q->pid) : json_null(),
                         "command", which_string(q->command), "python", which_string(q->python), "root",
                         which_string(q->root), "table", "date", CUFILE_TABLE_DATE, "newest", CUFILE_TABLE_NEWEST,
                         "applications", applications);
        if (!*ret)
            r = error_errno(e, ENOMEM, "json_pack", "answer");
    }
    json_decref(applications);
    return r;
}
