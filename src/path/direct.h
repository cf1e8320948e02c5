/* SPDX-License-Identifier: MIT */
/*
 * The only place that knows O_DIRECT (opening and alignment), and the loops that move whole requests with pread and
 * pwrite. Shared by odirect, buffered, fanout and the verification passes.
 */
#ifndef SPUR_DIRECT_H
#define SPUR_DIRECT_H

#include "spur.h"

#include <sys/types.h>

/*
 * Opens @filename O_RDONLY|O_NOATIME|O_CLOEXEC (O_NOATIME only where the owner may) or O_RDWR|O_CLOEXEC; never
 * creates or truncates. Returns the descriptor. direct: adds O_DIRECT; -EINVAL from open is worded with the file
 * system.
 */
int file_open_fd(const char *filename, bool write, bool direct, struct spur_error *e);

struct direct_align {
    uint32_t memory;    /* of addresses */
    uint32_t offset;    /* of file offsets and lengths, for reads and writes both */
    const char *source; /* "statx" or "probe"; static */
};

/*
 * What O_DIRECT needs on this open descriptor: statx(STATX_DIOALIGN), else a probe with reads on the first data of the
 * file (a probe on a hole passes with anything). -EOPNOTSUPP: O_DIRECT is not possible there, detail says on what.
 */
int direct_align_get(int fd, const char *filename, struct direct_align *ret_align, struct spur_error *e);

/* Size in bytes of a regular file or block device. */
int file_size_get(int fd, const char *filename, uint64_t *ret_bytes, struct spur_error *e);

/* Name of the file system that holds fd ("ext4", "0x1234"; "not answering": it is gone); buffer of at least 16. */
void file_system_name(int fd, char *ret_name, size_t size);
/* tmpfs, ramfs, hugetlbfs: the file is memory. */
bool file_in_memory(int fd);

/*
 * Reads exactly @length bytes unless the file ends first; @file_bytes is the size that was measured. EINTR is retried;
 * a short read goes on from the last multiple of @align; no progress before @file_bytes is -EIO naming the offset and
 * whether the file was truncated. With align > 1 the last read is rounded up, so dst needs room for that.
 * Returns bytes read. @name is for messages.
 */
int64_t file_read(int fd, const char *name, void *dst, size_t length, uint64_t offset, uint32_t align,
                  uint64_t file_bytes, struct spur_error *e);
/* Writes exactly @length bytes or fails; -ENOSPC, -EDQUOT, -EFBIG and -EROFS get a remedy. */
int64_t file_write(int fd, const char *name, const void *src, size_t length, uint64_t offset, struct spur_error *e);

/* Whether flags of open(2) have O_DIRECT. */
bool file_flags_direct(int flags);

/* Switches O_DIRECT on an open descriptor; 0 or a negative errno (-EINVAL: the file system does not take it). */
int file_set_direct(int fd, bool on);

#endif
