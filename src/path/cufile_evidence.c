/* SPDX-License-Identifier: MIT */
/* What the library says of itself: version, configuration in force, operations by road. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "path/cufile_path.h"

enum spur_observed cufile_asked_road(const struct spur_path *p)
{
    const struct cufile_path_state *s = p->state;

    switch (s->route) {
    case CUFILE_ROUTE_DIRECT:
        return SPUR_OBSERVED_NVIDIA_FS;
    case CUFILE_ROUTE_COMPAT:
        return SPUR_OBSERVED_COMPAT;
    default:
        return SPUR_OBSERVED_UNKNOWN;
    }
}

/* Entries of batches are counted apart, by how they were submitted. AIO and io_uring read into host memory. */
static void add_batches(const struct cufile_stats *stats, struct path_roads *ret)
{
    const struct cufile_batch_stats *b = &stats->batch;
    uint64_t posix = b->posix_processed.ok + b->aio_submit.ok + b->iouring_submit.ok;

    ret->n_nvfs += b->nvfs_submit.ok;
    ret->n_p2p += b->p2p_submit.ok;
    ret->n_posix += posix;
    ret->n_operations += b->nvfs_submit.ok + b->p2p_submit.ok + posix;
    ret->bytes += b->read_bytes + b->write_bytes;
}

void cufile_roads(struct spur_path *p, struct path_roads *ret)
{
    const struct cufile_path_state *s = p->state;
    struct cufile_stats stats;

    memset(ret, 0, sizeof(*ret));
    ret->is_simulated = s->lib->is_simulated;
    if (!s->counts) {
        snprintf(ret->reason, sizeof(ret->reason), "%.239s", s->no_counts);
        return;
    }
    cufile_stats_read(s->lib, &stats);
    if (!stats.known || !stats.has_roads) {
        snprintf(ret->reason, sizeof(ret->reason), "%s", stats.reason);
        return;
    }
    ret->known = true;
    ret->n_operations = stats.reads.n + stats.writes.n; /* level 1's counts are twice the calls in 1.15 */
    ret->n_nvfs = stats.reads.n_nvfs + stats.writes.n_nvfs;
    ret->n_p2p = stats.reads.n_p2p + stats.writes.n_p2p;
    ret->n_posix = stats.reads.n_posix + stats.writes.n_posix;
    ret->n_bounced = stats.reads.n_unaligned + stats.writes.n_unaligned;
    ret->bytes = stats.read_bytes + stats.write_bytes + stats.readv_bytes + stats.writev_bytes;
    add_batches(&stats, ret);
}

/* ------------------------------------------------------------------------------------------------
 * Effective settings
 */

static void emit_number(path_fact_fn emit, void *context, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    emit(context, &(struct path_fact){key, text, NULL});
}

static void emit_properties(const struct cufile_properties *p, path_fact_fn emit, void *context)
{
    char version[32];

    if (!p->known) {
        emit(context, &(struct path_fact){"nvidia_fs_version", NULL, p->reason});
        return;
    }
    snprintf(version, sizeof(version), "%u.%u", p->nvfs_major, p->nvfs_minor);
    emit(context, &(struct path_fact){"nvidia_fs_version", version,
                                      p->nvfs_major || p->nvfs_minor ? NULL : "0.0: the library found no nvidia-fs"});
    emit(context, &(struct path_fact){"direct_file_systems", p->status_words, NULL});
    emit(context, &(struct path_fact){"control_flags", p->control_words, NULL});
    emit(context, &(struct path_fact){"feature_flags", p->feature_words, NULL});
    emit_number(emit, context, "max_direct_io_kb", p->max_direct_io_kb);
    emit_number(emit, context, "per_buffer_cache_kb", p->per_buffer_cache_kb);
}

/* Of "json.execution.parallel_io" the parameter "execution.parallel_io". */
static const struct cufile_parameter *find_parameter(const struct cufile_path_state *s, const char *name)
{
    for (size_t i = 0; i < CUFILE_N_PARAMETERS; i++)
        if (s->parameters[i].name && !strcmp(s->parameters[i].name, name))
            return &s->parameters[i];
    return NULL;
}

/* Each key of cufile.json that was asked for, as the library has it now. */
static void emit_asked(const struct spur_path *p, path_fact_fn emit, void *context)
{
    const struct cufile_path_state *s = p->state;
    char reason[200];

    for (size_t i = 0; i < p->n_settings; i++) {
        const char *key = p->settings[i].key;
        const struct cufile_parameter *now;

        if (strncmp(key, "json.", 5))
            continue;
        now = find_parameter(s, key + 5);
        if (!now || !now->known) {
            emit(context, &(struct path_fact){key, NULL, now ? now->reason : "this library does not tell it back"});
            continue;
        }
        snprintf(reason, sizeof(reason), "ignored: %.80s was asked for", p->settings[i].value);
        emit(context, &(struct path_fact){key, now->text, strcasecmp(now->text, p->settings[i].value) ? reason : NULL});
    }
}

static void emit_parameters(const struct cufile_path_state *s, path_fact_fn emit, void *context)
{
    static const char *const names[] = {"properties.allow_compat_mode",
                                        "properties.force_compat_mode",
                                        "properties.use_poll_mode",
                                        "properties.use_pci_p2pdma",
                                        "execution.parallel_io",
                                        "execution.max_io_threads",
                                        "execution.max_io_queue_depth",
                                        "execution.max_request_parallelism",
                                        "execution.min_io_threshold_size_kb",
                                        "properties.max_direct_io_size_kb"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct cufile_parameter *now = find_parameter(s, names[i]);

        if (now)
            emit(context,
                 &(struct path_fact){names[i], now->known ? now->text : NULL, now->known ? NULL : now->reason});
    }
}

void cufile_effective(struct spur_path *p, path_fact_fn emit, void *context)
{
    const struct cufile_path_state *s = p->state;

    emit(context, &(struct path_fact){"library", s->lib->real_file, NULL});
    emit(context, &(struct path_fact){"library_version", s->lib->version.text[0] ? s->lib->version.text : NULL,
                                      s->lib->version.text[0] ? s->lib->version.source : "the library does not tell"});
    if (s->lib->is_simulated)
        emit(context, &(struct path_fact){"library_simulated", "yes", "the test suite's library"});
    emit_properties(&s->properties, emit, context);
    emit_parameters(s, emit, context);
    emit_asked(p, emit, context);
    emit(context, &(struct path_fact){"statistics", s->counts ? "level 3" : NULL, s->counts ? NULL : s->no_counts});
}

/* ------------------------------------------------------------------------------------------------
 * Evidence: the statistics as they stand, warm-up and pass included
 */

void cufile_evidence(struct spur_path *p, path_fact_fn emit, void *context)
{
    const struct cufile_path_state *s = p->state;
    struct cufile_stats stats;

    if (!s->counts)
        return;
    cufile_stats_read(s->lib, &stats);
    if (!stats.known)
        return;
    emit_number(emit, context, "reads_ok", stats.read.ok);
    emit_number(emit, context, "writes_ok", stats.write.ok);
    emit_number(emit, context, "errors", stats.read.err + stats.write.err + stats.batch.complete.err);
    emit_number(emit, context, "batch_processed", stats.batch.processed.ok);
    emit_number(emit, context, "batch_posix_processed", stats.batch.posix_processed.ok);
    emit_number(emit, context, "batch_completed", stats.batch.complete.ok);
    emit_number(emit, context, "aio_submits", stats.batch.aio_submit.ok);
    emit_number(emit, context, "io_uring_submits", stats.batch.iouring_submit.ok);
    if (!stats.has_roads)
        return;
    emit_number(emit, context, "by_nvidia_fs", stats.reads.n_nvfs + stats.writes.n_nvfs);
    emit_number(emit, context, "by_p2pdma", stats.reads.n_p2p + stats.writes.n_p2p);
    emit_number(emit, context, "by_posix", stats.reads.n_posix + stats.writes.n_posix);
    emit_number(emit, context, "unaligned", stats.reads.n_unaligned + stats.writes.n_unaligned);
    emit_number(emit, context, "road_total", stats.reads.n + stats.writes.n);
    emit_number(emit, context, "registered_bytes", stats.registered_bytes);
}
