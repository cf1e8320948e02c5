/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <math.h>

#include "core/units.h"
#include "report/chart_style.h"

static bool has_figures(const struct page *p, const struct chart_set *set, uint32_t arm)
{
    for (size_t i = 0; i < set->n_cells; i++) {
        const struct arm_cell *c = chart_set_at(p->a, set, i, arm);

        if (c && c->n_ok)
            return true;
    }
    return false;
}

static void write_legend(const struct page *p, const struct chart_set *set)
{
    fputs("<ul class=\"legend\">\n", p->out);
    for (uint32_t i = 0; i < p->a->x->n_arms; i++) {
        fputs("<li>", p->out);
        chart_style_swatch(p->out, i);
        html_text(p->out, p->a->x->arms[i].name);
        fputs(has_figures(p, set, i) ? "</li>\n" : " <small>(no figures)</small></li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_heading(const struct page *p, const struct chart_set *set)
{
    fputs("<h3>", p->out);
    if (set->axis == EXPERIMENT_NONE) {
        fputs("By arm", p->out);
    } else {
        fputs("Against ", p->out);
        html_text(p->out, p->a->x->axes[set->axis].key);
    }
    if (*set->others && set->axis != EXPERIMENT_NONE) {
        fputs(", at ", p->out);
        html_text(p->out, set->others);
    }
    fputs("</h3>\n", p->out);
}

/* ------------------------------------------------------------------------------------------------
 * What is marked in the panels, in words
 */

static const char *value_at(const struct page *p, const struct line *l, size_t i)
{
    const struct experiment *x = p->a->x;

    return x->axes[l->axis].values[x->cells[l->cells[i]].value[l->axis]].text;
}

static void write_number(FILE *out, enum experiment_unit unit, double value)
{
    char text[UNITS_TEXT];

    if (unit == UNIT_BYTES)
        fputs(units_format_bytes((uint64_t)llround(value), text), out);
    else if (unit == UNIT_NS)
        fputs(units_format_time((uint64_t)llround(value), text), out);
    else
        fprintf(out, "%.3g%s", value, unit == UNIT_PERCENT ? " %" : "");
}

static void write_crossover(const struct page *p, const struct line *l, const struct stats_crossover *c)
{
    enum experiment_unit unit = p->a->x->axes[l->axis].unit;

    html_text(p->out, p->a->x->arms[l->arm].name);
    fprintf(p->out, " becomes %s than the baseline between ", c->rises ? "better" : "worse");
    html_text(p->out, value_at(p, l, c->before));
    fputs(" and ", p->out);
    html_text(p->out, value_at(p, l, c->after));
    if (isfinite(c->x)) {
        fputs(", near ", p->out);
        write_number(p->out, unit, c->x);
    }
    if (isfinite(c->low) && isfinite(c->high)) {
        fputs(" [", p->out);
        write_number(p->out, unit, c->low);
        fputs(", ", p->out);
        write_number(p->out, unit, c->high);
        fputc(']', p->out);
    }
    fputs(" (shaded). ", p->out);
}

static void write_marks(const struct page *p, const struct chart_set *set)
{
    for (uint32_t arm = 0; arm < p->a->x->n_arms; arm++) {
        const struct line *l = chart_set_line(p->a, set, arm);

        for (size_t i = 0; l && i < l->n_crossovers; i++)
            write_crossover(p, l, &l->crossovers[i]);
        if (!l || l->saturates >= l->n_cells || !analysis_arm_cell(p->a, l->cells[l->saturates], arm)->n_ok)
            continue;
        html_text(p->out, p->a->x->arms[arm].name);
        fprintf(p->out, " gains less than %g %% past ", 100 * p->a->x->margin);
        html_text(p->out, value_at(p, l, l->saturates));
        fputs(" (ringed). ", p->out);
    }
}

static void write_notes(const struct page *p, const struct chart_set *set)
{
    fputs("<p class=\"hint\">", p->out);
    write_marks(p, set);
    if (set->x)
        fputs("Latency: filled shapes are p50, open ones p99. ", p->out);
    else
        fputs("Latency: solid is p50, pale above it p99. ", p->out);
    if (set->panels[PANEL_WIRE] != CHART_NONE)
        fputs(set->x ? "On the wire: filled shapes are requests in flight, open ones their mean size (right axis). "
                     : "On the wire: requests in flight, with their mean size above where there is room. ",
              p->out);
    fprintf(p->out, "CPU: solid is USR, pale above it SYS, of %s. Whiskers: 95 %% interval of each figure.</p>\n",
            set->machine_cpu ? "the whole machine above its baseline"
                             : "the worker's process (the machine's figure is not known for all of these trials)");
}

static void write_set(const struct page *p, const struct chart_set *set)
{
    bool any = false;

    write_heading(p, set);
    for (size_t i = 0; i < N_PANELS; i++)
        any |= set->panels[i] != CHART_NONE;
    if (!any) {
        fputs("<p>No trial here has figures.</p>\n", p->out);
        return;
    }
    write_legend(p, set);
    fputs("<div class=\"panels\">\n", p->out);
    for (size_t i = 0; i < N_PANELS; i++)
        html_chart(p, set->panels[i]);
    fputs("</div>\n", p->out);
    if (set->n_left_out)
        fprintf(p->out, "<p class=\"hint\">%zu of %zu points are drawn, spread evenly.</p>\n", set->n_cells,
                set->n_cells + set->n_left_out);
    write_notes(p, set);
}

static void write_absent(const struct page *p)
{
    fputs("<p id=\"no-charts\">There are no charts here: ", p->out);
    html_text(p->out, p->undrawn->why);
    fputs(p->undrawn->is_absent ? ". Install it with <code>apt-get install gnuplot-nox</code> (or set "
                                  "<code>GNUPLOT</code> to the program)"
                                : ". Mend that (or set <code>GNUPLOT</code> to another one)",
          p->out);
    fputs(" and make the report again; all figures are in the tables.</p>\n", p->out);
}

void html_panels(const struct page *p)
{
    const struct chart_sets *sets = &p->book->sets;

    fputs("<section id=\"panels\">\n<h2>Charts</h2>\n", p->out);
    if (*p->undrawn->why) {
        write_absent(p);
    } else {
        for (size_t i = 0; i < sets->n; i++)
            write_set(p, &sets->items[i]);
        if (sets->n_left_out)
            fprintf(p->out, "<p class=\"hint\">%zu more set%s of panels %s left out; the tables have all cells.</p>\n",
                    sets->n_left_out, sets->n_left_out == 1 ? "" : "s", sets->n_left_out == 1 ? "is" : "are");
    }
    fputs("</section>\n", p->out);
}
