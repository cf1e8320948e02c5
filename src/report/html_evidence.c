/* SPDX-License-Identifier: MIT */
/* What ran and what proves it: of one trial of each arm, as its worker reported it. */
#include "report/html.h"

#include <string.h>

#include "report/chart_style.h"
#include "report/html_json.h"

#define MAX_ROWS 150 /* of a list */

static const json_t *get(const json_t *object, const char *path)
{
    char key[64];

    while (object && *path) {
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        object = json_object_get(object, key);
        path += n + (path[n] == '.');
    }
    return object;
}

static void write_list(const struct page *p, const json_t *nulls, const char *prefix, const char *const *keys,
                       const json_t *result)
{
    struct html_json j = {.out = p->out, .nulls = nulls, .max = MAX_ROWS};
    char name[128];

    fputs("<dl class=\"facts-list\">\n", p->out);
    for (; *keys; keys++) {
        snprintf(name, sizeof(name), "%s%s", prefix, *keys);
        html_json(&j, name, get(result, name));
    }
    fputs("</dl>\n", p->out);
    if (j.left_out)
        fprintf(p->out, "<p class=\"hint\">%zu more are left out.</p>\n", j.left_out);
}

static void write_evidence(const struct page *p, const json_t *result)
{
    const json_t *lines = json_object_get(result, "evidence"), *line;
    size_t i;

    if (!json_array_size(lines)) {
        fputs("<p>The trial left no evidence.</p>\n", p->out);
        return;
    }
    fputs("<ul>\n", p->out);
    json_array_foreach((json_t *)lines, i, line)
    {
        fputs("<li><b>", p->out);
        html_text(p->out, json_string_value(json_object_get(line, "strength")));
        fputs("</b> (", p->out);
        html_text(p->out, json_string_value(json_object_get(line, "source")));
        fputs("): ", p->out);
        html_text(p->out, json_string_value(json_object_get(line, "says")));
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_notes(const struct page *p, const json_t *result)
{
    const json_t *notes = json_object_get(result, "notes"), *note;
    size_t i;

    if (!json_array_size(notes))
        return;
    fputs("<h3>Notes of the trial</h3>\n<ul>\n", p->out);
    json_array_foreach((json_t *)notes, i, note)
    {
        fputs("<li>", p->out);
        html_text(p->out, json_string_value(note));
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_result(const struct page *p, const json_t *result)
{
    static const char *const proof[] = {"observed", "served", "complete", "verify", "cache", "device", NULL};
    static const char *const settings[] = {"", NULL};
    static const char *const machine[] = {"kernel",  "boot_id",  "cpu",           "memory",    "gpu",      "cgroup",
                                          "loadavg", "io_uring", "memlock_limit", "libraries", "pressure", NULL};
    const json_t *nulls = json_object_get(result, "nulls");

    fputs("<h3>Road and proof</h3>\n", p->out);
    write_list(p, nulls, "", proof, result);
    write_evidence(p, result);
    write_notes(p, result);
    fputs("<h3>Effective settings</h3>\n", p->out);
    write_list(p, nulls, "effective", settings, result);
    fputs("<h3>Environment, at the end of the set-up</h3>\n", p->out);
    write_list(p, nulls, "environment.begin.", machine, result);
}

/* ------------------------------------------------------------------------------------------------ */

/* The first trial of an arm that has figures, else the first of all; n_trials: it has none. */
static size_t pick(const struct analysis *a, uint32_t arm)
{
    size_t any = a->n_trials;

    for (size_t i = 0; i < a->n_trials; i++) {
        if (a->x->rows[a->trials[i].row].arm != arm)
            continue;
        if (a->trials[i].status == TRIAL_OK)
            return i;
        if (any == a->n_trials)
            any = i;
    }
    return any;
}

static int write_trial(const struct page *p, size_t trial, struct spur_error *e)
{
    const struct analysis *a = p->a;
    const struct experiment_row *row = &a->x->rows[a->trials[trial].row];
    json_t *result = NULL;
    int r = store_result(p->s, a->trials[trial].row, &result, e);

    if (r < 0)
        return r;
    fprintf(p->out, "<p class=\"hint\">From trial %u: block %u, ", a->trials[trial].row + 1, row->block + 1);
    html_text(p->out, a->x->cells[row->cell].label);
    fputs(a->trials[trial].status == TRIAL_OK ? ".</p>\n" : "; it has no figures.</p>\n", p->out);
    if (result)
        write_result(p, result);
    else
        fputs("<p>Its worker left no result.</p>\n", p->out);
    json_decref(result);
    return 0;
}

static int write_arm(const struct page *p, uint32_t arm, struct spur_error *e)
{
    size_t trial = pick(p->a, arm);
    int r = 0;

    fputs("<details open><summary>", p->out);
    chart_style_swatch(p->out, arm);
    html_text(p->out, p->a->x->arms[arm].name);
    fputs("</summary><div>\n", p->out);
    if (trial == p->a->n_trials)
        fputs("<p>No trial of this arm was run.</p>\n", p->out);
    else
        r = write_trial(p, trial, e);
    fputs("</div></details>\n", p->out);
    return r;
}

static void write_whole(const struct page *p, const char *title, const json_t *object)
{
    struct html_json j = {.out = p->out, .max = MAX_ROWS};

    if (!json_object_size(object))
        return;
    fprintf(p->out, "<details><summary>%s</summary><div><dl class=\"facts-list\">\n", title);
    html_json(&j, "", object);
    fputs("</dl>\n", p->out);
    if (j.left_out)
        fprintf(p->out, "<p class=\"hint\">%zu more are left out.</p>\n", j.left_out);
    fputs("</div></details>\n", p->out);
}

int html_evidence(const struct page *p, struct spur_error *e)
{
    int r = 0;

    fputs("<section id=\"evidence\">\n<h2>Evidence and environment</h2>\n", p->out);
    for (uint32_t arm = 0; arm < p->a->x->n_arms && !r; arm++)
        r = write_arm(p, arm, e);
    write_whole(p, "Machine, when the experiment began", store_environment(p->s));
    write_whole(p, "What --resume compares", store_identity(p->s));
    fputs("</section>\n", p->out);
    return r;
}
