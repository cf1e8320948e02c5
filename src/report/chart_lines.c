/* SPDX-License-Identifier: MIT */
/* Panels against a swept number: a line an arm, whiskers, crossovers, saturation. */
#include "report/chart_panel.h"

#include <errno.h>
#include <math.h>

#include "core/util.h"
#include "report/chart_style.h"
#include "report/html_text.h"

static bool has_figure(const struct panel_view *v, uint32_t arm, unsigned part)
{
    for (size_t i = 0; i < v->set->n_cells; i++)
        if (isfinite(panel_figure(v, i, arm, part).center))
            return true;
    return false;
}

static bool has_whiskers(const struct panel_view *v, uint32_t arm, unsigned part)
{
    for (size_t i = 0; i < v->set->n_cells; i++)
        if (isfinite(panel_figure(v, i, arm, part).low))
            return true;
    return false;
}

/* Where a panel has two figures of an arm: which this is. */
static const char *part_words(const struct panel_view *v, unsigned part, bool in_data)
{
    static const char *const words[2][2][2] = {{{" p50", " p99"}, {", p50", ", p99"}},
                                               {{" in flight", " size"}, {", in flight", ", mean size"}}};

    if (panel_parts(v) < 2)
        return "";
    return words[v->panel == PANEL_WIRE][in_data][part];
}

static size_t write_data(struct chart_draft *d, const struct panel_view *v, uint32_t arm, unsigned part)
{
    size_t block = chart_block(d);

    fprintf(d->data, "# arm %u%s: %s, center, low and high of its 95 %% interval\n", arm + 1, part_words(v, part, true),
            "value of the axis");
    for (size_t i = 0; i < v->set->n_cells; i++) {
        struct panel_figure f = panel_figure(v, i, arm, part);

        chart_number(d->data, v->set->x[i]);
        chart_number(d->data, f.center);
        chart_number(d->data, f.low);
        chart_number(d->data, f.high);
        fputc('\n', d->data);
    }
    return block;
}

static void write_key(FILE *out, const struct panel_view *v, uint32_t arm, unsigned part)
{
    char title[600];

    snprintf(title, sizeof(title), "%s%s", v->a->x->arms[arm].name, part_words(v, part, false));
    fputs(" title ", out);
    chart_string(out, title, false);
}

static void plot(struct chart_draft *d, const struct panel_view *v, uint32_t arm, unsigned part, const char **separator)
{
    size_t block = write_data(d, v, arm, part);
    unsigned color = arm % CHART_COLORS;
    bool is_right = v->has_right && part;

    if (has_whiskers(v, arm, part) && !is_right) {
        fprintf(d->commands,
                "%sDATA index %zu using 1:3:(0):($4-$3) with vectors " CHART_WHISKER " lc rgb ARM%u lw 1.2 notitle",
                *separator, block, color);
        *separator = ", \\\n    ";
    }
    fprintf(d->commands, "%sDATA index %zu using 1:2 %swith linespoints lc rgb ARM%u lw %s dt %s pt %u ps 0.75",
            *separator, block, is_right ? "axes x1y2 " : "", color, part ? "1.2" : "2", chart_dash(arm),
            part ? chart_point_open(arm) : chart_point_filled(arm));
    write_key(d->commands, v, arm, part);
    *separator = ", \\\n    ";
}

/* ------------------------------------------------------------------------------------------------
 * Marks of the throughput panel
 */

static void shade(FILE *out, double from, double to, const char *opacity)
{
    fprintf(out,
            "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind fc rgb BAND fs transparent solid %s "
            "noborder\n",
            from, to, opacity);
}

static double number_at(const struct experiment *x, const struct line *l, size_t i)
{
    return x->axes[l->axis].values[x->cells[l->cells[i]].value[l->axis]].number;
}

static void mark_crossover(FILE *out, const struct panel_view *v, uint32_t arm, const struct line *l,
                           const struct stats_crossover *c, unsigned *n_marks)
{
    double before = number_at(v->a->x, l, c->before), after = number_at(v->a->x, l, c->after);
    _cleanup_free_ char *clean = html_clean(v->a->x->arms[arm].name), *name = clean ? html_shorten(clean, 24) : NULL;
    char text[160];

    shade(out, fmin(before, after), fmax(before, after), "0.18");
    if (isfinite(c->low) && isfinite(c->high))
        shade(out, c->low, c->high, "0.30");
    snprintf(text, sizeof(text), "crossover: %s", name ? name : "");
    fputs("set label ", out);
    chart_string(out, text, false);
    fprintf(out, " at %.9g, graph %.3f center font ',11' textcolor rgb MUTED\n",
            before > 0 && after > 0 ? sqrt(before * after) : (before + after) / 2, 0.97 - 0.055 * (*n_marks)++);
}

static void mark_crossovers(FILE *out, const struct panel_view *v)
{
    unsigned n_marks = 0;

    for (uint32_t arm = 0; arm < v->a->x->n_arms; arm++) {
        const struct line *l = chart_set_line(v->a, v->set, arm);

        for (size_t i = 0; l && i < l->n_crossovers; i++)
            mark_crossover(out, v, arm, l, &l->crossovers[i], &n_marks);
    }
}

static bool saturation(const struct panel_view *v, uint32_t arm, double *ret_x, double *ret_y)
{
    const struct line *l = chart_set_line(v->a, v->set, arm);

    if (!l || l->saturates >= l->n_cells)
        return false;
    *ret_x = number_at(v->a->x, l, l->saturates);
    *ret_y = panel_figure_of(v, analysis_arm_cell(v->a, l->cells[l->saturates], arm), 0).center;
    return isfinite(*ret_y);
}

static void ring(struct chart_draft *d, const struct panel_view *v, uint32_t arm, const char *separator)
{
    double x, y;
    size_t block;

    if (!saturation(v, arm, &x, &y))
        return;
    block = chart_block(d);
    fprintf(d->data, "# arm %u saturates here\n %.6g %.6g\n", arm + 1, x, y);
    fprintf(d->commands, "%sDATA index %zu using 1:2 with points lc rgb ARM%u lw 1.6 pt 6 ps 2 notitle", separator,
            block, arm % CHART_COLORS);
}

int panel_draw_lines(struct chart_draft *d, const struct panel_view *v)
{
    const char *separator = "plot ";
    int r = panel_write_x_numbers(d->commands, v);

    if (r < 0)
        return r;
    panel_write_y(d->commands, &v->y);
    if (v->has_right)
        panel_write_right(d->commands, &v->right);
    if (v->panel == PANEL_RATE)
        mark_crossovers(d->commands, v);
    for (uint32_t arm = 0; arm < v->a->x->n_arms; arm++)
        for (unsigned part = 0; part < panel_parts(v); part++)
            if (has_figure(v, arm, part))
                plot(d, v, arm, part, &separator);
    for (uint32_t arm = 0; arm < v->a->x->n_arms && v->panel == PANEL_RATE; arm++)
        ring(d, v, arm, separator);
    fputc('\n', d->commands);
    return 0;
}
