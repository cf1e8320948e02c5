/* SPDX-License-Identifier: MIT */
#include "report/chart_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "core/util.h"
#include "report/html_text.h"

#define MAX_OUTPUT (256u << 20)

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char *found = NULL;

    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");

        if (n && asprintf(&found, "%.*s/%s", (int)n, p, name) < 0)
            return NULL;
        if (n && !access(found, X_OK))
            return found;
        free(n ? found : NULL);
        p += n + (p[n] == ':');
    }
    return NULL;
}

char *chart_gnuplot_find(void)
{
    const char *named = getenv("GNUPLOT");

    if (!named || !*named)
        return find_in_path("gnuplot");
    if (!strchr(named, '/'))
        return find_in_path(named);
    return access(named, X_OK) ? NULL : strdup(named);
}

/* ------------------------------------------------------------------------------------------------
 * Its process
 */

struct process {
    pid_t pid;
    int input, output, errors; /* our ends; -1: closed */
    size_t sent;
    FILE *text;
    char said[1024]; /* the beginning of stderr */
    size_t n_said;
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The environment without what changes how gnuplot draws or writes numbers. */
static char **make_environment(void)
{
    size_t n = 0, kept = 0;
    char **ret;

    while (environ[n])
        n++;
    ret = calloc(n + 2, sizeof(*ret));
    for (size_t i = 0; ret && i < n; i++)
        if (strncmp(environ[i], "LC_", 3) && strncmp(environ[i], "LANG=", 5) && strncmp(environ[i], "GNUTERM=", 8) &&
            strncmp(environ[i], "GNUPLOT_", 8))
            ret[kept++] = environ[i];
    if (ret)
        ret[kept] = "LC_ALL=C";
    return ret;
}

static char **make_arguments(const struct chart_gnuplot_run *run)
{
    size_t n = 0;
    char **ret;

    while (run->arguments[n])
        n++;
    ret = calloc(n + 3, sizeof(*ret));
    if (!ret)
        return NULL;
    ret[0] = (char *)run->program;
    ret[1] = "-d"; /* no start-up files */
    memcpy(ret + 2, run->arguments, n * sizeof(*ret));
    return ret;
}

static int set_actions(posix_spawn_file_actions_t *actions, const int theirs[3], int directory)
{
    int r = 0;

    for (int i = 0; i < 3 && !r; i++)
        r = posix_spawn_file_actions_adddup2(actions, theirs[i], i);
    if (!r && directory >= 0)
        r = posix_spawn_file_actions_addfchdir_np(actions, directory);
    return r;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, defaults;
    int r;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!r)
        r = posix_spawnattr_setpgroup(attributes, 0);
    if (!r)
        r = posix_spawnattr_setsigmask(attributes, &none);
    return r ? r : posix_spawnattr_setsigdefault(attributes, &defaults);
}

/* Returns 0 or a positive errno, as posix_spawn does. */
static int spawn(const struct chart_gnuplot_run *run, const int theirs[3], pid_t *ret_pid)
{
    _cleanup_free_ char **arguments = make_arguments(run), **environment = make_environment();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int r;

    if (!arguments || !environment || posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    r = set_actions(&actions, theirs, run->directory);
    if (!r)
        r = set_attributes(&attributes);
    if (!r)
        r = posix_spawn(ret_pid, run->program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* A socket for its input: writing to a pipe whose reader is gone would raise SIGPIPE in whoever calls this library. */
static int start(const struct chart_gnuplot_run *run, struct process *p)
{
    int input[2] = {-1, -1}, output[2] = {-1, -1}, errors[2] = {-1, -1};
    int r = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) || pipe2(output, O_CLOEXEC) ||
        pipe2(errors, O_CLOEXEC))
        r = errno;
    if (!r)
        r = spawn(run, (const int[]){input[1], output[1], errors[1]}, &p->pid);
    close_end(&input[1]);
    close_end(&output[1]);
    close_end(&errors[1]);
    p->input = input[0];
    p->output = output[0];
    p->errors = errors[0];
    return -r;
}

/* ------------------------------------------------------------------------------------------------
 * Talking to it
 */

static void feed(struct process *p, const struct chart_gnuplot_run *run)
{
    ssize_t n = send(p->input, run->input + p->sent, run->input_length - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0)
        p->sent += (size_t)n;
    if (p->sent == run->input_length || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_end(&p->input);
}

static void take_output(struct process *p)
{
    char buffer[16384];
    ssize_t n = read(p->output, buffer, sizeof(buffer));

    if (n > 0)
        fwrite(buffer, 1, (size_t)n, p->text);
    else if (n == 0 || errno != EINTR)
        close_end(&p->output);
}

static void take_errors(struct process *p)
{
    char buffer[4096];
    ssize_t n = read(p->errors, buffer, sizeof(buffer));
    size_t room = sizeof(p->said) - 1 - p->n_said;

    if (n > 0) {
        memcpy(p->said + p->n_said, buffer, (size_t)n < room ? (size_t)n : room);
        p->n_said += (size_t)n < room ? (size_t)n : room;
    } else if (n == 0 || errno != EINTR) {
        close_end(&p->errors);
    }
}

/* One round; -ETIMEDOUT past the deadline. */
static int exchange_once(struct process *p, const struct chart_gnuplot_run *run, uint64_t deadline_ns)
{
    struct pollfd fds[] = {{p->input, POLLOUT, 0}, {p->output, POLLIN, 0}, {p->errors, POLLIN, 0}};
    uint64_t now = now_ns();
    int n;

    if (now >= deadline_ns)
        return -ETIMEDOUT;
    n = poll(fds, ARRAY_SIZE(fds), (int)((deadline_ns - now) / 1000000) + 1);
    if (n <= 0)
        return n < 0 && errno != EINTR ? -errno : 0;
    if (fds[0].revents)
        feed(p, run);
    if (fds[1].revents)
        take_output(p);
    if (fds[2].revents)
        take_errors(p);
    return (size_t)ftell(p->text) > MAX_OUTPUT ? -EFBIG : 0;
}

static int exchange(struct process *p, const struct chart_gnuplot_run *run, uint64_t deadline_ns)
{
    int r = 0;

    if (!run->input_length)
        close_end(&p->input);
    while (!r && (p->output >= 0 || p->errors >= 0))
        r = exchange_once(p, run, deadline_ns);
    return r;
}

/* It has said all it will, but may still run. */
static int wait_until(const struct process *p, uint64_t deadline_ns, int *ret_status)
{
    pid_t pid;

    while ((pid = waitpid(p->pid, ret_status, WNOHANG)) == 0) {
        if (now_ns() >= deadline_ns)
            return -ETIMEDOUT;
        usleep(500);
    }
    return pid < 0 ? -errno : 0;
}

static int end(struct process *p, int r, uint64_t deadline_ns, int *ret_status)
{
    close_end(&p->input);
    close_end(&p->output);
    close_end(&p->errors);
    if (!r)
        r = wait_until(p, deadline_ns, ret_status);
    if (r < 0) {
        kill(-p->pid, SIGKILL);
        while (waitpid(p->pid, ret_status, 0) < 0 && errno == EINTR)
            ;
    }
    return r;
}

/* gnuplot shows the line, points at the place, then says what is wrong: the last line that has letters. */
static void last_words(const struct process *p, int status, char reason[CHART_REASON])
{
    _cleanup_free_ char *text = strndup(p->said, p->n_said), *clean = NULL;
    const char *last = "";
    char *rest = text, how[48];

    for (char *line; (line = strsep(&rest, "\n"));)
        if (strlen(line) > 3)
            last = line + strspn(line, " \t");
    clean = html_clean(last);
    if (WIFSIGNALED(status))
        snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof(how), "failed with exit status %d", WEXITSTATUS(status));
    snprintf(reason, CHART_REASON, "gnuplot %s%s%s", how, clean && *clean ? ": " : "", clean ? clean : "");
}

static int judge(const struct process *p, const struct chart_gnuplot_run *run, int r, int status,
                 char reason[CHART_REASON])
{
    if (r == -ETIMEDOUT)
        snprintf(reason, CHART_REASON, "gnuplot took longer than %g s and was stopped", (double)run->limit_ns / 1e9);
    else if (r < 0)
        snprintf(reason, CHART_REASON, "gnuplot could not be talked to: %s", strerrordesc_np(-r));
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        last_words(p, status, reason);
    else
        return 0;
    return r == -ETIMEDOUT ? r : -EIO;
}

int chart_gnuplot_run(const struct chart_gnuplot_run *run, char **ret_output, size_t *ret_length,
                      char reason[CHART_REASON])
{
    struct process p = {.input = -1, .output = -1, .errors = -1};
    uint64_t deadline_ns = now_ns() + run->limit_ns;
    char *output = NULL;
    size_t length = 0;
    int r, status = 0;

    snprintf(reason, CHART_REASON, "out of memory");
    p.text = open_memstream(&output, &length);
    if (!p.text)
        return -ENOMEM;
    r = start(run, &p);
    if (r < 0) {
        snprintf(reason, CHART_REASON, "gnuplot could not be started: %s", strerrordesc_np(-r));
        close_end(&p.input);
        close_end(&p.output);
        close_end(&p.errors);
        r = -EIO;
    } else {
        r = end(&p, exchange(&p, run, deadline_ns), deadline_ns, &status);
        r = judge(&p, run, r, status, reason);
    }
    if (fclose(p.text) && !r)
        r = -ENOMEM;
    if (r < 0) {
        free(output);
        return r;
    }
    *ret_output = output;
    *ret_length = length;
    return 0;
}
