/* SPDX-License-Identifier: MIT */
/*
 * flock, for it belongs to the open file: it ends with the process however that dies, does not pass through exec
 * (O_CLOEXEC), and holds against a second store of the same process too. A fork has it too: the guard of a command
 * (sweep/guard.h), which ends that when its parent has died.
 *
 * The name is removed on release. That is free of races because a lock counts only if, once taken, the name still leads
 * to the file that was locked, and because only the holder removes the name. One who opened the file before it was
 * removed finds the name gone or leading elsewhere, and starts over.
 */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "core/error.h"
#include "core/util.h"

#define MAX_TRIES 1000
#define MARK      "spur " /* what a lock file begins with: then process id and host */
#define TEXT      128
#define WAIT_NS   5000000000ull /* for what a dead writer left: more than a guard takes to end a command */

static void read_text(int fd, char *ret)
{
    ssize_t n = pread(fd, ret, TEXT - 1, 0);

    ret[n > 0 ? n : 0] = 0;
}

/* Also one that nobody has waited for. */
static bool is_gone(pid_t pid)
{
    char name[40], text[400] = "", *end;
    _cleanup_fd_ int fd = -1;

    if (kill(pid, 0) < 0)
        return errno == ESRCH;
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    end = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
    return end && !strncmp(end, ") Z", 3);
}

/* Who is written in it: true, with *ret_gone: a process of this host that is not there any more. */
static bool read_holder(int fd, long *ret_pid, char ret_host[65], bool *ret_gone)
{
    char text[TEXT], own[65] = "?";

    read_text(fd, text);
    if (sscanf(text, MARK "%ld %64s", ret_pid, ret_host) != 2 || *ret_pid <= 0)
        return false;
    gethostname(own, sizeof(own) - 1);
    *ret_gone = !strcmp(own, ret_host) && is_gone((pid_t)*ret_pid);
    return true;
}

static int refuse_held(int fd, const char *filename, struct spur_error *e)
{
    char host[65];
    long pid = 0;
    bool gone = false, known = read_holder(fd, &pid, host, &gone);
    int r;

    if (gone) {
        r = error_spur(e, SPUR_CODE_REFUSED, "flock",
                       "%s: process %ld, which wrote it, is gone, but a prepare command that it began is not over",
                       filename, pid);
        error_remedy(e, "end that command, or wait until it has ended; spur could not end it");
    } else if (known) {
        r = error_spur(e, SPUR_CODE_REFUSED, "flock", "%s: process %ld on %s is writing it", filename, pid, host);
        error_remedy(e, "wait until process %ld has ended, or end it; spur report can read the file meanwhile", pid);
    } else {
        r = error_spur(e, SPUR_CODE_REFUSED, "flock", "%s: another process is writing it", filename);
        error_remedy(e, "wait until it has ended; spur report can read the file meanwhile");
    }
    return r;
}

/* As flock. What a writer that was killed had begun is being ended: that is waited for. */
static int lock(int fd)
{
    const struct timespec pause = {0, 10000000};
    uint64_t until = now_ns() + WAIT_NS;
    char host[65];
    bool gone = false;
    long pid;
    int r;

    while ((r = flock(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK) {
        if (!read_holder(fd, &pid, host, &gone) || !gone || now_ns() > until) {
            errno = EWOULDBLOCK;
            break;
        }
        nanosleep(&pause, NULL);
    }
    return r;
}

/* A file of that name that is not a lock is the user's. */
static int refuse_foreign(const char *name, struct spur_error *e)
{
    int r = error_spur(e, SPUR_CODE_REFUSED, "open", "%s: needed as a lock, but it is something else", name);

    error_remedy(e, "move it away, or choose another name for the results");
    return r;
}

static bool is_lock_file(int fd)
{
    char text[TEXT];
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    read_text(fd, text);
    return st.st_size == 0 || !strncmp(text, MARK, strlen(MARK));
}

static bool is_still_named(int fd, const char *name)
{
    struct stat locked, named;

    return fstat(fd, &locked) == 0 && lstat(name, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

/* For the message of one who comes second; the lock does not depend on it. */
static void write_text(int fd)
{
    char text[TEXT], host[65] = "?";
    int n;

    gethostname(host, sizeof(host) - 1);
    n = snprintf(text, sizeof(text), MARK "%ld %s\n", (long)getpid(), host);
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) < 0)
        return;
}

/* 0: held; -EAGAIN: the name was removed meanwhile, try again. */
static int try_once(const char *name, const char *filename, int *ret_fd, struct spur_error *e)
{
    int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    int r;

    if (fd < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
        return refuse_foreign(name, e);
    if (fd < 0)
        return error_errno(e, errno, "open", "%s (the lock of its one writer)", name);
    if (!is_lock_file(fd)) {
        r = refuse_foreign(name, e);
    } else if (lock(fd) < 0) {
        r = errno == EWOULDBLOCK ? refuse_held(fd, filename, e) : error_errno(e, errno, "flock", "%s", name);
        if (r != -EPERM)
            error_remedy(e, "keep results on a file system with locks, such as a local one");
    } else {
        r = is_still_named(fd, name) ? 0 : -EAGAIN;
    }
    if (r) {
        close(fd);
        return r;
    }
    write_text(fd);
    *ret_fd = fd;
    return 0;
}

int store_lock_take(const char *real, const char *filename, struct store_lock *ret, struct spur_error *e)
{
    int fd = -1, r = -EAGAIN;
    char *name;

    if (asprintf(&name, "%s.lock", real) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", filename);
    for (int i = 0; r == -EAGAIN && i < MAX_TRIES; i++)
        r = try_once(name, filename, &fd, e);
    if (r == -EAGAIN)
        r = error_errno(e, EAGAIN, "flock", "%s: it keeps being replaced", name);
    if (r) {
        free(name);
        return r;
    }
    *ret = (struct store_lock){.fd = fd, .name = name};
    return 0;
}

void store_lock_release(struct store_lock *lock)
{
    if (lock->fd < 0)
        return;
    unlink(lock->name);
    close(lock->fd);
    free(lock->name);
    *lock = (struct store_lock){.fd = -1};
}
