/* SPDX-License-Identifier: MIT */
#include "simfs/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"
#include "pattern/pattern.h"

#define CHUNK (4u << 20)

/* ------------------------------------------------------------------------------------------------
 * The block format
 */

static void fill(const struct backing_file *f, void *dst, size_t bytes, uint64_t offset)
{
    struct pattern_fill fill = {
        .uuid = {f->uuid[0], f->uuid[1]},
        .offset = offset,
        .generation = f->generation,
        .key_seed = f->key_seed + offset / PATTERN_BLOCK * PATTERN_STEP,
    };

    pattern_fill_range(dst, bytes, &fill);
}

/* A random (version 4) UUID, and the present as generation. */
static int draw(struct backing_file *f, uint64_t seed, uint64_t index)
{
    struct timespec now;
    uint8_t uuid[16];

    if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid))
        return -errno;
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    memcpy(f->uuid, uuid, sizeof(uuid));
    clock_gettime(CLOCK_REALTIME, &now);
    f->generation = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
    f->key_seed = pattern_mix(seed + index);
    return 0;
}

const uint8_t *backing_at(const struct backing *b, uint64_t file, uint64_t offset, size_t bytes, void *scratch)
{
    const struct backing_file *f = &b->files[file];
    uint64_t first = round_down(offset, PATTERN_BLOCK);

    if (f->data)
        return f->data + offset;
    fill(f, scratch, (size_t)(offset - first) + bytes, first);
    return (const uint8_t *)scratch + (offset - first);
}

/* ------------------------------------------------------------------------------------------------
 * Filling what is kept, with all CPUs
 */

struct filler {
    const struct backing_file *file;
    uint64_t bytes;
    _Atomic uint64_t next;
};

static void *fill_main(void *arg)
{
    struct filler *w = arg;
    uint64_t at;

    while ((at = atomic_fetch_add(&w->next, CHUNK)) < w->bytes)
        fill(w->file, w->file->data + at, w->bytes - at < CHUNK ? (size_t)(w->bytes - at) : CHUNK, at);
    return NULL;
}

static void fill_from(const struct backing_file *f, uint64_t first, uint64_t bytes)
{
    struct filler w = {.file = f, .bytes = bytes, .next = first};
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[15];
    unsigned n = 0;

    while (n < ARRAY_SIZE(threads) && n + 1 < n_cpus && n < bytes / CHUNK &&
           !pthread_create(&threads[n], NULL, fill_main, &w))
        n++;
    fill_main(&w);
    while (n)
        pthread_join(threads[--n], NULL);
}

/* ------------------------------------------------------------------------------------------------
 * Memory
 */

static int map_memory(struct backing *b, struct backing_file *f, struct spur_error *e)
{
    f->data = mmap(NULL, b->file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (f->data == MAP_FAILED) {
        f->data = NULL;
        error_errno(e, errno, "mmap", "%llu bytes of memory", (unsigned long long)b->file_bytes);
        error_remedy(e, "take a smaller --size, or --backing pattern, which needs no memory");
        return -e->code;
    }
    madvise(f->data, b->file_bytes, MADV_HUGEPAGE); /* the kernel walks fewer pages as it copies */
    fill_from(f, 0, b->file_bytes);
    return 0;
}

/* Memory that is lent out without looking ends in the kernel's killer. */
static int check_memory(const struct backing *b, struct spur_error *e)
{
    unsigned long long available_kib = 0, needed = (unsigned long long)b->file_bytes * b->n_files;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");

    while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %llu kB", &available_kib) != 1)
        ;
    if (f)
        fclose(f);
    if (!available_kib || needed / 1024 < available_kib - available_kib / 16)
        return 0;
    error_spur(e, SPUR_CODE_REFUSED, "memory", "--size: %llu MiB in all, and %llu MiB of memory are available",
               needed >> 20, available_kib >> 10);
    error_remedy(e, "take a smaller --size, or --backing pattern, which needs no memory");
    return -EPERM;
}

/* ------------------------------------------------------------------------------------------------
 * Files of a directory
 */

static int refuse_file(const char *name, const char *why, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "backing", "%s: %s", name, why);
    error_remedy(e, "name a directory of simfs's own, or make the files with spur prepare");
    return -EPERM;
}

static int map_file(struct backing *b, struct backing_file *f, const char *name, int fd, struct spur_error *e)
{
    f->data = mmap(NULL, b->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (f->data != MAP_FAILED)
        return 0;
    f->data = NULL;
    return error_errno(e, errno, "mmap", "%s", name);
}

/* A file is unfinished (SPURPART) until all of it is there; its first block comes last. */
static int fill_file(struct backing *b, struct backing_file *f, const char *name, int fd, struct spur_error *e)
{
    const uint64_t part = PATTERN_MAGIC_PART;
    int r = map_file(b, f, name, fd, e);

    if (r < 0)
        return r;
    memcpy(f->data, &part, b->file_bytes < sizeof(part) ? (size_t)b->file_bytes : sizeof(part));
    if (b->file_bytes > PATTERN_BLOCK)
        fill_from(f, PATTERN_BLOCK, b->file_bytes);
    if (msync(f->data, b->file_bytes, MS_SYNC) < 0)
        return error_errno(e, errno, "msync", "%s", name);
    fill(f, f->data, b->file_bytes < PATTERN_BLOCK ? (size_t)b->file_bytes : PATTERN_BLOCK, 0);
    return 0;
}

static int make_file(struct backing *b, struct backing_file *f, const char *name, int fd, struct spur_error *e)
{
    int r = posix_fallocate(fd, 0, (off_t)b->file_bytes);

    if (!r)
        return fill_file(b, f, name, fd, e);
    unlink(name);
    return error_errno(e, r, "posix_fallocate", "%s", name);
}

static int keep_file(struct backing *b, struct backing_file *f, const char *name, int fd, struct spur_error *e)
{
    struct pattern_header head = {0};
    struct stat st;

    if (fstat(fd, &st) < 0)
        return error_errno(e, errno, "fstat", "%s", name);
    if (!S_ISREG(st.st_mode))
        return refuse_file(name, "is no regular file", e);
    if (st.st_size != (off_t)b->file_bytes)
        return refuse_file(name, "has another size than --size", e);
    if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head))
        return refuse_file(name, "was not prepared by spur", e);
    if (head.magic == PATTERN_MAGIC_PART)
        return fill_file(b, f, name, fd, e);
    if (head.magic != PATTERN_MAGIC || head.checksum != pattern_checksum(&head))
        return refuse_file(name, "was not prepared by spur", e);
    return map_file(b, f, name, fd, e);
}

static int check_directory(const struct simfs_options *o, struct spur_error *e)
{
    struct stat dir, mount;
    int err = stat(o->backing, &dir) < 0 ? errno : S_ISDIR(dir.st_mode) ? 0 : ENOTDIR;

    if (err) {
        error_errno(e, err, "stat", "--backing: %s", o->backing);
        error_remedy(e, "make the directory first: only files in it are made where they are missing");
        return -err;
    }
    if (stat(o->mount, &mount) < 0 || dir.st_dev != mount.st_dev || dir.st_ino != mount.st_ino)
        return 0;
    error_spur(e, SPUR_CODE_REFUSED, "backing", "--backing: %s is MOUNT itself, which would hide its files",
               o->backing);
    error_remedy(e, "name another directory");
    return -EPERM;
}

static int open_file(struct backing *b, const char *dir, uint64_t index, struct spur_error *e)
{
    struct backing_file *f = &b->files[index];
    _cleanup_fd_ int fd = -1;
    char name[4200];

    snprintf(name, sizeof(name), "%s/data.%llu", dir, (unsigned long long)index);
    fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0)
        return make_file(b, f, name, fd, e);
    if (errno == EEXIST)
        fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 ? keep_file(b, f, name, fd, e) : error_errno(e, errno, "open", "--backing: %s", name);
}

/* ------------------------------------------------------------------------------------------------ */

int backing_open(struct backing *b, const struct simfs_options *o, struct spur_error *e)
{
    bool memory = !strcmp(o->backing, "memory"), pattern = !strcmp(o->backing, "pattern");
    int r = 0;

    *b = (struct backing){.n_files = o->n_files, .file_bytes = o->file_bytes, .writable = !pattern};
    b->files = calloc(o->n_files, sizeof(*b->files));
    if (!b->files)
        return error_errno(e, ENOMEM, "calloc", "files");
    if (memory)
        r = check_memory(b, e);
    else if (!pattern)
        r = check_directory(o, e);
    for (uint64_t i = 0; !r && i < b->n_files; i++) {
        r = draw(&b->files[i], o->model.seed, i);
        if (r < 0)
            r = error_errno(e, -r, "getrandom", "drawing a UUID");
        else if (memory)
            r = map_memory(b, &b->files[i], e);
        else if (!pattern)
            r = open_file(b, o->backing, i, e);
    }
    return r;
}

void backing_close(struct backing *b)
{
    for (uint64_t i = 0; b->files && i < b->n_files; i++)
        if (b->files[i].data)
            munmap(b->files[i].data, b->file_bytes);
    free(b->files);
    *b = (struct backing){NULL};
}
