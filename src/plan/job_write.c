/* SPDX-License-Identifier: MIT */
/* Experiment -> job file. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/units.h"
#include "core/util.h"
#include "plan/parts.h"

static void add_head(FILE *out, const struct experiment *x)
{
    char limit[UNITS_TEXT];

    fputs("[sweep]\n", out);
    fprintf(out, "baseline = %s\n", x->arms[x->baseline].name);
    if (x->until_decided)
        fputs("until-decided = yes\n", out);
    else
        fprintf(out, "blocks = %u\n", x->n_blocks);
    if (x->aa != EXPERIMENT_NONE)
        fputs("aa = yes\n", out);
    if (x->quick)
        fputs("quick = yes\n", out);
    fprintf(out, "region = %s\n", x->region == REGION_ROTATE ? "rotate" : "same");
    fprintf(out, "seed = %llu\n", (unsigned long long)x->seed);
    if (x->limit_ns)
        fprintf(out, "limit = %s\n", units_format_duration(x->limit_ns, limit));
}

static void add_setting(FILE *out, const char *key, const char *value)
{
    fprintf(out, "%s = ", key);
    plan_list_write(out, value);
    fputc('\n', out);
}

static void add_settings(FILE *out, const struct experiment_settings *settings)
{
    for (size_t i = 0; i < settings->n; i++)
        add_setting(out, settings->items[i].key, settings->items[i].value);
}

/* Whatever was asked for ("auto"), the resolved memory is written. */
static void add_common(FILE *out, const struct experiment *x)
{
    for (size_t i = 0; i < x->common.n; i++) {
        const struct experiment_setting *s = &x->common.items[i];

        add_setting(out, s->key, *x->memory && !strcmp(s->key, "memory") ? x->memory : s->value);
    }
}

static bool is_axis(const struct experiment *x, const char *key)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (!strcmp(x->axes[i].key, key))
            return true;
    return false;
}

static void add_axis(FILE *out, const struct experiment_axis *axis)
{
    fprintf(out, "axis = %s=", axis->key);
    for (size_t i = 0; i < axis->n_values; i++) {
        fputs(i ? "," : "", out);
        plan_list_write(out, axis->values[i].text);
    }
    fputc('\n', out);
    if (axis->prepare_command)
        fprintf(out, "prepare = %s=%s\n", axis->key, axis->prepare_command);
}

static void add_all(FILE *out, const struct experiment *x)
{
    add_head(out, x);
    if (*x->memory && !plan_setting_find(&x->common, "memory") && !is_axis(x, "memory"))
        add_setting(out, "memory", x->memory);
    add_common(out, x);
    for (size_t i = 0; i < x->n_axes; i++)
        add_axis(out, &x->axes[i]);
    for (size_t i = 0; i < x->n_arms; i++) {
        if (x->arms[i].is_aa)
            continue;
        fprintf(out, "\n[arm %s]\n", x->arms[i].name);
        add_settings(out, &x->arms[i].settings);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Can it be read back?
 */

static int cannot(struct spur_error *e, const char *text, const char *reason)
{
    return error_spur(e, SPUR_CODE_USAGE, "plan", "'%.300s' cannot be written into a job file: %s", text, reason);
}

static int check_text(const char *text, struct spur_error *e)
{
    return plan_line_bad_byte(text, strlen(text)) ? cannot(e, text, "it has a control byte") : 0;
}

static int check_settings(const struct experiment_settings *settings, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; i < settings->n && !r; i++)
        r = check_text(settings->items[i].value, e);
    return r;
}

/* Line breaks in values would pass for lines: look at them before they are written. */
static int check_values(const struct experiment *x, struct spur_error *e)
{
    int r = check_settings(&x->common, e);

    if (x->n_matches && x->n_cells > 1)
        return cannot(e, "--match", "an arm's setting holds in all cells there, and each cell has its own");
    for (size_t i = 0; i < x->n_arms && !r; i++)
        r = check_settings(&x->arms[i].settings, e);
    for (size_t i = 0; i < x->n_axes && !r; i++) {
        if (x->axes[i].prepare_command)
            r = check_text(x->axes[i].prepare_command, e);
        for (size_t j = 0; j < x->axes[i].n_values && !r; j++)
            r = check_text(x->axes[i].values[j].text, e);
    }
    return r;
}

/* And for comments: in the written lines. */
static int check_lines(const char *text, struct spur_error *e)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        if (plan_line_comment(text, n) != (long)n) {
            _cleanup_free_ char *line = strndup(text, n);

            return line ? cannot(e, line, "a semicolon after a blank begins a comment") : plan_no_memory(e);
        }
        text += n + (text[n] == '\n');
    }
    return 0;
}

int plan_job_write(const struct experiment *x, char **ret_text, struct spur_error *e)
{
    char *text = NULL;
    size_t n;
    FILE *out;
    int r = check_values(x, e);

    if (r < 0)
        return r;
    out = open_memstream(&text, &n);
    if (!out)
        return plan_no_memory(e);
    add_all(out, x);
    r = fclose(out) ? plan_no_memory(e) : check_lines(text, e);
    if (r < 0)
        free(text);
    else
        *ret_text = text;
    return r;
}
