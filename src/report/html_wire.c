/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "report/text_table.h"
#include "report/wire_words.h"

static void write_row(const struct page *p, uint32_t cell, uint32_t arm, bool again)
{
    const struct arm_cell *c = analysis_arm_cell(p->a, cell, arm);
    char text[WIRE_WORDS];

    fprintf(p->out, "<tr%s><th scope=\"row\">", again ? " class=\"r\"" : "");
    html_text(p->out, p->a->x->cells[cell].label);
    fputs("<th>", p->out);
    html_arm(p->out, p->a, cell, arm);
    for (enum wire_figure w = 0; w < N_WIRE_FIGURES; w++)
        fprintf(p->out, "<td>%s", wire_words(c, w, text));
    fprintf(p->out, "<td>%s\n", wire_retries_words(c, text));
}

static void write_rows(const struct page *p)
{
    const struct experiment *x = p->a->x;

    for (uint32_t cell = 0; cell < x->n_cells; cell++) {
        bool again = false;

        for (uint32_t arm = 0; arm < x->n_arms; arm++) {
            if (!wire_is_known(analysis_arm_cell(p->a, cell, arm)))
                continue;
            write_row(p, cell, arm, again);
            again = true;
        }
    }
}

void html_wire(const struct page *p)
{
    if (!text_has_wire(p->a))
        return;
    fputs("<section id=\"wire\">\n<h2>On the wire</h2>\n<p class=\"hint\">" WIRE_LEGEND
          "</p>\n<div class=\"scroll\"><table class=\"metrics wire\" ",
          p->out);
    html_table_style(p);
    fputs("><thead><tr><th scope=\"col\">cell<th scope=\"col\">arm<th scope=\"col\">in flight<th scope=\"col\">size<th "
          "scope=\"col\">time<th scope=\"col\">per request<th scope=\"col\">sent again</thead><tbody>\n",
          p->out);
    write_rows(p);
    fputs("</tbody></table></div>\n</section>\n", p->out);
}
