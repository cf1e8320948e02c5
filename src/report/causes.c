/* SPDX-License-Identifier: MIT */
#include "report/causes.h"

#include <math.h>
#include <string.h>

const char *cause_name(enum cause_kind kind)
{
    static const char *const names[N_CAUSES] = {
        [CAUSE_CONCURRENCY] = "concurrency",
        [CAUSE_SPLITTING] = "splitting",
        [CAUSE_SATURATION] = "saturation",
        [CAUSE_CPU] = "CPU",
        [CAUSE_CACHE] = "cache",
        [CAUSE_NOT_DIRECT] = "not direct",
        [CAUSE_THROTTLED] = "throttled",
        [CAUSE_TOO_SHORT] = "too short",
        [CAUSE_NOISE] = "noise",
        [CAUSE_HELD_BACK] = "held back",
    };

    return names[kind];
}

const char *cause_confidence_name(enum cause_confidence c)
{
    return c == CONFIDENCE_HIGH ? "high" : "likely";
}

/* ------------------------------------------------------------------------------------------------
 * Tools
 */

bool cause_sides(const struct cause_case *c, struct cause_sides *ret)
{
    if (c->ranked_apart || !(c->rate.ratio > 0))
        return false;
    if (c->rate.verdict == VERDICT_BETTER)
        *ret = (struct cause_sides){&c->side, &c->baseline, c->rate.ratio};
    else if (c->rate.verdict == VERDICT_WORSE)
        *ret = (struct cause_sides){&c->baseline, &c->side, 1 / c->rate.ratio};
    else
        return false;
    return ret->ratio > 1;
}

bool cause_known(const struct stats_figure *f)
{
    return f->n >= STATS_MIN_BLOCKS && f->center > 0 && f->low > 0 && isfinite(f->high);
}

bool cause_apart(const struct stats_figure *high, const struct stats_figure *low)
{
    return cause_known(high) && cause_known(low) && high->low > low->high;
}

double cause_share(double part, double whole)
{
    return part > 0 && isfinite(part) && whole > 0 ? log(part) / log(whole) : NAN;
}

bool cause_alike(double a, double b, double most)
{
    return a > 0 && b > 0 && a < b * most && b < a * most;
}

double cause_little(const struct cause_side *s)
{
    return s->in_flight.center * s->wire_bytes.center / (s->service_ns.center / 1e9);
}

double cause_wire_share(const struct cause_side *s)
{
    if (!cause_known(&s->rate))
        return NAN;
    return s->per_request.center * s->wire_bytes.center * s->requests.center / s->rate.center;
}

double cause_busy(const struct cause_side *s)
{
    return s->is_library ? NAN : (s->user_cpus + s->system_cpus) / (s->threads * (1 + s->workers));
}

bool cause_waits(const struct cause_side *s)
{
    double pieces = fmax(s->per_request.center, 1);

    return cause_known(&s->in_flight) && s->in_flight.center >= CAUSE_WAITS * s->threads * s->depth * pieces;
}

bool cause_does_not_wait(const struct cause_side *s)
{
    if (!strcmp(s->served, "memory") || !strcmp(s->served, "cache"))
        return true;
    return cause_known(&s->in_flight) && s->in_flight.center < CAUSE_WAITS * s->threads * s->depth;
}

bool cause_comparable(const struct cause_case *c)
{
    return !strcmp(c->side.file, c->baseline.file) && cause_comparable_across_files(c);
}

bool cause_comparable_across_files(const struct cause_case *c)
{
    const char *served = c->side.served;

    return (!strcmp(served, "storage") || !strcmp(served, "simulated")) && !strcmp(served, c->baseline.served) &&
           cause_alike(c->side.rate.center / c->side.requests.center,
                       c->baseline.rate.center / c->baseline.requests.center, 1 + c->margin) &&
           c->side.throttled_share < CAUSE_THROTTLED_SOME && c->baseline.throttled_share < CAUSE_THROTTLED_SOME;
}

bool cause_machine_is_full(const struct cause_side *s)
{
    return s->machine_cpus >= CAUSE_MACHINE_FULL * s->cpus_online;
}

bool cause_knows_wire(const struct cause_side *s)
{
    return cause_known(&s->in_flight) && cause_known(&s->wire_bytes) && cause_known(&s->service_ns) &&
           !s->samples_disagree;
}

bool cause_agrees_with_little(const struct cause_side *s)
{
    return cause_alike(cause_little(s), s->rate.center, CAUSE_LITTLE);
}

void cause_number(struct cause_finding *f, const char *key, double faster, double slower)
{
    for (int i = 0; i < CAUSE_NUMBERS; i++) {
        if (f->numbers[i].key)
            continue;
        f->numbers[i] = (struct cause_number){key, faster, slower};
        return;
    }
}

/* ------------------------------------------------------------------------------------------------
 * The rules
 */

static cause_rule *const rules[N_CAUSES] = {
    [CAUSE_CONCURRENCY] = cause_concurrency,
    [CAUSE_SPLITTING] = cause_splitting,
    [CAUSE_SATURATION] = cause_saturation,
    [CAUSE_CPU] = cause_cpu,
    [CAUSE_CACHE] = cause_cache,
    [CAUSE_NOT_DIRECT] = cause_not_direct,
    [CAUSE_THROTTLED] = cause_throttled,
    [CAUSE_TOO_SHORT] = cause_too_short,
    [CAUSE_NOISE] = cause_noise,
    [CAUSE_HELD_BACK] = cause_held_back,
};

static struct cause_finding new_finding(const struct cause_case *c, enum cause_kind kind)
{
    return (struct cause_finding){
        .kind = kind,
        .cell = c->cell,
        .arm = c->arm,
        .arm_is_faster = c->rate.verdict == VERDICT_BETTER,
        .is_same = c->rate.verdict == VERDICT_SAME,
        .variant = "",
        .subject = "",
    };
}

/* How much a GPU's clocks change is not known: nothing is put down to them where another cause was found. */
static bool is_doubtful(const struct cause_finding *f, size_t n_before)
{
    return f->kind == CAUSE_THROTTLED && !strcmp(f->variant, "GPU") && n_before;
}

size_t causes_find(const struct cause_case *c, struct cause_finding ret[static N_CAUSES])
{
    size_t n = 0;

    for (int kind = 0; kind < N_CAUSES; kind++) {
        ret[n] = new_finding(c, (enum cause_kind)kind);
        n += rules[kind](c, &ret[n]) && !is_doubtful(&ret[n], n);
    }
    return n;
}
