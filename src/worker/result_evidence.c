/* SPDX-License-Identifier: MIT */
#include "worker/result_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "path/path.h"
#include "worker/nvfs_use.h"

/* ------------------------------------------------------------------------------------------------
 * Small things
 */

json_t *result_u64(uint64_t v)
{
    return json_integer((json_int_t)v);
}

json_t *result_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

void result_null(json_t *result, json_t *nulls, const char *key, const char *reason)
{
    if (result)
        json_object_set_new(result, key, json_null());
    json_object_set_new(nulls, key, json_string(reason));
}

void result_note(json_t *notes, const char *text, ...)
{
    char line[500];
    va_list ap;

    va_start(ap, text);
    vsnprintf(line, sizeof(line), text, ap);
    va_end(ap);
    json_array_append_new(notes, json_string(line));
}

double result_seconds(const struct outcome *o)
{
    return o->t1_ns > o->t0_ns ? (double)(o->t1_ns - o->t0_ns) / 1e9 : 0;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Evidence: what was observed, and what served the bytes
 */

void result_evidence(json_t *evidence, const char *source, const char *strength, const char *says, json_t *value)
{
    json_array_append_new(evidence, json_pack("{s:s, s:s, s:s, s:o}", "source", source, "strength", strength, "says",
                                              says, "value", value));
}

static bool is_on_mounts(const struct seen *s)
{
    for (unsigned i = 0; i < s->storage.n; i++)
        if (s->storage.items[i].source != STORAGE_NFS && s->storage.items[i].source != STORAGE_SIMFS)
            return false;
    return s->storage.n > 0;
}

/* Where /proc/self/io counts nothing. */
static void mount_evidence(const struct seen *s, json_t *evidence)
{
    if (!is_on_mounts(s))
        return;
    if (s->sum.known)
        result_evidence(evidence, "mount", "supporting",
                        "bytes that the mounts of the files counted, of all processes that use them",
                        json_pack("{s:o, s:o}", "read_bytes", result_u64(s->sum.read.bytes), "write_bytes",
                                  result_u64(s->sum.write.bytes)));
    else
        result_evidence(evidence, "mount", "none", s->sum.reason, json_null());
}

void result_io_evidence(const struct measure *m, json_t *evidence)
{
    const struct snapshot *a = &m->begin, *b = &m->end;
    char says[PROBE_REASON + 200];

    if (a->io.known && b->io.known)
        result_evidence(evidence, "/proc/self/io", "supporting",
                        "bytes that this process had fetched from or sent to block devices (0 on tmpfs, FUSE and NFS)",
                        json_pack("{s:I, s:I}", "read_bytes", (json_int_t)(b->io.read_bytes - a->io.read_bytes),
                                  "write_bytes", (json_int_t)(b->io.write_bytes - a->io.write_bytes)));
    else
        result_evidence(evidence, "/proc/self/io", "none", a->io.known ? b->io.reason : a->io.reason, json_null());
    mount_evidence(&m->seen, evidence);
    if (a->nvfs.known && b->nvfs.known && a->nvfs.enabled && b->nvfs.enabled) {
        result_evidence(evidence, PROBE_NVFS_FILE, "strong", "operations of the whole machine through nvidia-fs",
                        json_pack("{s:I, s:I}", "reads", (json_int_t)(b->nvfs.reads - a->nvfs.reads), "writes",
                                  (json_int_t)(b->nvfs.writes - a->nvfs.writes)));
        return;
    }
    if (!a->nvfs.known || !b->nvfs.known)
        snprintf(says, sizeof(says), "at the window's %s: %s", a->nvfs.known ? "end" : "begin",
                 a->nvfs.known ? b->nvfs.reason : a->nvfs.reason);
    else
        snprintf(says, sizeof(says), "its counters are off%s (rw_stats_enabled=0): says nothing",
                 a->nvfs.enabled == b->nvfs.enabled ? ""
                 : a->nvfs.enabled                  ? " at the window's end"
                                                    : " at the window's begin");
    result_evidence(evidence, PROBE_NVFS_FILE, "none", says, json_null());
}

json_t *result_device(const struct measure *m, json_t *nulls)
{
    const struct probe_block_stat *a = &m->begin.block, *b = &m->end.block;
    double ms = (double)(m->end.t_ns - m->begin.t_ns) / 1e6;
    json_t *leaves, *d;

    if (!a->known || !b->known) {
        json_object_set_new(nulls, "device", json_string(a->known ? b->reason : a->reason));
        return json_null();
    }
    leaves = json_array();
    for (unsigned i = 0; i < m->block.n_leaves; i++)
        json_array_append_new(leaves, json_string(m->block.leaves[i]));
    d = json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "leaves", leaves, "reads", (json_int_t)(b->reads - a->reads),
                  "read_bytes", (json_int_t)(b->read_bytes - a->read_bytes), "writes",
                  (json_int_t)(b->writes - a->writes), "write_bytes", (json_int_t)(b->write_bytes - a->write_bytes),
                  "mean_in_flight",
                  m->block.iostats ? result_real(ratio((double)(b->weighted_ms - a->weighted_ms), ms)) : json_null());
    if (!m->block.iostats)
        json_object_set_new(nulls, "device.mean_in_flight", json_string("queue/iostats is 0 on a device"));
    json_object_set_new(d, "scope", json_string("the whole machine's use of these devices during the window"));
    return d;
}

static const char *by_share(uint64_t reached, uint64_t moved, const char *storage, const char **ret_reason)
{
    if ((double)reached >= 0.9 * (double)moved)
        return storage;
    if ((double)reached <= 0.1 * (double)moved)
        return "cache";
    *ret_reason = "part came from the page cache and part from the storage: see evidence";
    return NULL;
}

/* Mounts count what all processes asked of them, block devices what this one did (/proc/self/io). */
static const char *served_by_mount(const struct trial *t, const struct measure *m, const struct totals *s,
                                   const char **ret_reason)
{
    const char *source = seen_source(&m->seen, ret_reason);
    uint64_t reached = m->seen.sum.read.bytes;

    if (!source)
        return NULL;
    *ret_reason = m->seen.sum.reason;
    if (!m->seen.sum.known)
        return NULL;
    if (s->by_op[1].bytes && t->path->ops->uses_page_cache)
        return "cache";
    reached += s->by_op[1].bytes ? m->seen.sum.write.bytes : 0;
    return by_share(reached, s->by_op[0].bytes + s->by_op[1].bytes, !strcmp(source, "simfs") ? "simulated" : "storage",
                    ret_reason);
}

/* What answered. NULL with a reason where nothing counts it. */
const char *result_served(const struct trial *t, const struct measure *m, const struct totals *s,
                          const char **ret_reason)
{
    uint64_t moved = s->by_op[0].bytes + s->by_op[1].bytes;
    uint64_t reached = m->end.io.read_bytes - m->begin.io.read_bytes;
    size_t in_memory = 0;

    if (s->by_op[1].bytes && !t->path->ops->uses_page_cache)
        reached += m->end.io.write_bytes - m->begin.io.write_bytes;
    for (size_t i = 0; i < t->targets.n; i++)
        in_memory += t->targets.items[i].in_memory;
    *ret_reason = NULL;
    if (!t->moves_bytes)
        *ret_reason = "the null path moves no bytes";
    else if (!moved)
        *ret_reason = "no request completed inside the window";
    else if (in_memory == t->targets.n)
        return "memory";
    else if (in_memory)
        *ret_reason = "some files are in memory and some are not";
    else if (is_on_mounts(&m->seen))
        return served_by_mount(t, m, s, ret_reason);
    else if (!m->block.known)
        *ret_reason = "the file system has no block device below it whose bytes could be counted";
    else if (!m->begin.io.known || !m->end.io.known)
        *ret_reason = "/proc/self/io cannot be read";
    else if (s->by_op[1].bytes && t->path->ops->uses_page_cache)
        return "cache";
    else
        return by_share(reached, moved, "storage", ret_reason);
    return NULL;
}

static bool has_simfs(const struct seen *s)
{
    for (unsigned i = 0; i < s->storage.n; i++)
        if (s->storage.items[i].source == STORAGE_SIMFS)
            return true;
    return false;
}

/* Of the trial's own operations none went through nvidia-fs, by what the code is or what was counted of it. */
static bool is_without_nvfs(const struct trial *t, const struct road *road)
{
    if (!t->path->ops->roads)
        return t->path->ops->observed == SPUR_OBSERVED_HOST;
    return road->observed == SPUR_OBSERVED_COMPAT || road->observed == SPUR_OBSERVED_P2PDMA ||
           road->observed == SPUR_OBSERVED_USER_RDMA || (road->counted && road->n_operations && !road->n_nvfs);
}

/* In other arms than those of nvidia-fs it has to stand still; in those, to move no more bytes than the trial. */
static void flag_nvfs(const struct trial *t, const struct measure *m, const struct outcome *o, const struct totals *s,
                      json_t *notes)
{
    struct nvfs_use use;

    nvfs_use_read(m, s->by_op, &use);
    if (use.extent < NVFS_PART)
        return;
    if (is_without_nvfs(t, &o->road))
        result_note(notes,
                    "nvidia-fs counters moved during the window of a trial that did not use it (%s): something else on "
                    "this machine used it",
                    t->path->ops->roads ? spur_observed_name(o->road.observed) : "a host path");
    else if (t->path->ops->roads && nvfs_use_by_others(t, &use, s->by_op))
        result_note(notes,
                    "nvidia-fs counted %llu bytes in the window, the trial moved %llu: something else on this machine "
                    "used it",
                    (unsigned long long)use.bytes, (unsigned long long)(s->by_op[0].bytes + s->by_op[1].bytes));
}

void result_flags(const struct trial *t, const struct measure *m, const struct outcome *o, const struct totals *s,
                  const char *served_by, json_t *notes)
{
    if (has_simfs(&m->seen))
        result_note(notes, "simulated: the storage is a simulated mount");
    if (m->end.roads.is_simulated)
        result_note(notes, "simulated: the cuFile library is a test suite's");
    if (t->memory_info.is_simulated)
        result_note(notes, "simulated: the CUDA driver is a test suite's, no GPU's");
    else if (t->memory_info.is_emulated)
        result_note(notes, "emulated: the GPU of this trial is emulated in host memory");
    if (result_seconds(o) < 1)
        result_note(notes, "short-run: the window was shorter than 1 s");
    if (result_busy_threads(t) < t->job->threads)
        result_note(notes, "%u of %u threads had work: the range has fewer requests than threads",
                    result_busy_threads(t), t->job->threads);
    if (served_by && !strcmp(served_by, "cache") && !t->path->ops->uses_page_cache)
        result_note(notes, "fault: an O_DIRECT path was served by a cache, not by the storage");
    if (served_by && !strcmp(served_by, "memory"))
        result_note(notes, "served by memory: not to be ranked against storage");
    if (t->tail_skipped_bytes)
        result_note(notes, "%llu bytes at the ends of files were left out: O_DIRECT cannot write them",
                    (unsigned long long)t->tail_skipped_bytes);
    if (t->targets.n_skipped)
        result_note(notes, "%zu files of the directory were left out: smaller than one request", t->targets.n_skipped);
    if (s->histogram.n_over)
        result_note(notes, "%llu latencies were beyond the histogram's range", (unsigned long long)s->histogram.n_over);
    flag_nvfs(t, m, o, s, notes);
}
