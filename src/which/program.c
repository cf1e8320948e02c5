/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "core/error.h"
#include "core/fit.h"
#include "core/util.h"
#include "which/call.h"
#include "which/library.h"
#include "which/which.h"

#define MOST_SCRIPTS 5 /* a script whose interpreter is a script ...: the kernel's limit */

static const char usual_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* ------------------------------------------------------------------------------------------------
 * Which file a command is
 */

static bool is_executable(const struct tree *t, const char *file)
{
    char real[PATH_MAX], outside[2 * PATH_MAX];
    struct stat st;

    if (tree_resolve(t, file, real) < 0)
        return false;
    tree_outside(t, real, outside, sizeof(outside));
    return lstat(outside, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

bool which_in_path(const struct tree *t, const char *path, const char *name, char ret[PATH_MAX])
{
    const char *list = path ? path : usual_path;

    if (strchr(name, '/'))
        return snprintf(ret, PATH_MAX, "%s", name) < PATH_MAX && tree_is_file(t, name);
    while (list) {
        size_t n = strcspn(list, ":");
        char folder[PATH_MAX];

        if (n < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)n, n ? list : ".");
            if (!n)
                strcpy(folder, ".");
            if (tree_join(ret, folder, name) && is_executable(t, ret))
                return true;
        }
        list = list[n] ? list + n + 1 : NULL;
    }
    return false;
}

/* First word of @text that is no option and no NAME=VALUE. */
static bool first_word(const char *text, bool skip, char ret[PATH_MAX])
{
    for (;;) {
        size_t n;

        text += strspn(text, " \t");
        n = strcspn(text, " \t");
        if (!n || n >= PATH_MAX)
            return false;
        snprintf(ret, PATH_MAX, "%.*s", (int)n, text);
        if (!skip || (ret[0] != '-' && !strchr(ret, '=')))
            return true;
        text += n;
    }
}

static bool base_is(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');

    return !strcmp(slash ? slash + 1 : file, name);
}

/* "#! /usr/bin/env -S python3 -u": the file of python3. False: no script, or the interpreter is not there. */
static bool interpreter_of(const struct tree *t, const struct which_question *q, const char *file, char ret[PATH_MAX],
                           char *problem, size_t size)
{
    size_t n = 0;
    _cleanup_free_ char *text = tree_read(t, file, 4096, &n);
    char word[PATH_MAX];
    char *line;

    problem[0] = '\0';
    if (!text || n < 3 || text[0] != '#' || text[1] != '!')
        return false;
    line = text + 2;
    line[strcspn(line, "\r\n")] = '\0';
    if (!first_word(line, false, word)) {
        snprintf(problem, size, "its #! line names no interpreter");
        return false;
    }
    if (base_is(word, "env"))
        line = strstr(line, "env") + 3;
    if (base_is(word, "env") && !first_word(line, true, word))
        snprintf(problem, size, "its #! line gives env no program");
    else if (!which_in_path(t, q->path, word, ret))
        snprintf(problem, size, "its interpreter %.200s is not there", word);
    return !problem[0];
}

/* The program's own file, then the interpreters, down to a file that is no script. */
static int follow(const struct tree *t, const struct which_question *q, const char *program, char file[PATH_MAX],
                  char *problem, size_t size, struct spur_error *e)
{
    char next[PATH_MAX];

    if (!program || !which_in_path(t, q->path, program, file)) {
        error_errno(e, ENOENT, "access", "%s", program ? program : q->command);
        error_remedy(e, "it is no file%s%s and not in PATH%s", *t->root ? " below " : "", t->root,
                     program && strpbrk(program, "$`~*?") ? "; nothing is expanded: write it out" : "");
        return -ENOENT;
    }
    for (int i = 0; i < MOST_SCRIPTS; i++) {
        if (!interpreter_of(t, q, file, next, problem, size))
            break;
        strcpy(file, next);
    }
    if (problem[0])
        return error_spur(e, SPUR_CODE_NONE, "read", "%s: %s", program, problem);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * What a program loads
 */

static void note_missing(struct app *a, const struct closure *c)
{
    for (size_t i = 0; i < c->n_missing && i < 8; i++)
        app_note(a, "%s, which %s needs, is not found: the program does not start like this", c->missing[i].name,
                 c->items[c->missing[i].asked_by]->object.file);
}

static void use_needed(struct app *a, const struct closure *c, const struct closure_item *item)
{
    const struct elf *elf = &item->object.elf;

    for (size_t k = 0; k < elf->n_needed; k++) {
        const struct closure_item *got = library_is_cufile(elf->needed[k]) ? closure_by_name(c, elf->needed[k]) : NULL;

        if (got && got->found.by == BY_PRELOAD)
            app_use(a, "needed", item->object.file, elf->needed[k], &got->found);
        else if (library_is_cufile(elf->needed[k]))
            app_search(a, "needed", &item->object, elf->needed[k], false);
    }
}

/* A name that is loaded at the start is what dlopen gives, whatever its search would meet. */
static void use_opened(struct app *a, const struct closure *c, const struct closure_item *item)
{
    struct scan s = {.kinds = SCAN_OPENS};

    scan_elf(&s, a->tree, item->object.file);
    for (size_t i = 0; i < s.n_hits; i++) {
        const struct closure_item *loaded = closure_by_name(c, s.hits[i].name);

        if (s.hits[i].kind != SCAN_OPENS)
            continue;
        if (loaded)
            app_use(a, "dlopen", item->object.file, s.hits[i].name, &loaded->found);
        else
            app_search(a, "dlopen", &item->object, s.hits[i].name, s.hits[i].in_code);
    }
    scan_free(&s);
}

void which_closure(struct app *a, const struct closure *c)
{
    if (c->items[0]->object.elf.interp && strstr(c->items[0]->object.elf.interp, "ld-musl"))
        app_note(a, "its loader is musl's, whose rules are others: what is found here may be wrong");
    for (size_t i = 0; i < c->n_items; i++) {
        const struct closure_item *item = c->items[i];

        if (i && library_is_cufile(item->name) && item->found.by == BY_PRELOAD)
            app_use(a, "preload", NULL, item->name, &item->found);
        if (library_is_cufile(item->object.file) || library_is_cufile(item->name))
            continue;
        use_needed(a, c, item);
        use_opened(a, c, item);
    }
    note_missing(a, c);
}

/* For a program with more rights than its user the loader leaves LD_LIBRARY_PATH and LD_PRELOAD out. */
static bool is_privileged(const struct tree *t, const char *file)
{
    char real[PATH_MAX], outside[2 * PATH_MAX];
    struct stat st;

    if (tree_resolve(t, file, real) < 0)
        return false;
    tree_outside(t, real, outside, sizeof(outside));
    return lstat(outside, &st) == 0 &&
           ((st.st_mode & (S_ISUID | S_ISGID)) || lgetxattr(outside, "security.capability", NULL, 0) > 0);
}

static int make(const struct tree *t, const struct which_question *q, const char *file, json_t **ret,
                struct spur_error *e)
{
    bool privileged = is_privileged(t, file);
    const char *library_path = privileged ? NULL : q->library_path;
    struct closure c = {NULL};
    struct loader l;
    struct app a;
    int r;

    loader_open(&l, t, which_machine(t, file), library_path);
    r = closure_make(&l, file, privileged ? NULL : q->preload, &c, e);
    if (!r && app_open(&a, t, "program", q->command, library_path, l.machine) < 0)
        r = error_errno(e, ENOMEM, "json_pack", "application");
    if (!r) {
        json_object_set_new(a.json, "program", which_string(file));
        if (privileged && (q->library_path || q->preload))
            app_note(&a, "it runs with more rights than its user: LD_LIBRARY_PATH and LD_PRELOAD do not count");
        a.program = &c.items[0]->object;
        which_closure(&a, &c);
        *ret = app_close(&a);
    }
    closure_free(&c);
    loader_close(&l);
    return r;
}

static void note(json_t *application, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(json_t *application, const char *format, ...)
{
    char text[1000];
    va_list ap;

    va_start(ap, format);
    fit_vprint(text, sizeof(text), format, ap);
    va_end(ap);
    json_array_append_new(json_object_get(application, "notes"), which_string(text));
}

/* A shell's or launcher's own libraries are not what was meant. */
static void note_launcher(const struct which_call *call, const char *file, json_t *application)
{
    bool is_script = which_call_starts_others(file) && !which_call_starts_others(call->program);

    if (is_script || (call->has_arguments && which_call_starts_others(call->program)))
        note(application, "this is %s itself: what it starts is not looked at; give that program to --command", file);
}

static int look_at(const struct tree *t, const struct which_call *call, json_t **ret, struct spur_error *e)
{
    char file[PATH_MAX], real[PATH_MAX], problem[320];
    const struct which_question *q = &call->q;
    int r = follow(t, q, call->program, file, problem, sizeof(problem), e);

    if (r < 0)
        return r;
    if (!pyenv_is_python(file) && (tree_resolve(t, file, real) < 0 || !pyenv_is_python(real))) {
        r = make(t, q, file, ret, e);
        if (!r)
            note_launcher(call, file, *ret);
        return r;
    }
    r = which_python(t, q, file, ret, e);
    if (!r)
        json_object_set_new(*ret, "name", which_string(q->command));
    return r;
}

/* The same tree, where the program is started in it. */
static int enter(const struct tree *t, const char *folder, struct tree *ret, struct spur_error *e)
{
    int r;

    *ret = *t;
    if (!*folder)
        return 0;
    r = tree_resolve(t, folder, ret->cwd);
    if (!r && !tree_is_dir(t, ret->cwd))
        r = -ENOTDIR;
    if (r < 0) {
        error_errno(e, -r, "chdir", "%s%s%s", t->root, *t->root && *folder != '/' ? "/" : "", folder);
        if (strpbrk(folder, "$`~*?"))
            error_remedy(e, "nothing is expanded: write it out");
    }
    return r;
}

static int look_at_first(const struct tree *t, const struct which_question *q, json_t **ret, struct spur_error *e)
{
    struct which_call call;
    struct tree there;
    int r = which_call_parse(q, &call, e);

    if (!r)
        r = enter(t, call.folder, &there, e);
    if (!r)
        r = look_at(&there, &call, ret, e);
    if (!r && call.rest)
        note(*ret, "only %s is looked at, not the rest of the command (%s): give each program to --command by itself",
             call.program, call.rest);
    which_call_free(&call);
    return r;
}

/* A file whose name has blanks needs no quotes. */
int which_program(const struct tree *t, const struct which_question *q, json_t **ret, struct spur_error *e)
{
    const struct which_call call = {.q = *q, .program = q->command};
    char file[PATH_MAX];

    return which_in_path(t, q->path, q->command, file) ? look_at(t, &call, ret, e) : look_at_first(t, q, ret, e);
}
