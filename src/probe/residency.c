/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probe/read.h"

#define WINDOW (256ull << 20)
#define FUSE   0x65735546
#define NOT_MAPPED                                                                                                     \
    65534u /* /proc/sys/kernel/overflowuid unless somebody changed it: owners outside the user namespace */

static bool has_fowner(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};

    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & 1u << CAP_FOWNER);
}

/* can_do_mincore() of mm/mincore.c: the owner, CAP_FOWNER over the owner, or who may write. */
static bool may_see(int fd, const struct stat *st)
{
    char name[40];

    if (st->st_uid == geteuid() || (st->st_uid != NOT_MAPPED && has_fowner()))
        return true;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) == 0;
}

static bool can_be_known(int fd, struct stat *st, struct probe_residency *ret)
{
    struct statfs fs;

    if (fstat(fd, st) < 0 || fstatfs(fd, &fs) < 0)
        reason_set(ret->reason, "fstat: %s", strerrordesc_np(errno));
    else if (S_ISBLK(st->st_mode))
        reason_set(ret->reason, "a block device: its pages belong to whoever opened it");
    else if (!S_ISREG(st->st_mode))
        reason_set(ret->reason, "not a regular file");
    else if (fs.f_type == FUSE)
        reason_set(ret->reason, "on FUSE, where mincore is not to be trusted");
    else if (!may_see(fd, st))
        reason_set(ret->reason, "neither owner nor allowed to write: mincore then reports every page resident");
    else
        return true;
    return false;
}

/* Bytes of [offset, offset + length) in resident pages of a mapping that starts at @start. */
static uint64_t count(const unsigned char *pages, size_t page, uint64_t start, uint64_t offset, uint64_t end)
{
    uint64_t sum = 0, low, high;

    for (uint64_t at = start, i = 0; at < end; at += page, i++) {
        if (!(pages[i] & 1))
            continue;
        low = at > offset ? at : offset;
        high = at + page < end ? at + page : end;
        sum += high - low;
    }
    return sum;
}

static int look(int fd, uint64_t offset, uint64_t end, size_t page, unsigned char *pages, uint64_t *sum)
{
    uint64_t start = offset / page * page;
    void *map = mmap(NULL, end - start, PROT_READ, MAP_SHARED, fd, (off_t)start);
    int r = 0;

    if (map == MAP_FAILED)
        return -errno;
    if (mincore(map, end - start, pages) < 0)
        r = -errno;
    else
        *sum += count(pages, page, start, offset, end);
    munmap(map, end - start);
    return r;
}

static int look_all(int fd, uint64_t offset, uint64_t end, uint64_t *ret)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = malloc(WINDOW / page + 1);
    uint64_t next, sum = 0;
    int r = pages ? 0 : -ENOMEM;

    for (; r == 0 && offset < end; offset = next) {
        next = (offset / WINDOW + 1) * WINDOW;
        next = next < end ? next : end;
        r = look(fd, offset, next, page, pages, &sum);
    }
    free(pages);
    *ret = sum;
    return r;
}

void probe_residency_read(int fd, uint64_t offset, uint64_t length, struct probe_residency *ret)
{
    struct stat st;
    uint64_t end;
    int r;

    memset(ret, 0, sizeof(*ret));
    if (!can_be_known(fd, &st, ret))
        return;
    end = (uint64_t)st.st_size;
    if (offset < end && length < end - offset)
        end = offset + length;
    r = look_all(fd, offset, end, &ret->resident_bytes);
    ret->known = r == 0;
    if (r < 0) {
        ret->resident_bytes = 0;
        reason_set(ret->reason, "mincore: %s", strerrordesc_np(-r));
    }
}
