/* SPDX-License-Identifier: MIT */
/* The result of a trial that another program ran: its own figures, marked, and what the kernel counted around it. */
#include <stdio.h>
#include <string.h>

#include "path/path.h"
#include "worker/external.h"
#include "worker/modified.h"
#include "worker/nvfs_use.h"
#include "worker/result_parts.h"

#define NO_WINDOW  "the program does not say when its window began"
#define UNVERIFIED "another program moved the bytes: none could be checked"

static bool has_figures(const struct trial *t, const struct outcome *o)
{
    return !o->error.source && t->external->figures.seconds > 0;
}

/* A member of an object of the result. */
static void set_null(json_t *object, json_t *nulls, const char *parent, const char *key, const char *reason)
{
    char name[60];

    snprintf(name, sizeof(name), "%s.%s", parent, key);
    json_object_set_new(object, key, json_null());
    json_object_set_new(nulls, name, json_string(reason));
}

/* ------------------------------------------------------------------------------------------------
 * Latency, CPU
 */

static void set_time(json_t *l, json_t *nulls, const char *key, struct external_time time, const char *reason)
{
    if (time.known)
        json_object_set_new(l, key, result_u64(time.ns));
    else
        set_null(l, nulls, "latency_ns", key, reason);
}

static json_t *latency(const struct external_figures *f, json_t *nulls)
{
    static const char *const keys[EXTERNAL_QUANTILES] = {"p50", "p90", "p99", "p999", "p9999"};
    json_t *l = json_object();

    set_time(l, nulls, "min", f->min, f->latency_reason);
    set_time(l, nulls, "mean", f->mean, f->latency_reason);
    for (size_t i = 0; i < EXTERNAL_QUANTILES; i++)
        set_time(l, nulls, keys[i], f->quantile[i], f->latency_reason);
    set_time(l, nulls, "max", f->max, f->latency_reason);
    return l;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Its whole run, set-up and all, where it does not tell more. Without a warm-up of its own, that is the window's. */
static json_t *cpu(const struct external *x, bool figures, json_t *nulls)
{
    const struct external_figures *f = &x->figures;
    json_t *c = json_object();

    if (f->has_cpu)
        json_object_set_new(c, "process",
                            json_pack("{s:o, s:o, s:s}", "user_s", result_real(f->user_s), "system_s",
                                      result_real(f->system_s), "includes", f->cpu_includes));
    else if (figures && !x->tool->warms_up)
        json_object_set_new(c, "process",
                            json_pack("{s:o, s:o, s:s}", "user_s", result_real(seconds_of(x->usage.ru_utime)),
                                      "system_s", result_real(seconds_of(x->usage.ru_stime)), "includes",
                                      "the program's process from its start to its end, set-up included; not "
                                      "io_uring workers that outlived it, not kernel threads"));
    else
        set_null(c, nulls, "cpu", "process", "the program printed none of its window");
    set_null(c, nulls, "cpu", "machine", NO_WINDOW);
    return c;
}

/* ------------------------------------------------------------------------------------------------
 * Figures
 */

static void set_amounts(json_t *r, uint64_t bytes, uint64_t requests)
{
    json_object_set_new(r, "bytes", result_u64(bytes));
    json_object_set_new(r, "requests", result_u64(requests));
    json_object_set_new(r, "by_op",
                        json_pack("{s:{s:o,s:o}, s:{s:i,s:i}}", "read", "bytes", result_u64(bytes), "requests",
                                  result_u64(requests), "write", "bytes", 0, "requests", 0));
}

static void set_figures(json_t *r, const struct external_figures *f, json_t *nulls)
{
    set_amounts(r, f->bytes, f->requests);
    json_object_set_new(r, "seconds", result_real(f->seconds));
    json_object_set_new(r, "bytes_per_second", result_real((double)f->bytes / f->seconds));
    json_object_set_new(r, "requests_per_second", result_real((double)f->requests / f->seconds));
    json_object_set_new(r, "latency_ns", latency(f, nulls));
}

static void set_no_figures(json_t *r, json_t *nulls)
{
    static const char *const keys[] = {
        "bytes", "requests", "by_op", "seconds", "bytes_per_second", "requests_per_second", "latency_ns"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        result_null(r, nulls, keys[i], "the program did not end as it should: what it measured is no figure");
}

/* ------------------------------------------------------------------------------------------------
 * Road, and what served: by counters around the whole run
 */

struct counted {
    bool io;
    uint64_t by_calls, from_storage; /* bytes of this process and of the program that it waited for */
};

static void count(const struct measure *m, struct counted *ret)
{
    const struct snapshot *a = &m->begin, *b = &m->end;

    *ret = (struct counted){.io = a->io.known && b->io.known};
    if (!ret->io)
        return;
    ret->by_calls = b->io.rchar - a->io.rchar;
    ret->from_storage = b->io.read_bytes - a->io.read_bytes;
}

static bool most(uint64_t part, uint64_t whole)
{
    return (double)part >= 0.9 * (double)whole;
}

static void set_observed(const struct trial *t, const struct measure *m, json_t *r, json_t *evidence)
{
    const struct tally by_op[2] = {{t->external->figures.bytes, t->external->figures.requests}};
    uint64_t moved = by_op[0].bytes;
    bool uses_cufile = t->external->tool->uses_cufile(t);
    enum spur_observed observed = SPUR_OBSERVED_UNKNOWN;
    const char *strength = "none", *says = "nothing tells which road the program's bytes took";
    struct nvfs_use nvfs;
    struct counted n;

    count(m, &n);
    nvfs_use_read(m, by_op, &nvfs);
    if (n.io && most(n.by_calls, moved)) {
        observed = uses_cufile ? SPUR_OBSERVED_COMPAT : SPUR_OBSERVED_HOST;
        strength = "supporting";
        says = "the program moved as many bytes by read system calls, through host memory";
    } else if (uses_cufile && nvfs.extent == NVFS_WHOLE) {
        observed = SPUR_OBSERVED_NVIDIA_FS;
        strength = "strong";
        says = "nvidia-fs counted as many reads or bytes while the program ran, of the whole machine";
    } else if (n.io && !uses_cufile && most(n.from_storage, moved)) {
        observed = SPUR_OBSERVED_HOST;
        strength = "supporting";
        says = "the program had as many bytes fetched from block devices, into host memory";
    }
    json_object_set_new(r, "observed", json_string(spur_observed_name(observed)));
    result_evidence(evidence, "external program", strength, says,
                    json_pack("{s:o, s:o}", "read_calls_bytes", n.io ? result_u64(n.by_calls) : json_null(),
                              "storage_bytes", n.io ? result_u64(n.from_storage) : json_null()));
}

static bool reads_cache(const struct trial *t)
{
    return !strcmp(external_setting(t, "direct"), "no") || !strcmp(external_setting(t, "xfer"), "4");
}

/* A warm-up inside the run is in the counters too, and not in the figures: then whole is set against whole, where the
 * read calls of the run were counted. */
static const char *served(const struct trial *t, const struct measure *m, const char **ret_reason)
{
    const struct external *x = t->external;
    bool warm = x->tool->warms_up && t->job->warmup_ns;
    struct totals s = {.by_op = {{x->figures.bytes, x->figures.requests}}};
    struct counted n;
    const char *by;

    count(m, &n);
    if (warm && n.by_calls > x->figures.bytes)
        s.by_op[0].bytes = n.by_calls;
    by = result_served(t, m, &s, ret_reason);
    if (!by || !warm || strcmp(by, "storage") || s.by_op[0].bytes > x->figures.bytes)
        return by;
    *ret_reason = "the counters hold the warm-up too, which the program's figures do not";
    return NULL;
}

static json_t *device(const struct measure *m, json_t *nulls)
{
    json_t *d = result_device(m, nulls);

    if (!json_is_object(d))
        return d;
    set_null(d, nulls, "device", "mean_in_flight", NO_WINDOW);
    json_object_set_new(d, "scope",
                        json_string("the whole machine's use of these devices from the program's start to its end, "
                                    "set-up and any warm-up in the same run included"));
    return d;
}

/* ------------------------------------------------------------------------------------------------ */

static json_t *verify(const struct trial *t, json_t *nulls)
{
    json_object_set_new(nulls, "verify.pass_s", json_string("no untimed pass was made"));
    json_object_set_new(nulls, "verify.against", json_string("nothing was verified"));
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:n, s:n, s:s}", "mode",
                     job_verify_name(t->job->verify), "status", "unverified", "reason", UNVERIFIED,
                     "bytes_timed_verified", 0, "bytes_pass_verified", 0, "bytes_straggler_verified", 0,
                     "bytes_unjudged", 0, "blocks_bad", 0, "check_thread_s", 0.0, "stamp_thread_s", 0.0, "pass_s",
                     "against", "pass", "none");
}

static json_t *marked(const struct external *x)
{
    json_t *o = external_describe(x);

    json_object_set_new(o, "latency_source",
                        x->figures.latency_source[0] ? json_string(x->figures.latency_source) : json_null());
    json_object_set_new(o, "output", x->figures.output[0] ? json_filename(x->figures.output) : json_null());
    json_object_set_new(o, "wall_s", result_real(x->wall_s));
    json_object_set_new(o, "user_s", result_real(seconds_of(x->usage.ru_utime)));
    json_object_set_new(o, "system_s", result_real(seconds_of(x->usage.ru_stime)));
    return o;
}

static void set_unknown(json_t *r, json_t *nulls)
{
    static const char *const windows[] = {"clock",     "first_done_s",      "last_done_s", "wire",
                                          "gpu_links", "latency_histogram", NULL};

    for (size_t i = 0; windows[i]; i++)
        result_null(r, nulls, windows[i],
                    strcmp(windows[i], "latency_histogram") ? NO_WINDOW : "the program's own buckets are not spur's");
    result_null(r, nulls, "sync_s", "nothing was written");
    json_object_set_new(r, "parts", json_array());
    json_object_set_new(r, "intervals", json_array());
}

static void set_road(const struct trial *t, const struct measure *m, const struct outcome *o, json_t *r, json_t *nulls,
                     json_t *evidence, json_t *notes)
{
    const char *reason = NULL, *by = NULL;
    struct totals s = {.by_op = {{t->external->figures.bytes, t->external->figures.requests}}};

    if (has_figures(t, o)) {
        set_observed(t, m, r, evidence);
        by = served(t, m, &reason);
    } else {
        result_null(r, nulls, "observed", "the program gave no figures");
        reason = "the program gave no figures";
    }
    if (by)
        json_object_set_new(r, "served", json_string(by));
    else
        result_null(r, nulls, "served", reason);
    result_io_evidence(m, evidence);
    result_flags(t, m, o, &s, by && !strcmp(by, "cache") && reads_cache(t) ? NULL : by, notes);
}

json_t *external_result(const struct trial *t, const struct measure *m, struct outcome *o)
{
    json_t *r = json_object(), *nulls = o->nulls, *evidence = json_array(), *notes = json_array();
    double seconds = t->external->figures.seconds > 0 ? t->external->figures.seconds : t->external->wall_s;

    o->t1_ns = o->t0_ns + (uint64_t)(seconds * 1e9); /* how long, not when: for the notes */
    json_object_set_new(r, "schema", json_integer(RESULT_SCHEMA));
    json_object_set_new(r, "spur", json_string(spur_version()));
    json_object_set_new(r, "environment",
                        json_pack("{s:o, s:o}", "begin", o->environment_begin, "end", o->environment_end));
    o->environment_begin = o->environment_end = NULL;
    json_object_set_new(r, "effective", result_effective(t));
    json_object_set_new(r, "external", marked(t->external));
    result_note(notes, "external: %s ran this trial; its figures are its own and unverified", t->external->tool->name);
    json_object_set_new(r, "complete", json_boolean(o->complete));
    if (has_figures(t, o))
        set_figures(r, &t->external->figures, nulls);
    else
        set_no_figures(r, nulls);
    set_road(t, m, o, r, nulls, evidence, notes);
    json_object_set_new(r, "cpu", cpu(t->external, has_figures(t, o), nulls));
    json_object_set_new(r, "verify", verify(t, nulls));
    modified_tell(&t->targets, o->own_writes, r, nulls, notes);
    result_cache(r, o, nulls);
    json_object_set_new(r, "device", device(m, nulls));
    json_object_set_new(r, "evidence", evidence);
    json_object_set_new(r, "setup_s", result_real(o->setup_s));
    json_object_set_new(r, "setup_baseline_s", result_real(o->baseline_s));
    set_unknown(r, nulls);
    json_object_set_new(r, "notes", notes);
    json_object_set_new(r, "errors", result_errors(o));
    json_object_set_new(r, "nulls", nulls);
    o->nulls = NULL;
    return r;
}
