/* SPDX-License-Identifier: MIT */
#include "report/svg.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart_style.h"
#include "report/html_text.h"

/* A piece of the document. */
struct span {
    const char *text;
    size_t n;
};

static bool is(struct span s, const char *word)
{
    return s.n == strlen(word) && !memcmp(s.text, word, s.n);
}

static bool begins(struct span s, const char *word)
{
    return s.n >= strlen(word) && !memcmp(s.text, word, strlen(word));
}

static void put(FILE *out, struct span s)
{
    fwrite(s.text, 1, s.n, out);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct span trim(struct span s)
{
    while (s.n && is_space(s.text[0])) {
        s.text++;
        s.n--;
    }
    while (s.n && is_space(s.text[s.n - 1]))
        s.n--;
    return s;
}

/* ------------------------------------------------------------------------------------------------
 * Values of attributes
 */

static bool marker(const long rgb[3], FILE *out)
{
    if (rgb[0] != CHART_MARK_RED)
        return false;
    if (rgb[1] == CHART_MARK_ARM && rgb[2] >= 0 && rgb[2] < CHART_COLORS)
        fprintf(out, "var(--arm%ld)", rgb[2]);
    else if (rgb[1] == CHART_MARK_INK && rgb[2] >= 0 && rgb[2] < N_INKS)
        fprintf(out, "var(%s)", chart_ink_variable((enum chart_ink)rgb[2]));
    else
        return false;
    return true;
}

/* "rgb(  1,   0,   3)"; any other colour becomes the text's, white the ground's: a page has two themes. */
static void put_rgb(FILE *out, struct span s)
{
    long rgb[3] = {0, 0, 0};
    const char *p = s.text + strlen("rgb(");
    char *end;

    for (int i = 0; i < 3; i++) {
        rgb[i] = strtol(p, &end, 10);
        p = end + strspn(end, " ,");
    }
    if (!marker(rgb, out))
        fprintf(out, "var(%s)", chart_ink_variable(rgb[0] + rgb[1] + rgb[2] > 600 ? INK_GROUND : INK_TEXT));
}

static bool is_color(struct span name)
{
    return is(name, "fill") || is(name, "stroke") || is(name, "color") || is(name, "flood-color");
}

static void put_color(FILE *out, struct span s)
{
    if (begins(s, "rgb("))
        put_rgb(out, s);
    else if (is(s, "white"))
        fprintf(out, "var(%s)", chart_ink_variable(INK_GROUND));
    else if (is(s, "none") || is(s, "currentColor"))
        put(out, s);
    else
        fprintf(out, "var(%s)", chart_ink_variable(INK_TEXT));
}

/* Copies, with the prefix after each "url(#". */
static void put_urls(FILE *out, struct span s, const char *prefix)
{
    for (size_t i = 0; i < s.n; i++) {
        fputc(s.text[i], out);
        if (i >= 4 && !memcmp(s.text + i - 4, "url(#", 5))
            fputs(prefix, out);
    }
}

/* Attributes that say what is so anyway. */
static bool is_default(struct span name, struct span value)
{
    return is(name, "font-family") || is(name, "class") || (is(name, "stroke-linecap") && is(value, "butt")) ||
           (is(name, "stroke-linejoin") && is(value, "miter")) || (is(name, "stroke-width") && is(value, "1.00"));
}

static bool refers_outside(struct span name, struct span value)
{
    if (is(name, "xlink:href") || is(name, "href"))
        return !value.n || value.text[0] != '#';
    return begins(name, "on") || begins(name, "xmlns") || begins(name, "xml:");
}

static void put_attribute(FILE *out, struct span name, struct span value, const char *prefix)
{
    value = trim(value);
    if (is_default(name, value) || refers_outside(name, value))
        return;
    fputc(' ', out);
    put(out, name);
    fputs("=\"", out);
    if (is(name, "id")) {
        fputs(prefix, out);
        put(out, value);
    } else if (is(name, "xlink:href") || is(name, "href")) {
        fprintf(out, "#%s%.*s", prefix, (int)value.n - 1, value.text + 1);
    } else if (is_color(name) && !begins(value, "url(")) {
        put_color(out, value);
    } else {
        put_urls(out, value, prefix);
    }
    fputc('"', out);
}

/* ------------------------------------------------------------------------------------------------
 * Tags
 */

/* The next name="value" of a tag; false: none left. */
static bool next_attribute(const char **p, const char *end, struct span *ret_name, struct span *ret_value)
{
    const char *q = *p, *close;

    while (q < end && (is_space(*q) || *q == '/'))
        q++;
    ret_name->text = q;
    while (q < end && *q != '=' && !is_space(*q))
        q++;
    ret_name->n = (size_t)(q - ret_name->text);
    while (q < end && (is_space(*q) || *q == '='))
        q++;
    if (q >= end || (*q != '"' && *q != '\''))
        return false;
    close = memchr(q + 1, *q, (size_t)(end - q - 1));
    if (!close)
        return false;
    *ret_value = (struct span){q + 1, (size_t)(close - q - 1)};
    *p = close + 1;
    return ret_name->n > 0;
}

/* @tag without its brackets. */
static void put_tag(FILE *out, struct span tag, const char *prefix)
{
    const char *end = tag.text + tag.n, *p = tag.text;
    struct span name, value;

    while (p < end && !is_space(*p))
        p++;
    fputc('<', out);
    put(out, (struct span){tag.text, (size_t)(p - tag.text)});
    while (next_attribute(&p, end, &name, &value))
        put_attribute(out, name, value, prefix);
    fputs(tag.n > 1 && end[-1] == '/' && p > tag.text && tag.text[0] != '/' ? "/>" : ">", out);
}

/* Where the tag that begins at @p ends: a > inside quotes does not count. */
static const char *end_of_tag(const char *p)
{
    char quote = '\0';

    for (; *p && (quote || *p != '>'); p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? '\0' : *p;
    }
    return p;
}

static bool is_name(struct span tag, const char *name)
{
    size_t n = strlen(name);

    return begins(tag, name) && (tag.n == n || is_space(tag.text[n]) || tag.text[n] == '/');
}

/* Elements that are left out with their content: gnuplot's own title and description, and names of plots. */
static const char *skipped(struct span tag, const char *rest)
{
    static const char *const names[][2] = {{"title", "</title>"},
                                           {"desc", "</desc>"},
                                           {"script", "</script>"},
                                           {"style", "</style>"},
                                           {"filter", "</filter>"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_name(tag, names[i][0])) {
            const char *end = strstr(rest, names[i][1]);

            return end ? end + strlen(names[i][1]) : rest + strlen(rest);
        }
    return NULL;
}

/* An empty group, of which gnuplot makes many: what is after it. */
static const char *empty_group(struct span tag, const char *rest)
{
    if (!is_name(tag, "g") || tag.text[tag.n - 1] == '/')
        return NULL;
    rest += strspn(rest, " \t\r\n");
    return strncmp(rest, "</g>", 4) ? NULL : rest + 4;
}

static void put_text(FILE *out, struct span s)
{
    struct span t = trim(s);

    if (t.n)
        put(out, t);
    else if (memchr(s.text, '\n', s.n))
        fputc('\n', out);
}

static void put_root(FILE *out, const struct svg_look *look)
{
    fprintf(out, "<svg viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"%stitle %sdesc\"><title id=\"%stitle\">",
            look->width, look->height, look->prefix, look->prefix, look->prefix);
    html_text(out, look->title);
    fprintf(out, "</title><desc id=\"%sdesc\">", look->prefix);
    html_text(out, look->description);
    fputs("</desc>", out);
}

static const char *put_element(FILE *out, struct span tag, const char *rest, const struct svg_look *look)
{
    const char *after = skipped(tag, rest);

    if (!after)
        after = empty_group(tag, rest);
    if (after)
        return after;
    if (is_name(tag, "svg"))
        put_root(out, look);
    else if (tag.n && tag.text[0] != '?' && tag.text[0] != '!')
        put_tag(out, tag, look->prefix);
    return rest;
}

void svg_write(FILE *out, const char *svg, const struct svg_look *look)
{
    const char *p = strstr(svg, "<svg");

    while (p && *p) {
        const char *open = p + strcspn(p, "<"), *close;

        put_text(out, (struct span){p, (size_t)(open - p)});
        if (!*open)
            break;
        close = end_of_tag(open);
        p = *close ? close + 1 : close;
        p = put_element(out, (struct span){open + 1, (size_t)(close - open - 1)}, p, look);
    }
}
