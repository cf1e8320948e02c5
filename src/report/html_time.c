/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <math.h>

#include "report/chart_style.h"

static void write_legend(const struct page *p)
{
    fputs("<ul class=\"legend\">\n", p->out);
    for (uint32_t i = 0; i < p->a->x->n_arms; i++) {
        fputs("<li>", p->out);
        chart_style_swatch(p->out, i);
        html_text(p->out, p->a->x->arms[i].name);
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_left_out(const struct page *p, const struct chart_times *times, size_t n_without)
{
    size_t drawn = 0, all = 0;

    for (size_t i = 0; i < times->n; i++)
        if (times->items[i].chart != CHART_NONE) {
            drawn += times->items[i].n_drawn;
            all += times->items[i].n_trials;
        }
    if (times->n_left_out)
        fprintf(p->out, "<p class=\"hint\">%zu of %zu cells are drawn, spread evenly over all; %zu are left out.</p>\n",
                times->n, times->n + times->n_left_out, times->n_left_out);
    if (drawn < all)
        fprintf(p->out, "<p class=\"hint\">%zu of the %zu trials of these cells are drawn.</p>\n", drawn, all);
    if (n_without)
        fprintf(p->out, "<p class=\"hint\">%zu cell%s no trial with intervals.</p>\n", n_without,
                n_without == 1 ? " has" : "s have");
}

void html_times(const struct page *p)
{
    const struct chart_times *times = &p->book->times;
    size_t n_without = 0;

    fputs("<section id=\"times\">\n<h2>Rate over time, in each trial</h2>\n", p->out);
    for (size_t i = 0; i < times->n; i++)
        n_without += times->items[i].chart == CHART_NONE;
    if (*p->undrawn->why) {
        fputs("<p>No charts: see above.</p>\n", p->out);
    } else if (n_without == times->n) {
        fputs("<p>No trial has intervals (<code>--interval 0</code>, or none has figures).</p>\n", p->out);
    } else {
        write_legend(p);
        fputs("<div class=\"times\">\n", p->out);
        for (size_t i = 0; i < times->n; i++)
            html_chart(p, times->items[i].chart);
        fputs("</div>\n", p->out);
        write_left_out(p, times, n_without);
    }
    fputs("</section>\n", p->out);
}

static void write_drift(const struct page *p)
{
    const struct stats_drift *d = &p->a->drift;

    if (!d->known) {
        fputs("<p class=\"hint\">Drift over the experiment is not known: too few trials.</p>\n", p->out);
        return;
    }
    fprintf(p->out,
            "<p class=\"hint\">Drift over the experiment: %+.1f %%, 99 %% interval [%+.1f %%, %+.1f %%]%s.</p>\n",
            100 * (d->change - 1), 100 * (d->low - 1), 100 * (d->high - 1),
            d->is_drift ? ": more than chance, see the warning" : "");
}

void html_order(const struct page *p)
{
    const struct chart_order *order = &p->book->order;

    fputs("<section id=\"order\">\n<h2>Trials in their order</h2>\n", p->out);
    if (*p->undrawn->why) {
        fputs("<p>No chart: see above.</p>\n", p->out);
    } else if (order->chart == CHART_NONE) {
        fputs("<p>Fewer than two trials have figures.</p>\n", p->out);
    } else {
        write_legend(p);
        fputs("<div class=\"wide\">\n", p->out);
        html_chart(p, order->chart);
        fputs("</div>\n<p class=\"hint\">A shape is a trial. Thin lines divide blocks; the dashed line is the drift, "
              "or the "
              "mean where it is not known.",
              p->out);
        if (order->n_outliers)
            fprintf(p->out, " %zu outlier%s ringed; none is dropped.", order->n_outliers,
                    order->n_outliers == 1 ? " is" : "s are");
        if (order->n_beyond)
            fprintf(p->out, " %zu trial%s beyond the axis %s drawn at its edge.", order->n_beyond,
                    order->n_beyond == 1 ? "" : "s", order->n_beyond == 1 ? "is" : "are");
        if (order->n_left_out)
            fprintf(p->out, " %zu of %zu trials are drawn.", order->n_points, order->n_points + order->n_left_out);
        fputs("</p>\n", p->out);
    }
    write_drift(p);
    fputs("</section>\n", p->out);
}
