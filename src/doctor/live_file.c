/* SPDX-License-Identifier: MIT */
/* A file as its process sees it: runs in a child, for stat and open may hang. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "doctor/check.h"
#include "path/direct.h"
#include "worker/job.h"

#define MOST_READ 65536u

static void put_extents(json_t *o, int fd, uint64_t bytes)
{
    struct probe_extents x;
    struct probe_residency r;
    bool known;

    probe_extents_read(fd, 0, bytes, &x);
    known = strcmp(x.status, "unknown") != 0;
    json_object_set_new(o, "extents",
                        json_pack("{s:s, s:o, s:o, s:o, s:I, s:s}", "status", x.status, "hole_bytes",
                                  known ? json_integer((json_int_t)x.hole_bytes) : json_null(), "unwritten_bytes",
                                  known ? json_integer((json_int_t)x.unwritten_bytes) : json_null(), "first_offset",
                                  strcmp(x.status, "holes") ? json_null() : json_integer((json_int_t)x.first_offset),
                                  "unflushed_bytes", (json_int_t)x.unflushed_bytes, "reason", x.reason));
    probe_residency_read(fd, 0, bytes, &r);
    json_object_set_new(
        o, "resident",
        json_pack("{s:b, s:I, s:s}", "known", r.known, "bytes", (json_int_t)r.resident_bytes, "reason", r.reason));
}

/* chattr's flags: compression (c), encryption (E), no copy on write (C), inline data. */
static void put_flags(json_t *o, int fd)
{
    int flags = 0;

    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0)
        json_object_set_new(o, "flags", json_integer(flags));
}

/* Lustre's lov_user_md (lustre_user.h): magic, pattern, 16 bytes, bytes of a stripe, 16 bits of how many there are. */
static void put_stripes(json_t *o, int fd)
{
    unsigned char md[65536];
    ssize_t n = fgetxattr(fd, "lustre.lov", md, sizeof(md));
    uint32_t magic = 0, bytes = 0;
    uint16_t stripes = 0;

    if (n < 32)
        return;
    memcpy(&magic, md, sizeof(magic));
    memcpy(&bytes, md + 24, sizeof(bytes));
    memcpy(&stripes, md + 28, sizeof(stripes));
    magic = le32toh(magic);
    if (magic == 0x0BD10BD0 || magic == 0x0BD30BD0)
        json_object_set_new(o, "lustre",
                            json_pack("{s:i, s:I}", "stripes", le16toh(stripes), "bytes", (json_int_t)le32toh(bytes)));
}

/* One read of the first block, as O_DIRECT wants it. */
static int read_direct(int fd, const char *name, const struct direct_align *a, uint64_t bytes, struct spur_error *e)
{
    size_t unit = a->offset > 4096 ? a->offset : 4096;
    _cleanup_free_ void *memory = aligned_alloc(a->memory > 4096 ? a->memory : 4096, unit);
    int64_t n = memory && unit <= MOST_READ && bytes ? file_read(fd, name, memory, unit, 0, a->offset, bytes, e) : 0;

    return n < 0 ? (int)n : 0;
}

static void put_direct(json_t *o, const char *name, uint64_t bytes)
{
    struct spur_error e = {0};
    struct direct_align a = {0};
    _cleanup_fd_ int fd = file_open_fd(name, false, true, &e);
    int r = fd < 0 ? fd : direct_align_get(fd, name, &a, &e);

    if (!r)
        r = read_direct(fd, name, &a, bytes, &e);
    json_object_set_new(o, "odirect",
                        r < 0 ? json_pack("{s:b, s:o, s:o}", "works", 0, "detail", json_filename(e.detail), "remedy",
                                          json_filename(e.remedy))
                              : json_pack("{s:b, s:i, s:i, s:s}", "works", 1, "memory", (int)a.memory, "offset",
                                          (int)a.offset, "source", a.source));
}

static void put_regular(json_t *o, const char *name)
{
    struct spur_error e = {0};
    _cleanup_fd_ int fd = file_open_fd(name, false, false, &e);
    char type[16];
    uint64_t bytes = 0;

    if (fd < 0 || file_size_get(fd, name, &bytes, &e) < 0) {
        json_object_set_new(o, "error", json_filename(e.detail));
        json_object_set_new(o, "remedy", json_filename(e.remedy));
        return;
    }
    file_system_name(fd, type, sizeof(type));
    json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
    json_object_set_new(o, "statfs", json_string(type));
    put_extents(o, fd, bytes);
    put_flags(o, fd);
    put_stripes(o, fd);
    put_direct(o, name, bytes);
}

/* Files of a simulated mount lie in its top folder, beside its counters. */
static bool is_simfs(const char *real)
{
    char path[PATH_MAX + 16];
    const char *slash = real ? strrchr(real, '/') : NULL;

    if (!slash)
        return false;
    snprintf(path, sizeof(path), "%.*s/.spur/stats", (int)(slash - real), real);
    return access(path, F_OK) == 0;
}

/* What stat says of a folder may be remembered: these two are asked of the server, which may hang. */
static void ask_server(const char *name)
{
    struct statx sx;
    struct statfs fs;

    statx(AT_FDCWD, name, AT_STATX_FORCE_SYNC, STATX_MODE, &sx);
    statfs(name, &fs);
}

static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISBLK(mode) ? "block device" : "other";
}

json_t *live_file(void *context)
{
    const char *name = context;
    json_t *o = json_pack("{s:o}", "name", json_filename(name));
    _cleanup_free_ char *real = NULL;
    struct stat st;

    if (stat(name, &st) < 0) {
        json_object_set_new(o, "error", json_string(strerrordesc_np(errno)));
        return o;
    }
    if (S_ISDIR(st.st_mode))
        ask_server(name);
    real = realpath(name, NULL);
    json_object_set_new(o, "real", real ? json_filename(real) : json_null());
    json_object_set_new(o, "kind", json_string(kind_of(st.st_mode)));
    json_object_set_new(o, "directory", json_boolean(S_ISDIR(st.st_mode)));
    if (is_simfs(real))
        json_object_set_new(o, "simfs", json_true());
    json_object_set_new(o, "device",
                        json_pack("[i,i]", (int)major(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev),
                                  (int)minor(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev)));
    if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
        put_regular(o, name);
    else if (access(name, R_OK) < 0)
        json_object_set_new(o, "error", json_string(strerrordesc_np(errno)));
    return o;
}
