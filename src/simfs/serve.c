/* SPDX-License-Identifier: MIT */
/* From the options to a mount that answers, and to its end. */
#include "simfs/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "core/error.h"
#include "core/util.h"

struct service {
    struct server server;
    struct helper helper;
    pthread_t main, keeper;
    atomic_bool done; /* the session's loop has ended */
    int status_fd;    /* to who waits for the mount; -1: nobody */
    pid_t parent;     /* whose death ends a foreground server */
    simfs_ready_fn ready;
    void *context;
    struct spur_error error;
    int result;
};

/* ------------------------------------------------------------------------------------------------
 * Parts
 */

static int open_parts(struct server *s, struct spur_error *e)
{
    const struct simfs_options *o = s->options;
    int r = log_open(&s->log, o->log, e);

    if (!r && o->faults)
        r = faults_parse(o->faults, o->model.n_servers, o->n_files, &s->faults, e);
    if (!r)
        r = backing_open(&s->backing, o, e);
    s->file_bytes = calloc(o->n_files, sizeof(*s->file_bytes));
    if (!r && !s->file_bytes)
        r = error_errno(e, ENOMEM, "calloc", "files");
    for (uint64_t i = 0; !r && i < o->n_files; i++)
        s->file_bytes[i] = o->file_bytes;
    model_init(&s->model, &o->model);
    stats_init(&s->stats);
    pthread_mutex_init(&s->mutex, NULL);
    clock_gettime(CLOCK_REALTIME, &s->mtime);
    s->facts = (struct stats_facts){.latency_ns = o->model.op[MODEL_READ].latency_ns,
                                    .rate = o->model.op[MODEL_READ].rate,
                                    .rpc_bytes = o->model.rpc_bytes,
                                    .n_servers = o->model.n_servers};
    return r;
}

static void close_parts(struct server *s)
{
    request_free_spare(s);
    faults_free(&s->faults);
    backing_close(&s->backing);
    free(s->file_bytes);
    stats_destroy(&s->stats);
    pthread_mutex_destroy(&s->mutex);
}

/* ------------------------------------------------------------------------------------------------
 * Mounting. libfuse prints what goes wrong: the last of it is kept for our own message.
 */

static char last_words[160];

static void keep_words(enum fuse_log_level level, const char *format, va_list ap)
{
    char line[160];

    vsnprintf(line, sizeof(line), format, ap);
    line[strcspn(line, "\n")] = 0;
    if (level <= FUSE_LOG_ERR && line[0])
        snprintf(last_words, sizeof(last_words), "%s", line);
}

static int add_options(struct fuse_args *args, const struct simfs_options *o)
{
    char text[300];

    snprintf(text, sizeof(text), "-omax_read=%llu,default_permissions%s%s%s", (unsigned long long)o->model.rpc_bytes,
             geteuid() ? "" : ",allow_other",
             o->device ? ",blkdev,blksize=4096,fsname=" : ",fsname=spur-simfs,subtype=spur",
             o->device ? o->device : "");
    return fuse_opt_add_arg(args, "spur") || fuse_opt_add_arg(args, text) ? -ENOMEM : 0;
}

/* fusermount3 prints for itself. */
static int mount_quietly(struct fuse_session *session, const char *mount)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = dup(2), r;

    if (null >= 0)
        dup2(null, 2);
    r = fuse_session_mount(session, mount);
    if (kept >= 0)
        dup2(kept, 2);
    close(null);
    close(kept);
    return r;
}

static int mount_session(struct server *s, struct spur_error *e)
{
    struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
    int r;

    fuse_set_log_func(keep_words);
    if (add_options(&args, s->options) == 0)
        s->session = fuse_session_new(&args, &tree_ops, sizeof(tree_ops), s);
    fuse_opt_free_args(&args);
    if (!s->session)
        return error_errno(e, ENOMEM, "fuse_session_new", "%s", last_words);
    r = mount_quietly(s->session, s->options->mount);
    if (r == 0)
        return 0;
    fuse_session_destroy(s->session);
    s->session = NULL;
    error_spur(e, SPUR_CODE_REFUSED, "mount", "%s: it cannot be mounted: %s", s->options->mount,
               last_words[0] ? last_words : "FUSE is not permitted here");
    error_remedy(e, "run it as root, or with the package fuse3; a container needs --cap-add SYS_ADMIN");
    return -EPERM;
}

/* ------------------------------------------------------------------------------------------------
 * The keeper: a thread that says when the mount answers, looks after hung requests, and takes the signals
 */

static void stop_session(struct service *v)
{
    struct server *s = &v->server;

    pthread_mutex_lock(&s->mutex);
    s->stopping = true;
    pthread_mutex_unlock(&s->mutex);
    fuse_session_exit(s->session);
    while (!atomic_load(&v->done)) { /* its loop sleeps until a signal; one may come too early */
        pthread_kill(v->main, SIGUSR1);
        usleep(2000);
    }
}

/* Who waits for the mount in vain has gone: nobody would know of it. */
static int say_ready(struct service *v, int result)
{
    struct spur_error e = result ? v->error : (struct spur_error){0};
    ssize_t n;

    if (v->status_fd < 0) {
        if (!result && v->ready)
            v->ready(v->context, v->server.options);
        return result;
    }
    n = write(v->status_fd, &e, sizeof(e));
    close(v->status_fd);
    v->status_fd = -1;
    return n == sizeof(e) ? result : -EPIPE;
}

static int calibrate(struct service *v)
{
    struct server *s = &v->server;
    struct server_cost cost;
    uint64_t device;
    int r = helper_calibrate(&v->helper, &cost, &device, &v->error);

    if (r < 0)
        return r;
    pthread_mutex_lock(&s->mutex);
    s->cost = cost;
    s->facts.connection = (uint64_t)major(device) << 20 | minor(device);
    pthread_mutex_unlock(&s->mutex);
    return 0;
}

static void *keeper_main(void *arg)
{
    const struct timespec tick = {.tv_nsec = 100000000};
    struct service *v = arg;
    sigset_t ends;
    int r = calibrate(v);

    r = say_ready(v, r);
    v->result = r;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGUSR2); /* main: it is over */
    while (!r && !atomic_load(&v->done)) {
        int number = sigtimedwait(&ends, NULL, &tick);

        request_release(&v->server);
        if (number > 0 && number != SIGUSR2)
            break;
    }
    if (!atomic_load(&v->done))
        stop_session(v);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------
 * Serving
 */

static unsigned at_least_two(long n, unsigned most)
{
    return n < 2 ? 2 : n > (long)most ? most : (unsigned)n;
}

static int loop(struct server *s)
{
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    unsigned n = at_least_two(sysconf(_SC_NPROCESSORS_ONLN), 16);
    int r;

    if (!config)
        return -ENOMEM;
    fuse_loop_cfg_set_clone_fd(config, 1);
    fuse_loop_cfg_set_max_threads(config, n);
    fuse_loop_cfg_set_idle_threads(config, n);
    r = fuse_session_loop_mt(s->session, config);
    fuse_loop_cfg_destroy(config);
    return r;
}

static void wake(int number) {}

static void set_signals(void)
{
    struct sigaction a = {.sa_handler = wake};
    sigset_t ends;

    sigaction(SIGUSR1, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
}

static int start_threads(struct service *v)
{
    struct server *s = &v->server;
    int r = log_start(&s->log);

    if (!r)
        r = queue_start(&s->queue, at_least_two(sysconf(_SC_NPROCESSORS_ONLN) / 2, 8), request_answer, s);
    if (!r)
        r = -pthread_create(&v->keeper, NULL, keeper_main, v);
    return r ? error_errno(&v->error, -r, "pthread_create", "threads") : 0;
}

/* Everything pending is answered before the descriptors go: nobody stays stuck. */
static int serve_mounted(struct service *v)
{
    struct server *s = &v->server;
    int r, lost;

    v->main = pthread_self();
    set_signals();
    r = start_threads(v);
    if (r < 0)
        return r;
    loop(s);
    atomic_store(&v->done, true);
    pthread_kill(v->keeper, SIGUSR2);
    pthread_join(v->keeper, NULL);
    pthread_mutex_lock(&s->mutex);
    s->stopping = true;
    pthread_mutex_unlock(&s->mutex);
    request_release(s);
    queue_stop(&s->queue);
    lost = log_close(&s->log);
    if (!v->result && lost)
        v->result = error_errno(&v->error, -lost, "write", "--log: %s: lines are missing", s->options->log);
    return v->result;
}

static int serve_here(struct service *v)
{
    struct server *s = &v->server;
    int r = open_parts(s, &v->error);

    if (!r)
        r = helper_start(&v->helper, s->options, &v->error);
    s->calibrator = v->helper.pid;
    if (!r)
        r = mount_session(s, &v->error);
    if (!r) {
        r = serve_mounted(v);
        fuse_session_unmount(s->session);
        fuse_session_destroy(s->session);
    }
    helper_end(&v->helper);
    close_parts(s);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * A process of its own
 */

static void leave_terminal(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
}

static void background_main(struct service *v)
{
    int r;

    setsid();
    signal(SIGPIPE, SIG_IGN);
    leave_terminal();
    r = serve_here(v);
    if (r < 0)
        say_ready(v, r);
    _exit(r < 0);
}

static int serve_in_background(struct service *v, struct spur_error *e)
{
    struct spur_error said;
    int pair[2];
    ssize_t n;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(e, errno, "socketpair", "for the server");
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        v->status_fd = pair[1];
        background_main(v);
    }
    close(pair[1]);
    n = pid > 0 ? read(pair[0], &said, sizeof(said)) : -1;
    close(pair[0]);
    if (pid < 0)
        return error_errno(e, errno, "fork", "for the server");
    if (n != sizeof(said))
        return error_errno(e, EIO, "simfs", "the server ended before the mount answered");
    if (said.detail[0]) {
        *e = said;
        waitpid(pid, NULL, 0);
        return -EIO;
    }
    if (v->ready)
        v->ready(v->context, v->server.options);
    return 0;
}

int simfs_serve(const struct simfs_options *o, simfs_ready_fn ready, void *context, struct spur_error *e)
{
    struct service *v = calloc(1, sizeof(*v));
    int r = v ? mount_check(o, e) : error_errno(e, ENOMEM, "calloc", "the server");

    if (r < 0) {
        free(v);
        return r;
    }
    v->server.options = o;
    v->server.log.fd = -1;
    v->helper.fd = v->status_fd = -1;
    v->ready = ready;
    v->context = context;
    v->parent = getppid();
    if (o->foreground) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        r = getppid() == v->parent ? serve_here(v) : -ESRCH;
        if (r < 0)
            *e = v->error;
    } else {
        r = serve_in_background(v, e);
    }
    free(v);
    return r;
}
