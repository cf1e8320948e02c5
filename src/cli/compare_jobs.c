/* SPDX-License-Identifier: MIT */
/* From settings, which are texts, to jobs: through the rows of spur run, so both take the same and say the same. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/compare_options.h"
#include "core/error.h"
#include "core/util.h"

/* A command line of spur run. */
struct words {
    char *words[2 * 256 + 8];
    int n;
};

static int add_word(struct words *l, struct spur_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int add_word(struct words *l, struct spur_error *e, const char *format, ...)
{
    va_list ap;
    int n;

    if ((size_t)l->n + 1 >= ARRAY_SIZE(l->words))
        return error_spur(e, SPUR_CODE_USAGE, "plan", "an arm has more than %zu settings", ARRAY_SIZE(l->words) / 2);
    va_start(ap, format);
    n = vasprintf(&l->words[l->n], format, ap);
    va_end(ap);
    if (n < 0)
        return error_errno(e, ENOMEM, "asprintf", "a job");
    l->words[++l->n] = NULL;
    return 0;
}

static void words_free(struct words *l)
{
    for (int i = 0; i < l->n; i++)
        free(l->words[i]);
}

static int add_setting(struct words *l, const struct experiment_setting *s, struct spur_error *e)
{
    const struct option *row = compare_key_option(s->key);

    if (!row)
        return add_word(l, e, "--set=%s=%s", s->key, s->value);
    if (row->kind != OPTION_FLAG)
        return add_word(l, e, "--%s=%s", s->key, s->value);
    if (!strcmp(s->value, "yes"))
        return add_word(l, e, "--%s", s->key);
    if (!strcmp(s->value, "no"))
        return 0;
    return error_spur(e, SPUR_CODE_USAGE, "option", "%s: '%s' is neither yes nor no", s->key, s->value);
}

/* Axes that are only labels are no option of run. */
static bool is_label(const struct experiment *x, const char *key)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (x->axes[i].is_label && !strcmp(x->axes[i].key, key))
            return true;
    return false;
}

static int make_words(const struct experiment *x, uint32_t cell, uint32_t arm, struct words *l, struct spur_error *e)
{
    const struct experiment_match *match = experiment_match_of(x, cell, arm);
    _cleanup_free_ struct experiment_setting *settings = NULL;
    size_t n = 0;
    int r = plan_settings(x, cell, arm, &settings, &n, e);

    if (!r)
        r = add_word(l, e, "run");
    if (!r)
        r = add_word(l, e, "--seed=0"); /* each row has its own */
    for (size_t i = 0; !r && i < n; i++)
        if (!is_label(x, settings[i].key) && !(match && !strcmp(match->key, settings[i].key)))
            r = add_setting(l, &settings[i], e);
    return r || !match ? r : add_word(l, e, "--%s=%u", match->key, match->value);
}

/* The job owns what it holds. */
static int copy_job(const struct job *job, struct job *ret, struct spur_error *e)
{
    json_t *json = job_to_json(job);
    int r = json ? job_from_json(json, ret) : -ENOMEM;

    json_decref(json);
    return r < 0 ? error_errno(e, ENOMEM, "job", "making a job") : 0;
}

/* 1: what was asked for cannot go together in this pair; @e says why. */
static int make_pair(const struct words *l, struct sweep_pair *ret, struct spur_error *e)
{
    struct run_options o = {0};
    struct option_result given;
    struct job job;
    int r = option_parse(run_option_rows, l->n, (char **)l->words, &o, &given, e);

    if (r < 0)
        return r;
    r = run_options_check(&o, &given, e);
    if (!r) {
        run_options_job(&o, &job);
        ret->stall_ns = o.stall_ns;
        r = copy_job(&job, &ret->job, e);
        run_options_free(&o);
    } else if (r == -EINVAL) {
        r = 1;
    }
    option_result_free(&given);
    return r;
}

static int set_not_applicable(struct experiment_pair *pair, const struct spur_error *why, struct spur_error *e)
{
    pair->state = PAIR_NOT_APPLICABLE;
    pair->reason = strdup(why->detail);
    return pair->reason ? 0 : error_errno(e, ENOMEM, "strdup", "a reason");
}

/* @ret_why: why it is not applicable; left as it is where it may be. */
static int make_one(struct experiment *x, uint32_t cell, uint32_t arm, struct sweep_pair *ret,
                    struct spur_error *ret_why, struct spur_error *e)
{
    struct spur_error why = {0};
    struct words line = {0};
    int r = make_words(x, cell, arm, &line, e);

    if (!r) {
        r = make_pair(&line, ret, &why);
        if (r < 0)
            *e = why;
    }
    words_free(&line);
    if (r <= 0)
        return r;
    *ret_why = why;
    return set_not_applicable(&x->cells[cell].pairs[arm], &why, e);
}

/* All cells of an arm. One that can run nowhere was written wrongly: said now, while the remedy is known. */
static int make_arm(struct experiment *x, uint32_t arm, struct sweep_pair *pairs, struct spur_error *e)
{
    struct spur_error why = {0};
    bool any = false;

    for (uint32_t cell = 0; cell < x->n_cells; cell++) {
        const struct experiment_pair *pair = &x->cells[cell].pairs[arm];

        if (pair->state == PAIR_PLANNED && make_one(x, cell, arm, &pairs[cell * x->n_arms + arm], &why, e) < 0)
            return -EINVAL;
        any |= pair->state != PAIR_NOT_APPLICABLE;
    }
    if (any || !why.source)
        return 0;
    error_spur(e, SPUR_CODE_USAGE, "plan", "arm %s can run in no cell: %s", x->arms[arm].name, why.detail);
    error_remedy(e, "%s", why.remedy[0] ? why.remedy : "change what it asks for, or leave it out");
    return -EINVAL;
}

int compare_jobs(struct experiment *x, struct sweep_pair **ret, struct spur_error *e)
{
    size_t n = x->n_cells * x->n_arms;
    struct sweep_pair *pairs = calloc(n + 1, sizeof(*pairs));
    int r = pairs ? 0 : error_errno(e, ENOMEM, "calloc", "%zu jobs", n);

    for (uint32_t arm = 0; !r && arm < x->n_arms; arm++)
        r = make_arm(x, arm, pairs, e);
    if (r < 0) {
        sweep_pairs_free(pairs, n);
        return r;
    }
    *ret = pairs;
    return 0;
}
