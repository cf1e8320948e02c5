/* SPDX-License-Identifier: MIT */
/* Looking at what may crash or hang: in a process of its own, which is left behind if even SIGKILL does not end it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/error.h"
#include "doctor/check.h"

#define MOST_BYTES   (8u << 20)
#define KILL_WAIT_NS 300000000ull

static void run_child(int fd, json_t *(*make)(void *), void *context)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    json_t *made;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (null >= 0) { /* what libraries print is no part of the report */
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
    }
    made = make(context);
    _exit(made && json_dumpfd(made, fd, JSON_COMPACT) == 0 ? 0 : 1);
}

int child_start(struct child *c, json_t *(*make)(void *), void *context, struct spur_error *e)
{
    int pair[2];

    *c = (struct child){.fd = -1};
    if (pipe2(pair, O_CLOEXEC) < 0)
        return error_errno(e, errno, "pipe", "a child process");
    c->pid = fork();
    if (c->pid == 0)
        run_child(pair[1], make, context);
    close(pair[1]);
    if (c->pid < 0) {
        close(pair[0]);
        return error_errno(e, errno, "fork", "a child process");
    }
    c->fd = pair[0];
    return 0;
}

/* Appends what is there; 1: more may come, 0: the end, -errno. */
static int take(int fd, char **text, size_t *used, uint64_t deadline_ns)
{
    uint64_t now = now_ns();
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    char *grown;
    ssize_t n;

    if (poll(&poller, 1, now < deadline_ns ? (int)((deadline_ns - now) / 1000000) + 1 : 0) < 1) /* what came counts */
        return now < deadline_ns ? 1 : -ETIMEDOUT;
    grown = *used < MOST_BYTES ? realloc(*text, *used + 65536) : NULL;
    if (!grown)
        return -ENOMEM;
    *text = grown;
    n = read(fd, grown + *used, 65536);
    *used += n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && errno == EINTR) ? 1 : n < 0 ? -errno : 0;
}

static bool reap(pid_t pid, int *status, uint64_t deadline_ns)
{
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (now_ns() >= deadline_ns)
            return false;
        usleep(2000);
    }
    return true;
}

static int judge(int r, bool ended, int status, struct spur_error *e)
{
    if (r == -ETIMEDOUT) {
        error_foreign(e, SPUR_SOURCE_ERRNO, ETIMEDOUT, r, "child", "no answer within the deadline%s",
                      ended ? "" : ", and the process that asked cannot even be killed");
        return r;
    }
    if (!r && WIFSIGNALED(status))
        return error_foreign(e, SPUR_SOURCE_ERRNO, EIO, -EIO, "child", "crashed by SIG%s",
                             sigabbrev_np(WTERMSIG(status)) ?: "?");
    return r ? error_errno(e, -r, "child", "its answer could not be read") : 0;
}

int child_finish(struct child *c, uint64_t deadline_ns, json_t **ret, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    size_t used = 0;
    bool ended;
    int status = 0, r;

    while ((r = take(c->fd, &text, &used, deadline_ns)) == 1)
        ;
    close(c->fd);
    if (r)
        kill(c->pid, SIGKILL);
    ended = reap(c->pid, &status, now_ns() + (r ? KILL_WAIT_NS : 10 * KILL_WAIT_NS));
    *ret = r || !text ? NULL : json_loadb(text, used, 0, NULL);
    if (*ret)
        return 0;
    r = judge(r, ended, status, e);
    return r ? r : error_foreign(e, SPUR_SOURCE_ERRNO, EIO, -EIO, "child", "it ended without an answer");
}
