/* SPDX-License-Identifier: MIT */
/* One request for data, from its arrival to its answer. */
#include "simfs/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "path/direct.h"
#include "pattern/pattern.h"

struct request {
    struct queue_item item; /* first */
    struct request *next;   /* of the hung, or of the spare ones */
    fuse_req_t req;
    enum model_op op;
    enum fault_kind fault;
    uint64_t file, offset, asked;
    unsigned server;
    uint64_t arrival_ns;
    int64_t answer; /* bytes or negative errno */
    const uint8_t *data;
    pid_t pid;
    bool calibrating, past_cache;
    uint8_t *scratch; /* kept with a spare one; NULL: none yet */
};

/* ------------------------------------------------------------------------------------------------
 * Room
 */

static struct request *take_spare(struct server *s)
{
    struct request *r;
    uint8_t *scratch;

    pthread_mutex_lock(&s->mutex);
    r = s->spare;
    if (r)
        s->spare = r->next;
    pthread_mutex_unlock(&s->mutex);
    if (!r)
        return calloc(1, sizeof(*r));
    scratch = r->scratch;
    *r = (struct request){.scratch = scratch};
    return r;
}

static void give_spare(struct server *s, struct request *r)
{
    pthread_mutex_lock(&s->mutex);
    r->next = s->spare;
    s->spare = r;
    pthread_mutex_unlock(&s->mutex);
}

void request_free_spare(struct server *s)
{
    while (s->spare) {
        struct request *r = s->spare;

        s->spare = r->next;
        free(r->scratch);
        free(r);
    }
}

static uint8_t *scratch_of(struct server *s, struct request *r)
{
    if (!r->scratch)
        r->scratch = aligned_alloc(4096, BACKING_SCRATCH(s->options->model.rpc_bytes));
    return r->scratch;
}

/* ------------------------------------------------------------------------------------------------
 * Answers
 */

static void send_answer(struct request *r)
{
    if (r->answer < 0)
        fuse_reply_err(r->req, (int)-r->answer);
    else if (r->op == MODEL_WRITE)
        fuse_reply_write(r->req, (size_t)r->answer);
    else
        fuse_reply_buf(r->req, (const char *)r->data, (size_t)r->answer); /* from where it lies */
}

static void count(struct server *s, const struct request *r, unsigned epoch)
{
    uint64_t now = now_ns();
    struct log_entry line = {r->arrival_ns, now - r->arrival_ns, r->op,     r->file, r->offset,
                             r->asked,      r->server,           r->answer, r->fault};

    if (r->calibrating) {
        stats_drop(&s->stats, epoch);
        return;
    }
    stats_answer(&s->stats, r->op, r->arrival_ns, now, r->answer, r->asked, epoch);
    log_add(&s->log, &line);
}

static void finish(struct server *s, struct request *r)
{
    unsigned epoch = stats_sending(&s->stats);

    send_answer(r);
    count(s, r, epoch);
    give_spare(s, r);
}

/* A server that is gone answers nothing, whatever was due. */
static bool is_gone(struct server *s, const struct request *r, uint64_t *ret_until)
{
    pthread_mutex_lock(&s->mutex);
    *ret_until = s->stopping ? 0 : s->gone_until_ns[r->server];
    pthread_mutex_unlock(&s->mutex);
    return *ret_until > r->item.due_ns;
}

void request_answer(void *context, struct queue_item *item)
{
    struct request *r = (struct request *)item;
    struct server *s = context;
    uint64_t until;

    if (!r->calibrating && is_gone(s, r, &until)) {
        item->due_ns = until;
        if (queue_push(&s->queue, item) == 0)
            return;
    }
    finish(s, r);
}

/* ------------------------------------------------------------------------------------------------
 * Hung ones
 */

static bool has_bit(const char *hexadecimal, unsigned bit)
{
    return hexadecimal && strtoull(hexadecimal, NULL, 16) >> bit & 1;
}

/* A task that SIGKILL waits for, or that is on its way out, or gone: it waits for nothing but our answer. */
static bool is_dying(pid_t pid)
{
    char name[40], text[4096];
    unsigned flags = 0;
    const char *after;
    FILE *f;
    size_t n;

    if (pid <= 0)
        return false;
    snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
    f = fopen(name, "re");
    n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (!f)
        return errno == ENOENT;
    fclose(f);
    text[n] = 0;
    after = strstr(text, "SigPnd:\t");
    if (after &&
        (has_bit(after + 8, 8) || has_bit(strstr(after, "ShdPnd:\t") ? strstr(after, "ShdPnd:\t") + 8 : NULL, 8)))
        return true;
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    f = fopen(name, "re");
    n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    after = strrchr(text, ')');
    if (after)
        sscanf(after, ") %*c %*d %*d %*d %*d %*d %u", &flags);
    return flags & 4; /* PF_EXITING */
}

static struct request *take_hung(struct server *s)
{
    struct request *r, **at;

    pthread_mutex_lock(&s->mutex);
    for (at = &s->hung; (r = *at); at = &r->next)
        if (s->stopping || is_dying(r->pid)) {
            *at = r->next;
            break;
        }
    pthread_mutex_unlock(&s->mutex);
    return r;
}

void request_release(struct server *s)
{
    struct request *r;

    while ((r = take_hung(s))) {
        r->answer = s->stopping ? -EIO : -EINTR;
        finish(s, r);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Arrival
 */

/* What is taken off the wait; under the lock. */
static uint64_t cost_of(const struct server *s, const struct request *r)
{
    uint64_t cost = s->cost.request_ns + (s->cost.mib_ns * r->asked >> 20);
    uint64_t most = overhead_most(&s->overhead, r->op, r->asked), wait = r->item.due_ns - r->arrival_ns;

    cost = cost < most ? cost : most;
    return cost < wait ? cost : wait;
}

/* What the fault does to time and size; under the lock. */
static void strike(struct server *s, struct request *r, const struct fault *f)
{
    uint64_t limit = f->value;

    r->fault = f->kind;
    if (f->kind == FAULT_ERROR)
        r->answer = -(int64_t)f->value;
    else if (f->kind == FAULT_SHORT && (uint64_t)r->answer > limit)
        r->answer = (int64_t)limit;
    else if (f->kind == FAULT_DELAY)
        r->item.due_ns += f->value;
    if (f->kind == FAULT_TRUNCATE) {
        limit = f->value_given ? f->value : r->offset;
        if (s->file_bytes[r->file] > limit)
            s->file_bytes[r->file] = limit;
    }
    if (f->kind == FAULT_GONE) {
        s->gone_until_ns[r->server] = r->arrival_ns + f->value;
        model_hold(&s->model, r->server, s->gone_until_ns[r->server]);
    }
}

static void clip(const struct server *s, struct request *r)
{
    uint64_t now = s->file_bytes[r->file];

    if (r->answer < 0)
        return;
    if (r->offset >= now)
        r->answer = r->op == MODEL_WRITE ? -ENOSPC : 0;
    else if ((uint64_t)r->answer > now - r->offset)
        r->answer = (int64_t)(now - r->offset);
}

/* When it is answered: as the model says, seen from the caller, if no fault is in the way; under the lock. */
static const struct fault *set_due(struct server *s, struct request *r)
{
    const struct fault *f = faults_strike(&s->faults, r->op, r->file, r->server, r->offset, r->asked);
    bool teaches = r->past_cache && r->pid;

    if (teaches)
        overhead_arrive(&s->overhead, r->pid, r->arrival_ns);
    r->item.due_ns = model_due(&s->model, r->op, r->server, r->asked, r->arrival_ns);
    r->item.due_ns -= cost_of(s, r);
    if (f)
        strike(s, r, f);
    if (r->item.due_ns < s->gone_until_ns[r->server])
        r->item.due_ns = s->gone_until_ns[r->server];
    if (teaches)
        overhead_expect(&s->overhead, r->pid, r->op, r->asked, r->item.due_ns);
    return f;
}

static const struct fault *schedule(struct server *s, struct request *r)
{
    const struct fault *f = NULL;

    pthread_mutex_lock(&s->mutex);
    r->arrival_ns = now_ns();
    if (r->calibrating)
        r->item.due_ns = r->arrival_ns + CALIBRATION_NS;
    else
        f = set_due(s, r);
    clip(s, r);
    pthread_mutex_unlock(&s->mutex);
    if (!r->calibrating)
        stats_arrive(&s->stats, r->arrival_ns);
    return f;
}

/* Where the first of the wrong bytes of a request is. */
static uint64_t wrong_at(const struct request *r)
{
    return pattern_mix(r->offset + PATTERN_STEP) % (uint64_t)r->answer;
}

static void damage(uint8_t *data, const struct request *r, uint64_t n)
{
    uint64_t at = wrong_at(r);

    for (uint64_t i = 0; i < n && i < (uint64_t)r->answer; i++)
        data[(at + i) % (uint64_t)r->answer] ^= 1;
}

static void read_data(struct server *s, struct request *r, const struct fault *f)
{
    uint8_t *scratch = NULL;

    if (!s->backing.files[r->file].data || r->fault == FAULT_WRONG) {
        scratch = scratch_of(s, r);
        if (!scratch) {
            r->answer = -ENOMEM;
            return;
        }
    }
    r->data = backing_at(&s->backing, r->file, r->offset, (size_t)r->answer, scratch);
    if (r->fault != FAULT_WRONG)
        return;
    memmove(scratch, r->data, (size_t)r->answer);
    damage(scratch, r, f->value);
    r->data = scratch;
}

static void write_data(struct server *s, struct request *r, const struct fault *f, const void *data)
{
    uint8_t *to = s->backing.files[r->file].data + r->offset;

    memcpy(to, data, (size_t)r->answer);
    if (r->fault == FAULT_WRONG)
        damage(to, r, f->value);
    pthread_mutex_lock(&s->mutex);
    clock_gettime(CLOCK_REALTIME, &s->mtime);
    pthread_mutex_unlock(&s->mutex);
}

static void hang(struct server *s, struct request *r)
{
    pthread_mutex_lock(&s->mutex);
    r->next = s->hung;
    s->hung = r;
    pthread_mutex_unlock(&s->mutex);
}

void request_arrive(struct server *s, fuse_req_t req, enum model_op op, uint64_t file, uint64_t offset, size_t bytes,
                    const void *data, int flags)
{
    struct request *r = take_spare(s);
    const struct fault *f;

    if (!r) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    r->req = req;
    r->op = op;
    r->file = file;
    r->offset = offset;
    /* The last page is asked for whole: what lies behind the end of the file is no part of the request. */
    r->asked = op == MODEL_READ && offset < s->options->file_bytes && bytes > s->options->file_bytes - offset
                   ? s->options->file_bytes - offset
                   : bytes;
    r->answer = (int64_t)r->asked;
    r->server = model_server(&s->options->model, offset);
    r->pid = fuse_req_ctx(req)->pid;
    r->past_cache = file_flags_direct(flags);
    r->calibrating = r->pid && r->pid == s->calibrator;
    f = schedule(s, r);
    if (r->answer > 0 && op == MODEL_READ)
        read_data(s, r, f);
    else if (r->answer > 0)
        write_data(s, r, f, data);
    if (r->fault == FAULT_HANG)
        hang(s, r);
    else if (r->item.due_ns <= r->arrival_ns || queue_push(&s->queue, &r->item) < 0)
        finish(s, r);
}
