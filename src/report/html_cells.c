/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "report/sentences.h"

static void write_rate(const struct page *p, uint32_t cell, uint32_t arm)
{
    char figure[HTML_FIGURE];

    fprintf(p->out, "<td>%s",
            html_figure(METRIC_RATE, analysis_arm_cell(p->a, cell, arm)->metric[METRIC_RATE].center, figure));
}

/* Why there is nothing to judge, where that is known; else the verdict. */
static void write_verdict(const struct page *p, const struct comparison *c)
{
    const struct arm_cell *arm = analysis_arm_cell(p->a, c->cell, c->arm);
    const struct arm_cell *baseline = analysis_arm_cell(p->a, c->cell, p->a->x->baseline);
    const struct arm_cell *shown = arm->state != PAIR_PLANNED || !arm->n_ok ? arm : baseline;
    const char *reason = c->ranked_apart  ? c->ranked_apart
                         : shown->reason  ? shown->reason
                         : shown->stopped ? shown->stopped
                         : shown->n_ok    ? NULL
                                          : shown->error;

    if (c->ranked_apart)
        fputs("<b class=\"v x\">not ranked</b>", p->out);
    else if (arm->state == PAIR_NOT_APPLICABLE)
        fputs("<b class=\"v x\">not applicable</b>", p->out);
    else if (arm->state == PAIR_REFUSED)
        fputs("<b class=\"v x\">refused</b>", p->out);
    else
        html_verdict(p->out, &c->metric[METRIC_RATE]);
    if (c->metric[METRIC_RATE].n && c->metric[METRIC_RATE].n < p->a->n_blocks_done)
        fprintf(p->out, " <small>(%u block%s so far)</small>", c->metric[METRIC_RATE].n,
                c->metric[METRIC_RATE].n == 1 ? "" : "s");
    if (reason) {
        fputs(" <small>", p->out);
        html_text(p->out, reason);
        fputs("</small>", p->out);
    }
}

static void write_row(const struct page *p, const struct comparison *c, bool again)
{
    const struct stats_effect *e = &c->metric[METRIC_RATE];
    char ratio[WORDS_RATIO];

    fprintf(p->out, "<tr%s><th scope=\"row\">", again ? " class=\"r\"" : "");
    html_text(p->out, p->a->x->cells[c->cell].label);
    fputs("<th>", p->out);
    html_arm(p->out, p->a, c->cell, c->arm);
    write_rate(p, c->cell, p->a->x->baseline);
    write_rate(p, c->cell, c->arm);
    fprintf(p->out, "<td>%s<td>", words_ratio(e->ratio, ratio));
    html_interval(p->out, e);
    fputs("<td>", p->out);
    if (!c->ranked_apart)
        html_forest(p, e);
    fputs("<td>", p->out);
    write_verdict(p, c);
    fputc('\n', p->out);
}

static void write_table(const struct page *p, const struct comparison *rows, size_t n)
{
    fputs("<div class=\"scroll\"><table class=\"cells\" ", p->out);
    html_table_style(p);
    fputs("><thead><tr><th scope=\"col\">cell<th scope=\"col\">arm<th scope=\"col\">", p->out);
    html_text(p->out, p->a->x->arms[p->a->x->baseline].name);
    fputs("<th scope=\"col\">arm's throughput<th scope=\"col\">ratio<th scope=\"col\">interval<th scope=\"col\">worse "
          "&larr; 1 &rarr; better<th scope=\"col\">verdict</thead><tbody>\n",
          p->out);
    for (size_t i = 0; i < n; i++)
        write_row(p, &rows[i], i && rows[i].cell == rows[i - 1].cell);
    fputs("</tbody></table></div>\n", p->out);
}

void html_cells(const struct page *p)
{
    const struct analysis *a = p->a;

    fputs("<section id=\"cells\">\n<h2>Throughput in each cell</h2>\n", p->out);
    if (a->n_comparisons)
        write_table(p, a->comparisons, a->n_comparisons);
    else
        fputs("<p>No arm is compared with the baseline but its own copy.</p>\n", p->out);
    fprintf(
        p->out,
        "<p class=\"hint\">Ratio: the arm's throughput to the baseline's, geometric mean over blocks. Intervals are "
        "adjusted for all cells together; the grey band is the margin of %g %%.</p>\n",
        100 * a->x->margin);
    if (a->n_aa) {
        fputs("<h3>A/A: a second copy of the baseline</h3>\n<p class=\"hint\">It tests the harness: no cell should be "
              "decided here.</p>\n",
              p->out);
        write_table(p, a->aa, a->n_aa);
    }
    fputs("</section>\n", p->out);
}
