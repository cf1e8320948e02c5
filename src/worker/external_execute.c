/* SPDX-License-Identifier: MIT */
/* Starts another program, keeps what it prints, and sees that it never outlives the trial. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/external.h"

#define TICK_NS     100000000ull
#define MOST_OUTPUT (16u << 20)

struct process {
    pid_t pid;
    int out, err;
    char *output;
    size_t n_output, size;
    struct external_end *end;
};

/* ------------------------------------------------------------------------------------------------
 * Starting
 */

/* After fork: only what is safe there. Everything but the standard descriptors closes; the group is the worker's. */
static void become(char **words, const int *out, const int *err, int report, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY);
    int why;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && null >= 0 && dup2(null, 0) >= 0 && dup2(out[1], 1) >= 0 && dup2(err[1], 2) >= 0) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
        execv(words[0], words);
    }
    why = errno;
    if (write(report, &why, sizeof(why)) < 0)
        _exit(126);
    _exit(127);
}

static void close_pair(int *pair)
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static int cannot_start(const char *program, int err, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "program", "%s cannot be started: %s", program, strerror(err));
    error_remedy(e, "name an executable file of this machine's kind");
    return -EPERM;
}

/* Its standard output and error on two pipes; a third one tells whether it was started. */
static int start(struct process *p, char **words, struct spur_error *e)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1}, why = 0;
    pid_t self = getpid();

    p->pid = -1;
    if (!pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC) && !pipe2(report, O_CLOEXEC)) {
        p->pid = fork();
        if (!p->pid)
            become(words, out, err, report[1], self);
    }
    if (p->pid < 0) {
        why = errno;
        close_pair(out);
        close_pair(err);
        close_pair(report);
        return error_errno(e, why, "fork", "starting %s", words[0]);
    }
    close(out[1]);
    close(err[1]);
    close(report[1]);
    p->out = out[0];
    p->err = err[0];
    if (read(report[0], &why, sizeof(why)) != sizeof(why))
        why = 0;
    close(report[0]);
    return why ? cannot_start(words[0], why, e) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * What it prints
 */

static int keep_output(struct process *p, const char *text, size_t n)
{
    if (p->n_output + n + 1 > p->size) {
        size_t size = p->size ? 2 * p->size : 65536;
        char *grown = size > MOST_OUTPUT ? NULL : realloc(p->output, size);

        if (!grown)
            return -ENOBUFS;
        p->output = grown;
        p->size = size;
    }
    memcpy(p->output + p->n_output, text, n);
    p->n_output += n;
    p->output[p->n_output] = 0;
    return 0;
}

/* The end of it is kept: the last lines say why. */
static void keep_errors(struct external_end *end, const char *text, size_t n)
{
    size_t have = strlen(end->errors), room = sizeof(end->errors) - 1;

    if (n > room) {
        text += n - room;
        n = room;
    }
    if (have + n > room) {
        memmove(end->errors, end->errors + have + n - room, room - n);
        have = room - n;
    }
    memcpy(end->errors + have, text, n);
    end->errors[have + n] = 0;
    for (size_t i = have; i < have + n; i++)
        if (!end->errors[i])
            end->errors[i] = ' ';
}

/* False: that pipe is at its end. */
static bool drain(struct process *p, int fd, int *ret_error)
{
    char text[32768]; /* less than half of what output grows by */
    ssize_t n = read(fd, text, sizeof(text));

    if (n < 0)
        return errno == EINTR;
    if (n && fd == p->err)
        keep_errors(p->end, text, (size_t)n);
    else if (n && keep_output(p, text, (size_t)n) < 0)
        *ret_error = -ENOBUFS;
    return n > 0;
}

/* ------------------------------------------------------------------------------------------------
 * Signs of life
 */

static uint64_t sum_of(const char *text, const char *const *keys)
{
    uint64_t sum = 0;

    for (size_t i = 0; keys[i]; i++) {
        const char *at = strstr(text, keys[i]);

        sum += at ? strtoull(at + strlen(keys[i]), NULL, 10) : 0;
    }
    return sum;
}

static size_t read_proc(pid_t pid, const char *name, char *ret, size_t size)
{
    char path[64];
    FILE *f;
    size_t n = 0;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    f = fopen(path, "re");
    if (f) {
        n = fread(ret, 1, size - 1, f);
        fclose(f);
    }
    ret[n] = 0;
    return n;
}

/* What it has read and computed so far. */
static uint64_t activity(pid_t pid)
{
    static const char *const keys[] = {"rchar: ", "syscr: ", "read_bytes: ", NULL};
    unsigned long long user = 0, system = 0;
    char text[2048];
    uint64_t sum;

    read_proc(pid, "io", text, sizeof(text));
    sum = sum_of(text, keys);
    if (read_proc(pid, "stat", text, sizeof(text)) && strrchr(text, ')'))
        sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
    return sum + user + system;
}

/* Until the planned end a program may be silent; after it, it has to end. */
static uint64_t life(const struct process *p, uint64_t began_ns, uint64_t planned_ns)
{
    uint64_t spent = now_ns() - began_ns;

    if (!planned_ns)
        return activity(p->pid);
    return (spent < planned_ns ? spent : planned_ns) / TICK_NS + 1;
}

/* ------------------------------------------------------------------------------------------------ */

static void stop(struct process *p)
{
    kill(p->pid, SIGKILL);
}

/* Until both pipes are at their end; -ECANCELED, -ETIMEDOUT, -ENOBUFS. */
static int attend(struct process *p, uint64_t planned_ns, uint64_t limit_ns, const char *phase,
                  const struct external_hooks *hooks)
{
    struct pollfd fds[2] = {{p->out, POLLIN, 0}, {p->err, POLLIN, 0}};
    uint64_t began = now_ns(), next = began + TICK_NS;
    int r = 0;

    while (!r && (fds[0].fd >= 0 || fds[1].fd >= 0)) {
        if (poll(fds, 2, (int)(TICK_NS / 1000000)) > 0)
            for (int i = 0; i < 2; i++)
                if (fds[i].revents && !drain(p, fds[i].fd, &r))
                    fds[i].fd = -1;
        if (limit_ns && now_ns() - began > limit_ns)
            r = -ETIMEDOUT;
        if (now_ns() < next || !hooks)
            continue;
        next = now_ns() + TICK_NS;
        if (hooks->tick(hooks->context, phase, life(p, began, planned_ns)))
            r = -ECANCELED;
    }
    return r;
}

/* It closed its pipes, or was killed: it may still take its time to end. */
static void await(struct process *p, const char *phase, const struct external_hooks *hooks)
{
    pid_t got;

    while ((got = wait4(p->pid, &p->end->status, WNOHANG, &p->end->usage)) == 0 || (got < 0 && errno == EINTR)) {
        struct timespec pause = {0, 2000000};

        nanosleep(&pause, NULL);
        if (hooks && hooks->tick(hooks->context, phase, 0))
            stop(p);
    }
}

static int reword(int r, const char *program, uint64_t limit_ns, struct spur_error *e)
{
    if (r == -ECANCELED)
        return error_errno(e, ECANCELED, "external", "%s was stopped", program);
    if (r == -ENOBUFS)
        return error_errno(e, ENOBUFS, "external", "%s printed more than %u bytes, and was killed", program,
                           MOST_OUTPUT);
    if (r == -ETIMEDOUT)
        return error_errno(e, ETIMEDOUT, "external", "%s did not end within %g s, and was killed", program,
                           (double)limit_ns / 1e9);
    return r;
}

int external_execute(char **words, uint64_t planned_ns, uint64_t limit_ns, const char *phase,
                     const struct external_hooks *hooks, struct external_end *ret, struct spur_error *e)
{
    struct process p = {.out = -1, .err = -1, .end = ret};
    uint64_t began = now_ns();
    int r;

    *ret = (struct external_end){0};
    r = start(&p, words, e);
    if (!r)
        r = reword(attend(&p, planned_ns, limit_ns, phase, hooks), words[0], limit_ns, e);
    if (r < 0 && p.pid > 0)
        stop(&p);
    if (p.pid > 0)
        await(&p, phase, hooks);
    ret->wall_s = (double)(now_ns() - began) / 1e9;
    if (p.out >= 0)
        close(p.out);
    if (p.err >= 0)
        close(p.err);
    ret->output = p.output ?: strdup("");
    if (r < 0 || !ret->output) {
        free(ret->output);
        ret->output = NULL;
        return r ? r : error_errno(e, ENOMEM, "strdup", "%s", words[0]);
    }
    return 0;
}
