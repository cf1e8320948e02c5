/* SPDX-License-Identifier: MIT */
/* Along each axis with numbers, the others held: crossovers and saturation. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"

static bool has_numbers(const struct experiment_axis *axis)
{
    for (size_t i = 0; i < axis->n_values; i++)
        if (!isfinite(axis->values[i].number))
            return false;
    return axis->unit != UNIT_NONE && axis->n_values >= 2;
}

/* ------------------------------------------------------------------------------------------------
 * Cells of a line stand together once they are sorted by the values of the other axes
 */

struct order {
    const struct experiment *x;
    uint32_t axis;
};

static int compare_others(const struct order *o, uint32_t a, uint32_t b)
{
    const uint32_t *x = o->x->cells[a].value, *y = o->x->cells[b].value;

    for (uint32_t i = 0; i < o->x->n_axes; i++)
        if (i != o->axis && x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int compare_cells(const void *a, const void *b, void *context)
{
    const struct order *o = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t at = o->x->cells[x].value[o->axis], other = o->x->cells[y].value[o->axis];
    int others = compare_others(o, x, y);

    return others ? others : (at > other) - (at < other);
}

/* Whether these cells are all of the axis's values, once each, and one line. */
static bool is_line(const struct order *o, const uint32_t *cells)
{
    for (uint32_t i = 0; i < o->x->axes[o->axis].n_values; i++)
        if (o->x->cells[cells[i]].value[o->axis] != i || compare_others(o, cells[0], cells[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * One line
 */

/* Room for one line, and where its points stand in rising order. */
struct workplace {
    uint32_t *rising;             /* indices into the axis's values */
    struct stats_point *points;   /* of those with x > 0 */
    size_t *places;               /* of each point: its index in the line */
    struct stats_figure *figures; /* in rising order */
    double *logs;                 /* n_blocks for each point */
    double *baseline;             /* n_blocks */
    uint32_t n_blocks;
};

static int compare_numbers(const void *a, const void *b, void *context)
{
    const struct experiment_axis *axis = context;
    double x = axis->values[*(const uint32_t *)a].number, y = axis->values[*(const uint32_t *)b].number;

    return (x > y) - (x < y);
}

/* Of each block; NaN where there is no figure. */
static void take_logs(const struct analysis *a, const struct analysis_index *index, size_t pair, uint32_t n_blocks,
                      double *ret)
{
    for (uint32_t i = 0; i < n_blocks; i++)
        ret[i] = NAN;
    for (size_t i = index->first[pair]; i < index->first[pair + 1]; i++) {
        const struct store_trial *t = &a->trials[index->trials[i]];

        if (analysis_has_figures(t) && t->figures.metric[METRIC_RATE] > 0)
            ret[a->x->rows[t->row].block] = log(t->figures.metric[METRIC_RATE]);
    }
}

static void take_log_ratios(const struct analysis *a, const struct analysis_index *index, uint32_t cell, uint32_t arm,
                            const struct workplace *w, double *ret)
{
    size_t first = (size_t)cell * a->x->n_arms;

    take_logs(a, index, first + arm, w->n_blocks, ret);
    take_logs(a, index, first + a->x->baseline, w->n_blocks, w->baseline);
    for (uint32_t i = 0; i < w->n_blocks; i++)
        ret[i] -= w->baseline[i];
}

static bool is_ranked(const struct comparison *c)
{
    return c && !c->ranked_apart;
}

static size_t make_points(const struct analysis *a, const struct analysis_index *index, const struct line *l,
                          struct workplace *w)
{
    const struct experiment_axis *axis = &a->x->axes[l->axis];
    size_t n = 0;

    for (size_t i = 0; i < l->n_cells; i++) {
        uint32_t place = w->rising[i], cell = l->cells[place];
        const struct comparison *c = analysis_comparison(a, cell, l->arm);
        double *logs = w->logs + n * w->n_blocks;

        if (!is_ranked(c) || !(axis->values[place].number > 0))
            continue;
        take_log_ratios(a, index, cell, l->arm, w, logs);
        w->points[n] = (struct stats_point){axis->values[place].number, logs, c->metric[METRIC_RATE]};
        w->places[n++] = place;
    }
    return n;
}

static void find_crossovers(const struct analysis *a, const struct analysis_index *index, struct line *l,
                            struct workplace *w)
{
    size_t n;

    if (l->arm == a->x->baseline || l->arm == a->x->aa)
        return;
    n = make_points(a, index, l, w);
    l->n_crossovers =
        stats_crossovers(w->points, n, w->n_blocks, a->family_alpha, l->crossovers, ARRAY_SIZE(l->crossovers));
    for (size_t i = 0; i < l->n_crossovers; i++) {
        l->crossovers[i].before = w->places[l->crossovers[i].before];
        l->crossovers[i].after = w->places[l->crossovers[i].after];
    }
}

/* A point with fewer blocks than a verdict needs says nothing of its neighbours either. */
static bool few_blocks(const struct stats_figure *figures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (figures[i].n && figures[i].n < STATS_MIN_BLOCKS)
            return true;
    return false;
}

static void find_saturation(const struct analysis *a, struct line *l, struct workplace *w)
{
    size_t at;

    for (size_t i = 0; i < l->n_cells; i++)
        w->figures[i] = analysis_arm_cell(a, l->cells[w->rising[i]], l->arm)->metric[METRIC_RATE];
    at = few_blocks(w->figures, l->n_cells) ? l->n_cells : stats_saturation(w->figures, l->n_cells, a->x->margin, true);
    l->saturates = at < l->n_cells ? w->rising[at] : l->n_cells;
}

static int add_line(struct analysis *a, const struct analysis_index *index, uint32_t axis, uint32_t arm,
                    const uint32_t *cells, struct workplace *w)
{
    struct line *l = &a->lines[a->n_lines];

    *l = (struct line){.axis = axis, .arm = arm, .first_cell = cells[0], .n_cells = a->x->axes[axis].n_values};
    l->cells = calloc(l->n_cells, sizeof(*l->cells));
    if (!l->cells)
        return -ENOMEM;
    a->n_lines++;
    memcpy(l->cells, cells, l->n_cells * sizeof(*l->cells));
    find_crossovers(a, index, l, w);
    find_saturation(a, l, w);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static int make_workplace(const struct analysis *a, const struct experiment_axis *axis, struct workplace *w)
{
    size_t n = axis->n_values;
    struct experiment_axis *context = (struct experiment_axis *)axis; /* qsort_r takes no const */

    for (size_t i = 0; i < a->n_trials; i++)
        if (a->x->rows[a->trials[i].row].block >= w->n_blocks)
            w->n_blocks = a->x->rows[a->trials[i].row].block + 1;
    w->rising = calloc(n, sizeof(*w->rising));
    w->points = calloc(n, sizeof(*w->points));
    w->places = calloc(n, sizeof(*w->places));
    w->figures = calloc(n, sizeof(*w->figures));
    w->logs = calloc(n * w->n_blocks + 1, sizeof(*w->logs));
    w->baseline = calloc((size_t)w->n_blocks + 1, sizeof(*w->baseline));
    if (!w->rising || !w->points || !w->places || !w->figures || !w->logs || !w->baseline)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        w->rising[i] = i;
    qsort_r(w->rising, n, sizeof(*w->rising), compare_numbers, context);
    return 0;
}

static void free_workplace(struct workplace *w)
{
    free(w->rising);
    free(w->points);
    free(w->places);
    free(w->figures);
    free(w->logs);
    free(w->baseline);
}

static int add_axis(struct analysis *a, const struct analysis_index *index, uint32_t axis, uint32_t *cells)
{
    struct order o = {a->x, axis};
    struct workplace w = {0};
    size_t n = a->x->axes[axis].n_values;
    int r = make_workplace(a, &a->x->axes[axis], &w);

    for (uint32_t i = 0; i < a->x->n_cells; i++)
        cells[i] = i;
    qsort_r(cells, a->x->n_cells, sizeof(*cells), compare_cells, &o);
    for (size_t i = 0; !r && i + n <= a->x->n_cells;) {
        if (!is_line(&o, cells + i)) {
            i++;
            continue;
        }
        for (uint32_t arm = 0; !r && arm < a->x->n_arms; arm++)
            r = add_line(a, index, axis, arm, cells + i, &w);
        i += n;
    }
    free_workplace(&w);
    return r;
}

int analysis_lines(struct analysis *a, const struct analysis_index *index)
{
    _cleanup_free_ uint32_t *cells = calloc(a->x->n_cells, sizeof(*cells));
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; i < a->x->n_axes; i++)
        if (has_numbers(&a->x->axes[i]))
            n += a->x->n_cells / a->x->axes[i].n_values;
    a->lines = calloc(n * a->x->n_arms + 1, sizeof(*a->lines));
    if (!cells || !a->lines)
        return -ENOMEM;
    for (uint32_t i = 0; !r && i < a->x->n_axes; i++)
        if (has_numbers(&a->x->axes[i]))
            r = add_axis(a, index, i, cells);
    return r;
}
