/* SPDX-License-Identifier: MIT */
/* spur compare: a paired experiment from plan to report. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/compare.h"
#include "cli/outputs.h"
#include "cli/report_file.h"
#include "core/error.h"
#include "core/quote.h"
#include "core/util.h"
#include "core/whole_file.h"
#include "probe/probe.h"
#include "report/report.h"

#define MOST_NAMES 1000 /* that are tried where none was given */

struct compare {
    struct compare_options *o;
    const struct option_result *given;
    struct plan_spec spec;      /* as it was asked for */
    struct experiment planned;  /* what the options ask for; empty on a bare --resume */
    const struct experiment *x; /* what is run: planned, or the store's */
    struct sweep_pair *pairs;
    struct store *store;
    char results[64], base[32]; /* name that was made up, and how it begins */
    const char *filename;
    FILE *text; /* plan and progress */
};

/* ------------------------------------------------------------------------------------------------
 * The plan
 */

/* Regions that would hold no request are said now. */
static int check_regions(const struct experiment *x, const struct sweep_pair *pairs, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < x->n_rows && x->rows[i].block == 0; i++) {
        const struct sweep_pair *pair = &pairs[x->rows[i].cell * x->n_arms + x->rows[i].arm];
        struct job job = pair->job;

        r = sweep_region(x, &x->rows[i], pair, &job, e);
    }
    return r;
}

static int make_plan(struct compare *c, struct spur_error *e)
{
    int r = compare_plan(c->o, c->given, &c->spec, &c->planned, e);

    if (r < 0)
        return r;
    c->x = &c->planned;
    r = compare_jobs(&c->planned, &c->pairs, e);
    if (!r)
        r = sweep_check(&c->planned, c->pairs, e);
    if (!r)
        r = compare_memory(&c->planned, c->pairs, e);
    if (!r && c->o->match)
        r = compare_match(c->o, &c->planned, &c->pairs, e);
    if (!r)
        r = plan_order(&c->planned, e);
    if (!r)
        r = check_regions(&c->planned, c->pairs, e);
    if (r == -EINVAL)
        compare_plan_place(&c->spec, e);
    return r;
}

static int write_job(const struct compare *c, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    const char *filename = c->o->write_job;
    _cleanup_fd_ int fd = -1;
    int r = plan_job_write(c->x, &text, e);
    size_t length;

    if (r < 0)
        return r;
    fd = open(filename, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) {
        r = error_spur(e, SPUR_CODE_REFUSED, "write-job", "--write-job: %s exists", filename);
        error_remedy(e, "name a new file");
        return r;
    }
    length = strlen(text);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        return error_errno(e, errno ? errno : EIO, "write", "--write-job: %s", filename);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * The store
 */

static int create(struct compare *c, struct spur_error *e)
{
    json_t *identity = sweep_identity(c->x, c->pairs, e), *nulls = json_object(), *environment;
    struct probe probe;
    int r;

    if (!identity) {
        json_decref(nulls);
        return -EIO;
    }
    probe_init(&probe);
    environment = probe_environment(&probe, nulls, "");
    json_object_set_new(environment, "nulls", nulls);
    r = store_create(c->filename, c->x, identity, environment, &c->store, e);
    json_decref(identity);
    json_decref(environment);
    return r;
}

/* The pairs of a plan from a store: what was not applicable stays so. */
static int make_stored(struct compare *c, struct experiment *copy, struct spur_error *e)
{
    json_t *json = experiment_to_json(store_experiment(c->store));
    int r = json ? experiment_from_json(json, copy) : -ENOMEM;

    json_decref(json);
    return r < 0 ? error_errno(e, ENOMEM, "experiment", "reading the plan") : compare_jobs(copy, &c->pairs, e);
}

static int check_stored(struct compare *c, struct experiment *copy, struct spur_error *e)
{
    json_t *now;
    int r = make_stored(c, copy, e);

    if (!r)
        r = sweep_check(copy, c->pairs, e);
    if (r < 0)
        return r;
    now = sweep_identity(c->x, c->pairs, e); /* what is planned there, whether or not it can run now */
    if (!now)
        return -EIO;
    r = sweep_identity_compare(store_identity(c->store), now, e);
    json_decref(now);
    return r;
}

/* What --dry-run and --write-job show of an experiment that was begun. */
static int show_stored(struct compare *c, struct spur_error *e)
{
    struct experiment copy = {0};
    int r = store_open(c->o->resume, false, &c->store, e);

    if (r < 0)
        return r;
    c->x = store_experiment(c->store);
    r = make_stored(c, &copy, e);
    experiment_free(&copy);
    return r;
}

/* Beside --resume a plan is given whole or not at all. */
static int make_plan_again(struct compare *c, struct spur_error *e)
{
    struct spur_error why = {0};
    int r = make_plan(c, &why);

    *e = why;
    if (!r || why.source != SPUR_SOURCE_SPUR || why.code != SPUR_CODE_USAGE)
        return r;
    error_spur(e, SPUR_CODE_USAGE, "resume",
               "--resume: the plan is in %s, and what is given beside it is no whole plan (%s)", c->o->resume,
               why.detail);
    error_remedy(
        e,
        "leave out all that is of the plan (arms, axes, files, --blocks, --seconds, ...), or give all of it as it was");
    return -EINVAL;
}

static int compare_given(const struct compare *c, struct spur_error *e)
{
    const struct experiment *x = store_experiment(c->store);

    if (c->o->seed_given && c->x->seed != x->seed) {
        error_spur(e, SPUR_CODE_REFUSED, "resume", "the plan's seed changed since this experiment began: it was %llu",
                   (unsigned long long)x->seed);
        error_remedy(e, "leave --seed out, for the file has it");
        return -EPERM;
    }
    return sweep_plan_compare(x, c->x, e);
}

/* The plan is the store's; what the command line or a job file asks for must be the same. */
static int resume(struct compare *c, struct spur_error *e)
{
    struct experiment copy = {0};
    int r = store_open(c->o->resume, true, &c->store, e);

    if (!r && c->x)
        r = compare_given(c, e);
    if (r < 0)
        return r;
    sweep_pairs_free(c->pairs, c->x ? c->x->n_cells * c->x->n_arms : 0);
    c->pairs = NULL;
    c->x = store_experiment(c->store);
    if (compare_code_stored(c->x) && !c->o->allow_code) {
        r = error_spur(e, SPUR_CODE_REFUSED, "resume",
                       "the plan runs a command, or code by a setting (--dry-run shows it)");
        error_remedy(e, "give --allow-code again");
        return r;
    }
    r = check_stored(c, &copy, e);
    experiment_free(&copy);
    return r;
}

static void name_results(struct compare *c)
{
    time_t now = time(NULL);
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(c->base, sizeof(c->base), "spur-%Y%m%d-%H%M%S", &tm);
    snprintf(c->results, sizeof(c->results), "%s.db", c->base);
    c->filename = c->o->resume ? c->o->resume : c->o->results ? c->o->results : c->results;
}

/* A name that nobody gave gives way to the next one, where @call refuses it: spur-...-2.db. */
static int with_name(struct compare *c, int (*call)(struct compare *c, struct spur_error *e), struct spur_error *e)
{
    struct spur_error why = {0};
    int r = call(c, &why);

    for (unsigned n = 2; r < 0 && n <= MOST_NAMES && c->filename == c->results && error_is_refusal(&why); n++) {
        snprintf(c->results, sizeof(c->results), "%s-%u.db", c->base, n);
        why = (struct spur_error){0};
        r = call(c, &why);
    }
    if (r < 0)
        *e = why;
    return r;
}

static int check_name(struct compare *c, struct spur_error *e)
{
    return store_create_check(c->filename, e);
}

static int open_store(struct compare *c, struct spur_error *e)
{
    struct store_event event = {EVENT_STARTED, 0, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL};
    _cleanup_free_ char *command = compare_command_given();
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    event.realtime_ns = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
    event.text = command;
    if (!c->store && with_name(c, create, e) < 0)
        return -EIO;
    return store_add_event(c->store, &event, e);
}

/* ------------------------------------------------------------------------------------------------
 * The report
 */

static int write_html(struct compare *c, const struct analysis *a, struct spur_error *e)
{
    struct report_undrawn undrawn;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int r;

    if (!f)
        return error_errno(e, ENOMEM, "open_memstream", "--html");
    r = report_html(f, c->store, a, &undrawn, e);
    if (fclose(f) == EOF && !r)
        r = error_errno(e, ENOMEM, "fclose", "--html");
    if (!r)
        r = whole_file_write(c->o->html, text, size, "--html", e);
    free(text);
    if (!r)
        report_say_undrawn("compare", "--html", &undrawn);
    return r;
}

static int report(struct compare *c, struct spur_error *e)
{
    struct analysis a;
    int r = analysis_make(c->store, &a, e);

    if (r < 0)
        return r;
    if (!c->o->quiet)
        putc('\n', stdout);
    report_text(stdout, &a);
    if (c->o->html)
        r = write_html(c, &a, e);
    analysis_free(&a);
    return r;
}

/* ------------------------------------------------------------------------------------------------ */

static bool any_refused(const struct experiment *x)
{
    for (size_t cell = 0; cell < x->n_cells; cell++)
        for (size_t arm = 0; arm < x->n_arms; arm++)
            if (x->cells[cell].pairs[arm].state == PAIR_REFUSED)
                return true;
    return false;
}

static enum exit_code code_of(const struct compare *c, const struct sweep_end *end)
{
    if (end->signal_received)
        return end->signal_received == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
    if (end->any_refused || any_refused(c->x))
        return EXIT_REFUSED;
    return end->n_without_figures ? EXIT_FAILED : EXIT_OK;
}

static void say_resume(const struct compare *c, const char *what)
{
    _cleanup_free_ char *name = quote_word(c->filename);

    fprintf(stderr, "spur compare: %s; spur compare --resume %s goes on\n", what, name ? name : "DB");
}

static enum exit_code run_sweep(struct compare *c)
{
    struct compare_progress progress = {.out = stderr, .live = !c->o->quiet && isatty(STDERR_FILENO), .x = c->x};
    struct sweep_hooks hooks = compare_hooks;
    /* A resumed one has as long as it is given now. */
    uint64_t limit_ns = c->o->limit_ns || c->o->resume ? c->o->limit_ns : c->x->limit_ns;
    struct sweep s = {c->store, c->x, c->pairs, &hooks, limit_ns};
    struct sweep_end end;
    struct spur_error e = {0}, why = {0};
    enum exit_code code;
    int r;

    hooks.context = &progress;
    if (c->o->quiet)
        hooks.block_end = NULL;
    r = sweep_run(&s, &end, &e);
    if (progress.shown)
        fputs("\r\033[K", stderr);
    code = r < 0 ? exit_report("compare", &e) : code_of(c, &end);
    if (report(c, &why) < 0 && code == EXIT_OK)
        code = exit_report("compare", &why);
    if (end.signal_received || end.limited || r < 0)
        say_resume(c, end.signal_received ? "interrupted: finished trials are kept"
                      : end.limited       ? "--limit was reached"
                                          : "ended by an error: finished trials are kept");
    else if (end.n_without_figures)
        fprintf(stderr,
                "spur compare: not all trials have figures; those are not run again: to try anew, new --results\n");
    return code;
}

static int dry_run(struct compare *c, struct spur_error *e)
{
    int r;

    if (c->o->write_job)
        return write_job(c, e);
    compare_text_plan(stdout, c->x, c->pairs, NULL);
    compare_text_order(stdout, c->x);
    r = compare_text_code(stdout, c->x, e);
    return r < 0 ? r : compare_code_show(stdout, c->x, e);
}

/* Before the first trial: a page in the place of the results would be the end of them. */
static int check_outputs(const struct compare *c, struct spur_error *e)
{
    const struct output outputs[] = {{"html", c->o->html}, {"write-job", c->o->write_job}};

    return outputs_check(outputs, ARRAY_SIZE(outputs), c->filename, e);
}

static enum exit_code compare(struct compare *c)
{
    struct spur_error e = {0};
    int r;

    name_results(c);
    r = check_outputs(c, &e);
    if (!r && c->o->html)
        r = report_html_check(c->o->html, &e);
    if (!r && !c->o->resume && !c->o->write_job)
        r = with_name(c, check_name, &e);
    if (!r && !c->o->resume)
        r = make_plan(c, &e);
    else if (!r && compare_has_plan(c->o, c->given))
        r = make_plan_again(c, &e);
    else if (!r && (c->o->dry_run || c->o->write_job))
        r = show_stored(c, &e);
    if (!r && (c->o->dry_run || c->o->write_job))
        return (r = dry_run(c, &e)) < 0 ? exit_report("compare", &e) : EXIT_OK;
    if (!r && c->o->resume)
        r = resume(c, &e);
    if (!r)
        r = open_store(c, &e);
    if (r < 0) {
        enum exit_code code = exit_report("compare", &e);

        if (c->store && !c->o->resume)
            say_resume(c, "the plan is kept");
        return code;
    }
    if (!c->o->quiet)
        compare_text_plan(stdout, c->x, c->pairs, c->filename);
    fflush(stdout);
    return run_sweep(c);
}

static int compare_run(void *options, const struct option_result *given)
{
    struct compare c = {.o = options, .given = given, .text = stdout};
    enum exit_code code = compare(&c);

    sweep_pairs_free(c.pairs, c.x ? c.x->n_cells * c.x->n_arms : 0);
    store_close(c.store);
    experiment_free(&c.planned);
    plan_spec_free(&c.spec);
    return (int)code;
}

const struct command compare_command = {
    .name = "compare",
    .summary = "compare paths in a paired experiment, and say which is faster where",
    .arguments = "[JOB.ini]",
    .arguments_manual = "A job file: options as keys of [sweep], and one [arm NAME] for each arm; docs/job-files.md.",
    .max_arguments = 1,
    .options = compare_rows,
    .options_size = sizeof(struct compare_options),
    .description = compare_description,
    .exits = compare_exits,
    .examples = compare_examples,
    .see_also = "spur spur-list spur-prepare spur-report spur-run",
    .run = compare_run,
};
