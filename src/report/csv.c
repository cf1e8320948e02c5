/* SPDX-License-Identifier: MIT */
/* One row a trial, as it is: RFC 4180, lines end with CRLF. Names are the user's bytes. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "report/report.h"
#include "store/words.h"

static void put_text(FILE *out, const char *text)
{
    if (!text || !strpbrk(text, "\",\r\n")) {
        fputs(text ? text : "", out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void text_field(FILE *out, const char *text)
{
    fputc(',', out);
    put_text(out, text);
}

/* Empty: there is none. */
static void number_field(FILE *out, double value)
{
    fputc(',', out);
    if (isfinite(value))
        fprintf(out, "%.15g", value);
}

static const char before_axes[] = "row,block,cell,cell_position,arm_position,predecessor,arm,label,status";
static const char cpus[] = "process_user_cpus,process_system_cpus,machine_user_cpus,machine_system_cpus";
static const char after_figures[] = "wire_retries,observed,served,verify,emulated,simulated,began_realtime_ns,"
                                    "t0_monotonic_ns,window_s,wall_s,outlier,error";

static bool is_in(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    }
    return false;
}

static bool is_figure(const char *name)
{
    for (unsigned m = 0; m < N_METRICS; m++)
        if (!strcmp(metric_name((enum metric)m), name))
            return true;
    for (unsigned w = 0; w < N_WIRE_FIGURES; w++)
        if (!strcmp(wire_figure_name((enum wire_figure)w), name))
            return true;
    return is_in(cpus, name);
}

static bool is_taken(const struct experiment *x, size_t axis, const char *name)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (i != axis && !strcmp(x->axes[i].key, name))
            return true;
    return is_in(before_axes, name) || is_figure(name) || is_in(after_figures, name);
}

/* An axis whose key is the name of another column gets "axis_" before it, so often as it takes to be the only one. */
static void put_axis_name(FILE *out, const struct experiment *x, size_t axis)
{
    _cleanup_free_ char *name = strdup(x->axes[axis].key);

    while (name && is_taken(x, axis, name)) {
        char *longer;

        if (asprintf(&longer, "axis_%s", name) < 0)
            break;
        free(name);
        name = longer;
    }
    text_field(out, name ? name : x->axes[axis].key);
}

static void put_header(FILE *out, const struct experiment *x)
{
    fputs(before_axes, out);
    for (size_t i = 0; i < x->n_axes; i++)
        put_axis_name(out, x, i);
    for (unsigned m = 0; m < N_METRICS; m++)
        text_field(out, metric_name((enum metric)m));
    fprintf(out, ",%s", cpus);
    for (unsigned w = 0; w < N_WIRE_FIGURES; w++)
        text_field(out, wire_figure_name((enum wire_figure)w));
    fprintf(out, ",%s\r\n", after_figures);
}

static void put_place(FILE *out, const struct experiment *x, uint32_t index)
{
    const struct experiment_row *row = &x->rows[index];

    fprintf(out, "%u,%u,%u,%u,%u", index, row->block, row->cell, row->cell_position, row->arm_position);
    text_field(out, row->predecessor < x->n_arms ? x->arms[row->predecessor].name : "");
    text_field(out, x->arms[row->arm].name);
    text_field(out, x->cells[row->cell].label);
}

static void put_figures(FILE *out, const struct figures *f)
{
    for (unsigned m = 0; m < N_METRICS; m++)
        number_field(out, f->metric[m]);
    number_field(out, f->process_user_cpus);
    number_field(out, f->process_system_cpus);
    number_field(out, f->machine_user_cpus);
    number_field(out, f->machine_system_cpus);
    for (unsigned w = 0; w < N_WIRE_FIGURES; w++)
        number_field(out, f->wire[w]);
    number_field(out, f->wire_retries);
}

static void put_trial(FILE *out, const struct experiment *x, const struct store_trial *t, bool is_outlier)
{
    const struct experiment_row *row = &x->rows[t->row];

    put_place(out, x, t->row);
    text_field(out, word_of(status_words, t->status));
    for (size_t i = 0; i < x->n_axes; i++)
        text_field(out, x->axes[i].values[x->cells[row->cell].value[i]].text);
    put_figures(out, &t->figures);
    text_field(out, t->observed);
    text_field(out, t->served);
    text_field(out, t->verify);
    fprintf(out, ",%d,%d,%llu,%llu", t->emulated, t->simulated, (unsigned long long)t->began_realtime_ns,
            (unsigned long long)t->t0_monotonic_ns);
    number_field(out, t->window_s);
    number_field(out, t->wall_s);
    fprintf(out, ",%d", is_outlier);
    text_field(out, t->error);
    fputs("\r\n", out);
}

int report_csv(FILE *out, struct store *s, const struct analysis *a, struct spur_error *e)
{
    size_t next = 0;

    put_header(out, a->x);
    for (size_t i = 0; i < a->n_trials; i++) {
        while (next < a->n_outliers && a->outliers[next].row < a->trials[i].row)
            next++;
        put_trial(out, a->x, &a->trials[i], next < a->n_outliers && a->outliers[next].row == a->trials[i].row);
    }
    return ferror(out) ? error_errno(e, errno ? errno : EIO, "write", "CSV") : 0;
}
