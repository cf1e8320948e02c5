/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <errno.h>

#include "core/error.h"
#include "report/chart_gnuplot.h"
#include "report/report.h"

static int write_page(const struct page *p, struct spur_error *e)
{
    int r;

    html_head(p);
    html_cells(p);
    html_why(p);
    html_panels(p);
    html_times(p);
    html_order(p);
    html_metrics(p);
    html_wire(p);
    r = html_evidence(p, e);
    html_missing(p);
    html_method(p);
    fprintf(p->out, "<p class=\"hint\">Made by spur %s.</p>\n</main>\n</body>\n</html>\n", SPUR_VERSION);
    if (!r && (fflush(p->out) || ferror(p->out)))
        r = error_errno(e, errno ? errno : EIO, "write", "the HTML report");
    return r;
}

int report_html(FILE *out, struct store *s, const struct analysis *a, struct report_undrawn *ret, struct spur_error *e)
{
    struct report_undrawn undrawn = {.why = ""};
    struct chart_book book;
    struct page p = {.out = out, .s = s, .a = a, .book = &book, .undrawn = &undrawn};
    int r = chart_book_make(s, a, &book, e);

    if (r < 0)
        return r;
    undrawn.is_absent = charts_draw(&book.charts, CHART_LIMIT_NS, undrawn.why) == -ENOENT;
    p.forest_log = html_forest_scale(a);
    r = write_page(&p, e);
    chart_book_free(&book);
    if (!r)
        *ret = undrawn;
    return r;
}
