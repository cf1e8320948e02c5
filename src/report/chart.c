/* SPDX-License-Identifier: MIT */
#include "report/chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/chart_style.h"
#include "report/html_text.h"

static void free_chart(struct chart *c)
{
    free(c->name);
    free(c->title);
    free(c->description);
    free(c->data);
    free(c->commands);
    free(c->svg);
}

void charts_free(struct charts *list)
{
    for (size_t i = 0; i < list->n; i++)
        free_chart(&list->items[i]);
    free(list->items);
    memset(list, 0, sizeof(*list));
}

int chart_begin(struct chart_draft *d, const char *name, char *title, char *description)
{
    memset(d, 0, sizeof(*d));
    d->chart.name = strdup(name);
    d->chart.title = title;
    d->chart.description = description;
    d->chart.width = 480;
    d->chart.height = 320;
    d->chart.has_key = true;
    d->data = open_memstream(&d->chart.data, &d->data_size);
    d->commands = open_memstream(&d->chart.commands, &d->commands_size);
    return d->chart.name && title && description && d->data && d->commands ? 0 : -ENOMEM;
}

size_t chart_block(struct chart_draft *d)
{
    if (d->n_blocks)
        fputs("\n\n", d->data);
    return d->n_blocks++;
}

static int add(struct charts *list, const struct chart *c, size_t *ret_index)
{
    struct chart *grown = reallocarray(list->items, list->n + 1, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    list->items = grown;
    *ret_index = list->n;
    grown[list->n++] = *c;
    return 0;
}

int chart_end(struct chart_draft *d, bool keep, struct charts *list, size_t *ret_index)
{
    bool is_whole = d->chart.name && d->chart.title && d->chart.description && d->data && d->commands;
    int r;

    if (d->data && fclose(d->data))
        is_whole = false;
    if (d->commands && fclose(d->commands))
        is_whole = false;
    if (!is_whole)
        r = -ENOMEM;
    else if (keep)
        r = add(list, &d->chart, ret_index);
    else
        r = 0;
    if (r < 0 || !keep)
        free_chart(&d->chart);
    memset(d, 0, sizeof(*d));
    return r;
}

void chart_string(FILE *out, const char *text, bool is_format)
{
    _cleanup_free_ char *clean = html_clean(text);

    fputc('\'', out);
    for (const char *p = clean ? clean : ""; *p; p++) {
        if (*p == '\'' || (is_format && *p == '%'))
            fputc(*p, out);
        fputc(*p, out);
    }
    fputc('\'', out);
}

void chart_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, " %.6g", value);
    else
        fputs(" NaN", out);
}

/* ------------------------------------------------------------------------------------------------
 * Scripts
 */

#define KEY_WIDTH  180 /* beside the plot, in a file of its own */
#define RIGHT_ROOM 45  /* between plot and key: numbers of a right axis */

static const char *const ink_names[N_INKS] = {"TEXT", "MUTED", "GRID", "GROUND", "BAND"};

/* Colours are gnuplot variables, so that one set of commands serves page and file. */
static void write_colors(FILE *out, const struct chart_palette *p)
{
    for (unsigned i = 0; i < CHART_COLORS; i++)
        if (p)
            fprintf(out, "ARM%u = '%s'\n", i, p->arms[i]);
        else
            fprintf(out, "ARM%u = '#%02x%02x%02x'\n", i, CHART_MARK_RED, CHART_MARK_ARM, i);
    for (unsigned i = 0; i < N_INKS; i++)
        if (p)
            fprintf(out, "%s = '%s'\n", ink_names[i], p->inks[i]);
        else
            fprintf(out, "%s = '#%02x%02x%02x'\n", ink_names[i], CHART_MARK_RED, CHART_MARK_INK, i);
}

static void write_common(FILE *out, const struct chart *c)
{
    fputs("set encoding utf8\n"
          "set border 1 lc rgb MUTED\n"
          "set tics nomirror textcolor rgb TEXT\n"
          "set xtics scale 0.5\n"
          "set ytics scale 0\n"
          "set grid ytics lt 1 lw 0.7 lc rgb GRID\n"
          "set tmargin 2.4\n"
          "set rmargin 3\n",
          out);
    fputs("set label 1 ", out);
    chart_string(out, c->title, false);
    fputs(" at screen 0.015, screen 0.945 left textcolor rgb TEXT\n", out);
}

void chart_write_inline(FILE *out, const struct chart *c, size_t index)
{
    fputs("reset\n", out);
    write_colors(out, NULL);
    fprintf(out, "$data%zu << END\n%s\nEND\nDATA = '$data%zu'\n", index, c->data, index);
    fprintf(out, "set terminal svg size %u,%u dynamic noenhanced font 'sans-serif,14'\n", c->width, c->height);
    write_common(out, c);
    fputs("unset key\n", out);
    fputs(c->commands, out);
    fprintf(out, "set output\nundefine $data%zu\n", index);
}

void chart_write_file(FILE *out, const struct chart *c, const char *name)
{
    fprintf(out, "# Made by spur %s. `gnuplot %s.gp` in this folder makes %s.svg.\nreset\n", SPUR_VERSION, name, name);
    write_colors(out, &chart_light);
    fprintf(out,
            "HAS_KEY = %d\nDATA = '%s.dat'\nset terminal svg size %u,%u noenhanced font 'sans-serif,14' background "
            "GROUND\n",
            c->has_key, name, c->width + (c->has_key ? KEY_WIDTH : 0), c->height);
    fprintf(out, "set output '%s.svg'\n", name);
    write_common(out, c);
    if (c->has_key)
        fprintf(out, "set rmargin at screen %.3f\nset key at screen 0.99, screen 0.9 right top textcolor rgb TEXT\n",
                (double)(c->width - RIGHT_ROOM) / (c->width + KEY_WIDTH));
    else
        fputs("unset key\n", out);
    fputs(c->commands, out);
    fputs("set output\n", out);
}
