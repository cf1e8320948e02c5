/* SPDX-License-Identifier: MIT */
/* Files, folders and links of a record, below its directory. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "doctor/record.h"

static int make_folders(struct record *r, char *path)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdirat(r->dir, path, 0755) < 0 && errno != EEXIST)
            return error_errno(r->e, errno, "mkdir", "%s", path);
        *slash = '/';
    }
    return 0;
}

/* Only paths of groups, and that of a cufile.json elsewhere, tell of anybody. */
static char *scrub_name(struct record *r, const char *path)
{
    bool tells = strncmp(path, "/proc/", 6) && (strncmp(path, "/sys/", 5) || !strncmp(path, "/sys/fs/cgroup/", 15));

    return scrub_text(&r->scrub, tells ? SCRUB_ALL : SCRUB_ADDRESSES, path + 1);
}

int record_write_text(struct record *r, const char *path, enum scrub_depth depth, const char *text)
{
    _cleanup_free_ char *name = scrub_name(r, path), *clean = scrub_text(&r->scrub, depth, text);
    _cleanup_fd_ int fd = -1;
    size_t n = clean ? strlen(clean) : 0;

    if (!name || !clean)
        return error_errno(r->e, ENOMEM, "record", "%s", path);
    if (make_folders(r, name) < 0)
        return -EIO;
    fd = openat(r->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST) /* by another way to it */
        return 0;
    if (fd < 0 || write(fd, clean, n) != (ssize_t)n)
        return error_errno(r->e, errno, "write", "%s", name);
    return 0;
}

int record_write_folder(struct record *r, const char *path)
{
    _cleanup_free_ char *name = NULL;

    return asprintf(&name, "%s/", path + 1) < 0 ? error_errno(r->e, ENOMEM, "record", "%s", path)
                                                : make_folders(r, name);
}

int record_write_links(struct record *r, const char *path, char ret[PATH_MAX])
{
    char so_far[PATH_MAX] = "", to[PATH_MAX], name[PATH_MAX];
    const char *at = path;

    while (*at) {
        size_t n = strcspn(at + 1, "/") + 1, used = strlen(so_far);
        ssize_t length;

        if (used + n >= sizeof(so_far))
            return -ENAMETOOLONG;
        memcpy(so_far + used, at, n);
        so_far[used + n] = 0;
        at += n;
        length = readlink(so_far, to, sizeof(to) - 1);
        if (length <= 0)
            continue;
        to[length] = 0;
        snprintf(name, sizeof(name), "%s", so_far + 1);
        if (to[0] != '/' && (make_folders(r, name) < 0 || (symlinkat(to, r->dir, name) < 0 && errno != EEXIST)))
            return -EIO;
        if (!realpath(so_far, to))
            return -ENOENT;
        strcpy(so_far, to);
    }
    strcpy(ret, so_far);
    return 0;
}
