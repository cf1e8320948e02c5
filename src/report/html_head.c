/* SPDX-License-Identifier: MIT */
#include "report/html.h"
#include "report/text_table.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/units.h"
#include "report/chart_style.h"
#include "report/sentences.h"

#define MAX_NAMED 4

static bool is_compared(const struct experiment *x, uint32_t arm)
{
    return arm != x->baseline && arm != x->aa;
}

/* "fanout and cufile against odirect" */
static void write_title(const struct page *p)
{
    const struct experiment *x = p->a->x;
    size_t n = 0, total = 0;

    if (p->a->simulated)
        fputs("Simulated: ", p->out);
    for (uint32_t i = 0; i < x->n_arms; i++)
        total += is_compared(x, i);
    for (uint32_t i = 0; i < x->n_arms && n < MAX_NAMED; i++) {
        if (!is_compared(x, i))
            continue;
        fputs(!n ? "" : n + 1 == total ? " and " : ", ", p->out);
        html_text(p->out, x->arms[i].name);
        n++;
    }
    if (total > n)
        fprintf(p->out, " and %zu more", total - n);
    fputs(total ? " against " : "A/A: a second copy of ", p->out);
    html_text(p->out, x->arms[x->baseline].name);
}

static void write_head(const struct page *p)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", p->out);
    fprintf(p->out, "<meta name=\"generator\" content=\"spur %s\">\n", SPUR_VERSION);
    fputs(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
        "name=\"color-scheme\" "
        "content=\"light dark\">\n<title>spur: ",
        p->out);
    fputs(p->a->harness_biased ? "harness biased: " : "", p->out);
    write_title(p);
    fputs("</title>\n<link rel=\"icon\" href=\"data:,\">\n", p->out);
    html_style(p->out);
    fputs("</head>\n<body>\n<main>\n", p->out);
}

/* ------------------------------------------------------------------------------------------------
 * The verdict in a line
 */

struct tally {
    size_t n[VERDICT_WORSE + 1], total, apart;
    const struct comparison *last;
};

static struct tally count(const struct analysis *a, uint32_t arm)
{
    struct tally t = {{0}, 0, 0, NULL};

    for (size_t i = 0; i < a->n_comparisons; i++) {
        const struct comparison *c = &a->comparisons[i];

        if (c->arm != arm)
            continue;
        t.total++;
        t.last = c;
        if (c->ranked_apart)
            t.apart++;
        else
            t.n[c->metric[METRIC_RATE].verdict]++;
    }
    return t;
}

static void write_counts(FILE *out, const struct tally *t)
{
    static const struct {
        enum stats_verdict verdict;
        char shape;
        const char *words;
    } rows[] = {{VERDICT_BETTER, 'b', "better"},
                {VERDICT_WORSE, 'w', "worse"},
                {VERDICT_SAME, 's', "same"},
                {VERDICT_UNDECIDED, 'u', "undecided"},
                {VERDICT_NONE, 'x', "without figures"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (t->n[rows[i].verdict])
            fprintf(out, "<span><b class=\"v %c\">%s</b> in %zu of %zu</span>", rows[i].shape, rows[i].words,
                    t->n[rows[i].verdict], t->total);
    if (t->apart)
        fprintf(out, "<span>not ranked in %zu of %zu</span>", t->apart, t->total);
}

static void write_one(FILE *out, const struct stats_effect *e)
{
    char ratio[WORDS_RATIO];

    html_verdict(out, e);
    if (!isfinite(e->ratio))
        return;
    fprintf(out, " %s&times; ", words_ratio(e->ratio, ratio));
    html_interval(out, e);
}

static void write_verdicts(const struct page *p)
{
    const struct experiment *x = p->a->x;

    fputs("<ul class=\"verdicts\">\n", p->out);
    for (uint32_t i = 0; i < x->n_arms; i++) {
        struct tally t = count(p->a, i);

        if (!t.total)
            continue;
        fputs("<li>", p->out);
        html_text(p->out, x->arms[i].name);
        fputs(t.total == 1 ? ", throughput: " : ", throughput over cells: ", p->out);
        if (t.total == 1 && !t.apart)
            write_one(p->out, &t.last->metric[METRIC_RATE]);
        else
            write_counts(p->out, &t);
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

/* ------------------------------------------------------------------------------------------------
 * Facts and arms
 */

static void begin_fact(FILE *out, const char *name)
{
    fprintf(out, "<div><dt>%s</dt><dd>", name);
}

static void end_fact(FILE *out)
{
    fputs("</dd></div>\n", out);
}

static void write_when(const struct page *p)
{
    time_t seconds;
    struct tm tm;
    char text[64];

    if (!p->a->n_trials)
        return;
    seconds = (time_t)(p->a->trials[0].began_realtime_ns / 1000000000u);
    if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm))
        return;
    begin_fact(p->out, "began");
    fputs(text, p->out);
    end_fact(p->out);
}

static void write_files(const struct page *p)
{
    const struct experiment_settings *common = &p->a->x->common;
    size_t n = 0;

    for (size_t i = 0; i < common->n; i++) {
        if (strcmp(common->items[i].key, "file"))
            continue;
        if (!n++) {
            begin_fact(p->out, "file");
            html_text(p->out, common->items[i].value);
        }
    }
    if (n > 1)
        fprintf(p->out, " and %zu more", n - 1);
    if (n)
        end_fact(p->out);
}

static void write_memory(FILE *out, const struct experiment *x)
{
    const char *memory;

    for (size_t i = 0; !x->memory && (memory = experiment_memory(x, i)); i++) {
        fputs(i ? ", " : "", out);
        html_text(out, memory);
    }
    html_text(out, x->memory ? x->memory : "");
}

static void write_facts(const struct page *p)
{
    const struct analysis *a = p->a;
    const struct experiment *x = a->x;
    const char *state = a->finished      ? "finished"
                        : a->interrupted ? "interrupted"
                        : a->limited     ? "time limit reached"
                                         : "not finished";

    fputs("<dl class=\"facts\">\n", p->out);
    write_files(p);
    begin_fact(p->out, "memory");
    write_memory(p->out, x);
    end_fact(p->out);
    begin_fact(p->out, "cells, arms");
    fprintf(p->out, "%zu, %zu", x->n_cells, x->n_arms);
    end_fact(p->out);
    begin_fact(p->out, "blocks done");
    fprintf(p->out, "%u of %u%s", a->n_blocks_done, x->n_blocks, x->until_decided ? ", until decided" : "");
    end_fact(p->out);
    begin_fact(p->out, "trials with figures");
    fprintf(p->out, "%zu of %zu", a->n_trials - a->n_without_figures, a->n_trials);
    end_fact(p->out);
    begin_fact(p->out, "margin of \"same\"");
    fprintf(p->out, "%g %%", 100 * x->margin);
    end_fact(p->out);
    begin_fact(p->out, "state");
    fputs(state, p->out);
    end_fact(p->out);
    write_when(p);
    fputs("</dl>\n", p->out);
}

static void write_arms(const struct page *p)
{
    const struct experiment *x = p->a->x;

    fputs("<ul class=\"arms\">\n", p->out);
    for (uint32_t i = 0; i < x->n_arms; i++) {
        const struct experiment_settings *s = &x->arms[i].settings;

        fputs("<li>", p->out);
        chart_style_swatch(p->out, i);
        fputs("<b>", p->out);
        html_text(p->out, x->arms[i].name);
        fputs("</b>", p->out);
        fputs(i == x->baseline ? " (baseline)" : i == x->aa ? " (A/A copy of the baseline)" : "", p->out);
        for (size_t k = 0; k < s->n; k++) {
            fputs(" <code>", p->out);
            html_text(p->out, s->items[k].key);
            fputc('=', p->out);
            html_text(p->out, s->items[k].value);
            fputs("</code>", p->out);
        }
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_list(const struct page *p, char *const *texts, size_t n)
{
    fputs("<ul>\n", p->out);
    for (size_t i = 0; i < n; i++) {
        fputs("<li>", p->out);
        html_text(p->out, texts[i]);
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_badges(const struct page *p)
{
    const struct {
        bool is_so;
        const char *words;
    } rows[] = {{p->a->harness_biased, "harness biased"},
                {p->a->simulated, "simulated"},
                {p->a->emulated, "emulated"},
                {p->a->unverified, "unverified"},
                {p->a->quick, "quick"}};

    fputs("<p class=\"product\">spur report", p->out);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].is_so)
            fprintf(p->out, " <b>%s</b>", rows[i].words);
    fputs("</p>\n", p->out);
}

void html_head(const struct page *p)
{
    write_head(p);
    fputs("<header>\n", p->out);
    write_badges(p);
    fputs("<h1>", p->out);
    write_title(p);
    fputs("</h1>\n", p->out);
    write_verdicts(p);
    if (p->a->n_warnings) {
        fputs("<section class=\"warnings\" id=\"warnings\">\n<h2>Read this first</h2>\n", p->out);
        write_list(p, p->a->warnings, p->a->n_warnings);
        fputs("</section>\n", p->out);
    }
    if (p->a->n_sentences) {
        fputs("<section id=\"summary\">\n", p->out);
        write_list(p, p->a->sentences, p->a->n_sentences);
        fputs("</section>\n", p->out);
    }
    write_arms(p);
    write_facts(p);
    fputs("<nav aria-label=\"Parts of this report\"><a href=\"#cells\">Cells</a>", p->out);
    if (p->a->n_causes || p->a->n_unexplained)
        fputs("<a href=\"#why\">Why</a>", p->out);
    fputs("<a href=\"#panels\">Charts</a><a href=\""
          "#times\">Over time</a><a href=\"#order\">Order of trials</a><a href=\"#metrics\">Latency and CPU</a>",
          p->out);
    if (text_has_wire(p->a))
        fputs("<a href=\"#wire\">On the wire</a>", p->out);
    fputs("<a href=\"#evidence\">Evidence</a><a href=\"#missing\">Without figures</a><a "
          "href=\"#method\">Method</a></nav>\n"
          "</header>\n",
          p->out);
}
