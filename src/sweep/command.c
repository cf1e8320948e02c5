/* SPDX-License-Identifier: MIT */
/* Commands that prepare an axis's value: no shell, words only. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/sha256.h"
#include "core/program.h"
#include "core/util.h"
#include "plan/plan.h"
#include "sweep/sweep.h"

#define GRACE_NS 2000000000ull /* between SIGTERM and SIGKILL */

static int spawn(char **words, pid_t *ret_pid, struct spur_error *e)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, defaults;
    int r;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGXFSZ); /* spur ignores it; a program would inherit that */
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attr, 0); /* so that it can be ended with all that it started */
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    posix_spawn_file_actions_init(&actions);
    r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!r) /* standard output is for results alone */
        r = posix_spawn_file_actions_adddup2(&actions, 2, 1);
    if (!r)
        r = posix_spawnp(ret_pid, words[0], &actions, &attr, words, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return r ? error_errno(e, r, "posix_spawn", "prepare command %s", words[0]) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Its end
 */

/* 1: it ended, with *ret_status; 2: it was stopped, for it wants the terminal; 0: neither. */
static int look(pid_t pid, int *ret_status)
{
    pid_t got = waitpid(pid, ret_status, WNOHANG | WUNTRACED);

    if (got != pid)
        return 0;
    if (!WIFSTOPPED(*ret_status))
        return 1;
    return WSTOPSIG(*ret_status) == SIGTTIN || WSTOPSIG(*ret_status) == SIGTTOU ? 2 : 0;
}

/* Ends it with all that it started: what is not through after a while is killed. */
static void end_group(pid_t pid)
{
    uint64_t until = now_ns() + GRACE_NS;
    const struct timespec pause = {0, 10000000};
    bool killed = false;
    int status;

    kill(-pid, SIGTERM);
    kill(-pid, SIGCONT);
    while (kill(-pid, 0) == 0) { /* also while it is not reaped */
        waitpid(pid, &status, WNOHANG);
        if (!killed && now_ns() > until) {
            kill(-pid, SIGKILL);
            killed = true;
        } else if (now_ns() > until + GRACE_NS) {
            return; /* in the kernel, and will not come back */
        }
        nanosleep(&pause, NULL);
    }
}

static int wants_terminal(pid_t pid, const char *name, struct spur_error *e)
{
    end_group(pid);
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

/* SIGINT and SIGTERM, which are blocked, end it. */
static int await(pid_t pid, const char *name, int *ret_signal, struct spur_error *e)
{
    const struct timespec pause = {0, 50000000}; /* for a child's end that is not told */
    sigset_t signals;
    int status, state;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    while (!(state = look(pid, &status))) {
        int signal = sigtimedwait(&signals, NULL, &pause);

        if (signal != SIGINT && signal != SIGTERM)
            continue;
        end_group(pid);
        *ret_signal = signal;
        return 0;
    }
    return state == 2 ? wants_terminal(pid, name, e) : judge(status, name, e);
}

int sweep_prepare(const char *command, const char *value, int *ret_signal, struct spur_error *e)
{
    sigset_t child, before;
    char **words;
    pid_t pid;
    int r = plan_command_words(command, value, &words, e);

    *ret_signal = 0;
    if (r < 0)
        return r;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    r = spawn(words, &pid, e);
    if (!r)
        r = await(pid, words[0], ret_signal, e);
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
