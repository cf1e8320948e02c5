/* SPDX-License-Identifier: MIT */
/* Settings that run code as the user: whoever wrote the job file or the results file chose it. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/compare_options.h"
#include "cli/exit.h"
#include "core/error.h"
#include "core/util.h"
#include "core/sha256.h"

static bool is_code(const char *key)
{
    static const char *const keys[] = {"program", "args", "library", "json", "env.*"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!fnmatch(keys[i], key, 0))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * In a plan that is asked for
 */

/* What the user typed is the user's own. */
static const struct plan_item *find_item(const struct plan_item *items, size_t n, const char *job_file)
{
    for (size_t i = 0; job_file && i < n; i++)
        if (is_code(items[i].key) && strcmp(items[i].value, "auto") &&
            !strncmp(items[i].where, job_file, strlen(job_file)))
            return &items[i];
    return NULL;
}

static const struct plan_item *find_code(const struct plan_spec *s)
{
    const struct plan_item *item = s->n_prepares ? &s->prepares[0] : NULL;

    item = item ?: find_item(s->items, s->n_items, s->job_file);
    item = item ?: find_item(s->axes, s->n_axes, s->job_file);
    for (size_t i = 0; !item && i < s->n_arms; i++)
        item = find_item(s->arms[i].items, s->arms[i].n_items, s->job_file);
    return item;
}

int compare_code_check(const struct plan_spec *s, const struct compare_options *o, struct spur_error *e)
{
    const struct plan_item *item = find_code(s);

    if (!item || o->allow_code || o->dry_run || o->write_job)
        return 0;
    if (s->n_prepares)
        error_spur(e, SPUR_CODE_REFUSED, "plan", "%s: the plan runs a command: %s", item->where, item->value);
    else
        error_spur(e, SPUR_CODE_REFUSED, "plan", "%s: %s=%s of a job file runs code", item->where, item->key,
                   item->value);
    error_remedy(e, "look at it (--dry-run shows the SHA-256 of its program), then allow it with --allow-code");
    return -EPERM;
}

/* ------------------------------------------------------------------------------------------------
 * In an experiment
 */

typedef int setting_fn(void *context, const char *key, const char *value, struct spur_error *e);

static int each_of(const struct experiment_settings *s, setting_fn *call, void *context, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < s->n; i++)
        if (is_code(s->items[i].key) && strcmp(s->items[i].value, "auto"))
            r = call(context, s->items[i].key, s->items[i].value, e);
    return r;
}

/* Calls for every setting that is code; ends with the first that is not 0. */
static int each_setting(const struct experiment *x, setting_fn *call, void *context, struct spur_error *e)
{
    int r = each_of(&x->common, call, context, e);

    for (size_t i = 0; !r && i < x->n_arms; i++)
        r = each_of(&x->arms[i].settings, call, context, e);
    for (size_t i = 0; i < x->n_axes; i++)
        for (size_t k = 0; !r && k < x->axes[i].n_values && is_code(x->axes[i].key); k++)
            r = call(context, x->axes[i].key, x->axes[i].values[k].text, e);
    return r;
}

static int found(void *context, const char *key, const char *value, struct spur_error *e)
{
    return 1;
}

bool compare_code_stored(const struct experiment *x)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (x->axes[i].prepare_command)
            return true;
    return each_setting(x, found, NULL, NULL);
}

static int show(void *context, const char *key, const char *value, struct spur_error *e)
{
    char sha256[65], text[600];
    int r;

    exit_escape(value, text, sizeof(text));
    if (!strcmp(key, "args") || !strncmp(key, "env.", 4)) {
        fprintf(context, "runs: %s=%s\n", key, text);
        return 0;
    }
    r = sha256_of_file(value, sha256, e);
    if (!r)
        fprintf(context, "runs: %s=%s (SHA-256 %s)\n", key, text, sha256);
    return r;
}

int compare_code_show(FILE *out, const struct experiment *x, struct spur_error *e)
{
    return each_setting(x, show, out, e);
}
