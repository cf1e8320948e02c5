/* SPDX-License-Identifier: MIT */
/* What was on the wire. rate = in flight x size / service time, so log(ratio) = log of in flight + of size - of time.
 */
#include <math.h>

#include "report/causes.h"

static double over(const struct stats_figure *a, const struct stats_figure *b)
{
    return a->center / b->center;
}

/* The rest may compute while nothing of theirs is on the wire: then few in flight is a symptom. */
static bool may_be_computing(const struct cause_side *s)
{
    double busy = (s->user_cpus + s->system_cpus) / s->threads;

    return !(busy < CAUSE_HALF_BUSY) && !cause_waits(s);
}

static bool is_judged_across_files(const struct cause_case *c, struct cause_sides *ret)
{
    return cause_sides(c, ret) && cause_comparable_across_files(c) && cause_knows_wire(ret->faster) &&
           cause_knows_wire(ret->slower) && !(c->simulated && cause_machine_is_full(ret->slower));
}

static bool is_judged(const struct cause_case *c, struct cause_sides *ret)
{
    return cause_comparable(c) && is_judged_across_files(c, ret);
}

/* More in flight, and enough more to account for the ratio; nothing else keeps the slower one back. */
static bool has_more_in_flight(const struct cause_sides *s)
{
    double more = over(&s->faster->in_flight, &s->slower->in_flight);

    return more >= CAUSE_IN_FLIGHT_RATIO && cause_apart(&s->faster->in_flight, &s->slower->in_flight) &&
           cause_share(more, s->ratio) >= CAUSE_SHARE && !s->slower->is_ceiling && !may_be_computing(s->slower);
}

static bool agree_with_little(const struct cause_sides *s)
{
    return cause_agrees_with_little(s->faster) && cause_agrees_with_little(s->slower);
}

static void put_numbers(const struct cause_sides *s, struct cause_finding *ret)
{
    cause_number(ret, "in_flight", s->faster->in_flight.center, s->slower->in_flight.center);
    cause_number(ret, "wire_bytes", s->faster->wire_bytes.center, s->slower->wire_bytes.center);
    cause_number(ret, "service_ns", s->faster->service_ns.center, s->slower->service_ns.center);
}

static bool has_one_size(const struct cause_sides *s)
{
    return cause_alike(s->faster->wire_bytes.center, s->slower->wire_bytes.center, CAUSE_SAME_SIZE);
}

/* High where sizes and times by themselves would leave the arms equal, and the slower one's callers do wait for the
 * wire: else something that was not counted keeps them off it (a copy, a lock). */
static enum cause_confidence confidence(const struct cause_sides *s)
{
    double share = cause_share(over(&s->faster->in_flight, &s->slower->in_flight), s->ratio);

    return share >= CAUSE_SHARE_HIGH && !cause_does_not_wait(s->slower) ? CONFIDENCE_HIGH : CONFIDENCE_LIKELY;
}

bool cause_concurrency(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!is_judged(c, &s) || !has_one_size(&s) || !has_more_in_flight(&s) || !agree_with_little(&s))
        return false;
    ret->confidence = confidence(&s);
    put_numbers(&s, ret);
    return true;
}

bool cause_held_back(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!is_judged(c, &s) || !has_one_size(&s) || !has_more_in_flight(&s) || agree_with_little(&s))
        return false;
    if (cause_cache(c, ret)) /* which is why they contradict each other */
        return false;
    put_numbers(&s, ret);
    cause_number(ret, "little_bytes_per_second", cause_little(s.faster), cause_little(s.slower));
    cause_number(ret, "bytes_per_second", s.faster->rate.center, s.slower->rate.center);
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Splitting
 */

/* @many sends more wire requests for one of the caller's, and nothing but splitting makes it so. */
static bool splits_more(const struct cause_side *many, const struct cause_side *few)
{
    return over(&many->per_request, &few->per_request) >= CAUSE_SPLIT_RATIO &&
           cause_apart(&many->per_request, &few->per_request) &&
           over(&few->wire_bytes, &many->wire_bytes) >= CAUSE_SPLIT_RATIO &&
           cause_alike(cause_wire_share(many), cause_wire_share(few), 1 / CAUSE_WIRE_PART);
}

/* The pieces of the slower one are so small that each carries less in the time that it takes. */
static bool has_smaller_trips(const struct cause_sides *s)
{
    double in_flight = over(&s->faster->in_flight, &s->slower->in_flight);
    double trips = over(&s->faster->wire_bytes, &s->slower->wire_bytes) /
                   over(&s->faster->service_ns, &s->slower->service_ns);

    return splits_more(s->slower, s->faster) && cause_share(in_flight, s->ratio) < 1 - CAUSE_SHARE &&
           cause_share(trips, s->ratio) >= CAUSE_SHARE && !may_be_computing(s->slower);
}

/* One storage, or two that take as long for a request: of two mounts of one server, say. */
static bool has_one_speed(const struct cause_case *c, const struct cause_sides *s)
{
    return cause_comparable(c) ||
           cause_alike(s->faster->service_ns.center, s->slower->service_ns.center, CAUSE_SAME_TIME);
}

bool cause_splitting(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!is_judged_across_files(c, &s) || !agree_with_little(&s))
        return false;
    if (cause_comparable(c) && splits_more(s.faster, s.slower) && has_more_in_flight(&s))
        ret->variant = "parallel";
    else if (has_smaller_trips(&s) && has_one_speed(c, &s))
        ret->variant = "small";
    else
        return false;
    ret->confidence = CONFIDENCE_LIKELY; /* pieces are counted, not which of them were under way together */
    cause_number(ret, "per_request", s.faster->per_request.center, s.slower->per_request.center);
    put_numbers(&s, ret);
    return true;
}
