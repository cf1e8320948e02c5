/* SPDX-License-Identifier: MIT */
/* Settings of fanout, and what "auto" comes to: decided once, when a queue is opened. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"
#include "path/fanout.h"

#define PIECE_MIN          4096u
#define PIECE_MAX          (64u << 20)
#define PIECE_AUTO         (1u << 20)
#define PIECE_AUTO_MEMORY  (2u << 20)   /* of files in memory, to a GPU */
#define PIECE_AUTO_MIN     (64u << 10)  /* of what a mount or device prefers */
#define STAGE_MAX          (1ull << 30) /* the kernel's limit for one registered range */
#define STAGE_AUTO_DEVICE  (64ull << 20)
#define STAGE_AUTO_HOST    (16ull << 20) /* only what is not aligned is staged */
#define STAGE_AUTO_CALLER  (8ull << 20)
#define STAGE_AUTO_PIECES  32u
#define WORKERS_AUTO_RING  12u
#define WORKERS_AUTO_POOL  16u
#define WORKERS_MAX        256u
#define WORKERS_AUTO_SHARE 4u     /* CPUs for each queue, for files in memory */
#define ASYNC_AUTO_MIN     65536u /* below, handing a piece to a worker costs more than copying it */
#define BATCH_MAX          1024u

const struct spur_setting fanout_setting_rows[] = {
    {"engine", "word", "auto, uring, threads, caller", "auto",
     "what moves the pieces; auto: io_uring, or threads where the kernel does not offer it (and says so); for files in "
     "memory threads if pieces are large and CPUs idle, else the caller's own thread"},
    {"piece", "bytes", "auto, 4K..64M", "auto",
     "largest I/O; auto: 1 MiB, or what the mount or the block device takes at once where that is less; 2 MiB for "
     "files "
     "in memory"},
    {"stage", "bytes", "auto, 8K..1G", "auto",
     "staging memory of each queue; auto: enough for the depth, at least 32 pieces, at most 64 MiB (host memory: 16, "
     "engine caller: 8)"},
    {"batch", "count", "auto, 1..1024", "auto",
     "landed pieces to wait for, and small copies to gather, at a time; auto: by depth, 1 for host memory"},
    {"async", "word", "auto, yes, no", "auto",
     "let io_uring's kernel workers do the I/O; auto: no, unless the kernel has no other way"},
    {"workers", "count", "auto, 1..256", "auto",
     "threads, or kernel workers, of each queue; auto: CPUs divided by queues, at most 12 (threads: 16)"},
    {"direct", "word", "yes, no", "yes", "open files with O_DIRECT; no: through the page cache"},
    {NULL, NULL, NULL, NULL, NULL},
};

static int bad_value(const char *key, const char *value, struct spur_error *e)
{
    const struct spur_setting *row = fanout_setting_rows;

    while (strcmp(row->name, key))
        row++;
    return error_spur(e, SPUR_CODE_USAGE, "set", "fanout: %s=%s is out of range: %s", key, value, row->range);
}

static unsigned shift_of(char suffix)
{
    switch (suffix) {
    case 'K':
        return 10;
    case 'M':
        return 20;
    case 'G':
        return 30;
    default:
        return 0;
    }
}

/* "4096", "64K", "1M", "1MiB"; "auto" is 0. */
static int parse_number(const struct spur_path *p, const char *key, uint64_t min, uint64_t max, uint64_t *ret,
                        struct spur_error *e)
{
    const char *text = path_setting(p, key);
    unsigned long long n;
    unsigned shift;
    char *end;

    *ret = 0;
    if (!strcmp(text, "auto"))
        return 0;
    if (*text < '0' || *text > '9')
        return bad_value(key, text, e);
    errno = 0;
    n = strtoull(text, &end, 10);
    shift = shift_of(*end);
    if (shift)
        end += strcmp(end + 1, "iB") ? 1 : 3;
    if (*end || errno || n > (max >> shift) || n << shift < min)
        return bad_value(key, text, e);
    *ret = n << shift;
    return 0;
}

/* Index of the setting's value in a NULL-terminated list. */
static int parse_word(const struct spur_path *p, const char *key, const char *const *words, unsigned *ret,
                      struct spur_error *e)
{
    const char *text = path_setting(p, key);

    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(words[i], text))
            continue;
        *ret = i;
        return 0;
    }
    return bad_value(key, text, e);
}

int fanout_settings_parse(const struct spur_path *p, struct fanout_settings *ret, struct spur_error *e)
{
    static const char *const engines[] = {"auto", "uring", "threads", "caller", NULL};
    static const char *const choices[] = {"auto", "yes", "no", NULL};
    unsigned engine = 0, async = 0, direct = 0;
    uint64_t batch = 0, workers = 0;
    int r;

    if ((r = parse_word(p, "engine", engines, &engine, e)) < 0 ||
        (r = parse_word(p, "async", choices, &async, e)) < 0 ||
        (r = parse_word(p, "direct", choices + 1, &direct, e)) < 0 ||
        (r = parse_number(p, "piece", PIECE_MIN, PIECE_MAX, &ret->piece, e)) < 0 ||
        (r = parse_number(p, "stage", FANOUT_SMALL_SLOT, STAGE_MAX, &ret->stage, e)) < 0 ||
        (r = parse_number(p, "batch", 1, BATCH_MAX, &batch, e)) < 0 ||
        (r = parse_number(p, "workers", 1, WORKERS_MAX, &workers, e)) < 0)
        return r;
    if (ret->piece % PIECE_MIN)
        return error_spur(e, SPUR_CODE_USAGE, "set", "fanout: piece=%s is no multiple of 4096",
                          path_setting(p, "piece"));
    ret->engine = (enum fanout_engine)engine;
    ret->async = (enum fanout_choice)async;
    ret->direct = direct == 0;
    ret->batch = (unsigned)batch;
    ret->workers = (unsigned)workers;
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Auto
 */

/* Largest request of the block device under @fd in bytes; 0: no block device, or not to be read. A partition has no
 * queue of its own: its disk is one level up. */
static uint64_t device_request_bytes(int fd)
{
    static const char *const forms[] = {"/sys/dev/block/%u:%u/queue/max_sectors_kb",
                                        "/sys/dev/block/%u:%u/../queue/max_sectors_kb"};
    struct stat st;
    uint64_t kb = 0;

    if (fstat(fd, &st) < 0)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(forms) && !kb; i++) {
        dev_t dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
        char name[80];
        FILE *f;

        snprintf(name, sizeof(name), forms[i], major(dev), minor(dev));
        f = fopen(name, "re");
        if (!f)
            continue;
        if (fscanf(f, "%lu", &kb) != 1)
            kb = 0;
        fclose(f);
    }
    return kb << 10;
}

/* A network mount tells its read size as the preferred block size; local file systems say 4096 there. */
static uint64_t mount_request_bytes(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_blksize >= (blksize_t)PIECE_AUTO_MIN ? (uint64_t)st.st_blksize : 0;
}

static void piece_auto(const struct spur_path *p, struct fanout_setup *setup)
{
    setup->piece_bytes = PIECE_AUTO;
    setup->piece_source = "default";
    for (size_t i = 0; i < p->n_files; i++) {
        uint64_t device = device_request_bytes(p->files[i]->fd);
        uint64_t best = device ? device : mount_request_bytes(p->files[i]->fd);

        if (file_in_memory(p->files[i]->fd) || !best)
            continue;
        if (best < PIECE_AUTO_MIN)
            best = PIECE_AUTO_MIN;
        if (best >= setup->piece_bytes)
            continue;
        setup->piece_bytes = (uint32_t)round_down(best, PIECE_AUTO_MIN);
        setup->piece_source = device ? "block device" : "mount";
    }
}

static uint32_t coarsest_align(const struct spur_path *p)
{
    uint32_t align = 4096;

    for (size_t i = 0; i < p->n_files; i++) {
        if (p->files[i]->align > align)
            align = p->files[i]->align;
        if (p->files[i]->align_address > align)
            align = p->files[i]->align_address;
    }
    return align;
}

static int piece_decide(struct fanout_queue *q, uint32_t align, struct spur_error *e)
{
    struct fanout_setup *s = &q->setup;

    if (q->path->settings.piece) {
        s->piece_bytes = (uint32_t)q->path->settings.piece;
        s->piece_source = "setting";
    } else {
        piece_auto(q->queue->path, s);
    }
    if (s->piece_bytes % align)
        return error_spur(e, SPUR_CODE_USAGE, "set", "fanout: piece=%u is no multiple of %u, which O_DIRECT needs here",
                          s->piece_bytes, align);
    return 0;
}

static unsigned cpu_count(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static bool all_in_memory(const struct spur_path *p)
{
    for (size_t i = 0; i < p->n_files; i++)
        if (!file_in_memory(p->files[i]->fd))
            return false;
    return p->n_files > 0;
}

/*
 * Files in memory keep nobody waiting: reading them is copying by a CPU. Small pieces are cheapest on the caller's own
 * thread; large ones go to threads where there are CPUs for them. (io_uring's workers do the same, but a burst handed
 * to sleeping ones wakes them one by one.)
 */
static const struct fanout_backend *backend_decide(const struct fanout_queue *q, unsigned share)
{
    const struct fanout_settings *want = &q->path->settings;
    const struct spur_path *p = q->queue->path;

    if (want->engine != FANOUT_ENGINE_AUTO || want->async != FANOUT_AUTO || !all_in_memory(p))
        return q->backend;
    if (p->max_request_bytes >= ASYNC_AUTO_MIN && (share >= 2 || want->workers > 1))
        return &fanout_pool;
    return &fanout_caller;
}

static unsigned workers_auto(const struct fanout_queue *q, unsigned share)
{
    unsigned most = q->backend == &fanout_pool ? WORKERS_AUTO_POOL : WORKERS_AUTO_RING;

    if (q->setup.engine_for_memory && share < most)
        most = share;
    if (q->backend == &fanout_pool)
        return q->setup.n_pieces < most ? q->setup.n_pieces : most;
    return share < 1 ? 1 : share > most ? most : share;
}

static void workers_decide(struct fanout_queue *q)
{
    const struct fanout_settings *want = &q->path->settings;
    unsigned share = cpu_count() / q->queue->path->n_queues;
    const struct fanout_backend *chosen = q->backend;

    q->backend = backend_decide(q, share);
    q->setup.engine = q->backend->name;
    q->setup.engine_for_memory = q->backend != chosen;
    q->setup.async_min = q->backend == &fanout_uring && want->async == FANOUT_YES ? 1 : UINT32_MAX;
    if (q->backend == &fanout_caller)
        q->setup.workers = 0;
    else
        q->setup.workers = want->workers ? want->workers : workers_auto(q, share);
}

static void batch_decide(struct fanout_queue *q)
{
    unsigned depth = q->queue->depth, asked = q->path->settings.batch;

    q->setup.batch = asked ? asked : q->is_device && depth >= 64 ? depth / 32 : 1;
    q->gather_min = asked ? asked : depth >= 8 ? depth / 4 : 1;
}

/* Slots: large ones for pieces, and small ones so that requests far below the largest do not use those up. */
static int stage_decide(struct fanout_queue *q, uint32_t align, struct spur_error *e)
{
    uint64_t cover = round_up(q->queue->path->max_request_bytes, align) + align;
    uint64_t slot = cover < q->setup.piece_bytes ? cover : q->setup.piece_bytes;
    uint64_t limit = q->is_device ? STAGE_AUTO_DEVICE : STAGE_AUTO_HOST;
    uint64_t stage = q->path->settings.stage;

    if (slot < FANOUT_SMALL_SLOT)
        slot = FANOUT_SMALL_SLOT;
    if (!stage) {
        stage = q->queue->depth * cover;
        if (q->is_device && stage < STAGE_AUTO_PIECES * slot)
            stage = STAGE_AUTO_PIECES * slot;
        if (q->backend->one_at_a_time && limit > STAGE_AUTO_CALLER)
            limit = STAGE_AUTO_CALLER; /* little enough for caches: what lands is copied at once */
        if (stage > limit)
            stage = limit;
        if (stage < slot)
            stage = slot;
    }
    if (stage < slot)
        return error_spur(e, SPUR_CODE_USAGE, "set", "fanout: stage=%llu does not hold one piece of %llu bytes",
                          (unsigned long long)stage, (unsigned long long)slot);
    q->slot_bytes = (uint32_t)slot;
    if (slot > FANOUT_SMALL_SLOT && align <= 4096) {
        uint64_t spare = stage - slot < stage / 4 ? stage - slot : stage / 4;

        q->n_small = (uint32_t)(spare / FANOUT_SMALL_SLOT);
        if (q->n_small > 2 * q->queue->depth)
            q->n_small = 2 * q->queue->depth;
        if (q->n_small > FANOUT_MAX_PIECES)
            q->n_small = FANOUT_MAX_PIECES;
    }
    q->n_large = (uint32_t)((stage - (uint64_t)q->n_small * FANOUT_SMALL_SLOT) / slot);
    if (q->n_large > FANOUT_MAX_PIECES)
        q->n_large = FANOUT_MAX_PIECES;
    q->setup.stage_bytes = (uint64_t)q->n_small * FANOUT_SMALL_SLOT + (uint64_t)q->n_large * slot;
    return 0;
}

static void count_pieces(struct fanout_queue *q)
{
    uint64_t n = q->queue->depth * (q->queue->path->max_request_bytes / q->setup.piece_bytes + 2);

    q->setup.n_pieces = n < FANOUT_MAX_PIECES ? (unsigned)n : FANOUT_MAX_PIECES;
}

/* Copies of 2 MiB use the link to a GPU better, if that leaves a piece for each worker and one to come. */
static void piece_for_memory(struct fanout_queue *q)
{
    uint64_t under_way = q->queue->depth * q->queue->path->max_request_bytes;
    unsigned movers = q->setup.workers ? q->setup.workers : 1;

    if (q->path->settings.piece || !q->setup.engine_for_memory || !q->is_device ||
        under_way < 2ull * movers * PIECE_AUTO_MEMORY)
        return;
    q->setup.piece_bytes = PIECE_AUTO_MEMORY;
    q->setup.piece_source = "files in memory";
}

int fanout_setup_decide(struct fanout_queue *q, struct spur_error *e)
{
    uint32_t align = coarsest_align(q->queue->path);
    int r = piece_decide(q, align, e);

    if (r < 0)
        return r;
    q->setup.depth = q->queue->depth;
    count_pieces(q);
    workers_decide(q);
    piece_for_memory(q);
    count_pieces(q);
    batch_decide(q);
    return stage_decide(q, align, e);
}
