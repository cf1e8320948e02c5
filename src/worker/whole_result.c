/* SPDX-License-Identifier: MIT */
#include "worker/whole_result.h"

#include "worker/result.h"

/* The job as it was asked for, with names that JSON can hold. */
static json_t *requested_make(const struct job *job)
{
    json_t *requested = job_to_json(job);
    json_t *files = json_array();

    for (size_t i = 0; i < job->n_files; i++)
        json_array_append_new(files, json_filename(job->files[i]));
    json_object_set_new(requested, "files", files);
    json_object_del(requested, "type");
    json_object_del(requested, "protocol");
    json_object_del(requested, "baseline_busy_cpus");
    return requested;
}

/* ------------------------------------------------------------------------------------------------
 * A result where the worker left none: what was asked for, the last progress, and why
 */

static void null_all(json_t *result, json_t *nulls, const char *reason)
{
    static const char *const keys[] = {"environment",  "observed",    "served",        "requests_per_second",
                                       "latency_ns",   "cpu",         "cache",         "device",
                                       "wire",         "setup_s",     "verify",        "sync_s",
                                       "first_done_s", "last_done_s", "files_modified"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_object_set_new(result, keys[i], json_null());
        json_object_set_new(nulls, keys[i], json_string(reason));
    }
}

static void last_known(json_t *result, const json_t *progress)
{
    json_int_t bytes = 0, requests = 0, t = 0, t0 = 0;
    double seconds;

    json_unpack((json_t *)progress, "{s:I, s:I, s:I, s:I}", "bytes", &bytes, "requests", &requests, "t_ns", &t, "t0_ns",
                &t0);
    seconds = t > t0 ? (double)(t - t0) / 1e9 : 0;
    json_object_set_new(result, "bytes", json_integer(bytes));
    json_object_set_new(result, "requests", json_integer(requests));
    json_object_set_new(result, "seconds", json_real(seconds));
}

static json_t *partial_result(const json_t *effective, const struct worker_end *end)
{
    static const char reason[] = "the worker ended before it could send this";
    json_t *nulls = json_object();
    json_t *result = json_pack("{s:i, s:s, s:b, s:o, s:n, s:[], s:[], s:[], s:[], s:[]}", "schema", RESULT_SCHEMA,
                               "spur", spur_version(), "complete", 0, "effective",
                               effective ? json_incref((json_t *)effective) : json_null(), "bytes_per_second",
                               "evidence", "parts", "intervals", "notes", "errors");

    null_all(result, nulls, reason);
    json_object_set_new(nulls, "bytes_per_second", json_string("the trial did not end: there is no window"));
    if (!effective)
        json_object_set_new(nulls, "effective", json_string(reason));
    if (json_is_integer(json_object_get(end->last_progress, "bytes"))) {
        last_known(result, end->last_progress);
    } else { /* none came, or of an external program, which counts in the end */
        static const char *const keys[] = {"bytes", "requests", "seconds"};

        for (size_t i = 0; i < 3; i++) {
            json_object_set_new(result, keys[i], json_null());
            json_object_set_new(nulls, keys[i], json_string(reason));
        }
    }
    json_object_set_new(result, "nulls", nulls);
    return result;
}

json_t *worker_result(const struct job *job, const json_t *effective, const struct worker_end *end)
{
    json_t *result = end->result ? json_incref(end->result) : partial_result(effective, end);

    json_object_set_new(result, "requested", requested_make(job));
    if (end->error.source)
        json_array_append_new(json_object_get(result, "errors"), json_error(&end->error));
    if (json_array_size(end->library_log))
        json_object_set(result, "library_log", end->library_log);
    if (end->stuck_threads)
        json_object_set(result, "stuck_threads", end->stuck_threads);
    return result;
}
