/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <math.h>
#include <string.h>

#include "core/units.h"
#include "report/chart_scale.h"
#include "report/sentences.h"
#include "report/svg.h"

/* Three significant digits from 0.1 on. */
static char *three_digits(double value, const char *unit, char *ret)
{
    snprintf(ret, HTML_FIGURE, "%.*f%s", value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return ret;
}

static char *per_second(double value, char *ret)
{
    struct chart_unit unit = chart_unit_requests(value);
    char name[16];

    snprintf(name, sizeof(name), " %s", unit.name);
    return three_digits(value / unit.factor, name, ret);
}

char *html_figure(enum metric m, double value, char *ret)
{
    if (!isfinite(value)) {
        snprintf(ret, HTML_FIGURE, "-");
        return ret;
    }
    switch (m) {
    case METRIC_RATE:
        return units_format_rate(value, ret);
    case METRIC_REQUESTS:
        return per_second(value, ret);
    case METRIC_P50:
    case METRIC_P99:
        return units_format_time((uint64_t)llround(fmax(value, 0)), ret);
    default:
        return three_digits(value, " s/GiB", ret);
    }
}

/* The class gives the shape: a page of thousands of rows stays small. */
void html_verdict(FILE *out, const struct stats_effect *e)
{
    static const char classes[] = {[VERDICT_NONE] = 'x',
                                   [VERDICT_UNDECIDED] = 'u',
                                   [VERDICT_SAME] = 's',
                                   [VERDICT_BETTER] = 'b',
                                   [VERDICT_WORSE] = 'w'};

    fprintf(out, "<b class=\"v %c\">%s</b>", classes[e->verdict],
            e->verdict == VERDICT_NONE ? "no figure" : stats_verdict_name(e->verdict));
    if (e->verdict != VERDICT_UNDECIDED || !e->blocks_low)
        return;
    fputs(" <small>", out);
    words_needed(out, e->blocks_low, e->blocks_high);
    fputs("</small>", out);
}

void html_interval(FILE *out, const struct stats_effect *e)
{
    if (isfinite(e->low) && isfinite(e->high))
        words_interval(out, e->low, e->high);
    else
        fputc('-', out);
}

/* ------------------------------------------------------------------------------------------------
 * Drawn intervals
 */

double html_forest_scale(const struct analysis *a)
{
    double widest = log(1.1);

    for (size_t i = 0; i < a->n_comparisons; i++) {
        const struct stats_effect *e = &a->comparisons[i].metric[METRIC_RATE];

        if (!a->comparisons[i].ranked_apart && isfinite(e->low) && isfinite(e->high) && e->low > 0)
            widest = fmax(widest, fmax(fabs(log(e->low)), fabs(log(e->high))));
    }
    return fmin(widest * 1.05, log(8));
}

/* Percent of the width. */
static double place(const struct page *p, double ratio)
{
    return fmax(0, fmin(100, 50 + 50 * log(ratio) / p->forest_log));
}

/* Room for the longest label of a cell, within reason. */
static size_t label_width(const struct experiment *x)
{
    size_t widest = 6;

    for (size_t i = 0; i < x->n_cells; i++)
        if (strlen(x->cells[i].label) > widest)
            widest = strlen(x->cells[i].label);
    return widest < 26 ? widest : 26;
}

void html_table_style(const struct page *p)
{
    double low = place(p, 1 / (1 + p->a->x->margin)), high = place(p, 1 + p->a->x->margin);

    fprintf(p->out, "style=\"--c:%zuch;--ml:%.1f%%;--mh:%.1f%%\"", label_width(p->a->x), low, high);
}

void html_forest(const struct page *p, const struct stats_effect *e)
{
    double low, high;

    if (!isfinite(e->low) || !isfinite(e->high) || e->low <= 0)
        return;
    low = place(p, e->low);
    high = place(p, e->high);
    fprintf(p->out, "<i style=\"--l:%.1f%%;--w:%.1f%%;--m:%.1f%%\"></i>", low, high - low, place(p, e->ratio));
}

void html_arm(FILE *out, const struct analysis *a, uint32_t cell, uint32_t arm)
{
    char label[400];

    html_text(out, analysis_arm_label(a, cell, arm, label, sizeof(label)));
}

void html_chart(const struct page *p, size_t index)
{
    const struct chart *c;
    struct svg_look look;
    char prefix[24];

    if (index == CHART_NONE || !p->book->charts.items[index].svg)
        return;
    c = &p->book->charts.items[index];
    snprintf(prefix, sizeof(prefix), "c%zu-", index);
    look = (struct svg_look){prefix, c->width, c->height, c->title, c->description};
    fprintf(p->out, "<figure class=\"chart\" data-chart=\"%s\">", c->name);
    svg_write(p->out, c->svg, &look);
    fputs("</figure>\n", p->out);
}
