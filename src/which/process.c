/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "which/library.h"
#include "which/maps.h"
#include "which/which.h"

#define ENVIRONMENT_BYTES (4u << 20)

struct process {
    uint64_t pid;
    char *environment; /* NAME=VALUE, each with a NUL; NULL: unreadable */
    size_t environment_bytes;
    char program[PATH_MAX]; /* as the process sees it; "": a kernel thread */
    char command[PATH_MAX]; /* argv[0] */
    char comm[64];
};

static const char *variable(const struct process *p, const char *name)
{
    size_t n = strlen(name);

    for (size_t at = 0; at < p->environment_bytes; at += strlen(p->environment + at) + 1)
        if (!strncmp(p->environment + at, name, n) && p->environment[at + n] == '=')
            return p->environment + at + n + 1;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------
 * Reading /proc/N
 */

static int read_stream(FILE *f, size_t most, char **text, size_t *n)
{
    size_t room = 0, got = 1;

    while (got && *n < most) {
        if (*n == room) {
            char *grown = realloc(*text, (room = room ? 2 * room : 4096) + 1);

            if (!grown)
                return -ENOMEM;
            *text = grown;
        }
        got = fread(*text + *n, 1, room - *n, f);
        *n += got;
    }
    (*text)[*n] = '\0';
    return ferror(f) ? -(errno ? errno : EIO) : 0;
}

/* Files of /proc have no size. To be freed; NULL with errno. */
static char *read_proc(uint64_t pid, const char *name, size_t most, size_t *ret_length)
{
    char file[64], *text = NULL;
    FILE *f;
    int r;

    *ret_length = 0;
    snprintf(file, sizeof(file), "/proc/%" PRIu64 "/%s", pid, name);
    f = fopen(file, "re");
    if (!f)
        return NULL;
    r = read_stream(f, most, &text, ret_length);
    fclose(f);
    if (!r)
        return text;
    free(text);
    errno = -r;
    return NULL;
}

static void read_link(uint64_t pid, const char *name, char ret[PATH_MAX])
{
    char file[64];
    ssize_t n;

    snprintf(file, sizeof(file), "/proc/%" PRIu64 "/%s", pid, name);
    n = readlink(file, ret, PATH_MAX - 1);
    ret[n < 0 ? 0 : n] = '\0';
}

static int refused(uint64_t pid, const char *name, int err, struct spur_error *e)
{
    if (err == ENOENT || err == ESRCH) {
        error_errno(e, ESRCH, "open", "process %" PRIu64, pid);
        error_remedy(e, "it has ended, or is of another PID namespace");
        return -ESRCH;
    }
    error_errno(e, err, "open", "/proc/%" PRIu64 "/%s", pid, name);
    if (err == EACCES || err == EPERM)
        error_remedy(e, "only its owner and root may look into a process: sudo spur which --pid %" PRIu64, pid);
    return -err;
}

static void read_words(struct process *p)
{
    size_t n = 0;
    _cleanup_free_ char *command = read_proc(p->pid, "cmdline", 1 << 20, &n);
    _cleanup_free_ char *comm = read_proc(p->pid, "comm", sizeof(p->comm) - 1, &n);

    snprintf(p->command, sizeof(p->command), "%s", command ? command : "");
    snprintf(p->comm, sizeof(p->comm), "%.*s", comm ? (int)strcspn(comm, "\n") : 1, comm ? comm : "?");
    p->environment = read_proc(p->pid, "environ", ENVIRONMENT_BYTES, &p->environment_bytes);
    if (!p->environment)
        p->environment_bytes = 0;
    read_link(p->pid, "exe", p->program);
}

/* ------------------------------------------------------------------------------------------------ */

/* A copy under another name is cuFile all the same. */
static const char *is_inside(const struct app *a, const struct maps_entry *m, const char *contents)
{
    _cleanup_fd_ int fd = -1;

    if (!m->runs)
        return NULL;
    fd = m->deleted ? open(contents, O_RDONLY | O_CLOEXEC) : tree_open_file(a->tree, m->file, NULL);
    return fd < 0 ? NULL : library_is_cufile_inside(fd);
}

static void take_mapping(struct app *a, const struct process *p, const struct maps_entry *m)
{
    char contents[128], real[PATH_MAX];
    const char *why = NULL;

    snprintf(contents, sizeof(contents), "/proc/%" PRIu64 "/map_files/%s", p->pid, m->range);
    if (!library_is_cufile(m->file) && !(why = is_inside(a, m, contents)))
        return;
    if (why)
        app_note(a, "%s has another name; it is a libcufile by its %s", m->file, why);
    if (m->deleted || tree_resolve(a->tree, m->file, real) < 0)
        app_mapped(a, m->file, true, contents);
    else
        app_mapped(a, real, false, NULL);
}

static void take_maps(struct app *a, const struct process *p, char *maps)
{
    struct maps_entry m, before = {.file = ""};
    char *rest = NULL;

    for (char *line = strtok_r(maps, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!maps_parse(line, &m))
            continue;
        if (before.runs && m.deleted == before.deleted &&
            !strcmp(m.file, before.file)) /* a file's ranges are together */
            continue;
        take_mapping(a, p, &m);
        before = m;
    }
}

/*
 * Folders of packages from which something is mapped, behind PYTHONPATH, as a list: what a program puts into sys.path
 * itself is in no file.
 */
static char *sites_of(const struct process *p, const char *maps)
{
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    const char *begin = variable(p, "PYTHONPATH");
    char *list = strdup(begin ? begin : "");

    for (size_t i = 0; list && i < ARRAY_SIZE(names); i++)
        for (const char *at = maps; (at = strstr(at, names[i])); at += strcspn(at, "\n")) {
            const char *path = at;
            _cleanup_free_ char *old = list, *site = NULL;

            while (path > maps && path[-1] != '\n' && path[-1] != ' ')
                path--;
            site = strndup(path, (size_t)(at - path) + strlen(names[i]) - 1);
            list = NULL;
            if (!site || (strstr(old, site) ? asprintf(&list, "%s", old) : asprintf(&list, "%s:%s", old, site)) < 0)
                return NULL;
        }
    return list;
}

/* Python is known by the name that it was called by: that of a virtual environment leads to it. */
static bool python_of(const struct tree *t, const struct process *p, char ret[PATH_MAX])
{
    char by_name[PATH_MAX], real[PATH_MAX], program[PATH_MAX];

    if (!pyenv_is_python(p->program))
        return false;
    snprintf(ret, PATH_MAX, "%s", p->program);
    if (p->command[0] && which_in_path(t, variable(p, "PATH"), p->command, by_name) &&
        tree_resolve(t, by_name, real) == 0 && tree_resolve(t, p->program, program) == 0 && !strcmp(real, program))
        strcpy(ret, by_name);
    return true;
}

static void see_packages(struct app *a, const struct process *p, const char *maps, struct pyenv *env)
{
    _cleanup_free_ char *sites = sites_of(p, maps);
    struct pyenv_world w = {.python_path = sites, .home = variable(p, "HOME")};
    char python[PATH_MAX];
    struct spur_error e = {0};

    if (!python_of(a->tree, p, python))
        return;
    if (pyenv_open(env, a->tree, python, &w, &e) < 0) {
        app_note(a, "its Python's packages cannot be read: %s", e.detail);
        return;
    }
    a->dists = &env->dists;
    a->python_version = env->version;
    json_object_set_new(a->json, "prefix", which_string(env->prefix));
    json_object_set_new(a->json, "python_version", which_string(env->version));
}

static void see_searches(struct app *a, const struct process *p, const struct pyenv *env)
{
    struct closure c = {NULL};
    struct spur_error e = {0};

    if (closure_make(&a->loader, p->program, variable(p, "LD_PRELOAD"), &c, &e) < 0) {
        app_note(a, "its program cannot be read: %s", e.detail);
    } else {
        a->program = &c.items[0]->object;
        which_closure(a, &c);
    }
    if (env->n_sites)
        which_packages(a, env);
    a->program = NULL;
    closure_free(&c);
}

/* A use counts for what was loaded only if the object that asks is loaded itself. */
static void mark_loaded(struct app *a, const char *maps)
{
    json_t *use;
    size_t i;

    json_array_foreach(a->uses, i, use)
    {
        const char *object = json_string_value(json_object_get(use, "object"));
        const char *at = object ? strstr(maps, object) : NULL;

        while (at && at[strlen(object)] != '\n' && at[strlen(object)] != ' ')
            at = strstr(at + 1, object);
        json_object_set_new(use, "object_loaded", json_boolean(at != NULL));
    }
}

static int look(const struct process *p, const struct tree *t, char *maps, json_t **ret, struct spur_error *e)
{
    struct pyenv *env = calloc(1, sizeof(*env));
    _cleanup_free_ char *whole = strdup(maps); /* take_maps cuts it into lines */
    char name[128];
    struct app a;

    snprintf(name, sizeof(name), "%" PRIu64 " (%s)", p->pid, p->comm);
    if (!env || !whole ||
        app_open(&a, t, "process", name, variable(p, "LD_LIBRARY_PATH"), which_machine(t, p->program)) < 0) {
        free(env);
        return error_errno(e, ENOMEM, "calloc", "process %" PRIu64, p->pid);
    }
    json_object_set_new(a.json, "program", which_string(p->program));
    if (!p->environment)
        app_note(&a, "its environment cannot be read: LD_LIBRARY_PATH is not known");
    if (!p->program[0])
        app_note(&a, "it has no program: a kernel thread, or one that has ended");
    see_packages(&a, p, maps, env);
    take_maps(&a, p, maps);
    if (p->program[0])
        see_searches(&a, p, env);
    mark_loaded(&a, whole);
    *ret = app_close(&a);
    pyenv_close(env);
    free(env);
    return 0;
}

int which_process(const struct which_question *q, json_t **ret, struct spur_error *e)
{
    struct process p = {.pid = q->pid};
    size_t n = 0;
    _cleanup_free_ char *maps = read_proc(q->pid, "maps", SIZE_MAX / 4, &n);
    char root[64];
    struct tree t;
    int r;

    if (!maps)
        return refused(q->pid, "maps", errno, e);
    snprintf(root, sizeof(root), "/proc/%" PRIu64 "/root", q->pid);
    r = tree_open(&t, root, NULL);
    if (r < 0)
        return refused(q->pid, "root", -r, e);
    read_words(&p);
    read_link(p.pid, "cwd", t.cwd);
    r = look(&p, &t, maps, ret, e);
    free(p.environment);
    tree_close(&t);
    return r;
}
