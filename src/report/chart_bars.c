/* SPDX-License-Identifier: MIT */
/* Panels of bars: CPU cores stacked, and every panel against names or of arms alone. */
#include "report/chart_panel.h"

#include <math.h>

#include "core/units.h"
#include "report/chart_style.h"

#define MOST_SIZES 12
#define CLUSTER    0.8 /* width of all arms together; places are 1 apart */

/* A share of CPU time that is not known is drawn as nothing beside one that is. */
static void stack(struct panel_figure *lower, struct panel_figure *upper)
{
    if (!isfinite(lower->center) && isfinite(upper->center))
        *lower = (struct panel_figure){0, NAN, NAN};
    if (isfinite(upper->center))
        *upper = (struct panel_figure){lower->center + upper->center, NAN, NAN};
}

static void take(const struct panel_view *v, size_t point, uint32_t arm, struct panel_figure *ret_lower,
                 struct panel_figure *ret_upper)
{
    *ret_lower = panel_figure(v, point, arm, 0);
    *ret_upper = (struct panel_figure){NAN, NAN, NAN};
    if (panel_parts(v) > 1)
        *ret_upper = panel_figure(v, point, arm, 1);
    if (v->panel == PANEL_CPU)
        stack(ret_lower, ret_upper);
}

static void write_bar(struct chart_draft *d, const struct panel_view *v, size_t point, uint32_t arm)
{
    double width = CLUSTER / (double)v->a->x->n_arms, left = (double)point - CLUSTER / 2 + arm * width;
    struct panel_figure lower, upper;

    take(v, point, arm, &lower, &upper);
    fprintf(d->data, " %.6g %.6g %.6g", left + width / 2, left + width * 0.06, left + width * 0.94);
    chart_number(d->data, lower.center);
    chart_number(d->data, lower.low);
    chart_number(d->data, lower.high);
    chart_number(d->data, upper.center);
    chart_number(d->data, upper.low);
    chart_number(d->data, upper.high);
    fputc('\n', d->data);
}

struct seen {
    bool lower, upper, lower_interval, upper_interval;
};

static struct seen look(const struct panel_view *v, uint32_t arm)
{
    struct seen ret = {0};

    for (size_t i = 0; i < v->set->n_cells; i++) {
        struct panel_figure lower, upper;

        take(v, i, arm, &lower, &upper);
        ret.lower |= isfinite(lower.center);
        ret.upper |= isfinite(lower.center) && isfinite(upper.center);
        ret.lower_interval |= isfinite(lower.low);
        ret.upper_interval |= isfinite(upper.low);
    }
    return ret;
}

static void whiskers(struct chart_draft *d, size_t block, const char *columns)
{
    fprintf(d->commands, ", \\\n    DATA index %zu using %s with vectors " CHART_WHISKER " lc rgb TEXT lw 1 notitle",
            block, columns);
}

static void plot(struct chart_draft *d, const struct panel_view *v, uint32_t arm, const char *separator)
{
    size_t block = chart_block(d);
    struct seen seen = look(v, arm);
    unsigned color = arm % CHART_COLORS;

    fprintf(d->data, "# arm %u: place, left, right, then center, low and high of the figure%s\n", arm + 1,
            v->panel == PANEL_CPU       ? ": USR, and USR + SYS"
            : v->panel == PANEL_LATENCY ? "s: p50 and p99"
                                        : "");
    for (size_t i = 0; i < v->set->n_cells; i++)
        write_bar(d, v, i, arm);
    fprintf(d->commands,
            "%sDATA index %zu using 1:4:2:3:(0):4 with boxxyerror lc rgb ARM%u fs solid 1.0 noborder title ", separator,
            block, color);
    chart_string(d->commands, v->a->x->arms[arm].name, false);
    if (seen.upper)
        fprintf(d->commands,
                ", \\\n    DATA index %zu using 1:7:2:3:4:7 with boxxyerror lc rgb ARM%u fs transparent solid 0.40 "
                "noborder notitle",
                block, color);
    if (seen.lower_interval && v->panel != PANEL_CPU)
        whiskers(d, block, "1:5:(0):($6-$5)");
    if (seen.upper_interval && v->panel != PANEL_CPU)
        whiskers(d, block, "1:8:(0):($9-$8)");
}

/* On the wire: the size of requests above each bar, where there is room for it. */
static void write_sizes(FILE *out, const struct panel_view *v)
{
    size_t n_arms = v->a->x->n_arms;
    char text[UNITS_TEXT];

    for (size_t i = 0; i < v->set->n_cells && v->set->n_cells * n_arms <= MOST_SIZES; i++)
        for (uint32_t arm = 0; arm < n_arms; arm++) {
            const struct arm_cell *c = chart_set_at(v->a, v->set, i, arm);
            double y = panel_figure(v, i, arm, 0).center, size = c ? c->wire[WIRE_MEAN_BYTES].center : NAN;

            if (!isfinite(y) || !isfinite(size))
                continue;
            fputs("set label ", out);
            chart_string(out, units_format_mean_bytes(size, text), false);
            fprintf(out, " at %.6g,%.6g center offset 0,0.6 font ',10' textcolor rgb MUTED\n",
                    (double)i - CLUSTER / 2 + (arm + 0.5) * CLUSTER / (double)n_arms, y);
        }
}

int panel_draw_bars(struct chart_draft *d, const struct panel_view *v)
{
    const char *separator = "plot ";
    int r = panel_write_x_names(d->commands, v);

    if (r < 0)
        return r;
    panel_write_y(d->commands, &v->y);
    if (v->panel == PANEL_WIRE)
        write_sizes(d->commands, v);
    for (uint32_t arm = 0; arm < v->a->x->n_arms; arm++)
        if (look(v, arm).lower) {
            plot(d, v, arm, separator);
            separator = ", \\\n    ";
        }
    fputc('\n', d->commands);
    return 0;
}
