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

int report_html(FILE *out, struct store *s, const struct analysis *a, const char **ret_without, struct spur_error *e)
{
    char reason[CHART_REASON] = "out of memory";
    struct chart_book book;
    struct page p = {.out = out, .s = s, .a = a, .book = &book};
    int r = chart_book_make(s, a, &book, e);

    if (r < 0)
        return r;
    if (charts_draw(&book.charts, CHART_LIMIT_NS, reason) < 0)
        p.why_no_charts = reason;
    p.forest_log = html_forest_scale(a);
    r = write_page(&p, e);
    chart_book_free(&book);
    if (!r)
        *ret_without = p.why_no_charts ? "gnuplot" : NULL;
    return r;
}
