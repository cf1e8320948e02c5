/* SPDX-License-Identifier: MIT */
#include "sweep/match.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/parent.h"
#include "worker/refer.h"

/* At most, and no longer than a trial: counters of whole milliseconds need some hundreds of requests. */
#define PILOT_NS  1000000000ull
#define WARMUP_NS 200000000ull

struct match {
    struct experiment *x;
    uint32_t cell;
    const struct sweep_pair *pairs; /* of that cell */
    const struct match_options *o;
};

struct arm {
    const struct match *m;
    uint32_t arm;
    const char *key; /* threads, depth */
};

/* " in cell request 64K", where there are several. */
static const char *where(const struct match *m, char text[200])
{
    text[0] = 0;
    if (m->x->n_cells > 1)
        snprintf(text, 200, " in cell %s", m->x->cells[m->cell].label);
    return text;
}

/* ------------------------------------------------------------------------------------------------
 * One pilot
 */

static bool writes(const struct job *job)
{
    return job->op == JOB_WRITE || job->op == JOB_RANDWRITE || job->op == JOB_MIX;
}

static struct job pilot_job(const struct arm *a, uint32_t value)
{
    struct job job = a->m->pairs[a->arm].job; /* borrows its strings */

    job.verify = VERIFY_OFF;
    job.seconds_ns = job.total_bytes || job.seconds_ns > PILOT_NS ? PILOT_NS : job.seconds_ns;
    job.warmup_ns = job.total_bytes || job.warmup_ns > WARMUP_NS ? WARMUP_NS : job.warmup_ns;
    job.interval_ns = job.total_bytes = 0;
    job.baseline_busy = 0;
    job.seed = a->m->x->seed;
    if (!strcmp(a->key, "threads"))
        job.threads = value;
    else
        job.depth = value;
    return job;
}

static void refer(const struct arm *a, const char *check, struct spur_error *e)
{
    refer_to(e, check, a->m->pairs[a->arm].job.files[0]);
}

static int refuse_unknown(const struct arm *a, const json_t *result, struct spur_error *e)
{
    static const char *const keys[] = {"wire.mean_in_flight", "wire.source", "wire"};
    const json_t *nulls = json_object_get(result, "nulls");
    const char *why = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(keys) && !why; i++)
        why = json_string_value(json_object_get(nulls, keys[i]));
    error_spur(e, SPUR_CODE_REFUSED, "match", "--match inflight: arm %s: the number in flight is not known: %s",
               a->m->x->arms[a->arm].name, why ? why : "nothing counts it");
    error_remedy(e, "leave --match out, or use files on a mount or disk that counts its requests (docs/wire.md)");
    refer(a, "block-queue", e);
    return -EPERM;
}

static int judge(const struct arm *a, const struct worker_end *end, double *ret_in_flight, struct spur_error *e)
{
    const json_t *errors = json_object_get(end->result, "errors");
    const json_t *in_flight = json_object_get(json_object_get(end->result, "wire"), "mean_in_flight");
    struct spur_error why = end->error;

    if (end->signal_received)
        return error_errno(e, EINTR, "match", "interrupted by a signal");
    if (json_array_size(errors))
        json_error_parse(json_array_get(errors, 0), &why);
    if (why.source) {
        *e = why;
        return why.source == SPUR_SOURCE_SPUR && why.code == SPUR_CODE_USAGE ? -ERANGE : -EIO;
    }
    if (!json_is_number(in_flight))
        return refuse_unknown(a, end->result, e);
    *ret_in_flight = json_number_value(in_flight);
    return 0;
}

static void say(const struct arm *a, uint32_t value, double in_flight)
{
    char line[500], cell[200];

    if (!a->m->o->said)
        return;
    snprintf(line, sizeof(line), "match: %s with %s=%u keeps %.1f wire requests in flight%s",
             a->m->x->arms[a->arm].name, a->key, value, in_flight, where(a->m, cell));
    a->m->o->said(a->m->o->context, line);
}

static int measure(void *context, uint32_t value, double *ret_in_flight, struct spur_error *e)
{
    const struct arm *a = context;
    const struct worker_hooks hooks = {NULL, NULL, NULL};
    struct job job = pilot_job(a, value);
    struct worker_end end = {0};
    int r = worker_run(&job, a->m->pairs[a->arm].stall_ns, &hooks, &end);

    if (r < 0)
        *e = end.error;
    else
        r = judge(a, &end, ret_in_flight, e);
    if (!r)
        say(a, value, *ret_in_flight);
    worker_end_free(&end);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * One arm
 */

static const char *own_value(const struct experiment *x, uint32_t arm, const char *key)
{
    const struct experiment_settings *s = &x->arms[arm].settings;

    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->items[i].key, key))
            return s->items[i].value;
    return NULL;
}

static bool is_axis(const struct experiment *x, const char *key)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (!strcmp(x->axes[i].key, key))
            return true;
    return false;
}

/* What the arm sets itself, and what an axis varies, stays as it is. */
static int choose_key(struct arm *a, struct spur_error *e)
{
    const struct experiment *x = a->m->x;
    bool has_threads = own_value(x, a->arm, "threads") || is_axis(x, "threads");
    bool has_depth = own_value(x, a->arm, "depth") || is_axis(x, "depth");

    if (has_threads && has_depth) {
        error_spur(e, SPUR_CODE_USAGE, "match", "--match inflight: threads and depth of arm %s are both given",
                   x->arms[a->arm].name);
        error_remedy(e, "leave one of them to be found");
        return -EINVAL;
    }
    a->key = has_threads ? "depth" : "threads";
    return 0;
}

static uint32_t present_value(const struct arm *a)
{
    const struct job *job = &a->m->pairs[a->arm].job;

    return (uint32_t)(!strcmp(a->key, "threads") ? job->threads : job->depth);
}

static int set_value(struct experiment *x, uint32_t arm, const char *key, uint32_t value, struct spur_error *e)
{
    struct experiment_settings *s = &x->arms[arm].settings;
    struct experiment_setting *grown = realloc(s->items, (s->n + 1) * sizeof(*grown));

    if (!grown)
        return error_errno(e, ENOMEM, "realloc", "a setting");
    s->items = grown;
    grown[s->n] = (struct experiment_setting){strdup(key), NULL};
    if (asprintf(&grown[s->n].value, "%u", value) < 0)
        grown[s->n].value = NULL;
    s->n++;
    return grown[s->n - 1].key && grown[s->n - 1].value ? 0 : error_errno(e, ENOMEM, "strdup", "a setting");
}

static int keep(const struct arm *a, double target, const struct match_found *found, struct spur_error *e)
{
    struct experiment *x = a->m->x;
    struct experiment_match *m = &x->matches[x->n_matches];

    *m = (struct experiment_match){a->arm, strdup(a->key),   found->value, found->n_pilots,
                                   target, found->in_flight, a->m->cell};
    if (!m->key)
        return error_errno(e, ENOMEM, "strdup", "a match");
    x->n_matches++;
    return 0;
}

static int refuse_far(const struct arm *a, double target, const struct match_found *found, struct spur_error *e)
{
    char why[300] = "", cell[200];

    if (found->refused)
        snprintf(why, sizeof(why), "; %s=%u: %.200s", a->key, found->refused, e->detail);
    error_spur(e, SPUR_CODE_REFUSED, "match",
               "--match inflight: arm %s cannot keep %.1f wire requests in flight%s: nearest is %.1f, with %s=%u%s",
               a->m->x->arms[a->arm].name, target, where(a->m, cell), found->in_flight, a->key, found->value, why);
    error_remedy(e, "--match inflight=%.0f, or another request size", fmax(found->in_flight, 1));
    refer(a, "nfs-slots", e);
    return -EPERM;
}

static int match_arm(const struct match *m, uint32_t arm, double target, struct spur_error *e)
{
    struct arm a = {m, arm, NULL};
    struct match_found found;
    int r = choose_key(&a, e);

    if (!r)
        r = match_search(target, present_value(&a), measure, &a, &found, e);
    if (r < 0)
        return r;
    if (!match_is_near(found.in_flight, target))
        return refuse_far(&a, target, &found, e);
    if (m->x->n_cells == 1)
        r = set_value(m->x, arm, a.key, found.value, e);
    return r ? r : keep(&a, target, &found, e);
}

static int refuse_none(const struct arm *a, double in_flight, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "match",
               "--match inflight: arm %s keeps %.2g wire requests in flight: hardly anything of it reaches the wire",
               a->m->x->arms[a->arm].name, in_flight);
    error_remedy(e, "take a path that bypasses the page cache, or --match inflight=COUNT");
    refer(a, "residency", e);
    return -EPERM;
}

/* As it is: the target of the others. */
static int take_baseline(const struct match *m, double *ret_target, struct spur_error *e)
{
    struct arm a = {m, m->x->baseline, "threads"};
    struct match_found found = {.value = present_value(&a), .n_pilots = 1};
    int r = measure(&a, found.value, &found.in_flight, e);

    if (r == -ERANGE)
        return -EINVAL;
    if (r < 0)
        return r;
    if (!(found.in_flight >= MATCH_LEAST))
        return refuse_none(&a, found.in_flight, e);
    *ret_target = found.in_flight;
    return keep(&a, found.in_flight, &found, e);
}

/* ------------------------------------------------------------------------------------------------ */

static int check(const struct match *m, struct spur_error *e)
{
    for (uint32_t arm = 0; arm < m->x->n_arms; arm++)
        if (writes(&m->pairs[arm].job) && m->x->cells[m->cell].pairs[arm].state == PAIR_PLANNED && !m->o->may_write) {
            error_spur(e, SPUR_CODE_USAGE, "match", "--match inflight: its pilots would write, and --dry-run must not");
            error_remedy(e, "leave --dry-run out, or give threads and depth of each arm");
            return -EINVAL;
        }
    return 0;
}

/* The second copy of the baseline has its settings. */
static int copy_to_aa(const struct match *m, struct spur_error *e)
{
    const struct experiment_match *of = experiment_match_of(m->x, m->cell, m->x->baseline);
    const struct arm a = {m, m->x->aa, of ? of->key : NULL};
    struct match_found found;

    if (m->x->aa == EXPERIMENT_NONE || !of)
        return 0;
    if (m->x->n_cells == 1)
        return own_value(m->x, m->x->baseline, of->key) ? set_value(m->x, m->x->aa, of->key, of->value, e) : 0;
    found = (struct match_found){.value = of->value, .in_flight = of->in_flight};
    return keep(&a, of->target, &found, e);
}

static int match_cell(const struct match *m, struct spur_error *e)
{
    const struct experiment *x = m->x;
    double target = m->o->target;
    int r = check(m, e);

    if (!r && isnan(target) && x->cells[m->cell].pairs[x->baseline].state == PAIR_PLANNED)
        r = take_baseline(m, &target, e);
    if (isnan(target)) /* its baseline cannot run there: nothing is compared */
        return r;
    for (uint32_t arm = 0; !r && arm < x->n_arms; arm++) {
        bool is_target = arm == x->baseline && isnan(m->o->target);

        if (!is_target && arm != x->aa && x->cells[m->cell].pairs[arm].state == PAIR_PLANNED)
            r = match_arm(m, arm, target, e);
    }
    return r || isnan(m->o->target) ? r : copy_to_aa(m, e);
}

int match_arms(struct experiment *x, const struct sweep_pair *pairs, const struct match_options *o,
               struct spur_error *e)
{
    int r = 0;

    x->matches = calloc(x->n_cells * x->n_arms, sizeof(*x->matches));
    if (!x->matches)
        return error_errno(e, ENOMEM, "calloc", "matches");
    for (uint32_t cell = 0; !r && cell < x->n_cells; cell++) {
        const struct match m = {x, cell, pairs + cell * x->n_arms, o};

        r = match_cell(&m, e);
    }
    return r;
}
