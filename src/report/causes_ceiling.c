/* SPDX-License-Identifier: MIT */
/* What gives no more, whatever is asked of it: then arms are the same, or one has less of it. */
#include <math.h>
#include <string.h>

#include "report/causes.h"

/* Something else than the storage may hold this arm where it is. */
static bool may_be_held(const struct cause_side *s)
{
    return !(cause_busy(s) < CAUSE_BUSY || (s->is_library && s->user_cpus + s->system_cpus < CAUSE_BUSY * s->threads) ||
             cause_waits(s));
}

static bool is_link_full(const struct cause_case *c)
{
    return c->side.link_share >= CAUSE_LINK_FULL && c->baseline.link_share >= CAUSE_LINK_FULL && *c->side.link_name &&
           !strcmp(c->side.link_name, c->baseline.link_name);
}

static bool is_at_set_rate(const struct cause_side *s)
{
    return s->set_rate > 0 && s->rate.center >= CAUSE_SET_RATE * s->set_rate;
}

static bool queues_more(const struct cause_side *more, const struct cause_side *less)
{
    return more->in_flight.center >= CAUSE_QUEUE_RATIO * less->in_flight.center &&
           cause_apart(&more->in_flight, &less->in_flight) &&
           cause_alike(more->wire_bytes.center, less->wire_bytes.center, CAUSE_SAME_SIZE);
}

static bool knows_both(const struct cause_case *c)
{
    return cause_knows_wire(&c->side) && cause_knows_wire(&c->baseline) && cause_agrees_with_little(&c->side) &&
           cause_agrees_with_little(&c->baseline);
}

static bool is_possible(const struct cause_case *c)
{
    return c->rate.verdict == VERDICT_SAME && !c->ranked_apart && cause_comparable(c) && !may_be_held(&c->side) &&
           !may_be_held(&c->baseline) &&
           !(c->simulated && (cause_machine_is_full(&c->side) || cause_machine_is_full(&c->baseline)));
}

/* What gave more elsewhere, to anyone, was not the ceiling here. */
static bool is_best(const struct cause_case *c)
{
    return c->best_rate <= (1 + 2 * c->margin) * fmax(c->side.rate.center, c->baseline.rate.center);
}

static bool find_variant(const struct cause_case *c, struct cause_finding *ret)
{
    bool is_ceiling = knows_both(c) && is_best(c);
    bool queues = is_ceiling && (queues_more(&c->side, &c->baseline) || queues_more(&c->baseline, &c->side));

    ret->confidence = CONFIDENCE_HIGH;
    if (is_link_full(c)) {
        ret->variant = "link";
        ret->subject = c->side.link_name;
        cause_number(ret, "link_share", c->side.link_share, c->baseline.link_share);
    } else if (is_at_set_rate(&c->side) && is_at_set_rate(&c->baseline)) {
        ret->variant = "set rate";
        cause_number(ret, "set_bytes_per_second", c->side.set_rate, c->baseline.set_rate);
    } else if (queues) {
        ret->variant = "queue";
        ret->confidence = c->side.is_ceiling || c->baseline.is_ceiling ? CONFIDENCE_HIGH : CONFIDENCE_LIKELY;
    } else if (is_ceiling && c->side.is_ceiling && c->baseline.is_ceiling) {
        ret->variant = "axis";
    } else {
        return false;
    }
    return true;
}

/* The slower one is at the rate that its mount was set to, and the faster one's other mounts were set to as much more.
 */
static bool has_other_mounts(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!cause_sides(c, &s) || strcmp(c->side.served, "simulated") != 0 ||
        strcmp(c->baseline.served, "simulated") != 0 || !is_at_set_rate(s.slower) ||
        !(cause_share(s.faster->set_rate / s.slower->set_rate, s.ratio) >= CAUSE_SHARE))
        return false;
    ret->variant = "slower";
    ret->confidence = CONFIDENCE_HIGH;
    cause_number(ret, "set_bytes_per_second", s.faster->set_rate, s.slower->set_rate);
    cause_number(ret, "bytes_per_second", s.faster->rate.center, s.slower->rate.center);
    return true;
}

bool cause_saturation(const struct cause_case *c, struct cause_finding *ret)
{
    if (has_other_mounts(c, ret))
        return true;
    if (!is_possible(c) || !find_variant(c, ret))
        return false;
    cause_number(ret, "bytes_per_second", c->side.rate.center, c->baseline.rate.center);
    if (cause_known(&c->side.in_flight) && cause_known(&c->baseline.in_flight))
        cause_number(ret, "in_flight", c->side.in_flight.center, c->baseline.in_flight.center);
    if (cause_known(&c->side.wire_bytes) && cause_known(&c->baseline.wire_bytes))
        cause_number(ret, "wire_bytes", c->side.wire_bytes.center, c->baseline.wire_bytes.center);
    return true;
}
