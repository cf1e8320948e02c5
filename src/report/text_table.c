/* SPDX-License-Identifier: MIT */
#include "report/text_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_text.h"
#include "report/sentences.h"

/* ------------------------------------------------------------------------------------------------
 * Filling
 */

static void add(struct text_table *t, char *text)
{
    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        char **cells = realloc(t->cells, room * sizeof(*cells));

        if (!cells) {
            free(text);
            return;
        }
        t->cells = cells;
        t->room = room;
    }
    t->cells[t->n++] = text;
}

void text_table_add(struct text_table *t, const char *format, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0)
        text = NULL;
    va_end(ap);
    add(t, text);
}

void text_table_add_name(struct text_table *t, const char *name)
{
    add(t, html_clean(name));
}

void text_table_free(struct text_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i]);
    free(t->cells);
    t->cells = NULL;
    t->n = t->room = 0;
}

/* ------------------------------------------------------------------------------------------------
 * Printing
 */

static const char *cell_at(const struct text_table *t, size_t i)
{
    return t->cells[i] ? t->cells[i] : "";
}

static void measure(const struct text_table *t, size_t *widths)
{
    memset(widths, 0, TEXT_COLUMNS * sizeof(*widths));
    for (size_t i = 0; i < t->n; i++) {
        size_t width = html_length(cell_at(t, i));

        if (width > widths[i % t->n_columns])
            widths[i % t->n_columns] = width;
    }
}

static void put_spaces(FILE *out, size_t n)
{
    while (n--)
        fputc(' ', out);
}

static void print_row(FILE *out, const struct text_table *t, size_t first, const size_t *widths)
{
    size_t owed = 0; /* spaces, put only if something follows */

    for (size_t k = 0; k < t->n_columns && first + k < t->n; k++) {
        const char *text = cell_at(t, first + k);
        size_t pad = widths[k] - html_length(text);

        if (t->align[k] == 'r')
            owed += pad;
        if (*text) {
            put_spaces(out, owed);
            fputs(text, out);
            owed = 0;
        }
        if (t->align[k] != 'r')
            owed += pad;
        owed += 2;
    }
    fputc('\n', out);
}

void text_table_print(FILE *out, const struct text_table *t, const char *indent)
{
    size_t widths[TEXT_COLUMNS];

    measure(t, widths);
    for (size_t i = 0; i < t->n; i += t->n_columns) {
        fputs(indent, out);
        print_row(out, t, i, widths);
    }
}

/* "3 %" and "[1.22, 1.33]" are one word. */
static size_t word_length(const char *text)
{
    size_t n = strcspn(text, " ");

    while (text[n] == ' ' && (text[n + 1] == '%' || (text[0] == '[' && text[n - 1] == ',')))
        n += 1 + strcspn(text + n + 1, " ");
    return n;
}

void text_paragraph(FILE *out, const char *first, const char *text)
{
    size_t indent = html_length(first), column = indent;

    fputs(first, out);
    while (*text) {
        size_t n = word_length(text);
        char *word = strndup(text, n);
        size_t width = word ? html_length(word) : 0;

        if (column > indent && column + 1 + width > TEXT_WIDTH) {
            fputc('\n', out);
            put_spaces(out, indent);
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, n, out);
        free(word);
        column += width;
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}
