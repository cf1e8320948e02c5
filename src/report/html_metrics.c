/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "report/sentences.h"

static const enum metric shown[] = {METRIC_REQUESTS, METRIC_P50, METRIC_P99, METRIC_CPU_PROCESS, METRIC_CPU_MACHINE};

/* Comparisons stand cell by cell: @at moves on with the cells. */
static const struct comparison *find(const struct comparison *rows, size_t n, size_t *at, uint32_t cell, uint32_t arm)
{
    while (*at < n && rows[*at].cell < cell)
        (*at)++;
    for (size_t i = *at; i < n && rows[i].cell == cell; i++)
        if (rows[i].arm == arm)
            return &rows[i];
    return NULL;
}

static void write_effect(FILE *out, const struct stats_effect *e)
{
    char ratio[WORDS_RATIO];

    if (e->verdict == VERDICT_NONE)
        return;
    fprintf(out, "<small>%s ", words_ratio(e->ratio, ratio));
    html_interval(out, e);
    fputs("</small>", out);
    html_verdict(out, &(struct stats_effect){.verdict = e->verdict});
}

static void write_row(const struct page *p, uint32_t cell, uint32_t arm, const struct comparison *c, bool again)
{
    const struct arm_cell *ac = analysis_arm_cell(p->a, cell, arm);
    char figure[HTML_FIGURE];

    fprintf(p->out, "<tr%s><th scope=\"row\">", again ? " class=\"r\"" : "");
    html_text(p->out, p->a->x->cells[cell].label);
    fputs("<th>", p->out);
    html_arm(p->out, p->a, cell, arm);
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        fprintf(p->out, "<td>%s", html_figure(shown[i], ac->metric[shown[i]].center, figure));
        if (c && !c->ranked_apart)
            write_effect(p->out, &c->metric[shown[i]]);
    }
    fputc('\n', p->out);
}

static void write_rows(const struct page *p)
{
    const struct analysis *a = p->a;
    size_t at = 0, at_aa = 0;

    for (uint32_t cell = 0; cell < a->x->n_cells; cell++) {
        bool again = false;

        for (uint32_t arm = 0; arm < a->x->n_arms; arm++) {
            const struct comparison *c = arm == a->x->aa ? find(a->aa, a->n_aa, &at_aa, cell, arm)
                                                         : find(a->comparisons, a->n_comparisons, &at, cell, arm);

            if (analysis_arm_cell(a, cell, arm)->n_ok) {
                write_row(p, cell, arm, c, again);
                again = true;
            }
        }
    }
}

void html_metrics(const struct page *p)
{
    fputs("<section id=\"metrics\">\n<h2>Requests, latency and CPU</h2>\n<p class=\"hint\">Below each figure: its "
          "ratio to "
          "the baseline's with the interval, and the verdict. Each column is a family of its own; throughput is the "
          "metric that the experiment was planned for, these describe. CPU: seconds of CPU time per GiB moved, of the "
          "worker's process and of the whole machine above its baseline (unknown for windows under 2 s).</p>\n"
          "<div class=\"scroll\"><table class=\"metrics\" ",
          p->out);
    html_table_style(p);
    fputs("><thead><tr><th scope=\"col\">cell<th scope=\"col\">arm<th "
          "scope=\"col\">requests<th scope=\"col\">latency p50<th scope=\"col\">latency p99<th scope=\"col\">CPU, "
          "worker<th "
          "scope=\"col\">CPU, machine</thead><tbody>\n",
          p->out);
    write_rows(p);
    fputs("</tbody></table></div>\n</section>\n", p->out);
}
