/* SPDX-License-Identifier: MIT */
#include "which/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"

#define MOST_LINKS 40

int tree_open(struct tree *t, const char *root, struct spur_error *e)
{
    size_t n = strlen(root);

    memset(t, 0, sizeof(*t));
    t->fd = -1;
    while (n > 0 && root[n - 1] == '/')
        n--;
    if (n >= sizeof(t->root) / 2)
        return error_errno(e, ENAMETOOLONG, "open", "%.100s...", root);
    memcpy(t->root, root, n);
    t->fd = open(n ? t->root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return t->fd < 0 ? error_errno(e, errno, "open", "%s", root) : 0;
}

void tree_close(struct tree *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

bool tree_join(char ret[PATH_MAX], const char *folder, const char *name)
{
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";

    return snprintf(ret, PATH_MAX, "%s%s%s", folder, slash, name) < PATH_MAX;
}

void tree_outside(const struct tree *t, const char *name, char *ret, size_t size)
{
    snprintf(ret, size, "%s%s", t->root, name);
}

/* ------------------------------------------------------------------------------------------------
 * Resolving
 */

struct walk {
    const struct tree *t;
    char done[PATH_MAX]; /* "" or "/a/b": no links in it */
    char rest[PATH_MAX]; /* still to be looked at */
    int links;
    bool keep_last;
};

static const char *relative(const char *absolute)
{
    return absolute[0] == '/' && absolute[1] ? absolute + 1 : ".";
}

static void go_up(struct walk *w)
{
    char *slash = strrchr(w->done, '/');

    if (slash)
        *slash = '\0';
}

/* Takes the first part off w->rest. False: nothing is left. */
static bool next_part(struct walk *w, char part[NAME_MAX + 1], int *ret)
{
    char *p = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(p, "/");

    *ret = n > NAME_MAX ? -ENAMETOOLONG : 0;
    if (!n || *ret)
        return false;
    memcpy(part, p, n);
    part[n] = '\0';
    memmove(w->rest, p + n, strlen(p + n) + 1);
    return true;
}

/* w->done is a link: what it says goes before the rest. */
static int follow(struct walk *w)
{
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t n = readlinkat(w->t->fd, relative(w->done), target, sizeof(target) - 1);

    if (n < 0)
        return -errno;
    if (++w->links > MOST_LINKS)
        return -ELOOP;
    target[n] = '\0';
    if (snprintf(rest, sizeof(rest), "%s/%s", target, w->rest) >= (int)sizeof(rest))
        return -ENAMETOOLONG;
    strcpy(w->rest, rest);
    if (target[0] == '/')
        w->done[0] = '\0';
    else
        go_up(w);
    return 0;
}

static int enter(struct walk *w, const char *part)
{
    size_t n = strlen(w->done);
    bool last = w->rest[strspn(w->rest, "/")] == '\0';
    struct stat st;

    if (snprintf(w->done + n, sizeof(w->done) - n, "/%s", part) >= (int)(sizeof(w->done) - n))
        return -ENAMETOOLONG;
    if (fstatat(w->t->fd, relative(w->done), &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode) && !(last && w->keep_last))
        return follow(w);
    return last || S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int resolve(const struct tree *t, const char *name, bool keep_last, char ret[PATH_MAX])
{
    struct walk w = {.t = t, .keep_last = keep_last};
    char part[NAME_MAX + 1];
    int r;

    if (name[0] != '/' && !t->cwd[0])
        return -ENOENT;
    if (name[0] == '/' ? strlen(name) >= PATH_MAX : !tree_join(w.rest, t->cwd, name))
        return -ENAMETOOLONG;
    if (name[0] == '/')
        strcpy(w.rest, name);
    while (next_part(&w, part, &r)) {
        if (!strcmp(part, ".."))
            go_up(&w);
        else if (strcmp(part, ".") != 0)
            r = enter(&w, part);
        if (r < 0)
            return r;
    }
    if (!r)
        strcpy(ret, w.done[0] ? w.done : "/");
    return r;
}

int tree_resolve(const struct tree *t, const char *name, char ret[PATH_MAX])
{
    return resolve(t, name, false, ret);
}

int tree_resolve_parent(const struct tree *t, const char *name, char ret[PATH_MAX])
{
    return resolve(t, name, true, ret);
}

/* ------------------------------------------------------------------------------------------------
 * Opening
 */

static int open_real(const struct tree *t, const char *real, int flags)
{
    int fd = openat(t->fd, relative(real), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);

    return fd < 0 ? -errno : fd;
}

/* Looks before it opens: opening a device is not reading. */
static int regular(const struct tree *t, const char *real)
{
    struct stat st;

    if (fstatat(t->fd, relative(real), &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

int tree_open_file(const struct tree *t, const char *name, char ret_real[PATH_MAX])
{
    char real[PATH_MAX];
    int r = tree_resolve(t, name, real);

    if (!r)
        r = regular(t, real);
    if (!r)
        r = open_real(t, real, 0);
    if (r >= 0 && ret_real)
        strcpy(ret_real, real);
    return r;
}

DIR *tree_open_dir(const struct tree *t, const char *name)
{
    char real[PATH_MAX];
    int fd = tree_resolve(t, name, real);
    DIR *d;

    if (!fd)
        fd = open_real(t, real, O_DIRECTORY);
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    d = fdopendir(fd);
    if (!d)
        close(fd);
    return d;
}

char *tree_read(const struct tree *t, const char *name, size_t most, size_t *ret_length)
{
    _cleanup_fd_ int fd = tree_open_file(t, name, NULL);
    size_t n = 0, room = 0;
    char *text = NULL;
    ssize_t got = 1;

    errno = fd < 0 ? -fd : 0;
    while (fd >= 0 && got > 0 && n < most) {
        char *grown;

        room = room ? room * 2 : 8192;
        room = room < most ? room : most;
        grown = realloc(text, room + 1);
        got = grown ? read(fd, grown + n, room - n) : -1;
        text = grown ? grown : text;
        n += got > 0 ? (size_t)got : 0;
    }
    if (!text || got < 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    if (ret_length)
        *ret_length = n;
    return text;
}

bool tree_is_dir(const struct tree *t, const char *name)
{
    char real[PATH_MAX];

    return tree_resolve(t, name, real) == 0 && regular(t, real) == -EISDIR;
}

bool tree_is_file(const struct tree *t, const char *name)
{
    char real[PATH_MAX];

    return tree_resolve(t, name, real) == 0 && regular(t, real) == 0;
}
