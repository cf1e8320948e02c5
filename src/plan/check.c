/* SPDX-License-Identifier: MIT */
/* Keys and values against the paths of the arms: what nothing knows is an error here, not a pair without trials. */
#include <string.h>

#include "core/error.h"
#include "plan/parts.h"

static bool is_setting(const struct plan_work *w, const char *key)
{
    return w->keys->find(w->keys->context, key).kind == PLAN_KEY_SETTING;
}

/* Path @index that @arm has, over all cells; NULL past the end. */
static const char *path_of(const struct plan_work *w, const struct experiment_arm *arm, size_t index)
{
    const struct plan_axis_source *source = plan_source_find(w, "path");
    const char *path = plan_setting_find(&arm->settings, "path");

    if (!path && source)
        return index < source->n_values ? source->values[index].text : NULL;
    return index ? NULL : path ? path : plan_setting_find(&w->x->common, "path");
}

static bool takes(const struct plan_work *w, const struct experiment_arm *arm, const char *key)
{
    const char *path;

    for (size_t i = 0; (path = path_of(w, arm, i)); i++)
        if (w->keys->path_takes(w->keys->context, path, key))
            return true;
    return false;
}

static int no_setting(struct plan_work *w, const struct experiment_arm *arm, const struct plan_item *item)
{
    int r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: path %s of arm %s has no setting '%s'", item->where,
                       path_of(w, arm, 0), arm->name, item->key);

    error_remedy(w->e, "spur list shows the settings of each path");
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Values
 */

/* One path of one of the @n arms at least takes it. */
static int check_value(struct plan_work *w, const struct experiment_arm *arms, size_t n, const struct plan_item *item,
                       const char *value)
{
    bool setting = is_setting(w, item->key);
    const char *path;
    int r = setting ? 0 : w->keys->check(w->keys->context, NULL, item->key, value, w->e);

    for (size_t i = 0; setting && i < n; i++)
        for (size_t k = 0; (path = path_of(w, &arms[i], k)); k++) {
            if (!w->keys->path_takes(w->keys->context, path, item->key))
                continue;
            r = w->keys->check(w->keys->context, path, item->key, value, w->e);
            if (!r)
                return 0;
        }
    return r;
}

/* "@where: ", and the key where that does not end with it. */
static int at_key(struct plan_work *w, const struct plan_item *item, int r)
{
    size_t n = strlen(item->where), length = strlen(item->key);

    if (n < length || strcmp(item->where + n - length, item->key))
        plan_at(w->e, item->key, r);
    return plan_at(w->e, item->where, r);
}

static int check_values(struct plan_work *w, const struct experiment_arm *arms, size_t n, const struct plan_item *item)
{
    struct plan_key key = w->keys->find(w->keys->context, item->key);
    struct experiment_value *values;
    size_t n_values;
    int r = 0;

    if (!w->keys->check || (key.kind != PLAN_KEY_OPTION && key.kind != PLAN_KEY_SETTING))
        return 0;
    r = plan_values(item->value, &key, &values, &n_values, w->e);
    if (r < 0)
        return r;
    for (size_t i = 0; !r && i < n_values; i++) {
        r = check_value(w, arms, n, item, values[i].text);
        if (r < 0)
            at_key(w, item, r);
    }
    plan_values_free(values, n_values);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Items
 */

static int check_own(struct plan_work *w, const struct experiment_arm *arm, const struct plan_arm_spec *spec)
{
    int r = 0;

    for (size_t i = 0; !r && i < spec->n_items; i++) {
        const struct plan_item *item = &spec->items[i];

        if (is_setting(w, item->key) && !takes(w, arm, item->key))
            return no_setting(w, arm, item);
        r = check_values(w, arm, 1, item);
    }
    return r;
}

/* Of an axis or a common setting: some arm must be able to take it. */
static int check_shared(struct plan_work *w, const struct plan_item *item)
{
    bool any = !is_setting(w, item->key);

    for (size_t i = 0; !any && i < w->x->n_arms; i++)
        any = takes(w, &w->x->arms[i], item->key);
    if (!any)
        return error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: no arm has a path with a setting '%s'", item->where,
                          item->key);
    return check_values(w, w->x->arms, w->x->n_arms, item);
}

/* Words before what depends on them: a path that is not known has no settings. */
static int check_paths(struct plan_work *w)
{
    int r = 0;

    for (size_t i = 0; i < w->s->n_items && !r; i++)
        if (!strcmp(w->s->items[i].key, "path"))
            r = check_values(w, NULL, 0, &w->s->items[i]);
    for (size_t i = 0; i < w->s->n_arms && !r; i++)
        for (size_t k = 0; k < w->s->arms[i].n_items && !r; k++)
            if (!strcmp(w->s->arms[i].items[k].key, "path"))
                r = check_values(w, NULL, 0, &w->s->arms[i].items[k]);
    return r;
}

int plan_check(struct plan_work *w)
{
    int r = w->keys->path_takes ? check_paths(w) : 0;

    if (!w->keys->path_takes)
        return 0;
    for (size_t i = 0; i < w->s->n_arms && !r; i++)
        r = check_own(w, &w->x->arms[i], &w->s->arms[i]);
    for (size_t i = 0; i < w->s->n_items && !r; i++)
        r = check_shared(w, &w->s->items[i]);
    for (size_t i = 0; i < w->s->n_axes && !r; i++)
        r = check_shared(w, &w->s->axes[i]);
    return r;
}
