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

/* Points of one trial's line, and where they go. */
struct piece {
    double begin_s, end_s, rate;
};

struct drawing {
    struct store *s;
    const struct analysis *a;
    struct spur_error *e;
    const uint32_t *rows; /* of the cell's trials that are drawn */
    size_t n_rows;
    struct piece *pieces; /* CHART_MAX_PIECES for each row */
    size_t *n_pieces;
    double max_rate, max_s;
};

/* Neighbouring intervals together, until they are few enough. */
static size_t merge(const struct store_interval *intervals, size_t n, struct piece *ret)
{
    size_t step = (n + CHART_MAX_PIECES - 1) / CHART_MAX_PIECES, kept = 0;

    for (size_t i = 0; i < n; i += step) {
        size_t last = i + step < n ? i + step - 1 : n - 1;
        double bytes = 0, length = intervals[last].end_s - intervals[i].begin_s;

        for (size_t k = i; k <= last; k++)
            bytes += intervals[k].bytes;
        ret[kept].begin_s = intervals[i].begin_s;
        ret[kept].end_s = intervals[last].end_s;
        ret[kept++].rate = length > 0 ? bytes / length : NAN;
    }
    return kept;
}

static int read_row(struct drawing *d, size_t i)
{
    struct piece *pieces = d->pieces + i * CHART_MAX_PIECES;
    struct store_interval *intervals = NULL;
    size_t n = 0;
    int r = store_intervals(d->s, d->rows[i], &intervals, &n, d->e);

    if (r < 0)
        return r;
    d->n_pieces[i] = merge(intervals, n, pieces);
    if (n)
        d->max_s = fmax(d->max_s, intervals[n - 1].end_s);
    for (size_t k = 0; k < d->n_pieces[i]; k++)
        d->max_rate = fmax(d->max_rate, pieces[k].rate);
    free(intervals);
    return 0;
}

static void write_point(FILE *out, double at_s, double rate)
{
    chart_number(out, at_s);
    chart_number(out, rate);
    fputc('\n', out);
}

/* Each piece in its middle; the first and the last reach to the ends of the window. */
static void write_row(FILE *out, const struct drawing *d, size_t i, double factor)
{
    const struct piece *pieces = d->pieces + i * CHART_MAX_PIECES;
    size_t n = d->n_pieces[i];

    write_point(out, pieces[0].begin_s, pieces[0].rate / factor);
    for (size_t k = 0; k < n; k++)
        write_point(out, (pieces[k].begin_s + pieces[k].end_s) / 2, pieces[k].rate / factor);
    write_point(out, pieces[n - 1].end_s, pieces[n - 1].rate / factor);
    fputc('\n', out); /* lifts the pen */
}

static void plot_arm(struct chart_draft *c, const struct drawing *d, uint32_t arm, double factor,
                     const char **separator)
{
    const struct experiment *x = d->a->x;
    size_t block = CHART_NONE;

    for (size_t i = 0; i < d->n_rows; i++) {
        if (x->rows[d->rows[i]].arm != arm || !d->n_pieces[i])
            continue;
        if (block == CHART_NONE) {
            block = chart_block(c);
            fprintf(c->data, "# arm %u: seconds from t0, rate; a trial, an empty line, the next\n", arm + 1);
        }
        write_row(c->data, d, i, factor);
    }
    if (block == CHART_NONE)
        return;
    fprintf(c->commands, "%sDATA index %zu using 1:2 with lines lc rgb ARM%u lw 1.2 dt %s title ", *separator, block,
            arm % CHART_COLORS, chart_dash(arm));
    chart_string(c->commands, x->arms[arm].name, false);
    *separator = ", \\\n    ";
}

static int draw(const struct drawing *d, const char *name, uint32_t cell, struct charts *list, size_t *ret_index)
{
    struct chart_unit unit = chart_unit_rate(d->max_rate);
    _cleanup_free_ char *label = html_clean(d->a->x->cells[cell].label),
                        *is_short = label ? html_shorten(label, 34) : NULL;
    char *title = NULL, *description = NULL;
    struct chart_scale x, y;
    struct chart_draft c;
    const char *separator = "plot ";
    int r;

    if (!is_short || asprintf(&title, "%s, %s", is_short, unit.name) < 0)
        title = NULL;
    if (!label || asprintf(&description, "Rate over the seconds of each trial, %s.", label) < 0)
        description = NULL;
    r = chart_begin(&c, name, title, description);
    if (r < 0)
        return chart_end(&c, false, list, NULL);
    c.chart.width = 380;
    c.chart.height = 220;
    chart_scale_span(0, d->max_s, &x);
    chart_scale_zero(d->max_rate / unit.factor, &y);
    panel_write_y(c.commands, &y);
    fprintf(c.commands, "set xrange [0:%.9g]\nset xlabel 's' textcolor rgb MUTED offset 0,0.4\n", d->max_s);
    for (uint32_t arm = 0; arm < d->a->x->n_arms; arm++)
        plot_arm(&c, d, arm, unit.factor, &separator);
    fputc('\n', c.commands);
    return chart_end(&c, true, list, ret_index);
}

static int draw_cell(struct drawing *d, size_t number, struct chart_cell *ret, struct charts *list)
{
    char name[32];
    int r = 0;

    d->max_rate = d->max_s = 0;
    d->pieces = calloc(d->n_rows + 1, CHART_MAX_PIECES * sizeof(*d->pieces));
    d->n_pieces = calloc(d->n_rows + 1, sizeof(*d->n_pieces));
    if (!d->pieces || !d->n_pieces)
        r = -ENOMEM;
    for (size_t i = 0; i < d->n_rows && !r; i++)
        r = read_row(d, i);
    for (size_t i = 0; i < d->n_rows && !r; i++)
        ret->n_drawn += d->n_pieces[i] > 0;
    snprintf(name, sizeof(name), "time-%zu", number);
    if (!r && d->max_rate > 0 && d->max_s > 0)
        r = draw(d, name, ret->cell, list, &ret->chart);
    free(d->pieces);
    free(d->n_pieces);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Which trials
 */

/* Every so many blocks, so that arms stay together. */
static uint32_t block_step(const struct analysis *a, size_t n_trials)
{
    uint32_t step = 1;

    while (n_trials / step > CHART_MAX_TRIALS && step < a->x->n_blocks)
        step++;
    return step;
}

static size_t count_trials(const struct analysis *a, uint32_t cell)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_trials; i++)
        n += a->trials[i].status == TRIAL_OK && a->x->rows[a->trials[i].row].cell == cell;
    return n;
}

static size_t pick_rows(const struct analysis *a, const struct chart_cell *c, uint32_t *ret)
{
    uint32_t step = block_step(a, c->n_trials);
    size_t n = 0;

    for (size_t i = 0; i < a->n_trials && n < CHART_MAX_TRIALS; i++) {
        const struct experiment_row *row = &a->x->rows[a->trials[i].row];

        if (a->trials[i].status == TRIAL_OK && row->cell == c->cell && row->block % step == 0)
            ret[n++] = a->trials[i].row;
    }
    return n;
}

int chart_times_make(struct store *s, const struct analysis *a, struct charts *list, struct chart_times *ret,
                     struct spur_error *e)
{
    size_t n_cells = a->x->n_cells, n = n_cells < CHART_MAX_CELLS ? n_cells : CHART_MAX_CELLS;
    struct chart_times times = {calloc(n + 1, sizeof(*times.items)), n, n_cells - n};
    uint32_t rows[CHART_MAX_TRIALS];
    struct drawing d = {.s = s, .a = a, .e = e, .rows = rows};
    int r = times.items ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && !r; i++) {
        struct chart_cell *c = &times.items[i];

        c->chart = CHART_NONE;
        c->cell = (uint32_t)(n < 2 ? 0 : i * (n_cells - 1) / (n - 1));
        c->n_trials = count_trials(a, c->cell);
        d.n_rows = pick_rows(a, c, rows);
        r = draw_cell(&d, i + 1, c, list);
    }
    if (r < 0)
        chart_times_free(&times);
    else
        *ret = times;
    return r;
}

void chart_times_free(struct chart_times *times)
{
    free(times->items);
    memset(times, 0, sizeof(*times));
}
