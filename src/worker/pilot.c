/* SPDX-License-Identifier: MIT */
#include "worker/pilot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/parent.h"
#include "worker/refer.h"
#include "worker/trial_env.h"

#define REQUESTS 4

bool pilot_is_needed(const struct job *job)
{
    if (!trial_env_is_cufile(job))
        return false;
    for (size_t i = 0; i < job->n_settings; i++)
        if (!strcmp(job->settings[i].key, "route"))
            return !strcmp(job->settings[i].value, "direct");
    return true;
}

static struct job pilot_job(const struct job *job)
{
    struct job pilot = *job;

    pilot.pilot = true;
    pilot.n_files = 1;
    pilot.op = job->op == JOB_RANDREAD || job->op == JOB_RANDWRITE || job->op == JOB_MIX ? JOB_RANDREAD : JOB_READ;
    pilot.verify = VERIFY_OFF;
    pilot.threads = 1;
    pilot.depth = job->depth < REQUESTS ? job->depth : REQUESTS;
    pilot.seconds_ns = pilot.warmup_ns = pilot.interval_ns = 0;
    pilot.total_bytes = job->request_bytes; /* one request at least, and as many as the range surely has */
    if (job->op == JOB_RANDREAD || !job->range_bytes || job->range_bytes >= REQUESTS * job->request_bytes)
        pilot.total_bytes = REQUESTS * job->request_bytes;
    pilot.overwrite = false;
    pilot.baseline_busy = 0;
    return pilot;
}

/* What was asked for, the library or the GPU is not there, whichever road is taken. */
static bool is_of_no_road(const struct spur_error *why)
{
    return why->source == SPUR_SOURCE_CUDA || why->source == SPUR_SOURCE_ERRNO;
}

static int refuse(const struct spur_error *why, const json_t *log, const char *file, struct spur_error *e)
{
    const char *line = json_string_value(json_array_get(log, json_array_size(log) - 1));

    error_spur(e, SPUR_CODE_REFUSED, "route",
               "the direct road was asked for, and a pilot with compatibility mode forbidden failed: %.250s%s%.200s",
               why->detail, line ? "; cufile.log: " : "", line ? line : "");
    if (strstr(why->remedy, "route=any") || is_of_no_road(why))
        error_remedy(e, "%s", why->remedy);
    else
        error_remedy(e, "%s%s--set route=any takes the road that comes, and says which", why->remedy,
                     why->remedy[0] ? "; or " : "");
    refer_to(e, refer_check(why), file);
    return -EPERM;
}

static int judge(const struct worker_end *end, const char *file, json_t **ret_pilot, struct spur_error *e)
{
    const json_t *errors = json_object_get(end->result, "errors");
    const json_t *evidence = json_array_get(json_object_get(end->result, "evidence"), 0);
    struct spur_error why = end->error;

    if (json_array_size(errors))
        json_error_parse(json_array_get(errors, 0), &why);
    if (why.source == SPUR_SOURCE_SPUR && why.code == SPUR_CODE_USAGE) { /* the trial itself would say so */
        *e = why;
        return -EINVAL;
    }
    if (why.source)
        return refuse(&why, end->library_log, file, e);
    *ret_pilot = json_pack("{s:s, s:O, s:O*}", "status", "ok", "observed", json_object_get(end->result, "observed"),
                           "says", json_object_get(evidence, "says"));
    return 0;
}

int pilot_run(const struct job *job, uint64_t stall_ns, json_t **ret_pilot, struct spur_error *e)
{
    const struct worker_hooks hooks = {NULL, NULL, NULL};
    struct job pilot = pilot_job(job);
    struct worker_end end;
    int r = worker_run(&pilot, stall_ns, &hooks, &end);

    if (r < 0)
        *e = end.error;
    else if (end.signal_received)
        r = error_errno(e, EINTR, "pilot", "interrupted by a signal");
    else
        r = judge(&end, job->files[0], ret_pilot, e);
    worker_end_free(&end);
    return r;
}
