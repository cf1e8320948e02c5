/* SPDX-License-Identifier: MIT */
/* Text on its way into a page, JSON as lists, and gnuplot's SVG made fit to stand beside others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/util.h"
#include "report/chart_style.h"
#include "report/html_json.h"
#include "report/html_text.h"
#include "report/svg.h"

struct text {
    char *text;
    size_t size;
    FILE *out;
};

static void begin(struct text *t)
{
    t->out = open_memstream(&t->text, &t->size);
    assert_non_null(t->out);
}

static const char *end(struct text *t)
{
    assert_int_equal(fclose(t->out), 0);
    return t->text;
}

static void expect_html(const char *text, const char *html)
{
    struct text t;

    begin(&t);
    html_text(t.out, text);
    assert_string_equal(end(&t), html);
    free(t.text);
}

static void expect_clean(const char *text, const char *clean)
{
    char *got = html_clean(text);

    assert_string_equal(got, clean);
    free(got);
}

/* ------------------------------------------------------------------------------------------------ */

static void html_escapes(void **state)
{
    expect_html(NULL, "");
    expect_html("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    expect_html("a'b\"c`id`&amp;", "a&#39;b&quot;c`id`&amp;amp;");
    expect_html("gr\xc3\xb6\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x98\x80",
                "gr\xc3\xb6\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void bytes_are_shown(void **state)
{
    expect_clean("a\nb\tc\x1b[31m\x7f", "a\\x0Ab\\x09c\\x1B[31m\\x7F");
    expect_clean("\xff\xfe", "\\xFF\\xFE");
    expect_clean("cut \xe2\x82", "cut \\xE2\\x82");
    expect_clean("long form \xc0\xaf", "long form \\xC0\\xAF");
    expect_clean("\xe0\x80\xaf", "\\xE0\\x80\\xAF");
    expect_clean("surrogate \xed\xa0\x80", "surrogate \\xED\\xA0\\x80");
    expect_clean("too far \xf4\x90\x80\x80", "too far \\xF4\\x90\\x80\\x80");
    expect_clean("C1 \xc2\x9b", "C1 \\xC2\\x9B");
    expect_clean("turned \xe2\x80\xae", "turned \\xE2\\x80\\xAE");
    expect_clean("no character \xef\xbf\xbf", "no character \\xEF\\xBF\\xBF");
}

static void texts_are_shortened(void **state)
{
    char *s = html_shorten("0123456789abcdef", 10);

    assert_string_equal(s, "012...cdef");
    free(s);
    s = html_shorten("as it is", 8);
    assert_string_equal(s, "as it is");
    free(s);
    s = html_shorten("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 6);
    assert_string_equal(s, "\xc3\xa4...\xc3\xbc\xc3\x9f");
    assert_int_equal(html_length(s), 6);
    free(s);
}

/* ------------------------------------------------------------------------------------------------ */

static void json_becomes_rows(void **state)
{
    json_t *v = json_loads("{\"a\":{\"bytes\":65536,\"b<\":[1,\"x&y\"],\"none\":[]},\"gone\":null,\"yes\":true,"
                           "\"files\":[{\"name\":\"n\\u0000\"},{\"name\":\"m\"}],\"last\":1.5}",
                           JSON_ALLOW_NUL, NULL);
    json_t *nulls = json_pack("{s:s}", "gone", "nothing <counts> it");
    struct html_json j = {.nulls = nulls, .max = 6};
    struct text t;

    assert_non_null(v);
    begin(&t);
    j.out = t.out;
    html_json(&j, "", v);
    assert_string_equal(end(&t), "<dt>a.bytes<dd>65536 <small>64 KiB</small>\n"
                                 "<dt>a.b&lt;<dd>1, x&amp;y\n"
                                 "<dt>a.none<dd>none\n"
                                 "<dt>gone<dd>not known: nothing &lt;counts&gt; it\n"
                                 "<dt>yes<dd>yes\n"
                                 "<dt>files[0].name<dd>n\n");
    assert_int_equal(j.left_out, 2);
    free(t.text);
    json_decref(v);
    json_decref(nulls);
}

/* ------------------------------------------------------------------------------------------------ */

static char *inlined(const char *svg, const char *prefix)
{
    struct svg_look look = {prefix, 480, 320, "A < B", "\"what\" is seen"};
    struct text t;

    begin(&t);
    svg_write(t.out, svg, &look);
    end(&t);
    return t.text;
}

static void expect_svg(const char *body, const char *expected)
{
    char *svg = NULL, *got, *inside;

    assert_true(asprintf(&svg,
                         "<?xml version=\"1.0\"?>\n<!DOCTYPE svg [<!ENTITY a \"b\">]>\n<svg width='1' "
                         "xmlns=\"http://www.w3.org/2000/svg\">%s</svg>",
                         body) > 0);
    got = inlined(svg, "c7-");
    inside = strstr(got, "</desc>");
    assert_non_null(inside);
    inside += strlen("</desc>");
    assert_string_equal(inside + strlen(inside) - 6, "</svg>");
    inside[strlen(inside) - 6] = '\0';
    assert_string_equal(inside, expected);
    free(got);
    free(svg);
}

static void svg_has_a_role_and_a_size(void **state)
{
    char *got = inlined("<svg x='y'></svg>", "c1-");

    assert_string_equal(got, "<svg viewBox=\"0 0 480 320\" role=\"img\" aria-labelledby=\"c1-title c1-desc\"><title "
                             "id=\"c1-title\">A &lt; B</title><desc id=\"c1-desc\">&quot;what&quot; is "
                             "seen</desc></svg>");
    free(got);
}

static void svg_ids_are_prefixed(void **state)
{
    expect_svg("<path id='gpPt0' d='M-1,0 h2'/><use xlink:href='#gpPt0' x=\"1\"/><use href=\"#gpPt0\"/>",
               "<path id=\"c7-gpPt0\" d=\"M-1,0 h2\"/><use xlink:href=\"#c7-gpPt0\" x=\"1\"/><use "
               "href=\"#c7-gpPt0\"/>");
    expect_svg("<g clip-path=\"url(#a)\" mask='url(#b)'><path d='M0'/></g>",
               "<g clip-path=\"url(#c7-a)\" mask=\"url(#c7-b)\"><path d=\"M0\"/></g>");
    expect_svg("<text>id='no' url(#no)</text>", "<text>id='no' url(#no)</text>");
}

static void svg_refers_to_nothing_outside(void **state)
{
    expect_svg("<image xlink:href='http://example.org/x.png'/><a href='x'>b</a>", "<image/><a>b</a>");
    expect_svg("<script>alert(1)</script><path onload='x' d='M1'/><style>@import</style>", "<path d=\"M1\"/>");
    expect_svg("<title>gnuplot</title><desc>Produced by</desc><filter id='f'><feFlood flood-color='white'/></filter>",
               "");
}

static void svg_colors_are_variables(void **state)
{
    expect_svg("<path stroke='rgb(  1,   0,   3)' fill = \"rgb(1,1,2)\" d='M1'/>",
               "<path stroke=\"var(--arm3)\" fill=\"var(--grid)\" d=\"M1\"/>");
    expect_svg("<g color=\"black\" fill='none' stroke='currentColor'><path fill='white' d='M1'/></g>",
               "<g color=\"var(--text)\" fill=\"none\" stroke=\"currentColor\"><path fill=\"var(--ground)\" "
               "d=\"M1\"/></g>");
    expect_svg("<path stroke='rgb(0,0,0)' fill='rgb(255,255,255)' color='#123456'/>",
               "<path stroke=\"var(--text)\" fill=\"var(--ground)\" color=\"var(--text)\"/>");
    expect_svg("<path stroke='rgb(1,0,8)' fill='rgb(1,1,9)'/>", "<path stroke=\"var(--text)\" fill=\"var(--text)\"/>");
}

static void svg_empty_groups_go(void **state)
{
    expect_svg("<g fill='none'>\n</g>\n<g id='a'><text>x > y</text></g>", "\n<g id=\"c7-a\"><text>x > y</text></g>");
    expect_svg("<text font-family=\"sans-serif\" font-size=\"14.00\" a='x>y'>1</text>",
               "<text font-size=\"14.00\" a=\"x>y\">1</text>");
}

/* Whatever it is given, it ends, and no id is left without its prefix. */
static void svg_broken_input(void **state)
{
    static const char *const broken[] = {"",
                                         "no svg",
                                         "<svg",
                                         "<svg><path d='",
                                         "<svg><path d='M1' id=x>",
                                         "<svg><title>never closed",
                                         "<svg><g",
                                         "<svg><>",
                                         "<svg></",
                                         "<svg><use xlink:href=''/>",
                                         "<svg>\xff<path fill='rgb('/>"};

    for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
        free(inlined(broken[i], "p-"));
}

/* ------------------------------------------------------------------------------------------------ */

static void swatches_use_the_palette(void **state)
{
    struct text t;

    begin(&t);
    chart_style_swatch(t.out, 9);
    assert_non_null(strstr(end(&t), "var(--arm1)"));
    free(t.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_escapes),
        cmocka_unit_test(bytes_are_shown),
        cmocka_unit_test(texts_are_shortened),
        cmocka_unit_test(json_becomes_rows),
        cmocka_unit_test(svg_has_a_role_and_a_size),
        cmocka_unit_test(svg_ids_are_prefixed),
        cmocka_unit_test(svg_refers_to_nothing_outside),
        cmocka_unit_test(svg_colors_are_variables),
        cmocka_unit_test(svg_empty_groups_go),
        cmocka_unit_test(svg_broken_input),
        cmocka_unit_test(swatches_use_the_palette),
    };

    return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
