/* SPDX-License-Identifier: MIT */
/* The tables' contents and other parts that text and markdown share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/units.h"
#include "core/util.h"
#include "report/sentences.h"
#include "report/text_table.h"

/* ------------------------------------------------------------------------------------------------
 * Cells of the tables
 */

static void add_rate(struct text_table *t, const struct arm_cell *c)
{
    char text[UNITS_TEXT];

    if (isfinite(c->metric[METRIC_RATE].center))
        text_table_add(t, "%s", units_format_rate(c->metric[METRIC_RATE].center, text));
    else
        text_table_add(t, "-");
}

static void add_ratio(struct text_table *t, const struct stats_effect *e, const char *after)
{
    char ratio[WORDS_RATIO];

    if (isfinite(e->ratio))
        text_table_add(t, "%sx%s", words_ratio(e->ratio, ratio), after);
    else
        text_table_add(t, "-");
}

static void add_interval(struct text_table *t, const struct stats_effect *e)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out)
        words_interval(out, e->low, e->high);
    if (out && fclose(out) == 0)
        text_table_add(t, "%s", size ? text : "-");
    else
        text_table_add(t, "?");
    free(text);
}

static const char *verdict_of(const struct analysis *a, const struct comparison *c)
{
    const struct arm_cell *arm = analysis_arm_cell(a, c->cell, c->arm);

    if (c->ranked_apart)
        return "not ranked";
    if (arm->state == PAIR_REFUSED)
        return "refused";
    if (arm->state == PAIR_NOT_APPLICABLE)
        return "n/a";
    if (analysis_arm_cell(a, c->cell, a->x->baseline)->state != PAIR_PLANNED)
        return "no baseline";
    if (c->metric[METRIC_RATE].verdict == VERDICT_NONE)
        return "no figures";
    return stats_verdict_name(c->metric[METRIC_RATE].verdict);
}

static void add_head(struct text_table *t, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_table_add(t, "%s", names[i]);
}

static void add_place(struct text_table *t, const struct analysis *a, const struct comparison *c)
{
    char label[512];

    text_table_add_name(t, a->x->cells[c->cell].label);
    text_table_add_name(t, analysis_arm_label(a, c->cell, c->arm, label, sizeof(label)));
}

/* ------------------------------------------------------------------------------------------------
 * Rates
 */

static void add_rate_row(struct text_table *t, const struct analysis *a, const struct comparison *c)
{
    const struct stats_effect *e = &c->metric[METRIC_RATE];

    add_place(t, a, c);
    add_rate(t, analysis_arm_cell(a, c->cell, a->x->baseline));
    add_rate(t, analysis_arm_cell(a, c->cell, c->arm));
    add_ratio(t, e, "");
    add_interval(t, e);
    text_table_add(t, "%s", verdict_of(a, c));
    text_table_add(t, "%u", e->n);
}

/* Cell by cell: the arms, then the A/A copy. */
static void each_row(struct text_table *t, const struct analysis *a,
                     void (*row)(struct text_table *, const struct analysis *, const struct comparison *))
{
    size_t i = 0;

    for (uint32_t cell = 0; cell < a->x->n_cells; cell++) {
        for (; i < a->n_comparisons && a->comparisons[i].cell == cell; i++)
            row(t, a, &a->comparisons[i]);
        if (a->n_aa)
            row(t, a, &a->aa[cell]);
    }
}

void text_rates(struct text_table *t, const struct analysis *a)
{
    static const char *const names[] = {"cell", "arm", "", "rate", "ratio", "interval", "verdict", "blocks"};

    t->align = "llrrrllr";
    t->n_columns = ARRAY_SIZE(names);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (i == 2)
            text_table_add_name(t, a->x->arms[a->x->baseline].name);
        else
            text_table_add(t, "%s", names[i]);
    }
    each_row(t, a, add_rate_row);
}

/* ------------------------------------------------------------------------------------------------
 * The other metrics
 */

static const enum metric others[] = {METRIC_REQUESTS, METRIC_P50, METRIC_P99, METRIC_CPU_PROCESS};

static void add_other_row(struct text_table *t, const struct analysis *a, const struct comparison *c)
{
    char verdict[32];

    add_place(t, a, c);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        const struct stats_effect *e = &c->metric[others[i]];

        snprintf(verdict, sizeof(verdict), " %s",
                 e->verdict == VERDICT_NONE ? "not ranked" : stats_verdict_name(e->verdict));
        add_ratio(t, e, verdict);
    }
}

void text_others(struct text_table *t, const struct analysis *a)
{
    static const char *const names[] = {"cell", "arm", "requests/s", "p50", "p99", "CPU/GiB"};

    t->align = "llllll";
    t->n_columns = ARRAY_SIZE(names);
    add_head(t, names, ARRAY_SIZE(names));
    each_row(t, a, add_other_row);
}

bool text_has_others(const struct analysis *a)
{
    for (size_t i = 0; i < a->n_comparisons; i++)
        for (size_t k = 0; k < ARRAY_SIZE(others); k++)
            if (isfinite(a->comparisons[i].metric[others[k]].ratio))
                return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * Words
 */

static size_t count_family(const struct analysis *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_comparisons; i++)
        n += !a->comparisons[i].ranked_apart && a->comparisons[i].metric[METRIC_RATE].n >= 2;
    return n;
}

char *text_legend(const struct analysis *a)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs("ratio: geometric mean over blocks of the arm's rate to that of ", out);
    words_arm(out, a, a->x->baseline);
    fputs(" in the same block and cell; interval: ", out);
    words_percent(out, 1 - a->family_alpha);
    fprintf(out, " %%%s, Holm-adjusted over ",
            a->x->until_decided ? " (a third of the error at each of three looks)" : "");
    if (a->n_comparisons)
        words_count(out, count_family(a), "comparison", "comparisons");
    else
        words_count(out, a->n_aa, "comparison", "comparisons");
    fputs("; same: the interval lies within ", out);
    words_percent(out, a->x->margin);
    fputs(" %", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void put_time(FILE *out, uint64_t realtime_ns, const char *format)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm tm;
    char text[40];

    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), format, &tm);
    fputs(text, out);
}

void text_when(FILE *out, const struct analysis *a)
{
    const uint64_t day_ns = 24ull * 3600 * 1000000000;
    uint64_t begin, end;

    if (!a->n_trials)
        return;
    begin = a->trials[0].began_realtime_ns;
    end = a->trials[a->n_trials - 1].began_realtime_ns + (uint64_t)(fmax(a->trials[a->n_trials - 1].wall_s, 0) * 1e9);
    put_time(out, begin, "%Y-%m-%d %H:%M");
    fputs(" to ", out);
    put_time(out, end, begin / day_ns == end / day_ns ? "%H:%M" : "%Y-%m-%d %H:%M");
    fputs(" UTC", out);
}

void text_settings(FILE *out, const struct experiment_settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        fputs(i ? ", " : "", out);
        words_clean(out, s->items[i].key);
        fputs("=", out);
        words_clean(out, s->items[i].value);
    }
}
