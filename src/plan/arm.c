/* SPDX-License-Identifier: MIT */
/* NAME:key=value,... */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

static const char *bad_name(const char *name)
{
    size_t n = strlen(name);

    if (!n || n > PLAN_MAX_NAME)
        return "an arm's name has 1 to 64 bytes";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || strchr(":,=\"'", name[i]))
            return "an arm's name is printable and has no colon, comma, equals sign and quote";
    return NULL;
}

const struct plan_arm_spec *plan_arm_find(const struct plan_spec *s, const char *name)
{
    for (size_t i = 0; i < s->n_arms; i++)
        if (!strcmp(s->arms[i].name, name))
            return &s->arms[i];
    return NULL;
}

int plan_arm_new(struct plan_spec *s, const char *name, const char *where, struct spur_error *e)
{
    struct plan_arm_spec arm = {0}, *grown = NULL;
    const char *reason = bad_name(name);

    if (reason)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: '%.100s': %s", where, name, reason);
    if (plan_arm_find(s, name))
        return error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: there is an arm '%s' already (%.200s)", where, name,
                          plan_arm_find(s, name)->where);
    arm.name = strdup(name);
    arm.where = strdup(where);
    if (arm.name && arm.where)
        grown = plan_grow(s->arms, &s->n_arms, sizeof(*s->arms));
    if (!grown) {
        free(arm.name);
        free(arm.where);
        return plan_no_memory(e);
    }
    s->arms = grown;
    s->arms[s->n_arms - 1] = arm;
    return 0;
}

/* One "key=value"; *p is then at the comma after it or at the end. */
static int add_setting(struct plan_arm_spec *arm, const char **p, struct spur_error *e)
{
    const char *begin = *p, *end = begin + strcspn(begin, "=,"), *value = end + 1;
    _cleanup_free_ char *key = plan_trim(begin, (size_t)(end - begin));
    _cleanup_free_ char *parsed = NULL, *raw = NULL, *where = NULL;
    int r;

    if (!key)
        return plan_no_memory(e);
    if (*end != '=' || !*key) {
        error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: '%.200s' is not KEY=VALUE", arm->where, begin);
        if (arm->n_items)
            error_remedy(e, "put a value that has a comma in double quotes: memory=\"cuda:0,1\"");
        return -EINVAL;
    }
    if (asprintf(&where, "%s: %s", arm->where, key) < 0) {
        where = NULL;
        return plan_no_memory(e);
    }
    *p = value;
    r = plan_list_next(p, &parsed, e);
    if (r < 0)
        return plan_at(e, where, r);
    raw = plan_trim(value, (size_t)(*p - value)); /* still quoted: items hold what the user wrote */
    return raw ? plan_item_add(&arm->items, &arm->n_items, key, raw, where, e) : plan_no_memory(e);
}

static int add_settings(struct plan_arm_spec *arm, const char *text, struct spur_error *e)
{
    int r = add_setting(arm, &text, e);

    while (!r && *text) {
        text++;
        r = add_setting(arm, &text, e);
    }
    return r;
}

/* The last arm, which could not be filled. */
static void drop(struct plan_spec *s)
{
    struct plan_arm_spec *arm = &s->arms[--s->n_arms];

    plan_items_free(arm->items, arm->n_items);
    free(arm->name);
    free(arm->where);
}

int plan_spec_add_arm(struct plan_spec *s, const char *text, const char *where, struct spur_error *e)
{
    size_t n = strcspn(text, ":");
    _cleanup_free_ char *name = plan_trim(text, n), *place = NULL;
    int r;

    if (!name || asprintf(&place, "%s %s", where, name) < 0) {
        place = NULL;
        return plan_no_memory(e);
    }
    r = plan_arm_new(s, name, place, e);
    if (r < 0 || !text[n])
        return r;
    r = add_settings(&s->arms[s->n_arms - 1], text + n + 1, e);
    if (r < 0)
        drop(s);
    return r;
}
