/* SPDX-License-Identifier: MIT */
#include "worker/trial_limits.h"

#include <errno.h>

#include "core/error.h"
#include "pattern/pattern.h"

void trial_limits_take(struct trial *t)
{
    t->limits = (struct spur_limits){sizeof(t->limits), 1, 1, 1, UINT32_MAX};
    for (size_t i = 0; i < t->n_files; i++) {
        struct spur_limits l = {.size = sizeof(l)};

        spur_file_limits(t->files[i], &l);
        if (l.offset_align > t->limits.offset_align)
            t->limits.offset_align = l.offset_align;
        if (l.length_align > t->limits.length_align)
            t->limits.length_align = l.length_align;
        if (l.address_align > t->limits.address_align)
            t->limits.address_align = l.address_align;
        if (l.max_depth < t->limits.max_depth)
            t->limits.max_depth = l.max_depth;
    }
}

/* Whether a sequential total of an odd size stops where a file does: its last request is then exempt on reads. */
static bool ends_with_file(const struct trial *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->targets.n && sum < t->job->total_bytes; i++)
        sum += t->targets.items[i].usable_bytes;
    return t->job->op == JOB_READ && sum == t->job->total_bytes;
}

static int check_alignment(const struct trial *t, uint32_t multiple, struct spur_error *e)
{
    const struct job *job = t->job;

    if (job->unaligned && multiple > 1)
        return error_usage(e, "unaligned", "use --path fanout, buffered or mmap",
                           "path %s cannot read at byte offsets here: O_DIRECT needs multiples of %u", job->path,
                           multiple);
    if (job->request_bytes % multiple)
        return error_usage(e, "request", "or use --path fanout, which reads the aligned cover",
                           "--request %llu is no multiple of %u, which path %s needs on these files",
                           (unsigned long long)job->request_bytes, multiple, job->path);
    if (job->begin_bytes % multiple)
        return error_usage(e, "offset", "round --offset",
                           "--offset %llu is no multiple of %u, which path %s needs on these files",
                           (unsigned long long)job->begin_bytes, multiple, job->path);
    if (job->range_bytes % multiple)
        return error_usage(e, "range", "round --range",
                           "--range %llu is no multiple of %u, which path %s needs on these files",
                           (unsigned long long)job->range_bytes, multiple, job->path);
    if (job->total_bytes % multiple && !ends_with_file(t))
        return error_usage(e, "bytes", "round --bytes",
                           "--bytes %llu is no multiple of %u, which path %s needs on these files",
                           (unsigned long long)job->total_bytes, multiple, job->path);
    return 0;
}

int trial_limits_check_depth(const struct job *job, unsigned most, struct spur_error *e)
{
    if (job->depth <= most)
        return 0;
    return error_usage(e, "depth", "use --depth 1 and more --threads, or --path fanout",
                       "--depth %u: path %s keeps at most %u request%s of a thread in flight", job->depth, job->path,
                       most, most == 1 ? "" : "s");
}

int trial_limits_check(const struct trial *t, struct spur_error *e)
{
    const struct job *job = t->job;
    uint32_t multiple = t->limits.offset_align > t->limits.length_align ? t->limits.offset_align
                                                                        : t->limits.length_align;

    if (trial_limits_check_depth(job, t->limits.max_depth, e) < 0)
        return -EINVAL;
    if (t->limits.address_align > multiple)
        multiple = t->limits.address_align;
    if (job_writes(job) && job->unaligned)
        return error_usage(e, "unaligned", "leave --unaligned out, or read",
                           "writing at byte offsets would tear the 4096-byte blocks by which writes are verified");
    if (job_writes(job) && job->request_bytes % PATTERN_BLOCK)
        return error_usage(e, "request", "round --request",
                           "--request %llu: writes go in multiples of %u, the blocks by which they are verified",
                           (unsigned long long)job->request_bytes, PATTERN_BLOCK);
    if (job_writes(job) && job->begin_bytes % PATTERN_BLOCK)
        return error_usage(e, "offset", "round --offset", "--offset %llu: writes go in multiples of %u",
                           (unsigned long long)job->begin_bytes, PATTERN_BLOCK);
    if (job_writes(job) && job->range_bytes % PATTERN_BLOCK)
        return error_usage(e, "range", "round --range", "--range %llu: writes go in multiples of %u",
                           (unsigned long long)job->range_bytes, PATTERN_BLOCK);
    if (job_writes(job) && job->total_bytes % PATTERN_BLOCK)
        return error_usage(e, "bytes", "round --bytes", "--bytes %llu: writes go in multiples of %u",
                           (unsigned long long)job->total_bytes, PATTERN_BLOCK);
    return check_alignment(t, multiple, e);
}
