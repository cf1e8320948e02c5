/* SPDX-License-Identifier: MIT */
#include "core/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"

/* A rename over a link would put a file in its place, and leave what it leads to as it was. */
static int refuse_link(const char *filename, const char *what, struct spur_error *e)
{
    struct stat st;
    int r;

    if (lstat(filename, &st) < 0 || !S_ISLNK(st.st_mode))
        return 0;
    r = error_spur(e, SPUR_CODE_REFUSED, "whole_file", "%s: %s is a symbolic link, which would be replaced", what,
                   filename);
    error_remedy(e, "name the file that it leads to, or a new one");
    return r;
}

int whole_file_check(const char *filename, const char *what, struct spur_error *e)
{
    const char *slash = strrchr(filename, '/');
    _cleanup_free_ char *name = slash ? strndup(filename, (size_t)(slash - filename) + 1) : strdup(".");

    if (!name)
        return error_errno(e, ENOMEM, "strdup", "%s: %s", what, filename);
    if (access(name, W_OK | X_OK) < 0) {
        int r = error_errno(e, errno, "access", "%s: %s", what, name);

        error_remedy(e, r == -ENOENT ? "make the folder first, or name another place"
                                     : "name another place, or let this user write there");
        return r;
    }
    return refuse_link(filename, what, e);
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t n = write(fd, data, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        length -= (size_t)n;
    }
    return 0;
}

int whole_file_write(const char *filename, const void *data, size_t length, const char *what, struct spur_error *e)
{
    _cleanup_free_ char *temporary = NULL;
    int fd, r;

    if (asprintf(&temporary, "%s.XXXXXX", filename) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", filename);
    fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return error_errno(e, errno, "mkostemp", "%s", temporary);
    r = write_all(fd, data, length);
    if (!r && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && !r)
        r = -errno;
    if (!r && rename(temporary, filename) < 0)
        r = -errno;
    if (!r)
        return 0;
    unlink(temporary);
    error_errno(e, -r, "write", "%s: %s", what, filename);
    error_remedy_room(e, -r);
    return r;
}
