/* SPDX-License-Identifier: MIT */
/* Along an axis: where an arm and the baseline change places, and where an arm stops to gain. */
#include <math.h>

#include "stats/distribution.h"
#include "stats/stats.h"

static bool is_decided(enum stats_verdict v)
{
    return v == VERDICT_BETTER || v == VERDICT_WORSE;
}

/* ------------------------------------------------------------------------------------------------
 * Between two neighbours, w from 0 to 1
 */

/* Of blocks that have both: means, and covariances over n. */
struct segment {
    unsigned n;
    double mean[2], var[2], cov;
};

static struct segment take_segment(const struct stats_point *a, const struct stats_point *b, unsigned n_blocks)
{
    struct segment s = {0};

    for (unsigned i = 0; i < n_blocks; i++) {
        double delta_a = a->log_ratio[i] - s.mean[0], delta_b = b->log_ratio[i] - s.mean[1];

        if (!isfinite(a->log_ratio[i]) || !isfinite(b->log_ratio[i]))
            continue;
        s.n++;
        s.mean[0] += delta_a / s.n;
        s.mean[1] += delta_b / s.n;
        s.var[0] += delta_a * (a->log_ratio[i] - s.mean[0]);
        s.var[1] += delta_b * (b->log_ratio[i] - s.mean[1]);
        s.cov += delta_a * (b->log_ratio[i] - s.mean[1]);
    }
    if (s.n < 2)
        return s;
    s.var[0] /= (s.n - 1.) * s.n;
    s.var[1] /= (s.n - 1.) * s.n;
    s.cov /= (s.n - 1.) * s.n;
    return s;
}

/* m(w)^2 - t^2 var(w) = a w^2 + b w + c: where it is not above 0, a mean of 0 is not excluded. */
struct quadratic {
    double a, b, c;
};

static struct quadratic fieller(const struct segment *s, double alpha)
{
    double t = t_critical(alpha, s->n - 1), tt = t * t, step = s->mean[1] - s->mean[0];

    return (struct quadratic){
        .a = step * step - tt * (s->var[0] - 2 * s->cov + s->var[1]),
        .b = 2 * s->mean[0] * step - 2 * tt * (s->cov - s->var[0]),
        .c = s->mean[0] * s->mean[0] - tt * s->var[0],
    };
}

static double value_at(const struct quadratic *q, double w)
{
    return (q->a * w + q->b) * w + q->c;
}

/* Roots within [0, 1] in rising order; returns how many. */
static int roots_of(const struct quadratic *q, double ret[2])
{
    double d = q->b * q->b - 4 * q->a * q->c, h, r[2], swap;
    int n = 0;

    if (d < 0)
        return 0;
    h = -(q->b + copysign(sqrt(d), q->b)) / 2; /* without cancellation; a root that does not exist is not finite */
    r[0] = h / q->a;
    r[1] = q->c / h;
    if (r[0] > r[1]) {
        swap = r[0];
        r[0] = r[1];
        r[1] = swap;
    }
    for (int i = 0; i < 2; i++)
        if (r[i] >= 0 && r[i] <= 1)
            ret[n++] = r[i];
    return n;
}

/* The hull of the w in [0, 1] at which 0 is not excluded; false: there are none. */
static bool hull_of(const struct quadratic *q, double *ret_low, double *ret_high)
{
    double r[2];
    bool first = value_at(q, 0) <= 0, last = value_at(q, 1) <= 0;
    int n = roots_of(q, r);

    if (!first && !last && n == 0)
        return false;
    *ret_low = first || n == 0 ? 0 : r[0];
    *ret_high = last || n == 0 ? 1 : r[n - 1];
    return true;
}

static double x_at(const struct stats_point *a, const struct stats_point *b, double w)
{
    return exp(log(a->x) + w * (log(b->x) - log(a->x)));
}

/* ------------------------------------------------------------------------------------------------
 * The interval of a crossover
 */

struct axis {
    const struct stats_point *points;
    size_t n;
    unsigned n_blocks;
    double alpha;
};

/* The part of neighbours @i and @j in which 0 is not excluded. -1: too few blocks have both; 0: none; 1: there is one.
 */
static int segment_hull(const struct axis *x, size_t i, size_t j, double *ret_low, double *ret_high)
{
    struct segment s = take_segment(&x->points[i], &x->points[j], x->n_blocks);
    struct quadratic q;

    if (s.n < STATS_CROSSOVER_BLOCKS)
        return -1;
    q = fieller(&s, x->alpha);
    return hull_of(&q, ret_low, ret_high);
}

static size_t neighbour(const struct axis *x, size_t i, int step)
{
    do
        i += (size_t)step;
    while (i < x->n && x->points[i].effect.n == 0);
    return i;
}

/* Goes on outwards from @at, a point at which 0 is not excluded, to the first x at which it is; NaN: there is none. */
static double outward(const struct axis *x, size_t at, int step)
{
    for (size_t next; (next = neighbour(x, at, step)) < x->n; at = next) {
        size_t left = step > 0 ? at : next, right = step > 0 ? next : at;
        double low, high;
        int found = segment_hull(x, left, right, &low, &high);

        if (found < 0)
            return NAN;
        if (found == 0) /* by the blocks that both of these have */
            return x->points[at].x;
        if (step > 0 ? high < 1 : low > 0)
            return x_at(&x->points[left], &x->points[right], step > 0 ? high : low);
    }
    return NAN;
}

static void crossover_interval(const struct axis *x, struct stats_crossover *c)
{
    double low = INFINITY, high = -INFINITY;
    bool reaches_before = false, reaches_after = false;

    for (size_t i = c->before, j; i < c->after; i = j) {
        double w_low, w_high;
        int found;

        j = neighbour(x, i, 1);
        found = segment_hull(x, i, j, &w_low, &w_high);
        if (found < 0)
            return;
        if (found == 0)
            continue;
        low = fmin(low, x_at(&x->points[i], &x->points[j], w_low));
        high = fmax(high, x_at(&x->points[i], &x->points[j], w_high));
        reaches_before = reaches_before || (i == c->before && w_low == 0);
        reaches_after = reaches_after || (j == c->after && w_high == 1);
    }
    if (low > high)
        return;
    c->low = reaches_before ? outward(x, c->before, -1) : fmin(low, c->x);
    c->high = reaches_after ? outward(x, c->after, 1) : fmax(high, c->x);
}

/* ------------------------------------------------------------------------------------------------
 * Crossovers and saturation
 */

/* Where the line through the means first reaches 0 on the way from one verdict to the other. */
static double zero_of_means(const struct axis *x, size_t before, size_t after)
{
    bool starts_above = x->points[before].effect.ratio > 1;
    size_t i = before, j = neighbour(x, before, 1);
    double left, right;

    for (; j < after && (x->points[j].effect.ratio > 1) == starts_above; i = j, j = neighbour(x, j, 1))
        ;
    left = log(x->points[i].effect.ratio);
    right = log(x->points[j].effect.ratio);
    return x_at(&x->points[i], &x->points[j], left / (left - right));
}

static struct stats_crossover make_crossover(const struct axis *x, size_t before, size_t after)
{
    struct stats_crossover c = {.before = before, .after = after, .low = NAN, .high = NAN};

    c.x = zero_of_means(x, before, after);
    c.rises = x->points[after].effect.verdict == VERDICT_BETTER;
    if (x->n_blocks >= STATS_CROSSOVER_BLOCKS)
        crossover_interval(x, &c);
    return c;
}

size_t stats_crossovers(const struct stats_point *points, size_t n, unsigned n_blocks, double alpha,
                        struct stats_crossover *ret, size_t max)
{
    struct axis x = {points, n, n_blocks, alpha};
    size_t last = n, n_found = 0;

    for (size_t i = 0; i < n; i++) {
        if (!is_decided(points[i].effect.verdict))
            continue;
        if (last < n && points[last].effect.verdict != points[i].effect.verdict && n_found < max)
            ret[n_found++] = make_crossover(&x, last, i);
        last = i;
    }
    return n_found;
}

/* Whether a later figure exceeds that of @i by the margin. */
static bool gains_after(const struct stats_figure *figures, size_t n, size_t i, double margin, bool higher_is_better)
{
    for (size_t j = i + 1; j < n; j++) {
        double gain = higher_is_better ? figures[j].center / figures[i].center : figures[i].center / figures[j].center;

        if (gain >= 1 + margin) /* false for NaN */
            return true;
    }
    return false;
}

size_t stats_saturation(const struct stats_figure *figures, size_t n, double margin, bool higher_is_better)
{
    size_t n_figures = 0, last = 0, first = n;

    for (size_t i = 0; i < n; i++) {
        if (figures[i].n == 0)
            continue;
        n_figures++;
        last = i;
        if (first == n && !gains_after(figures, n, i, margin, higher_is_better))
            first = i;
    }
    return n_figures < 3 || first == last ? n : first;
}
