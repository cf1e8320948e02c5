/* SPDX-License-Identifier: MIT */
/*
 * Causes against a model whose truth is known, with parameters drawn anew in each run: no wrong cause, and most of the
 * right ones. SPUR_TEST_SEED repeats a run, SPUR_TEST_ROUNDS says how many of each kind, SPUR_TEST_SHOW prints the
 * score.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "causes_model.h"
#include "core/util.h"

#define BIT(kind) (1u << (kind))
#define MIB       1048576.0

/* What is so, and what might be said besides; all else is wrong. */
struct truth {
    unsigned is, may;
};

typedef struct truth scenario_fn(uint64_t *state, struct cause_case *ret);

/* Waits for one piece at a time; the storage is far from its limit. */
static struct model_arm plain(uint64_t *state)
{
    return (struct model_arm){
        .threads = 1u << model_pick(state, 5),
        .depth = 1,
        .request = 16 * MIB,
        .pieces = 16,
        .together = 1,
        .user = 1e-5,
        .system = 3e-5,
        .latency = model_between(state, 2e-4, 2e-3),
        .noise = 0.01,
    };
}

/* Either is the baseline. */
static void either(struct model_arm *a, struct model_arm *b, uint64_t *state, struct cause_case *ret)
{
    bool turned = model_pick(state, 2);

    model_case(turned ? b : a, turned ? a : b, state, ret);
}

static struct cause_side *slower(struct cause_case *c)
{
    return c->rate.ratio > 1 ? &c->baseline : &c->side;
}

static struct cause_side *faster(struct cause_case *c)
{
    return c->rate.ratio > 1 ? &c->side : &c->baseline;
}

/* ------------------------------------------------------------------------------------------------
 * One cause
 */

static struct truth more_together(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.together = 2u << model_pick(state, 4);
    if (model_pick(state, 2)) /* the faster one may come up against the limit */
        a.limit = b.limit = a.threads * MIB / a.latency * model_between(state, 1.5, 20);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_CONCURRENCY), 0};
}

static struct truth more_threads(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.threads *= 2 + model_pick(state, 6);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_CONCURRENCY), 0};
}

/* One piece is carried no faster than a stream; the other sends many at a time. */
static struct truth split_parallel(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.stream = b.stream = model_between(state, 2e8, 2e9);
    a.pieces = 1;
    b.together = b.pieces = 4u << model_pick(state, 3);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_SPLITTING), 0}; /* which says what was in flight */
}

static struct truth split_small(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.pieces = 1;
    b.pieces = 4u << model_pick(state, 4);
    a.stream = b.stream = model_between(state, 1e10, 1e11);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_SPLITTING), 0};
}

static struct truth saturated(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.together = 2;
    b.together = 8;
    a.limit = b.limit = a.threads * MIB / a.latency * model_between(state, 0.4, 1.5);
    a.noise = b.noise = 0.004;
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_SATURATION), 0};
}

static struct truth full_link(uint64_t *state, struct cause_case *ret)
{
    struct truth t = saturated(state, ret);

    ret->side.link_name = ret->baseline.link_name = "mlx5_0/1";
    ret->side.link_share = ret->baseline.link_share = model_between(state, 0.91, 0.98);
    ret->side.in_flight.n = ret->baseline.in_flight.n = 0;
    ret->side.in_flight.center = ret->baseline.in_flight.center = NAN;
    return t;
}

/* In memory, where computing is all. */
static struct truth busy_in_memory(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.latency = b.latency = 1e-9;
    a.request = b.request = model_between(state, 4096, 16 * MIB);
    a.pieces = b.pieces = 1;
    a.system = model_between(state, 1e-5, 1e-3);
    b.system = a.system * model_between(state, 1.3, 5);
    either(&a, &b, state, ret);
    ret->side.served = ret->baseline.served = "memory";
    ret->side.in_flight.n = ret->side.service_ns.n = ret->baseline.in_flight.n = ret->baseline.service_ns.n = 0;
    return (struct truth){BIT(CAUSE_CPU), 0};
}

/* On storage: less is in flight too, but only because the threads compute. */
static struct truth busy_on_storage(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.depth = b.depth = 8;
    a.request = b.request = 65536;
    a.pieces = b.pieces = 1;
    b.latency = a.latency = model_between(state, 1e-5, 5e-5);
    a.user = b.user = model_between(state, 1e-5, 5e-5);
    b.system = model_between(state, 1e-4, 5e-4);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_CPU), 0};
}

static struct truth cached(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.cached = model_between(state, 0.2, 0.8);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_CACHE), 0};
}

/* Held back by a limit: it computes more for each byte, and so it waits for its share. */
static struct truth throttled(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.user = 1e-3;
    b.user = a.user * model_between(state, 1.5, 4);
    b.threads = a.threads = 8;
    a.latency = b.latency = 1e-6;
    either(&a, &b, state, ret);
    slower(ret)->throttled_share = model_between(state, 0.4, 1);
    faster(ret)->throttled_share = slower(ret)->throttled_share * model_uniform(state);
    return (struct truth){BIT(CAUSE_THROTTLED), 0};
}

/* One mount at its ceiling against two, or against one that is faster for another reason. */
static struct truth more_mounts(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;
    bool is_at_set_rate = model_pick(state, 2), is_set_higher = model_pick(state, 2);
    double more = model_between(state, 1.5, 4);

    a.latency *= more;
    a.noise = b.noise = 0.003;
    either(&a, &b, state, ret);
    ret->simulated = true;
    ret->side.served = ret->baseline.served = "simulated";
    slower(ret)->file = "/mnt/b/f";
    slower(ret)->set_rate = slower(ret)->rate.center * (is_at_set_rate ? 1.01 : 1.5);
    faster(ret)->set_rate = slower(ret)->set_rate * (is_set_higher ? more : 1);
    return (struct truth){is_at_set_rate && is_set_higher ? BIT(CAUSE_SATURATION) : 0, 0};
}

static struct truth set_rate(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;
    bool is_there = model_pick(state, 2);

    a.noise = b.noise = 0.003;
    either(&a, &b, state, ret);
    ret->simulated = true;
    ret->side.served = ret->baseline.served = "simulated";
    ret->side.set_rate = ret->baseline.set_rate = ret->side.rate.center * (is_there ? 1.02 : 1.3);
    if (ret->rate.verdict != VERDICT_SAME)
        return (struct truth){0, BIT(CAUSE_NOISE)};
    return (struct truth){is_there ? BIT(CAUSE_SATURATION) : 0, 0};
}

/* Along an axis both have risen to where more in flight gives no more. */
static struct truth end_of_axis(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.noise = b.noise = 0.003;
    either(&a, &b, state, ret);
    ret->side.is_ceiling = ret->baseline.is_ceiling = true;
    if (ret->rate.verdict != VERDICT_SAME)
        return (struct truth){0, BIT(CAUSE_NOISE)};
    return (struct truth){BIT(CAUSE_SATURATION), 0};
}

/* Others than the callers compute too, and no CPU is left. */
static struct truth machine_busy(uint64_t *state, struct cause_case *ret)
{
    busy_in_memory(state, ret);
    for (int i = 0; i < 2; i++) {
        struct cause_side *s = i ? &ret->side : &ret->baseline;

        s->workers = 4; /* so its own are not at their limit */
        s->cpus_online = 8;
        s->machine_cpus = 7.9;
        s->trial_cpus = 7;
    }
    return (struct truth){BIT(CAUSE_CPU), 0};
}

/* No CPU is left, but it is others who use them. */
static struct truth others_busy(uint64_t *state, struct cause_case *ret)
{
    machine_busy(state, ret);
    ret->side.trial_cpus = ret->baseline.trial_cpus = model_between(state, 0.01, 2);
    return (struct truth){0, 0};
}

static struct truth hot_gpu(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.latency *= 1.2;
    either(&a, &b, state, ret);
    slower(ret)->gpu_slowed_share = 1;
    faster(ret)->gpu_slowed_share = model_pick(state, 2) ? 0 : 0.2;
    return (struct truth){BIT(CAUSE_THROTTLED), 0};
}

static struct truth noisy(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.noise = b.noise = model_between(state, 0.1, 0.3);
    model_case(&a, &b, state, ret);
    if (ret->rate.verdict != VERDICT_UNDECIDED) /* chance: it is decided wrongly in 5 % */
        ret->ranked_apart = true;
    return (struct truth){ret->ranked_apart ? 0 : BIT(CAUSE_NOISE), 0};
}

/* ------------------------------------------------------------------------------------------------
 * Two
 */

static struct truth not_direct_and_fewer(uint64_t *state, struct cause_case *ret)
{
    struct truth t = more_together(state, ret);

    slower(ret)->route = model_pick(state, 2) ? "any" : "direct";
    slower(ret)->observed = "compat";
    slower(ret)->is_library = true;
    return (struct truth){t.is | BIT(CAUSE_NOT_DIRECT), 0};
}

static struct truth rising_and_fewer(uint64_t *state, struct cause_case *ret)
{
    const double rising[] = {1.1, 1.12, 1.11, 1.09, 1.1};
    struct truth t = more_threads(state, ret);

    stats_figure(rising, ARRAY_SIZE(rising), &ret->side.rising);
    ret->side.n_rising = ARRAY_SIZE(rising);
    return (struct truth){t.is | BIT(CAUSE_TOO_SHORT), 0};
}

static struct truth saturated_and_rising(uint64_t *state, struct cause_case *ret)
{
    const double rising[] = {1.2, 1.22, 1.21, 1.19, 1.2};
    struct truth t = saturated(state, ret);

    stats_figure(rising, ARRAY_SIZE(rising), &ret->side.rising);
    ret->side.n_rising = ARRAY_SIZE(rising);
    return (struct truth){t.is | BIT(CAUSE_TOO_SHORT), 0};
}

/* How much the GPU's clocks changed is not known, and the rest is. */
static struct truth hot_gpu_and_fewer(uint64_t *state, struct cause_case *ret)
{
    struct truth t = more_together(state, ret);

    slower(ret)->gpu_slowed_share = 1;
    return t;
}

/* Neither accounts for the whole; none need be named. */
static struct truth cached_and_fewer(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.cached = model_between(state, 0.2, 0.8);
    b.together = 2u << model_pick(state, 3);
    either(&a, &b, state, ret);
    return (struct truth){0, BIT(CAUSE_CACHE) | BIT(CAUSE_CONCURRENCY) | BIT(CAUSE_HELD_BACK)};
}

static struct truth busy_and_fewer(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.together = 4;
    a.system = a.latency * 16 * model_between(state, 0.3, 3);
    either(&a, &b, state, ret);
    return (struct truth){0, BIT(CAUSE_CPU) | BIT(CAUSE_CONCURRENCY)};
}

/* ------------------------------------------------------------------------------------------------
 * None
 */

static struct truth equal(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.noise = b.noise = 0.004;
    either(&a, &b, state, ret);
    return (struct truth){0, BIT(CAUSE_NOISE)};
}

static scenario_fn other_storage;

/* It was asked for compat. */
static struct truth as_asked(uint64_t *state, struct cause_case *ret)
{
    other_storage(state, ret);
    slower(ret)->route = "compat";
    slower(ret)->observed = "compat";
    slower(ret)->is_library = true;
    return (struct truth){0, 0};
}

/* More in flight of what came up against a ceiling of its own. */
static struct truth own_ceiling(uint64_t *state, struct cause_case *ret)
{
    more_together(state, ret);
    slower(ret)->is_ceiling = true;
    return (struct truth){0, 0};
}

/* A limit is what keeps some of them off the wire, or may be. */
static struct truth limited_and_fewer(uint64_t *state, struct cause_case *ret)
{
    more_together(state, ret);
    if (model_pick(state, 2))
        ret->side.throttled_share = 0.1;
    else
        ret->baseline.throttled_share = 0.1;
    return (struct truth){0, 0};
}

/* More in flight, but most of it is that the storage answered faster. */
static struct truth a_little_more(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.threads = 10;
    b.threads = 13;
    b.latency = a.latency / model_between(state, 2, 5);
    either(&a, &b, state, ret);
    return (struct truth){0, 0};
}

/* Of neither all is on the wire: what else is not counted there is not known. */
static struct truth both_cached(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    a.cached = model_between(state, 0.2, 0.4);
    b.cached = model_between(state, 0.6, 0.8);
    either(&a, &b, state, ret);
    return (struct truth){0, 0};
}

static struct truth other_requests(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.request /= 2;
    b.pieces /= 2;
    b.together = 4;
    either(&a, &b, state, ret);
    return (struct truth){0, 0};
}

/* The same number in flight of the same size, answered faster: by a warm server, or a nearer one. */
static struct truth other_storage(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.latency *= model_between(state, 1.1, 5);
    either(&a, &b, state, ret);
    return (struct truth){0, 0};
}

/* Spins while it waits: that its threads never idle is no cause. */
static struct truth polling(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.polls = 1;
    b.latency *= model_between(state, 1.2, 3);
    either(&a, &b, state, ret);
    return (struct truth){0, 0};
}

static struct truth other_file(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.together = 2u << model_pick(state, 4);
    b.latency *= model_between(state, 0.5, 2);
    either(&a, &b, state, ret);
    ret->side.file = "/mnt/b/f";
    return (struct truth){0, BIT(CAUSE_NOISE)}; /* which of them is faster is chance, and so may be how much */
}

/* Two mounts of one server, of which one cuts requests smaller. */
static struct truth split_by_another_mount(uint64_t *state, struct cause_case *ret)
{
    struct truth t = split_small(state, ret);

    ret->side.file = "/mnt/b/f";
    return t;
}

/* And of two servers: which of the two it is that makes the difference is not known. */
static struct truth split_by_another_server(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.pieces = 4u << model_pick(state, 4);
    b.latency *= model_between(state, 1.5, 5);
    either(&a, &b, state, ret);
    ret->side.file = "/mnt/b/f";
    return (struct truth){0, 0};
}

static void forget_wire(struct cause_side *s)
{
    const struct stats_figure none = {.center = NAN, .low = NAN, .high = NAN, .min = NAN, .max = NAN};

    s->in_flight = s->wire_bytes = s->service_ns = s->per_request = none;
}

static struct truth unknown_wire(uint64_t *state, struct cause_case *ret)
{
    scenario_fn *const of[] = {more_together, split_parallel, split_small, cached, saturated, busy_on_storage};

    of[model_pick(state, ARRAY_SIZE(of))](state, ret);
    if (model_pick(state, 2))
        forget_wire(&ret->side);
    else
        forget_wire(&ret->baseline);
    return (struct truth){0, BIT(CAUSE_CPU)}; /* for which the slower one's is enough */
}

/* Somebody else's requests are counted too: nothing fits. */
static struct truth crowded(uint64_t *state, struct cause_case *ret)
{
    struct model_arm a = plain(state), b = a;

    b.together = 4;
    b.foreign = model_between(state, 0.4, 3);
    either(&a, &b, state, ret);
    return (struct truth){BIT(CAUSE_HELD_BACK), 0};
}

static struct truth full_machine(uint64_t *state, struct cause_case *ret)
{
    scenario_fn *const of[] = {more_together, split_parallel, split_small, saturated};

    of[model_pick(state, ARRAY_SIZE(of))](state, ret);
    ret->simulated = true;
    ret->side.served = ret->baseline.served = "simulated";
    ret->side.cpus_online = ret->baseline.cpus_online = 2;
    ret->side.machine_cpus = ret->baseline.machine_cpus = 1.95;
    return (struct truth){0, 0};
}

static struct truth few_blocks(uint64_t *state, struct cause_case *ret)
{
    more_together(state, ret);
    ret->rate.n = 4;
    ret->rate.verdict = VERDICT_UNDECIDED;
    return (struct truth){0, 0};
}

static void draw_figure(uint64_t *state, double low, double high, struct stats_figure *ret)
{
    double values[MODEL_BLOCKS], center = model_between(state, low, high);

    for (int i = 0; i < MODEL_BLOCKS; i++)
        values[i] = center * exp(0.02 * model_normal(state));
    stats_figure(values, MODEL_BLOCKS, ret);
}

static bool fits_by_chance(const struct cause_side *s)
{
    double per_second = s->in_flight.center / s->service_ns.center * 1e9;

    return fabs(log(per_second / (s->per_request.center * s->requests.center))) < log(1.3) ||
           fabs(log(per_second * s->wire_bytes.center / s->rate.center)) < log(1.3);
}

/* Figures that have nothing to do with each other. */
static struct truth nonsense(uint64_t *state, struct cause_case *ret)
{
    other_storage(state, ret);
    for (int i = 0; i < 2; i++) {
        struct cause_side *s = i ? &ret->side : &ret->baseline;

        draw_figure(state, 0.1, 1000, &s->in_flight);
        draw_figure(state, 4096, 16 * MIB, &s->wire_bytes);
        draw_figure(state, 1e4, 1e8, &s->service_ns);
        draw_figure(state, 0.1, 100, &s->per_request);
    }
    if (fits_by_chance(&ret->side) && fits_by_chance(&ret->baseline))
        return (struct truth){0, ~0u};
    return (struct truth){0, BIT(CAUSE_HELD_BACK)};
}

/* Slow and fast storage by itself gives no more, but another arm there got more from it. */
static struct truth no_ceiling(uint64_t *state, struct cause_case *ret)
{
    saturated(state, ret);
    ret->best_rate *= model_between(state, 1.2, 3);
    return (struct truth){0, BIT(CAUSE_NOISE)};
}

/* ------------------------------------------------------------------------------------------------
 * The score
 */

static scenario_fn *const scenarios[] = {
    more_together,
    more_threads,
    split_parallel,
    split_small,
    saturated,
    full_link,
    busy_in_memory,
    busy_on_storage,
    cached,
    throttled,
    noisy,
    not_direct_and_fewer,
    rising_and_fewer,
    saturated_and_rising,
    cached_and_fewer,
    busy_and_fewer,
    equal,
    other_storage,
    polling,
    other_file,
    split_by_another_mount,
    split_by_another_server,
    unknown_wire,
    crowded,
    full_machine,
    few_blocks,
    as_asked,
    own_ceiling,
    limited_and_fewer,
    a_little_more,
    both_cached,
    other_requests,
    set_rate,
    more_mounts,
    end_of_axis,
    machine_busy,
    others_busy,
    hot_gpu,
    hot_gpu_and_fewer,
    nonsense,
    no_ceiling,
};

struct score {
    size_t n, wrong, due, found;
    unsigned worst_kinds;
    size_t worst_scenario;
};

static unsigned kinds_of(const struct cause_case *c)
{
    struct cause_finding found[N_CAUSES];
    size_t n = causes_find(c, found);
    unsigned kinds = 0;

    for (size_t i = 0; i < n; i++)
        kinds |= BIT(found[i].kind);
    return kinds;
}

static void swap_wire(struct cause_case *c)
{
    struct cause_side side = c->side;

    c->side.in_flight = c->baseline.in_flight;
    c->side.wire_bytes = c->baseline.wire_bytes;
    c->side.service_ns = c->baseline.service_ns;
    c->side.per_request = c->baseline.per_request;
    c->baseline.in_flight = side.in_flight;
    c->baseline.wire_bytes = side.wire_bytes;
    c->baseline.service_ns = side.service_ns;
    c->baseline.per_request = side.per_request;
}

static uint64_t seed(void)
{
    const char *text = getenv("SPUR_TEST_SEED");

    return text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL) * 1000003;
}

static size_t rounds(void)
{
    const char *text = getenv("SPUR_TEST_ROUNDS");

    return text ? strtoul(text, NULL, 10) : 16;
}

static void add_score(struct score *s, size_t scenario, struct truth truth, unsigned kinds)
{
    unsigned wrong = kinds & ~(truth.is | truth.may);

    s->n++;
    s->wrong += wrong != 0;
    if (wrong) {
        s->worst_kinds = wrong;
        s->worst_scenario = scenario;
    }
    s->due += (unsigned)__builtin_popcount(truth.is);
    s->found += (unsigned)__builtin_popcount(truth.is & kinds);
}

static void run_scenario(size_t i, uint64_t *state, bool mutate, struct score *s)
{
    for (size_t k = 0; k < rounds(); k++) {
        struct cause_case c;
        struct truth truth = scenarios[i](state, &c);

        if (mutate)
            swap_wire(&c);
        add_score(s, i, truth, kinds_of(&c));
    }
}

static void run_all(bool mutate, uint64_t start, struct score *ret)
{
    uint64_t state = start;

    *ret = (struct score){0};
    for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
        struct score before = *ret;

        run_scenario(i, &state, mutate, ret);
        if (getenv("SPUR_TEST_SHOW"))
            print_message("scenario %2zu: %zu wrong, %zu of %zu found\n", i, ret->wrong - before.wrong,
                          ret->found - before.found, ret->due - before.due);
    }
}

static void test_score(void **state)
{
    uint64_t start = seed();
    struct score s;

    run_all(false, start, &s);
    if (s.wrong)
        fail_msg("SPUR_TEST_SEED=%llu: %zu of %zu have a wrong cause; the last in scenario %zu, kinds %#x",
                 (unsigned long long)start, s.wrong, s.n, s.worst_scenario, s.worst_kinds);
    assert_true(s.n >= 200);
    if (s.found < 0.9 * (double)s.due)
        fail_msg("SPUR_TEST_SEED=%llu: %zu of %zu causes found", (unsigned long long)start, s.found, s.due);
}

/* The arms' wire figures swapped: the score must fall apart. */
static void test_swapped(void **state)
{
    struct score s, concurrency = {0};
    uint64_t start = seed();

    run_all(true, start, &s);
    assert_true(s.found < 0.7 * (double)s.due);
    run_scenario(0, &start, true, &concurrency);
    assert_int_equal(concurrency.found, 0);
}

/* Each time where its rate is the set one and the other's is set higher, and never else. */
static void one_mount_against_more(void **state)
{
    uint64_t random = seed();

    for (int i = 0; i < 40; i++) {
        struct cause_case c;
        struct truth truth = more_mounts(&random, &c);

        assert_int_equal(kinds_of(&c), truth.is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mount_against_more),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_swapped),
    };

    return cmocka_run_group_tests_name("causes", tests, NULL, NULL);
}
