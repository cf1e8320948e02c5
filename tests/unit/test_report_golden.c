/* SPDX-License-Identifier: MIT */
/* The report's text of experiments whose truth is known, against tests/data/report. SPUR_TEST_UPDATE in the
 * environment writes these files anew: read what changed before keeping it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test_report.h"

static char *read_file(const char *filename)
{
    char *text = calloc(1, 1 << 16);
    FILE *f = fopen(filename, "re");

    assert_non_null(text);
    if (f) {
        assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
        fclose(f);
    }
    return text;
}

static void write_file(const char *filename, const char *text)
{
    FILE *f = fopen(filename, "we");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static char *text_of(const struct analysis *a, void (*report)(FILE *, const struct analysis *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    report(out, a);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void expect(const struct made *m, const char *name, void (*report)(FILE *, const struct analysis *))
{
    char filename[400], *text = text_of(&m->a, report), *expected;

    snprintf(filename, sizeof(filename), "%s/report/%s", SPUR_TEST_DATA, name);
    if (getenv("SPUR_TEST_UPDATE"))
        write_file(filename, text);
    expected = read_file(filename);
    if (strcmp(text, expected))
        fail_msg("%s is not what is printed:\n%s", filename, text);
    free(expected);
    free(text);
}

static void finish(struct made *m, const char *name)
{
    made_event(m, EVENT_FINISHED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(m);
    expect(m, name, report_text);
    made_free(m);
}

static double by_cell(const struct made *m, uint32_t cell, uint32_t arm)
{
    const double *ratios = m->context;

    return (1000 + 900 * cell) * (arm == 1 ? ratios[cell] : 1);
}

/* ------------------------------------------------------------------------------------------------ */

static void test_faster_then_same(void **state)
{
    double ratios[] = {1.28, 1.0, 1.0, 1.0};
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 4 8 16");
    made_plan(&m, 5);
    m.context = ratios;
    m.rate = by_cell;
    made_run(&m);
    finish(&m, "faster-then-same.txt");
}

/* The arm leads up to 8 threads and falls behind at 16; both stop growing. */
static double crossing(const struct made *m, uint32_t cell, uint32_t arm)
{
    const double baseline[] = {500, 1000, 2000, 3000, 3020, 3010}, fanout[] = {800, 1500, 2600, 3150, 2700, 2400};

    return arm ? fanout[cell] : baseline[cell];
}

static void test_crossover(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 2 4 8 16 32");
    made_plan(&m, 20);
    m.rate = crossing;
    made_run(&m);
    finish(&m, "crossover.txt");
}

static void test_undecided(void **state)
{
    double ratios[] = {1.03, 0.99, 1.02};
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "request", UNIT_BYTES, "4K 64K 1M");
    made_plan(&m, 5);
    m.context = ratios;
    m.rate = by_cell;
    m.noise = 0.15;
    made_run(&m);
    finish(&m, "undecided.txt");
}

static double biased(const struct made *m, uint32_t cell, uint32_t arm)
{
    return arm == m->x.aa && cell == 1 ? 1100 : 1000;
}

static void test_aa_biased(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout aa");
    made_axis(&m, "depth", UNIT_COUNT, "1 2 4");
    made_plan(&m, 5);
    m.rate = biased;
    made_run(&m);
    finish(&m, "aa-biased.txt");
}

static void test_refused(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout cufile aa");
    made_axis(&m, "threads", UNIT_COUNT, "1 2 4");
    made_plan(&m, 6);
    for (uint32_t cell = 0; cell < 3; cell++)
        made_state(&m, cell, 2, PAIR_REFUSED, "nvidia-fs is not loaded");
    made_state(&m, 0, 1, PAIR_NOT_APPLICABLE, "fanout needs 2 threads");
    made_run(&m);
    finish(&m, "refused.txt");
}

static double by_op(const struct made *m, uint32_t cell, uint32_t arm)
{
    return arm == 1 ? cell >= 6 ? 1500 : 700 : 1000;
}

/* Two axes, one of sizes from bytes to MiB and one of names. */
static void test_mixed_units(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "op", UNIT_NONE, "read randwrite mix");
    made_axis(&m, "request", UNIT_BYTES, "512 4K 1M");
    made_plan(&m, 5);
    m.rate = by_op;
    made_run(&m);
    finish(&m, "mixed-units.txt");
}

static void test_no_axis(void **state)
{
    double ratios[] = {1.5};
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 5);
    m.context = ratios;
    m.rate = by_cell;
    made_run(&m);
    finish(&m, "no-axis.txt");
}

/* ------------------------------------------------------------------------------------------------ */

static const char hostile[] = "<script>alert(1)</script>|x\n\x1b[31mred\xff\xc2\x9b";

static void hostile_trial(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->arm != 1 || row->block != 1)
        return;
    t->status = TRIAL_FAILED;
    t->error = (char *)hostile;
}

static void hostile_begin(struct made *m)
{
    made_begin(m, "odirect fanout");
    free(m->x.arms[1].name);
    m->x.arms[1].name = strdup(hostile);
    made_setting(&m->x.common, "file", hostile);
    free(m->x.command);
    m->x.command = strdup(hostile);
    made_axis(m, "cufile-json", UNIT_NONE, "a b");
    free(m->x.axes[0].values[1].text);
    m->x.axes[0].values[1].text = strdup(hostile);
    made_plan(m, 6);
    m->trial = hostile_trial;
    made_run(m);
}

static void test_hostile(void **state)
{
    struct made m;

    hostile_begin(&m);
    finish(&m, "hostile.txt");
}

static void test_hostile_markdown(void **state)
{
    struct made m;

    hostile_begin(&m);
    made_finish(&m);
    expect(&m, "hostile.md", report_markdown);
    made_free(&m);
}

/* No byte that a terminal obeys, whatever names there are. */
static void test_clean(void **state)
{
    void (*const reports[])(FILE *, const struct analysis *) = {report_text, report_markdown};
    struct made m;

    hostile_begin(&m);
    made_finish(&m);
    for (size_t i = 0; i < 2; i++) {
        char *text = text_of(&m.a, reports[i]);

        assert_null(strchr(text, 0x1b));
        assert_null(strchr(text, 0xff));
        assert_null(strstr(text, "\xc2\x9b"));
        assert_non_null(strstr(text, i ? "\\\\x1B" : "\\x1B"));
        free(text);
    }
    made_free(&m);
}

/* ------------------------------------------------------------------------------------------------ */

/* The third arm fails at 4 threads until it is stopped; the second is answered by the page cache at 1. */
static void troubled(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->arm == 2 && row->cell == 1) {
        t->status = TRIAL_FAILED;
        t->error = (char *)"/mnt/a/file: Input/output error";
    }
    if (row->arm == 1 && row->cell == 0)
        strcpy(t->served, "cache");
    if (row->arm == 2 && row->cell == 0 && row->block == 2)
        t->figures.metric[METRIC_RATE] /= 2;
    strcpy(t->verify, "off");
}

static void test_troubled(void **state)
{
    struct made m;

    made_begin(&m, "odirect buffered fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 4");
    made_plan(&m, 8);
    m.x.quick = true;
    free(m.x.memory);
    m.x.memory = strdup("emulated");
    m.trial = troubled;
    m.n_trials = 6 * 6 + 2;
    made_run(&m);
    made_event(&m, EVENT_STOPPED, 2, 1, 2, "three failures in a row: /mnt/a/file: Input/output error");
    made_event(&m, EVENT_INTERRUPTED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    expect(&m, "troubled.txt", report_text);
    expect(&m, "troubled.md", report_markdown);
    made_free(&m);
}

static void test_few_blocks(void **state)
{
    double ratios[] = {1.5, 1.2};
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 4");
    made_plan(&m, 2);
    m.context = ratios;
    m.rate = by_cell;
    made_run(&m);
    finish(&m, "few-blocks.txt");
}

/* What the storage saw, where it is known: the second arm's trials at 4 threads know nothing. */
static void wire_in_part(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->cell != 1 || row->arm != 1)
        return;
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        t->figures.wire[w] = NAN;
    t->figures.wire_retries = NAN;
}

static void test_on_the_wire(void **state)
{
    double ratios[] = {1.28, 1.0};
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 4");
    made_plan(&m, 5);
    m.context = ratios;
    m.rate = by_cell;
    m.wire = true;
    m.trial = wire_in_part;
    made_run(&m);
    made_event(&m, EVENT_FINISHED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    expect(&m, "on-the-wire.txt", report_text);
    expect(&m, "on-the-wire.md", report_markdown);
    made_free(&m);
}

static void test_empty(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout aa");
    made_axis(&m, "threads", UNIT_COUNT, "1 4");
    made_plan(&m, 5);
    m.n_trials = 0;
    made_run(&m);
    made_finish(&m);
    expect(&m, "empty.txt", report_text);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster_then_same), cmocka_unit_test(test_crossover),
        cmocka_unit_test(test_undecided),        cmocka_unit_test(test_aa_biased),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_mixed_units),
        cmocka_unit_test(test_no_axis),          cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_markdown), cmocka_unit_test(test_clean),
        cmocka_unit_test(test_troubled),         cmocka_unit_test(test_few_blocks),
        cmocka_unit_test(test_on_the_wire),      cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
