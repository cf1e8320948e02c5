/* SPDX-License-Identifier: MIT */
#include "sweep/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"

#define GRACE_NS 2000000000ull /* between SIGTERM and SIGKILL, and after that */

/* ------------------------------------------------------------------------------------------------
 * The end of a group
 */

static bool lives(pid_t group)
{
    while (waitpid(-group, NULL, WNOHANG) > 0)
        continue;
    return kill(-group, 0) == 0 || errno == EPERM;
}

static void rest(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

bool guard_end_group(pid_t group)
{
    uint64_t until = now_ns() + GRACE_NS;
    bool killed = false, may = kill(-group, SIGTERM) == 0;

    kill(-group, SIGCONT);
    while (lives(group)) {
        if (!may || (killed && now_ns() > until))
            return true;
        if (!killed && now_ns() > until) {
            kill(-group, SIGKILL);
            killed = true;
            until += GRACE_NS;
        }
        rest(10000000);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * The command
 */

/* Should the guard be killed, the kernel ends at least the command's first process. */
static void become(const char *file, char **words, pid_t guard, int report)
{
    int null = open("/dev/null", O_RDONLY), why;
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    if (getppid() == guard && null >= 0 && dup2(null, 0) >= 0 && dup2(2, 1) >= 0) {
        if (null)
            close(null);
        signal(SIGXFSZ, SIG_DFL); /* spur ignores it; a program would inherit that */
        sigprocmask(SIG_SETMASK, &none, NULL);
        execv(file, words);
    }
    why = errno;
    if (write(report, &why, sizeof(why)) < 0)
        _exit(126);
    _exit(127);
}

/* 0 with the process, or a positive errno. */
static int start_command(const char *file, char **words, pid_t *ret_pid)
{
    pid_t self = getpid();
    int report[2], why = 0;

    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    *ret_pid = fork();
    if (*ret_pid == 0)
        become(file, words, self, report[1]);
    why = *ret_pid < 0 ? errno : 0;
    close(report[1]);
    if (!why && read(report[0], &why, sizeof(why)) != sizeof(why))
        why = 0;
    close(report[0]);
    if (why && *ret_pid > 0)
        waitpid(*ret_pid, NULL, 0);
    return why;
}

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

/* ------------------------------------------------------------------------------------------------
 * The guard
 */

static void tell(int fd, enum guard_kind kind, int value)
{
    const struct guard_word word = {kind, value};

    while (send(fd, &word, sizeof(word), MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

/* Nobody waits for the end of a guard's output. */
static void be_quiet(void)
{
    _cleanup_fd_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
}

/* Waits for the command's end, or for spur's, which has nothing to say but that. */
static void pause_for(int fd, int signals)
{
    struct pollfd fds[2] = {{fd, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo info;

    if (poll(fds, 2, 50) > 0 && fds[1].revents && read(signals, &info, sizeof(info)) < 0)
        rest(1000000);
}

static bool is_over(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, 0) > 0 && p.revents;
}

/* Ends the command, and stays until nothing of it is left: with the guard the lock of the results goes. */
static void end_command(int fd, enum guard_kind kind, pid_t pid)
{
    bool left = guard_end_group(pid);

    tell(fd, kind, left);
    while (left && lives(pid))
        rest(50000000);
}

static void attend(int fd, int signals, pid_t pid)
{
    for (;;) {
        int status, state = look(pid, &status);

        if (state == 1) {
            tell(fd, GUARD_ENDED, status);
            return;
        }
        if (state == 2 || is_over(fd)) {
            end_command(fd, state == 2 ? GUARD_TERMINAL : GUARD_OVER, pid);
            return;
        }
        pause_for(fd, signals);
    }
}

/* What the command leaves behind becomes a child of the guard's until that ends, so that no zombie counts as living. */
static void guard_main(const char *file, char **words, int fd)
{
    sigset_t child;
    pid_t pid = 0;
    int why;

    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "prepare-guard"); /* killall spur is not meant for it */
    why = start_command(file, words, &pid);
    if (why) {
        tell(fd, GUARD_FAILED, why);
    } else {
        be_quiet();
        tell(fd, GUARD_STARTED, pid);
        attend(fd, signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), pid);
    }
    _exit(0);
}

/* ------------------------------------------------------------------------------------------------
 * spur's side
 */

int guard_start(const char *file, char **words, struct guard *ret, struct spur_error *e)
{
    int pair[2];

    *ret = (struct guard){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(e, errno, "socketpair", "prepare command %s", words[0]);
    ret->pid = fork();
    if (ret->pid == 0) {
        close(pair[0]);
        guard_main(file, words, pair[1]);
    }
    close(pair[1]);
    if (ret->pid < 0) {
        int r = error_errno(e, errno, "fork", "prepare command %s", words[0]);

        close(pair[0]);
        return r;
    }
    ret->fd = pair[0];
    return 0;
}

int guard_hear(struct guard *g, struct guard_word *ret)
{
    ssize_t n = recv(g->fd, ret, sizeof(*ret), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n != (ssize_t)sizeof(*ret))
        return -EPIPE;
    if (ret->kind == GUARD_STARTED)
        g->command = ret->value;
    return 1;
}

void guard_end(struct guard *g)
{
    shutdown(g->fd, SHUT_WR);
}

void guard_free(struct guard *g, bool stays)
{
    close(g->fd);
    while (!stays && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
