/* SPDX-License-Identifier: MIT */
/* Arms of an experiment. */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

static bool is_path(const struct plan_keys *keys, const char *name)
{
    for (size_t i = 0; keys->path_name(i); i++)
        if (!strcmp(keys->path_name(i), name))
            return true;
    return false;
}

/* NULL: out of memory. */
static struct experiment_arm *new_arm(struct plan_work *w, const char *name)
{
    char *copy = strdup(name);
    struct experiment_arm *grown = copy ? plan_grow(w->x->arms, &w->x->n_arms, sizeof(*grown)) : NULL;

    if (!grown) {
        free(copy);
        plan_no_memory(w->e);
        return NULL;
    }
    w->x->arms = grown;
    grown = &w->x->arms[w->x->n_arms - 1];
    grown->name = copy;
    return grown;
}

/* ------------------------------------------------------------------------------------------------
 * Settings
 */

static int one_value(struct plan_work *w, struct experiment_arm *arm, const struct plan_item *item,
                     const struct plan_key *key)
{
    struct experiment_value *values;
    size_t n;
    int r = plan_values(item->value, key, &values, &n, w->e);

    if (r < 0)
        return plan_at(w->e, item->where, r);
    if (n == 1) {
        r = plan_setting_add(&arm->settings, item->key, values[0].text, w->e);
    } else {
        r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: an arm's setting has one value, not %zu", item->where,
                       n);
        if (key->repeats)
            error_remedy(w->e, "write %s once for each; put a value that has a comma in double quotes", item->key);
        else
            error_remedy(w->e, "make it an axis, or an arm for each; put a value that has a comma in double quotes");
    }
    plan_values_free(values, n);
    return r;
}

static int add_item(struct plan_work *w, struct experiment_arm *arm, const struct plan_item *item)
{
    const struct plan_axis_source *source = plan_source_find(w, item->key);
    struct plan_key key;
    int r = plan_key_find(w->keys, item->key, item->where, &key, w->e);

    if (r < 0)
        return r;
    if (source) {
        r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: '%s' is an axis (%.200s)", item->where, item->key,
                       source->item->where);
        error_remedy(w->e, "a key is an axis or a setting of arms, never both");
        return r;
    }
    if (!key.repeats && plan_setting_find(&arm->settings, item->key))
        return error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: it is given twice", item->where);
    return one_value(w, arm, item, &key);
}

/* An arm that is named after a path takes it. */
static int name_path(struct plan_work *w, struct experiment_arm *arm, const struct plan_arm_spec *spec)
{
    const struct plan_axis_source *source = plan_source_find(w, "path");

    if (plan_item_find(spec->items, spec->n_items, "path") || !is_path(w->keys, spec->name))
        return 0;
    if (source)
        return error_spur(w->e, SPUR_CODE_USAGE, "plan",
                          "%.200s: it is named after a path, but path is an axis (%.200s)", spec->where,
                          source->item->where);
    return plan_setting_add(&arm->settings, "path", spec->name, w->e);
}

static int no_path(struct plan_work *w, const struct plan_arm_spec *spec)
{
    char names[200] = "";
    int r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: the arm has no path", spec->where);

    for (size_t i = 0; w->keys->path_name(i); i++) {
        size_t n = strlen(names);

        snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", w->keys->path_name(i));
    }
    error_remedy(w->e, "give path=, or name it after one: %s", names);
    return r;
}

static int add_arm(struct plan_work *w, const struct plan_arm_spec *spec)
{
    struct experiment_arm *arm = new_arm(w, spec->name);
    int r = arm ? name_path(w, arm, spec) : plan_no_memory(w->e);

    for (size_t i = 0; i < spec->n_items && !r; i++)
        r = add_item(w, arm, &spec->items[i]);
    if (!r && !plan_setting_find(&arm->settings, "path") && !plan_setting_find(&w->x->common, "path") &&
        !plan_source_find(w, "path"))
        return no_path(w, spec);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * No arms given: the values of path
 */

static int arm_of_path(struct plan_work *w, const char *path)
{
    struct experiment_arm *arm = new_arm(w, path);

    return arm ? plan_setting_add(&arm->settings, "path", path, w->e) : plan_no_memory(w->e);
}

static int arms_of_axis(struct plan_work *w, struct plan_axis_source *source)
{
    int r = 0;

    if (source->prepare)
        return error_spur(w->e, SPUR_CODE_USAGE, "plan",
                          "%.200s: the values of path are the arms: they have no command", source->prepare->where);
    for (size_t i = 0; i < source->n_values && !r; i++)
        r = arm_of_path(w, source->values[i].text);
    plan_values_free(source->values, source->n_values);
    w->n_sources--;
    memmove(source, source + 1, (size_t)(w->sources + w->n_sources - source) * sizeof(*source));
    return r;
}

static int arm_of_common(struct plan_work *w, struct experiment_settings *common)
{
    struct experiment_setting *path = common->items;
    int r;

    while (strcmp(path->key, "path"))
        path++;
    r = arm_of_path(w, path->value);
    free(path->key);
    free(path->value);
    common->n--;
    memmove(path, path + 1, (size_t)(common->items + common->n - path) * sizeof(*path));
    return r;
}

static int arms_of_paths(struct plan_work *w)
{
    struct plan_axis_source *source = plan_source_find(w, "path");

    if (source)
        return arms_of_axis(w, source);
    return plan_setting_find(&w->x->common, "path") ? arm_of_common(w, &w->x->common) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Baseline, and its A/A copy
 */

static int find_baseline(struct plan_work *w)
{
    struct experiment *x = w->x;
    int r;

    x->baseline = 0;
    while (w->s->baseline && x->baseline < x->n_arms && strcmp(x->arms[x->baseline].name, w->s->baseline))
        x->baseline++;
    if (x->baseline < x->n_arms)
        return 0;
    r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "baseline: there is no arm '%.200s'", w->s->baseline);
    error_remedy(w->e, "the first arm is '%s'", x->arms[0].name);
    return r;
}

static int copy_settings(struct plan_work *w, const struct experiment_settings *from, struct experiment_settings *to)
{
    int r = 0;

    for (size_t i = 0; i < from->n && !r; i++)
        r = plan_setting_add(to, from->items[i].key, from->items[i].value, w->e);
    return r;
}

static int add_aa(struct plan_work *w)
{
    struct experiment *x = w->x;
    _cleanup_free_ char *name = NULL;
    struct experiment_arm *arm;

    if (asprintf(&name, "%s (A/A)", x->arms[x->baseline].name) < 0) {
        name = NULL;
        return plan_no_memory(w->e);
    }
    for (size_t i = 0; i < x->n_arms; i++)
        if (!strcmp(x->arms[i].name, name))
            return error_spur(w->e, SPUR_CODE_USAGE, "plan", "arm '%s': the A/A copy has this name", name);
    arm = new_arm(w, name);
    if (!arm)
        return plan_no_memory(w->e);
    arm->is_aa = true;
    x->aa = (uint32_t)x->n_arms - 1;
    return copy_settings(w, &x->arms[x->baseline].settings, &arm->settings);
}

static int too_few(struct plan_work *w)
{
    int r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "%s",
                       w->x->n_arms ? "one arm has nothing to be compared with" : "there are no arms to compare");

    error_remedy(w->e,
                 "name two or more, each --arm NAME:key=value,... or [arm NAME], or paths: --path odirect,fanout%s",
                 w->x->n_arms ? "; or test the harness with --aa" : "");
    return r;
}

int plan_arms(struct plan_work *w)
{
    int r = w->s->n_arms ? 0 : arms_of_paths(w);

    w->x->aa = EXPERIMENT_NONE;
    for (size_t i = 0; i < w->s->n_arms && !r; i++)
        r = add_arm(w, &w->s->arms[i]);
    if (r < 0)
        return r;
    if (w->x->n_arms + w->s->aa < 2 || !w->x->n_arms)
        return too_few(w);
    r = plan_check(w);
    if (!r)
        r = find_baseline(w);
    return r || !w->s->aa ? r : add_aa(w);
}
