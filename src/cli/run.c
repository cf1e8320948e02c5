/* SPDX-License-Identifier: MIT */
/* spur run: one trial of one path, in a process of its own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/run.h"
#include "cli/run_options.h"
#include "core/error.h"
#include "worker/parent.h"
#include "worker/result.h"

struct run {
    const struct run_options *options;
    struct job job; /* borrows the options' strings */
    json_t *requested;
    json_t *effective; /* of `ready`; NULL until then */
    FILE *text;        /* where the table goes */
    bool live, live_shown;
};

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
 * While it runs
 */

static void on_ready(void *context, const json_t *ready)
{
    struct run *run = context;

    run->effective = json_incref(json_object_get(ready, "effective"));
    if (!run->options->quiet)
        run_text_head(run->text, run->effective, &run->job);
}

static void on_progress(void *context, const struct worker_progress *p)
{
    struct run *run = context;

    if (!run->live)
        return;
    run_text_live(stderr, p, &run->job);
    run->live_shown = true;
}

/* ------------------------------------------------------------------------------------------------
 * A result where the worker left none: what was asked for, the last progress, and why
 */

static void null_all(json_t *result, json_t *nulls, const char *reason)
{
    static const char *const keys[] = {
        "environment", "observed", "served", "requests_per_second", "latency_ns", "cpu", "cache", "device", "wire",
        "setup_s",     "verify",   "sync_s", "first_done_s",        "last_done_s"};

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

static json_t *partial_result(const struct run *run, const struct worker_end *end)
{
    static const char reason[] = "the worker ended before it could send this";
    json_t *nulls = json_object();
    json_t *result = json_pack("{s:i, s:s, s:b, s:o, s:n, s:[], s:[], s:[], s:[], s:[]}", "schema", RESULT_SCHEMA,
                               "spur", spur_version(), "complete", 0, "effective",
                               run->effective ? json_incref(run->effective) : json_null(), "bytes_per_second",
                               "evidence", "parts", "intervals", "notes", "errors");

    null_all(result, nulls, reason);
    json_object_set_new(nulls, "bytes_per_second", json_string("the trial did not end: there is no window"));
    if (!run->effective)
        json_object_set_new(nulls, "effective", json_string(reason));
    if (end->last_progress) {
        last_known(result, end->last_progress);
    } else {
        static const char *const keys[] = {"bytes", "requests", "seconds"};

        for (size_t i = 0; i < 3; i++) {
            json_object_set_new(result, keys[i], json_null());
            json_object_set_new(nulls, keys[i], json_string(reason));
        }
    }
    json_object_set_new(result, "nulls", nulls);
    return result;
}

static json_t *final_result(const struct run *run, struct worker_end *end)
{
    json_t *result = end->result ? json_incref(end->result) : partial_result(run, end);

    json_object_set(result, "requested", run->requested);
    if (end->error.source)
        json_array_append_new(json_object_get(result, "errors"), json_error(&end->error));
    if (end->stuck_threads)
        json_object_set(result, "stuck_threads", end->stuck_threads);
    return result;
}

/* ------------------------------------------------------------------------------------------------
 * The end
 */

static enum exit_code report_errors(const json_t *result)
{
    enum exit_code code = json_is_true(json_object_get(result, "complete")) ? EXIT_OK : EXIT_FAILED;
    const json_t *item;
    size_t i;

    json_array_foreach(json_object_get(result, "errors"), i, item)
    {
        struct spur_error e;
        enum exit_code one;

        json_error_parse(item, &e);
        one = exit_report("run", &e);
        if (code == EXIT_OK || i == 0)
            code = one;
    }
    return code;
}

static enum exit_code finish(struct run *run, struct worker_end *end)
{
    json_t *result = final_result(run, end);
    struct spur_error e;
    enum exit_code code;

    if (run->live_shown)
        run_text_live_end(stderr);
    if (!run->options->quiet && end->result)
        run_text_result(run->text, result, &run->job);
    code = report_errors(result);
    if (run->options->json && (end->result || run->effective || end->signal_received) &&
        run_json_write(run->options->json, result, &e) < 0)
        code = exit_report("run", &e);
    json_decref(result);
    if (end->signal_received)
        return end->signal_received == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
    return code;
}

static int run_run(void *options, const struct option_result *given)
{
    struct run run = {.options = options};
    const struct worker_hooks hooks = {&run, on_ready, on_progress};
    struct worker_end end;
    struct spur_error e;
    enum exit_code code;

    if (run.options->json && run_json_check(run.options->json, &e) < 0) {
        run_options_free(options);
        return exit_report("run", &e);
    }
    run.text = run.options->json && !strcmp(run.options->json, "-") ? stderr : stdout;
    run.live = !run.options->quiet && run.options->interval_ns && isatty(STDERR_FILENO);
    run_options_job(run.options, &run.job);
    run.requested = requested_make(&run.job);
    worker_run(&run.job, run.options->stall_ns, &hooks, &end);
    code = finish(&run, &end);
    worker_end_free(&end);
    json_decref(run.requested);
    json_decref(run.effective);
    run_options_free(options);
    return code;
}

const struct command run_command = {
    .name = "run",
    .summary = "time one path on a real file, prove it, verify it",
    .options = run_option_rows,
    .options_size = sizeof(struct run_options),
    .description = run_description,
    .exits = run_exits,
    .examples = run_examples,
    .see_also = "spur spur-list spur-prepare",
    .check = run_options_check,
    .run = run_run,
};
