/* SPDX-License-Identifier: MIT */
/* Streams, copies, events, launches. See libcuda.h. */
#include "libcuda.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000ull

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* ------------------------------------------------------------------------------------------------
 * The copy engine
 */

static bool perform(const struct op *op)
{
    if (op->kind == OP_COPY)
        memcpy(op->to, op->from, op->bytes);
    if (op->kind == OP_CALL)
        op->call(op->argument);
    return op->kind != OP_LAUNCH || kernel_run(&op->launch);
}

static void event_release(CUevent event)
{
    if (event->destroyed && !event->n_pending)
        free(event);
}

static void finish(CUstream s, struct op *op, bool good)
{
    if (!good)
        s->context->error = CUDA_ERROR_ILLEGAL_ADDRESS;
    region_done(op->uses[0]);
    region_done(op->uses[1]);
    if (op->kind == OP_RECORD) {
        if (op->sequence > op->event->completed)
            op->event->completed = op->sequence;
        op->event->n_pending--;
        event_release(op->event);
    }
    s->head = op->next;
    if (!s->head)
        s->tail = &s->head;
    free(op);
    pthread_cond_broadcast(&fake.progress);
}

/* Lock held. When an operation that begins now is done: the copies of a device share its rate, where one is set. */
static uint64_t due_of(CUstream s, const struct op *op, uint64_t begin)
{
    uint64_t due = op->cost_ns ? begin + op->cost_ns : 0, *free_ns = &s->context->copies_free_ns;

    if (op->kind != OP_COPY || !fake.copies_per_s)
        return due;
    if (*free_ns < begin)
        *free_ns = begin;
    *free_ns += (uint64_t)((double)op->bytes * NS_PER_S / (double)fake.copies_per_s);
    return due > *free_ns ? due : *free_ns;
}

static void *engine(void *argument)
{
    CUstream s = argument;
    uint64_t idle_since = 0;

    fake_lock();
    for (;;) {
        struct op *op;
        uint64_t begin, due;
        bool good;

        while (!s->head && !s->stop)
            pthread_cond_wait(&s->wake, &fake.lock);
        op = s->head;
        if (!op)
            break;
        begin = op->issued_ns > idle_since ? op->issued_ns : idle_since;
        due = due_of(s, op, begin);
        fake_unlock();
        if (due)
            sleep_until(due);
        good = perform(op);
        idle_since = now_ns();
        fake_lock();
        finish(s, op, good);
    }
    fake_unlock();
    return NULL;
}

CUstream stream_new(CUcontext context, bool is_default)
{
    CUstream s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->context = context;
    s->is_default = is_default;
    s->tail = &s->head;
    pthread_cond_init(&s->wake, NULL);
    if (pthread_create(&s->thread, NULL, engine, s)) {
        free(s);
        return NULL;
    }
    s->next = fake.streams;
    fake.streams = s;
    return s;
}

void stream_end(CUstream s)
{
    CUstream *at = &fake.streams;

    s->stop = true;
    pthread_cond_signal(&s->wake);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    fake_unlock();
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->wake);
    free(s);
    fake_lock();
}

/* The default streams (handles 0 to 2) are one. */
CUstream stream_find(CUstream handle, CUcontext context)
{
    CUstream s = fake.streams;

    if ((uintptr_t)handle <= 2)
        return context->default_stream;
    while (s && s != handle)
        s = s->next;
    return s;
}

void stream_put(CUstream s, const struct op *from)
{
    struct op *op = malloc(sizeof(*op));

    if (!op)
        abort();
    *op = *from;
    op->next = NULL;
    op->issued_ns = now_ns();
    op->cost_ns = op->kind == OP_RECORD || op->kind == OP_CALL ? 0 : fake.delay_ns + op->bytes / 20;
    region_use(op->uses[0]);
    region_use(op->uses[1]);
    *s->tail = op;
    s->tail = &op->next;
    pthread_cond_signal(&s->wake);
}

/* ------------------------------------------------------------------------------------------------
 * Streams
 */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuStreamCreate", &context);

    if (code)
        return code;
    fake_lock();
    *stream = stream_new(context, false);
    fake_unlock();
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuStreamDestroy_v2", &context);
    CUstream s;

    if (code)
        return code;
    fake_lock();
    s = stream_find(stream, context);
    if (s && s->head) /* legal, but spur promises to wait first */
        fake_violation("cuStreamDestroy of a stream with work in flight");
    if (s && !s->is_default)
        stream_end(s);
    else
        code = CUDA_ERROR_INVALID_HANDLE;
    fake_unlock();
    return code;
}

/* An injected error is told after the wait: the work is not in flight any more, as after a real one. */
CUresult cuStreamSynchronize(CUstream stream)
{
    CUcontext context = NULL;
    CUresult code = fake_enter_context("cuStreamSynchronize", &context);
    CUstream s;

    if (!context)
        return code;
    fake_lock();
    s = stream_find(stream, context);
    while (s && s->head)
        pthread_cond_wait(&fake.progress, &fake.lock);
    if (!code)
        code = s ? s->context->error : CUDA_ERROR_INVALID_HANDLE;
    fake_unlock();
    return code;
}

/* ------------------------------------------------------------------------------------------------
 * Copies and launches
 */

static CUresult put_copy(CUcontext context, CUstream stream, void *host, CUdeviceptr device, size_t bytes, bool in)
{
    struct op op = {.kind = OP_COPY, .bytes = bytes};
    CUresult code = CUDA_SUCCESS;
    uint8_t *at;
    CUstream s;

    fake_lock();
    s = stream_find(stream, context);
    op.uses[0] = region_of_device(device, bytes);
    if (!s)
        code = CUDA_ERROR_INVALID_HANDLE;
    else if (!op.uses[0] || op.uses[0]->is_host || !region_of_host(host, bytes, &op.uses[1]))
        code = CUDA_ERROR_INVALID_VALUE;
    if (!code) {
        at = op.uses[0]->host + (device - op.uses[0]->device);
        op.to = in ? at : host;
        op.from = in ? host : at;
        stream_put(s, &op);
    }
    fake_unlock();
    return code;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemcpyHtoDAsync_v2", &context);

    return code ? code : put_copy(context, stream, (void *)(uintptr_t)from, to, bytes, true);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuMemcpyDtoHAsync_v2", &context);

    return code ? code : put_copy(context, stream, to, from, bytes, false);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments,
                        void **extra)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuLaunchKernel", &context);
    struct op op = {.kind = OP_LAUNCH};
    CUstream s;

    if (code)
        return code;
    if (!grid_x || grid_y != 1 || grid_z != 1 || block_x != KERNEL_THREADS || block_y != 1 || block_z != 1)
        return CUDA_ERROR_INVALID_VALUE;
    fake_lock();
    s = stream_find(stream, context);
    code = s ? kernel_arguments(function->kernel, arguments, &op) : CUDA_ERROR_INVALID_HANDLE;
    if (!code)
        stream_put(s, &op);
    fake_unlock();
    return code;
}

CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *argument)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuLaunchHostFunc", &context);
    struct op op = {.kind = OP_CALL, .call = function, .argument = argument};
    CUstream s;

    if (code)
        return code;
    fake_lock();
    s = stream_find(stream, context);
    if (s)
        stream_put(s, &op);
    else
        code = CUDA_ERROR_INVALID_HANDLE;
    fake_unlock();
    return code;
}

/* ------------------------------------------------------------------------------------------------
 * Events
 */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuEventCreate", &context);

    if (code)
        return code;
    *event = calloc(1, sizeof(**event));
    if (!*event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake_lock();
    fake.n_events++;
    fake_unlock();
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuEventDestroy_v2", &context);

    if (code)
        return code;
    fake_lock();
    fake.n_events--;
    event->destroyed = true;
    event_release(event);
    fake_unlock();
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuEventRecord", &context);
    struct op op = {.kind = OP_RECORD, .event = event};
    CUstream s;

    if (code)
        return code;
    fake_lock();
    s = stream_find(stream, context);
    if (s) {
        op.sequence = ++event->recorded;
        event->n_pending++;
        stream_put(s, &op);
    } else {
        code = CUDA_ERROR_INVALID_HANDLE;
    }
    fake_unlock();
    return code;
}

CUresult cuEventQuery(CUevent event)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuEventQuery", &context);

    if (code)
        return code;
    fake_lock();
    if (event->completed < event->recorded)
        code = CUDA_ERROR_NOT_READY;
    fake_unlock();
    return code;
}

CUresult cuEventSynchronize(CUevent event)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuEventSynchronize", &context);

    if (code)
        return code;
    fake_lock();
    while (event->completed < event->recorded)
        pthread_cond_wait(&fake.progress, &fake.lock);
    code = context->error;
    fake_unlock();
    return code;
}
