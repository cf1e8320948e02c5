/* SPDX-License-Identifier: MIT */
#include "report/chart_time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/chart_panel.h"
#include "report/chart_style.h"
#include "report/html_text.h"

struct dot {
    uint32_t row, arm;
    double percent; /* against the mean of its arm in its cell */
    bool is_outlier;
};

static bool is_outlier(const struct analysis *a, uint32_t row)
{
    for (size_t i = 0; i < a->n_outliers; i++)
        if (a->outliers[i].row == row)
            return true;
    return false;
}

/* Every so many trials of a long experiment; outliers always. */
static size_t take(const struct analysis *a, struct dot *ret, struct chart_order *order)
{
    size_t step = a->n_trials / CHART_MAX_POINTS + 1, n = 0;

    for (size_t i = 0; i < a->n_trials; i++) {
        const struct experiment_row *row = &a->x->rows[a->trials[i].row];
        double center = analysis_arm_cell(a, row->cell, row->arm)->metric[METRIC_RATE].center;
        double rate = a->trials[i].figures.metric[METRIC_RATE];
        struct dot dot = {a->trials[i].row, row->arm, 100 * (rate / center - 1), false};

        if (a->trials[i].status != TRIAL_OK || !isfinite(dot.percent))
            continue;
        dot.is_outlier = is_outlier(a, dot.row);
        order->n_outliers += dot.is_outlier;
        if (i % step == 0 || dot.is_outlier)
            ret[n++] = dot;
        else
            order->n_left_out++;
    }
    order->n_points = n;
    return n;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Half height of the axis: what all need, but at most three times what nine in ten do, or 40 percent. */
static double reach(const struct dot *dots, size_t n, double margin)
{
    double *far = calloc(n, sizeof(*far)), ret, most;

    if (!far)
        return NAN;
    for (size_t i = 0; i < n; i++)
        far[i] = fabs(dots[i].percent);
    qsort(far, n, sizeof(*far), by_size);
    most = fmax(far[(n - 1) * 9 / 10], 100 * margin);
    ret = fmin(far[n - 1], fmax(3 * most, 40));
    free(far);
    return fmax(ret, 150 * margin) * 1.1;
}

static double clamp(double value, double limit)
{
    return fmax(-limit, fmin(limit, value));
}

static void plot_dots(struct chart_draft *d, const struct analysis *a, const struct dot *dots, size_t n, uint32_t arm,
                      double limit)
{
    size_t block = CHART_NONE;

    for (size_t i = 0; i < n; i++) {
        if (dots[i].arm != arm)
            continue;
        if (block == CHART_NONE) {
            block = chart_block(d);
            fprintf(d->data, "# arm %u: trial, percent above the mean of this arm in its cell\n", arm + 1);
        }
        fprintf(d->data, " %u %.4g\n", dots[i].row + 1, clamp(dots[i].percent, limit));
    }
    if (block == CHART_NONE)
        return;
    fprintf(d->commands, ", \\\n    DATA index %zu using 1:2 with points lc rgb ARM%u pt %u ps %s title ", block,
            arm % CHART_COLORS, chart_point_filled(arm), n > 500 ? "0.4" : "0.6");
    chart_string(d->commands, a->x->arms[arm].name, false);
}

static void plot_rings(struct chart_draft *d, const struct dot *dots, size_t n, double limit)
{
    size_t block = CHART_NONE;

    for (size_t i = 0; i < n; i++) {
        if (!dots[i].is_outlier)
            continue;
        if (block == CHART_NONE) {
            block = chart_block(d);
            fputs("# outliers\n", d->data);
        }
        fprintf(d->data, " %u %.4g\n", dots[i].row + 1, clamp(dots[i].percent, limit));
    }
    if (block != CHART_NONE)
        fprintf(d->commands,
                ", \\\n    DATA index %zu using 1:2 with points lc rgb TEXT lw 1.4 pt 6 ps 1.5 title "
                "'outlier'",
                block);
}

/* The zero line, or the drift where it is known: it passes through 1 in the middle. */
static void plot_level(struct chart_draft *d, const struct analysis *a, double limit)
{
    double end = a->drift.known ? sqrt(a->drift.change) : 1;

    chart_block(d);
    fprintf(d->data, "# %s\n 1 %.4g\n %zu %.4g\n", a->drift.known ? "drift" : "level",
            clamp(100 * (1 / end - 1), limit), a->x->n_rows, clamp(100 * (end - 1), limit));
    fprintf(d->commands, "plot DATA index 0 using 1:2 with lines lc rgb MUTED lw 1.4 dt (6,4) title '%s'",
            a->drift.known ? "drift" : "mean");
}

/* Lines where blocks begin, while there is room for them. */
static void mark_blocks(FILE *out, const struct analysis *a)
{
    if (a->x->n_blocks > 50)
        return;
    for (size_t i = 1; i < a->x->n_rows; i++)
        if (a->x->rows[i].block != a->x->rows[i - 1].block)
            fprintf(out, "set arrow from %.1f, graph 0 to %.1f, graph 1 nohead back lw 0.7 lc rgb GRID\n",
                    (double)i + 0.5, (double)i + 0.5);
}

static void write_axes(FILE *out, const struct analysis *a, double limit)
{
    struct chart_scale x, y;
    char text[CHART_TICK_TEXT];

    chart_scale_span(0, (double)a->x->n_rows, &x);
    chart_scale_span(-limit, limit, &y);
    fprintf(out, "set xrange [0:%zu]\nset yrange [%.9g:%.9g]\nset ytics (", a->x->n_rows + 1, -limit * 1.05,
            limit * 1.05);
    for (size_t i = 0; i < y.n_ticks; i++)
        fprintf(out, "%s'%s%s%%%%' %.9g", i ? ", " : "", y.ticks[i] > 0 ? "+" : "", chart_tick_text(y.ticks[i], text),
                y.ticks[i]);
    fputs(")\nset xtics (", out);
    for (size_t i = 0; i < x.n_ticks; i++)
        fprintf(out, "%s'%s' %.9g", i ? ", " : "", chart_tick_text(x.ticks[i], text), x.ticks[i]);
    fputs(")\nset xlabel 'trial' textcolor rgb MUTED\nset xzeroaxis lt 1 lw 1 lc rgb BAND\n", out);
    mark_blocks(out, a);
}

static int draw(const struct analysis *a, const struct dot *dots, size_t n, double limit, struct charts *list,
                size_t *ret_index)
{
    char *title = strdup("Rate of each trial against the mean of its arm in its cell"), *description = NULL;
    struct chart_draft d;
    int r;

    if (asprintf(&description, "%zu trials in the order in which they ran; drift %+.1f %% over the experiment.", n,
                 a->drift.known ? 100 * (a->drift.change - 1) : 0.0) < 0)
        description = NULL;
    r = chart_begin(&d, "order", title, description);
    if (r < 0)
        return chart_end(&d, false, list, NULL);
    d.chart.width = 960;
    d.chart.height = 300;
    write_axes(d.commands, a, limit);
    plot_level(&d, a, limit);
    for (uint32_t arm = 0; arm < a->x->n_arms; arm++)
        plot_dots(&d, a, dots, n, arm, limit);
    plot_rings(&d, dots, n, limit);
    fputc('\n', d.commands);
    return chart_end(&d, true, list, ret_index);
}

int chart_order_make(const struct analysis *a, struct charts *list, struct chart_order *ret)
{
    struct chart_order order = {.chart = CHART_NONE};
    _cleanup_free_ struct dot *dots = calloc(a->n_trials + 1, sizeof(*dots));
    double limit;
    size_t n;
    int r = 0;

    if (!dots)
        return -ENOMEM;
    n = take(a, dots, &order);
    limit = n > 1 ? reach(dots, n, a->x->margin) : 1;
    if (isnan(limit))
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        order.n_beyond += fabs(dots[i].percent) > limit;
    if (n > 1)
        r = draw(a, dots, n, limit, list, &order.chart);
    if (!r)
        *ret = order;
    return r;
}
