/* SPDX-License-Identifier: MIT */
#include "report/html_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Smallest code point of each length: shorter forms are not UTF-8. */
static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t length_of_lead(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c < 0xe0)
        return 2;
    if (c >= 0xe0 && c < 0xf0)
        return 3;
    return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

static bool turns_or_breaks(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
           c == 0xfeff;
}

static bool is_printable(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || turns_or_breaks(c))
        return false;
    if (c >= 0xd800 && c < 0xe000)
        return false;
    return c <= 0x10ffff && (c & 0xfffe) != 0xfffe && !(c >= 0xfdd0 && c <= 0xfdef);
}

size_t html_printable(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = length_of_lead(*u);
    uint32_t c;

    if (n < 2)
        return n && is_printable(*u) ? 1 : 0;
    c = *u & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3fu);
    }
    return c >= smallest[n] && is_printable(c) ? n : 0;
}

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
        size_t n = html_printable(s);
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
