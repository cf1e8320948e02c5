/* SPDX-License-Identifier: MIT */
/* What the analysis makes of trials and events: counts, pairs, families, lines, flags. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test_report.h"

#define FIRST_TEXT(m, i) ((i) < (m).a.n_warnings ? (m).a.warnings[i] : "")

static bool any_starts(char *const *texts, size_t n, const char *words)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(texts[i], words, strlen(words)))
            return true;
    return false;
}

static bool warns(const struct made *m, const char *words)
{
    return any_starts(m->a.warnings, m->a.n_warnings, words);
}

static double twice(const struct made *m, uint32_t cell, uint32_t arm)
{
    return arm == 1 ? 2000 : 1000;
}

/* ------------------------------------------------------------------------------------------------
 * Pairs
 */

/* Without noise of trials the ratio is exact, however the blocks differ; unpaired figures would not give it. */
static void test_paired(void **state)
{
    const struct stats_effect *e;
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 5);
    m.noise = 0;
    m.rate = twice;
    made_run(&m);
    made_finish(&m);
    e = &m.a.comparisons[0].metric[METRIC_RATE];
    assert_int_equal(m.a.n_comparisons, 1);
    assert_int_equal(e->n, 5);
    assert_true(fabs(e->ratio - 2) < 1e-12);
    assert_int_equal(e->verdict, VERDICT_BETTER);
    assert_int_equal(m.a.comparisons[0].metric[METRIC_P50].verdict, VERDICT_BETTER);
    assert_true(fabs(m.a.comparisons[0].metric[METRIC_P50].ratio - 0.5) < 1e-12);
    assert_int_equal(m.a.comparisons[0].metric[METRIC_CPU_MACHINE].verdict, VERDICT_NONE);
    made_free(&m);
}

/* The arm's rate jumps tenfold in the blocks where the baseline has no figure: these must not count. */
static void lone(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->block % 2 == 0)
        return;
    if (row->arm == 0)
        t->status = row->block == 1 ? TRIAL_REFUSED : TRIAL_FAILED;
    else
        t->figures.metric[METRIC_RATE] *= 10;
}

static void test_only_pairs(void **state)
{
    const struct arm_cell *c;
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 10);
    m.noise = 0;
    m.rate = twice;
    m.trial = lone;
    made_run(&m);
    made_finish(&m);
    c = analysis_arm_cell(&m.a, 0, 0);
    assert_int_equal(m.a.comparisons[0].metric[METRIC_RATE].n, 5);
    assert_true(fabs(m.a.comparisons[0].metric[METRIC_RATE].ratio - 2) < 1e-12);
    assert_int_equal(c->n_ok, 5);
    assert_int_equal(c->n_failed, 4);
    assert_int_equal(c->n_refused, 1);
    assert_int_equal(m.a.n_without_figures, 5);
    assert_int_equal(analysis_arm_cell(&m.a, 0, 1)->n_ok, 10);
    made_free(&m);
}

static bool absent_some(const struct made *m, const struct experiment_row *row)
{
    return row->arm == 0 ? row->block == 1 : row->block == 4;
}

/* Figures of different blocks are no pair, also where one is missing without a trace. */
static void test_gaps(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 8);
    m.noise = 0;
    m.rate = twice;
    m.is_absent = absent_some;
    made_run(&m);
    made_finish(&m);
    assert_int_equal(m.a.comparisons[0].metric[METRIC_RATE].n, 6);
    assert_true(fabs(m.a.comparisons[0].metric[METRIC_RATE].ratio - 2) < 1e-12);
    assert_int_equal(m.a.n_blocks_done, 1);
    made_free(&m);
}

/* User time is never seen, system time in every other block; the rest of the figures is as ever. */
static void idle(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    t->figures.process_user_cpus = 0;
    t->figures.process_system_cpus = row->block % 2 ? 0 : 0.5;
    t->figures.metric[METRIC_CPU_PROCESS] = row->arm && row->block % 2 ? 0 : 0.5;
}

static void test_zeros(void **state)
{
    const struct arm_cell *c;
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 10);
    m.trial = idle;
    made_run(&m);
    made_finish(&m);
    c = analysis_arm_cell(&m.a, 0, 1);
    assert_true(c->process_user_cpus.n == 10 && c->process_user_cpus.center == 0);
    assert_true(c->process_system_cpus.n == 10 && fabs(c->process_system_cpus.center - 0.25) < 1e-12);
    assert_true(c->metric[METRIC_CPU_PROCESS].n == 10 && fabs(c->metric[METRIC_CPU_PROCESS].center - 0.25) < 1e-12);
    assert_int_equal(c->machine_user_cpus.n, 0); /* not measured */
    assert_int_equal(m.a.comparisons[0].metric[METRIC_CPU_PROCESS].n, 5);
    made_free(&m);
}

/* A trial whose bytes were wrong has no figure, whatever the store kept of it. */
static void wrong(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->arm == 1)
        strcpy(t->verify, row->block ? "off" : "failed");
}

static void test_verify(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 5);
    m.trial = wrong;
    made_run(&m);
    made_finish(&m);
    assert_int_equal(m.a.comparisons[0].metric[METRIC_RATE].n, 4);
    assert_string_equal(analysis_arm_cell(&m.a, 0, 1)->verify, "failed");
    assert_string_equal(analysis_arm_cell(&m.a, 0, 0)->verify, "ok");
    assert_int_equal(analysis_arm_cell(&m.a, 0, 1)->n_failed, 1);
    assert_true(m.a.unverified);
    assert_true(warns(&m, "unverified: in 4 of 9 trials"));
    made_free(&m);
}

static void served(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->arm == 1 && row->cell == 0)
        strcpy(t->served, "memory");
    if (row->arm == 2)
        strcpy(t->observed, row->block ? "compat" : "nvidia-fs");
}

/* Cells that are ranked apart widen nobody's interval: those of one comparison are those of a family of one. */
static void test_ranked_apart(void **state)
{
    const struct comparison *c;
    char label[80];
    struct made m;

    made_begin(&m, "odirect fanout cufile");
    made_axis(&m, "threads", UNIT_COUNT, "1 2");
    made_plan(&m, 5);
    made_state(&m, 0, 2, PAIR_NOT_APPLICABLE, "no");
    made_state(&m, 1, 2, PAIR_NOT_APPLICABLE, "no");
    m.rate = twice;
    m.trial = served;
    made_run(&m);
    made_finish(&m);
    c = &m.a.comparisons[0];
    assert_string_equal(c->ranked_apart, "served from memory against storage");
    for (int i = 0; i < N_METRICS; i++)
        assert_int_equal(c->metric[i].verdict, VERDICT_NONE);
    assert_true(c->metric[METRIC_RATE].ratio > 1.9);
    assert_null(m.a.comparisons[2].ranked_apart);
    assert_int_equal(m.a.comparisons[2].metric[METRIC_RATE].verdict, VERDICT_BETTER);
    assert_true(fabs(m.a.comparisons[2].metric[METRIC_RATE].level - 0.95) < 1e-12);
    assert_string_equal(analysis_arm_label(&m.a, 0, 0, label, sizeof(label)), "odirect");
    made_free(&m);
}

static void cached(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    bool once = row->arm == 2 && row->cell == 1 && row->block == 3;

    if (row->arm < 2 || once)
        strcpy(t->served, "cache");
}

/* Both sides alike, so nothing is ranked apart; the path through the cache is none's fault. */
static void test_cached(void **state)
{
    struct made m;

    made_begin(&m, "odirect buffered fanout aa");
    made_axis(&m, "threads", UNIT_COUNT, "1 2");
    made_plan(&m, 5);
    m.trial = cached;
    made_run(&m);
    made_finish(&m);
    assert_true(
        warns(&m, "served by a cache, past which they were to go: odirect in 2 of 2 cells, fanout in 1 of 2 cells;"));
    made_free(&m);
}

static void test_observed(void **state)
{
    char label[80];
    struct made m;

    made_begin(&m, "odirect fanout cufile");
    made_plan(&m, 5);
    m.trial = served;
    made_run(&m);
    made_finish(&m);
    assert_string_equal(analysis_arm_cell(&m.a, 0, 2)->observed, "mixed");
    assert_string_equal(analysis_arm_label(&m.a, 0, 2, label, sizeof(label)), "cufile (mixed)");
    assert_null(m.a.comparisons[1].ranked_apart);
    made_free(&m);
}

/* ------------------------------------------------------------------------------------------------
 * A/A
 */

static double other_copy(const struct made *m, uint32_t cell, uint32_t arm)
{
    return arm == m->x.aa ? *(const double *)m->context : 1000;
}

static void run_aa(struct made *m, double rate)
{
    double context = rate;

    made_begin(m, "odirect aa fanout");
    made_axis(m, "threads", UNIT_COUNT, "1 2 4");
    made_plan(m, 6);
    m->noise = 0.005;
    m->context = &context;
    m->rate = other_copy;
    made_run(m);
    made_finish(m);
}

static void test_aa(void **state)
{
    struct made m;

    run_aa(&m, 1000);
    assert_int_equal(m.a.n_aa, 3);
    assert_int_equal(m.a.n_comparisons, 3);
    assert_int_equal(m.a.comparisons[1].arm, 2);
    assert_false(m.a.harness_biased);
    assert_true(any_starts(m.a.sentences, m.a.n_sentences, "A/A: the second copy of odirect is not told apart"));
    made_free(&m);
    run_aa(&m, 1100);
    assert_true(m.a.harness_biased);
    assert_ptr_equal(strstr(FIRST_TEXT(m, 0), "harness biased"), FIRST_TEXT(m, 0));
    /* The A/A copy is a family of its own: the arm's members are three. */
    assert_true(m.a.comparisons[0].metric[METRIC_RATE].level < 1 - 0.05 / 4);
    assert_true(m.a.comparisons[0].metric[METRIC_RATE].level > 1 - 0.05 / 3 - 1e-9);
    made_free(&m);
}

/* ------------------------------------------------------------------------------------------------
 * How far it came
 */

static void test_until_decided(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 2");
    made_plan(&m, 10);
    m.x.until_decided = true;
    m.n_trials = 5 * 4;
    made_run(&m);
    made_event(&m, EVENT_DECIDED, 5, 0, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    assert_int_equal(m.a.n_blocks_done, 5);
    assert_true(fabs(m.a.family_alpha - 0.05 / 3) < 1e-15);
    assert_false(m.a.finished);
    assert_int_equal(analysis_arm_cell(&m.a, 0, 0)->n_planned, 5);
    assert_int_equal(analysis_arm_cell(&m.a, 1, 0)->n_planned, 5);
    analysis_free(&m.a);

    made_event(&m, EVENT_FINISHED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    assert_true(m.a.finished);
    assert_int_equal(analysis_arm_cell(&m.a, 0, 0)->n_planned, 5); /* the blocks left out are not planned */
    assert_int_equal(analysis_arm_cell(&m.a, 1, 0)->n_planned, 10);
    analysis_free(&m.a);

    made_event(&m, EVENT_DECIDED, 5, 1, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    assert_int_equal(m.a.n_blocks_done, 5); /* and blocks of which nothing was run are not done */
    made_free(&m);
}

static void short_window(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    t->window_s = 1;
}

static void quick(bool is_short, const char *warning)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 8 64");
    made_plan(&m, 5);
    m.x.quick = true;
    m.x.axes[0].n_left_out = 4;
    m.trial = is_short ? short_window : NULL;
    made_run(&m);
    made_finish(&m);
    assert_true(warns(&m, warning));
    made_free(&m);
}

/* Of windows only what they were: --seconds may have been given besides. */
static void test_quick_left_out(void **state)
{
    quick(false, "quick: for trying out; 4 of 7 values of threads were left out");
    quick(true, "quick: for trying out; the windows were short, figures are rough; 4 of 7 values of threads were left "
                "out");
}

static void test_between_looks(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 10);
    m.x.until_decided = true;
    m.n_trials = 7 * 2 + 1;
    made_run(&m);
    made_event(&m, EVENT_LIMIT, 7, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    assert_int_equal(m.a.n_blocks_done, 7);
    assert_true(m.a.limited);
    assert_true(warns(&m, "limit of time reached: 15 of 20 trials"));
    assert_true(warns(&m, "between looks: the plan judges after 5, 10 and 20 blocks; these verdicts are of 7"));
    assert_int_equal(analysis_arm_cell(&m.a, 0, 0)->n_planned + analysis_arm_cell(&m.a, 0, 1)->n_planned, 15);
    made_free(&m);
}

static void interrupt_last(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (t->row + 1 == m->n_trials)
        t->status = TRIAL_INTERRUPTED;
}

static void test_interrupted(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 10);
    m.n_trials = 6 * 2;
    m.trial = interrupt_last;
    made_run(&m);
    made_event(&m, EVENT_INTERRUPTED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(&m);
    assert_true(m.a.interrupted);
    assert_int_equal(m.a.n_blocks_done, 5);
    assert_int_equal(m.a.n_without_figures, 0);
    assert_true(warns(&m, "interrupted: 11 of 20 trials planned were run"));
    analysis_free(&m.a);

    made_event(&m, EVENT_STARTED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, "spur compare --resume");
    made_finish(&m);
    assert_false(m.a.interrupted);
    assert_true(warns(&m, "not finished: 11 of 20"));
    made_free(&m);
}

/* ------------------------------------------------------------------------------------------------
 * Lines
 */

static double along(const struct made *m, uint32_t cell, uint32_t arm)
{
    /* threads 8 4 2 1, falling; the arm leads at 1 and 2 only */
    const double baseline[] = {4020, 4000, 2000, 1000}, fanout[] = {3000, 3000, 2600, 1500};

    return arm ? fanout[cell % 4] : baseline[cell % 4];
}

static void test_lines(void **state)
{
    const struct line *l;
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "op", UNIT_NONE, "read write");
    made_axis(&m, "threads", UNIT_COUNT, "8 4 2 1");
    made_plan(&m, 20);
    m.rate = along;
    made_run(&m);
    made_finish(&m);
    assert_int_equal(m.a.n_lines, 4); /* two arms, two ops; names are no axis of lines */
    l = &m.a.lines[3];
    assert_int_equal(l->axis, 1);
    assert_int_equal(l->arm, 1);
    assert_int_equal(l->first_cell, 4);
    assert_int_equal(l->n_cells, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(l->cells[i], 4 + i);
    /* Indices are of the axis's order, before and after of rising numbers. */
    assert_int_equal(l->n_crossovers, 1);
    assert_int_equal(l->crossovers[0].before, 2);
    assert_int_equal(l->crossovers[0].after, 1);
    assert_false(l->crossovers[0].rises);
    assert_true(l->crossovers[0].x > 2 && l->crossovers[0].x < 4);
    assert_true(l->crossovers[0].low > 2 && l->crossovers[0].high < 4);
    assert_int_equal(m.a.lines[0].saturates, 1);
    assert_int_equal(m.a.lines[0].n_crossovers, 0);
    made_free(&m);
}

static double rising(const struct made *m, uint32_t cell, uint32_t arm)
{
    const double fanout[] = {700, 950, 1400};

    return arm ? fanout[cell] : 1000;
}

static void test_rises(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "request", UNIT_BYTES, "4K 16K 64K");
    made_plan(&m, 5);
    m.rate = rising;
    made_run(&m);
    made_finish(&m);
    assert_true(m.a.lines[1].crossovers[0].rises);
    assert_true(
        any_starts(m.a.sentences, m.a.n_sentences, "fanout overtakes odirect between 16 KiB and 64 KiB requests."));
    made_free(&m);
}

/* An axis of one value, and one of names, make no line; a refused baseline leaves nothing to compare. */
static void test_no_lines(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "8");
    made_axis(&m, "cufile-json", UNIT_NONE, "a b");
    made_plan(&m, 5);
    made_state(&m, 0, 0, PAIR_REFUSED, "gone");
    made_state(&m, 1, 0, PAIR_REFUSED, "gone");
    made_run(&m);
    made_finish(&m);
    assert_int_equal(m.a.n_lines, 0);
    assert_int_equal(m.a.comparisons[0].metric[METRIC_RATE].verdict, VERDICT_NONE);
    assert_int_equal(m.a.n_sentences, 2);
    assert_true(any_starts(m.a.sentences, 2, "Nothing can be compared"));
    assert_true(any_starts(m.a.sentences, 2, "odirect, the baseline, was refused: gone."));
    made_free(&m);
}

/* ------------------------------------------------------------------------------------------------
 * Drift and outliers
 */

static void drifting(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    t->figures.metric[METRIC_RATE] *= exp(0.02 * row->block);
}

static void test_drift(void **state)
{
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 2");
    made_plan(&m, 20);
    m.trial = drifting;
    made_run(&m);
    made_finish(&m);
    assert_true(m.a.drift.is_drift);
    assert_true(m.a.drift.low < exp(0.38) && m.a.drift.high > exp(0.38));
    assert_true(warns(&m, "drift: over the experiment"));
    assert_int_equal(m.a.comparisons[0].metric[METRIC_RATE].verdict, VERDICT_SAME);
    made_free(&m);
}

static void outlying(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->block == 4 && row->cell == 1 && row->arm == 0)
        t->figures.metric[METRIC_RATE] /= 3;
}

static void test_outlier(void **state)
{
    struct made m;
    size_t i = 0;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 2");
    made_plan(&m, 20);
    m.trial = outlying;
    made_run(&m);
    made_finish(&m);
    while (i < m.a.n_outliers && m.a.outliers[i].value > 0.5 * m.a.outliers[i].center)
        i++;
    assert_true(i < m.a.n_outliers);
    assert_int_equal(m.x.rows[m.a.outliers[i].row].block, 4);
    assert_int_equal(m.x.rows[m.a.outliers[i].row].cell, 1);
    assert_int_equal(m.x.rows[m.a.outliers[i].row].arm, 0);
    assert_int_equal(m.a.comparisons[1].metric[METRIC_RATE].n, 20); /* kept */
    made_free(&m);
}

/* The first cell's ratios are all alike, those of the others are not. */
static void alike_in_one(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->cell && row->arm == 1)
        t->figures.metric[METRIC_RATE] *= exp(0.3 * made_noise(row->block, row->cell, 9));
}

static double ahead_in_one(const struct made *m, uint32_t cell, uint32_t arm)
{
    return arm == 1 && cell == 0 ? 1040 : 1000;
}

/* Undecided by what was lent: said, with how many lent, and no cause is made of its own spread, which is none. */
static void test_borrowed(void **state)
{
    const struct stats_effect *e;
    struct made m;

    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 2 4 8 16 32");
    made_plan(&m, 5);
    m.noise = 0;
    m.rate = ahead_in_one;
    m.trial = alike_in_one;
    made_run(&m);
    made_finish(&m);
    e = &m.a.comparisons[0].metric[METRIC_RATE];
    assert_int_equal(e->verdict, VERDICT_UNDECIDED);
    assert_true(e->sd < 1e-6 && e->sd_moderated > 0.01);
    assert_true(any_starts(m.a.sentences, m.a.n_sentences,
                           "fanout against odirect at threads 1 is undecided although the ratios of its 5 blocks are "
                           "all alike: so few blocks tell little of the spread, and that of 5 other comparisons was "
                           "counted too, which makes it "));
    for (size_t i = 0; i < m.a.n_causes; i++)
        for (size_t k = 0; m.a.causes[i].kind == CAUSE_NOISE && k < m.a.causes[i].n_cells; k++)
            assert_int_not_equal(m.a.causes[i].cells[k], 0);
    made_free(&m);
    made_begin(&m, "odirect fanout");
    made_axis(&m, "threads", UNIT_COUNT, "1 2 4 8 16 32");
    made_plan(&m, 5);
    m.noise = 0.15; /* undecided by their own */
    m.rate = ahead_in_one;
    made_run(&m);
    made_finish(&m);
    for (size_t i = 0; i < m.a.n_sentences; i++)
        assert_null(strstr(m.a.sentences[i], "although"));
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paired),         cmocka_unit_test(test_only_pairs),
        cmocka_unit_test(test_zeros),          cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_rises),          cmocka_unit_test(test_verify),
        cmocka_unit_test(test_ranked_apart),   cmocka_unit_test(test_observed),
        cmocka_unit_test(test_cached),         cmocka_unit_test(test_aa),
        cmocka_unit_test(test_until_decided),  cmocka_unit_test(test_between_looks),
        cmocka_unit_test(test_quick_left_out), cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_lines),          cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_drift),          cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_borrowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
