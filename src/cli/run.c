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
#include "worker/pilot.h"
#include "worker/whole_result.h"

struct run {
    const struct run_options *options;
    struct job job;    /* borrows the options' strings */
    json_t *effective; /* of `ready`; NULL until then */
    json_t *pilot;     /* of route=direct; NULL: none was needed */
    FILE *text;        /* where the table goes */
    bool live, live_shown;
};

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

static enum exit_code code_of_signal(int signal)
{
    return signal == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
}

static enum exit_code finish(struct run *run, struct worker_end *end)
{
    json_t *result = worker_result(&run->job, run->effective, end);

    if (run->pilot)
        json_object_set(result, "pilot", run->pilot);
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
    return end->signal_received ? code_of_signal(end->signal_received) : code;
}

static int run_run(void *options, const struct option_result *given)
{
    struct run run = {.options = options};
    const struct worker_hooks hooks = {&run, on_ready, on_progress};
    struct worker_end end;
    struct spur_error e;
    enum exit_code code;
    int signal;

    if (run.options->json && run_json_check(run.options->json, &e) < 0) {
        run_options_free(options);
        return exit_report("run", &e);
    }
    run.text = run.options->json && !strcmp(run.options->json, "-") ? stderr : stdout;
    run.live = !run.options->quiet && run.options->interval_ns && isatty(STDERR_FILENO);
    run_options_job(run.options, &run.job);
    if (pilot_is_needed(&run.job) && pilot_run(&run.job, run.options->stall_ns, &run.pilot, &signal, &e) < 0) {
        code = exit_report("run", &e);
        if (signal)
            code = code_of_signal(signal);
    } else {
        worker_run(&run.job, run.options->stall_ns, &hooks, &end);
        code = finish(&run, &end);
        worker_end_free(&end);
    }
    json_decref(run.effective);
    json_decref(run.pilot);
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
