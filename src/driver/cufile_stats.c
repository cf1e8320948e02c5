/* SPDX-License-Identifier: MIT */
/*
 * The library's own statistics by road. See cufile.h.
 *
 * What 1.15 and later want: cuFileSetStatsLevel before the driver is opened (the parameter profile.cufile_stats is
 * another, weaker way in), cuFileStatsStart once it is open, then cuFileGetStatsL3.
 */
#include "driver/cufile_layout.h"

#include "core/error.h"
#include "core/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int cufile_stats_set_level(const struct cufile *c, int level, struct spur_error *e)
{
    CUfileError_t status;
    int rc;

    if (!c->cuFileSetStatsLevel || !c->cuFileGetStatsL1) {
        rc = error_foreign(e, SPUR_SOURCE_ERRNO, ENOTSUP, -ENOTSUP, "cuFileSetStatsLevel",
                           "libcufile %s has no statistics that can be read: they came with 1.15", c->version.text);
        error_remedy(e, "use libcufile 1.15 or later to see the road in the library's own counters");
        return rc;
    }
    status = c->cuFileSetStatsLevel(level);
    return status.err ? cufile_error(e, status, "cuFileSetStatsLevel", "level %d", level) : 0;
}

int cufile_stats_start(const struct cufile *c, struct spur_error *e)
{
    CUfileError_t status;

    if (!c->cuFileStatsStart)
        return error_foreign(e, SPUR_SOURCE_ERRNO, ENOTSUP, -ENOTSUP, "cuFileStatsStart",
                             "libcufile %s has no cuFileStatsStart", c->version.text);
    status = c->cuFileStatsStart();
    return status.err ? cufile_error(e, status, "cuFileStatsStart", "starting statistics") : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Reading
 */

static void take_basic(struct cufile_stats *s, const struct cufile_raw_basic *raw)
{
    s->read = raw->read;
    s->write = raw->write;
    s->handle_register = raw->handle_register;
    s->buffer_register = raw->buffer_register;
    s->read_bytes = raw->read_bytes;
    s->write_bytes = raw->write_bytes;
    s->batch = (struct cufile_batch_stats){
        .submit = raw->batch_submit,
        .complete = raw->batch_complete,
        .setup = raw->batch_setup,
        .cancel = raw->batch_cancel,
        .destroy = raw->batch_destroy,
        .enqueued = raw->batch_enqueued,
        .posix_enqueued = raw->batch_posix_enqueued,
        .processed = raw->batch_processed,
        .posix_processed = raw->batch_posix_processed,
        .nvfs_submit = raw->nvfs_submit,
        .p2p_submit = raw->p2p_submit,
        .aio_submit = raw->aio_submit,
        .iouring_submit = raw->iouring_submit,
        .mixed_submit = raw->mixed_submit,
        .total_submit = raw->total_submit,
        .read_bytes = raw->batch_read_bytes,
        .write_bytes = raw->batch_write_bytes,
    };
}

static void take_vectored(struct cufile_stats *s, const struct cufile_raw_vectored *raw)
{
    s->readv = raw->readv;
    s->writev = raw->writev;
    s->readv_bytes = raw->readv_bytes;
    s->writev_bytes = raw->writev_bytes;
}

static void add_gpu(struct cufile_stats *s, const struct cufile_raw_gpu *raw)
{
    s->reads.bytes += raw->read_bytes;
    s->reads.n += raw->n_reads;
    s->reads.n_p2p += raw->n_p2p_reads;
    s->reads.n_nvfs += raw->n_nvfs_reads;
    s->reads.n_posix += raw->n_posix_reads;
    s->reads.n_unaligned += raw->n_unaligned_reads;
    s->reads.n_dynamic_routed += raw->n_routed_reads;
    s->reads.n_err += raw->n_reads_err;
    s->writes.bytes += raw->write_bytes;
    s->writes.n += raw->n_writes;
    s->writes.n_p2p += raw->n_p2p_writes;
    s->writes.n_nvfs += raw->n_nvfs_writes;
    s->writes.n_posix += raw->n_posix_writes;
    s->writes.n_unaligned += raw->n_unaligned_writes;
    s->writes.n_dynamic_routed += raw->n_routed_writes;
    s->writes.n_err += raw->n_writes_err;
    s->n_sparse_regions += raw->n_sparse_regions;
    s->n_inline_regions += raw->n_inline_regions;
    s->n_registered += raw->n_mmap_ok;
    s->n_register_failed += raw->n_mmap_err;
    s->registered_bytes += raw->registered_bytes;
}

static void unknown(struct cufile_stats *s, const char *call, CUfileError_t status)
{
    const struct cufile_code *row = cufile_code_find(status.err);

    snprintf(s->reason, sizeof(s->reason), "%s: %s (%d)%s", call, row ? row->name : "err", status.err,
             status.err == CUFILE_INVALID_VALUE ? ": the statistics level is lower, or they were not started" : "");
}

static bool is_zero(const unsigned char *at, const unsigned char *end)
{
    while (at < end && !*at)
        at++;
    return at == end;
}

static bool has_vectored(const struct cufile *c)
{
    return c->version.number >= CUFILE_VECTORED_VERSION;
}

/* Level 3 of a layout that spur knows: a count that can be, and nothing in slots of no GPU and beyond the end. */
static void take_roads(const struct cufile *c, const unsigned char *room, struct cufile_stats *s)
{
    size_t at = sizeof(struct cufile_raw_basic) + sizeof(struct cufile_raw_histograms);
    const struct cufile_raw_gpus *gpus;

    if (has_vectored(c))
        at += sizeof(struct cufile_raw_vectored);
    gpus = (const struct cufile_raw_gpus *)(const void *)(room + at);
    if (gpus->n > CUFILE_STATS_GPUS || !is_zero((const unsigned char *)&gpus->gpu[gpus->n], room + CUFILE_STATS_ROOM)) {
        snprintf(s->reason, sizeof(s->reason),
                 "cuFileGetStatsL3 of libcufile %s has a layout that spur does not know (count of GPUs: %u)",
                 c->version.text, gpus->n);
        return;
    }
    s->n_gpus = gpus->n;
    for (unsigned i = 0; i < gpus->n; i++)
        add_gpu(s, &gpus->gpu[i]);
    s->has_roads = true;
}

static void take(const struct cufile *c, const unsigned char *room, struct cufile_stats *s)
{
    s->known = true;
    take_basic(s, (const struct cufile_raw_basic *)(const void *)room);
    if (has_vectored(c))
        take_vectored(s, (const struct cufile_raw_vectored *)(const void *)(room + sizeof(struct cufile_raw_basic)));
}

static void read_with(const struct cufile *c, unsigned char *room, struct cufile_stats *s)
{
    CUfileError_t status = {.err = CUFILE_INVALID_VALUE};

    s->at_ns = now_ns();
    if (c->cuFileGetStatsL3) {
        status = c->cuFileGetStatsL3(room);
        if (!status.err) {
            take(c, room, s);
            take_roads(c, room, s);
            return;
        }
        unknown(s, "cuFileGetStatsL3", status);
    } else {
        snprintf(s->reason, sizeof(s->reason), "libcufile %s has no cuFileGetStatsL3 (it came with 1.15)",
                 c->version.text);
    }
    memset(room, 0, CUFILE_STATS_ROOM);
    if (c->cuFileGetStatsL1 && !c->cuFileGetStatsL1(room).err)
        take(c, room, s); /* the reason of level 3 stays */
}

void cufile_stats_read(const struct cufile *c, struct cufile_stats *ret)
{
    _cleanup_free_ unsigned char *room = calloc(1, CUFILE_STATS_ROOM);

    memset(ret, 0, sizeof(*ret));
    if (!room) {
        snprintf(ret->reason, sizeof(ret->reason), "out of memory");
        return;
    }
    if (c->cuFileGetStatsLevel && c->cuFileGetStatsLevel(&ret->level).err)
        ret->level = 0;
    read_with(c, room, ret);
}

/* ------------------------------------------------------------------------------------------------
 * Differences
 */

#define COUNTERS_AT offsetof(struct cufile_stats, read)
#define N_COUNTERS  ((sizeof(struct cufile_stats) - COUNTERS_AT) / sizeof(uint64_t))
_Static_assert(COUNTERS_AT + N_COUNTERS * sizeof(uint64_t) == sizeof(struct cufile_stats), "counters only");

static void counters_of(const struct cufile_stats *s, uint64_t to[N_COUNTERS])
{
    memcpy(to, (const char *)s + COUNTERS_AT, N_COUNTERS * sizeof(uint64_t));
}

static bool subtract(const struct cufile_stats *before, const struct cufile_stats *after, struct cufile_stats *ret)
{
    uint64_t from[N_COUNTERS], to[N_COUNTERS];

    counters_of(before, from);
    counters_of(after, to);
    for (unsigned i = 0; i < N_COUNTERS; i++) {
        if (to[i] < from[i])
            return false;
        to[i] -= from[i];
    }
    memcpy((char *)ret + COUNTERS_AT, to, sizeof(to));
    return true;
}

void cufile_stats_since(const struct cufile_stats *before, const struct cufile_stats *after, struct cufile_stats *ret)
{
    const struct cufile_stats *lacks = !before->known ? before : after;
    struct cufile_stats since = {.level = after->level,
                                 .at_ns = after->at_ns,
                                 .n_gpus = after->n_gpus,
                                 .registered_bytes = after->registered_bytes};

    if (!before->known || !after->known) {
        snprintf(since.reason, sizeof(since.reason), "%s", lacks->reason);
    } else if (before->has_roads != after->has_roads) {
        snprintf(since.reason, sizeof(since.reason), "the statistics level changed meanwhile");
    } else if (!subtract(before, after, &since)) {
        snprintf(since.reason, sizeof(since.reason), "a counter went backwards: the statistics were reset");
    } else {
        since.known = true;
        since.has_roads = after->has_roads;
        snprintf(since.reason, sizeof(since.reason), "%s", after->reason);
    }
    *ret = since;
}
