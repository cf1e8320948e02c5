/* SPDX-License-Identifier: MIT */
#include "report/chart_panel.h"

#include <math.h>
#include <stdlib.h>

#include "core/util.h"
#include "report/html_text.h"

unsigned panel_parts(const struct panel_view *v)
{
    return v->panel == PANEL_LATENCY || v->panel == PANEL_CPU || v->has_right ? 2 : 1;
}

static const struct stats_figure *find(const struct arm_cell *c, const struct panel_view *v, unsigned part)
{
    switch (v->panel) {
    case PANEL_RATE:
        return &c->metric[METRIC_RATE];
    case PANEL_REQUESTS:
        return &c->metric[METRIC_REQUESTS];
    case PANEL_LATENCY:
        return &c->metric[part ? METRIC_P99 : METRIC_P50];
    case PANEL_WIRE:
        return &c->wire[part ? WIRE_MEAN_BYTES : WIRE_IN_FLIGHT];
    default:
        break;
    }
    if (v->set->machine_cpu)
        return part ? &c->machine_system_cpus : &c->machine_user_cpus;
    return part ? &c->process_system_cpus : &c->process_user_cpus;
}

struct panel_figure panel_figure_of(const struct panel_view *v, const struct arm_cell *c, unsigned part)
{
    const struct stats_figure *f = c ? find(c, v, part) : NULL;
    double factor = part && v->has_right ? v->right_unit.factor : v->unit.factor;

    if (!f || !f->n || !isfinite(f->center))
        return (struct panel_figure){NAN, NAN, NAN};
    return (struct panel_figure){f->center / factor, f->low / factor, f->high / factor};
}

struct panel_figure panel_figure(const struct panel_view *v, size_t point, uint32_t arm, unsigned part)
{
    return panel_figure_of(v, chart_set_at(v->a, v->set, point, arm), part);
}

/* Two blocks give an interval of a hundred times the figure: its ends stretch an axis so far beyond figures. */
#define MOST_STRETCH 4

struct range {
    double min, max;  /* of figures; stacked parts together */
    double low, high; /* of whiskers */
};

static struct range find_range(const struct panel_view *v, unsigned first, unsigned n_parts)
{
    struct range r = {INFINITY, 0, INFINITY, 0};

    for (size_t i = 0; i < v->set->n_cells; i++)
        for (uint32_t arm = 0; arm < v->a->x->n_arms; arm++) {
            double sum = 0;

            for (unsigned part = first; part < n_parts; part++) {
                struct panel_figure f = panel_figure(v, i, arm, part);

                r.min = fmin(r.min, f.center);
                r.max = fmax(r.max, f.center);
                r.low = fmin(r.low, f.low);
                r.high = fmax(r.high, f.high);
                sum += isfinite(f.center) ? f.center : 0;
            }
            r.max = fmax(r.max, v->panel == PANEL_CPU ? sum : 0);
        }
    return r;
}

/* Of parts @first and on that are drawn, whiskers included where there are any. */
static bool extent(const struct panel_view *v, unsigned first, unsigned n_parts, double *ret_min, double *ret_max)
{
    struct range r = find_range(v, first, n_parts);

    *ret_min = r.min;
    *ret_max = r.max;
    if (v->panel != PANEL_CPU) { /* its bars have no whiskers */
        *ret_min = fmax(fmin(r.min, r.low), r.min / MOST_STRETCH);
        *ret_max = fmin(fmax(r.max, r.high), r.max * MOST_STRETCH);
    }
    return isfinite(r.min) && r.max > 0;
}

static struct chart_unit pick_unit(enum panel panel, double max)
{
    switch (panel) {
    case PANEL_RATE:
        return chart_unit_rate(max);
    case PANEL_REQUESTS:
        return chart_unit_requests(max);
    case PANEL_LATENCY:
        return chart_unit_time(max);
    case PANEL_WIRE:
        return (struct chart_unit){"requests", 1};
    default:
        return (struct chart_unit){"CPUs", 1};
    }
}

/* Sizes may stand on one value, or go far apart. */
static void make_right(struct panel_view *v)
{
    double min, max;

    v->has_right = true;
    v->right_unit = (struct chart_unit){"", 1};
    v->has_right = extent(v, 1, 2, &min, &max);
    if (!v->has_right)
        return;
    v->right_unit = chart_unit_bytes(max);
    min /= v->right_unit.factor;
    max /= v->right_unit.factor;
    if (min > 0 && max / min > 8)
        chart_scale_log(min, max, &v->right);
    else
        chart_scale_zero(max, &v->right);
}

bool panel_view_make(const struct analysis *a, const struct chart_set *set, enum panel panel, struct panel_view *ret)
{
    struct panel_view v = {.a = a, .set = set, .panel = panel, .unit = {"", 1}};
    double min, max;

    if (!extent(&v, 0, panel_parts(&v), &min, &max))
        return false;
    v.is_bars = !set->x || panel == PANEL_CPU;
    v.unit = pick_unit(panel, max);
    min /= v.unit.factor;
    max /= v.unit.factor;
    if (v.is_bars)
        chart_scale_zero(max, &v.y);
    else if (panel == PANEL_LATENCY && min > 0 && max / min > 8)
        chart_scale_log(min, max, &v.y);
    else
        chart_scale_rate(min, max, &v.y);
    if (panel == PANEL_WIRE && !v.is_bars)
        make_right(&v);
    *ret = v;
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Words
 */

static const char *words(const struct panel_view *v)
{
    switch (v->panel) {
    case PANEL_RATE:
        return "throughput";
    case PANEL_REQUESTS:
        return "requests";
    case PANEL_LATENCY:
        return "latency p50 and p99";
    case PANEL_WIRE:
        return "on the wire: requests in flight";
    default:
        return v->set->machine_cpu ? "CPU cores of the machine, USR and SYS" : "CPU cores of the worker, USR and SYS";
    }
}

static char *panel_wire_title(const struct panel_view *v)
{
    const char *log = v->y.is_log ? " (log)" : "";
    char *ret;
    int n = v->has_right ? asprintf(&ret, "On the wire: requests in flight%s, size in %s (right%s)", log,
                                    v->right_unit.name, v->right.is_log ? ", log" : "")
                         : asprintf(&ret, "On the wire: requests in flight%s", log);

    return n < 0 ? NULL : ret;
}

char *panel_title(const struct panel_view *v)
{
    const char *w = words(v);
    char *ret;

    if (v->panel == PANEL_CPU)
        return asprintf(&ret, "%s", w) < 0 ? NULL : ret;
    if (v->panel == PANEL_WIRE)
        return panel_wire_title(v);
    return asprintf(&ret, "%c%s, %s%s", w[0] & ~0x20, w + 1, v->unit.name, v->y.is_log ? " (log)" : "") < 0 ? NULL
                                                                                                            : ret;
}

/* The extremes of each arm, in words. */
static void describe_arm(FILE *out, const struct panel_view *v, uint32_t arm)
{
    double first = NAN, last = NAN;

    for (size_t i = 0; i < v->set->n_cells; i++) {
        struct panel_figure f = panel_figure(v, i, arm, 0);

        if (isfinite(f.center)) {
            first = isfinite(first) ? first : f.center;
            last = f.center;
        }
    }
    if (!isfinite(first))
        fprintf(out, " %s: no figure.", v->a->x->arms[arm].name);
    else if (v->set->n_cells > 1)
        fprintf(out, " %s: from %.3g to %.3g %s.", v->a->x->arms[arm].name, first, last, v->unit.name);
    else
        fprintf(out, " %s: %.3g %s.", v->a->x->arms[arm].name, first, v->unit.name);
}

char *panel_description(const struct panel_view *v)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs(words(v), out);
    if (v->set->axis != EXPERIMENT_NONE)
        fprintf(out, " against %s", v->a->x->axes[v->set->axis].key);
    fputc('.', out);
    for (uint32_t arm = 0; arm < v->a->x->n_arms; arm++)
        describe_arm(out, v, arm);
    return fclose(out) ? NULL : html_clean(text);
}

/* ------------------------------------------------------------------------------------------------
 * A whole set
 */

int chart_set_draw(const struct analysis *a, struct chart_set *set, size_t number, struct charts *list)
{
    static const char *const names[N_PANELS] = {"throughput", "requests", "latency", "cpu", "wire"};
    int r = 0;

    for (enum panel p = 0; p < N_PANELS && !r; p++) {
        struct chart_draft d;
        struct panel_view v;
        char name[64];

        if (!panel_view_make(a, set, p, &v))
            continue;
        snprintf(name, sizeof(name), "set%zu-%s", number, names[p]);
        r = chart_begin(&d, name, panel_title(&v), panel_description(&v));
        if (!r)
            r = v.is_bars ? panel_draw_bars(&d, &v) : panel_draw_lines(&d, &v);
        if (r < 0) {
            chart_end(&d, false, list, NULL);
            return r;
        }
        r = chart_end(&d, true, list, &set->panels[p]);
    }
    return r;
}
