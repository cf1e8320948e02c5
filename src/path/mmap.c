/* SPDX-License-Identifier: MIT */
/*
 * The file mapped into memory; the CPU copies through page faults. A fault past the end of a file that was truncated
 * meanwhile raises SIGBUS, which is turned into an error of the request: a handler jumps back into the copy that was
 * under way on that thread. The handler and its thread-local jump buffer are the only state outside the instances, for
 * signals are the process's.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/error.h"
#include "core/util.h"
#include "path/advice.h"
#include "path/direct.h"
#include "path/host.h"

static __thread sigjmp_buf *guard; /* set while this thread copies from or to a mapping */
static struct sigaction previous;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    if (guard)
        siglongjmp(*guard, 1);
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal_number, info, context);
        return;
    }
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal_number);
        return;
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Somebody may have put another handler in the place of ours since the last path was opened. */
static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (sigaction(SIGBUS, &action, &before) == 0 &&
        !((before.sa_flags & SA_SIGINFO) && before.sa_sigaction == on_sigbus))
        previous = before;
    pthread_mutex_unlock(&lock);
}

/* memcpy that returns false where a page of the mapping is gone. */
static bool guarded_copy(void *dst, const void *src, size_t length)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0)) {
        sigset_t bus;

        guard = NULL;
        /* Saving the mask each time would cost two system calls. This is for runtimes that block signals while a
         * handler runs, whatever it asked for (ThreadSanitizer). */
        sigemptyset(&bus);
        sigaddset(&bus, SIGBUS);
        pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
        return false;
    }
    guard = &here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(dst, src, length);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    guard = NULL;
    return true;
}

static int mmap_open(struct spur_path *p, struct spur_error *e)
{
    enum advice advice;

    install();
    return advice_parse(p, &advice, e);
}

static int mmap_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    static const int kernel_advice[] = {MADV_NORMAL, MADV_SEQUENTIAL, MADV_RANDOM};
    bool write = f->flags & SPUR_FILE_WRITE;
    enum advice advice = ADVICE_NORMAL;
    int r = advice_parse(p, &advice, e);

    if (!r)
        r = host_file_open(p, f, e);
    if (r < 0)
        return r;
    f->state = mmap(NULL, f->bytes, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED, f->fd, 0);
    if (f->state == MAP_FAILED || madvise(f->state, f->bytes, kernel_advice[advice]) < 0) {
        r = error_errno(e, errno, f->state == MAP_FAILED ? "mmap" : "madvise", "%s", f->filename);
        if (f->state != MAP_FAILED)
            munmap(f->state, f->bytes);
        host_file_close(f);
    }
    return r;
}

static void mmap_file_close(struct spur_file *f)
{
    munmap(f->state, f->bytes);
    host_file_close(f);
}

static int64_t move(struct spur_file *f, uint32_t op, void *host, size_t length, uint64_t offset, struct spur_error *e)
{
    uint8_t *at = (uint8_t *)f->state + offset;
    uint64_t left = offset >= f->bytes ? 0 : f->bytes - offset;
    bool ok;

    if (length > left && op == SPUR_OP_WRITE)
        return error_spur(e, SPUR_CODE_USAGE, "mmap", "%s: a mapping cannot grow the file", f->filename);
    if (length > left)
        length = left;
    ok = op == SPUR_OP_READ ? guarded_copy(host, at, length) : guarded_copy(at, host, length);
    if (ok)
        return (int64_t)length;
    error_errno(e, EIO, "mmap", "%s: a page at offset %llu .. %llu cannot be reached", f->filename,
                (unsigned long long)offset, (unsigned long long)(offset + length));
    error_remedy(e, "the file was truncated during the run, or its storage failed: see the kernel log");
    return -EIO;
}

static int64_t mmap_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    return host_transfer(q, r, move, e);
}

static const struct spur_setting mmap_settings[] = {ADVICE_SETTING, {0}};

const struct path_ops mmap_path = {
    .name = "mmap",
    .summary = "the file mapped, copied by the CPU through page faults",
    .settings = mmap_settings,
    .observed = SPUR_OBSERVED_HOST,
    .uses_page_cache = true,
    .open = mmap_open,
    .file_open = mmap_file_open,
    .file_close = mmap_file_close,
    .queue_open = host_queue_open,
    .queue_close = host_queue_close,
    .transfer = mmap_transfer,
};
