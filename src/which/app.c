/* SPDX-License-Identifier: MIT */
#include "which/app.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "which/library.h"

int app_open(struct app *a, const struct tree *t, const char *kind, const char *name, const char *library_path,
             uint16_t machine)
{
    memset(a, 0, sizeof(*a));
    a->tree = t;
    loader_open(&a->loader, t, machine, library_path);
    a->uses = json_array();
    a->libraries = json_array();
    a->json = json_pack("{s:s, s:o, s:o, s:O, s:O, s:[]}", "kind", kind, "name", which_string(name), "ld_library_path",
                        which_string(a->loader.library_path), "uses", a->uses, "libraries", a->libraries, "notes");
    if (a->json)
        return 0;
    json_decref(a->uses);
    json_decref(a->libraries);
    loader_close(&a->loader);
    return -ENOMEM;
}

void app_note(struct app *a, const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    json_array_append_new(json_object_get(a->json, "notes"), which_string(text));
}

/* ------------------------------------------------------------------------------------------------
 * Libraries
 */

static json_t *library_of(const struct app *a, const char *real)
{
    json_t *name = which_string(real), *library, *same = NULL;
    size_t i;

    json_array_foreach(a->libraries, i, library) if (!same && json_equal(json_object_get(library, "file"), name))
        same = library;
    json_decref(name);
    return same;
}

static json_t *package_json(const struct dist *d)
{
    return d ? json_pack("{s:o, s:o}", "name", which_string(d->name), "version", which_string(d->version))
             : json_null();
}

static const struct dist *owner_of(const struct app *a, const char *file)
{
    return a->dists && file ? dists_owner(a->dists, a->tree, file) : NULL;
}

static void set_package(struct app *a, json_t *library, const char *real)
{
    const struct dist *d = owner_of(a, real);

    json_object_set_new(library, "package", package_json(d));
    json_object_set_new(library, "chains",
                        d ? dists_chains(a->dists, d,
                                         a->python_version && *a->python_version ? a->python_version : NULL,
                                         a->loader.platform)
                          : json_array());
}

static json_t *add_library(struct app *a, const char *real, const char *contents)
{
    json_t *library = library_of(a, real);

    if (library)
        return library;
    library = library_describe(a->tree, real, contents);
    json_object_set_new(library, "taken", json_false());
    json_object_set_new(library, "why_not", json_null());
    json_object_set_new(library, "deleted", json_false());
    set_package(a, library, real);
    json_array_append_new(a->libraries, library);
    return library;
}

void app_copy(struct app *a, const char *real, const char *why)
{
    if (!library_of(a, real))
        json_object_set_new(add_library(a, real, NULL), "why_not", json_string(why));
}

/* What a process has loaded stays; the search then tells only why it may be that one. */
static void take(struct app *a, const char *real)
{
    json_t *library;

    if (a->is_loaded) {
        app_copy(a, real, "the search meets it, but this process has loaded another");
        return;
    }
    library = add_library(a, real, NULL);
    json_object_set_new(library, "taken", json_true());
    json_object_set_new(library, "why_not", json_null());
}

void app_mapped(struct app *a, const char *file, bool deleted, const char *contents)
{
    json_t *library = add_library(a, file, deleted ? contents : NULL);

    json_object_set_new(library, "taken", json_true());
    json_object_set_new(library, "deleted", json_boolean(deleted));
    a->is_loaded = true;
}

/* ------------------------------------------------------------------------------------------------
 * Uses
 */

static bool use_is_known(const struct app *a, const json_t *use)
{
    static const char *const keys[] = {"how", "object", "name"};
    const json_t *other;
    size_t i;

    json_array_foreach(a->uses, i, other)
    {
        bool same = !json_is_null(json_object_get(use, "object"));

        for (size_t k = 0; same && k < ARRAY_SIZE(keys); k++)
            same = json_equal(json_object_get(use, keys[k]), json_object_get(other, keys[k]));
        if (same)
            return true;
    }
    return false;
}

static const char *advice(enum found_by by)
{
    switch (by) {
    case BY_RPATH:
        return "an RPATH goes before LD_LIBRARY_PATH: another file is taken by LD_PRELOAD=FILE, or another version of "
               "the package";
    case BY_LIBRARY_PATH:
        return "another file is taken by another LD_LIBRARY_PATH";
    case BY_PATH:
        return "the name is a path: only the file itself can be another";
    case BY_PRELOAD:
        return "another file is taken by another LD_PRELOAD";
    case BY_PACKAGE:
        return "another file is taken by another version of the package, or by LD_PRELOAD=FILE";
    default:
        return "another file is taken by LD_LIBRARY_PATH=FOLDER";
    }
}

static void set_found(json_t *use, const struct found *f)
{
    json_object_set_new(use, "file", which_string(f->real));
    json_object_set_new(use, "opened_as", which_string(f->file));
    json_object_set_new(use, "found_by", json_string(loader_by_name(f->by)));
    json_object_set_new(use, "where", which_string(f->where));
    json_object_set_new(use, "owner", which_string(f->owner));
    json_object_set_new(use, "change", json_string(advice(f->by)));
    if (f->fault[0])
        json_object_set_new(use, "fault", json_string(f->fault));
}

static json_t *add_use(struct app *a, const char *how, const char *object, const char *name, const struct found *found)
{
    json_t *use = json_pack("{s:s, s:o, s:o, s:o, s:n, s:n, s:n, s:n, s:n, s:n}", "how", how, "object",
                            which_string(object), "package", package_json(owner_of(a, object)), "name",
                            which_string(name), "file", "opened_as", "found_by", "where", "owner", "change");

    if (use_is_known(a, use)) {
        json_decref(use);
        return NULL;
    }
    if (found) {
        set_found(use, found);
        if (!found->fault[0])
            take(a, found->real);
    }
    json_array_append_new(a->uses, use);
    return use;
}

void app_use(struct app *a, const char *how, const char *object, const char *name, const struct found *found)
{
    add_use(a, how, object, name, found);
}

/* Where the search goes on behind the first one. */
static void later(struct app *a, const struct found *f, const struct object *object)
{
    char why[PATH_MAX + 256];

    if (f->fault[0])
        return;
    snprintf(why, sizeof(why), "comes later in the search%s%s (%s%s%.200s)", object ? " of " : "",
             object ? object->file : "", loader_by_name(f->by), f->where[0] ? " " : "", f->where);
    app_copy(a, f->real, why);
}

static void search(struct app *a, const char *how, const struct object *object, const char *name, bool in_code,
                   bool only_found)
{
    struct found *found = calloc(FOUND_MAX, sizeof(*found));
    size_t n = found ? loader_find(&a->loader, object, a->program, name, found) : 0;
    json_t *use = only_found && !n ? NULL : add_use(a, how, object ? object->file : NULL, name, n ? &found[0] : NULL);

    if (use && in_code)
        json_object_set_new(use, "in_code", json_true());
    for (size_t i = 1; i < n; i++)
        later(a, &found[i], object);
    free(found);
}

void app_search(struct app *a, const char *how, const struct object *object, const char *name, bool in_code)
{
    search(a, how, object, name, in_code, false);
}

void app_offer(struct app *a, const char *name)
{
    search(a, "dlopen", NULL, name, false, true);
}

/* ------------------------------------------------------------------------------------------------ */

bool app_has_library(const json_t *application)
{
    const json_t *library;
    size_t i;

    json_array_foreach(json_object_get(application, "libraries"), i,
                       library) if (json_is_true(json_object_get(library, "taken"))) return true;
    return false;
}

/* Those that are taken stand first, in the order in which they were met. */
static void sort_libraries(struct app *a)
{
    json_t *sorted = json_array(), *library;
    size_t i;

    for (int taken = 1; taken >= 0; taken--)
        json_array_foreach(a->libraries, i, library) if (json_is_true(json_object_get(library, "taken")) == taken)
            json_array_append(sorted, library);
    json_object_set_new(a->json, "libraries", sorted);
}

json_t *app_close(struct app *a)
{
    json_t *json = a->json;

    sort_libraries(a);
    json_object_set_new(json, "loaded", json_boolean(a->is_loaded));
    json_decref(a->uses);
    json_decref(a->libraries);
    loader_close(&a->loader);
    a->json = NULL;
    return json;
}
