/* SPDX-License-Identifier: MIT */
#include "report/chart_all.h"

#include <errno.h>
#include <string.h>

#include "core/error.h"

static int make(struct store *s, const struct analysis *a, struct chart_book *book, struct spur_error *e)
{
    int r = chart_sets_make(a, &book->sets);

    for (size_t i = 0; i < book->sets.n && !r; i++)
        r = chart_set_draw(a, &book->sets.items[i], i + 1, &book->charts);
    if (!r)
        r = chart_order_make(a, &book->charts, &book->order);
    if (r < 0)
        return error_errno(e, -r, "malloc", "charts");
    return chart_times_make(s, a, &book->charts, &book->times, e);
}

int chart_book_make(struct store *s, const struct analysis *a, struct chart_book *ret, struct spur_error *e)
{
    struct chart_book book = {0};
    int r = make(s, a, &book, e);

    if (r < 0)
        chart_book_free(&book);
    else
        *ret = book;
    return r;
}

void chart_book_free(struct chart_book *book)
{
    charts_free(&book->charts);
    chart_sets_free(&book->sets);
    chart_times_free(&book->times);
}
