/* SPDX-License-Identifier: MIT */
/*
 * The timed loop. It allocates nothing, takes no lock and makes no system call beyond the path's own (the clock is read
 * without one). A request's latency runs from just before it is handed to the path to the moment at which the path says
 * that its bytes are visible. With nothing to do between two synchronous requests, the end of one is the beginning of
 * the next: one reading of the clock for both.
 */
#include <errno.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/mutation.h"
#include "worker/trial.h"

static void fail(struct trial_thread *t, const struct spur_error *e)
{
    t->error = *e;
    t->failed = true;
    trial_stop(t->trial);
}

static void fail_step(struct trial_thread *t, const struct workload_step *step, int64_t result)
{
    const char *name = t->trial->targets.items[step->file].filename;
    struct spur_error e;

    if (result < 0) {
        fail(t, spur_queue_error(t->queue));
        return;
    }
    error_errno(&e, EIO, "transfer", "%s: %lld of %llu bytes at offset %llu, before the end of the file", name,
                (long long)result, (unsigned long long)step->length, (unsigned long long)step->offset);
    error_remedy(&e, "was the file truncated during the run?");
    fail(t, &e);
}

/* ------------------------------------------------------------------------------------------------
 * Counting
 */

static void next_interval(struct trial_thread *t, uint64_t done_ns)
{
    uint64_t length = t->trial->job->interval_ns;

    while (done_ns > t->interval_end_ns && t->interval + 1 < MAX_INTERVALS) {
        t->interval++;
        t->interval_end_ns += length;
    }
    if (t->interval + 1 >= MAX_INTERVALS)
        t->interval_end_ns = UINT64_MAX;
}

static inline void count(struct trial_thread *t, const struct leg *leg, const struct workload_step *step,
                         uint64_t issue_ns, uint64_t done_ns)
{
    HISTOGRAM_PUT(t->n_completions, t->n_completions + 1);
    if (done_ns < leg->t0_ns || done_ns > leg->t1_ns || !leg->counts)
        return;
    histogram_record(&t->histogram, done_ns - issue_ns);
    HISTOGRAM_PUT(t->by_op[step->op].bytes, t->by_op[step->op].bytes + step->length);
    HISTOGRAM_PUT(t->by_op[step->op].requests, t->by_op[step->op].requests + 1);
    t->by_file[step->file].bytes += step->length;
    t->by_file[step->file].requests++;
    if (__builtin_expect(done_ns > t->interval_end_ns, 0))
        next_interval(t, done_ns);
    t->intervals[t->interval].bytes += step->length;
    t->intervals[t->interval].requests++;
    if (__builtin_expect(!t->first_done_ns, 0))
        HISTOGRAM_PUT(t->first_done_ns, done_ns);
    HISTOGRAM_PUT(t->last_done_ns, done_ns);
}

/* ------------------------------------------------------------------------------------------------
 * Which reads are checked: each one, or a share that costs under a hundredth of the time
 */

#define SAMPLE_EVERY      32u
#define SAMPLE_COST_SHARE 128u

/* Nothing of the warm-up is checked, and all that completes after the window. */
static inline bool wants_check(struct trial_thread *t, const struct leg *leg, uint32_t op, uint64_t now)
{
    if (leg->check == VERIFY_OFF || op == SPUR_OP_WRITE || now < leg->t0_ns)
        return false;
    if (leg->check == VERIFY_INLINE || now > leg->t1_ns)
        return true;
    if (++t->since_check < SAMPLE_EVERY || t->checks.cost_ns * SAMPLE_COST_SHARE > now - leg->t0_ns)
        return false;
    t->since_check = 0;
    return true;
}

/* The pass has a limit and no window: what it read is verified and told, however late it came. */
static inline bool is_inside(const struct leg *leg, uint64_t done_ns)
{
    return done_ns <= leg->t1_ns || !leg->counts;
}

static inline void set_request(struct trial_thread *t, unsigned slot)
{
    struct spur_request *r = &t->requests[slot];
    const struct workload_step *step = &t->slots[slot].step;

    r->op = step->op;
    r->file = t->files[step->file];
    r->offset = step->offset;
    r->length = step->length;
    r->buffer_offset = t->buffer_base + slot * t->trial->slot_bytes +
                       (step->op == SPUR_OP_WRITE ? t->trial->write_shift : 0);
}

static void sleep_until(uint64_t due_ns)
{
    struct timespec ts = {(time_t)(due_ns / 1000000000ull), (long)(due_ns % 1000000000ull)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        ;
}

/* ------------------------------------------------------------------------------------------------
 * One request at a time
 */

static void run_synchronous(struct trial_thread *t, const struct leg *leg)
{
    struct slot *slot = &t->slots[0];
    struct spur_error e = {0};
    const unsigned zero = 0;
    uint64_t issue_ns = now_ns(), done_ns;

    while (!trial_stopping(t->trial) && leg->workload->next(t->work, &slot->step) > 0) {
        int64_t n;

        set_request(t, 0);
        if (__builtin_expect(slot->step.due_ns > issue_ns, 0)) {
            sleep_until(slot->step.due_ns);
            issue_ns = now_ns();
        }
        if (slot->step.op == SPUR_OP_WRITE && t->trial->moves_bytes) {
            if (check_stamp(t, &zero, 1) < 0)
                break;
            issue_ns = now_ns();
        }
        n = spur_queue_transfer(t->queue, &t->requests[0], &e);
        done_ns = now_ns();
        leg->workload->done(t->work, &slot->step);
        if (__builtin_expect(n != (int64_t)slot->step.length, 0)) {
            if (n < 0)
                fail(t, &e);
            else
                fail_step(t, &slot->step, n);
            break;
        }
        count(t, leg, &slot->step, issue_ns, done_ns);
        issue_ns = done_ns;
        if (wants_check(t, leg, slot->step.op, done_ns)) {
            mutation_read(t, 0);
            check_reads(t, leg, &zero, 1, is_inside(leg, done_ns));
            issue_ns = now_ns();
        }
        if (done_ns > leg->t1_ns)
            break;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Several in flight
 */

struct flight {
    unsigned n_free;  /* entries of t->free_slots */
    unsigned n_ready; /* slots drawn and not yet accepted by the path: t->batch[0 .. n_ready) */
    bool ended;       /* nothing more is drawn */
    unsigned n_in_flight;
};

/* Draws steps into free slots. */
static void draw(struct trial_thread *t, const struct leg *leg, struct flight *f)
{
    while (f->n_free && !f->ended) {
        unsigned slot = t->free_slots[f->n_free - 1];
        int r = leg->workload->next(t->work, &t->slots[slot].step);

        if (r == -EAGAIN)
            break;
        if (r <= 0) {
            f->ended = true;
            break;
        }
        f->n_free--;
        set_request(t, slot);
        t->batch[f->n_ready++] = slot;
    }
}

static int stamp_drawn(struct trial_thread *t, unsigned from, unsigned to)
{
    unsigned writes[64];
    unsigned n = 0;

    for (unsigned i = from; i < to; i++) {
        if (t->slots[t->batch[i]].step.op == SPUR_OP_WRITE)
            writes[n++] = t->batch[i];
        if (n == ARRAY_SIZE(writes) || (i + 1 == to && n)) {
            if (check_stamp(t, writes, n) < 0)
                return -1;
            n = 0;
        }
    }
    return 0;
}

/* Requests travel in an array, so drawn slots are handed over in runs of consecutive slot numbers. */
static unsigned run_length(const unsigned *slots, unsigned n)
{
    unsigned i = 1;

    while (i < n && slots[i] == slots[i - 1] + 1)
        i++;
    return i;
}

static void hand_over(struct trial_thread *t, struct flight *f, struct spur_error *e)
{
    unsigned at = 0;
    uint64_t issue_ns = now_ns();

    while (at < f->n_ready) {
        unsigned n = run_length(t->batch + at, f->n_ready - at);
        int accepted;

        for (unsigned i = 0; i < n; i++)
            t->slots[t->batch[at + i]].issue_ns = issue_ns;
        accepted = spur_queue_submit(t->queue, &t->requests[t->batch[at]], n, e);
        if (accepted == -EAGAIN)
            break;
        if (accepted < 0) {
            fail(t, e);
            f->ended = true;
            at = f->n_ready;
            break;
        }
        f->n_in_flight += (unsigned)accepted;
        at += (unsigned)accepted;
    }
    memmove(t->batch, t->batch + at, (f->n_ready - at) * sizeof(*t->batch));
    f->n_ready -= at;
}

/* Completions are counted first, checked together, and only then are their slots free again. */
static void take(struct trial_thread *t, const struct leg *leg, struct flight *f, unsigned n)
{
    unsigned *checked = t->free_slots + f->n_free; /* free space: these slots become free below */
    unsigned n_checked = 0, n_plain = 0;
    uint64_t done_ns = now_ns();

    for (unsigned i = 0; i < n; i++) {
        unsigned slot = (unsigned)t->completions[i].user_data;
        struct workload_step *step = &t->slots[slot].step;

        leg->workload->done(t->work, step);
        if (__builtin_expect(t->completions[i].result != (int64_t)step->length, 0)) {
            if (!t->failed)
                fail_step(t, step, t->completions[i].result);
            f->ended = true;
        } else {
            count(t, leg, step, t->slots[slot].issue_ns, done_ns);
        }
        if (!t->failed && wants_check(t, leg, step->op, done_ns)) {
            mutation_read(t, slot);
            checked[n_checked++] = slot;
        } else {
            t->completions[n_plain++].user_data = slot;
        }
    }
    if (n_checked)
        check_reads(t, leg, checked, n_checked, is_inside(leg, done_ns));
    for (unsigned i = 0; i < n_plain; i++)
        checked[n_checked + i] = (unsigned)t->completions[i].user_data;
    f->n_free += n;
    f->n_in_flight -= n;
    if (done_ns > leg->t1_ns)
        f->ended = true;
}

static void run_queued(struct trial_thread *t, const struct leg *leg)
{
    unsigned depth = t->trial->job->depth;
    struct flight f = {.n_free = depth};
    struct spur_error e = {0};

    for (unsigned i = 0; i < depth; i++)
        t->free_slots[i] = depth - 1 - i; /* so that low slots are drawn first, in rising order */
    for (;;) {
        unsigned stamped = f.n_ready;
        int n;

        if (trial_stopping(t->trial))
            f.ended = true;
        draw(t, leg, &f);
        if (t->trial->moves_bytes && stamp_drawn(t, stamped, f.n_ready) < 0)
            f.ended = true, f.n_ready = 0;
        if (f.n_ready)
            hand_over(t, &f, &e);
        if (!f.n_in_flight)
            break;
        n = spur_queue_reap(t->queue, t->completions, depth, 1, &e);
        if (n < 0) {
            fail(t, &e);
            break;
        }
        take(t, leg, &f, (unsigned)n);
    }
}

void loop_run(struct trial_thread *t, const struct leg *leg)
{
    t->interval = 0;
    t->since_check = SAMPLE_EVERY; /* the first one is checked */
    t->interval_end_ns = t->trial->job->interval_ns ? leg->t0_ns + t->trial->job->interval_ns : UINT64_MAX;
    if (t->idle)
        return;
    if (leg->start_ns > now_ns())
        sleep_until(leg->start_ns);
    if (t->trial->synchronous)
        run_synchronous(t, leg);
    else
        run_queued(t, leg);
}
