/* SPDX-License-Identifier: MIT */
/* The road of a file: what a probe observed, else what the conclusions of the checks let expect. */
#include <string.h>

#include "doctor/check.h"
#include "worker/job.h"

enum { WORKS = 0, WILL_NOT = 3, NOT_DIRECT = 4 };

static json_t *make(const char *road, const char *basis, int exit, const char *reason)
{
    return json_pack("{s:s, s:s, s:i, s:o}", "road", road, "basis", basis, "exit", exit, "reason",
                     json_filename(reason));
}

static bool is_no(const struct conclusion *c)
{
    return c->is == ANSWER_NO;
}

/* Both have to say yes, of what could be looked at. */
static bool both(const struct conclusion *machine, const struct doctor_file *f, const struct conclusion *file)
{
    return machine->is == ANSWER_YES && (!f || (file->is == ANSWER_YES && !is_no(&f->unseen)));
}

static void add(char *to, size_t size, const struct conclusion *c)
{
    size_t n = strlen(to);

    if (c->is != ANSWER_YES && *c->why && !strstr(to, c->why))
        snprintf(to + n, size - n, "%s%s", n ? "; " : "", c->why);
}

static bool is_disk(const struct doctor_file *f)
{
    const char *kind = json_string_value(json_object_get(f->facts, "kind"));

    return kind && !strcmp(kind, "block device");
}

/* All that keeps the direct roads away: of the file first, which no setting of the machine cures. */
static const char *why_not(const struct doctor *d, const struct doctor_file *f, char *ret, size_t size)
{
    *ret = 0;
    if (f)
        add(ret, size, &f->unseen);
    if (f)
        add(ret, size, &f->nvfs);
    add(ret, size, &d->nvfs);
    if (f)
        add(ret, size, &f->p2pdma);
    if (!f || !is_no(&f->p2pdma))
        add(ret, size, &d->p2pdma);
    if (!*ret)
        snprintf(ret, size, "%s",
                 f && is_disk(f) ? "no support list names block devices" : "nothing speaks for a direct road");
    return ret;
}

static json_t *without_cufile(const char *why)
{
    return make("host only", "inferred", NOT_DIRECT, why);
}

/* P2PDMA goes before nvidia-fs where both could be. */
static json_t *direct_road(const struct doctor *d, const struct doctor_file *f)
{
    char why[600];

    if (f && f->user_rdma.is == ANSWER_YES) {
        snprintf(why, sizeof(why), "%s brings a user-space RDMA road", f->mount.fs_type);
        return make("user-rdma", "inferred", WORKS, why);
    }
    if (both(&d->p2pdma, f, f ? &f->p2pdma : NULL)) {
        snprintf(why, sizeof(why), "%s%s%s", d->p2pdma.why, f ? "; " : "", f ? f->p2pdma.why : "");
        return make("p2pdma", "inferred", WORKS, why);
    }
    if (both(&d->nvfs, f, f ? &f->nvfs : NULL)) {
        snprintf(why, sizeof(why), "%s%s%s", d->nvfs.why, f ? ", and the file is on " : "", f ? f->nvfs.why : "");
        return make("nvidia-fs", "inferred", WORKS, why);
    }
    return NULL;
}

/* No GPU, no library, no configuration that it takes; and what would keep the file from the direct road were they
 * there. */
static json_t *without_basis(const struct doctor *d, const struct doctor_file *f)
{
    char why[1200] = "";
    size_t n;

    add(why, sizeof(why), &d->gpu);
    add(why, sizeof(why), &d->library);
    add(why, sizeof(why), &d->settings);
    n = strlen(why);
    if (f && is_no(&f->registers))
        snprintf(why + n, sizeof(why) - n, "; nor would cuFile take the file: %s", f->registers.why);
    else if (f && is_no(&f->nvfs) && is_no(&f->p2pdma) && f->user_rdma.is != ANSWER_YES)
        snprintf(why + n, sizeof(why) - n, "; nor could the file have a direct road: %s", f->nvfs.why);
    return without_cufile(why);
}

static json_t *infer(const struct doctor *d, const struct doctor_file *f)
{
    char why[1200], away[900];
    json_t *direct;

    if (is_no(&d->gpu) || is_no(&d->library) || is_no(&d->settings))
        return without_basis(d, f);
    if (d->forced_compat.is == ANSWER_YES && (!f || !is_no(&f->registers)))
        return make("compat", "inferred", NOT_DIRECT, d->forced_compat.why);
    if (f && is_no(&f->registers))
        return without_cufile(f->registers.why);
    direct = direct_road(d, f);
    if (direct)
        return direct;
    snprintf(why, sizeof(why), "%s%s%s", why_not(d, f, away, sizeof(away)), is_no(&d->compat) ? "; and " : "",
             is_no(&d->compat) ? d->compat.why : "");
    return is_no(&d->compat) ? without_cufile(why) : make("compat", "inferred", NOT_DIRECT, why);
}

static int exit_of(const char *road)
{
    static const char *const direct[] = {"nvidia-fs", "p2pdma", "user-rdma", "c2c"};

    for (size_t i = 0; i < ARRAY_SIZE(direct); i++)
        if (!strcmp(road, direct[i]))
            return WORKS;
    return NOT_DIRECT;
}

/* The reason of an observed compat is what the checks found; that of anything else is what was seen. */
static json_t *observed(const struct doctor *d, const struct doctor_file *f, const char *road)
{
    const char *says = json_string_value(json_object_get(f->probe, "says"));
    bool compat = !strcmp(road, "compat");
    char away[900];
    json_t *v = json_filename(compat && d->forced_compat.is == ANSWER_YES ? d->forced_compat.why
                              : compat                                    ? why_not(d, f, away, sizeof(away))
                              : says                                      ? says
                                                                          : "seen by a probe");
    json_t *made = make(road, "observed", exit_of(road), "");

    json_object_set_new(made, "reason", v ? v : json_null());
    return made;
}

/* A root without facts.json: what was not recorded is not missing on the machine. */
static json_t *with_gaps(const struct doctor *d, json_t *v)
{
    if (d->recorded && !live_get(d, "schema"))
        json_object_set_new(v, "reason",
                            json_sprintf("the root has no facts.json, so little is known; %s",
                                         json_string_value(json_object_get(v, "reason"))));
    return v;
}

json_t *verdict(const struct doctor *d, const struct doctor_file *f)
{
    const char *road = f ? json_string_value(json_object_get(f->probe, "road")) : NULL;
    const char *error = f ? json_string_value(json_object_get(f->probe, "error")) : NULL;

    if (f && is_no(&f->readable))
        return make("none", f->facts ? "observed" : "inferred", WILL_NOT, f->readable.why);
    if (road && (strcmp(road, "unknown") || json_is_true(live_get(d, "library.statistics"))))
        return observed(d, f, road); /* a library that counts, and counted on no road, is no ground to infer one */
    if (error) {
        json_t *v = make("host only", "observed", NOT_DIRECT, "");

        json_object_set_new(v, "reason",
                            json_sprintf("cuFile does not read it: %s%s%s", error, is_no(&d->settings) ? "; " : "",
                                         is_no(&d->settings) ? d->settings.why : "")
                                ?: json_null());
        return v;
    }
    return with_gaps(d, infer(d, f));
}
