/* SPDX-License-Identifier: MIT */
/*
 * gdsio of NVIDIA's gds-tools: options from its help, figures from the one line that it prints at its end:
 *
 *   IoType: READ XferType: GPUD Threads: 8 DataSetSize: 818796544/4096000(KiB) IOSize: 1024(KiB)
 *   Throughput: 6.524658 GiB/sec, Avg_Latency: 1197.370995 usecs ops: 799606 total_time 119.679102 secs
 *
 * (one line). Units are binary; `ops` is a 32-bit number; the latency is an average by wall time, not from timestamps.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/external.h"

#define KIB    1024ull
#define SECOND 1000000000ull

enum { XFER_GPUD = 0, XFER_CPUONLY = 1, XFER_ASYNC = 5, XFER_BATCH = 6, XFER_BATCH_STREAM = 7 };

/* As printed, by -x; two forms where versions differ. */
static const char *const xfer_names[8][2] = {
    {"GPUD", "GPUD"},
    {"CPUONLY", "CPU_ONLY"},
    {"CPU_GPU", "CPU_GPU"},
    {"CPU_ASYNC_GPU", "CPU_ASYNC_GPU"},
    {"CPU_CACHED_GPU", "CPU_CACHED_GPU"},
    {"ASYNC", "GPUD_ASYNC"},
    {"GPU_BATCH", "BATCH"},
    {"GPU_BATCH_STREAM", "BATCH_STREAM"},
};

static unsigned xfer_of(const struct trial *t)
{
    const char *xfer = external_setting(t, "xfer");

    if (strcmp(xfer, "auto"))
        return (unsigned)(*xfer - '0');
    return t->memory_info.is_device ? XFER_GPUD : XFER_CPUONLY;
}

static bool uses_cufile(const struct trial *t)
{
    return xfer_of(t) == XFER_GPUD || xfer_of(t) >= XFER_ASYNC;
}

static bool uses_setting(const struct trial *t, const char *key)
{
    return strcmp(key, "ioengine") != 0 && strcmp(key, "direct") != 0;
}

/* No registration of buffers, NVLink peers, figures of each job. None of them has a value. */
static const char *const arguments_allowed[] = {"b", "p", "J", NULL};

static bool is_batch(const struct trial *t)
{
    return xfer_of(t) == XFER_BATCH;
}

/* ------------------------------------------------------------------------------------------------
 * What it cannot be asked for
 */

/* Through cuFile, host memory can be read into too (-m 2, 3); -x 2 to 4 copy to a GPU, -x 1 does not. */
static int check_memory(const struct trial *t, struct spur_error *e)
{
    unsigned xfer = xfer_of(t);
    bool is_device = t->memory_info.is_device;

    if (t->n_memories > 1)
        return error_usage(e, "memory", "name one GPU", "--memory %s: spur gives gdsio one GPU", t->job->memory);
    if (xfer == XFER_CPUONLY && is_device)
        return error_usage(e, "xfer", "use host memory, or another xfer",
                           "xfer=1 with memory %s: gdsio's CPU_ONLY does not reach a GPU", t->memory_info.name);
    if (xfer >= 2 && xfer <= 4 && !is_device)
        return error_usage(e, "xfer", "use --memory cuda:N", "xfer=%u with memory %s: it copies to a GPU", xfer,
                           t->memory_info.name);
    return 0;
}

static int check_threads(const struct trial *t, struct spur_error *e)
{
    const struct job *job = t->job;

    if (is_batch(t) && job->threads != 1)
        return error_usage(e, "threads", "use --threads 1 and --depth for the batch",
                           "--threads %u: gdsio's -x 6 has one thread, and -w is the entries of its batch",
                           job->threads);
    if (!is_batch(t) && job->depth != 1)
        return error_usage(e, "depth", "use --depth 1 and more --threads, or xfer=6",
                           "--depth %u: gdsio's -x %u keeps one request of a thread in flight", job->depth, xfer_of(t));
    return 0;
}

static int check_times(const struct trial *t, struct spur_error *e)
{
    const struct job *job = t->job;

    if (job->total_bytes)
        return error_usage(e, "bytes", "use --seconds",
                           "--bytes: gdsio without a time moves its whole set once, whatever that is");
    if (job->seconds_ns % SECOND)
        return error_usage(e, "seconds", "use whole seconds", "--seconds %g: gdsio counts whole seconds",
                           (double)job->seconds_ns / 1e9);
    if (job->warmup_ns % SECOND)
        return error_usage(e, "warmup", "use whole seconds, or 0", "--warmup %g: gdsio counts whole seconds",
                           (double)job->warmup_ns / 1e9);
    return 0;
}

static int check_kib(const char *option, uint64_t bytes, struct spur_error *e)
{
    if (bytes % KIB == 0)
        return 0;
    return error_usage(e, option, "round it", "--%s %llu: gdsio takes multiples of 1 KiB", option,
                       (unsigned long long)bytes);
}

/* The part of the file that its threads deal among themselves: as many whole requests for each. */
static uint64_t set_bytes(const struct trial *t)
{
    return round_down(t->workload_files[0].bytes, t->job->request_bytes * t->job->threads);
}

static int gdsio_check(const struct trial *t, struct spur_error *e)
{
    int r = check_memory(t, e);

    if (!r)
        r = check_threads(t, e);
    if (!r)
        r = check_times(t, e);
    if (!r)
        r = check_kib("request", t->job->request_bytes, e);
    if (!r)
        r = check_kib("offset", t->workload_files[0].begin, e);
    if (!r && !set_bytes(t))
        return error_usage(e, "threads", "use fewer --threads or a smaller --request",
                           "--threads %u: the range has fewer requests than threads", t->job->threads);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Options
 */

static void add_memory(const struct trial *t, struct external_words *w)
{
    unsigned xfer = xfer_of(t);

    external_add(w, "-d");
    if (t->memory_info.uuid[0] || !t->memory_info.is_device)
        external_add(w, "0"); /* the only one that it sees */
    else
        external_add(w, "%s", strchr(t->memory_info.name, ':') + 1);
    if (t->memory_info.is_device || xfer == XFER_CPUONLY)
        return;
    external_add(w, "-m");
    external_add(w, t->memory_info.is_page_locked ? "2" : "3");
}

static void add_number(struct external_words *w, const char *option, uint64_t bytes)
{
    external_add(w, "%s", option);
    external_add(w, "%lluK", (unsigned long long)(bytes / KIB));
}

static void gdsio_arguments(const struct trial *t, uint64_t ns, uint64_t warmup_ns, struct external_words *w)
{
    const struct job *job = t->job;
    _cleanup_free_ char *file = realpath(t->targets.items[0].filename, NULL);

    external_add(w, "-f");
    external_add(w, "%s", file ? file : t->targets.items[0].filename);
    add_memory(t, w);
    external_add(w, "-w");
    external_add(w, "%u", is_batch(t) ? job->depth : job->threads);
    add_number(w, "-s", set_bytes(t));
    if (t->workload_files[0].begin)
        add_number(w, "-o", t->workload_files[0].begin);
    add_number(w, "-i", job->request_bytes);
    external_add(w, "-x");
    external_add(w, "%u", xfer_of(t));
    external_add(w, "-I");
    external_add(w, job->op == JOB_RANDREAD ? "2" : "0");
    if (job->op == JOB_RANDREAD) {
        external_add(w, "-k");
        external_add(w, "%u", (unsigned)(job->seed & INT32_MAX));
    }
    external_add(w, "-T");
    external_add(w, "%llu", (unsigned long long)(ns / SECOND));
}

/* ------------------------------------------------------------------------------------------------
 * Figures
 */

struct line {
    char type[32], xfer[32], unit[16];
    unsigned threads;
    unsigned long long moved_kib, set_kib, request_kib;
    double rate, latency_us, seconds;
    long long ops;
};

/* @at stands behind the thread count, or behind the depth of a batch. */
static bool scan_rest(const char *at, struct line *l)
{
    char unit[8], times[8], rest[2];

    if (sscanf(at,
               " DataSetSize: %llu/%llu(%7[^)]) IOSize: %llu(%*[^)])%*[ ,]Throughput: %lf %15[^,], Avg_Latency: %lf "
               "usecs ops: %lld total_time %lf %7s%1s",
               &l->moved_kib, &l->set_kib, unit, &l->request_kib, &l->rate, l->unit, &l->latency_us, &l->ops,
               &l->seconds, times, rest) != 10)
        return false;
    if (!strcmp(times, "usecs")) /* before 1.0 */
        l->seconds /= 1e6;
    else if (strcmp(times, "secs"))
        return false;
    return (!strcmp(unit, "KiB") || !strcmp(unit, "KB")) && (!strcmp(l->unit, "GiB/sec") || !strcmp(l->unit, "GB/sec"));
}

static bool scan(const char *text, struct line *l)
{
    int n = 0, depth = 0;

    if (sscanf(text, "IoType: %31s XferType: %31s Threads: %u%n", l->type, l->xfer, &l->threads, &n) != 3 || !n)
        return false;
    text += n;
    n = 0;
    if (sscanf(text, " IoDepth: %*u%n", &depth) == 0)
        text += depth;
    return scan_rest(text, l);
}

static bool near(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* NULL, or what does not fit. */
static const char *judge(const struct trial *t, const struct line *l)
{
    const struct job *job = t->job;
    const char *const *names = xfer_names[xfer_of(t)];
    double bytes = (double)l->moved_kib * (double)KIB;

    if (strcmp(l->type, job->op == JOB_RANDREAD ? "RANDREAD" : "READ"))
        return "IoType is not what was asked for";
    if (strcmp(l->xfer, names[0]) && strcmp(l->xfer, names[1]))
        return "XferType is not what was asked for";
    if (!is_batch(t) && l->threads != job->threads)
        return "Threads is not what was asked for";
    if (l->request_kib * KIB != job->request_bytes)
        return "IOSize is not what was asked for";
    if (l->ops <= 0)
        return "ops is no count (it has 32 bits)";
    if (!(l->seconds > 0) || !l->moved_kib)
        return "nothing was moved";
    if (l->set_kib * KIB != set_bytes(t))
        return "DataSetSize is not the part of the file that was asked for";
    if ((uint64_t)l->ops * job->request_bytes != l->moved_kib * KIB)
        return "ops x IOSize is not DataSetSize";
    if (!near(l->rate * (double)(1 << 30), bytes / l->seconds, 0.01))
        return "Throughput is not DataSetSize / total_time";
    return NULL;
}

/* The line; NULL: none, or more than one. */
static const char *find_line(const char *output)
{
    const char *found = NULL;

    for (const char *at = output; (at = strstr(at, "IoType:")); at++) {
        if (at != output && at[-1] != '\n')
            continue;
        if (found)
            return NULL;
        found = at;
    }
    return found;
}

static void take(const struct line *l, struct external_figures *f)
{
    f->bytes = l->moved_kib * KIB;
    f->requests = (uint64_t)l->ops;
    f->seconds = l->seconds;
    f->mean = (struct external_time){true, (uint64_t)(l->latency_us * 1e3 + .5)};
    snprintf(f->latency_source, sizeof(f->latency_source),
             "gdsio's Avg_Latency: wall time of its threads by operations, no timestamps");
    snprintf(f->latency_reason, sizeof(f->latency_reason), "gdsio prints an average only");
}

static int gdsio_parse(const struct trial *t, const char *output, struct external_figures *ret, struct spur_error *e)
{
    const char *at = find_line(output), *why;
    struct line l = {.threads = 0};

    if (!at)
        return external_not_understood(e, "gdsio", "not one line that begins with IoType", output);
    snprintf(ret->output, sizeof(ret->output), "%.*s", (int)strcspn(at, "\r\n"), at);
    if (!scan(ret->output, &l))
        return external_not_understood(e, "gdsio", "another form", ret->output);
    why = judge(t, &l);
    if (why)
        return external_not_understood(e, "gdsio", why, ret->output);
    take(&l, ret);
    return 0;
}

const struct external_tool external_gdsio = {
    .name = "gdsio",
    .version_option = "-v",
    .short_options = true,
    .arguments_allowed = arguments_allowed,
    .uses_setting = uses_setting,
    .check = gdsio_check,
    .uses_cufile = uses_cufile,
    .arguments = gdsio_arguments,
    .parse = gdsio_parse,
};
