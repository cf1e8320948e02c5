/* SPDX-License-Identifier: MIT */
/*
 * The statistics on experiments whose truth is known: simulated, seeded, in the order that src/plan gives. Each bound
 * has a mutation beside it (arms in fixed order, blocks shuffled apart, looks without their price), which must break
 * it: otherwise the simulation could not see what it is there for. Printed with SPUR_TEST_SHOW set; docs/statistics.md
 * has the table.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plan/plan.h"
#include "stats/stats.h"

#define N_CELLS    8
#define MAX_ARMS   3
#define MAX_BLOCKS 20
#define MEMBERS    (N_CELLS * (MAX_ARMS - 1))

/* ------------------------------------------------------------------------------------------------
 * Chance
 */

struct chance {
    uint64_t state;
};

static double uniform(struct chance *c) /* splitmix64; never 0 or 1 */
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct chance *c)
{
    return sqrt(-2 * log(uniform(c))) * cos(2 * M_PI * uniform(c));
}

/* Student's t with 3 degrees of freedom, scaled to an sd of 1. */
static double heavy(struct chance *c)
{
    double chi2 = pow(normal(c), 2) - 2 * log(uniform(c)); /* 1 + 2 degrees of freedom */

    return normal(c) / sqrt(chi2);
}

/* ------------------------------------------------------------------------------------------------
 * A world in which experiments are run
 */

struct world {
    unsigned n_arms, n_blocks;
    double noise;  /* sd of a trial's log figure in the quietest cell */
    double spread; /* sd in the noisiest over the quietest cell */
    double drift;  /* largest change over 5 blocks, in logs */
    double effect; /* log ratio of the second arm in every other cell */
    bool is_heavy;
    bool fixed_order; /* mutation: arms in the order given */
    bool unpaired;    /* mutation: the baseline's blocks in another order than the arm's */
};

struct results {
    double log_figure[N_CELLS][MAX_ARMS][MAX_BLOCKS];
};

static double noise_of(const struct world *w, unsigned cell)
{
    return w->noise * pow(w->spread, cell / (N_CELLS - 1.));
}

static double effect_of(const struct world *w, unsigned cell, unsigned arm)
{
    return arm == 1 && cell % 2 ? w->effect : 0;
}

/* The state of the storage, common to all that is run then: a slope and a wave. */
struct weather {
    double slope, wave, turns, phase;
};

static struct weather make_weather(const struct world *w, struct chance *c)
{
    return (struct weather){
        .slope = w->drift * (2 * uniform(c) - 1),
        .wave = w->drift / 4 * uniform(c),
        .turns = 4 * uniform(c),
        .phase = 2 * M_PI * uniform(c),
    };
}

static double weather_at(const struct weather *w, double when)
{
    return w->slope * when + w->wave * sin(2 * M_PI * w->turns * when + w->phase);
}

static struct experiment_row *order_of(const struct world *w, uint64_t seed, size_t *ret_n)
{
    struct experiment_pair planned[N_CELLS][MAX_ARMS] = {0};
    struct experiment_cell cells[N_CELLS] = {0};
    struct experiment_arm arms[MAX_ARMS] = {0};
    struct experiment x = {
        .arms = arms, .n_arms = w->n_arms, .aa = EXPERIMENT_NONE, .cells = cells, .n_cells = N_CELLS, .seed = seed};
    struct spur_error e;

    x.n_blocks = w->n_blocks;
    for (int i = 0; i < N_CELLS; i++)
        cells[i].pairs = planned[i];
    assert_int_equal(plan_order(&x, &e), 0);
    assert_int_equal(x.n_rows, w->n_blocks * N_CELLS * w->n_arms);
    *ret_n = x.n_rows;
    return x.rows;
}

static void run(const struct world *w, struct chance *c, struct results *ret)
{
    size_t n, per_block = N_CELLS * w->n_arms;
    struct experiment_row *rows = order_of(w, c->state, &n);
    struct weather weather = make_weather(w, c);

    for (size_t i = 0; i < n; i++) {
        const struct experiment_row *r = &rows[i];
        size_t place = w->fixed_order ? i - r->arm_position + r->arm : i;
        double noise = noise_of(w, r->cell) * (w->is_heavy ? heavy(c) : normal(c));

        ret->log_figure[r->cell][r->arm][r->block] = effect_of(w, r->cell, r->arm) + noise +
                                                     weather_at(&weather, (double)place / (5. * (double)per_block));
    }
    free(rows);
}

static void shuffle(struct chance *c, double *values, unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned j = (unsigned)(uniform(c) * i);
        double swap = values[i - 1];

        values[i - 1] = values[j];
        values[j] = swap;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Analysis
 */

struct analysis {
    double log_ratio[MEMBERS][MAX_BLOCKS];
    unsigned n[MEMBERS];
    struct stats_effect effects[MEMBERS];
    unsigned n_members;
};

static void take_ratios(const struct world *w, struct chance *c, struct results *r, struct analysis *ret)
{
    ret->n_members = 0;
    for (unsigned cell = 0; cell < N_CELLS; cell++) {
        if (w->unpaired)
            shuffle(c, r->log_figure[cell][0], w->n_blocks);
        for (unsigned arm = 1; arm < w->n_arms; arm++, ret->n_members++) {
            for (unsigned b = 0; b < w->n_blocks; b++)
                ret->log_ratio[ret->n_members][b] = r->log_figure[cell][arm][b] - r->log_figure[cell][0][b];
            ret->n[ret->n_members] = w->n_blocks;
        }
    }
}

static void judge(struct analysis *a, double alpha, double margin)
{
    struct stats_family_options o = {.alpha = alpha, .margin = margin, .higher_is_better = true};
    struct stats_sample samples[MEMBERS];

    for (unsigned i = 0; i < a->n_members; i++)
        samples[i] = (struct stats_sample){a->log_ratio[i], a->n[i]};
    stats_family(samples, a->n_members, &o, a->effects);
}

static bool is_decided(const struct stats_effect *e)
{
    return e->verdict == VERDICT_BETTER || e->verdict == VERDICT_WORSE;
}

static bool any_decided(const struct analysis *a)
{
    for (unsigned i = 0; i < a->n_members; i++)
        if (is_decided(&a->effects[i]))
            return true;
    return false;
}

static void show(const char *what, const struct world *w, double share)
{
    if (getenv("SPUR_TEST_SHOW"))
        print_message("%-44s arms %u blocks %u noise %.3f spread %g %s: %.4f\n", what, w->n_arms, w->n_blocks, w->noise,
                      w->spread, w->is_heavy ? "t(3)" : "normal", share);
}

/* A share is at most (at least) @bound but for the chance of @n draws: two standard errors. */
static double chance_of(double bound, unsigned n)
{
    return 2 * sqrt(bound * (1 - bound) / n);
}

/* ------------------------------------------------------------------------------------------------
 * Coverage
 */

#define N_COVERAGE 2000 /* of 8 intervals: a standard error of 0.17 % */

/* Share of raw 95 % intervals that hold the truth. */
static double coverage(const struct world *w, unsigned n_runs, uint64_t seed)
{
    struct chance c = {seed};
    struct analysis a;
    struct results r;
    unsigned n_covered = 0;

    for (unsigned i = 0; i < n_runs; i++) {
        run(w, &c, &r);
        take_ratios(w, &c, &r, &a);
        judge(&a, 0.05, 0.03);
        for (unsigned cell = 0; cell < N_CELLS; cell++) {
            double truth = exp(effect_of(w, cell, 1));

            n_covered += a.effects[cell].raw_low < truth && a.effects[cell].raw_high > truth;
        }
    }
    show("raw 95 % intervals that cover", w, n_covered / (double)(n_runs * N_CELLS));
    return n_covered / (double)(n_runs * N_CELLS);
}

static void raw_intervals_cover_at_5_blocks(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct world w = {.n_arms = 2, .n_blocks = 5, .noise = 0.02, .spread = i % 2 ? 4 : 1, .is_heavy = i / 2};
        double share;

        w.effect = 0.1;
        share = coverage(&w, N_COVERAGE, 1000 + (uint64_t)i);
        assert_true(share >= 0.93 && share <= 0.97);
    }
}

/* Mutation: under drift, arms in fixed order have intervals about another ratio. */
static void fixed_order_breaks_coverage(void **state)
{
    struct world w = {.n_arms = 2, .n_blocks = 5, .noise = 0.002, .spread = 1, .drift = 0.5};
    double share = coverage(&w, N_COVERAGE / 4, 1100);

    assert_true(share >= 0.93 && share <= 0.985); /* alternating arms under drift widen it, never narrow it */
    w.fixed_order = true;
    assert_true(coverage(&w, N_COVERAGE / 4, 1100) < 0.85);
}

/* ------------------------------------------------------------------------------------------------
 * False alarms
 */

#define N_FALSE 2000

/* Share of experiments without an effect in which any member is better or worse. A margin of 0 is the hardest: nothing
 * is called `same` first. */
static double false_alarms(const struct world *w, unsigned n_runs, uint64_t seed)
{
    struct chance c = {seed};
    struct analysis a;
    struct results r;
    unsigned n_alarms = 0;

    for (unsigned i = 0; i < n_runs; i++) {
        run(w, &c, &r);
        take_ratios(w, &c, &r, &a);
        judge(&a, 0.05, 0);
        n_alarms += any_decided(&a);
    }
    show(w->fixed_order ? "false alarms, fixed order" : "false alarms", w, n_alarms / (double)n_runs);
    return n_alarms / (double)n_runs;
}

static void false_alarms_are_rare_under_drift(void **state)
{
    static const struct {
        double noise, spread;
        bool is_heavy;
    } worlds[] = {{0.002, 1, false}, {0.02, 4, false}, {0.005, 4, true}};

    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        struct world w = {.n_arms = 3, .n_blocks = 5, .drift = 0.3};

        w.noise = worlds[i].noise;
        w.spread = worlds[i].spread;
        w.is_heavy = worlds[i].is_heavy;
        assert_true(false_alarms(&w, N_FALSE, 2000 + i) <= 0.05 + chance_of(0.05, N_FALSE));
    }
}

/* Mutation: the same drift, arms in fixed order. */
static void fixed_order_raises_false_alarms(void **state)
{
    struct world w = {.n_arms = 3, .n_blocks = 5, .noise = 0.002, .spread = 1, .drift = 0.3, .fixed_order = true};

    assert_true(false_alarms(&w, N_FALSE / 4, 2000) > 0.15);
}

/* ------------------------------------------------------------------------------------------------
 * Power
 */

#define N_POWER 1000

/* Share of true effects of 10 % that are found, in the right direction. */
static double power(const struct world *w, uint64_t seed)
{
    struct chance c = {seed};
    struct analysis a;
    struct results r;
    unsigned n_found = 0;

    for (int i = 0; i < N_POWER; i++) {
        run(w, &c, &r);
        take_ratios(w, &c, &r, &a);
        judge(&a, 0.05, 0.03);
        for (unsigned cell = 1; cell < N_CELLS; cell += 2)
            n_found += a.effects[cell].verdict == VERDICT_BETTER;
    }
    show(w->unpaired ? "effects of 10 % found, unpaired" : "effects of 10 % found", w,
         n_found / (double)(N_POWER * N_CELLS / 2));
    return n_found / (double)(N_POWER * N_CELLS / 2);
}

static void an_effect_of_ten_percent_is_found(void **state)
{
    struct world w = {.n_arms = 2, .n_blocks = 5, .noise = 0.02, .spread = 1, .drift = 0.3};

    w.effect = log(1.1);
    assert_true(power(&w, 3000) > 0.95);
}

/* Mutation: the same experiments, blocks of the baseline out of step: the drift is in every ratio. */
static void unpaired_blocks_lose_the_effect(void **state)
{
    struct world w = {.n_arms = 2, .n_blocks = 5, .noise = 0.02, .spread = 1, .drift = 0.3, .unpaired = true};

    w.effect = log(1.1);
    assert_true(power(&w, 3000) < 0.6);
}

/* ------------------------------------------------------------------------------------------------
 * --until-decided: looks after 5, 10 and 20 blocks; what is decided stays as it is
 */

#define N_LOOKS 2000

static bool is_alarm_in_looks(const struct world *w, struct chance *c, double alpha)
{
    static const unsigned looks[] = {5, 10, 20};
    bool done[MEMBERS] = {false};
    struct analysis a;
    struct results r;

    run(w, c, &r);
    take_ratios(w, c, &r, &a);
    for (int look = 0; look < 3; look++) {
        for (unsigned i = 0; i < a.n_members; i++)
            a.n[i] = done[i] ? a.n[i] : looks[look];
        judge(&a, alpha, 0.03);
        if (any_decided(&a))
            return true;
        for (unsigned i = 0; i < a.n_members; i++)
            done[i] = done[i] || a.effects[i].verdict == VERDICT_SAME;
    }
    return false;
}

static double alarms_in_looks(const struct world *w, double alpha, unsigned n_runs, uint64_t seed)
{
    struct chance c = {seed};
    unsigned n_alarms = 0;

    for (unsigned i = 0; i < n_runs; i++)
        n_alarms += is_alarm_in_looks(w, &c, alpha);
    show(alpha < 0.05 ? "false alarms in 3 looks" : "false alarms in 3 looks, full alpha", w,
         n_alarms / (double)n_runs);
    return n_alarms / (double)n_runs;
}

static void looks_keep_to_the_error_rate(void **state)
{
    struct world w = {.n_arms = 2, .n_blocks = 20, .noise = 0.03, .spread = 4, .drift = 0.3};

    assert_true(alarms_in_looks(&w, 0.05 / 3, N_LOOKS, 4000) <= 0.05 + chance_of(0.05, N_LOOKS));
}

/* Mutation: each look at the full alpha. */
static void looks_at_full_alpha_do_not(void **state)
{
    struct world w = {.n_arms = 2, .n_blocks = 20, .noise = 0.03, .spread = 4, .drift = 0.3};

    assert_true(alarms_in_looks(&w, 0.05, N_LOOKS / 4, 4000) > 0.05 + chance_of(0.05, N_LOOKS / 4));
}

/* ------------------------------------------------------------------------------------------------
 * Blocks that would likely decide
 */

#define N_NEEDED 1000

/* Of undecided ones, the share that is decided after as many blocks as the two numbers say. */
static void needed_shares(double effect, double *ret_low, double *ret_high)
{
    struct stats_family_options o = {.alpha = 0.05, .margin = 0.03, .higher_is_better = true};
    unsigned n_low = 0, n_high = 0, n = 0;
    struct chance c = {5000};

    while (n < N_NEEDED) {
        double y[500];
        struct stats_sample s = {y, 5};
        struct stats_effect first, later;

        for (size_t i = 0; i < sizeof(y) / sizeof(y[0]); i++)
            y[i] = effect + 0.04 * normal(&c);
        stats_family(&s, 1, &o, &first);
        if (first.verdict != VERDICT_UNDECIDED || first.blocks_high > 500)
            continue;
        n++;
        s.n = first.blocks_low;
        stats_family(&s, 1, &o, &later);
        n_low += later.verdict != VERDICT_UNDECIDED;
        s.n = first.blocks_high;
        stats_family(&s, 1, &o, &later);
        n_high += later.verdict != VERDICT_UNDECIDED;
    }
    *ret_low = n_low / (double)n;
    *ret_high = n_high / (double)n;
    if (getenv("SPUR_TEST_SHOW"))
        print_message("effect %g: decided at the low number %.3f, at the high one %.3f\n", effect, *ret_low, *ret_high);
}

static void needed_blocks_likely_decide(void **state)
{
    static const double effects[] = {0, 0.06};

    for (int i = 0; i < 2; i++) {
        double low, high;

        needed_shares(effects[i], &low, &high);
        assert_true(low > 0.1 && low < high);
        assert_true(high > 0.8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_intervals_cover_at_5_blocks),   cmocka_unit_test(fixed_order_breaks_coverage),
        cmocka_unit_test(false_alarms_are_rare_under_drift), cmocka_unit_test(fixed_order_raises_false_alarms),
        cmocka_unit_test(an_effect_of_ten_percent_is_found), cmocka_unit_test(unpaired_blocks_lose_the_effect),
        cmocka_unit_test(looks_keep_to_the_error_rate),      cmocka_unit_test(looks_at_full_alpha_do_not),
        cmocka_unit_test(needed_blocks_likely_decide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
