/* SPDX-License-Identifier: MIT */
#include "cli/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "core/units.h"
#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"

#define DAY_US 86400000000ull

static int refuse(const struct prepare_target *t, struct spur_error *e, const char *what, const char *remedy)
{
    error_spur(e, SPUR_CODE_REFUSED, "file", "%s: %s", t->shown, what);
    error_remedy(e, "%s", remedy);
    return -EPERM;
}

/* ------------------------------------------------------------------------------------------------
 * Judging
 */

static int judge_type(const struct prepare_target *t, const struct prepare_options *o, struct spur_error *e)
{
    mode_t m = t->st.st_mode;

    if (S_ISREG(m))
        return 0;
    if (S_ISDIR(m))
        return refuse(t, e, "is a directory", "name a file in it");
    if (!S_ISBLK(m))
        return refuse(t, e,
                      S_ISFIFO(m)   ? "is a FIFO"
                      : S_ISSOCK(m) ? "is a socket"
                                    : "is a character device",
                      "name a regular file");
    if (!o->device_ok || !o->overwrite)
        return refuse(t, e, "is a block device",
                      "--device-ok and --overwrite together allow it; everything on the device is lost");
    return 0;
}

/* A whole header of spur's at the start, finished or not. */
static bool read_header(const struct prepare_target *t, struct pattern_header *h)
{
    return pread(t->fd_read, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) &&
           (h->magic == PATTERN_MAGIC || h->magic == PATTERN_MAGIC_PART) && h->version == PATTERN_VERSION &&
           h->checksum == pattern_checksum(h) && h->offset == 0;
}

/* The block at @offset, which may be cut by the end at @bytes, is what it must be. */
static bool block_is_right(int fd, const uint64_t uuid[2], uint64_t offset, uint64_t bytes, uint64_t *ret_key)
{
    uint8_t block[PATTERN_BLOCK];
    size_t n = bytes - offset < sizeof(block) ? (size_t)(bytes - offset) : sizeof(block);
    struct timespec now;
    struct pattern_verdict v = {0};
    struct pattern_expect expect = {.uuid = {uuid[0], uuid[1]}, .offset = offset};

    clock_gettime(CLOCK_REALTIME, &now);
    expect.generation_max = (uint64_t)now.tv_sec * 1000000u + DAY_US;
    if (pread(fd, block, n, (off_t)offset) != (ssize_t)n)
        return false;
    pattern_check_range(block, n, &expect, &v);
    *ret_key = 0;
    if (n >= PATTERN_HEADER)
        memcpy(ret_key, block + offsetof(struct pattern_header, key), sizeof(*ret_key));
    return !v.blocks_bad;
}

static bool has_hole(const struct prepare_target *t, uint64_t bytes)
{
    off_t hole = t->is_device ? -1 : lseek(t->fd_read, 0, SEEK_HOLE);

    return hole >= 0 && (uint64_t)hole < bytes;
}

/* Complete, of that size and (if one was asked for) from that seed. */
static bool is_done(struct prepare_target *t, const struct prepare_options *o, const struct pattern_header *h)
{
    uint64_t last = (o->bytes - 1) / PATTERN_BLOCK;
    uint64_t first_key, last_key;

    if (h->magic != PATTERN_MAGIC || (t->is_device ? t->old_bytes < o->bytes : t->old_bytes != o->bytes) ||
        o->bytes < PATTERN_HEADER || has_hole(t, o->bytes))
        return false;
    if (!block_is_right(t->fd_read, h->uuid, 0, o->bytes, &first_key) ||
        !block_is_right(t->fd_read, h->uuid, last * PATTERN_BLOCK, o->bytes, &last_key))
        return false;
    memcpy(t->uuid, h->uuid, sizeof(t->uuid));
    t->seed = pattern_unmix(h->key);
    /* A run that wrote blocks gave them other keys. A last block without a header tells nothing. */
    t->seed_known = !last_key || last_key == pattern_mix(t->seed + last * PATTERN_STEP);
    return !o->seed_given || (t->seed_known && o->seed == t->seed);
}

static int judge_content(struct prepare_target *t, const struct prepare_options *o, struct spur_error *e)
{
    struct pattern_header h;
    bool is_spur = read_header(t, &h);

    t->state = is_spur && is_done(t, o, &h) ? PREPARE_DONE : PREPARE_IN_PLACE;
    if (is_spur || o->overwrite)
        return 0;
    return refuse(t, e, t->old_bytes ? "was not made by spur" : "is an empty file that spur did not make",
                  "--overwrite writes over it; or choose another name");
}

static int judge_existing(struct prepare_target *t, const struct prepare_options *o, struct spur_error *e)
{
    struct stat now;
    int r = judge_type(t, o, e);

    if (r < 0)
        return r;
    t->is_device = S_ISBLK(t->st.st_mode);
    t->fd_read = file_open_fd(t->name, false, false, e);
    if (t->fd_read < 0)
        return t->fd_read;
    if (fstat(t->fd_read, &now) < 0)
        return error_errno(e, errno, "fstat", "%s", t->shown);
    if (now.st_ino != t->st.st_ino || now.st_dev != t->st.st_dev)
        return refuse(t, e, "was replaced while it was looked at", "try again");
    posix_fadvise(t->fd_read, 0, 0, POSIX_FADV_RANDOM); /* looking at two blocks must not read ahead */
    r = file_size_get(t->fd_read, t->shown, &t->old_bytes, e);
    if (r < 0)
        return r;
    if (t->is_device && o->bytes > t->old_bytes)
        return error_spur(e, SPUR_CODE_USAGE, "size", "--size: %llu bytes are more than the %llu of %s",
                          (unsigned long long)o->bytes, (unsigned long long)t->old_bytes, t->shown);
    return judge_content(t, o, e);
}

static int judge_link(struct prepare_target *t, struct spur_error *e)
{
    char where[PATH_MAX];
    ssize_t n = readlink(t->name, where, sizeof(where) - 1);

    if (n < 0)
        return error_errno(e, errno, "readlink", "%s", t->name);
    where[n] = 0;
    snprintf(t->shown, sizeof(t->shown), "%.250s (symbolic link to %.200s)", t->name, where);
    if (stat(t->name, &t->st) == 0)
        return 0;
    if (errno == ENOENT)
        return refuse(t, e, "points to nothing", "name the file itself");
    return error_errno(e, errno, "stat", "%s", t->shown);
}

/* Splits the name of what is to be made and opens its directory. */
static int judge_new(struct prepare_target *t, struct spur_error *e)
{
    const char *slash = strrchr(t->name, '/');
    _cleanup_free_ char *dir = slash ? strndup(t->name, slash == t->name ? 1 : (size_t)(slash - t->name)) : strdup(".");

    t->base = slash ? slash + 1 : t->name;
    if (!dir)
        return error_errno(e, ENOMEM, "strdup", "%s", t->shown);
    if (!*t->base)
        return error_spur(e, SPUR_CODE_USAGE, "file", "'%s' does not name a file", t->name);
    t->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->dir_fd >= 0)
        return 0;
    error_errno(e, errno, "open", "%s", dir);
    if (errno == ENOENT)
        error_remedy(e, "make the directory first");
    return -e->code;
}

int prepare_target_judge(const char *name, const struct prepare_options *o, struct prepare_target *ret_target,
                         struct spur_error *e)
{
    struct prepare_target *t = ret_target;
    int r = 0;

    *t = (struct prepare_target){.name = name, .fd_read = -1, .fd = -1, .dir_fd = -1, .state = PREPARE_NEW};
    snprintf(t->shown, sizeof(t->shown), "%s", name);
    if (lstat(name, &t->st) < 0)
        return errno == ENOENT ? judge_new(t, e) : error_errno(e, errno, "lstat", "%s", name);
    if (S_ISLNK(t->st.st_mode))
        r = judge_link(t, e);
    return r < 0 ? r : judge_existing(t, o, e);
}

/* ------------------------------------------------------------------------------------------------
 * Room
 */

static int check_space(const struct prepare_target *t, uint64_t bytes, struct spur_error *e)
{
    uint64_t has = t->state == PREPARE_NEW ? 0 : (uint64_t)t->st.st_blocks * 512;
    uint64_t need = bytes > has ? bytes - has : 0;
    char needed[UNITS_TEXT], available[UNITS_TEXT];
    struct statvfs v;

    /* A file system that says that it has no blocks at all does not count them. */
    if (fstatvfs(t->state == PREPARE_NEW ? t->dir_fd : t->fd_read, &v) < 0 || !v.f_blocks)
        return 0;
    if (need > (uint64_t)v.f_bavail * v.f_frsize) {
        error_errno(e, ENOSPC, "statvfs", "%s: %s are needed and %s are free on its file system", t->shown,
                    units_format_bytes(need, needed), units_format_bytes((uint64_t)v.f_bavail * v.f_frsize, available));
        error_remedy(e, "free space, or choose a smaller --size");
        return -ENOSPC;
    }
    if (t->state == PREPARE_NEW && v.f_files && !v.f_favail) {
        error_errno(e, ENOSPC, "statvfs", "%s: no inode is free on its file system", t->shown);
        error_remedy(e, "delete files there");
        return -ENOSPC;
    }
    return 0;
}

static int check_limit(const struct prepare_target *t, uint64_t bytes, struct spur_error *e)
{
    char wanted[UNITS_TEXT], limit[UNITS_TEXT];
    struct rlimit r;

    if (getrlimit(RLIMIT_FSIZE, &r) < 0 || r.rlim_cur == RLIM_INFINITY || bytes <= r.rlim_cur)
        return 0;
    error_errno(e, EFBIG, "getrlimit", "%s: %s are over the file-size limit of this process, %s", t->shown,
                units_format_bytes(bytes, wanted), units_format_bytes(r.rlim_cur, limit));
    error_remedy(e, "raise it (ulimit -f unlimited), or choose a smaller --size");
    return -EFBIG;
}

static int allocate_error(const struct prepare_target *t, int err, struct spur_error *e)
{
    error_errno(e, err, "fallocate", "%s", t->shown);
    if (err == ENOSPC)
        error_remedy(e, "free space, or choose a smaller --size");
    else if (err == EDQUOT)
        error_remedy(e, "the quota is used up: raise it, or choose a smaller --size");
    else if (err == EFBIG)
        error_remedy(e, "the file system cannot hold so large a file: choose a smaller --size");
    return -err;
}

static int allocate(struct prepare_target *t, uint64_t bytes, struct spur_error *e)
{
    bool in_place = t->state == PREPARE_IN_PLACE;
    int err;

    if (t->is_device)
        return 0;
    /* In place the size stays until the first block says "unfinished". */
    do
        err = fallocate(t->fd, in_place ? FALLOC_FL_KEEP_SIZE : 0, 0, (off_t)bytes) < 0 ? errno : 0;
    while (err == EINTR);
    if (err && err != EOPNOTSUPP && err != ENOSYS) {
        if (in_place && ftruncate(t->fd, (off_t)t->old_bytes) < 0) /* gives back what lies past the end */
            return allocate_error(t, errno, e);
        return allocate_error(t, err, e);
    }
    if (!in_place && ftruncate(t->fd, (off_t)bytes) < 0)
        return allocate_error(t, errno, e);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Opening for writing
 */

static int open_error(const struct prepare_target *t, int err, struct spur_error *e)
{
    error_errno(e, err, "open", "%s", t->shown);
    if (err == EROFS)
        error_remedy(e, "the file system is mounted read-only: remount it rw, or choose another place");
    else if (err == EACCES || err == EPERM)
        error_remedy(e, "the user who runs spur must be allowed to write %s",
                     t->state == PREPARE_NEW ? "in its directory" : "it");
    else if (err == ETXTBSY)
        error_remedy(e, "it is a program that is running, or a swap file");
    return -err;
}

static int random_letters(char *ret, size_t n)
{
    if (getrandom(ret, n, 0) != (ssize_t)n)
        return -errno;
    for (size_t i = 0; i < n; i++)
        ret[i] = "abcdefghijklmnopqrstuvwxyz012345"[(unsigned char)ret[i] % 32];
    ret[n] = 0;
    return 0;
}

static int open_temporary(struct prepare_target *t, struct spur_error *e)
{
    char letters[7];

    for (int i = 0; i < 100; i++) {
        if (random_letters(letters, 6) < 0)
            return error_errno(e, errno, "getrandom", "%s", t->shown);
        /* A long name is cut so that the temporary's is no longer than names may be. */
        snprintf(t->temporary, sizeof(t->temporary), ".%.*s.spur-%s", NAME_MAX - 13, t->base, letters);
        t->fd = openat(t->dir_fd, t->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (t->fd >= 0)
            return 0;
        t->temporary[0] = 0;
        if (errno != EEXIST)
            break;
    }
    return open_error(t, errno, e);
}

static int open_new(struct prepare_target *t, struct spur_error *e)
{
    if (strlen(t->base) > NAME_MAX)
        return open_error(t, ENAMETOOLONG, e);
    /* A nameless file vanishes with the process, however that ends. */
    t->fd = openat(t->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (t->fd >= 0)
        return 0;
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOSYS)
        return open_temporary(t, e);
    return open_error(t, errno, e);
}

/* The very file that was judged, whatever the name stands for by now. */
static int open_in_place(struct prepare_target *t, struct spur_error *e)
{
    char self[32];
    struct stat now;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", t->fd_read);
    /* O_EXCL on a block device: not while it is mounted. */
    t->fd = open(self, O_RDWR | O_CLOEXEC | (t->is_device ? O_EXCL : 0));
    if (t->fd < 0 && errno == ENOENT) /* no /proc */
        t->fd = open(t->name, O_RDWR | O_CLOEXEC | (t->is_device ? O_EXCL : 0));
    if (t->fd < 0 && errno == EBUSY)
        return refuse(t, e, "is in use: mounted, or part of a volume", "unmount it first");
    if (t->fd < 0)
        return open_error(t, errno, e);
    if (fstat(t->fd, &now) < 0)
        return error_errno(e, errno, "fstat", "%s", t->shown);
    if (now.st_ino != t->st.st_ino || now.st_dev != t->st.st_dev)
        return refuse(t, e, "was replaced while it was looked at", "try again");
    return 0;
}

int prepare_target_open(struct prepare_target *t, const struct prepare_options *o, struct spur_error *e)
{
    int r = 0;

    if (!t->is_device)
        r = check_space(t, o->bytes, e);
    if (!r && !t->is_device)
        r = check_limit(t, o->bytes, e);
    if (!r)
        r = t->state == PREPARE_NEW ? open_new(t, e) : open_in_place(t, e);
    if (!r)
        r = allocate(t, o->bytes, e);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The name
 */

static int link_nameless(const struct prepare_target *t)
{
    char self[32];

    snprintf(self, sizeof(self), "/proc/self/fd/%d", t->fd);
    if (linkat(AT_FDCWD, self, t->dir_fd, t->base, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != ENOENT) /* no /proc; the other way needs a capability */
        return -errno;
    return linkat(t->fd, "", t->dir_fd, t->base, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static int rename_temporary(const struct prepare_target *t)
{
    int fd;

    if (renameat2(t->dir_fd, t->temporary, t->dir_fd, t->base, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* NFS and others cannot refuse to replace: take the name, then replace what is surely our own. */
    fd = openat(t->dir_fd, t->base, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    close(fd);
    return renameat(t->dir_fd, t->temporary, t->dir_fd, t->base) < 0 ? -errno : 0;
}

int prepare_target_publish(struct prepare_target *t, struct spur_error *e)
{
    int r;

    if (t->state != PREPARE_NEW)
        return 0;
    r = t->temporary[0] ? rename_temporary(t) : link_nameless(t);
    if (r == -EEXIST)
        return refuse(t, e, "appeared while the data was written; it was left alone", "choose another name");
    if (r < 0)
        return error_errno(e, -r, t->temporary[0] ? "rename" : "linkat", "%s", t->shown);
    t->temporary[0] = 0;
    if (fsync(t->dir_fd) < 0 && errno != EINVAL && errno != EROFS)
        return error_errno(e, errno, "fsync", "directory of %s", t->shown);
    return 0;
}

void prepare_target_close(struct prepare_target *t)
{
    if (t->temporary[0])
        unlinkat(t->dir_fd, t->temporary, 0);
    if (t->fd >= 0)
        close(t->fd);
    if (t->fd_read >= 0)
        close(t->fd_read);
    if (t->dir_fd >= 0)
        close(t->dir_fd);
}
