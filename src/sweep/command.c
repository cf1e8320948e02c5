/* SPDX-License-Identifier: MIT */
/* Commands that prepare an axis's value: no shell, words only. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/error.h"
#include "core/sha256.h"
#include "core/program.h"
#include "core/util.h"
#include "plan/plan.h"
#include "sweep/guard.h"
#include "sweep/sweep.h"

static int wants_terminal(const char *name, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "prepare", "prepare command %s wants the terminal, which it cannot have", name);
    error_remedy(e, "let it run without a question (sudo -n), then spur compare --resume goes on");
    return -EPERM;
}

static int judge(int status, const char *name, struct spur_error *e)
{
    char what[300];

    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return 0;
    snprintf(what, sizeof(what), "prepare command %s", name);
    error_process(e, status, "prepare", what, "");
    error_remedy(e, "the trials so far are kept: spur compare --resume goes on once the command works");
    return -EIO;
}

static int guard_gone(const struct guard *g, const char *name, struct spur_error *e)
{
    if (g->command)
        guard_end_group(g->command);
    error_errno(e, ECHILD, "prepare", "prepare command %s: the process that watched it was killed, so it was ended",
                name);
    error_remedy(e, "the trials so far are kept: spur compare --resume goes on");
    return -ECHILD;
}

/* What the last word means; *ret_stays: some of the command lives on, and the guard with it. */
static int take_word(const struct guard_word *word, const char *name, bool *ret_stays, struct spur_error *e)
{
    *ret_stays = (word->kind == GUARD_TERMINAL || word->kind == GUARD_OVER) && word->value;
    if (word->kind == GUARD_FAILED)
        return error_errno(e, word->value, "exec", "prepare command %s", name);
    if (word->kind == GUARD_TERMINAL)
        return wants_terminal(name, e);
    return word->kind == GUARD_ENDED ? judge(word->value, name, e) : 0;
}

/* SIGINT and SIGTERM, which are blocked, end it. */
static int await(struct guard *g, const char *name, int *ret_signal, bool *ret_stays, struct spur_error *e)
{
    const struct timespec pause = {0, 50000000};
    struct guard_word word;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD); /* the guard's end */
    for (;;) {
        int signal, heard = guard_hear(g, &word);

        if (heard < 0)
            return guard_gone(g, name, e);
        if (heard && word.kind != GUARD_STARTED)
            return take_word(&word, name, ret_stays, e);
        signal = heard ? -1 : sigtimedwait(&signals, NULL, &pause);
        if (signal != SIGINT && signal != SIGTERM)
            continue;
        *ret_signal = *ret_signal ? *ret_signal : signal;
        guard_end(g);
    }
}

static int run_words(char **words, int *ret_signal, pid_t *ret_left, struct spur_error *e)
{
    char file[4096];
    struct guard g;
    bool stays = false;
    int r;

    if (!program_find(words[0], file, sizeof(file)) && !strchr(words[0], '/'))
        return error_errno(e, ENOENT, "exec", "prepare command %s", words[0]);
    r = guard_start(file, words, &g, e);
    if (r < 0)
        return r;
    r = await(&g, words[0], ret_signal, &stays, e);
    guard_free(&g, stays);
    *ret_left = stays ? g.command : 0;
    return *ret_signal ? 0 : r;
}

int sweep_prepare(const char *command, const char *value, int *ret_signal, pid_t *ret_left, struct spur_error *e)
{
    sigset_t child, before;
    char **words;
    int r = plan_command_words(command, value, &words, e);

    *ret_signal = 0;
    *ret_left = 0;
    if (r < 0)
        return r;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    r = run_words(words, ret_signal, ret_left, e);
    sigprocmask(SIG_SETMASK, &before, NULL);
    plan_words_free(words);
    return r;
}

/* ------------------------------------------------------------------------------------------------ */

int sweep_command_identify(const char *command, char *ret_file, size_t size, char ret_sha256[65], struct spur_error *e)
{
    char **words;
    int r = plan_command_words(command, "", &words, e);

    if (r < 0)
        return r;
    if (!program_find(words[0], ret_file, size))
        r = error_errno(e, ENOENT, "access", "prepare command %s: no such program in PATH", words[0]);
    plan_words_free(words);
    return r < 0 ? r : sha256_of_file(ret_file, ret_sha256, e);
}
