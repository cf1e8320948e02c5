/* SPDX-License-Identifier: MIT */
/* Why one arm is faster: docs/why.md. */
#include "report/html.h"

#include <stdlib.h>

#include "core/util.h"
#include "report/sentences.h"

static void write_cause(const struct page *p, const struct cause *c)
{
    _cleanup_free_ char *text = cause_paragraph(p->a, c);

    fputs("<li>", p->out);
    html_text(p->out, text);
    fputs("</li>\n", p->out);
}

void html_why(const struct page *p)
{
    _cleanup_free_ char *none = cause_none_paragraph(p->a);

    if (!p->a->n_causes && !none)
        return;
    fputs("<section id=\"why\">\n<h2>Why</h2>\n<ul>\n", p->out);
    for (size_t i = 0; i < p->a->n_causes; i++)
        write_cause(p, &p->a->causes[i]);
    if (none)
        fprintf(p->out, "<li>%s</li>\n", none);
    fputs("</ul>\n</section>\n", p->out);
}
