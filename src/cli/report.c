/* SPDX-License-Identifier: MIT */
/* spur report: what an experiment's results say, in any form. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/report_file.h"
#include "core/error.h"
#include "core/util.h"
#include "core/whole_file.h"
#include "report/report.h"

#define DUMP_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII)

struct report_options {
    bool text;
    const char *html, *json, *csv, *markdown, *charts;
};

#define AT(field) .offset = offsetof(struct report_options, field)

static const struct option report_rows[] = {
    {.name = "text",
     .kind = OPTION_FLAG,
     AT(text),
     .help = "the report as text on standard output, also beside other forms",
     .manual = "Without any form option this is what is printed. Where another form goes to standard output, the text "
               "goes to standard error."},
    {.name = "html",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(html),
     .absent = "none",
     .help = "one self-contained page with charts; - is standard output",
     .manual = "Nothing in it comes from the network. The charts are drawn by gnuplot; without it the page has its "
               "tables, and one line on standard error says what to install."},
    {.name = "json",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(json),
     .absent = "none",
     .help = "everything that the analysis computed, as JSON; - is standard output",
     .manual = "The keys are those of docs/report-json.md."},
    {.name = "csv",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(csv),
     .absent = "none",
     .help = "one row a trial, as CSV; - is standard output",
     .manual = "RFC 4180, with a header line. Names are written as they are: a spreadsheet may take one that begins "
               "with = for a formula."},
    {.name = "markdown",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(markdown),
     .absent = "none",
     .help = "tables and summary in Markdown; - is standard output"},
    {.name = "charts",
     .metavar = "DIR",
     .kind = OPTION_TEXT,
     AT(charts),
     .absent = "none",
     .help = "data, gnuplot scripts and SVG files of the charts, in a new directory",
     .manual = "The directory is made, with mode 0700; one that is there must be empty."},
    {0},
};

/* ------------------------------------------------------------------------------------------------
 * Forms that are one file
 */

struct source {
    struct store *store;
    struct analysis analysis;
    struct report_undrawn undrawn;
};

static int make_html(FILE *out, struct source *s, struct spur_error *e)
{
    return report_html(out, s->store, &s->analysis, &s->undrawn, e);
}

static int make_json(FILE *out, struct source *s, struct spur_error *e)
{
    json_t *report = report_json(&s->analysis);
    int r = report && json_dumpf(report, out, DUMP_FLAGS) == 0 && fputc('\n', out) != EOF ? 0 : -ENOMEM;

    json_decref(report);
    return r ? error_errno(e, ENOMEM, "json", "the report") : 0;
}

static int make_csv(FILE *out, struct source *s, struct spur_error *e)
{
    return report_csv(out, s->store, &s->analysis, e);
}

static int make_markdown(FILE *out, struct source *s, struct spur_error *e)
{
    report_markdown(out, &s->analysis);
    return 0;
}

/* A file is spur's report of that form if @mark stands in its first bytes: at its beginning, or anywhere in them. */
struct form {
    const char *name; /* of the option */
    size_t offset;
    int (*make)(FILE *out, struct source *s, struct spur_error *e);
    const char *mark;
    bool anywhere;
};

static const struct form forms[] = {
    {"html", offsetof(struct report_options, html), make_html, "<meta name=\"generator\" content=\"spur ", true},
    {"json", offsetof(struct report_options, json), make_json, "\"form\": \"report\"", true},
    {"csv", offsetof(struct report_options, csv), make_csv,
     "row,block,cell,cell_position,arm_position,predecessor,arm,label,status", false},
    {"markdown", offsetof(struct report_options, markdown), make_markdown, "<!-- spur report -->\n", false},
};

static const char *file_of(const struct report_options *o, const struct form *form)
{
    return *(const char *const *)((const char *)o + form->offset);
}

/* ------------------------------------------------------------------------------------------------
 * Before anything is computed: whether it may be written
 */

static bool has_mark(const char *file, const struct form *form)
{
    char head[1024];
    FILE *f = fopen(file, "re");
    size_t n = f ? fread(head, 1, sizeof(head) - 1, f) : 0;
    const char *at;

    if (f)
        fclose(f);
    head[n] = 0;
    at = strstr(head, form->mark);
    return form->anywhere ? at != NULL : at == head;
}

/* A file that exists is replaced only if spur wrote it, in that form. */
static int check_file(const char *file, const struct form *form, struct spur_error *e)
{
    struct stat st;
    char what[16];

    snprintf(what, sizeof(what), "--%s", form->name);
    if (stat(file, &st) < 0)
        return errno == ENOENT ? whole_file_check(file, what, e) : error_errno(e, errno, "stat", "%s %s", what, file);
    if (S_ISREG(st.st_mode) && access(file, R_OK) < 0)
        return error_errno(e, errno, "access", "%s %s", what, file);
    if (S_ISREG(st.st_mode) && has_mark(file, form))
        return whole_file_check(file, what, e);
    error_spur(e, SPUR_CODE_REFUSED, form->name, "%s: %s exists and is no report of spur's in that form", what, file);
    error_remedy(e, "name a new file");
    return -EPERM;
}

int report_html_check(const char *file, struct spur_error *e)
{
    return check_file(file, &forms[0], e);
}

static int check_files(const struct report_options *o, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < ARRAY_SIZE(forms); i++) {
        const char *file = file_of(o, &forms[i]);

        if (file && strcmp(file, "-"))
            r = check_file(file, &forms[i], e);
    }
    return r;
}

static int report_check(void *options, const struct option_result *given, struct spur_error *e)
{
    const struct report_options *o = options;
    struct output outputs[ARRAY_SIZE(forms) + 1];
    size_t n = 0;

    for (; n < ARRAY_SIZE(forms); n++)
        outputs[n] = (struct output){forms[n].name, file_of(o, &forms[n])};
    outputs[n++] = (struct output){"charts", o->charts};
    return outputs_check(outputs, n, given->arguments[0], e);
}

/* ------------------------------------------------------------------------------------------------
 * Writing
 */

static int put(const struct form *form, const char *file, const char *text, size_t size, struct spur_error *e)
{
    char what[16];

    snprintf(what, sizeof(what), "--%s", form->name);
    if (strcmp(file, "-"))
        return whole_file_write(file, text, size, what, e);
    if (fwrite(text, 1, size, stdout) < size || fflush(stdout) == EOF)
        return error_errno(e, errno, "write", "standard output");
    return 0;
}

void report_say_undrawn(const char *command, const char *what, const struct report_undrawn *undrawn)
{
    if (undrawn->is_absent)
        fprintf(stderr, "spur %s: %s: no charts are drawn without gnuplot; install it\n", command, what);
    else if (*undrawn->why)
        fprintf(stderr, "spur %s: %s: no charts are drawn: %s; mend that, or set GNUPLOT to another one\n", command,
                what, undrawn->why);
}

static int write_form(const struct form *form, const char *file, struct source *s, struct spur_error *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int r = out ? form->make(out, s, e) : error_errno(e, errno, "open_memstream", "--%s", form->name);

    if (out && fclose(out) == EOF && !r)
        r = error_errno(e, ENOMEM, "fclose", "--%s", form->name);
    if (!r)
        r = put(form, file, text, size, e);
    free(text);
    if (!r && form->make == make_html)
        report_say_undrawn("report", "--html", &s->undrawn);
    return r;
}

static bool is_text_wanted(const struct report_options *o, bool *ret_stdout_taken)
{
    bool any = o->charts;

    *ret_stdout_taken = false;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        const char *file = file_of(o, &forms[i]);

        any |= file != NULL;
        *ret_stdout_taken |= file && !strcmp(file, "-");
    }
    return o->text || !any;
}

static int write_forms(const struct report_options *o, struct source *s, struct spur_error *e)
{
    bool taken;
    int r = 0;

    if (is_text_wanted(o, &taken))
        report_text(taken ? stderr : stdout, &s->analysis);
    for (size_t i = 0; !r && i < ARRAY_SIZE(forms); i++)
        if (file_of(o, &forms[i]))
            r = write_form(&forms[i], file_of(o, &forms[i]), s, e);
    if (!r && o->charts)
        r = report_charts(o->charts, s->store, &s->analysis, &s->undrawn, e);
    if (!r && o->charts)
        report_say_undrawn("report", "--charts", &s->undrawn);
    return r;
}

static int report_run(void *options, const struct option_result *given)
{
    const struct report_options *o = options;
    struct source s = {NULL};
    struct spur_error e = {0};
    int r = check_files(o, &e);

    if (!r)
        r = store_open(given->arguments[0], false, &s.store, &e);
    if (!r)
        r = analysis_make(s.store, &s.analysis, &e);
    if (!r) {
        r = write_forms(o, &s, &e);
        analysis_free(&s.analysis);
    }
    if (s.store)
        store_close(s.store);
    return r < 0 ? (int)exit_report("report", &e) : EXIT_OK;
}

static const struct command_exit report_exits[] = {
    {EXIT_OK, "The report was made, whatever its verdicts are."},
    {EXIT_FAILED, "The results cannot be read, or a form cannot be written."},
    {EXIT_USAGE, NULL},
    {EXIT_REFUSED, "DB is no results file of spur's, or a file that spur did not write would be replaced."},
    COMMAND_EXITS_END,
};

static const struct command_example report_examples[] = {
    {"spur report results.db", "The report as text"},
    {"spur report results.db --html report.html", "One page with charts"},
    {"spur report results.db --json - | jq '.sentences[]'", "The summary alone"},
    {"spur report results.db --csv trials.csv --charts charts", "Every trial, and the charts with their data"},
    {NULL, NULL},
};

const struct command report_command = {
    .name = "report",
    .summary = "what an experiment's results say, as text, JSON, CSV or a page",
    .arguments = "DB",
    .arguments_manual = "Results file that spur compare wrote. It may be one that is still being written.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = report_rows,
    .options_size = sizeof(struct report_options),
    .description =
        "Reads the results of spur compare and says what they show: the rate of each arm in each cell, its ratio to "
        "the baseline with an interval and a verdict, the other metrics, a summary in plain sentences, and causes.\n\n"
        "A ratio is the geometric mean over blocks of the arm's figure to the baseline's in the same block. It is "
        "called better or worse only if the interval, adjusted for the number of comparisons, excludes 1; the same "
        "if the interval lies within the margin; else undecided. With fewer than five blocks everything is undecided. "
        "Trials that failed or were refused have no figure; outliers and drift are told and kept.\n\n"
        "A cause says why an arm is faster, or why it is not, with the figures it rests on, its confidence and what to "
        "try. It is named only where all that its rule needs was counted: docs/why.md.\n\n"
        "Files are written whole or not at all, with mode 0600. A file that exists is replaced only if it is a report "
        "of spur's in the same form; a symbolic link never is.",
    .exits = report_exits,
    .examples = report_examples,
    .see_also = "spur spur-compare spur-run",
    .check = report_check,
    .run = report_run,
};
