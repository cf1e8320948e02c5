/* SPDX-License-Identifier: MIT */
/* What each arm can do in each cell, before the first trial: every pair is opened once by a worker, nothing is timed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "sweep/sweep.h"
#include "worker/pilot.h"
#include "worker/trial_env.h"

struct check {
    struct experiment *x;
    struct sweep_pair *pairs;
    struct spur_error error; /* of the last pair that cannot be */
};

static int set_state(struct experiment_pair *pair, enum experiment_state state, const struct spur_error *why,
                     struct spur_error *e)
{
    /* Of spur's own remedies only what goes for any arm; what to install does. */
    const char *more = why->source == SPUR_SOURCE_SPUR ? strstr(why->remedy, "spur doctor --check") : why->remedy;

    more = more && *more ? more : NULL;
    free(pair->reason);
    pair->state = state;
    if (asprintf(&pair->reason, "%s%s%s", why->detail, more ? "; " : "", more ? more : "") < 0)
        pair->reason = NULL;
    return pair->reason ? 0 : error_errno(e, ENOMEM, "strdup", "a reason");
}

/* What failed here and may fail in the trials: they are run, and each is stored with its end. */
static int leave_to_trials(struct sweep_pair *pair, const struct spur_error *why, struct spur_error *e)
{
    free(pair->trouble);
    pair->trouble = strdup(why->detail);
    return pair->trouble ? 0 : error_errno(e, ENOMEM, "strdup", "a reason");
}

static uint64_t smallest_file(const json_t *effective)
{
    const json_t *files = json_object_get(effective, "files");
    uint64_t least = UINT64_MAX;
    size_t i;
    json_t *file;

    json_array_foreach(files, i, file)
    {
        uint64_t n = (uint64_t)json_integer_value(json_object_get(file, "used_bytes"));

        least = n < least ? n : least;
    }
    return least;
}

static int judge(struct check *c, uint32_t cell, uint32_t arm, struct worker_opened *opened, struct spur_error *e)
{
    struct sweep_pair *pair = &c->pairs[cell * c->x->n_arms + arm];
    const struct spur_error *why = &opened->error;

    if (opened->effective) {
        pair->effective = json_incref(opened->effective);
        pair->used_bytes = smallest_file(opened->effective);
        return 0;
    }
    c->error = *why;
    if (why->source == SPUR_SOURCE_SPUR && why->code == SPUR_CODE_USAGE)
        return set_state(&c->x->cells[cell].pairs[arm], PAIR_NOT_APPLICABLE, why, e);
    if (error_is_refusal(why))
        return set_state(&c->x->cells[cell].pairs[arm], PAIR_REFUSED, why, e);
    if (opened->died && trial_env_is_cufile(&pair->job))
        return leave_to_trials(pair, why, e);
    *e = *why;
    return -EIO;
}

/* A direct road that is not there is known before a byte is timed. */
static int pilot(struct check *c, uint32_t cell, uint32_t arm, struct spur_error *e)
{
    struct sweep_pair *pair = &c->pairs[cell * c->x->n_arms + arm];
    struct spur_error why;
    int signal = 0;

    if (!pilot_is_needed(&pair->job) || pilot_run(&pair->job, pair->stall_ns, &pair->pilot, &signal, &why) == 0)
        return 0;
    if (signal) /* nothing was begun */
        raise(signal);
    c->error = why;
    if (why.source == SPUR_SOURCE_SPUR && why.code == SPUR_CODE_USAGE) {
        *e = why;
        return -EINVAL;
    }
    if (!error_is_refusal(&why))
        return leave_to_trials(pair, &why, e);
    return set_state(&c->x->cells[cell].pairs[arm], PAIR_REFUSED, &why, e);
}

static bool is_planned(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    return x->cells[cell].pairs[arm].state == PAIR_PLANNED;
}

/* All cells of one arm, in one process. */
static int check_arm(struct check *c, uint32_t arm, struct spur_error *e)
{
    size_t n_arms = c->x->n_arms, n = 0;
    _cleanup_free_ struct job *jobs = calloc(c->x->n_cells, sizeof(*jobs));
    _cleanup_free_ uint32_t *cells = calloc(c->x->n_cells, sizeof(*cells));
    _cleanup_free_ struct worker_opened *opened = calloc(c->x->n_cells, sizeof(*opened));
    uint64_t stall = 0;
    int r;

    if (!jobs || !cells || !opened)
        return error_errno(e, ENOMEM, "calloc", "checking the plan");
    for (uint32_t cell = 0; cell < c->x->n_cells; cell++) {
        const struct sweep_pair *pair = &c->pairs[cell * n_arms + arm];

        if (!is_planned(c->x, cell, arm))
            continue;
        stall = pair->stall_ns > stall ? pair->stall_ns : stall;
        cells[n] = cell;
        jobs[n++] = pair->job;
    }
    r = worker_check(jobs, n, stall, opened, e);
    for (size_t i = 0; !r && i < n; i++)
        r = judge(c, cells[i], arm, &opened[i], e);
    worker_opened_free(opened, n);
    for (size_t i = 0; !r && i < n; i++)
        if (c->pairs[cells[i] * n_arms + arm].effective)
            r = pilot(c, cells[i], arm, e);
    return r;
}

/* "auto" is what the first pair got. */
static void resolve_memory(struct check *c)
{
    const char *name = NULL;
    size_t n = c->x->n_cells * c->x->n_arms;

    for (size_t i = 0; i < n && !name; i++)
        if (!strcmp(c->pairs[i].job.memory, "auto"))
            name = json_string_value(json_object_get(json_object_get(c->pairs[i].effective, "memory"), "name"));
    for (size_t i = 0; name && i < n; i++)
        if (!strcmp(c->pairs[i].job.memory, "auto"))
            snprintf(c->pairs[i].job.memory, sizeof(c->pairs[i].job.memory), "%s", name);
}

/* An arm that can run nowhere because of what it asks for was written wrongly: better said now. */
static int judge_arm(const struct check *c, uint32_t arm, const struct spur_error *why, struct spur_error *e)
{
    for (uint32_t cell = 0; cell < c->x->n_cells; cell++)
        if (c->x->cells[cell].pairs[arm].state != PAIR_NOT_APPLICABLE)
            return 0;
    error_spur(e, SPUR_CODE_USAGE, "plan", "arm %s can run in no cell: %s", c->x->arms[arm].name,
               why->source ? why->detail : c->x->cells[0].pairs[arm].reason);
    error_remedy(e, "%s", why->source ? why->remedy : "change what it asks for, or leave it out");
    return -EINVAL;
}

/* The arm that can run in @cell where no other can; EXPERIMENT_NONE: none or several can. */
static uint32_t lonely(const struct experiment *x, uint32_t cell)
{
    uint32_t found = EXPERIMENT_NONE;
    unsigned n = 0;

    for (uint32_t arm = 0; arm < x->n_arms; arm++)
        if (is_planned(x, cell, arm)) {
            found = arm;
            n++;
        }
    return n == 1 ? found : EXPERIMENT_NONE;
}

/* What has nothing beside it is not run: that is known now, and no trial of it is missing. */
static int leave_out(struct check *c, uint32_t cell, struct spur_error *e)
{
    const struct experiment *x = c->x;
    uint32_t arm = lonely(x, cell);
    struct spur_error why = {0};
    struct sweep_pair *pair;
    const char *state;

    if (arm == EXPERIMENT_NONE)
        return 0;
    pair = &c->pairs[cell * x->n_arms + arm];
    json_decref(pair->effective);
    json_decref(pair->pilot);
    free(pair->trouble);
    pair->effective = pair->pilot = NULL;
    pair->trouble = NULL;
    state = x->cells[cell].pairs[x->baseline].state == PAIR_REFUSED ? "refused" : "not applicable";
    if (arm == x->baseline)
        error_spur(&why, SPUR_CODE_USAGE, "plan", "no other arm can run here");
    else
        error_spur(&why, SPUR_CODE_USAGE, "plan", "there is no baseline here: %s is %s", x->arms[x->baseline].name,
                   state);
    return set_state(&c->x->cells[cell].pairs[arm], PAIR_NOT_APPLICABLE, &why, e);
}

/* The files of a pair that could not be opened are its neighbours', or like those of the others. */
static void borrow_bytes(struct check *c)
{
    size_t n_arms = c->x->n_arms, n = c->x->n_cells * n_arms;

    for (size_t i = 0; i < n; i++) {
        uint64_t any = 0, near = 0;

        if (c->pairs[i].used_bytes || !c->pairs[i].trouble)
            continue;
        for (size_t k = 0; k < n; k++) {
            any = c->pairs[k].effective ? c->pairs[k].used_bytes : any;
            near = c->pairs[k].effective && k / n_arms == i / n_arms ? c->pairs[k].used_bytes : near;
        }
        c->pairs[i].used_bytes = near ? near : any;
    }
}

static bool any_opened(const struct check *c)
{
    for (size_t i = 0; i < c->x->n_cells * c->x->n_arms; i++)
        if (c->pairs[i].effective)
            return true;
    return false;
}

static int judge_whole(const struct check *c, struct spur_error *e)
{
    for (uint32_t cell = 0; cell < c->x->n_cells; cell++) {
        unsigned n = 0;

        for (uint32_t arm = 0; arm < c->x->n_arms; arm++)
            n += is_planned(c->x, cell, arm);
        if (n >= 2 && any_opened(c))
            return 0;
    }
    *e = c->error;
    if (!e->source)
        error_spur(e, SPUR_CODE_USAGE, "plan", "no cell has two arms that can run");
    return -EINVAL;
}

int sweep_check(struct experiment *x, struct sweep_pair *pairs, struct spur_error *e)
{
    struct check c = {.x = x, .pairs = pairs};
    int r = 0;

    for (uint32_t arm = 0; !r && arm < x->n_arms; arm++) {
        struct spur_error first = c.error;

        c.error = (struct spur_error){0};
        r = check_arm(&c, arm, e);
        if (!r)
            r = judge_arm(&c, arm, &c.error, e);
        if (!r && !arm)
            resolve_memory(&c);
        if (!c.error.source)
            c.error = first;
    }
    if (!r) {
        resolve_memory(&c);
        r = judge_whole(&c, e);
    }
    for (uint32_t cell = 0; !r && cell < x->n_cells; cell++)
        r = leave_out(&c, cell, e);
    borrow_bytes(&c);
    return r;
}

void sweep_pairs_free(struct sweep_pair *pairs, size_t n)
{
    for (size_t i = 0; pairs && i < n; i++) {
        job_free(&pairs[i].job);
        json_decref(pairs[i].effective);
        json_decref(pairs[i].pilot);
        free(pairs[i].trouble);
    }
    free(pairs);
}
