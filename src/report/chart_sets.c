/* SPDX-License-Identifier: MIT */
#include "report/chart_sets.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/html_text.h"

const struct arm_cell *chart_set_at(const struct analysis *a, const struct chart_set *set, size_t point, uint32_t arm)
{
    return set->cells[point] == EXPERIMENT_NONE ? NULL : analysis_arm_cell(a, set->cells[point], arm);
}

static bool same_but(const struct experiment *x, uint32_t axis, uint32_t cell, uint32_t other)
{
    for (uint32_t i = 0; i < x->n_axes; i++)
        if (i != axis && x->cells[cell].value[i] != x->cells[other].value[i])
            return false;
    return true;
}

const char *chart_set_value(const struct analysis *a, const struct chart_set *set, size_t point)
{
    const struct experiment *x = a->x;

    if (set->axis == EXPERIMENT_NONE || set->cells[point] == EXPERIMENT_NONE)
        return "";
    return x->axes[set->axis].values[x->cells[set->cells[point]].value[set->axis]].text;
}

const struct line *chart_set_line(const struct analysis *a, const struct chart_set *set, uint32_t arm)
{
    for (size_t i = 0; i < a->n_lines; i++) {
        const struct line *l = &a->lines[i];

        if (l->axis == set->axis && l->arm == arm && same_but(a->x, set->axis, l->first_cell, set->first_cell))
            return l;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------
 * Making them
 */

static char *name_others(const struct experiment *x, uint32_t axis, uint32_t cell)
{
    char *text = NULL, *clean;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *comma = "";

    if (!out)
        return NULL;
    for (uint32_t i = 0; i < x->n_axes; i++)
        if (i != axis) {
            fprintf(out, "%s%s %s", comma, x->axes[i].key, x->axes[i].values[x->cells[cell].value[i]].text);
            comma = ", ";
        }
    if (fclose(out))
        return free(text), NULL;
    clean = html_clean(text);
    free(text);
    return clean;
}

static bool knows_machine(const struct analysis *a, const struct chart_set *set)
{
    bool any = false;

    for (size_t i = 0; i < set->n_cells; i++)
        for (uint32_t arm = 0; arm < a->x->n_arms; arm++) {
            const struct arm_cell *c = chart_set_at(a, set, i, arm);

            if (!c || !c->n_ok)
                continue;
            if (!isfinite(c->machine_user_cpus.center) && !isfinite(c->machine_system_cpus.center))
                return false;
            any = true;
        }
    return any;
}

struct point {
    double x;
    uint32_t cell;
};

static int by_x(const void *a, const void *b)
{
    double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;

    return (x > y) - (x < y);
}

static bool has_numbers(const struct experiment_axis *axis)
{
    for (size_t i = 0; i < axis->n_values; i++)
        if (!isfinite(axis->values[i].number))
            return false;
    return axis->unit != UNIT_NONE;
}

static void find_points(const struct experiment *x, const struct chart_set *set, struct point *points)
{
    const struct experiment_axis *axis = &x->axes[set->axis];

    for (size_t i = 0; i < axis->n_values; i++)
        points[i] = (struct point){axis->values[i].number, EXPERIMENT_NONE};
    for (uint32_t c = 0; c < x->n_cells; c++)
        if (same_but(x, set->axis, c, set->first_cell))
            points[x->cells[c].value[set->axis]].cell = c;
}

/* Every so many points of a long axis, the first and the last among them. */
static size_t thin(struct point *points, size_t n)
{
    if (n <= CHART_MAX_ALONG)
        return n;
    for (size_t i = 0; i < CHART_MAX_ALONG; i++)
        points[i] = points[i * (n - 1) / (CHART_MAX_ALONG - 1)];
    return CHART_MAX_ALONG;
}

static int take(struct chart_set *set, const struct point *points, size_t n, bool is_numbers)
{
    set->n_cells = n;
    set->cells = calloc(n, sizeof(*set->cells));
    set->x = is_numbers ? calloc(n, sizeof(*set->x)) : NULL;
    if (!set->cells || (is_numbers && !set->x))
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        set->cells[i] = points[i].cell;
        if (set->x)
            set->x[i] = points[i].x;
    }
    return 0;
}

static int fill(const struct analysis *a, struct chart_set *set)
{
    const struct experiment_axis *axis = set->axis == EXPERIMENT_NONE ? NULL : &a->x->axes[set->axis];
    size_t n_all = axis ? axis->n_values : 1, n;
    _cleanup_free_ struct point *points = calloc(n_all, sizeof(*points));
    bool is_numbers = axis && has_numbers(axis);
    int r;

    set->others = name_others(a->x, set->axis, set->first_cell);
    if (!points || !set->others)
        return -ENOMEM;
    points[0].cell = set->first_cell;
    if (axis)
        find_points(a->x, set, points);
    if (is_numbers)
        qsort(points, n_all, sizeof(*points), by_x);
    n = thin(points, n_all);
    set->n_left_out = n_all - n;
    r = take(set, points, n, is_numbers);
    set->machine_cpu = !r && knows_machine(a, set);
    return r;
}

static int add(const struct analysis *a, uint32_t axis, uint32_t cell, struct chart_sets *sets)
{
    struct chart_set *set;

    if (sets->n == CHART_MAX_SETS) {
        sets->n_left_out++;
        return 0;
    }
    set = &sets->items[sets->n++];
    set->axis = axis;
    set->first_cell = cell;
    for (size_t i = 0; i < N_PANELS; i++)
        set->panels[i] = CHART_NONE;
    return fill(a, set);
}

/* Lines begin at the cells that have the axis's first value. */
static int add_axis(const struct analysis *a, uint32_t axis, struct chart_sets *sets)
{
    int r = 0;

    for (uint32_t c = 0; c < a->x->n_cells && !r; c++)
        if (a->x->cells[c].value[axis] == 0)
            r = add(a, axis, c, sets);
    return r;
}

int chart_sets_make(const struct analysis *a, struct chart_sets *ret)
{
    struct chart_sets sets = {calloc(CHART_MAX_SETS, sizeof(*sets.items)), 0, 0};
    int r = sets.items ? 0 : -ENOMEM;

    for (uint32_t i = 0; i < a->x->n_axes && !r; i++)
        if (a->x->axes[i].n_values > 1)
            r = add_axis(a, i, &sets);
    if (!r && !sets.n && a->x->n_cells)
        r = add(a, EXPERIMENT_NONE, 0, &sets);
    if (r < 0)
        chart_sets_free(&sets);
    else
        *ret = sets;
    return r;
}

void chart_sets_free(struct chart_sets *sets)
{
    for (size_t i = 0; i < sets->n; i++) {
        free(sets->items[i].cells);
        free(sets->items[i].x);
        free(sets->items[i].others);
    }
    free(sets->items);
    memset(sets, 0, sizeof(*sets));
}
