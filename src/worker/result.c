/* SPDX-License-Identifier: MIT */
#include "worker/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"
#include "path/path.h"
#include "worker/modified.h"
#include "worker/result_parts.h"
#include "worker/trial_memory.h"

void outcome_free(struct outcome *o)
{
    json_decref(o->environment_begin);
    json_decref(o->environment_end);
    json_decref(o->nulls);
}

void totals_make(const struct trial *t, struct totals *ret)
{
    memset(ret, 0, sizeof(*ret));
    histogram_init(&ret->histogram);
    for (unsigned i = 0; i < t->n_threads; i++) {
        const struct trial_thread *w = &t->threads[i];
        uint64_t first, last;

        for (int op = 0; op < 2; op++) {
            ret->by_op[op].bytes += __atomic_load_n(&w->by_op[op].bytes, __ATOMIC_RELAXED);
            ret->by_op[op].requests += __atomic_load_n(&w->by_op[op].requests, __ATOMIC_RELAXED);
        }
        histogram_add(&ret->histogram, &w->histogram);
        first = __atomic_load_n(&w->first_done_ns, __ATOMIC_RELAXED);
        last = __atomic_load_n(&w->last_done_ns, __ATOMIC_RELAXED);
        if (first && (!ret->first_done_ns || first < ret->first_done_ns))
            ret->first_done_ns = first;
        if (last > ret->last_done_ns)
            ret->last_done_ns = last;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Latency, CPU, intervals, parts
 */

static json_t *latency(const struct totals *s, json_t *nulls)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p999", .999}, {"p9999", .9999}};
    const struct histogram *h = &s->histogram;
    json_t *l;

    l = json_pack("{s:I, s:I}", "min", (json_int_t)h->min_ns, "mean", (json_int_t)(h->sum_ns / h->count));
    for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
        /* A quantile that fewer samples than its own tail decide would only repeat the maximum. */
        if ((double)h->count * (1 - quantiles[i].q) < 1 - 1e-9) {
            char key[32];

            snprintf(key, sizeof(key), "latency_ns.%s", quantiles[i].name);
            json_object_set_new(l, quantiles[i].name, json_null());
            json_object_set_new(nulls, key, json_string("too few requests for this percentile"));
            continue;
        }
        json_object_set_new(l, quantiles[i].name, result_u64(histogram_quantile(h, quantiles[i].q)));
    }
    json_object_set_new(l, "max", result_u64(h->max_ns));
    return l;
}

/* What the samplers used is known, and no part of the trial. */
static double without(double all, double part)
{
    return all > part ? all - part : 0;
}

static json_t *cpu(const struct trial *t, const struct measure *m, json_t *nulls)
{
    const struct snapshot *a = &m->begin, *b = &m->end;
    double samplers_user_s = m->seen.samples.user_s + m->gpu_samples.user_s;
    double samplers_system_s = m->seen.samples.system_s + m->gpu_samples.system_s;
    struct machine_cpu machine;
    char reason[PROBE_REASON];
    json_t *c = json_object();

    json_object_set_new(
        c, "process",
        json_pack("{s:o, s:o, s:s}", "user_s",
                  result_real(without(b->process_user_s - a->process_user_s, samplers_user_s)), "system_s",
                  result_real(without(b->process_system_s - a->process_system_s, samplers_system_s)), "includes",
                  t->memory_info.is_emulated
                      ? "all threads of the worker: callers, checking and stamping, io_uring workers, and the emulated "
                        "GPU's copy engine; not the samplers of wire and gpu_links, not kernel threads"
                      : "all threads of the worker: callers, checking and stamping, io_uring workers; not the samplers "
                        "of wire and gpu_links, not kernel threads"));
    if (measure_machine_cpu(m, &machine, reason, sizeof(reason))) {
        json_object_set_new(c, "machine",
                            json_pack("{s:o, s:o, s:o, s:s}", "user_s", result_real(machine.user_s), "system_s",
                                      result_real(machine.system_s), "baseline_busy_cpus",
                                      result_real(m->baseline_busy), "method",
                                      "total from idle time above the baseline; split by ticks, approximate"));
        return c;
    }
    json_object_set_new(c, "machine", json_null());
    json_object_set_new(nulls, "cpu.machine", json_string(reason));
    return c;
}

static json_t *latency_histogram(const struct histogram *h)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (h->bucket[i])
            json_array_append_new(list, json_pack("[I, I]", (json_int_t)histogram_lower(i), (json_int_t)h->bucket[i]));
    return list;
}

/* null for the path that moves none. */
static json_t *bytes_moved(const struct trial *t, uint64_t bytes)
{
    return t->moves_bytes ? result_u64(bytes) : json_null();
}

static json_t *intervals(const struct trial *t, const struct outcome *o)
{
    uint64_t length = t->job->interval_ns;
    json_t *list = json_array();

    for (uint64_t i = 0; length && i < MAX_INTERVALS && o->t0_ns + i * length < o->t1_ns; i++) {
        uint64_t end = o->t0_ns + (i + 1) * length;
        struct tally sum = {0};

        for (unsigned k = 0; k < t->n_threads; k++) {
            sum.bytes += t->threads[k].intervals[i].bytes;
            sum.requests += t->threads[k].intervals[i].requests;
        }
        if (end > o->t1_ns || i + 1 == MAX_INTERVALS) /* the last one holds all that came later */
            end = o->t1_ns;
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:I}", "begin_s", result_real((double)(i * length) / 1e9),
                                        "end_s", result_real((double)(end - o->t0_ns) / 1e9), "bytes",
                                        bytes_moved(t, sum.bytes), "requests", (json_int_t)sum.requests));
    }
    return list;
}

/* One part for each thread and file: they sum to the total. */
static json_t *parts(const struct trial *t)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < t->n_threads; i++) {
        const struct trial_thread *w = &t->threads[i];

        for (size_t f = 0; f < t->targets.n; f++) {
            if (!w->by_file[f].requests && !(w->files[f] && !w->idle))
                continue;
            json_array_append_new(list,
                                  json_pack("{s:i, s:i, s:s, s:o, s:I}", "thread", i, "file", (int)f, "memory",
                                            trial_memory_of(t, i)->name, "bytes", bytes_moved(t, w->by_file[f].bytes),
                                            "requests", (json_int_t)w->by_file[f].requests));
        }
    }
    return list;
}

/* ------------------------------------------------------------------------------------------------
 * Verification
 */

static const char *verify_status(const struct trial *t, const struct outcome *o)
{
    if (o->timed.blocks_bad || o->pass.blocks_bad)
        return "failed";
    if (t->job->verify == VERIFY_OFF)
        return "off";
    return o->timed.bytes_ok || o->pass.bytes_ok ? "ok" : NULL;
}

/* What bytes were held against. What a trial writes is in spur's format, also in a file that was not. */
static void set_against(const struct trial *t, json_t *v, json_t *nulls, json_t *notes)
{
    size_t n_foreign = 0;

    for (size_t i = 0; i < t->targets.n; i++)
        n_foreign += !t->targets.items[i].is_spur && !t->reads_back;
    if (t->job->verify == VERIFY_OFF || !t->moves_bytes) {
        json_object_set_new(v, "against", json_null());
        json_object_set_new(nulls, "verify.against", json_string("nothing was verified"));
        return;
    }
    json_object_set_new(v, "against",
                        json_string(!n_foreign                 ? "pattern"
                                    : n_foreign < t->targets.n ? "pattern, buffered reads"
                                                               : "buffered reads"));
    if (n_foreign)
        result_note(
            notes,
            "foreign: %zu of %zu files are not in spur's format: what was read was compared with buffered reads "
            "afterwards, which shows what this path changed, not what the storage had wrong (spur prepare "
            "makes files that show both)",
            n_foreign, t->targets.n);
}

static json_t *verify(const struct trial *t, const struct outcome *o, json_t *nulls, json_t *notes)
{
    const char *status = t->moves_bytes ? verify_status(t, o) : NULL;
    json_t *v = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "mode", job_verify_name(t->job->verify),
        "bytes_timed_verified", (json_int_t)o->timed.bytes_ok, "bytes_pass_verified", (json_int_t)o->pass.bytes_ok,
        "bytes_straggler_verified", (json_int_t)o->timed.bytes_outside_ok, "bytes_unjudged",
        (json_int_t)(o->timed.bytes_unjudged + o->pass.bytes_unjudged), "blocks_bad",
        (json_int_t)(o->timed.blocks_bad + o->pass.blocks_bad), "check_thread_s",
        result_real((double)o->timed.cost_ns / 1e9), "stamp_thread_s", result_real((double)o->timed.stamp_ns / 1e9),
        "pass_s", o->passed ? result_real(o->pass_s) : json_null());

    set_against(t, v, nulls, notes);
    json_object_set_new(v, "pass", json_string(t->reads_back ? "read-back through fresh descriptors" : "same path"));
    if (status)
        json_object_set_new(v, "status", json_string(status));
    else
        json_object_set_new(v, "status", json_null());
    if (!status)
        json_object_set_new(nulls, "verify.status",
                            json_string(t->moves_bytes ? "nothing was verified before the trial ended"
                                                       : "the null path moves no bytes"));
    if (!o->passed)
        json_object_set_new(nulls, "verify.pass_s", json_string("no untimed pass was made"));
    if (o->pass_cut)
        result_note(notes, "the untimed verification pass was cut (--verify-limit, or a signal): %llu bytes verified",
                    (unsigned long long)o->pass.bytes_ok);
    if (o->n_foreign_full)
        result_note(notes, "%llu requests were not verified: the table of digests was full, or the time for it over",
                    (unsigned long long)o->n_foreign_full);
    return v;
}

/* Operations by road, where the path's library counts them. */
static json_t *roads(const struct road *road)
{
    if (!road->counted)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "operations", result_u64(road->n_operations), "nvidia_fs",
                     result_u64(road->n_nvfs), "p2pdma", result_u64(road->n_p2p), "posix", result_u64(road->n_posix),
                     "bounced", result_u64(road->n_bounced));
}

/* What decided comes first; then what the library counted, where something else decided. */
static void road_evidence(const struct road *road, json_t *evidence)
{
    bool by_library = !strncmp(road->source, ROAD_LIBRARY, strlen(ROAD_LIBRARY));

    result_evidence(evidence, road->source, road->strength, road->says, by_library ? roads(road) : json_null());
    if (!by_library && road->counted)
        result_evidence(evidence, ROAD_LIBRARY, "none", "none of the operations is on one of the library's three roads",
                        roads(road));
}

static void set_observed(const struct trial *t, const struct outcome *o, const struct totals *s, json_t *r,
                         json_t *nulls, json_t *evidence)
{
    if (!t->moves_bytes || !s->histogram.count) {
        result_null(r, nulls, "observed",
                    t->moves_bytes ? "no request completed inside the window" : "the null path moves no bytes");
        return;
    }
    json_object_set_new(r, "observed", json_string(spur_observed_name(o->road.observed)));
    if (t->path->ops->roads) {
        road_evidence(&o->road, evidence);
        return;
    }
    result_evidence(
        evidence, "construction", "supporting",
        t->memory_info.is_device
            ? "this path's own code asked the kernel for host memory and copied to the GPU; no GPU library was "
              "given the file"
            : "this path's own code asked the kernel for host memory, where the bytes stay",
        json_null());
}

json_t *result_errors(const struct outcome *o)
{
    json_t *list = json_array();

    if (o->error.source)
        json_array_append_new(list, json_error(&o->error));
    if (o->timed.mismatch.source)
        json_array_append_new(list, json_error(&o->timed.mismatch));
    if (o->pass.mismatch.source)
        json_array_append_new(list, json_error(&o->pass.mismatch));
    return list;
}

void result_cache(json_t *r, const struct outcome *o, json_t *nulls)
{
    static const char *const keys[2] = {"resident_before", "resident_after"};
    json_t *cache = json_object();

    for (int i = 0; i < 2; i++) {
        char key[40];

        if (o->resident_known[i]) {
            json_object_set_new(cache, keys[i], result_u64(o->resident_bytes[i]));
            continue;
        }
        snprintf(key, sizeof(key), "cache.%s", keys[i]);
        json_object_set_new(cache, keys[i], json_null());
        json_object_set_new(nulls, key, json_string(o->resident_reason[i]));
    }
    json_object_set_new(r, "cache", cache);
}

static void set_amounts(json_t *r, const struct trial *t, const struct totals *s, json_t *nulls)
{
    static const char *const keys[] = {"bytes", "by_op.read.bytes", "by_op.write.bytes", "parts[].bytes",
                                       "intervals[].bytes"};

    json_object_set_new(r, "bytes", bytes_moved(t, s->by_op[0].bytes + s->by_op[1].bytes));
    json_object_set_new(r, "requests", result_u64(s->by_op[0].requests + s->by_op[1].requests));
    json_object_set_new(r, "by_op",
                        json_pack("{s:{s:o,s:I}, s:{s:o,s:I}}", "read", "bytes", bytes_moved(t, s->by_op[0].bytes),
                                  "requests", (json_int_t)s->by_op[0].requests, "write", "bytes",
                                  bytes_moved(t, s->by_op[1].bytes), "requests", (json_int_t)s->by_op[1].requests));
    for (size_t i = 0; !t->moves_bytes && i < ARRAY_SIZE(keys); i++)
        json_object_set_new(nulls, keys[i], json_string("the null path moves no bytes"));
}

static bool has_failed(const struct outcome *o)
{
    return o->error.source || o->timed.mismatch.source || o->pass.mismatch.source;
}

/* A trial that failed has no figure; an interrupted one has that of the time it ran. */
static const char *no_figure(const struct outcome *o, const struct totals *s)
{
    if (has_failed(o))
        return "the trial failed: what it measured is no figure";
    return s->histogram.count && result_seconds(o) > 0 ? NULL : "no request completed inside the window";
}

static void set_figures(json_t *r, const struct trial *t, const struct outcome *o, const struct totals *s,
                        json_t *nulls)
{
    static const char *const keys[] = {"bytes_per_second", "requests_per_second", "latency_ns"};
    double seconds = result_seconds(o);
    const char *why = no_figure(o, s);

    json_object_set_new(r, "seconds", result_real(seconds));
    for (size_t i = 0; why && i < ARRAY_SIZE(keys); i++)
        result_null(r, nulls, keys[i], why);
    if (why)
        return;
    json_object_set_new(r, "bytes_per_second", result_real((double)(s->by_op[0].bytes + s->by_op[1].bytes) / seconds));
    json_object_set_new(r, "requests_per_second", result_real((double)s->histogram.count / seconds));
    json_object_set_new(r, "latency_ns", latency(s, nulls));
    if (!t->moves_bytes)
        result_null(r, nulls, "bytes_per_second", "the null path moves no bytes");
}

static void set_times(json_t *r, const struct outcome *o, const struct totals *s, json_t *nulls)
{
    json_object_set_new(r, "setup_s", result_real(o->setup_s));
    json_object_set_new(r, "setup_baseline_s", result_real(o->baseline_s));
    json_object_set_new(r, "clock",
                        json_pack("{s:I, s:I, s:I}", "t0_monotonic_ns", (json_int_t)o->t0_ns, "t1_monotonic_ns",
                                  (json_int_t)o->t1_ns, "t0_realtime_ns", (json_int_t)o->realtime_ns));
    if (s->first_done_ns) {
        json_object_set_new(r, "first_done_s", result_real((double)(s->first_done_ns - o->t0_ns) / 1e9));
        json_object_set_new(r, "last_done_s", result_real((double)(s->last_done_ns - o->t0_ns) / 1e9));
    } else {
        result_null(r, nulls, "first_done_s", "no request completed inside the window");
        result_null(r, nulls, "last_done_s", "no request completed inside the window");
    }
    if (o->synced)
        json_object_set_new(r, "sync_s", result_real(o->sync_s));
    else
        result_null(r, nulls, "sync_s", "nothing was written");
}

/* Whether the requests that the storage saw cannot have been the trial's: what it writes comes there late, what it
 * reads from the page cache never. */
static bool is_unseen(const struct trial *t, const struct measure *m, const struct totals *s, const char *served_by)
{
    bool only_reads = !s->by_op[1].bytes;
    bool loop_cached = m->seen.storage.loop_file && m->seen.sum.known &&
                       m->seen.sum.read.bytes < s->by_op[0].bytes / 10;

    return !t->moves_bytes || (only_reads && (loop_cached || (served_by && !strcmp(served_by, "cache"))));
}

/* A trial that failed ended with requests under way, which one counter has and another has not. */
static const char *set_served(const char *served_by, const char *reason, const struct outcome *o, json_t *r,
                              json_t *nulls)
{
    if (has_failed(o)) {
        served_by = NULL;
        reason = "the trial failed: its requests and what was counted of them do not belong together";
    }
    if (served_by)
        json_object_set_new(r, "served", json_string(served_by));
    else
        result_null(r, nulls, "served", reason);
    return served_by;
}

json_t *result_make(const struct trial *t, const struct measure *m, struct outcome *o)
{
    json_t *r = json_object(), *nulls = o->nulls, *evidence = json_array(), *notes = json_array(), *facts;
    const char *reason, *by_counters, *served_by;
    struct totals s;

    totals_make(t, &s);
    json_object_set_new(r, "schema", json_integer(RESULT_SCHEMA));
    json_object_set_new(r, "spur", json_string(spur_version()));
    json_object_set_new(r, "environment",
                        json_pack("{s:o, s:o}", "begin", o->environment_begin, "end", o->environment_end));
    o->environment_begin = o->environment_end = NULL;
    json_object_set_new(r, "effective", result_effective(t));
    set_observed(t, o, &s, r, nulls, evidence);
    by_counters = result_served(t, m, &s, &reason);
    served_by = set_served(by_counters, reason, o, r, nulls);
    json_object_set_new(r, "complete", json_boolean(o->complete));
    set_amounts(r, t, &s, nulls);
    set_figures(r, t, o, &s, nulls);
    json_object_set_new(r, "latency_histogram", latency_histogram(&s.histogram));
    json_object_set_new(r, "cpu", cpu(t, m, nulls));
    json_object_set_new(r, "verify", verify(t, o, nulls, notes));
    result_cache(r, o, nulls);
    json_object_set_new(r, "device", result_device(m, nulls));
    result_io_evidence(m, evidence);
    facts = json_object();
    t->path->ops->evidence(t->path, result_fact, facts);
    if (json_object_size(facts))
        result_evidence(evidence, "path counters", "supporting",
                        "what the path itself counted, warm-up and pass included", facts);
    else
        json_decref(facts);
    json_object_set_new(r, "evidence", evidence);
    json_object_set_new(r, "wire", result_wire(&m->seen, is_unseen(t, m, &s, by_counters), nulls));
    json_object_set_new(r, "gpu_links", result_gpu_links(&m->gpu_samples, nulls));
    json_object_set_new(r, "parts", parts(t));
    set_times(r, o, &s, nulls);
    json_object_set_new(r, "intervals", intervals(t, o));
    result_flags(t, m, o, &s, served_by, notes);
    modified_tell(&t->targets, o->own_writes, r, nulls, notes);
    json_object_set_new(r, "notes", notes);
    json_object_set_new(r, "errors", result_errors(o));
    json_object_set_new(r, "nulls", nulls);
    o->nulls = NULL;
    return r;
}
