/* SPDX-License-Identifier: MIT */
#include "which/call.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "which/words.h"

static bool base_is(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');

    return !strcmp(slash ? slash + 1 : file, name);
}

/* ------------------------------------------------------------------------------------------------
 * Variables
 */

static const char **variable(struct which_question *q, const char *name, size_t length)
{
    const struct {
        const char *name, **value;
    } rows[] = {{"LD_LIBRARY_PATH", &q->library_path},
                {"LD_PRELOAD", &q->preload},
                {"PATH", &q->path},
                {"HOME", &q->home},
                {"PYTHONPATH", &q->python_path}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length))
            return rows[i].value;
    return NULL;
}

static void set(struct which_question *q, const char *name, size_t length, const char *value)
{
    const char **place = variable(q, name, length);

    if (place)
        *place = value;
}

static bool is_assignment(const char *word)
{
    size_t n = 0;

    while (isalnum((unsigned char)word[n]) || word[n] == '_')
        n++;
    return n && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

static void assign(struct which_question *q, const char *word)
{
    size_t n = strcspn(word, "=");

    set(q, word, n, word + n + 1);
}

static void clear(struct which_question *q)
{
    q->library_path = q->preload = q->path = q->home = q->python_path = NULL;
}

/* A later folder is relative to an earlier one. */
static void enter(struct which_call *call, const char *folder)
{
    char before[PATH_MAX];

    strcpy(before, call->folder);
    snprintf(call->folder, sizeof(call->folder), "%s%s%s", *folder == '/' ? "" : before,
             *folder == '/' || !*before ? "" : "/", folder);
}

/* ------------------------------------------------------------------------------------------------
 * env (GNU coreutils, BSD)
 */

/* "-u NAME", "-uNAME", "--unset=NAME", "--unset NAME": what stands behind the option. */
static const char *value_of(struct words *w, const char *rest)
{
    return *rest == '=' ? rest + 1 : *rest ? rest : words_next(w);
}

static bool walk(struct which_call *call, struct words *w, bool in_env, bool is_inner);

/* -S: its value is words of its own, before what follows. */
static bool split(struct which_call *call, struct words *w, const char *value, bool is_inner)
{
    struct words inner = {.at = value, .to = w->to};
    bool found = value && !is_inner && walk(call, &inner, true, true);

    call->has_arguments = found && words_next(&inner);
    w->to = inner.to;
    return found;
}

static bool long_option(struct which_call *call, struct words *w, const char *name, bool is_inner)
{
    static const char unset[] = "unset", chdir[] = "chdir", split_string[] = "split-string";

    if (!strcmp(name, "ignore-environment"))
        clear(&call->q);
    if (!strncmp(name, unset, strlen(unset))) {
        const char *value = value_of(w, name + strlen(unset));

        set(&call->q, value ? value : "", value ? strlen(value) : 0, NULL);
    }
    if (!strncmp(name, chdir, strlen(chdir)))
        enter(call, value_of(w, name + strlen(chdir)) ?: "");
    if (!strncmp(name, split_string, strlen(split_string)))
        return split(call, w, value_of(w, name + strlen(split_string)), is_inner);
    return false;
}

/* True: the program was found in the value of -S. */
static bool option(struct which_call *call, struct words *w, const char *word, bool is_inner)
{
    const char *value;

    if (!strncmp(word, "--", 2))
        return long_option(call, w, word + 2, is_inner);
    if (!word[1])
        clear(&call->q);
    for (const char *c = word + 1; *c; c++) {
        if (*c == 'i')
            clear(&call->q);
        if (!strchr("uCSP", *c))
            continue;
        value = value_of(w, c + 1);
        if (*c == 'u' && value)
            set(&call->q, value, strlen(value), NULL);
        if (*c == 'C')
            enter(call, value ? value : "");
        return *c == 'S' && split(call, w, value, is_inner);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ */

/* "exec -a NAME PROGRAM", "command PROGRAM": a shell's own, and the program follows. */
static bool is_prefix(const char *word)
{
    return !strcmp(word, "exec") || !strcmp(word, "command") || !strcmp(word, "!");
}

static void prefix_option(struct which_call *call, struct words *w, const char *word)
{
    if (strchr(word, 'c'))
        clear(&call->q);
    if (word[strlen(word) - 1] == 'a')
        words_next(w);
}

/* env takes every word with '=' in it; a shell only names. */
static bool walk(struct which_call *call, struct words *w, bool in_env, bool is_inner)
{
    bool in_prefix = false;
    const char *word;

    while ((word = words_next(w))) {
        if (!in_prefix && (is_assignment(word) || (in_env && strchr(word, '=') && word[0] != '-'))) {
            assign(&call->q, word);
        } else if (in_env && word[0] == '-') {
            if (option(call, w, word, is_inner))
                return true;
        } else if (in_prefix && word[0] == '-') {
            prefix_option(call, w, word);
        } else if (!in_env && is_prefix(word)) {
            in_prefix = true;
        } else {
            call->program = word;
            in_env = base_is(word, "env");
            in_prefix = false;
            if (in_env)
                continue;
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * What a shell does itself before it comes to the program
 */

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list))
            return true;
    return false;
}

static void change_folder(struct which_call *call, struct words *w)
{
    const char *word = words_next(w);

    while (word && word[0] == '-' && word[1])
        word = words_next(w);
    enter(call, word ? word : call->q.home ? call->q.home : "");
}

static void export(struct which_call *call, struct words *w)
{
    for (const char *word; (word = words_next(w));)
        if (is_assignment(word))
            assign(&call->q, word);
}

static void unset(struct which_call *call, struct words *w)
{
    for (const char *word; (word = words_next(w));)
        set(&call->q, word, strlen(word), NULL);
}

static const char *const own[] = {"cd", "export", "unset", ":", "set", "ulimit", "umask", "trap", "shopt", NULL};

/* True: it is a shell's own, and changes no more than what was noted of it. */
static bool is_done_by_shell(struct which_call *call, struct words *w)
{
    const char *name = call->program;

    if (!strcmp(name, "cd"))
        change_folder(call, w);
    else if (!strcmp(name, "export"))
        export(call, w);
    else if (!strcmp(name, "unset"))
        unset(call, w);
    else
        return is_one_of(name, own);
    return true;
}

/* Variables that are set without a program are the program's only if they are of the environment already. */
static void keep_exported(struct which_question *q, const struct which_question *before)
{
    static const char *const names[] = {"LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "HOME", "PYTHONPATH"};
    struct which_question old = *before;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!*variable(&old, names[i], strlen(names[i])))
            set(q, names[i], strlen(names[i]), NULL);
}

/* To what is run after a command that did well. False: nothing is. */
static bool go_on(struct words *w)
{
    const char *by;

    do {
        while (words_next(w))
            ;
        by = words_operator(w);
    } while (!strcmp(by, "||"));
    w->at += strspn(w->at, " \t\n");
    return *w->at && (!strcmp(by, "&&") || !strcmp(by, ";") || !strcmp(by, "\n"));
}

/* The first program of the command, and what was done before it. */
static void find_program(struct which_call *call, struct words *w)
{
    for (;;) {
        struct which_question before = call->q;
        bool found;

        call->program = NULL;
        w->at += strspn(w->at, " \t\n");
        found = walk(call, w, false, false);
        if (found) {
            struct which_question its_own = call->q;

            call->q = before;
            if (!is_done_by_shell(call, w)) {
                call->q = its_own;
                return;
            }
        } else if (call->program) { /* env alone */
            return;
        } else {
            keep_exported(&call->q, &before);
        }
        if (!go_on(w))
            return;
    }
}

/* What follows the program; and that all of it can be read. */
static void find_rest(struct which_call *call, struct words *w)
{
    const char *begin;

    while (words_next(w))
        call->has_arguments = true;
    begin = w->at;
    while (*words_operator(w))
        while (words_next(w))
            ;
    if (begin[strspn(begin, " \t\n;&")])
        call->rest = begin;
}

/* ------------------------------------------------------------------------------------------------ */

static int refuse(struct spur_error *e, const char *remedy, const char *what, const char *why)
{
    return error_usage(e, "--command", remedy, "--command: %s %s", what, why);
}

static int judge(const struct which_call *call, const struct words *w, struct spur_error *e)
{
    static const char *const sets[] = {"source", ".", "eval", "alias", "pushd", "popd", NULL};
    static const char *const syntax[] = {"{", "if", "for", "while", "until", "case", "select", "function", "[[", NULL};
    const char close[] = {w->unclosed, 0};

    if (w->unclosed && !w->has_text)
        return refuse(e, "close it, or quote it", close, "is not closed: no shell takes that");
    if (!call->program && *call->q.command && strchr("|&;", call->q.command[strspn(call->q.command, " \t\n")]))
        return refuse(e, "give the program", "it", "begins with an operator: no shell takes that");
    if (call->program && is_one_of(call->program, own))
        return refuse(e, "give the program", call->program, "is a shell's own, and no program follows it");
    if (call->program && is_one_of(call->program, sets))
        return refuse(e, "give the program itself, with --library-path if it sets one", call->program,
                      "may change what is loaded, and is not read");
    if (call->program && (call->program[0] == '(' || is_one_of(call->program, syntax)))
        return refuse(e, "give the program itself", call->program, "is a shell's language, and is not read");
    return 0;
}

int which_call_parse(const struct which_question *q, struct which_call *ret, struct spur_error *e)
{
    size_t room = 2 * (strlen(q->command) + 2); /* twice: a word of env -S is split again */
    struct words w = {.at = q->command, .to = malloc(room), .shell = true};

    *ret = (struct which_call){.q = *q, .text = w.to};
    if (!w.to)
        return error_errno(e, ENOMEM, "malloc", "a command");
    find_program(ret, &w);
    find_rest(ret, &w);
    return judge(ret, &w, e);
}

void which_call_free(struct which_call *call)
{
    free(call->text);
    *call = (struct which_call){.text = NULL};
}

bool which_call_starts_others(const char *file)
{
    static const char *const names[] = {
        "sh",      "bash", "dash",   "ash",    "zsh",     "ksh",     "busybox", "sudo",    "doas",   "nice",   "nohup",
        "timeout", "time", "setsid", "stdbuf", "numactl", "taskset", "chrt",    "ionice",  "xargs",  "strace", "ltrace",
        "gdb",     "nsys", "ncu",    "mpirun", "mpiexec", "srun",    "prlimit", "unshare", "nsenter"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (base_is(file, names[i]))
            return true;
    return false;
}
