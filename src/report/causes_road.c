/* SPDX-License-Identifier: MIT */
/* Bytes that took another way than the one they were thought to take. */
#include <math.h>
#include <string.h>

#include "report/causes.h"

/* A part of the faster one's bytes is not on the wire, and all of the slower one's is. */
static bool has_wire_shares(const struct cause_sides *s, double *ret_faster, double *ret_slower)
{
    *ret_faster = cause_known(&s->faster->per_request) ? cause_wire_share(s->faster) : NAN;
    *ret_slower = cause_known(&s->slower->per_request) ? cause_wire_share(s->slower) : NAN;
    return *ret_faster > 0 && *ret_faster <= CAUSE_WIRE_PART && *ret_slower >= CAUSE_WIRE_ALL &&
           *ret_slower < 1 / CAUSE_WIRE_PART;
}

/* What else was counted on the wire is consistent with that share of its bytes. */
static bool has_time_for(const struct cause_side *s, double wire_share)
{
    return cause_knows_wire(s) && cause_alike(cause_little(s), wire_share * s->rate.center, CAUSE_LITTLE);
}

bool cause_cache(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;
    double faster, slower;

    if (!cause_sides(c, &s) || strcmp(c->side.file, c->baseline.file) || !has_wire_shares(&s, &faster, &slower) ||
        !has_time_for(s.faster, faster) || !has_time_for(s.slower, slower) ||
        !(cause_share(slower / faster, s.ratio) >= CAUSE_SHARE))
        return false;
    ret->confidence = cause_share(slower / faster, s.ratio) >= CAUSE_SHARE_HIGH ? CONFIDENCE_HIGH : CONFIDENCE_LIKELY;
    ret->variant = s.faster->writes ? (s.faster->reads ? "reads and writes" : "writes") : "reads";
    cause_number(ret, "wire_share", faster, slower);
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Not direct
 */

static bool is_direct(const char *observed)
{
    static const char *const roads[] = {"nvidia-fs", "p2pdma", "user-rdma", "c2c"};

    for (size_t i = 0; i < sizeof(roads) / sizeof(roads[0]); i++)
        if (!strcmp(observed, roads[i]))
            return true;
    return false;
}

static bool went_by_compat(const struct cause_side *s)
{
    return (!strcmp(s->route, "any") || !strcmp(s->route, "direct")) &&
           (!strcmp(s->observed, "compat") || !strcmp(s->observed, "mixed"));
}

/* That it was not direct is certain. That this is why it is slower is so only against one that was. */
bool cause_not_direct(const struct cause_case *c, struct cause_finding *ret)
{
    struct cause_sides s;

    if (!cause_sides(c, &s) || !went_by_compat(s.slower) ||
        (!is_direct(s.faster->observed) && strcmp(s.faster->observed, "host")))
        return false;
    ret->confidence = is_direct(s.faster->observed) ? CONFIDENCE_HIGH : CONFIDENCE_LIKELY;
    ret->variant = is_direct(s.faster->observed) ? "direct" : "host";
    ret->subject = s.slower->observed;
    return true;
}
