/* SPDX-License-Identifier: MIT */
#include "report/chart_panel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/html_text.h"

#define CHARACTER_WIDTH (8.5 / 410) /* of an axis */
#define MAX_LABEL       22
#define MAX_TICK_BYTES  48 /* gnuplot cuts longer ones, inside a character if need be */

void panel_write_y(FILE *out, const struct chart_scale *y)
{
    char text[CHART_TICK_TEXT];

    fprintf(out, "set yrange [%.9g:%.9g]\n%sset ytics (", y->low, y->high, y->is_log ? "set logscale y\n" : "");
    for (size_t i = 0; i < y->n_ticks; i++)
        fprintf(out, "%s'%s' %.9g", i ? ", " : "", chart_tick_text(y->ticks[i], text), y->ticks[i]);
    fputs(")\n", out);
}

void panel_write_right(FILE *out, const struct chart_scale *y)
{
    char text[CHART_TICK_TEXT];

    fprintf(out, "if (!exists('HAS_KEY') || !HAS_KEY) set rmargin 8\nset y2range [%.9g:%.9g]\n%sset y2tics scale 0 (",
            y->low, y->high, y->is_log ? "set logscale y2\n" : "");
    for (size_t i = 0; i < y->n_ticks; i++)
        fprintf(out, "%s'%s' %.9g", i ? ", " : "", chart_tick_text(y->ticks[i], text), y->ticks[i]);
    fputs(") textcolor rgb MUTED\n", out);
}

static void write_x_title(FILE *out, const struct panel_view *v, bool is_log)
{
    _cleanup_free_ char *text = NULL;

    if (v->set->axis == EXPERIMENT_NONE)
        return;
    if (asprintf(&text, "%s%s", v->a->x->axes[v->set->axis].key, is_log ? " (log)" : "") < 0)
        return;
    fputs("set xlabel ", out);
    chart_string(out, text, false);
    fputs(" textcolor rgb MUTED\n", out);
}

/* @text cut to @max characters, and to the bytes that gnuplot has for a tick's label. */
static char *tick_label(const char *text, size_t max)
{
    _cleanup_free_ char *clean = html_clean(text);
    char *ret = clean ? html_shorten(clean, max) : NULL;

    while (ret && strlen(ret) > MAX_TICK_BYTES) {
        free(ret);
        ret = html_shorten(clean, --max);
    }
    return ret;
}

static int write_tick(FILE *out, const char *text, size_t max, double at, bool is_first)
{
    _cleanup_free_ char *label = tick_label(text, max);

    if (!label)
        return -ENOMEM;
    fputs(is_first ? "" : ", ", out);
    chart_string(out, label, true);
    fprintf(out, " %.9g", at);
    return 0;
}

static int measure(const struct panel_view *v, double *widths)
{
    for (size_t i = 0; i < v->set->n_cells; i++) {
        _cleanup_free_ char *clean = html_clean(chart_set_value(v->a, v->set, i));

        if (!clean)
            return -ENOMEM;
        widths[i] = ((double)html_length(clean) + 1) * CHARACTER_WIDTH;
    }
    return 0;
}

int panel_write_x_numbers(FILE *out, const struct panel_view *v)
{
    const struct chart_set *set = v->set;
    _cleanup_free_ double *widths = calloc(set->n_cells, sizeof(*widths));
    _cleanup_free_ bool *labelled = calloc(set->n_cells, sizeof(*labelled));
    struct chart_scale scale;
    int r = widths && labelled ? measure(v, widths) : -ENOMEM;

    if (r < 0)
        return r;
    chart_scale_swept(set->x, set->n_cells, widths, &scale, labelled);
    fprintf(out, "set xrange [%.9g:%.9g]\n%sset xtics (", scale.low, scale.high,
            scale.is_log ? "set logscale x\n" : "");
    for (size_t i = 0; i < set->n_cells && !r; i++)
        r = write_tick(out, labelled[i] ? chart_set_value(v->a, set, i) : "", MAX_LABEL, set->x[i], i == 0);
    fputs(")\n", out);
    write_x_title(out, v, scale.is_log);
    return r;
}

/* Without an axis the arms themselves are named. */
int panel_write_x_names(FILE *out, const struct panel_view *v)
{
    const struct chart_set *set = v->set;
    bool names_arms = set->axis == EXPERIMENT_NONE;
    size_t n = names_arms ? v->a->x->n_arms : set->n_cells;
    size_t room = (size_t)(1 / CHARACTER_WIDTH) / n, max = room < 7 ? 6 : room > MAX_LABEL ? MAX_LABEL : room - 1;
    size_t step = set->x && n > 12 ? (n + 11) / 12 : 1;
    int r = 0;

    fprintf(out, "set xrange [-0.6:%.9g]\nset xtics %s(", names_arms ? 0.6 : (double)n - 0.4,
            room < 7 && step == 1 ? "rotate by -30 " : "");
    for (size_t i = 0; i < n && !r; i++)
        if (names_arms)
            r = write_tick(out, v->a->x->arms[i].name, max, ((double)i + 0.5) / (double)n * 0.8 - 0.4, i == 0);
        else
            r = write_tick(out, i % step ? "" : chart_set_value(v->a, set, i), max, (double)i, i == 0);
    fputs(")\n", out);
    write_x_title(out, v, false);
    return r;
}
