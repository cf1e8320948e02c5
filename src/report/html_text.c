/* SPDX-License-Identifier: MIT */
#include "report/html_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put(FILE *out, const char *s, bool escape)
{
    while (s && *s) {
        size_t n = utf8_printable(s);
        const char *e = escape && n == 1 ? entity(*s) : NULL;

        if (!n)
            fprintf(out, "\\x%02X", (unsigned char)*s);
        else if (e)
            fputs(e, out);
        else
            fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
}

void html_text(FILE *out, const char *s)
{
    put(out, s, true);
}

char *html_clean(const char *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    put(out, s, false);
    return fclose(out) ? free(text), NULL : text;
}

static bool is_start(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t html_length(const char *clean)
{
    size_t n = 0;

    for (; *clean; clean++)
        n += is_start(*clean);
    return n;
}

/* The byte where character @index begins. */
static size_t offset_of(const char *clean, size_t index)
{
    size_t i = 0;

    for (; clean[i]; i++)
        if (is_start(clean[i]) && !index--)
            break;
    return i;
}

char *html_shorten(const char *clean, size_t max)
{
    size_t n = html_length(clean), head, tail;
    char *ret;

    if (n <= max || max < 5)
        return strdup(clean);
    head = (max - 3) / 2;
    tail = max - 3 - head;
    return asprintf(&ret, "%.*s...%s", (int)offset_of(clean, head), clean, clean + offset_of(clean, n - tail)) < 0
               ? NULL
               : ret;
}
