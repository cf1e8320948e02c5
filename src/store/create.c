/* SPDX-License-Identifier: MIT */
/*
 * The file is made under another name beside its place and gets its own only when the whole plan is in it, by a rename
 * that fails where something is: so not even kill -9 leaves half a file, and nothing is overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "store/parts.h"

static int refuse_existing(const char *filename, struct spur_error *e)
{
    int r = error_spur(e, SPUR_CODE_REFUSED, "store_create", "%s: exists already", filename);

    error_remedy(e, "choose another name; --resume goes on with the experiment in a results file");
    return r;
}

/* Folder resolved, name as it is. */
static int resolve_new(const char *filename, char **ret_real, char **ret_folder, struct spur_error *e)
{
    const char *slash = strrchr(filename, '/');
    const char *name = slash ? slash + 1 : filename;
    _cleanup_free_ char *folder = slash ? strndup(filename, (size_t)(name - filename)) : strdup(".");
    _cleanup_free_ char *resolved = folder ? realpath(folder, NULL) : NULL;

    if (!folder)
        return error_errno(e, ENOMEM, "strdup", "%s", filename);
    if (!resolved) {
        int r = error_errno(e, errno, "realpath", "%s: its folder %s", filename, folder);

        error_remedy(e, "make the folder first, or name another place for the results");
        return r;
    }
    if (!*name)
        return error_errno(e, EISDIR, "store_create", "%s", filename);
    if (asprintf(ret_real, "%s/%s", strcmp(resolved, "/") ? resolved : "", name) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", filename);
    *ret_folder = resolved;
    resolved = NULL;
    return 0;
}

/* SQLite would take the leavings of an earlier file of this name for this one's, and delete them. */
static int check_free(const char *real, const char *filename, struct spur_error *e)
{
    static const char *const suffixes[] = {"", "-journal", "-wal"};
    struct stat st;

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        _cleanup_free_ char *name = NULL;
        int r;

        if (asprintf(&name, "%s%s", real, suffixes[i]) < 0)
            return error_errno(e, ENOMEM, "asprintf", "%s", filename);
        if (lstat(name, &st) < 0 && errno == ENOENT)
            continue;
        if (lstat(name, &st) < 0)
            return error_errno(e, errno, "lstat", "%s", name);
        if (i == 0)
            return refuse_existing(filename, e);
        r = error_spur(e, SPUR_CODE_REFUSED, "store_create", "%s: left by an earlier results file of this name", name);
        error_remedy(e, "move it away (it belongs to that file), or choose another name");
        return r;
    }
    return 0;
}

static int make_temporary(const char *real, const char *filename, char **ret, struct spur_error *e)
{
    char *name;
    int fd;

    if (asprintf(&name, "%s.XXXXXX", real) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", filename);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0 || fchmod(fd, 0600) < 0) {
        int r = error_errno(e, errno, "mkostemp", "%s", filename);

        if (fd >= 0) {
            close(fd);
            unlink(name);
        }
        free(name);
        return r;
    }
    close(fd); /* before SQLite opens it: closing it later would drop SQLite's locks */
    *ret = name;
    return 0;
}

static void remove_temporary(const char *name)
{
    char *journal;

    unlink(name);
    if (asprintf(&journal, "%s-journal", name) < 0)
        return;
    unlink(journal);
    free(journal);
}

/* NFS and others know no RENAME_NOREPLACE; a hard link refuses to replace as well. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return -errno;
    if (link(from, to) < 0)
        return -errno;
    unlink(from);
    return 0;
}

static int sync_folder(const char *folder, const char *filename, struct spur_error *e)
{
    _cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    /* EINVAL: a file system that has no such thing */
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        return error_errno(e, errno, "fsync", "%s: its folder", filename);
    return 0;
}

static int put_in_place(const char *temporary, const char *real, const char *filename, struct spur_error *e)
{
    int r = rename_new(temporary, real);

    if (r == -EEXIST)
        return refuse_existing(filename, e);
    return r ? error_errno(e, -r, "rename", "%s", filename) : 0;
}

static int make_file(const char *real, const char *folder, const char *filename, const struct experiment *x,
                     const json_t *identity, const json_t *environment, struct spur_error *e)
{
    char *temporary = NULL;
    int r = make_temporary(real, filename, &temporary, e);

    if (r)
        return r;
    r = store_write_plan(temporary, filename, x, identity, environment, e);
    if (!r)
        r = put_in_place(temporary, real, filename, e);
    if (r)
        remove_temporary(temporary);
    free(temporary);
    if (r)
        return r;
    r = sync_folder(folder, filename, e);
    if (r)
        unlink(real);
    return r;
}

static int check_folder(const char *folder, const char *filename, struct spur_error *e)
{
    int r;

    if (access(folder, W_OK | X_OK) == 0)
        return 0;
    r = error_errno(e, errno, "access", "%s: its folder %s", filename, folder);
    error_remedy(e, "name another place for the results, or let this user write there");
    return r;
}

int store_create_check(const char *filename, struct spur_error *e)
{
    _cleanup_free_ char *real = NULL, *folder = NULL;
    int r = resolve_new(filename, &real, &folder, e);

    if (!r)
        r = check_free(real, filename, e);
    return r ? r : check_folder(folder, filename, e);
}

int store_create(const char *filename, const struct experiment *x, const json_t *identity, const json_t *environment,
                 struct store **ret, struct spur_error *e)
{
    _cleanup_free_ char *real = NULL, *folder = NULL;
    struct store_lock lock = {.fd = -1};
    int r = resolve_new(filename, &real, &folder, e);

    if (!r)
        r = check_free(real, filename, e);
    if (!r)
        r = store_lock_take(real, filename, &lock, e);
    if (!r)
        r = make_file(real, folder, filename, x, identity, environment, e);
    if (r) {
        store_lock_release(&lock);
        return r;
    }
    return store_open_locked(filename, real, lock, ret, e);
}
