/* SPDX-License-Identifier: MIT */
/* Drift over an experiment: one slope of log values over time, each group's own level taken out. */
#include <math.h>
#include <stdlib.h>

#include "stats/distribution.h"
#include "stats/stats.h"

#define DRIFT_ALPHA  0.01
#define DRIFT_MIN_DF 3

struct slope {
    double slope, squares_when, squares_value, products; /* sums of squares and products about the groups' means */
    double begin, end;
    double df;
};

static int compare_groups(const void *a, const void *b)
{
    const struct stats_timed *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

static size_t take_figures(const struct stats_timed *values, size_t n, struct stats_timed *ret)
{
    size_t n_figures = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(values[i].value > 0) || !isfinite(values[i].value) || !isfinite(values[i].when))
            continue;
        ret[n_figures] = values[i];
        ret[n_figures++].value = log(values[i].value);
    }
    return n_figures;
}

static void add_group(const struct stats_timed *values, size_t n, struct slope *s)
{
    double when = 0, value = 0;

    for (size_t i = 0; i < n; i++) {
        double delta_when = values[i].when - when, delta_value = values[i].value - value;

        when += delta_when / (double)(i + 1);
        value += delta_value / (double)(i + 1);
        s->squares_when += delta_when * (values[i].when - when);
        s->squares_value += delta_value * (values[i].value - value);
        s->products += delta_when * (values[i].value - value);
        s->begin = fmin(s->begin, values[i].when);
        s->end = fmax(s->end, values[i].when);
    }
    s->df += (double)n - 1;
}

static struct slope fit_slope(struct stats_timed *values, size_t n)
{
    struct slope s = {.begin = INFINITY, .end = -INFINITY, .df = -1};

    qsort(values, n, sizeof(*values), compare_groups);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && values[end].group == values[first].group;)
            end++;
        add_group(values + first, end - first, &s);
    }
    s.slope = s.products / s.squares_when;
    return s;
}

static void judge_slope(const struct slope *s, double margin, struct stats_drift *ret)
{
    double residual = fmax(s->squares_value - s->slope * s->products, 0);
    double span = s->end - s->begin, change = s->slope * span;
    double error = sqrt(residual / s->df / s->squares_when) * span;
    double half = t_critical(DRIFT_ALPHA, s->df) * error;

    ret->known = true;
    ret->change = exp(change);
    ret->low = exp(change - half);
    ret->high = exp(change + half);
    ret->p = change == 0 ? 1 : t_two_sided(change / error, s->df);
    ret->is_drift = ret->p < DRIFT_ALPHA && fabs(change) > log1p(margin);
}

void stats_drift(const struct stats_timed *values, size_t n, double margin, struct stats_drift *ret)
{
    struct stats_timed *figures = calloc(n ? n : 1, sizeof(*figures));
    struct slope s;

    *ret = (struct stats_drift){.change = NAN, .low = NAN, .high = NAN, .p = NAN};
    if (!figures)
        return;
    s = fit_slope(figures, take_figures(values, n, figures));
    if (s.df >= DRIFT_MIN_DF && s.squares_when > 0)
        judge_slope(&s, margin, ret);
    free(figures);
}
