/* SPDX-License-Identifier: MIT */
/* Scales, sets of panels, scripts, and gnuplot itself: as it is, absent, failing, hanging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util.h"
#include "report/chart_gnuplot.h"
#include "report/chart_scale.h"
#include "report/chart_sets.h"
#include "report/chart_style.h"

/* ------------------------------------------------------------------------------------------------
 * Scales
 */

static void expect_ticks(const struct chart_scale *s, const char *expected)
{
    char text[256] = "", tick[CHART_TICK_TEXT];

    for (size_t i = 0; i < s->n_ticks; i++) {
        strcat(text, i ? " " : "");
        strcat(text, chart_tick_text(s->ticks[i], tick));
    }
    assert_string_equal(text, expected);
}

static void scale_from_zero(void **state)
{
    struct chart_scale s;

    chart_scale_zero(6.9, &s);
    expect_ticks(&s, "0 2 4 6 8");
    assert_float_equal(s.high, 8, 1e-9);
    chart_scale_zero(0.0031, &s);
    expect_ticks(&s, "0 0.001 0.002 0.003 0.004");
    chart_scale_zero(1000, &s);
    assert_true(s.high > 1000 && s.low == 0); /* the highest point does not lie on the frame */
    chart_scale_span(-7, 12, &s);
    expect_ticks(&s, "-10 -5 0 5 10 15");
}

static void scale_of_decades(void **state)
{
    struct chart_scale s;

    chart_scale_log(30, 800, &s);
    assert_true(s.is_log && s.low < 30 && s.high > 800);
    expect_ticks(&s, "50 100 200 500 1000");
    chart_scale_log(1, 3e5, &s);
    expect_ticks(&s, "1 10 100 1000 10000 100000");
    chart_scale_log(5, 5, &s);
    assert_true(s.n_ticks >= 1 && s.low < s.high);
    chart_scale_log(1e-3, 1e15, &s);
    assert_true(s.n_ticks > 3 && s.n_ticks <= CHART_TICKS);
    chart_scale_rate(1, 50, &s);
    assert_false(s.is_log);
    chart_scale_rate(1, 500, &s);
    assert_true(s.is_log);
    chart_scale_rate(0, 500, &s);
    assert_false(s.is_log);
}

static void scale_of_swept_values(void **state)
{
    static const double powers[] = {1, 2, 4, 8, 16}, even[] = {1, 2, 3, 4}, zero[] = {0, 50, 100};
    const double narrow[] = {0.05, 0.05, 0.05, 0.05, 0.05}, wide[] = {0.4, 0.4, 0.4, 0.4, 0.4};
    struct chart_scale s;
    bool labelled[5];

    chart_scale_swept(powers, 5, narrow, &s, labelled);
    assert_true(s.is_log && s.low < 1 && s.high > 16);
    assert_true(labelled[0] && labelled[1] && labelled[2] && labelled[3] && labelled[4]);
    chart_scale_swept(powers, 5, wide, &s, labelled);
    assert_true(labelled[0] && !labelled[1] && !labelled[3] && labelled[4]);
    chart_scale_swept(even, 4, narrow, &s, labelled);
    assert_false(s.is_log);
    chart_scale_swept(zero, 3, narrow, &s, labelled);
    assert_true(!s.is_log && s.low < 0);
    chart_scale_swept(zero, 1, narrow, &s, labelled);
    assert_true(s.low < s.high && labelled[0]);
}

static void units_are_sensible(void **state)
{
    assert_string_equal(chart_unit_rate(3e9).name, "GiB/s");
    assert_string_equal(chart_unit_rate(3e6).name, "MiB/s");
    assert_string_equal(chart_unit_rate(100).name, "bytes/s");
    assert_string_equal(chart_unit_requests(25000).name, "K/s");
    assert_string_equal(chart_unit_requests(999).name, "1/s");
    assert_string_equal(chart_unit_time(81200).name, "us");
    assert_string_equal(chart_unit_time(2.5e6).name, "ms");
    assert_float_equal(chart_unit_time(2.5e6).factor, 1e6, 0);
}

static void ticks_have_no_exponent(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},         {-0.0, "0"}, {0.25, "0.25"},     {10, "10"},  {100, "100"},
                {2e6, "2000000"}, {-5, "-5"},  {0.1 + 0.2, "0.3"}, {1e-7, "0"}, {1200.5, "1200.5"}};
    char text[CHART_TICK_TEXT];

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(chart_tick_text(rows[i].value, text), rows[i].text);
}

/* ------------------------------------------------------------------------------------------------
 * Colours
 */

static double channel(const char *hex)
{
    char digits[3] = {hex[0], hex[1], '\0'};
    double c = (double)strtol(digits, NULL, 16) / 255;

    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(const char *color)
{
    return 0.2126 * channel(color + 1) + 0.7152 * channel(color + 3) + 0.0722 * channel(color + 5);
}

static double contrast(const char *a, const char *b)
{
    double x = luminance(a), y = luminance(b);

    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static void colors_stand_out(void **state)
{
    const struct chart_palette *palettes[] = {&chart_light, &chart_dark};

    for (size_t p = 0; p < ARRAY_SIZE(palettes); p++) {
        const char *ground = palettes[p]->inks[INK_GROUND];

        for (size_t i = 0; i < CHART_COLORS; i++)
            assert_true(contrast(palettes[p]->arms[i], ground) >= 3);
        assert_true(contrast(palettes[p]->inks[INK_TEXT], ground) >= 7);
        assert_true(contrast(palettes[p]->inks[INK_MUTED], ground) >= 4.5);
    }
}

static void arms_differ(void **state)
{
    for (size_t i = 0; i < 3 * CHART_COLORS; i++)
        for (size_t k = 0; k < i; k++)
            if (i % CHART_COLORS == k % CHART_COLORS)
                assert_string_not_equal(chart_dash(i), chart_dash(k));
            else
                assert_true(chart_point_filled(i) != chart_point_filled(k));
}

/* ------------------------------------------------------------------------------------------------
 * Scripts
 */

static char *string_of(const char *text, bool is_format)
{
    char *ret = NULL;
    size_t size;
    FILE *out = open_memstream(&ret, &size);

    assert_non_null(out);
    chart_string(out, text, is_format);
    assert_int_equal(fclose(out), 0);
    return ret;
}

static void expect_quoted(const char *text, bool is_format, const char *expected)
{
    char *s = string_of(text, is_format);

    assert_string_equal(s, expected);
    free(s);
}

static void strings_are_quoted(void **state)
{
    expect_quoted("a'b\"c`id`\\", false, "'a''b\"c`id`\\'");
    expect_quoted("100%d", false, "'100%d'");
    expect_quoted("100%d", true, "'100%%d'");
    expect_quoted("x\ny\x1b", true, "'x\\x0Ay\\x1B'");
    expect_quoted("", false, "''");
}

/* A chart that shows @text in every place where a name can stand. */
static void add_chart(struct charts *list, const char *name, const char *text)
{
    struct chart_draft d;
    size_t index;

    assert_int_equal(chart_begin(&d, name, strdup(text), strdup(text)), 0);
    assert_int_equal(chart_block(&d), 0);
    fputs(" 1 1\n 2 3\n", d.data);
    fputs("set xrange [0:3]\nset yrange [0:4]\nset xtics (", d.commands);
    chart_string(d.commands, text, true);
    fputs(" 1)\nset xlabel ", d.commands);
    chart_string(d.commands, text, false);
    fputs("\nplot DATA index 0 using 1:2 with lines lc rgb ARM0 title ", d.commands);
    chart_string(d.commands, text, false);
    fputc('\n', d.commands);
    assert_int_equal(chart_end(&d, true, list, &index), 0);
    assert_int_equal(index, list->n - 1);
}

static void a_chart_is_thrown_away(void **state)
{
    struct charts list = {0};
    struct chart_draft d;
    size_t index = 77;

    assert_int_equal(chart_begin(&d, "x", strdup("t"), NULL), -ENOMEM);
    assert_int_equal(chart_end(&d, false, &list, &index), -ENOMEM);
    assert_int_equal(chart_begin(&d, "x", strdup("t"), strdup("d")), 0);
    assert_int_equal(chart_end(&d, false, &list, &index), 0);
    assert_int_equal(list.n, 0);
    assert_int_equal(index, 77);
}

/* ------------------------------------------------------------------------------------------------
 * gnuplot
 */

struct place {
    char dir[64], program[96];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    if (!p)
        return -1;
    strcpy(p->dir, "/tmp/spur-chart.XXXXXX");
    *state = p;
    return mkdtemp(p->dir) ? 0 : -1;
}

static int drop_place(void **state)
{
    struct place *p = *state;

    unsetenv("GNUPLOT");
    unlink(p->program);
    rmdir(p->dir);
    free(p);
    return 0;
}

/* Puts a shell script in gnuplot's place. */
static void stand_in(struct place *p, const char *script)
{
    FILE *f;

    snprintf(p->program, sizeof(p->program), "%s/gnuplot", p->dir);
    f = fopen(p->program, "we");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    chmod(p->program, 0700);
    setenv("GNUPLOT", p->program, 1);
}

static void expect_failure(int code, uint64_t limit_ns, const char *words)
{
    char reason[CHART_REASON] = "";
    struct charts list = {0};

    add_chart(&list, "a", "one");
    add_chart(&list, "b", "two");
    assert_int_equal(charts_draw(&list, limit_ns, reason), code);
    if (!strstr(reason, words))
        fail_msg("\"%s\" is not in \"%s\"", words, reason);
    assert_null(list.items[0].svg);
    assert_null(list.items[1].svg);
    charts_free(&list);
}

static void gnuplot_is_absent(void **state)
{
    setenv("GNUPLOT", "/nonexistent/gnuplot", 1);
    expect_failure(-ENOENT, CHART_LIMIT_NS, "gnuplot was not found");
}

static void gnuplot_fails(void **state)
{
    stand_in(*state, "cat >/dev/null; echo 'line 3: warning' >&2; echo '  no such \033 terminal' >&2; exit 1");
    expect_failure(-EIO, CHART_LIMIT_NS, "gnuplot failed with exit status 1: no such \\x1B terminal");
    stand_in(*state, "kill -9 $$");
    expect_failure(-EIO, CHART_LIMIT_NS, "gnuplot was ended by signal 9");
    stand_in(*state, "exec 0<&-; exit 0"); /* reads nothing */
    expect_failure(-EIO, CHART_LIMIT_NS, "0 of 2 charts");
    stand_in(*state, "cat >/dev/null; echo '<svg></svg>'");
    expect_failure(-EIO, CHART_LIMIT_NS, "1 of 2 charts");
    stand_in(*state, "cat >/dev/null; echo '<svg></svg><svg>'");
    expect_failure(-EIO, CHART_LIMIT_NS, "1 of 2 charts");
}

static void gnuplot_hangs(void **state)
{
    stand_in(*state, "sleep 1000");
    expect_failure(-ETIMEDOUT, 100000000, "gnuplot took longer than 0.1 s");
    stand_in(*state, "exec 0<&- 1>&- 2>&-; exec sleep 1000");
    expect_failure(-ETIMEDOUT, 100000000, "gnuplot took longer than 0.1 s");
    stand_in(*state, "sleep 1000 & cat >/dev/null; echo '<svg></svg><svg></svg>'"); /* somebody holds the pipe */
    expect_failure(-ETIMEDOUT, 100000000, "gnuplot took longer than 0.1 s");
}

/* Gone, or a zombie that nobody waits for. */
static bool is_dead(long pid)
{
    char name[64], state = 'Z';
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
    f = fopen(name, "re");
    if (!f)
        return true;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(f);
    return state == 'Z' || state == 'X';
}

static void nothing_is_left_running(void **state)
{
    struct place *p = *state;
    char script[256], name[96];
    long pid = 0;
    FILE *f;

    snprintf(name, sizeof(name), "%s/pid", p->dir);
    snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s; wait", name);
    stand_in(p, script);
    expect_failure(-ETIMEDOUT, 500000000, "gnuplot took longer than 0.5 s");
    f = fopen(name, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld", &pid), 1);
    fclose(f);
    unlink(name);
    for (int i = 0; i < 2000 && !is_dead(pid); i++)
        usleep(1000);
    assert_true(is_dead(pid));
}

static void requires_gnuplot(void)
{
    char *program = chart_gnuplot_find();

    if (!program) {
        print_message("gnuplot is not installed\n");
        skip();
    }
    free(program);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* Text that a careless script would run, expand or break at comes out as it went in. */
static void gnuplot_draws_what_it_is_given(void **state)
{
    static const struct {
        const char *text, *svg;
    } rows[] = {
        {"it's \"q\" `touch /x/y` $(id) @TEXT %d %s \\", "it's \"q\" `touch /x/y` $(id) @TEXT %d %s \\"},
        {"</svg><script>alert(1)</script>", "&lt;/svg>&lt;script>alert(1)&lt;/script>"},
        {"a_b^c{/Symbol d}", "a_b^c{/Symbol d}"},
        {"line\nbreak\xff", "line\\x0Abreak\\xFF"},
        {"&amp; \xe2\x82\xac", "&amp;amp; \xe2\x82\xac"},
        {"END", "END"},
    };
    char reason[CHART_REASON] = "";
    struct charts list = {0};

    requires_gnuplot();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        add_chart(&list, "x", rows[i].text);
    if (charts_draw(&list, CHART_LIMIT_NS, reason))
        fail_msg("%s", reason);
    for (size_t i = 0; i < list.n; i++) {
        char *expected;

        assert_true(asprintf(&expected, "<text>%s</text>", rows[i].svg) > 0);
        if (count(list.items[i].svg, expected) != 3) /* title, tick, axis; there is no key */
            fail_msg("not thrice %s in\n%s", expected, list.items[i].svg);
        assert_int_equal(count(list.items[i].svg, "<svg"), 1);
        free(expected);
    }
    charts_free(&list);
}

/* ------------------------------------------------------------------------------------------------
 * Sets of panels, of an analysis made by hand
 */

#define N_ARMS  2
#define N_CELLS 18

struct sample {
    struct experiment x;
    struct experiment_arm arms[N_ARMS];
    struct experiment_axis axes[2];
    struct experiment_value threads[3], op[6];
    struct experiment_cell cells[N_CELLS];
    uint32_t values[N_CELLS][2];
    struct arm_cell arm_cells[N_CELLS * N_ARMS];
    struct line lines[1];
    uint32_t line_cells[3];
    struct analysis a;
};

static struct stats_figure figure(double center)
{
    return (struct stats_figure){5, center, center * 0.9, center * 1.1, center * 0.8, center * 1.2};
}

static void fill_arm_cell(struct arm_cell *c, double size)
{
    c->n_ok = 5;
    c->metric[METRIC_RATE] = figure(1e9 * size);
    c->metric[METRIC_REQUESTS] = figure(1000 * size);
    c->metric[METRIC_P50] = figure(1e5 * size);
    c->metric[METRIC_P99] = figure(9e5 * size);
    c->wire[WIRE_IN_FLIGHT] = figure(8 * size);
    c->wire[WIRE_MEAN_BYTES] = figure(size > 4 ? 65536 : 1048576);
    c->process_user_cpus = figure(0.5);
    c->process_system_cpus = figure(1.5);
    c->machine_user_cpus = c->machine_system_cpus = (struct stats_figure){0, NAN, NAN, NAN, NAN, NAN};
}

static void make_sample(struct sample *s)
{
    static char *const texts[] = {"8", "2", "1"}, *const names[] = {"a", "b", "c", "d", "e", "f"};

    memset(s, 0, sizeof(*s));
    s->arms[0].name = "base";
    s->arms[1].name = "it's";
    s->axes[0] = (struct experiment_axis){"threads", UNIT_COUNT, s->threads, 3, NULL, false};
    s->axes[1] = (struct experiment_axis){"op", UNIT_NONE, s->op, 6, NULL, false};
    for (uint32_t i = 0; i < 3; i++) /* falling, as the user gave it */
        s->threads[i] = (struct experiment_value){texts[i], strtod(texts[i], NULL)};
    for (uint32_t i = 0; i < 6; i++)
        s->op[i] = (struct experiment_value){names[i], NAN};
    for (uint32_t i = 0; i < N_CELLS; i++) {
        s->values[i][0] = i / 6;
        s->values[i][1] = i % 6;
        s->cells[i] = (struct experiment_cell){"cell", s->values[i], NULL};
        for (uint32_t arm = 0; arm < N_ARMS; arm++)
            fill_arm_cell(&s->arm_cells[i * N_ARMS + arm], s->threads[i / 6].number * (1 + arm));
    }
    s->x = (struct experiment){.arms = s->arms,
                               .n_arms = N_ARMS,
                               .aa = EXPERIMENT_NONE,
                               .axes = s->axes,
                               .n_axes = 2,
                               .cells = s->cells,
                               .n_cells = N_CELLS,
                               .margin = 0.03};
    s->line_cells[0] = 0;
    s->line_cells[1] = 6;
    s->line_cells[2] = 12;
    s->lines[0] = (struct line){.axis = 0,
                                .arm = 1,
                                .first_cell = 0,
                                .cells = s->line_cells,
                                .n_cells = 3,
                                .saturates = 1,
                                .crossovers = {{0, 1, 4, NAN, NAN, true}},
                                .n_crossovers = 1};
    s->a = (struct analysis){.x = &s->x, .arm_cells = s->arm_cells, .lines = s->lines, .n_lines = 1};
}

static void sets_along_each_axis(void **state)
{
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(sets.n, 9); /* threads at 6 ops, op at 3 threads */
    assert_int_equal(sets.n_left_out, 0);
    assert_non_null(sets.items[0].x);
    assert_float_equal(sets.items[0].x[0], 1, 0);
    assert_float_equal(sets.items[0].x[2], 8, 0);
    assert_int_equal(sets.items[0].cells[0], 12);
    assert_string_equal(sets.items[0].others, "op a");
    assert_string_equal(chart_set_value(&s.a, &sets.items[0], 2), "8");
    assert_non_null(chart_set_line(&s.a, &sets.items[0], 1));
    assert_null(chart_set_line(&s.a, &sets.items[1], 1));
    assert_null(sets.items[8].x);
    assert_string_equal(sets.items[8].others, "threads 1");
    assert_int_equal(sets.items[8].n_cells, 6);
    assert_int_equal(sets.items[8].cells[5], 17);
    chart_sets_free(&sets);
}

static void sets_are_limited(void **state)
{
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    s.axes[0].unit = UNIT_NONE; /* names too */
    s.axes[1].n_values = 6;
    s.x.n_axes = 2;
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_null(sets.items[0].x);
    chart_sets_free(&sets);

    /* as if each cell began a line of its own: 18 along threads, 3 along op */
    for (size_t i = 0; i < N_CELLS; i++)
        s.values[i][0] = 0;
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(sets.n, CHART_MAX_SETS);
    assert_int_equal(sets.n_left_out, 21 - CHART_MAX_SETS);
    chart_sets_free(&sets);
}

static void long_axes_are_thinned(void **state)
{
    enum { N = 1000 };
    struct experiment_value *values = calloc(N, sizeof(*values));
    struct experiment_cell *cells = calloc(N, sizeof(*cells));
    struct arm_cell *arm_cells = calloc(N * N_ARMS, sizeof(*arm_cells));
    uint32_t *indices = calloc(N, sizeof(*indices));
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    for (uint32_t i = 0; i < N; i++) {
        indices[i] = i;
        values[i] = (struct experiment_value){"v", i + 1};
        cells[i] = (struct experiment_cell){"cell", &indices[i], NULL};
    }
    s.axes[0].values = values;
    s.axes[0].n_values = N;
    s.x.n_axes = 1;
    s.x.cells = cells;
    s.x.n_cells = N;
    s.a.arm_cells = arm_cells;
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(sets.items[0].n_cells, CHART_MAX_ALONG);
    assert_int_equal(sets.items[0].n_left_out, N - CHART_MAX_ALONG);
    assert_int_equal(sets.items[0].cells[0], 0);
    assert_int_equal(sets.items[0].cells[CHART_MAX_ALONG - 1], N - 1);
    chart_sets_free(&sets);
    free(values);
    free(cells);
    free(arm_cells);
    free(indices);
}

static void expect_in(const char *text, const char *word)
{
    if (!strstr(text, word))
        fail_msg("\"%s\" is not in:\n%s", word, text);
}

static void panels_of_numbers(void **state)
{
    struct charts list = {0};
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    s.arm_cells[12 * N_ARMS] = (struct arm_cell){.state = PAIR_REFUSED}; /* base at 1 thread has no figure */
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(chart_set_draw(&s.a, &sets.items[0], 1, &list), 0);
    assert_int_equal(list.n, N_PANELS);
    assert_string_equal(list.items[0].name, "set1-throughput");
    assert_string_equal(list.items[0].title, "Throughput, GiB/s");
    expect_in(list.items[0].data, "\n 1 NaN NaN NaN\n 2 1.86265 1.67638 2.04891\n 8 7.45058");
    expect_in(list.items[0].commands, "set xtics ('1' 1, '2' 2, '8' 8)");
    expect_in(list.items[0].commands, "rectangle from 2, graph 0 to 8, graph 1 behind"); /* the crossover */
    expect_in(list.items[0].commands, "'crossover: it''s'");
    expect_in(list.items[0].data, "# arm 2 saturates here\n 2 3.7252");
    expect_in(list.items[0].commands, "title 'it''s'");
    assert_null(strstr(list.items[1].commands, "rectangle"));
    expect_in(list.items[2].commands, "title 'it''s p99'");
    assert_string_equal(list.items[3].title, "CPU cores of the worker, USR and SYS");
    assert_string_equal(list.items[4].name, "set1-wire");
    assert_string_equal(list.items[4].title, "On the wire: requests in flight, size in MiB (right, log)");
    expect_in(list.items[4].data, "\n 1 NaN NaN NaN\n 2 16 14.4 17.6\n 8 64");
    expect_in(list.items[4].data, "# arm 2, mean size: value");
    expect_in(list.items[4].data, "\n 2 1 0.9 1.1\n 8 0.0625");
    expect_in(list.items[4].commands, "set y2tics");
    expect_in(list.items[4].commands, "using 1:2 axes x1y2 with linespoints");
    expect_in(list.items[4].commands, "title 'it''s in flight'");
    expect_in(list.items[4].description, "it's: from 16 to 128 requests");
    charts_free(&list);
    chart_sets_free(&sets);
}

static void panels_of_names(void **state)
{
    struct charts list = {0};
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    for (size_t i = 0; i < N_CELLS * N_ARMS; i++) {
        s.arm_cells[i].machine_system_cpus = figure(2);
        s.arm_cells[i].metric[METRIC_REQUESTS] = (struct stats_figure){0, NAN, NAN, NAN, NAN, NAN};
    }
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(chart_set_draw(&s.a, &sets.items[6], 7, &list), 0);
    assert_int_equal(list.n, 4);
    assert_int_equal(sets.items[6].panels[PANEL_REQUESTS], CHART_NONE);
    assert_int_equal(sets.items[6].panels[PANEL_CPU], 2);
    expect_in(list.items[0].commands, "('a' 0, 'b' 1, 'c' 2, 'd' 3, 'e' 4, 'f' 5)");
    expect_in(list.items[0].commands, "boxxyerror");
    assert_string_equal(list.items[2].title, "CPU cores of the machine, USR and SYS");
    assert_string_equal(list.items[3].title, "On the wire: requests in flight");
    expect_in(list.items[3].commands, "set label '64 KiB' at ");
    assert_null(strstr(list.items[3].commands, "y2"));
    expect_in(list.items[2].data, " 0 NaN NaN 2 NaN NaN\n"); /* USR was never above the baseline */
    charts_free(&list);
    chart_sets_free(&sets);
}

/* Two blocks may give an interval of any width: an axis is set by figures first. */
static void panels_of_wide_intervals(void **state)
{
    struct charts list = {0};
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    for (size_t i = 0; i < N_CELLS * N_ARMS; i++) {
        s.arm_cells[i].process_user_cpus.high = 80; /* drawn nowhere */
        s.arm_cells[i].metric[METRIC_REQUESTS] = (struct stats_figure){2, 1000, 1e-3, 1e9, 900, 1100};
    }
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(chart_set_draw(&s.a, &sets.items[0], 1, &list), 0);
    expect_in(list.items[1].commands, "set yrange [0:5]"); /* K/s */
    expect_in(list.items[3].commands, "set yrange [0:2.5]");
    charts_free(&list);
    chart_sets_free(&sets);
}

/* A label of a tick may take 49 bytes in gnuplot. */
static void long_names_stay_whole(void **state)
{
    struct charts list = {0};
    struct chart_sets sets;
    struct sample s;

    make_sample(&s);
    s.axes[0].n_values = 1;
    s.axes[1].n_values = 2;
    s.x.n_cells = 2;
    s.op[0].text = "\xf0\x9f\x98\x80\xf0\x9f\x98\x81\xf0\x9f\x98\x82\xf0\x9f\x98\x83\xf0\x9f\x98\x84\xf0\x9f\x98\x85"
                   "\xf0\x9f\x98\x86"
                   "\xf0\x9f\x98\x87\xf0\x9f\x98\x88\xf0\x9f\x98\x89\xf0\x9f\x98\x8a\xf0\x9f\x98\x8b\xf0\x9f\x98\x8c"
                   "\xf0\x9f\x98\x8d";
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    assert_int_equal(chart_set_draw(&s.a, &sets.items[sets.n - 1], 1, &list), 0);
    expect_in(list.items[0].commands,
              "set xtics ('\xf0\x9f\x98\x80\xf0\x9f\x98\x81\xf0\x9f\x98\x82\xf0\x9f\x98\x83\xf0\x9f\x98\x84..."
              "\xf0\x9f\x98\x89\xf0\x9f\x98\x8a\xf0\x9f\x98\x8b\xf0\x9f\x98\x8c\xf0\x9f\x98\x8d' 0");
    charts_free(&list);
    chart_sets_free(&sets);
}

static void panels_are_drawn(void **state)
{
    char reason[CHART_REASON] = "";
    struct charts list = {0};
    struct chart_sets sets;
    struct sample s;

    requires_gnuplot();
    make_sample(&s);
    assert_int_equal(chart_sets_make(&s.a, &sets), 0);
    for (size_t i = 0; i < sets.n; i++)
        assert_int_equal(chart_set_draw(&s.a, &sets.items[i], i + 1, &list), 0);
    assert_int_equal(list.n, 9 * N_PANELS);
    if (charts_draw(&list, CHART_LIMIT_NS, reason))
        fail_msg("%s", reason);
    for (size_t i = 0; i < list.n; i++) {
        assert_non_null(strstr(list.items[i].svg, "rgb(  1,   0,   1)")); /* the second arm */
        assert_non_null(strstr(list.items[i].svg, list.items[i].title));
    }
    charts_free(&list);
    chart_sets_free(&sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_from_zero),
        cmocka_unit_test(scale_of_decades),
        cmocka_unit_test(scale_of_swept_values),
        cmocka_unit_test(units_are_sensible),
        cmocka_unit_test(ticks_have_no_exponent),
        cmocka_unit_test(colors_stand_out),
        cmocka_unit_test(arms_differ),
        cmocka_unit_test(strings_are_quoted),
        cmocka_unit_test(a_chart_is_thrown_away),
        cmocka_unit_test_setup_teardown(gnuplot_is_absent, make_place, drop_place),
        cmocka_unit_test_setup_teardown(gnuplot_fails, make_place, drop_place),
        cmocka_unit_test_setup_teardown(gnuplot_hangs, make_place, drop_place),
        cmocka_unit_test_setup_teardown(nothing_is_left_running, make_place, drop_place),
        cmocka_unit_test(gnuplot_draws_what_it_is_given),
        cmocka_unit_test(sets_along_each_axis),
        cmocka_unit_test(sets_are_limited),
        cmocka_unit_test(long_axes_are_thinned),
        cmocka_unit_test(panels_of_numbers),
        cmocka_unit_test(panels_of_names),
        cmocka_unit_test(panels_of_wide_intervals),
        cmocka_unit_test(long_names_stay_whole),
        cmocka_unit_test(panels_are_drawn),
    };

    return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
