/* SPDX-License-Identifier: MIT */
#include "worker/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/quote.h"
#include "core/util.h"
#include "path/direct.h"
#include "pattern/pattern.h"
#include "worker/refer.h"

static void target_free(struct target *t)
{
    free(t->filename);
    if (t->fd >= 0)
        close(t->fd);
}

void target_list_free(struct target_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        target_free(&list->items[i]);
    free(list->items);
    *list = (struct target_list){0};
}

static int refuse(struct spur_error *e, const char *remedy, const char *name, const char *what)
{
    int r = error_spur(e, SPUR_CODE_REFUSED, "file", "%s: %s", name, what);

    error_remedy(e, "%s", remedy);
    refer_to(e, strstr(what, "extents") ? "file-layout" : "file", name);
    return r;
}

/* By type alone, before the file is opened: opening a FIFO or a device may block or act. */
static int judge_type(const struct job *job, const char *name, const struct stat *st, struct spur_error *e)
{
    if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))
        return 0;
    if (S_ISBLK(st->st_mode) && job->device_ok)
        return 0;
    if (S_ISBLK(st->st_mode))
        return refuse(e, "--device-ok allows it (reading only, unless --overwrite is given too)", name,
                      "is a block device");
    return refuse(e, "name a regular file, a directory of them, or a block device", name,
                  S_ISFIFO(st->st_mode)   ? "is a FIFO"
                  : S_ISSOCK(st->st_mode) ? "is a socket"
                                          : "is a character device");
}

static int new_uuid(uint64_t uuid[2], struct spur_error *e)
{
    return getrandom(uuid, 16, 0) == 16 ? 0 : error_errno(e, errno, "getrandom", "UUID of a writing trial");
}

/* A header in the first block says whose file it is. */
static int judge_owner(const struct job *job, struct target *t, struct spur_error *e)
{
    struct pattern_header h = {0};
    ssize_t n = pread(t->fd, &h, sizeof(h), 0);

    if (n < 0)
        return error_errno(e, errno, "pread", "%s", t->filename);
    if (n == (ssize_t)sizeof(h) && h.version == PATTERN_VERSION && h.checksum == pattern_checksum(&h)) {
        if (h.magic == PATTERN_MAGIC_PART)
            return refuse(e, "run spur prepare on it again", t->filename,
                          "was left unfinished by an interrupted spur prepare");
        t->is_spur = h.magic == PATTERN_MAGIC && h.offset == 0;
    }
    if (t->is_spur) {
        memcpy(t->uuid, h.uuid, sizeof(t->uuid));
        return 0;
    }
    if (job_writes(job) && !job->overwrite)
        return refuse(e, "use a file made by spur prepare, or give --overwrite to lose what is in this one",
                      t->filename, "was not made by spur and would be written");
    return job_writes(job) ? new_uuid(t->uuid, e) : 0;
}

int target_disown(const struct target *t, struct spur_error *e)
{
    static const char none[8] = "PARTIAL";
    int fd = file_open_fd(t->filename, true, false, e);
    int64_t n = fd;

    if (fd < 0)
        return fd;
    n = file_write(fd, t->filename, none, sizeof(none), offsetof(struct pattern_header, magic), e);
    if (n >= 0 && fsync(fd) < 0)
        n = error_errno(e, errno, "fsync", "%s", t->filename);
    close(fd);
    return n < 0 ? (int)n : 0;
}

/* Pages may be there of what was never written: only after a sync do the extents tell. */
static int refuse_unflushed(const struct target *t, struct spur_error *e)
{
    _cleanup_free_ char *name = quote_word(t->filename);
    char what[PROBE_REASON + 100], remedy[sizeof(e->remedy)];

    snprintf(what, sizeof(what), "%s: what was written there cannot be told from what never was", t->extents.reason);
    snprintf(remedy, sizeof(remedy), "sync %.200s writes them back; what is refused then has holes",
             name && strlen(name) <= 200 ? name : "FILE");
    return refuse(e, remedy, t->filename, what);
}

static int judge_holes(struct target *t, struct spur_error *e)
{
    char what[200];

    if (t->is_block_device)
        return 0;
    probe_extents_read(t->fd, t->begin_bytes, t->usable_bytes, &t->extents);
    if (strcmp(t->extents.status, "holes"))
        return t->extents.unflushed_bytes ? refuse_unflushed(t, e) : 0;
    snprintf(
        what, sizeof(what),
        "has holes or unwritten extents (%llu bytes never written, %llu unwritten, first at %llu): the file system "
        "would answer zeros without asking the storage",
        (unsigned long long)t->extents.hole_bytes, (unsigned long long)t->extents.unwritten_bytes,
        (unsigned long long)t->extents.first_offset);
    return refuse(e, "spur prepare makes a file without holes; or copy it with cp --sparse=never", t->filename, what);
}

static int judge_size(const struct job *job, struct target *t, struct spur_error *e)
{
    char what[120];

    t->begin_bytes = job->begin_bytes < t->bytes ? job->begin_bytes : t->bytes;
    t->usable_bytes = t->bytes - t->begin_bytes;
    if (job->range_bytes && job->range_bytes < t->usable_bytes)
        t->usable_bytes = job->range_bytes;
    if (!t->bytes)
        return refuse(e, "spur prepare makes a file to read", t->filename, "is empty");
    if (t->bytes < job->request_bytes) {
        snprintf(what, sizeof(what), "%llu bytes are less than one request of %llu", (unsigned long long)t->bytes,
                 (unsigned long long)job->request_bytes);
        return refuse(e, "use a larger file or a smaller --request", t->filename, what);
    }
    if (t->bytes - t->begin_bytes < job->request_bytes)
        return error_spur(e, SPUR_CODE_USAGE, "offset", "%s: after --offset %llu there is not one request of %llu",
                          t->filename, (unsigned long long)job->begin_bytes, (unsigned long long)job->request_bytes);
    if (t->usable_bytes < job->request_bytes)
        return error_spur(e, SPUR_CODE_USAGE, "range", "--range %llu is less than one request of %llu",
                          (unsigned long long)job->range_bytes, (unsigned long long)job->request_bytes);
    return 0;
}

static int judge(const struct job *job, struct target *t, struct spur_error *e)
{
    int r = file_size_get(t->fd, t->filename, &t->bytes, e);

    if (!r)
        r = judge_size(job, t, e);
    if (!r)
        r = judge_owner(job, t, e);
    if (!r)
        r = judge_holes(t, e);
    return r;
}

static int open_target(const char *name, const struct stat *st, struct target *t, struct spur_error *e)
{
    t->fd = file_open_fd(name, false, false, e);
    if (t->fd < 0)
        return t->fd;
    posix_fadvise(t->fd, 0, 0, POSIX_FADV_RANDOM); /* looking at a header must not read ahead */
    t->filename = strdup(name);
    t->is_block_device = S_ISBLK(st->st_mode);
    t->device = t->is_block_device ? st->st_rdev : st->st_dev;
    t->in_memory = file_in_memory(t->fd);
    file_system_name(t->fd, t->fs_type, sizeof(t->fs_type));
    return t->filename ? 0 : error_errno(e, ENOMEM, "strdup", "%s", name);
}

/* Named twice, two threads would write one block at a time. */
static int judge_twice(const struct job *job, const struct target_list *list, const char *name, const struct stat *st,
                       struct spur_error *e)
{
    for (size_t i = 0; job_writes(job) && i < list->n; i++) {
        struct stat other;

        if (fstat(list->items[i].fd, &other) < 0 || other.st_dev != st->st_dev || other.st_ino != st->st_ino)
            continue;
        return error_spur(e, SPUR_CODE_USAGE, "file", "%s is the same file as %s: each can be written once only", name,
                          list->items[i].filename);
    }
    return 0;
}

static int add(const struct job *job, struct target_list *list, const char *name, const struct stat *st,
               bool skip_small, struct spur_error *e)
{
    struct target t = {.fd = -1};
    struct target *grown;
    int r;

    if (skip_small && (uint64_t)st->st_size < job->request_bytes) {
        list->n_skipped++;
        return 0;
    }
    r = judge_twice(job, list, name, st, e);
    if (!r)
        r = open_target(name, st, &t, e);
    if (!r)
        r = judge(job, &t, e);
    grown = r < 0 ? NULL : realloc(list->items, (list->n + 1) * sizeof(t));
    if (!grown) {
        target_free(&t);
        return r < 0 ? r : error_errno(e, ENOMEM, "realloc", "%s", name);
    }
    list->items = grown;
    list->items[list->n++] = t;
    return 0;
}

static int add_entry(const struct job *job, struct target_list *list, const char *dir, const char *entry,
                     struct spur_error *e)
{
    _cleanup_free_ char *name = NULL;
    struct stat st;

    if (asprintf(&name, "%s/%s", dir, entry) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", dir);
    if (lstat(name, &st) < 0)
        return error_errno(e, errno, "lstat", "%s", name);
    return S_ISREG(st.st_mode) ? add(job, list, name, &st, true, e) : 0;
}

static int add_directory(const struct job *job, struct target_list *list, const char *dir, struct spur_error *e)
{
    struct dirent **entries = NULL;
    size_t before = list->n, skipped = list->n_skipped;
    int n = scandir(dir, &entries, NULL, alphasort);
    int r = 0;

    if (n < 0)
        return error_errno(e, errno, "scandir", "%s", dir);
    for (int i = 0; i < n; i++) {
        if (!r)
            r = add_entry(job, list, dir, entries[i]->d_name, e);
        free(entries[i]);
    }
    free(entries);
    if (!r && list->n == before)
        return refuse(e, "name a directory that holds files, or the files", dir,
                      list->n_skipped > skipped ? "every regular file in this directory is smaller than one request"
                                                : "this directory holds no regular file");
    return r;
}

int target_list_make(const struct job *job, struct target_list *ret_list, struct spur_error *e)
{
    struct target_list list = {0};
    int r = 0;

    for (size_t i = 0; !r && i < job->n_files; i++) {
        struct stat st;

        if (stat(job->files[i], &st) < 0) {
            r = error_errno(e, errno, "stat", "%s", job->files[i]);
            if (r == -ENOENT)
                error_remedy(e, "correct the name, or make it first with spur prepare");
            continue;
        }
        r = judge_type(job, job->files[i], &st, e);
        if (!r)
            r = S_ISDIR(st.st_mode) ? add_directory(job, &list, job->files[i], e)
                                    : add(job, &list, job->files[i], &st, false, e);
    }
    if (r < 0) {
        target_list_free(&list);
        return r;
    }
    *ret_list = list;
    return 0;
}

/* Another descriptor of the same file, whatever has its name now. */
static int exchange(struct target *t, int flags)
{
    char name[40];
    int fd;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", t->fd);
    fd = open(name, flags | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(t->fd);
    t->fd = fd;
    return 0;
}

void target_list_put_away(const struct job *job, struct target_list *list)
{
    for (size_t i = 0; job_writes(job) && i < list->n; i++)
        if (!strcmp(list->items[i].fs_type, "fuse"))
            list->items[i].away = exchange(&list->items[i], O_PATH) == 0;
}

int target_list_take_back(struct target_list *list, struct spur_error *e)
{
    for (size_t i = 0; i < list->n; i++) {
        int r = list->items[i].away ? exchange(&list->items[i], O_RDONLY) : 0;

        if (r < 0)
            return error_errno(e, -r, "open", "%s: again, after it was written", list->items[i].filename);
        list->items[i].away = false;
    }
    return 0;
}
