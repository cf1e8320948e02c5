/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/report.h"
#include "report/sentences.h"
#include "report/text_table.h"
#include "report/wire_words.h"

static void print_counts(FILE *out, const struct analysis *a)
{
    const struct experiment *x = a->x;

    fputs("spur report: ", out);
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
    fputs("\n", out);
}

static void print_arm(FILE *out, const struct analysis *a, uint32_t arm)
{
    const struct experiment *x = a->x;

    fputs("  arm ", out);
    words_arm(out, a, arm);
    fputs(arm == x->baseline ? " (baseline)" : arm == x->aa ? " (the baseline again)" : "", out);
    if (x->arms[arm].settings.n)
        fputs(": ", out);
    text_settings(out, &x->arms[arm].settings);
    fputs("\n", out);
}

static void print_memory(FILE *out, const struct experiment *x)
{
    const char *memory = x->memory;

    for (size_t i = 0; memory || (memory = experiment_memory(x, i)); i++) {
        fputs(i ? ", " : "  memory ", out);
        words_clean(out, memory);
        memory = NULL;
        if (x->memory)
            break;
    }
    if (x->memory || experiment_memory(x, 0))
        fputs(x->memory ? "\n" : ": each arm or cell its own\n", out);
}

static void print_head(FILE *out, const struct analysis *a)
{
    const struct experiment *x = a->x;

    print_counts(out, a);
    for (uint32_t arm = 0; arm < x->n_arms; arm++)
        print_arm(out, a, arm);
    if (x->common.n) {
        fputs("  all: ", out);
        text_settings(out, &x->common);
        fputs("\n", out);
    }
    print_memory(out, x);
}

static void print_wire(FILE *out, const struct analysis *a)
{
    struct text_table wire = {0};

    if (!text_has_wire(a))
        return;
    text_wire(&wire, a);
    fputs("\nOn the wire:\n", out);
    text_table_print(out, &wire, "");
    text_paragraph(out, "  ", WIRE_LEGEND);
    text_table_free(&wire);
}

static void print_tables(FILE *out, const struct analysis *a)
{
    struct text_table rates = {0}, metrics = {0};
    _cleanup_free_ char *legend = text_legend(a);

    text_rates(&rates, a);
    fputs("\n", out);
    text_table_print(out, &rates, "");
    text_paragraph(out, "  ", legend ? legend : "");
    text_table_free(&rates);
    if (!text_has_others(a))
        return;
    text_others(&metrics, a);
    fputs("\nOther metrics as ratios to the baseline; descriptive, each a family of its own:\n", out);
    text_table_print(out, &metrics, "");
    text_table_free(&metrics);
}

static void print_causes(FILE *out, const struct analysis *a)
{
    _cleanup_free_ char *none = cause_none_paragraph(a);

    if (a->n_causes || none)
        fputs("\nWhy:\n", out);
    for (size_t i = 0; i < a->n_causes; i++) {
        _cleanup_free_ char *text = cause_paragraph(a, &a->causes[i]);

        text_paragraph(out, "- ", text ? text : "");
    }
    if (none)
        text_paragraph(out, "- ", none);
}

void report_text(FILE *out, const struct analysis *a)
{
    print_head(out, a);
    for (size_t i = 0; i < a->n_warnings; i++)
        text_paragraph(out, "WARNING ", a->warnings[i]);
    if (a->n_trials)
        print_tables(out, a);
    print_wire(out, a);
    fputs("\n", out);
    for (size_t i = 0; i < a->n_sentences; i++)
        text_paragraph(out, "- ", a->sentences[i]);
    print_causes(out, a);
    if (a->x->command) {
        fputs("\nTo repeat it: ", out);
        words_clean(out, a->x->command);
        fputs("\n", out);
    }
}
