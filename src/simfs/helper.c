/* SPDX-License-Identifier: MIT */
/*
 * A process beside the server. It measures what a request costs here besides what the model asks for, and then waits:
 * if the server dies without a word (kill -9), it takes the dead mount away.
 */
#include "simfs/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"

#define N_SAMPLES 48
#define SMALL     4096u
#define PATIENCE  60000 /* ms for all of the calibration */

struct measured {
    struct server_cost cost;
    uint64_t device;
    int error; /* positive errno */
};

/* ------------------------------------------------------------------------------------------------
 * In the helper
 */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* What lone requests take more than CALIBRATION_NS. Near the least: what else runs here can only add to it,
 * and too much taken off would make a storage that is faster than it says. */
static int measure(int fd, uint8_t *buffer, uint64_t bytes, uint64_t file_bytes, int64_t *ret_ns)
{
    int64_t ns[N_SAMPLES];

    for (unsigned i = 0; i < N_SAMPLES; i++) {
        uint64_t offset = (i * bytes) % (round_down(file_bytes - bytes, bytes) + bytes);
        uint64_t begin = now_ns();

        if (pread(fd, buffer, bytes, (off_t)offset) != (ssize_t)bytes)
            return errno ? errno : EIO;
        ns[i] = (int64_t)(now_ns() - begin) - CALIBRATION_NS;
    }
    qsort(ns, N_SAMPLES, sizeof(ns[0]), by_value);
    *ret_ns = ns[N_SAMPLES / 16] > 0 ? ns[N_SAMPLES / 16] : 0;
    return 0;
}

static int calibrate_file(int fd, const struct simfs_options *o, struct server_cost *ret)
{
    uint64_t large = o->model.rpc_bytes < o->file_bytes ? o->model.rpc_bytes : round_down(o->file_bytes, SMALL);
    int64_t small_ns = 0, large_ns;
    uint8_t *buffer;
    int r;

    if (o->file_bytes < SMALL)
        return 0; /* nothing to measure with; nothing is taken off */
    buffer = aligned_alloc(SMALL, large);
    if (!buffer)
        return ENOMEM;
    memset(buffer, 0, large);
    errno = 0;
    r = measure(fd, buffer, SMALL, o->file_bytes, &small_ns);
    large_ns = small_ns;
    if (!r && large > 4 * SMALL)
        r = measure(fd, buffer, large, o->file_bytes, &large_ns);
    free(buffer);
    ret->request_ns = (uint64_t)small_ns;
    if (large_ns > small_ns)
        ret->mib_ns = (uint64_t)(large_ns - small_ns) * (1u << 20) / (large - SMALL);
    return r;
}

static struct measured calibrate(const struct simfs_options *o)
{
    struct measured m = {.error = 0};
    struct spur_error e = {0};
    char name[4200];
    struct stat st;
    int fd;

    snprintf(name, sizeof(name), "%s/data.0", o->mount);
    fd = file_open_fd(name, false, true, &e);
    if (fd < 0 || fstat(fd, &st) < 0) {
        m.error = fd < 0 ? -fd : errno;
        return m;
    }
    m.device = st.st_dev;
    m.error = calibrate_file(fd, o, &m.cost);
    close(fd);
    return m;
}

static void forget_output(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
}

/* 'm': the mount stands. 'd': it is gone. Nothing more: the server is. */
static void helper_main(int fd, const struct simfs_options *o)
{
    struct measured m = {.error = 0};
    char word;

    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    forget_output();
    if (chdir("/") < 0)
        return;
    while (read(fd, &word, 1) == 1 && word == 'm') {
        m = calibrate(o);
        if (write(fd, &m, sizeof(m)) != sizeof(m))
            break;
        word = 0;
    }
    if (word != 'd')
        mount_detach(o->mount, m.device);
}

/* ------------------------------------------------------------------------------------------------
 * In the server
 */

int helper_start(struct helper *h, const struct simfs_options *o, struct spur_error *e)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(e, errno, "socketpair", "for calibration");
    h->pid = fork();
    if (h->pid == 0) {
        close(pair[0]);
        helper_main(pair[1], o);
        _exit(0);
    }
    close(pair[1]);
    h->fd = pair[0];
    if (h->pid > 0)
        return 0;
    close(pair[0]);
    h->fd = -1;
    return error_errno(e, errno, "fork", "for calibration");
}

int helper_calibrate(struct helper *h, struct server_cost *ret_cost, uint64_t *ret_device, struct spur_error *e)
{
    struct pollfd p = {.fd = h->fd, .events = POLLIN};
    struct measured m;

    if (write(h->fd, "m", 1) != 1 || poll(&p, 1, PATIENCE) != 1 || read(h->fd, &m, sizeof(m)) != sizeof(m))
        return error_errno(e, ETIMEDOUT, "calibration", "the mount does not answer");
    if (m.error)
        return error_errno(e, m.error, "calibration", "reading data.0");
    *ret_cost = m.cost;
    *ret_device = m.device;
    return 0;
}

void helper_end(struct helper *h)
{
    if (h->fd < 0)
        return;
    if (write(h->fd, "d", 1) == 1)
        waitpid(h->pid, NULL, 0);
    close(h->fd);
    h->fd = -1;
}
