/* SPDX-License-Identifier: MIT */
/* Stamping what is written and judging what was read, where the bytes lie. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "path/direct.h"
#include "worker/mutation.h"
#include "worker/trial.h"

#define READ_BACK_BYTES (4u << 20)

static void fail_with(struct trial_thread *t, const struct spur_error *e)
{
    t->error = *e;
    t->failed = true;
    trial_stop(t->trial);
}

static int finish(struct trial_thread *t, struct spur_error *e)
{
    const struct memory_ops *ops = t->trial->memory->ops;
    uint64_t ticket;
    int r = ops->mark(t->stream, &ticket, e);

    return r < 0 ? r : ops->wait(t->stream, ticket, e);
}

/* ------------------------------------------------------------------------------------------------
 * Writing: every block that is written says which file, offset and generation it is
 */

/* Request-sized cell of the range that a step lies in. */
static uint64_t check_cell_of(const struct trial *t, const struct workload_step *step)
{
    return (step->offset - t->workload_files[step->file].begin) / t->job->request_bytes;
}

uint64_t check_cell_bytes(const struct trial *t, uint32_t file, uint64_t cell)
{
    uint64_t left = t->workload_files[file].bytes - cell * t->job->request_bytes;

    return left < t->job->request_bytes ? left : t->job->request_bytes;
}

uint64_t check_last_written(const struct trial *t, uint32_t file, uint64_t cell)
{
    for (unsigned i = 0; i < t->n_threads; i++) {
        const struct cut_write *cut = &t->threads[i].cut;

        if (cut->bytes && cut->file == file && cut->cell == cell)
            return cut->bytes;
    }
    return check_cell_bytes(t, file, cell);
}

static struct pattern_fill fill_of(struct trial_thread *t, unsigned slot)
{
    const struct trial *trial = t->trial;
    const struct workload_step *step = &t->slots[slot].step;
    const struct target *target = &trial->targets.items[step->file];
    uint64_t i = check_cell_of(trial, step);
    uint32_t *cell = &trial->cells[step->file][i];

    ++*cell;
    if (__builtin_expect(step->length < check_cell_bytes(trial, step->file, i), 0))
        t->cut = (struct cut_write){step->length, i, step->file};
    return (struct pattern_fill){
        .uuid = {target->uuid[0], target->uuid[1]},
        .offset = step->offset,
        .generation = trial->generation_base + *cell,
        .key_seed = pattern_mix(trial->job->seed + t->requests[slot].buffer_offset + ((uint64_t)t->index << 48)),
        .stamp_only = 1,
    };
}

int check_stamp(struct trial_thread *t, const unsigned *slots, unsigned n)
{
    const struct memory_ops *ops = t->trial->memory->ops;
    uint64_t began = now_ns();
    struct spur_error e = {0};
    int r = 0;

    for (unsigned i = 0; i < n && !r; i++) {
        struct pattern_fill fill = fill_of(t, slots[i]);
        const struct spur_request *q = &t->requests[slots[i]];

        if (!mutation_skip_stamp(t))
            r = ops->fill(t->stream, t->buffer, q->buffer_offset, q->length, &fill, &e);
    }
    if (!r)
        r = finish(t, &e);
    t->checks.stamp_ns += now_ns() - began;
    if (r < 0)
        fail_with(t, &e);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Reading spur's own files: the blocks judge themselves
 */

/* Of a block that the trial wrote. What is newer it cannot have written; what is older may also be what was there. */
static void remedy_of_generation(struct spur_error *e, const struct pattern_verdict *v)
{
    if (v->found > v->expected)
        error_remedy(e, "another process wrote the file during the trial, for the block is newer than what the trial "
                        "wrote there: let one process at a time write it");
    else
        error_remedy(e, "the block is older than what the trial wrote there: another process wrote the file during "
                        "the trial, or a write was lost; if it fails also where nothing else writes the file, do not "
                        "trust this path");
}

void check_note_mismatch(struct trial_thread *t, const char *filename, const struct pattern_verdict *v)
{
    t->checks.blocks_bad += v->blocks_bad;
    if (t->checks.mismatch.source)
        return;
    error_spur(&t->checks.mismatch, SPUR_CODE_MISMATCH, "verify",
               "%s: offset %llu: expected 0x%016llx, found 0x%016llx: %s", filename, (unsigned long long)v->offset,
               (unsigned long long)v->expected, (unsigned long long)v->found, pattern_fault_name(v->fault));
    if (v->fault == PATTERN_FAULT_GENERATION && t->trial->cells) {
        remedy_of_generation(&t->checks.mismatch, v);
        return;
    }
    error_remedy(&t->checks.mismatch,
                 "these are not the bytes that spur wrote there: if --path buffered says the same, the file "
                 "itself is damaged (spur prepare makes it anew); else do not trust this path");
}

static uint64_t day_from_now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return ((uint64_t)ts.tv_sec + 86400) * 1000000ull;
}

static int check_one(struct trial_thread *t, unsigned slot, uint64_t generation_max, struct spur_error *e)
{
    const struct trial *trial = t->trial;
    const struct workload_step *step = &t->slots[slot].step;
    const struct target *target = &trial->targets.items[step->file];
    uint32_t written = trial->cells ? trial->cells[step->file][check_cell_of(trial, step)] : 0;
    struct pattern_expect expect = {
        .uuid = {target->uuid[0], target->uuid[1]},
        .offset = step->offset,
        .generation = written ? trial->generation_base + written : 0,
        .generation_max = generation_max,
    };

    return trial->memory->ops->check(t->stream, t->buffer, t->requests[slot].buffer_offset, step->length, &expect, e);
}

/* Something in the batch is wrong: one by one, so that the file can be named. */
static int name_mismatch(struct trial_thread *t, const unsigned *slots, unsigned n, uint64_t generation_max,
                         struct spur_error *e)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t file = t->slots[slots[i]].step.file;
        struct pattern_verdict v;
        int r = check_one(t, slots[i], generation_max, e);

        if (!r)
            r = t->trial->memory->ops->check_collect(t->stream, &v, e);
        if (r < 0)
            return r;
        if (v.blocks_bad)
            check_note_mismatch(t, t->trial->targets.items[file].filename, &v);
    }
    return 0;
}

static int check_own(struct trial_thread *t, const unsigned *slots, unsigned n, bool inside, struct spur_error *e)
{
    uint64_t generation_max = day_from_now_us();
    struct pattern_verdict v;
    int r = 0;

    for (unsigned i = 0; i < n && !r; i++)
        r = check_one(t, slots[i], generation_max, e);
    if (!r)
        r = t->trial->memory->ops->check_collect(t->stream, &v, e);
    if (r < 0)
        return r;
    *(inside ? &t->checks.bytes_ok : &t->checks.bytes_outside_ok) += v.bytes_ok;
    t->checks.bytes_unjudged += v.bytes_unjudged;
    return v.blocks_bad ? name_mismatch(t, slots, n, generation_max, e) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Foreign files: compared with what an independent read through the page cache gives
 */

static int64_t independent_read(const struct target *target, uint64_t offset, uint64_t length, void *buffer,
                                struct spur_error *e)
{
    int64_t n = file_read(target->fd, target->filename, buffer, length, offset, 1, target->bytes, e);

    if (n >= 0 && (uint64_t)n != length)
        return error_errno(e, EIO, "pread", "%s: ends before offset %llu, where it was read", target->filename,
                           (unsigned long long)(offset + length));
    return n;
}

static void note_foreign_mismatch(struct trial_thread *t, const struct target *target, uint64_t offset, uint64_t length,
                                  uint64_t expected, uint64_t found)
{
    t->checks.blocks_bad++;
    if (t->checks.mismatch.source)
        return;
    error_spur(&t->checks.mismatch, SPUR_CODE_MISMATCH, "verify",
               "%s: offset %llu, %llu bytes: expected digest 0x%016llx, found 0x%016llx (against an independent read)",
               target->filename, (unsigned long long)offset, (unsigned long long)length, (unsigned long long)expected,
               (unsigned long long)found);
    error_remedy(&t->checks.mismatch, "did somebody write the file meanwhile? Else do not trust this path or storage");
}

static int compare_foreign(struct trial_thread *t, const struct foreign_check *c, void *buffer, uint64_t *bytes_ok,
                           struct spur_error *e)
{
    const struct target *target = &t->trial->targets.items[c->file];
    int64_t n = independent_read(target, c->offset, c->length, buffer, e);
    uint64_t expected;

    if (n < 0)
        return (int)n;
    expected = pattern_digest(buffer, c->length);
    if (expected == c->digest)
        *bytes_ok += c->length;
    else
        note_foreign_mismatch(t, target, c->offset, c->length, expected, c->digest);
    return 0;
}

/* In the timed part the digest is kept for later; in the pass it is compared at once. */
static int check_alien(struct trial_thread *t, const struct leg *leg, unsigned slot, struct spur_error *e)
{
    const struct workload_step *step = &t->slots[slot].step;
    struct foreign_check c = {step->file, step->offset, step->length, 0};
    _cleanup_free_ void *buffer = NULL;
    int r;

    if (leg->counts && t->n_foreign == MAX_FOREIGN_CHECKS) {
        t->n_foreign_full++;
        return 0;
    }
    r = t->trial->memory->ops->digest(t->stream, t->buffer, t->requests[slot].buffer_offset, step->length, &c.digest,
                                      e);
    if (r < 0)
        return r;
    if (leg->counts) {
        t->foreign[t->n_foreign++] = c;
        return 0;
    }
    buffer = malloc(step->length);
    return buffer ? compare_foreign(t, &c, buffer, &t->checks.bytes_ok, e)
                  : error_errno(e, ENOMEM, "malloc", "comparison buffer");
}

void check_foreign(struct trial_thread *t, uint64_t deadline_ns)
{
    _cleanup_free_ void *buffer = t->n_foreign ? malloc(t->trial->job->request_bytes) : NULL;
    struct spur_error e = {0};
    int r = 0;

    for (uint64_t i = 0; i < t->n_foreign && !r && buffer; i++) {
        if (trial_stopping(t->trial) || now_ns() > deadline_ns) {
            t->n_foreign_full += t->n_foreign - i;
            t->pass_cut = true;
            break;
        }
        r = compare_foreign(t, &t->foreign[i], buffer, &t->checks.bytes_deferred_ok, &e);
        HISTOGRAM_PUT(t->n_completions, t->n_completions + 1); /* for the watchdog: it goes on */
    }
    if (r < 0 || (t->n_foreign && !buffer))
        fail_with(t, &e);
}

enum judge { JUDGE_OWN, JUDGE_ALIEN, JUDGE_NOT };

/* A foreign file that is being overwritten holds spur's blocks only where this trial has written. */
static enum judge judge_of(const struct trial *trial, const struct workload_step *step)
{
    if (trial->targets.items[step->file].is_spur)
        return JUDGE_OWN;
    if (!trial->cells)
        return JUDGE_ALIEN;
    return trial->cells[step->file][check_cell_of(trial, step)] ? JUDGE_OWN : JUDGE_NOT;
}

void check_reads(struct trial_thread *t, const struct leg *leg, const unsigned *slots, unsigned n, bool inside)
{
    uint64_t began = now_ns();
    struct spur_error e = {0};
    unsigned own[64];
    unsigned n_own = 0;
    int r = 0;

    for (unsigned i = 0; i < n && !r; i++) {
        enum judge judge = judge_of(t->trial, &t->slots[slots[i]].step);

        if (judge == JUDGE_OWN)
            own[n_own++] = slots[i];
        else if (judge == JUDGE_ALIEN && inside)
            r = check_alien(t, leg, slots[i], &e);
        if (n_own == ARRAY_SIZE(own) || (i + 1 == n && n_own)) {
            r = r < 0 ? r : check_own(t, own, n_own, inside, &e);
            n_own = 0;
        }
    }
    t->checks.cost_ns += now_ns() - began;
    if (r < 0)
        fail_with(t, &e);
}

/* ------------------------------------------------------------------------------------------------
 * After writing: read back through a fresh descriptor, each cell with its exact generation
 */

struct read_back {
    int fd;
    uint32_t align;
    void *buffer;
    size_t buffer_bytes;
};

static void read_back_close(struct read_back *b)
{
    if (b->fd >= 0)
        close(b->fd);
    free(b->buffer);
}

/* O_DIRECT where the file takes it; else through the page cache, from which the coordinator dropped the file. */
static int read_back_open(struct read_back *b, const struct target *target, struct spur_error *e)
{
    struct direct_align align;

    b->align = 1;
    b->buffer_bytes = READ_BACK_BYTES + 65536;
    b->fd = file_open_fd(target->filename, false, true, NULL);
    if (b->fd >= 0 && direct_align_get(b->fd, target->filename, &align, NULL) == 0) {
        b->align = align.offset;
    } else {
        if (b->fd >= 0)
            close(b->fd);
        b->fd = file_open_fd(target->filename, false, false, e);
    }
    if (b->fd < 0)
        return b->fd;
    return posix_memalign(&b->buffer, 65536, b->buffer_bytes) ? error_errno(e, ENOMEM, "posix_memalign", "read-back")
                                                              : 0;
}

/* [at, end) of a file against what the write number @count of its cell put there. */
static int read_back_range(struct trial_thread *t, struct read_back *b, uint32_t file, uint64_t at, uint64_t end,
                           uint32_t count, struct spur_error *e)
{
    const struct trial *trial = t->trial;
    const struct target *target = &trial->targets.items[file];
    struct pattern_verdict v = {0};

    while (at < end) {
        uint64_t length = end - at < READ_BACK_BYTES ? end - at : READ_BACK_BYTES;
        struct pattern_expect expect = {
            .uuid = {target->uuid[0], target->uuid[1]},
            .offset = at,
            .generation = trial->generation_base + count,
        };
        int64_t n = file_read(b->fd, target->filename, b->buffer, length, at, b->align, target->bytes, e);

        if (n < 0)
            return (int)n;
        pattern_check_range(b->buffer, (size_t)n, &expect, &v);
        at += length;
    }
    t->checks.bytes_ok += v.bytes_ok;
    t->checks.bytes_unjudged += v.bytes_unjudged;
    if (v.blocks_bad)
        check_note_mismatch(t, target->filename, &v);
    return 0;
}

static int read_back_cell(struct trial_thread *t, struct read_back *b, uint32_t file, uint64_t cell,
                          struct spur_error *e)
{
    uint64_t start = t->trial->workload_files[file].begin + cell * t->trial->job->request_bytes;
    uint64_t end = start + check_cell_bytes(t->trial, file, cell), written = check_last_written(t->trial, file, cell);
    uint32_t count = t->trial->cells[file][cell];
    int r = read_back_range(t, b, file, start, start + written, count, e);

    if (!r && count > 1) /* behind a cut write lies the one before it */
        r = read_back_range(t, b, file, start + written, end, count - 1, e);
    HISTOGRAM_PUT(t->n_completions, t->n_completions + 1);
    return r;
}

static int read_back_file(struct trial_thread *t, uint32_t file, uint64_t deadline_ns, struct spur_error *e)
{
    const struct trial *trial = t->trial;
    uint64_t n_cells = (trial->workload_files[file].bytes + trial->job->request_bytes - 1) / trial->job->request_bytes;
    struct read_back b = {.fd = -1};
    int r = read_back_open(&b, &trial->targets.items[file], e);

    for (uint64_t cell = t->index; !r && cell < n_cells; cell += trial->n_threads) {
        if (!trial->cells[file][cell])
            continue;
        if (trial_stopping(trial) || now_ns() > deadline_ns) {
            t->pass_cut = true;
            break;
        }
        r = read_back_cell(t, &b, file, cell, e);
    }
    read_back_close(&b);
    return r;
}

void check_read_back(struct trial_thread *t, uint64_t deadline_ns)
{
    struct spur_error e = {0};
    int r = 0;

    for (uint32_t file = 0; !r && file < t->trial->targets.n; file++)
        r = read_back_file(t, file, deadline_ns, &e);
    if (r < 0)
        fail_with(t, &e);
}
