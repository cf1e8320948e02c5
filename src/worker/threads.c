/* SPDX-License-Identifier: MIT */
/* A trial's threads: opened, led through their phases, closed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/trial.h"
#include "worker/trial_memory.h"

static int no_memory(struct spur_error *e, const char *what)
{
    return error_errno(e, ENOMEM, "calloc", "%s", what);
}

static int thread_arrays(struct trial_thread *w, struct spur_error *e)
{
    const struct trial *t = w->trial;
    unsigned depth = t->job->depth;
    size_t foreign_bytes = MAX_FOREIGN_CHECKS * sizeof(struct foreign_check);

    w->slots = calloc(depth, sizeof(*w->slots));
    w->requests = calloc(depth, sizeof(*w->requests));
    w->free_slots = calloc(2 * depth, sizeof(*w->free_slots));
    w->completions = calloc(depth, sizeof(*w->completions));
    w->batch = calloc(depth, sizeof(*w->batch));
    w->by_file = calloc(t->targets.n, sizeof(*w->by_file));
    w->intervals = calloc(MAX_INTERVALS, sizeof(*w->intervals));
    w->foreign = mmap(NULL, foreign_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!w->slots || !w->requests || !w->free_slots || !w->completions || !w->batch || !w->by_file || !w->intervals ||
        w->foreign == MAP_FAILED)
        return no_memory(e, "a thread's tables");
    for (unsigned i = 0; i < depth; i++) {
        w->requests[i].buffer = w->buffer;
        w->requests[i].user_data = i;
    }
    return 0;
}

/* What will be written is made beforehand; while the clock runs only headers and tags change. */
static int prefill(struct trial_thread *w, struct spur_error *e)
{
    const struct trial *t = w->trial;
    const struct memory_ops *ops = t->memory->ops;
    uint64_t ticket;
    int r = 0;

    if (!job_writes(t->job) || !t->moves_bytes)
        return 0;
    for (unsigned i = 0; i < t->job->depth && !r; i++) {
        uint64_t at = w->buffer_base + i * t->slot_bytes + t->write_shift;
        struct pattern_fill fill = {
            .uuid = {t->targets.items[0].uuid[0], t->targets.items[0].uuid[1]},
            .generation = t->generation_base,
            .key_seed = pattern_mix(t->job->seed + at + ((uint64_t)w->index << 48)),
        };

        r = ops->fill(w->stream, w->buffer, at, t->job->request_bytes, &fill, e);
    }
    if (!r)
        r = ops->mark(w->stream, &ticket, e);
    return r < 0 ? r : ops->wait(w->stream, ticket, e);
}

static int thread_open(struct trial_thread *w, struct spur_error *e)
{
    struct trial *t = w->trial;
    int r = t->workload->open(&t->plan, w->index, &w->work, &w->idle, e);

    histogram_init(&w->histogram);
    if (!r)
        r = thread_arrays(w, e);
    if (r < 0 || w->idle)
        return r;
    r = spur_queue_open(t->path, trial_memory_of(t, w->index), t->job->depth, &w->queue, e);
    if (!r)
        r = t->memory->ops->stream_open(trial_memory_of(t, w->index), 4, &w->stream, e);
    if (!r)
        r = prefill(w, e);
    return r;
}

static void thread_close(struct trial_thread *w)
{
    const struct trial *t = w->trial;

    spur_queue_close(w->queue);
    if (w->stream)
        t->memory->ops->stream_close(w->stream);
    if (w->work)
        t->workload->close(w->work);
    w->queue = NULL;
    w->stream = NULL;
    w->work = NULL;
}

void trial_thread_free(struct trial_thread *w)
{
    free(w->files);
    free(w->slots);
    free(w->requests);
    free(w->free_slots);
    free(w->completions);
    free(w->batch);
    free(w->by_file);
    free(w->intervals);
    if (w->foreign && w->foreign != MAP_FAILED)
        munmap(w->foreign, MAX_FOREIGN_CHECKS * sizeof(struct foreign_check));
}

static void run_pass(struct trial_thread *w)
{
    struct trial *t = w->trial;
    struct spur_error e = {0};
    struct workload_step left;
    bool idle = false;

    if (t->reads_back) {
        check_read_back(w, t->leg.t1_ns);
        return;
    }
    check_foreign(w, t->leg.t1_ns);
    if (w->idle || w->failed || t->job->verify == VERIFY_INLINE) /* inline has seen every timed byte */
        return;
    t->workload->close(w->work);
    w->work = NULL;
    if (t->pass_workload->open(&t->pass_plan, w->index, &w->work, &idle, &e) < 0) {
        w->error = e;
        w->failed = true;
        return;
    }
    if (!idle) {
        loop_run(w, &t->leg);
        w->pass_cut |= t->pass_workload->next(w->work, &left) > 0;
    }
    t->pass_workload->close(w->work);
    w->work = NULL;
}

static void arrive(struct trial *t)
{
    uint64_t one = 1;

    pthread_mutex_lock(&t->lock);
    if (++t->n_arrived == t->n_threads) {
        pthread_cond_broadcast(&t->changed);
        if (write(t->wake_fd, &one, sizeof(one)) < 0)
            abort(); /* an eventfd takes 2^64 - 2 of them */
    }
    pthread_mutex_unlock(&t->lock);
}

static enum phase await_turn(struct trial *t, unsigned *seen)
{
    enum phase phase;

    pthread_mutex_lock(&t->lock);
    while (t->turn == *seen)
        pthread_cond_wait(&t->changed, &t->lock);
    *seen = t->turn;
    phase = t->phase;
    pthread_mutex_unlock(&t->lock);
    return phase;
}

static void *thread_main(void *arg)
{
    struct trial_thread *w = arg;
    struct trial *t = w->trial;
    enum phase phase = PHASE_SETUP;
    unsigned seen = 0;
    char name[16];

    snprintf(name, sizeof(name), "spur-%u", w->index);
    pthread_setname_np(pthread_self(), name);
    if (thread_open(w, &w->error) < 0)
        w->failed = true;
    arrive(t);
    while ((phase = await_turn(t, &seen)) != PHASE_END) {
        if (phase == PHASE_TIMED)
            loop_run(w, &t->leg);
        else
            run_pass(w);
        arrive(t);
    }
    thread_close(w);
    return NULL;
}

void trial_start(struct trial *t, const struct leg *leg, enum phase phase)
{
    uint64_t drained;

    pthread_mutex_lock(&t->lock);
    if (t->wake_fd >= 0 && read(t->wake_fd, &drained, sizeof(drained)) < 0 && errno != EAGAIN)
        abort();
    if (leg)
        t->leg = *leg;
    t->phase = phase;
    t->n_arrived = 0;
    t->turn++;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

bool trial_arrived(struct trial *t)
{
    bool all;

    pthread_mutex_lock(&t->lock);
    all = t->n_arrived == t->n_threads;
    pthread_mutex_unlock(&t->lock);
    return all;
}

void trial_wait(struct trial *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->n_arrived < t->n_threads)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void trial_stop(struct trial *t)
{
    __atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
}

int trial_start_threads(struct trial *t, struct spur_error *e)
{
    unsigned asked = t->n_threads;

    for (unsigned i = 0; i < asked; i++) {
        int r;

        t->threads[i].trial = t;
        t->threads[i].index = i;
        r = pthread_create(&t->threads[i].thread, NULL, thread_main, &t->threads[i]);
        if (r) {
            pthread_mutex_lock(&t->lock);
            t->n_threads = i; /* those that run; trial_free ends them */
            pthread_mutex_unlock(&t->lock);
            error_errno(e, r, "pthread_create", "thread %u of %u", i + 1, asked);
            error_remedy(e, "fewer --threads, or a higher limit of processes (ulimit -u)");
            return -r;
        }
    }
    trial_wait(t);
    for (unsigned i = 0; i < t->n_threads; i++) {
        if (!t->threads[i].failed)
            continue;
        *e = t->threads[i].error;
        return -EIO;
    }
    return 0;
}
