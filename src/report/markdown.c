/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/html_text.h"
#include "report/report.h"
#include "report/sentences.h"
#include "report/text_table.h"
#include "report/wire_words.h"

/* What would be markup; @text is clean. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (strchr("\\`*_[]|~#$", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

void text_table_print_markdown(FILE *out, const struct text_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t column = i % t->n_columns;

        fputs(column ? " " : "| ", out);
        put_escaped(out, t->cells[i] ? t->cells[i] : "");
        fputs(column + 1 < t->n_columns ? " |" : " |\n", out);
        if (i + 1 != t->n_columns)
            continue;
        for (size_t k = 0; k < t->n_columns; k++)
            fputs(t->align[k] == 'r' ? "| ---: " : "| --- ", out);
        fputs("|\n", out);
    }
}

/* Text that a function writes clean. */
static void put_settings(FILE *out, const struct experiment_settings *s)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    text_settings(stream, s);
    if (fclose(stream) == 0)
        put_escaped(out, text);
    free(text);
}

static void put_name(FILE *out, const char *name)
{
    _cleanup_free_ char *clean = html_clean(name);

    put_escaped(out, clean ? clean : "?");
}

static void put_head(FILE *out, const struct analysis *a)
{
    const struct experiment *x = a->x;

    fprintf(out, "<!-- spur report -->\n# Comparison%s\n\n", a->simulated ? ", simulated" : "");
    words_count(out, x->n_arms, "arm", "arms");
    fputs(", ", out);
    words_count(out, x->n_cells, "cell", "cells");
    fprintf(out, ", %u of %s", a->n_blocks_done, x->until_decided ? "at most " : "");
    words_count(out, x->n_blocks, "block", "blocks");
    fputs(", ", out);
    words_count(out, a->n_trials, "trial", "trials");
    if (a->n_trials)
        fputs("; ", out);
    text_when(out, a);
    fputs("\n\n", out);
    for (uint32_t arm = 0; arm < x->n_arms; arm++) {
        fputs("- ", out);
        put_name(out, x->arms[arm].name);
        fputs(arm == x->baseline ? " (baseline)" : arm == x->aa ? " (the baseline again)" : "", out);
        fputs(x->arms[arm].settings.n ? ": " : "", out);
        put_settings(out, &x->arms[arm].settings);
        fputs("\n", out);
    }
    if (x->common.n) {
        fputs("- all: ", out);
        put_settings(out, &x->common);
        fputs("\n", out);
    }
    fputs("\n", out);
}

static void put_tables(FILE *out, const struct analysis *a)
{
    struct text_table rates = {0}, metrics = {0};
    _cleanup_free_ char *legend = text_legend(a);

    text_rates(&rates, a);
    text_table_print_markdown(out, &rates);
    fputs("\n", out);
    put_escaped(out, legend ? legend : "");
    fputs("\n\n", out);
    text_table_free(&rates);
    if (!text_has_others(a))
        return;
    text_others(&metrics, a);
    fputs("Other metrics as ratios to the baseline; descriptive, each a family of its own:\n\n", out);
    text_table_print_markdown(out, &metrics);
    fputs("\n", out);
    text_table_free(&metrics);
}

static void put_wire(FILE *out, const struct analysis *a)
{
    struct text_table wire = {0};

    if (!text_has_wire(a))
        return;
    text_wire(&wire, a);
    fputs("On the wire:\n\n", out);
    text_table_print_markdown(out, &wire);
    fputs("\n", out);
    put_escaped(out, WIRE_LEGEND);
    fputs("\n\n", out);
    text_table_free(&wire);
}

static void put_list(FILE *out, char *const *texts, size_t n, const char *lead)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "- %s", lead);
        put_escaped(out, texts[i]);
        fputs("\n", out);
    }
    if (n)
        fputs("\n", out);
}

static void put_cause(FILE *out, const char *text)
{
    fputs("- ", out);
    put_escaped(out, text ? text : "");
    fputs("\n", out);
}

static void put_causes(FILE *out, const struct analysis *a)
{
    _cleanup_free_ char *none = cause_none_paragraph(a);

    if (!a->n_causes && !none)
        return;
    fputs("Why:\n\n", out);
    for (size_t i = 0; i < a->n_causes; i++) {
        _cleanup_free_ char *text = cause_paragraph(a, &a->causes[i]);

        put_cause(out, text);
    }
    if (none)
        put_cause(out, none);
    fputs("\n", out);
}

void report_markdown(FILE *out, const struct analysis *a)
{
    put_head(out, a);
    put_list(out, a->warnings, a->n_warnings, "**Warning:** ");
    if (a->n_trials)
        put_tables(out, a);
    put_wire(out, a);
    put_list(out, a->sentences, a->n_sentences, "");
    put_causes(out, a);
    if (!a->x->command)
        return;
    /* A block by indentation: nothing in it can end it. */
    fputs("To repeat it:\n\n    ", out);
    words_clean(out, a->x->command);
    fputs("\n", out);
}
