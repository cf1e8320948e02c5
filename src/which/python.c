/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "which/library.h"
#include "which/which.h"

/* cuda.pathfinder looks into packages, then conda's folder, and only then asks the loader (its version 1.9). */
static bool by_pathfinder(const struct app *a, const struct pyenv *p, struct found *f)
{
    static const char *const folders[] = {"nvidia/cu13/lib", "nvidia/cufile/lib"};
    char folder[PATH_MAX];

    memset(f, 0, sizeof(*f));
    f->by = BY_PACKAGE;
    for (size_t k = 0; k < ARRAY_SIZE(folders); k++)
        for (size_t i = 0; i < p->n_sites; i++)
            if (tree_join(folder, p->sites[i], folders[k]) && tree_join(f->file, folder, "libcufile.so.0") &&
                tree_is_file(a->tree, f->file)) {
                snprintf(f->where, sizeof(f->where), "%s", folders[k]);
                return tree_resolve(a->tree, f->file, f->real) == 0;
            }
    if (p->is_conda && tree_join(folder, p->prefix, "lib") && tree_join(f->file, folder, "libcufile.so.0") &&
        tree_is_file(a->tree, f->file)) {
        snprintf(f->where, sizeof(f->where), "conda's lib");
        return tree_resolve(a->tree, f->file, f->real) == 0;
    }
    return false;
}

static void use_source(struct app *a, const struct pyenv *p, const struct scan_hit *h)
{
    struct object source = {.parent = NULL}; /* ctypes opens it: no RPATH but the program's */
    struct found f;

    snprintf(source.file, sizeof(source.file), "%s", h->file);
    if (strcmp(h->name, "cufile") != 0)
        app_search(a, "python", &source, h->name, false);
    else if (by_pathfinder(a, p, &f))
        app_use(a, "python", h->file, "libcufile.so.0", &f);
    else
        app_search(a, "python", &source, "libcufile.so.0", false);
}

void which_object(struct app *a, const struct scan_hit *h)
{
    _cleanup_fd_ int fd = tree_open_file(a->tree, h->file, NULL);
    struct object *o = calloc(1, sizeof(*o));
    char reason[ELF_REASON];

    if (o && fd >= 0 && elf_read(fd, &o->elf, reason) == 0) {
        snprintf(o->file, sizeof(o->file), "%s", h->file);
        app_search(a, h->kind == SCAN_NEEDS ? "needed" : "dlopen", o, h->name, h->in_code);
        elf_free(&o->elf);
    }
    free(o);
}

/* The surest uses first: what a package needs, what its sources open, what stands in its data. */
static void use_hits(struct app *a, const struct pyenv *p, const struct scan *s)
{
    static const enum scan_kind order[] = {SCAN_NEEDS, SCAN_PYTHON, SCAN_OPENS, SCAN_LIBRARY};

    for (size_t k = 0; k < ARRAY_SIZE(order); k++)
        for (size_t i = 0; i < s->n_hits; i++) {
            if (s->hits[i].kind != order[k])
                continue;
            if (order[k] == SCAN_LIBRARY)
                app_copy(a, s->hits[i].file, "no search of a package meets it");
            else if (order[k] == SCAN_PYTHON)
                use_source(a, p, &s->hits[i]);
            else
                which_object(a, &s->hits[i]);
        }
}

static bool has_library_of(const struct app *a, const struct dist *d)
{
    const json_t *library;
    json_t *name = which_string(d->name);
    bool has = false;
    size_t i;

    json_array_foreach(a->libraries, i, library)
        has |= json_equal(json_object_get(json_object_get(library, "package"), "name"), name);
    json_decref(name);
    return has;
}

/* Installed by its list, but not there: another package with the same folder may have been removed. */
static void note_hollow(struct app *a, const struct dists *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (dist_is_cufile(&d->items[i]) && !has_library_of(a, &d->items[i]))
            app_note(a, "package %s %s is installed, but no libcufile of it is there", d->items[i].name,
                     d->items[i].version ? d->items[i].version : "");
}

int which_packages(struct app *a, const struct pyenv *p)
{
    struct scan s = {.kinds = SCAN_NEEDS | SCAN_OPENS | SCAN_PYTHON | SCAN_LIBRARY};
    char lib[PATH_MAX];
    int r = 0;

    for (size_t i = 0; !r && i < p->n_sites; i++)
        r = scan_walk(&s, a->tree, p->sites[i]);
    if (!r && p->is_conda && tree_join(lib, p->prefix, "lib")) {
        s.kinds = SCAN_LIBRARY;
        r = scan_walk(&s, a->tree, lib);
    }
    if (!r)
        use_hits(a, p, &s);
    note_hollow(a, &p->dists);
    if (s.cut)
        app_note(a, "there are over %u files: the rest was not looked at", SCAN_ENTRIES);
    if (s.n_unreadable)
        app_note(a, "%zu folders of packages cannot be read", s.n_unreadable);
    if (p->dists.n_unreadable)
        app_note(a, "%zu packages have no readable METADATA", p->dists.n_unreadable);
    scan_free(&s);
    return r;
}

/* ------------------------------------------------------------------------------------------------ */

static void describe(struct app *a, const struct pyenv *p)
{
    json_object_set_new(a->json, "prefix", which_string(p->prefix));
    json_object_set_new(a->json, "interpreter", which_string(p->interpreter));
    json_object_set_new(a->json, "python_version", which_string(p->version));
    json_object_set_new(a->json, "packages", json_integer((json_int_t)p->dists.n));
    if (p->note[0])
        app_note(a, "%s", p->note);
}

/* An environment without its Python is looked at all the same, for its packages lie there. */
static int fill(struct app *a, const struct pyenv *p, const struct which_question *q)
{
    struct closure c = {NULL};
    struct spur_error ignored = {0};
    int r;

    if (p->interpreter[0] && closure_make(&a->loader, p->interpreter, q->preload, &c, &ignored) == 0) {
        a->program = &c.items[0]->object;
        which_closure(a, &c);
    } else if (p->interpreter[0]) {
        app_note(a, "its Python cannot be read: %s", ignored.detail);
    }
    r = which_packages(a, p);
    a->program = NULL;
    closure_free(&c);
    return r;
}

uint16_t which_machine(const struct tree *t, const char *file)
{
    _cleanup_fd_ int fd = *file ? tree_open_file(t, file, NULL) : -1;
    char reason[ELF_REASON];
    struct elf elf;
    uint16_t machine = EM_X86_64;

#if defined(__aarch64__)
    machine = EM_AARCH64;
#endif
    if (fd >= 0 && elf_read(fd, &elf, reason) == 0) {
        machine = elf.machine;
        elf_free(&elf);
    }
    return machine;
}

static int make(struct pyenv *p, const struct tree *t, const struct which_question *q, const char *name, json_t **ret,
                struct spur_error *e)
{
    struct app a;
    int r = app_open(&a, t, "python", name, q->library_path, which_machine(t, p->interpreter));

    if (r < 0)
        return error_errno(e, -r, "json_pack", "application");
    a.dists = &p->dists;
    a.python_version = p->version;
    describe(&a, p);
    r = fill(&a, p, q);
    *ret = app_close(&a);
    return r < 0 ? error_errno(e, -r, "read", "packages of %s", name) : 0;
}

int which_python(const struct tree *t, const struct which_question *q, const char *name, json_t **ret,
                 struct spur_error *e)
{
    struct pyenv_world w = {.python_path = q->python_path, .home = q->home};
    struct pyenv *p = calloc(1, sizeof(*p));
    int r = p ? pyenv_open(p, t, name, &w, e) : error_errno(e, ENOMEM, "calloc", "environment");

    if (!r && !p->interpreter[0] && !p->is_venv && !p->is_conda && !p->dists.n) {
        r = error_spur(e, SPUR_CODE_USAGE, "python", "%s%s: no Python environment", t->root, name);
        error_remedy(e, "it has no pyvenv.cfg, no bin/python and no *.dist-info");
    }
    if (!r)
        r = make(p, t, q, name, ret, e);
    if (p)
        pyenv_close(p);
    free(p);
    return r;
}
