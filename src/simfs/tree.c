/* SPDX-License-Identifier: MIT */
/* What is in the mount: data.0 and up, and .spur with stats and config. */
#include "simfs/server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/util.h"
#include "path/direct.h"

#define FOREVER_S 86400.0

static struct server *server_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

/* ------------------------------------------------------------------------------------------------
 * Attributes
 */

static bool is_file(const struct server *s, fuse_ino_t ino)
{
    return ino >= INODE_FILES && ino - INODE_FILES < s->options->n_files;
}

static bool is_text(fuse_ino_t ino)
{
    return ino == INODE_STATS || ino == INODE_CONFIG;
}

static bool attributes(struct server *s, fuse_ino_t ino, struct stat *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (ino != FUSE_ROOT_ID && ino != INODE_SPUR && !is_text(ino) && !is_file(s, ino))
        return false;
    ret->st_ino = ino;
    ret->st_uid = geteuid();
    ret->st_gid = getegid();
    ret->st_nlink = ino == FUSE_ROOT_ID ? 3 : ino == INODE_SPUR ? 2 : 1;
    ret->st_mode = ino == FUSE_ROOT_ID || ino == INODE_SPUR ? S_IFDIR | 0755 : S_IFREG | 0444;
    ret->st_blksize = 4096;
    pthread_mutex_lock(&s->mutex);
    ret->st_mtim = ret->st_ctim = ret->st_atim = s->mtime;
    if (is_file(s, ino)) {
        ret->st_mode |= s->backing.writable ? 0200 : 0;
        ret->st_size = (off_t)s->file_bytes[ino - INODE_FILES];
        ret->st_blocks = (ret->st_size + 511) / 512;
    }
    pthread_mutex_unlock(&s->mutex);
    return true;
}

/*
 * The kernel believes that a file ends where a short answer does, until it asks anew: it must ask each time. Telling it
 * (notify_inval_inode) comes too late for who asks again at once, and what is then on its way would be filled with
 * zeros.
 */
static double known_for(const struct server *s)
{
    for (size_t i = 0; i < s->faults.n; i++)
        if (s->faults.items[i].kind == FAULT_SHORT || s->faults.items[i].kind == FAULT_TRUNCATE)
            return 0;
    return FOREVER_S;
}

static void tree_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct stat st;

    if (attributes(server_of(req), ino, &st))
        fuse_reply_attr(req, &st, known_for(server_of(req)));
    else
        fuse_reply_err(req, ENOENT);
}

/* Files keep their size: they are what was asked for. Times and modes are taken and forgotten. */
static void tree_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
    struct stat st;

    if (!attributes(server_of(req), ino, &st))
        fuse_reply_err(req, ENOENT);
    else if (to_set & FUSE_SET_ATTR_SIZE && attr->st_size != st.st_size)
        fuse_reply_err(req, EPERM);
    else
        fuse_reply_attr(req, &st, known_for(server_of(req)));
}

static void tree_statfs(fuse_req_t req, fuse_ino_t ino)
{
    const struct simfs_options *o = server_of(req)->options;
    struct statvfs v = {.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 255};

    v.f_blocks = (fsblkcnt_t)((o->file_bytes + 4095) / 4096 * o->n_files);
    v.f_files = (fsfilcnt_t)o->n_files + 4;
    fuse_reply_statfs(req, &v);
}

/* ------------------------------------------------------------------------------------------------
 * Names
 */

static fuse_ino_t find(const struct server *s, fuse_ino_t parent, const char *name)
{
    unsigned long long index;
    char again[40];

    if (parent == INODE_SPUR)
        return !strcmp(name, "stats") ? INODE_STATS : !strcmp(name, "config") ? INODE_CONFIG : 0;
    if (parent != FUSE_ROOT_ID)
        return 0;
    if (!strcmp(name, ".spur"))
        return INODE_SPUR;
    if (sscanf(name, "data.%llu", &index) != 1 || index >= s->options->n_files)
        return 0;
    snprintf(again, sizeof(again), "data.%llu", index);
    return strcmp(name, again) ? 0 : INODE_FILES + index;
}

static void tree_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct server *s = server_of(req);
    struct fuse_entry_param entry = {.attr_timeout = known_for(s), .entry_timeout = FOREVER_S};

    entry.ino = find(s, parent, name);
    if (entry.ino && attributes(s, entry.ino, &entry.attr))
        fuse_reply_entry(req, &entry);
    else
        fuse_reply_err(req, ENOENT);
}

/* Name and inode of entry @i of a directory; false behind the last. */
static bool entry_at(const struct server *s, fuse_ino_t dir, uint64_t i, char *ret_name, size_t size, fuse_ino_t *ret)
{
    static const char *const in_spur[] = {".", "..", "stats", "config"};
    static const char *const in_root[] = {".", "..", ".spur"};
    uint64_t fixed = dir == INODE_SPUR ? ARRAY_SIZE(in_spur) : ARRAY_SIZE(in_root);

    if (i < fixed) {
        snprintf(ret_name, size, "%s", (dir == INODE_SPUR ? in_spur : in_root)[i]);
        *ret = i == 0 ? dir : i == 1 ? FUSE_ROOT_ID : dir == INODE_SPUR ? INODE_STATS + i - 2 : INODE_SPUR;
        return true;
    }
    *ret = INODE_FILES + (i - fixed);
    snprintf(ret_name, size, "data.%llu", (unsigned long long)(i - fixed));
    return dir == FUSE_ROOT_ID && is_file(s, *ret);
}

static void tree_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct server *s = server_of(req);
    char buffer[4096], name[40];
    struct stat st;
    fuse_ino_t entry;
    size_t n = 0;

    if (ino != FUSE_ROOT_ID && ino != INODE_SPUR) {
        fuse_reply_err(req, ENOTDIR);
        return;
    }
    size = size < sizeof(buffer) ? size : sizeof(buffer);
    for (uint64_t i = (uint64_t)offset; entry_at(s, ino, i, name, sizeof(name), &entry); i++) {
        size_t needed;

        attributes(s, entry, &st);
        needed = fuse_add_direntry(req, buffer + n, size - n, name, &st, (off_t)i + 1);
        if (needed > size - n)
            break;
        n += needed;
    }
    fuse_reply_buf(req, buffer, n);
}

static void tree_refuse_name(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    fuse_reply_err(req, EPERM);
}

static void tree_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
    fuse_reply_err(req, EPERM);
}

static void tree_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t to_parent, const char *to,
                        unsigned flags)
{
    fuse_reply_err(req, EPERM);
}

static void tree_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
    fuse_reply_err(req, EPERM);
}

static void tree_symlink(fuse_req_t req, const char *to, fuse_ino_t parent, const char *name)
{
    fuse_reply_err(req, EPERM);
}

static void tree_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
    fuse_reply_err(req, EPERM);
}

/* ------------------------------------------------------------------------------------------------
 * stats and config
 */

static uint64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static size_t stats_now(struct server *s, char *text, size_t size)
{
    struct stats_facts facts;

    pthread_mutex_lock(&s->mutex);
    facts = s->facts;
    pthread_mutex_unlock(&s->mutex);
    stats_settle(&s->stats); /* who has its answer finds it counted */
    return stats_text(&s->stats, &facts, now_ns(), cpu_ns(), log_lost(&s->log), text, size);
}

static size_t config_now(struct server *s, char *text, size_t size)
{
    typedef unsigned long long ull;
    const struct simfs_options *o = s->options;
    const struct model_setup *m = &o->model;
    struct server_cost cost;
    int n;

    pthread_mutex_lock(&s->mutex);
    cost = s->cost;
    pthread_mutex_unlock(&s->mutex);
    n = snprintf(
        text, size,
        "simfs 1\npid %d\nmount %s\nfiles %llu\nfile_bytes %llu\nlatency_ns %llu\nwrite_latency_ns %llu\n"
        "jitter_percent %llu\nrate_bytes_per_s %llu\nwrite_rate_bytes_per_s %llu\nrpc_bytes %llu\nservers %u\n"
        "seed %llu\nbacking %s\nfaults %s\nlog %s\nfuseblk %s\ndirect_io %d\ncost_request_ns %llu\ncost_mib_ns %llu\n",
        (int)getpid(), o->mount, (ull)o->n_files, (ull)o->file_bytes, (ull)m->op[MODEL_READ].latency_ns,
        (ull)m->op[MODEL_WRITE].latency_ns, (ull)m->jitter_percent, (ull)m->op[MODEL_READ].rate,
        (ull)m->op[MODEL_WRITE].rate, (ull)m->rpc_bytes, m->n_servers, (ull)m->seed, o->backing,
        o->faults ? o->faults : "-", o->log ? o->log : "-", o->device ? o->device : "-", o->direct_io,
        (ull)cost.request_ns, (ull)cost.mib_ns);
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* What an open descriptor shows: made anew whenever it is read from 0. */
struct text {
    size_t n;
    char text[16384];
};

static void make_text(struct server *s, fuse_ino_t ino, struct text *t)
{
    t->n = ino == INODE_STATS ? stats_now(s, t->text, sizeof(t->text)) : config_now(s, t->text, sizeof(t->text));
}

static void read_text_file(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct text *t)
{
    struct server *s = server_of(req);
    struct text copy;

    if (offset == 0)
        make_text(s, ino, &copy);
    pthread_mutex_lock(&s->mutex); /* others may read the same descriptor */
    if (offset == 0)
        *t = copy;
    else
        copy = *t;
    pthread_mutex_unlock(&s->mutex);
    if ((size_t)offset >= copy.n)
        fuse_reply_buf(req, NULL, 0);
    else
        fuse_reply_buf(req, copy.text + offset, copy.n - (size_t)offset < size ? copy.n - (size_t)offset : size);
}

/* ------------------------------------------------------------------------------------------------
 * Data
 */

/* libfuse 3.14 has no field for parallel direct writes: the kernel's own struct is sent. */
static int reply_open(fuse_req_t req, uint32_t flags, struct text *text)
{
    struct fuse_open_out out = {.open_flags = flags, .fh = (uintptr_t)text};

    return fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

static void open_text(fuse_req_t req)
{
    struct text *t = malloc(sizeof(*t));

    if (t)
        t->n = 0;
    if (!t)
        fuse_reply_err(req, ENOMEM);
    else if (reply_open(req, FOPEN_DIRECT_IO, t) == -ENOENT) /* nobody waits any more */
        free(t);
}

static struct text *text_of(const struct fuse_file_info *fi)
{
    return (struct text *)(uintptr_t)fi->fh;
}

static void tree_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    free(text_of(fi));
    fuse_reply_err(req, 0);
}

/*
 * Without FOPEN_DIRECT_IO a read with O_DIRECT travels in pieces that are in flight together; writes are parallel only
 * with it. So it is set where a file is opened to be written past the cache. Since Linux 6.9 the kernel makes writes
 * parallel only while no descriptor of the file is without it: --direct-io sets it on all.
 */
static void tree_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct server *s = server_of(req);
    bool writes = (fi->flags & O_ACCMODE) != O_RDONLY, parallel;

    if (is_text(ino)) {
        if (writes)
            fuse_reply_err(req, EACCES);
        else
            open_text(req);
    } else if (!is_file(s, ino)) {
        fuse_reply_err(req, EISDIR);
    } else if (writes && !s->backing.writable) {
        fuse_reply_err(req, EROFS);
    } else {
        parallel = s->options->direct_io || (writes && file_flags_direct(fi->flags));
        reply_open(req, FOPEN_KEEP_CACHE | (parallel ? FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES : 0), NULL);
    }
}

static void tree_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct server *s = server_of(req);

    if (is_text(ino))
        read_text_file(req, ino, size, offset, text_of(fi));
    else if (is_file(s, ino))
        request_arrive(s, req, MODEL_READ, ino - INODE_FILES, (uint64_t)offset, size, NULL, fi->flags);
    else
        fuse_reply_err(req, EISDIR);
}

static void tree_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
                       struct fuse_file_info *fi)
{
    struct server *s = server_of(req);

    if (is_file(s, ino) && s->backing.writable)
        request_arrive(s, req, MODEL_WRITE, ino - INODE_FILES, (uint64_t)offset, size, data, fi->flags);
    else
        fuse_reply_err(req, EROFS);
}

static void tree_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    fuse_reply_err(req, 0);
}

static void tree_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
    fuse_reply_err(req, 0);
}

static void tree_init(void *context, struct fuse_conn_info *conn)
{
    const struct server *s = context;

    conn->max_read = conn->max_write = (unsigned)s->options->model.rpc_bytes;
    conn->max_background = 16384;
    conn->congestion_threshold = 12288;
    conn->want |= conn->capable & (FUSE_CAP_ASYNC_DIO | FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS);
    /* Pages stay as long as the kernel likes; O_TRUNC comes as a change of size; nothing goes through pipes. */
    conn->want &= ~(unsigned)(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_SPLICE_READ |
                              FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE | FUSE_CAP_WRITEBACK_CACHE);
}

const struct fuse_lowlevel_ops tree_ops = {
    .init = tree_init,
    .lookup = tree_lookup,
    .getattr = tree_getattr,
    .setattr = tree_setattr,
    .statfs = tree_statfs,
    .readdir = tree_readdir,
    .create = tree_create,
    .mkdir = tree_mkdir,
    .rename = tree_rename,
    .link = tree_link,
    .symlink = tree_symlink,
    .unlink = tree_refuse_name,
    .rmdir = tree_refuse_name,
    .open = tree_open,
    .release = tree_release,
    .read = tree_read,
    .write = tree_write,
    .flush = tree_flush,
    .fsync = tree_fsync,
};
