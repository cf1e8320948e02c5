/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "which/library.h"
#include "which/which.h"

/* Environments that were looked at: those within one of their folders are done too. */
struct image {
    const struct tree *t;
    const struct which_question *q;
    json_t *applications;
    json_t *seen;    /* sites and prefixes, as keys */
    size_t n_others; /* environments that have nothing to do with cuFile */
};

/* ".../lib/python3.12/site-packages" and the like: the prefix; else the folder itself. */
static void prefix_of_site(const struct tree *t, const char *site, char ret[PATH_MAX])
{
    char *lib;

    snprintf(ret, PATH_MAX, "%s", site);
    lib = strstr(ret, "/python");
    while (lib && strstr(lib + 1, "/python"))
        lib = strstr(lib + 1, "/python");
    if (!lib)
        return;
    *lib = '\0';
    lib = strrchr(ret, '/');
    if (!lib || (strcmp(lib, "/lib") != 0 && strcmp(lib, "/lib64") != 0)) {
        snprintf(ret, PATH_MAX, "%s", site);
        return;
    }
    *lib = '\0';
    /* Debian's Python is of /usr and takes the folders of /usr/local too. */
    if (!strcmp(ret, "/usr/local") && !strcmp(strrchr(site, '/'), "/dist-packages") &&
        tree_is_file(t, "/usr/bin/python3"))
        strcpy(ret, "/usr");
}

static bool is_seen(const struct image *i, const char *folder)
{
    json_t *name = which_string(folder);
    bool seen = json_object_get(i->seen, json_string_value(name)) != NULL;

    json_decref(name);
    return seen;
}

static void mark(struct image *i, const char *folder)
{
    json_t *name = which_string(folder);

    json_object_set_new(i->seen, json_string_value(name), json_true());
    json_decref(name);
}

static int see_environment(struct image *i, const char *prefix, struct spur_error *e)
{
    json_t *application = NULL;
    int r;

    if (is_seen(i, prefix))
        return 0;
    mark(i, prefix);
    r = which_python(i->t, i->q, prefix, &application, e);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return 0; /* no environment after all: a template, an empty folder */
    if (json_array_size(json_object_get(application, "libraries")) ||
        json_array_size(json_object_get(application, "uses")))
        json_array_append(i->applications, application);
    else
        i->n_others++;
    json_decref(application);
    return 0;
}

static int see_environments(struct image *i, const struct scan *s, struct spur_error *e)
{
    char prefix[PATH_MAX];
    int r = 0;

    for (size_t k = 0; !r && k < s->n_hits; k++)
        if (s->hits[k].kind == SCAN_PREFIX)
            r = see_environment(i, s->hits[k].file, e);
    for (size_t k = 0; !r && k < s->n_hits; k++)
        if (s->hits[k].kind == SCAN_SITE) {
            prefix_of_site(i->t, s->hits[k].file, prefix);
            r = see_environment(i, prefix, e);
        }
    return r;
}

static bool is_shown(const struct image *i, const char *real)
{
    json_t *name = which_string(real), *application, *library;
    bool shown = false;
    size_t k, l;

    json_array_foreach(i->applications, k, application)
        json_array_foreach(json_object_get(application, "libraries"), l, library)
            shown |= json_equal(json_object_get(library, "file"), name);
    json_decref(name);
    return shown;
}

static void see_objects(struct app *a, const struct scan *s)
{
    for (size_t k = 0; k < s->n_hits; k++)
        if (s->hits[k].kind == SCAN_NEEDS || s->hits[k].kind == SCAN_OPENS)
            which_object(a, &s->hits[k]);
}

/* What programs and libraries outside of Python get; what one without an RPATH that opens cuFile by its name gets, and
 * copies that nobody's search met. */
static int see_rest(struct image *i, const struct scan *s, struct spur_error *e)
{
    struct app a;

    if (app_open(&a, i->t, "image", i->q->root, i->q->library_path, which_machine(i->t, "")) < 0)
        return error_errno(e, ENOMEM, "json_pack", "application");
    see_objects(&a, s);
    app_offer(&a, "libcufile.so.0");
    app_offer(&a, "libcufile.so");
    for (size_t k = 0; k < s->n_hits; k++)
        if (s->hits[k].kind == SCAN_LIBRARY && !is_shown(i, s->hits[k].file))
            app_copy(&a, s->hits[k].file, "not in a folder that the loader searches");
    if (a.loader.cache.reason[0])
        app_note(&a, "%s", a.loader.cache.reason);
    if (i->n_others)
        app_note(&a, "%zu other Python environments have nothing to do with cuFile", i->n_others);
    if (s->n_unreadable)
        app_note(&a, "%zu folders cannot be read", s->n_unreadable);
    if (s->cut)
        app_note(&a, "there are over %u files: the rest was not looked at", SCAN_ENTRIES);
    json_array_append_new(i->applications, app_close(&a));
    return 0;
}

int which_image(const struct tree *t, const struct which_question *q, json_t *applications, struct spur_error *e)
{
    struct image i = {.t = t, .q = q, .applications = applications, .seen = json_object()};
    struct scan s = {.kinds = SCAN_LIBRARY | SCAN_SITE | SCAN_PREFIX | SCAN_NEEDS | SCAN_OPENS | SCAN_OUTSIDE};
    int r = scan_walk(&s, t, "/");

    if (r < 0)
        error_errno(e, -r, "malloc", "walk through %s", q->root);
    if (!r)
        r = see_environments(&i, &s, e);
    if (!r)
        r = see_rest(&i, &s, e);
    json_decref(i.seen);
    scan_free(&s);
    return r;
}
