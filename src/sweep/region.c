/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/error.h"
#include "core/util.h"
#include "sweep/sweep.h"

#define REGION_ALIGN 4096u

/* As many regions of one size as there are arms; in each block every arm has another one, and the turns are even. */
int sweep_region(const struct experiment *x, const struct experiment_row *row, const struct sweep_pair *pair,
                 struct job *job, struct spur_error *e)
{
    uint64_t unit = job->request_bytes % REGION_ALIGN ? REGION_ALIGN : job->request_bytes;
    uint64_t n_files = json_array_size(json_object_get(pair->effective, "files"));
    uint64_t region = round_down(pair->used_bytes / x->n_arms, unit);

    if (x->region != REGION_ROTATE)
        return 0;
    if (region < job->request_bytes || !region) {
        error_spur(e, SPUR_CODE_USAGE, "region",
                   "--region rotate: one of %zu parts of %llu bytes does not hold a request of %llu", x->n_arms,
                   (unsigned long long)pair->used_bytes, (unsigned long long)job->request_bytes);
        error_remedy(e, "use larger files, or --region same");
        return -EINVAL;
    }
    if ((job->op == JOB_READ || job->op == JOB_WRITE) && n_files && job->total_bytes > region * n_files) {
        error_spur(e, SPUR_CODE_USAGE, "region",
                   "--region rotate: one of %zu parts has %llu bytes, fewer than the --bytes %llu of a trial",
                   x->n_arms, (unsigned long long)(region * n_files), (unsigned long long)job->total_bytes);
        error_remedy(e, "take fewer bytes, larger files, or --region same");
        return -EINVAL;
    }
    job->begin_bytes += (row->arm + row->block) % x->n_arms * region;
    job->range_bytes = region;
    return 0;
}
