/* SPDX-License-Identifier: MIT */
/*
 * SEEK_HOLE and SEEK_DATA cut the range into data and holes. On most file systems they count an unwritten extent as a
 * hole unless the page cache holds pages of it, be they zeros that somebody read there; FIEMAP then tells which holes
 * and which data are unwritten extents. Below data, cachestat (Linux 6.5) tells pages that are to be written back
 * there, and are data thereafter, from clean ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probe/read.h"

#define N_EXTENTS  512    /* of one FIEMAP call */
#define MOST_CALLS 100000 /* lseek and ioctl together: under a second */
#define CACHESTAT  451    /* __NR_cachestat, newer than some headers */

struct look {
    int fd;
    unsigned calls;
    bool no_fiemap;
    struct fiemap *map;
    uint64_t hole_bytes, unwritten_bytes, first_offset;
    uint64_t unflushed_bytes; /* unwritten for FIEMAP, data for SEEK_DATA, and not known to be clean */
    uint64_t first_unflushed;
    bool no_cachestat; /* which left it unknown */
};

enum pages { PAGES_UNKNOWN, PAGES_CLEAN, PAGES_DIRTY };

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void note_first(struct look *l, uint64_t offset)
{
    if (!l->hole_bytes && !l->unwritten_bytes)
        l->first_offset = offset;
}

/* One call; *ret_n extents. -E2BIG: enough calls. */
static int fiemap_call(struct look *l, uint64_t start, uint64_t end)
{
    struct fiemap *m = l->map;

    if (l->calls++ >= MOST_CALLS)
        return -E2BIG;
    memset(m, 0, sizeof(*m));
    m->fm_start = start;
    m->fm_length = end - start;
    m->fm_extent_count = N_EXTENTS;
    return ioctl(l->fd, FS_IOC_FIEMAP, m) < 0 ? -errno : 0;
}

static uint64_t unwritten_in(const struct fiemap_extent *x, uint64_t start, uint64_t end)
{
    uint64_t low = x->fe_logical > start ? x->fe_logical : start, high = min_u64(x->fe_logical + x->fe_length, end);

    if (!(x->fe_flags & FIEMAP_EXTENT_UNWRITTEN) || (x->fe_flags & FIEMAP_EXTENT_DELALLOC))
        return 0;
    return high > low ? high - low : 0;
}

/* Adds the bytes of unwritten extents in [start, end). */
static int count_unwritten(struct look *l, uint64_t start, uint64_t end, uint64_t *sum, uint64_t *ret_first)
{
    const struct fiemap_extent *last;
    uint64_t n, at = start;
    int r;

    while (at < end) {
        r = fiemap_call(l, at, end);
        if (r < 0 || !l->map->fm_mapped_extents)
            return r;
        for (unsigned i = 0; i < l->map->fm_mapped_extents; i++) {
            n = unwritten_in(&l->map->fm_extents[i], at, end);
            if (n && !*sum)
                *ret_first = l->map->fm_extents[i].fe_logical > at ? l->map->fm_extents[i].fe_logical : at;
            *sum += n;
        }
        last = &l->map->fm_extents[l->map->fm_mapped_extents - 1];
        if ((last->fe_flags & FIEMAP_EXTENT_LAST) || last->fe_logical + last->fe_length <= at)
            return 0;
        at = last->fe_logical + last->fe_length;
    }
    return 0;
}

/* FIEMAP where there is one. */
static int fiemap_range(struct look *l, uint64_t start, uint64_t end, uint64_t *sum, uint64_t *ret_first)
{
    int r;

    if (l->no_fiemap)
        return 0;
    r = count_unwritten(l, start, end, sum, ret_first);
    if (r == -EOPNOTSUPP || r == -ENOTTY) {
        l->no_fiemap = true;
        r = 0;
    }
    return r;
}

static int add_hole(struct look *l, uint64_t start, uint64_t end)
{
    uint64_t unwritten = 0, first;
    int r;

    if (start == end)
        return 0;
    r = fiemap_range(l, start, end, &unwritten, &first);
    note_first(l, start);
    l->unwritten_bytes += unwritten;
    l->hole_bytes += end - start - unwritten;
    return r;
}

/* struct cachestat_range and struct cachestat of linux/mman.h; a stacked file system has no pages of its own to count.
 */
static enum pages pages_in(int fd, uint64_t start, uint64_t end)
{
    uint64_t range[2] = {start, end - start};
    struct {
        uint64_t n, n_dirty, n_writeback, n_evicted, n_recently_evicted;
    } s = {0};

    if (syscall(CACHESTAT, fd, range, &s, 0) < 0 || !s.n)
        return PAGES_UNKNOWN;
    return s.n_dirty || s.n_writeback ? PAGES_DIRTY : PAGES_CLEAN;
}

/*
 * What SEEK_DATA calls data. Where an extent below is unwritten: what is under way to it is awaited (that starts no
 * writing), pages are counted and only then extents, for an extent is marked written before its pages are clean.
 */
static int add_data(struct look *l, uint64_t start, uint64_t end)
{
    uint64_t unwritten = 0, first = start;
    enum pages pages;
    int r = fiemap_range(l, start, end, &unwritten, &first);

    if (r < 0 || !unwritten)
        return r;
    sync_file_range(l->fd, (off_t)start, (off_t)(end - start), SYNC_FILE_RANGE_WAIT_BEFORE);
    pages = pages_in(l->fd, start, end);
    unwritten = 0;
    r = fiemap_range(l, start, end, &unwritten, &first);
    if (r < 0 || !unwritten)
        return r;
    if (pages == PAGES_CLEAN) {
        note_first(l, first);
        l->unwritten_bytes += unwritten;
        return 0;
    }
    if (!l->unflushed_bytes)
        l->first_unflushed = first;
    l->unflushed_bytes += unwritten;
    l->no_cachestat |= pages == PAGES_UNKNOWN;
    return 0;
}

static int seek(struct look *l, uint64_t offset, int whence, uint64_t *ret)
{
    off_t at;

    if (l->calls++ >= MOST_CALLS)
        return -E2BIG;
    at = lseek(l->fd, (off_t)offset, whence);
    if (at < 0)
        return -errno;
    *ret = (uint64_t)at;
    return 0;
}

static int walk(struct look *l, uint64_t offset, uint64_t end)
{
    uint64_t data = 0, hole = offset;
    int r;

    while (offset < end) {
        r = seek(l, offset, SEEK_DATA, &data);
        if (r == -ENXIO)
            return add_hole(l, offset, end);
        if (r < 0)
            return r;
        data = min_u64(data, end);
        r = add_hole(l, offset, data);
        if (r == 0 && data < end)
            r = seek(l, data, SEEK_HOLE, &hole);
        if (r < 0 || data == end)
            return r;
        hole = min_u64(hole, end);
        r = add_data(l, data, hole);
        if (r < 0)
            return r;
        offset = hole;
    }
    return 0;
}

static void set_status(struct probe_extents *ret, const char *status)
{
    strcpy(ret->status, status);
}

/* Without FIEMAP only tmpfs is sure to have told the truth. */
static bool seek_is_real(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static void set_sizes(const struct look *l, struct probe_extents *ret)
{
    bool first = l->unflushed_bytes && (l->first_unflushed < l->first_offset || !(l->hole_bytes || l->unwritten_bytes));

    ret->hole_bytes = l->hole_bytes;
    ret->unwritten_bytes = l->unwritten_bytes + l->unflushed_bytes;
    ret->unflushed_bytes = l->unflushed_bytes;
    ret->first_offset = first ? l->first_unflushed : l->first_offset;
}

/* What was seen is true even if the look was cut short; what was not seen is "data" only after a whole look. */
static void judge(const struct look *l, int r, struct probe_extents *ret)
{
    set_sizes(l, ret);
    if (r == -E2BIG)
        reason_set(ret->reason, "over %u calls were needed: only the beginning was looked at", MOST_CALLS);
    else if (r < 0)
        reason_set(ret->reason, "SEEK_DATA or FIEMAP: %s", strerrordesc_np(-r));
    if (l->hole_bytes || l->unwritten_bytes) {
        set_status(ret, "holes");
        return;
    }
    set_status(ret, "unknown");
    if (r < 0)
        return;
    if (l->unflushed_bytes)
        reason_set(ret->reason, "%llu bytes from %llu on are of unwritten extents, with pages in the cache that %s",
                   (unsigned long long)l->unflushed_bytes, (unsigned long long)l->first_unflushed,
                   l->no_cachestat ? "may be dirty" : "are dirty");
    else if (l->no_fiemap && !seek_is_real(l->fd))
        reason_set(ret->reason, "the file system has no FIEMAP, and may call everything data");
    else
        set_status(ret, "data");
}

/* Length that may be looked at; 0 with the reason. */
static uint64_t end_of_range(int fd, uint64_t offset, uint64_t length, struct probe_extents *ret)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        reason_set(ret->reason, "fstat: %s", strerrordesc_np(errno));
    else if (!S_ISREG(st.st_mode))
        reason_set(ret->reason, "not a regular file: nothing says what was written");
    else if (offset >= (uint64_t)st.st_size || !length)
        reason_set(ret->reason, "no bytes in the range");
    else
        return length < (uint64_t)st.st_size - offset ? offset + length : (uint64_t)st.st_size;
    return 0;
}

void probe_extents_read(int fd, uint64_t offset, uint64_t length, struct probe_extents *ret)
{
    struct look l = {.fd = fd};
    off_t before = lseek(fd, 0, SEEK_CUR);
    uint64_t end;
    int r;

    memset(ret, 0, sizeof(*ret));
    set_status(ret, "unknown");
    end = end_of_range(fd, offset, length, ret);
    if (!end)
        return;
    l.map = malloc(sizeof(*l.map) + N_EXTENTS * sizeof(struct fiemap_extent));
    if (!l.map) {
        reason_set(ret->reason, "out of memory");
        return;
    }
    r = walk(&l, offset, end);
    lseek(fd, before, SEEK_SET);
    free(l.map);
    judge(&l, r, ret);
}
