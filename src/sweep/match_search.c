/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>

#include "sweep/match.h"

struct search {
    double target;
    uint32_t low, high; /* known to be too few, and too many (or refused); 0 and MATCH_HIGHEST + 1: none yet */
    struct match_found best;
    uint32_t last; /* value before this one, and what it kept; 0: none */
    double last_in_flight;
};

static double distance(double in_flight, double target)
{
    return in_flight > 0 ? fabs(log(in_flight / target)) : INFINITY;
}

bool match_is_near(double in_flight, double target)
{
    return distance(in_flight, target) <= log(MATCH_APART);
}

static void note(struct search *s, uint32_t value, double in_flight)
{
    s->best.n_pilots++;
    if (s->best.n_pilots == 1 || distance(in_flight, s->target) < distance(s->best.in_flight, s->target)) {
        s->best.value = value;
        s->best.in_flight = in_flight;
    }
    if (in_flight < s->target && value > s->low)
        s->low = value;
    if (in_flight >= s->target && value < s->high)
        s->high = value;
}

/* In proportion, inside of what is known; 0: nothing is left to try. */
static uint32_t next_value(const struct search *s, uint32_t value, double in_flight)
{
    double guess = in_flight > 0 ? round(value * s->target / in_flight) : 2.0 * value;

    if (s->low + 1 >= s->high)
        return 0;
    if (guess <= s->low)
        return s->low + 1;
    if (guess >= s->high)
        return s->high - 1;
    return (uint32_t)guess;
}

/* Twice as many gave no more: there is none to be had. */
static bool is_full(struct search *s, uint32_t value, double in_flight)
{
    bool full = s->last && value >= 2 * s->last && in_flight < s->target && in_flight < 1.05 * s->last_in_flight;

    s->last = value;
    s->last_in_flight = in_flight;
    return full;
}

int match_search(double target, uint32_t start, match_measure *measure, void *context, struct match_found *ret,
                 struct spur_error *e)
{
    struct search s = {.target = target, .high = MATCH_HIGHEST + 1};
    uint32_t value = start;

    for (int i = 0; i < MATCH_PILOTS && value; i++) {
        double in_flight = NAN;
        int r = measure(context, value, &in_flight, e);

        if (r == -ERANGE && s.best.n_pilots) { /* too many: half way back */
            s.high = s.best.refused = value;
            value = s.low + 1 < s.high ? s.low + (s.high - s.low) / 2 : 0;
            continue;
        }
        if (r < 0)
            return r;
        note(&s, value, in_flight);
        if (distance(in_flight, target) <= log(MATCH_CLOSE) || is_full(&s, value, in_flight))
            break;
        value = next_value(&s, value, in_flight);
    }
    *ret = s.best;
    return 0;
}
