/* SPDX-License-Identifier: MIT */
/* fio: options from its HOWTO; figures from --output-format=json. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/external.h"

static bool is_engine(const struct trial *t, const char *name)
{
    return !strcmp(external_setting(t, "ioengine"), name);
}

static bool uses_cufile(const struct trial *t)
{
    return is_engine(t, "libcufile");
}

static bool is_random(const struct trial *t)
{
    return t->job->op == JOB_RANDREAD;
}

/* Sequential threads have neighbouring parts of the range, as spur's own have. */
static uint64_t share_bytes(const struct trial *t)
{
    uint64_t bytes = t->workload_files[0].bytes;

    return round_down(is_random(t) ? bytes : bytes / t->job->threads, t->job->request_bytes);
}

/* ------------------------------------------------------------------------------------------------
 * What it cannot be asked for
 */

static int check_memory(const struct trial *t, struct spur_error *e)
{
    bool wants_gpu = is_engine(t, "libcufile");

    if (t->n_memories > 1)
        return error_usage(e, "memory", "name one GPU", "--memory %s: spur gives fio one GPU", t->job->memory);
    if (wants_gpu && !t->memory_info.is_device)
        return error_usage(e, "memory", "use --memory cuda:N", "ioengine=libcufile with memory %s: it reads into a GPU",
                           t->memory_info.name);
    if (!wants_gpu && strcmp(t->memory_info.name, "pageable"))
        return error_usage(e, "memory", "use --memory pageable, or ioengine=libcufile with cuda:N",
                           "memory %s: fio's %s engine reads into plain host memory", t->memory_info.name,
                           external_setting(t, "ioengine"));
    return 0;
}

static int check_depth(const struct trial *t, struct spur_error *e)
{
    if (t->job->depth == 1 || is_engine(t, "io_uring") || is_engine(t, "libaio"))
        return 0;
    return error_usage(e, "depth", "use --depth 1 and more --threads, or ioengine=io_uring or libaio",
                       "--depth %u: fio's %s engine keeps one request of a thread in flight", t->job->depth,
                       external_setting(t, "ioengine"));
}

static int fio_check(const struct trial *t, struct spur_error *e)
{
    static const char *const engines[] = {"psync", "io_uring", "libaio", "libcufile", NULL};
    uint64_t turn = (uint64_t)t->job->threads * t->job->request_bytes;
    bool known = false;
    int r;

    for (size_t i = 0; engines[i]; i++)
        known |= is_engine(t, engines[i]);
    if (!known)
        return error_usage(e, "ioengine", "use one of these",
                           "ioengine=%s is none of: psync, io_uring, libaio, libcufile",
                           external_setting(t, "ioengine"));
    r = check_memory(t, e);
    if (!r)
        r = check_depth(t, e);
    if (r)
        return r;
    if (!share_bytes(t))
        return error_usage(e, "threads", "use fewer --threads or a smaller --request",
                           "--threads %u: the range has fewer requests than threads", t->job->threads);
    if (t->job->total_bytes % turn)
        return error_usage(
            e, "bytes", "round --bytes",
            "--bytes %llu is no multiple of threads x request (%llu): each of fio's threads moves as much",
            (unsigned long long)t->job->total_bytes, (unsigned long long)turn);
    return 0;
}

static bool uses_setting(const struct trial *t, const char *key)
{
    if (!strcmp(key, "library") || !strcmp(key, "json") || !strncmp(key, "json.", 5))
        return uses_cufile(t);
    return strcmp(key, "xfer") != 0;
}

/* ------------------------------------------------------------------------------------------------
 * Options
 */

/* How requests are handed over, pauses, and the process: not which requests, of what, how many, or how they count. */
static const char *const arguments_allowed[] = {
    "iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete", "iodepth_batch_complete_min",
    "iodepth_batch_complete_max", "iodepth_low", "io_submit_mode", "serialize_overlap",
    /* of the engines */
    "hipri", "fixedbufs", "registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored", "uncached",
    "force_async", "userspace_reap", "cmdprio", "cmdprio_class", "cmdprio_percentage",
    /* pauses */
    "thinktime", "thinktime_spin", "thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime", "rate", "rate_iops",
    "rate_process", "rate_ignore_thinktime",
    /* the process */
    "nice", "prio", "prioclass", "lockmem", "numa_mem_policy", "clocksource", "gtod_cpu", "random_generator",
    "disk_util", "alloc-size", "max-jobs", NULL};

/* A colon separates names in fio's list. */
static void add_file(struct external_words *w, const char *name)
{
    _cleanup_free_ char *real = realpath(name, NULL);
    _cleanup_free_ char *escaped = NULL;
    size_t n = 0;

    if (real)
        escaped = malloc(2 * strlen(real) + 1);
    if (!escaped) {
        w->failed = true;
        return;
    }
    for (const char *c = real; *c; c++) {
        if (*c == ':')
            escaped[n++] = '\\';
        escaped[n++] = *c;
    }
    escaped[n] = 0;
    external_add(w, "--filename=%s", escaped);
}

static unsigned long long us(uint64_t ns)
{
    return (unsigned long long)((ns + 999) / 1000);
}

static void add_range(const struct trial *t, struct external_words *w)
{
    external_add(w, "--offset=%llu", (unsigned long long)t->workload_files[0].begin);
    external_add(w, "--size=%llu", (unsigned long long)share_bytes(t));
    if (is_random(t)) {
        external_add(w, "--norandommap");
        external_add(w, "--randseed=%llu", (unsigned long long)(t->job->seed & INT64_MAX));
    } else {
        external_add(w, "--offset_increment=%llu", (unsigned long long)share_bytes(t));
    }
}

static void fio_arguments(const struct trial *t, uint64_t ns, uint64_t warmup_ns, struct external_words *w)
{
    const struct job *job = t->job;

    external_add(w, "--name=spur");
    external_add(w, "--readonly");
    external_add(w, "--allow_file_create=0");
    external_add(w, "--invalidate=0");
    add_file(w, t->targets.items[0].filename);
    external_add(w, "--thread");
    external_add(w, "--numjobs=%u", job->threads);
    external_add(w, "--group_reporting");
    external_add(w, "--rw=%s", is_random(t) ? "randread" : "read");
    external_add(w, "--bs=%llu", (unsigned long long)job->request_bytes);
    external_add(w, "--ioengine=%s", external_setting(t, "ioengine"));
    external_add(w, "--iodepth=%u", job->depth);
    external_add(w, "--direct=%d", !strcmp(external_setting(t, "direct"), "yes"));
    if (is_engine(t, "libcufile")) {
        external_add(w, "--cuda_io=cufile");
        external_add(w, "--gpu_dev_ids=0");
    }
    add_range(t, w);
    if (job->total_bytes) {
        external_add(w, "--io_size=%llu", (unsigned long long)(job->total_bytes / job->threads));
    } else {
        external_add(w, "--time_based");
        external_add(w, "--runtime=%lluus", us(ns));
        if (warmup_ns)
            external_add(w, "--ramp_time=%lluus", us(warmup_ns));
    }
    external_add(w, "--lat_percentiles=1");
    external_add(w, "--clat_percentiles=0");
    external_add(w, "--percentile_list=50:90:99:99.9:99.99");
    external_add(w, "--eta=never");
    external_add(w, "--output-format=json");
}

/* ------------------------------------------------------------------------------------------------
 * Figures
 */

static int fault(struct spur_error *e, const char *why, const json_t *part)
{
    char *text = json_dumps(part, JSON_ENCODE_ANY | JSON_COMPACT);
    int r = external_not_understood(e, "fio", why, text ? text : "");

    free(text);
    return r;
}

static struct external_time time_of(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    double ns = json_number_value(v);

    return json_is_number(v) && ns >= 0 && ns < 1e18 ? (struct external_time){true, (uint64_t)(ns + .5)}
                                                     : (struct external_time){false, 0};
}

/* A percentile that fewer samples than its own tail decide would only repeat the maximum. */
static void take_latency(const json_t *lat, struct external_figures *f)
{
    static const struct {
        const char *key;
        double tail;
    } rows[EXTERNAL_QUANTILES] = {
        {"50.000000", .5}, {"90.000000", .1}, {"99.000000", .01}, {"99.900000", .001}, {"99.990000", .0001}};
    const json_t *list = json_object_get(lat, "percentile");

    f->min = time_of(lat, "min");
    f->mean = time_of(lat, "mean");
    f->max = time_of(lat, "max");
    for (size_t i = 0; i < EXTERNAL_QUANTILES; i++)
        if ((double)f->requests * rows[i].tail >= 1 - 1e-9)
            f->quantile[i] = time_of(list, rows[i].key);
    snprintf(f->latency_source, sizeof(f->latency_source),
             "fio's lat_ns: from a request's issue to its completion, warm-up not included");
    snprintf(f->latency_reason, sizeof(f->latency_reason), "fio gave none, or too few requests for this percentile");
}

/* In percent of the threads' run times, of which job_runtime is the sum. */
static void take_cpu(const json_t *job, struct external_figures *f)
{
    const json_t *user = json_object_get(job, "usr_cpu"), *system = json_object_get(job, "sys_cpu"),
                 *ms = json_object_get(job, "job_runtime");

    if (!json_is_number(user) || !json_is_number(system) || !json_is_number(ms))
        return;
    f->has_cpu = true;
    f->user_s = json_number_value(user) / 100 * json_number_value(ms) / 1e3;
    f->system_s = json_number_value(system) / 100 * json_number_value(ms) / 1e3;
    snprintf(f->cpu_includes, sizeof(f->cpu_includes),
             "fio's own usr_cpu and sys_cpu of its I/O threads in the window; not its helper threads, io_uring workers "
             "or kernel threads");
}

/*
 * At the end of its ramp fio clears its counters one after another while requests complete: total_ios can then miss
 * some of those that were in flight, and io_bytes holds them. So requests are counted by their bytes.
 */
static bool counts_agree(const struct trial *t, uint64_t bytes, uint64_t total_ios)
{
    uint64_t n = bytes / t->job->request_bytes;
    uint64_t most = t->job->warmup_ns && !t->job->total_bytes ? (uint64_t)t->job->threads * t->job->depth : 0;

    return bytes % t->job->request_bytes == 0 && (n > total_ios ? n - total_ios : total_ios - n) <= most;
}

static int take_amounts(const struct trial *t, const json_t *read, struct external_figures *f, struct spur_error *e)
{
    json_int_t bytes = 0, requests = 0, ms = 0, rate = 0;
    double said;

    if (json_unpack((json_t *)read, "{s:I, s:I, s:I, s:I}", "io_bytes", &bytes, "total_ios", &requests, "runtime", &ms,
                    "bw_bytes", &rate) < 0)
        return fault(e, "jobs[0].read has no io_bytes, total_ios, runtime and bw_bytes", read);
    if (bytes <= 0 || requests <= 0 || ms <= 0)
        return fault(e, "no request is counted", read);
    if (!counts_agree(t, (uint64_t)bytes, (uint64_t)requests))
        return fault(e, "io_bytes is not total_ios x request", read);
    said = (double)rate * (double)ms / 1e3;
    if (fabs(said - (double)bytes) > 0.02 * (double)bytes)
        return fault(e, "bw_bytes is not io_bytes / runtime", read);
    f->bytes = (uint64_t)bytes;
    f->requests = f->bytes / t->job->request_bytes;
    f->seconds = (double)ms / 1e3;
    return 0;
}

static int take_job(const struct trial *t, const json_t *root, struct external_figures *f, struct spur_error *e)
{
    const json_t *jobs = json_object_get(root, "jobs"), *job = json_array_get(jobs, 0),
                 *read = json_object_get(job, "read"), *error = json_object_get(job, "error");
    int r;

    if (json_array_size(jobs) != 1 || !json_is_object(read))
        return fault(e, "jobs is not one group", jobs);
    if (json_integer_value(error))
        return fault(e, "the job ended with an error", error);
    r = take_amounts(t, read, f, e);
    if (r < 0)
        return r;
    take_latency(json_object_get(read, "lat_ns"), f);
    take_cpu(job, f);
    snprintf(f->output, sizeof(f->output), "io_bytes %llu, total_ios %llu, runtime %.0f ms",
             (unsigned long long)f->bytes, (unsigned long long)f->requests, f->seconds * 1e3);
    return 0;
}

/* Notes of fio's stand before the object. */
static int fio_parse(const struct trial *t, const char *output, struct external_figures *ret, struct spur_error *e)
{
    const char *begin = *output == '{' ? output : strstr(output, "\n{");
    json_error_t why;
    json_t *root = begin ? json_loads(begin, JSON_DISABLE_EOF_CHECK, &why) : NULL;
    int r;

    if (!root)
        return external_not_understood(e, "fio", begin ? why.text : "no JSON object", output);
    r = take_job(t, root, ret, e);
    json_decref(root);
    return r;
}

const struct external_tool external_fio = {
    .name = "fio",
    .version_option = "--version",
    .warms_up = true,
    .arguments_allowed = arguments_allowed,
    .uses_setting = uses_setting,
    .check = fio_check,
    .uses_cufile = uses_cufile,
    .arguments = fio_arguments,
    .parse = fio_parse,
};
