/* SPDX-License-Identifier: MIT */
/*
 * flock, for it belongs to the open file: it ends with the process however that dies, does not pass through exec
 * (O_CLOEXEC), and holds against a second store of the same process too.
 *
 * The name is removed on release. That is free of races because a lock counts only if, once taken, the name still leads
 * to the file that was locked, and because only the holder removes the name. One who opened the file before it was
 * removed finds the name gone or leading elsewhere, and starts over.
 */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"

#define MAX_TRIES 1000
#define MARK      "spur " /* what a lock file begins with: then process id and host */
#define TEXT      128

static void read_text(int fd, char *ret)
{
    ssize_t n = pread(fd, ret, TEXT - 1, 0);

    ret[n > 0 ? n : 0] = 0;
}

static int refuse_held(int fd, const char *filename, struct spur_error *e)
{
    char text[TEXT], host[65];
    long pid = 0;
    int r;

    read_text(fd, text);
    if (sscanf(text, MARK "%ld %64s", &pid, host) == 2 && pid > 0) {
        r = error_spur(e, SPUR_CODE_REFUSED, "flock", "%s: process %ld on %s is writing it", filename, pid, host);
        error_remedy(e, "wait until process %ld has ended, or end it; spur report can read the file meanwhile", pid);
        return r;
    }
    r = error_spur(e, SPUR_CODE_REFUSED, "flock", "%s: another process is writing it", filename);
    error_remedy(e, "wait until it has ended; spur report can read the file meanwhile");
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
    } else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
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
