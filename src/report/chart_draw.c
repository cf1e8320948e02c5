/* SPDX-License-Identifier: MIT */
/* All charts of a page from one gnuplot: scripts in, SVG documents out, one after the other. */
#include "report/chart_gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

static int write_script(const struct charts *list, char **ret, size_t *ret_length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_length);

    if (!out)
        return -ENOMEM;
    for (size_t i = 0; i < list->n; i++)
        chart_write_inline(out, &list->items[i], i);
    if (fclose(out)) {
        free(text);
        return -ENOMEM;
    }
    *ret = text;
    return 0;
}

static void drop(struct charts *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].svg);
        list->items[i].svg = NULL;
    }
}

/* Text inside a document cannot hold a tag: gnuplot escapes it. */
static int split(struct charts *list, const char *output, char reason[CHART_REASON])
{
    const char *p = output;

    for (size_t i = 0; i < list->n; i++) {
        const char *begin = strstr(p, "<svg"), *end = begin ? strstr(begin, "</svg>") : NULL;

        if (!end) {
            snprintf(reason, CHART_REASON, "gnuplot made %zu of %zu charts", i, list->n);
            return -EIO;
        }
        p = end + strlen("</svg>");
        list->items[i].svg = strndup(begin, (size_t)(p - begin));
        if (!list->items[i].svg)
            return -ENOMEM;
    }
    return 0;
}

int charts_draw(struct charts *list, uint64_t limit_ns, char reason[CHART_REASON])
{
    _cleanup_free_ char *program = chart_gnuplot_find(), *script = NULL, *output = NULL;
    char *arguments[] = {"-", NULL};
    struct chart_gnuplot_run run = {.program = program, .arguments = arguments, .directory = -1, .limit_ns = limit_ns};
    size_t length;
    int r;

    *reason = '\0';
    if (!list->n)
        return 0;
    if (!program) {
        snprintf(reason, CHART_REASON, "gnuplot was not found");
        return -ENOENT;
    }
    snprintf(reason, CHART_REASON, "out of memory");
    r = write_script(list, &script, &run.input_length);
    if (r < 0)
        return r;
    run.input = script;
    r = chart_gnuplot_run(&run, &output, &length, reason);
    if (!r)
        r = split(list, output, reason);
    if (r < 0)
        drop(list);
    else
        *reason = '\0';
    return r;
}
