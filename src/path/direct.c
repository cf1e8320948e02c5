/* SPDX-License-Identifier: MIT */
#include "path/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "core/error.h"
#include "core/util.h"

#define MAX_IO_BYTES (1ull << 30) /* the kernel moves at most 0x7ffff000 bytes a call */
#define LADDER_LAST  65536u
#define LADDER_FIRST 512u
#define MAX_STALLS   8 /* transfers that make no progress, or are put off, before it is an error */

static const struct {
    unsigned long magic;
    const char *name;
} file_systems[] = {
    {EXT4_SUPER_MAGIC, "ext4"},
    {0x58465342, "xfs"},
    {BTRFS_SUPER_MAGIC, "btrfs"},
    {TMPFS_MAGIC, "tmpfs"},
    {RAMFS_MAGIC, "ramfs"},
    {HUGETLBFS_MAGIC, "hugetlbfs"},
    {OVERLAYFS_SUPER_MAGIC, "overlay"},
    {NFS_SUPER_MAGIC, "nfs"},
    {FUSE_SUPER_MAGIC, "fuse"},
    {0x0bd00bd0, "lustre"},
    {0x47504653, "gpfs"},
    {0x2fc12fc1, "zfs"},
    {0x19830326, "beegfs"},
    {0x00c36400, "ceph"},
    {SQUASHFS_MAGIC, "squashfs"},
    {F2FS_SUPER_MAGIC, "f2fs"},
    {0x01021997, "9p"},
    {0xff534d42, "cifs"},
};

static unsigned long fs_magic(int fd)
{
    struct statfs s;

    return fstatfs(fd, &s) == 0 ? (unsigned long)s.f_type & 0xffffffffu : 0;
}

void file_system_name(int fd, char *ret_name, size_t size)
{
    unsigned long magic = fs_magic(fd);

    for (size_t i = 0; i < ARRAY_SIZE(file_systems); i++) {
        if (file_systems[i].magic != magic)
            continue;
        snprintf(ret_name, size, "%s", file_systems[i].name);
        return;
    }
    if (magic)
        snprintf(ret_name, size, "0x%lx", magic);
    else
        snprintf(ret_name, size, "not answering");
}

bool file_in_memory(int fd)
{
    unsigned long magic = fs_magic(fd);
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) /* the node of a disk lies on devtmpfs, the disk does not */
        return false;
    return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

/* ------------------------------------------------------------------------------------------------
 * Opening
 */

static int open_error(int err, const char *filename, bool write, bool direct, struct spur_error *e)
{
    if (err == EINVAL && direct) {
        error_errno(e, err, "open", "%s: its file system does not take O_DIRECT", filename);
        error_remedy(e, "use --path buffered or mmap, or a file on a disk or network file system");
        return -EOPNOTSUPP;
    }
    error_errno(e, err, "open", "%s", filename);
    if (err == EACCES || err == EPERM)
        error_remedy(e, "it must be %s by the user who runs spur", write ? "writable" : "readable");
    if (err == EROFS)
        error_remedy(e, "the file system is mounted read-only: remount it rw, or read");
    return -err;
}

int file_open_fd(const char *filename, bool write, bool direct, struct spur_error *e)
{
    int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | (direct ? O_DIRECT : 0);
    int fd = -1;

    if (!write)
        fd = open(filename, flags | O_NOATIME);
    if (fd < 0 && (write || errno == EPERM)) /* O_NOATIME is for owners */
        fd = open(filename, flags);
    return fd >= 0 ? fd : open_error(errno, filename, write, direct, e);
}

int file_size_get(int fd, const char *filename, uint64_t *ret_bytes, struct spur_error *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return error_errno(e, errno, "fstat", "%s", filename);
    if (S_ISBLK(st.st_mode)) {
        if (ioctl(fd, BLKGETSIZE64, ret_bytes) < 0)
            return error_errno(e, errno, "BLKGETSIZE64", "%s", filename);
        return 0;
    }
    *ret_bytes = (uint64_t)st.st_size;
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Alignment
 */

static bool align_from_statx(int fd, struct direct_align *ret)
{
#ifdef STATX_DIOALIGN
    struct statx x;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) < 0 || !(x.stx_mask & STATX_DIOALIGN))
        return false;
    ret->memory = x.stx_dio_mem_align;
    ret->offset = x.stx_dio_offset_align;
    ret->source = "statx";
    return true;
#else
    return false;
#endif
}

/* A probe on a hole passes with anything, so it looks at the first data. */
static uint64_t first_data(int fd)
{
    off_t at = lseek(fd, 0, SEEK_DATA);

    return at > 0 ? round_down((uint64_t)at, LADDER_LAST) : 0;
}

static int probe_read(int fd, void *buffer, size_t length, uint64_t offset)
{
    ssize_t n;

    do
        n = pread(fd, buffer, length, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

static int align_ladder(int fd, const char *filename, uint8_t *buffer, struct direct_align *ret, struct spur_error *e)
{
    uint64_t at = first_data(fd);
    char fs[16];
    int r = probe_read(fd, buffer + 1, 1, at + 1);

    ret->source = "probe";
    ret->memory = ret->offset = 1;
    if (r != -EINVAL)
        return r < 0 ? error_errno(e, -r, "pread", "%s: reading at %llu", filename, (unsigned long long)at) : 0;
    for (uint32_t a = LADDER_FIRST; a <= LADDER_LAST; a *= 2) {
        r = probe_read(fd, buffer + a, a, at + a);
        if (r == -EINVAL)
            continue;
        if (r < 0)
            return error_errno(e, -r, "pread", "%s: reading at %llu", filename, (unsigned long long)at);
        ret->memory = ret->offset = a;
        return 0;
    }
    file_system_name(fd, fs, sizeof(fs));
    error_errno(e, EINVAL, "pread", "%s (%s): O_DIRECT was taken at open but every read was refused", filename, fs);
    error_remedy(e, "the file system's own daemon or layer refuses it: use --path buffered");
    return -EOPNOTSUPP;
}

static int align_from_probe(int fd, const char *filename, struct direct_align *ret, struct spur_error *e)
{
    void *buffer;
    int r;

    if (posix_memalign(&buffer, LADDER_LAST, 2 * LADDER_LAST))
        return error_errno(e, ENOMEM, "posix_memalign", "%s: alignment probe", filename);
    r = align_ladder(fd, filename, buffer, ret, e);
    free(buffer);
    return r;
}

int direct_align_get(int fd, const char *filename, struct direct_align *ret_align, struct spur_error *e)
{
    char fs[16];

    if (!align_from_statx(fd, ret_align))
        return align_from_probe(fd, filename, ret_align, e);
    if (ret_align->memory && ret_align->offset)
        return 0;
    file_system_name(fd, fs, sizeof(fs));
    error_errno(e, EOPNOTSUPP, "statx", "%s (%s): the kernel reports that O_DIRECT is not possible on this file",
                filename, fs);
    error_remedy(e, "use --path buffered (compressed, encrypted or journalled files cannot be read directly)");
    return -EOPNOTSUPP;
}

/* ------------------------------------------------------------------------------------------------
 * Whole requests
 */

static int64_t stalled(int fd, const char *name, uint64_t offset, uint64_t file_bytes, struct spur_error *e)
{
    uint64_t now_bytes = 0;

    if (file_size_get(fd, name, &now_bytes, NULL) == 0 && now_bytes < file_bytes)
        return error_errno(e, EIO, "pread", "%s: truncated during the run, from %llu to %llu bytes; reading at %llu",
                           name, (unsigned long long)file_bytes, (unsigned long long)now_bytes,
                           (unsigned long long)offset);
    return error_errno(e, EIO, "pread", "%s: no progress at offset %llu, before the end of the file", name,
                       (unsigned long long)offset);
}

static int64_t read_error(int fd, const char *name, int err, size_t length, uint64_t offset, struct spur_error *e)
{
    char fs[16];

    file_system_name(fd, fs, sizeof(fs));
    error_errno(e, err, "pread", "%s (%s): reading %zu bytes at offset %llu", name, fs, length,
                (unsigned long long)offset);
    if (err == EINVAL)
        error_remedy(e, "the file system refuses this alignment: use --path buffered");
    return -err;
}

/* How much of a short read stands: up to the last multiple of @align, from which reading goes on. */
static size_t usable(size_t got, size_t n, bool at_end, uint32_t align)
{
    return got + n - (at_end ? 0 : (got + n) % align);
}

int64_t file_read(int fd, const char *name, void *dst, size_t length, uint64_t offset, uint32_t align,
                  uint64_t file_bytes, struct spur_error *e)
{
    uint64_t want = offset >= file_bytes ? 0 : file_bytes - offset;
    size_t got = 0;
    int stalls = 0;

    if (want > length)
        want = length;
    while (got < want) {
        size_t ask = round_up(want - got, align);
        ssize_t n = pread(fd, (char *)dst + got, ask < MAX_IO_BYTES ? ask : MAX_IO_BYTES, (off_t)(offset + got));
        size_t next;

        if (n < 0 && (errno == EINTR || (errno == EAGAIN && stalls++ < MAX_STALLS)))
            continue;
        if (n < 0)
            return read_error(fd, name, errno, ask, offset + got, e);
        next = usable(got, (size_t)n, got + (size_t)n >= want, align);
        if (next == got && (n == 0 || ++stalls > MAX_STALLS))
            return stalled(fd, name, offset + got, file_bytes, e);
        got = next;
    }
    return (int64_t)(got < want ? got : want);
}

static int64_t write_error(int fd, const char *name, int err, size_t length, uint64_t offset, struct spur_error *e)
{
    error_errno(e, err, "pwrite", "%s: writing %zu bytes at offset %llu", name, length, (unsigned long long)offset);
    if (err == ENOSPC)
        error_remedy(e, "free space on the file system, or write less");
    else if (err == EDQUOT)
        error_remedy(e, "the user's quota is used up: raise it or write less");
    else if (err == EFBIG)
        error_remedy(e, "over the file-size limit: raise ulimit -f, or the file system's own limit");
    else if (err == EROFS)
        error_remedy(e, "the file system is mounted read-only");
    else if (err == EINVAL)
        error_remedy(e, "the file system refuses this alignment: use --path buffered");
    return -err;
}

int64_t file_write(int fd, const char *name, const void *src, size_t length, uint64_t offset, struct spur_error *e)
{
    size_t put = 0;
    int stalls = 0;

    while (put < length) {
        size_t ask = length - put < MAX_IO_BYTES ? length - put : MAX_IO_BYTES;
        ssize_t n = pwrite(fd, (const char *)src + put, ask, (off_t)(offset + put));

        if (n < 0 && (errno == EINTR || (errno == EAGAIN && stalls++ < MAX_STALLS)))
            continue;
        if (n < 0)
            return write_error(fd, name, errno, ask, offset + put, e);
        if (n == 0 && ++stalls > MAX_STALLS)
            return write_error(fd, name, EIO, ask, offset + put, e);
        put += (size_t)n;
    }
    return (int64_t)put;
}

bool file_flags_direct(int flags)
{
    return flags & O_DIRECT;
}

int file_set_direct(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return -errno;
    flags = on ? flags | O_DIRECT : flags & ~O_DIRECT;
    return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}
