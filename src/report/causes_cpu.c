/* SPDX-License-Identifier: MIT */
/* CPUs that never idle, and what holds them down. rate = CPUs / (CPU seconds per byte). */
#include <math.h>
#include <string.h>

#include "report/causes.h"

static double cpus(const struct cause_side *s)
{
    return s->user_cpus + s->system_cpus;
}

static void put_numbers(const struct cause_sides *s, struct cause_finding *ret)
{
    cause_number(ret, "user_cpus", s->faster->user_cpus, s->slower->user_cpus);
    cause_number(ret, "system_cpus", s->faster->system_cpus, s->slower->system_cpus);
    cause_number(ret, "cpu_s_per_gib", s->faster->cpu_per_gib, s->slower->cpu_per_gib);
    cause_number(ret, "request_bytes", s->faster->rate.center / s->faster->requests.center,
                 s->slower->rate.center / s->slower->requests.center);
}

/* The slower one's threads compute all the time, and are not polling for the storage. */
static bool is_busy(const struct cause_side *s)
{
    return cause_busy(s) >= CAUSE_BUSY && cause_does_not_wait(s) && s->throttled_share < CAUSE_THROTTLED_SOME;
}

static bool needs_more_per_byte(const struct cause_sides *s)
{
    return cause_share(s->slower->cpu_per_gib / s->faster->cpu_per_gib, s->ratio) >= CAUSE_SHARE;
}

static bool has_fewer_cpus(const struct cause_sides *s)
{
    return cause_share(cpus(s->faster) / cpus(s->slower), s->ratio) >= CAUSE_SHARE;
}

static bool is_machine_full(const struct cause_sides *s)
{
    return cause_machine_is_full(s->slower) && s->slower->trial_cpus >= CAUSE_MACHINE_OWN * s->slower->cpus_online &&
           cause_does_not_wait(s->slower) && s->slower->throttled_share < CAUSE_THROTTLED_SOME &&
           cause_share(s->slower->machine_per_gib / s->faster->machine_per_gib, s->ratio) >= CAUSE_SHARE;
}

bool cause_cpu(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!cause_sides(c, &s))
        return false;
    if (is_busy(s.slower) && needs_more_per_byte(&s))
        ret->variant = "per byte";
    else if (is_busy(s.slower) && has_fewer_cpus(&s))
        ret->variant = "threads";
    else if (is_machine_full(&s))
        ret->variant = "machine";
    else
        return false;
    ret->confidence = !strcmp(ret->variant, "machine") ? CONFIDENCE_LIKELY : CONFIDENCE_HIGH;
    put_numbers(&s, ret);
    if (!strcmp(ret->variant, "machine"))
        cause_number(ret, "machine_cpus", s.faster->machine_cpus, s.slower->machine_cpus);
    else
        cause_number(ret, "threads", s.faster->threads, s.slower->threads);
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Throttled
 */

static bool is_limited(const struct cause_sides *s)
{
    return s->slower->throttled_share >= CAUSE_THROTTLED_SHARE && needs_more_per_byte(s);
}

/* In all but one of five trials, and in none of the other's but one: it comes and goes with heat. */
static bool is_gpu_slowed(const struct cause_sides *s)
{
    return s->slower->gpu_slowed_share >= 0.8 && s->faster->gpu_slowed_share <= 0.2;
}

bool cause_throttled(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!cause_sides(c, &s))
        return false;
    ret->confidence = CONFIDENCE_LIKELY;
    if (is_limited(&s)) {
        ret->variant = "CPU limit";
        cause_number(ret, "throttled_share", s.faster->throttled_share, s.slower->throttled_share);
        put_numbers(&s, ret);
    } else if (is_gpu_slowed(&s)) {
        ret->variant = "GPU";
        cause_number(ret, "gpu_slowed_share", s.faster->gpu_slowed_share, s.slower->gpu_slowed_share);
    } else {
        return false;
    }
    return true;
}
