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

static unsigned gpus_of(const char *memory)
{
    unsigned n = 1;

    for (const char *at = strchr(memory, ':'); at && (at = strchr(at + 1, ','));)
        n++;
    return n;
}

/* A thread a GPU, so that the road to each is seen. Places are drawn: any file that holds a request has enough. */
static struct job pilot_job(const struct job *job)
{
    struct job pilot = *job;
    unsigned n_gpus = gpus_of(job->memory);

    pilot.pilot = true;
    pilot.n_files = 1;
    pilot.op = JOB_RANDREAD;
    pilot.verify = VERIFY_OFF;
    pilot.threads = job->threads < n_gpus ? job->threads : n_gpus;
    pilot.depth = job->depth < REQUESTS ? job->depth : REQUESTS;
    pilot.seconds_ns = pilot.warmup_ns = pilot.interval_ns = 0;
    pilot.total_bytes = (pilot.threads > REQUESTS ? pilot.threads : REQUESTS) * job->request_bytes;
    pilot.overwrite = false;
    pilot.baseline_busy = 0;
    return pilot;
}

/* ------------------------------------------------------------------------------------------------
 * What a pilot that failed means
 */

/* That there is no direct road, or none for these files, buffers or GPUs, by whichever call it is said. */
static bool is_road_code(int code)
{
    static const int codes[] = {5001, 5004, 5005, 5007, 5008, 5009, 5010, 5016, 5025, 5033, 5036, 5048, 5049};

    for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
        if (codes[i] == code)
            return true;
    return false;
}

static bool is_of_road(const struct spur_error *why)
{
    if (why->source == SPUR_SOURCE_CUFILE)
        return is_road_code(why->code) || error_is_refusal(why);
    return why->source == SPUR_SOURCE_SPUR && error_is_refusal(why) && !strcmp(why->operation, "route");
}

static int refuse(const struct spur_error *why, const char *log, const char *file, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "route",
               "the direct road was asked for, and a pilot with compatibility mode forbidden failed: %s%s%s",
               why->detail, log ? "; cufile.log: " : "", log ? log : "");
    if (strstr(why->remedy, "route=any"))
        error_remedy(e, "%s", why->remedy);
    else
        error_remedy(e, "%s%s--set route=any takes the road that comes, and says which", why->remedy,
                     why->remedy[0] ? "; or " : "");
    refer_to(e, refer_check(why), file);
    return -EPERM;
}

/* A process that crashed or hung: parent.c says what its library wrote. */
static bool is_of_process(const struct spur_error *why)
{
    return why->source == SPUR_SOURCE_ERRNO &&
           (!strcmp(why->operation, "worker") || !strcmp(why->operation, "watchdog"));
}

static void add_log(struct spur_error *e, const char *line)
{
    error_reword(e, "%s; cufile.log: %s", e->detail, line);
}

/* Of whichever road: the library, the GPU, the storage or the process. Its code stays as it is; what came before the
 * first request is no matter of the pilot. */
static int fail(const struct spur_error *why, const char *log, bool began, const char *file, struct spur_error *e)
{
    *e = *why;
    if (is_of_process(why) || began)
        error_reword(e, "in the pilot of route=direct: %s", why->detail);
    if (log && !is_of_process(why) && !error_is_refusal(why))
        add_log(e, log);
    refer_refusal(e, file);
    return error_is_refusal(why) ? -EPERM : -EIO;
}

/* What the job asks for cannot be: said of the job's own numbers, where they differ from the pilot's. */
static int misuse(const struct job *job, uint64_t stall_ns, const struct spur_error *why, struct spur_error *e)
{
    struct worker_opened opened = {0};

    *e = *why;
    if (worker_check(job, 1, stall_ns, &opened, e) == 0)
        *e = opened.error.source ? opened.error : *why;
    worker_opened_free(&opened, 1);
    return -EINVAL;
}

static int judge(const struct job *job, uint64_t stall_ns, const struct worker_end *end, json_t **ret_pilot,
                 struct spur_error *e)
{
    const json_t *errors = json_object_get(end->result, "errors");
    const json_t *evidence = json_array_get(json_object_get(end->result, "evidence"), 0);
    const char *log = json_string_value(json_array_get(end->library_log, json_array_size(end->library_log) - 1));
    struct spur_error why = end->error;

    if (json_array_size(errors))
        json_error_parse(json_array_get(errors, 0), &why);
    if (why.source == SPUR_SOURCE_SPUR && why.code == SPUR_CODE_USAGE)
        return misuse(job, stall_ns, &why, e);
    if (why.source && is_of_road(&why))
        return refuse(&why, log, job->files[0], e);
    if (why.source)
        return fail(&why, log, end->result, job->files[0], e);
    *ret_pilot = json_pack("{s:s, s:O, s:O*}", "status", "ok", "observed", json_object_get(end->result, "observed"),
                           "says", json_object_get(evidence, "says"));
    return 0;
}

int pilot_run(const struct job *job, uint64_t stall_ns, json_t **ret_pilot, int *ret_signal, struct spur_error *e)
{
    const struct worker_hooks hooks = {NULL, NULL, NULL};
    struct job pilot = pilot_job(job);
    struct worker_end end;
    int r = worker_run(&pilot, stall_ns, &hooks, &end);

    *ret_signal = r < 0 ? 0 : end.signal_received;
    if (r < 0)
        *e = end.error;
    else if (end.signal_received)
        r = error_errno(e, EINTR, "pilot", "interrupted by a signal");
    else
        r = judge(job, stall_ns, &end, ret_pilot, e);
    worker_end_free(&end);
    return r;
}
