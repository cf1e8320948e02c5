/* SPDX-License-Identifier: MIT */
#include "which/call.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

struct words {
    const char *at; /* the rest of the command */
    char *to;       /* where the next word goes; room for all of them */
};

/* The next word without its quotes; NULL: there is no more. */
static char *next_word(struct words *w)
{
    char *word = w->to, quote = 0;

    w->at += strspn(w->at, " \t\n");
    if (!*w->at)
        return NULL;
    for (; *w->at && (quote || !strchr(" \t\n", *w->at)); w->at++) {
        if (quote ? *w->at == quote : *w->at == '\'' || *w->at == '"')
            quote = quote ? 0 : *w->at;
        else if (*w->at == '\\' && quote != '\'' && w->at[1])
            *w->to++ = *++w->at;
        else
            *w->to++ = *w->at;
    }
    *w->to++ = '\0';
    return word;
}

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

/* ------------------------------------------------------------------------------------------------
 * env (GNU coreutils, BSD)
 */

/* "-u NAME", "-uNAME", "--unset=NAME", "--unset NAME": what stands behind the option. */
static const char *value_of(struct words *w, const char *rest)
{
    return *rest == '=' ? rest + 1 : *rest ? rest : next_word(w);
}

static bool walk(struct which_call *call, struct words *w, bool in_env, bool is_inner);

/* -S: its value is words of its own, before what follows. */
static bool split(struct which_call *call, struct words *w, const char *value, bool is_inner)
{
    struct words inner = {value, w->to};
    bool found = value && !is_inner && walk(call, &inner, true, true);

    w->to = inner.to;
    if (found)
        call->has_arguments |= w->at[strspn(w->at, " \t\n")] != '\0';
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
        value_of(w, name + strlen(chdir));
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
        return *c == 'S' && split(call, w, value, is_inner);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ */

/* env takes every word with '=' in it; a shell only names. */
static bool walk(struct which_call *call, struct words *w, bool in_env, bool is_inner)
{
    const char *word;

    while ((word = next_word(w))) {
        if (is_assignment(word) || (in_env && strchr(word, '=') && word[0] != '-')) {
            assign(&call->q, word);
        } else if (in_env && word[0] == '-') {
            if (option(call, w, word, is_inner))
                return true;
        } else {
            call->program = word;
            in_env = base_is(word, "env");
            if (in_env)
                continue;
            call->has_arguments = w->at[strspn(w->at, " \t\n")] != '\0';
            return true;
        }
    }
    return false;
}

int which_call_parse(const struct which_question *q, struct which_call *ret)
{
    size_t room = 2 * (strlen(q->command) + 2); /* twice: a word of env -S is split again */
    struct words w = {q->command, malloc(room)};

    *ret = (struct which_call){.q = *q, .text = w.to};
    if (!w.to)
        return -ENOMEM;
    walk(ret, &w, false, false);
    return 0;
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
