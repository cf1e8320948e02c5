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
#include <unistd.h>

#include "core/error.h"
#include "core/sha256.h"
#include "core/program.h"
#include "core/util.h"
#include "plan/plan.h"
#include "sweep/sweep.h"

#define NAP_NS   5000000       /* between looks at whether it has ended */
#define GRACE_NS 2000000000ull /* from SIGTERM to SIGKILL */

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
    posix_spawnattr_setpgroup(&attr, 0); /* what it starts itself ends with it */
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

/* SIGINT and SIGTERM are blocked during a sweep, which takes them between its steps. */
static bool signal_waits(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM));
}

/* True: it has ended, *ret_status says how; false: it runs on, @for_ns later. An error of waitpid ends it too. */
static bool wait_for(pid_t pid, uint64_t for_ns, int *ret_status, bool (*stop)(void))
{
    const struct timespec nap = {0, NAP_NS};
    uint64_t until = for_ns == UINT64_MAX ? UINT64_MAX : now_ns() + for_ns;
    pid_t r;

    while ((r = waitpid(pid, ret_status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
        if (now_ns() >= until || (stop && stop()))
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

/* With all that it started: first asked, then killed. */
static int interrupt(pid_t pid, const char *name, struct spur_error *e)
{
    int status;

    kill(-pid, SIGTERM);
    wait_for(pid, GRACE_NS, &status, NULL);
    kill(-pid, SIGKILL);
    wait_for(pid, UINT64_MAX, &status, NULL);
    return error_errno(e, EINTR, "prepare", "prepare command %s was interrupted by a signal", name);
}

static int await(pid_t pid, const char *name, struct spur_error *e)
{
    char what[300];
    int status = -1;

    if (!wait_for(pid, UINT64_MAX, &status, signal_waits))
        return interrupt(pid, name, e);
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return 0;
    snprintf(what, sizeof(what), "prepare command %s", name);
    error_process(e, status, "prepare", what, "");
    error_remedy(e, "the trials so far are kept: spur compare --resume goes on once the command works");
    return -EIO;
}

int sweep_prepare(const char *command, const char *value, struct spur_error *e)
{
    char **words;
    pid_t pid;
    int r = plan_command_words(command, value, &words, e);

    if (r < 0)
        return r;
    r = spawn(words, &pid, e);
    if (!r)
        r = await(pid, words[0], e);
    plan_words_free(words);
    return r;
}

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
