/* SPDX-License-Identifier: MIT */
/* What was asked for, as it comes in. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

int plan_no_memory(struct spur_error *e)
{
    return error_errno(e, ENOMEM, "malloc", "the plan");
}

int plan_at(struct spur_error *e, const char *where, int r)
{
    if (e && r != -ENOMEM)
        error_reword(e, "%s: %s", where, e->detail);
    return r;
}

int plan_unknown_key(const struct plan_keys *keys, const char *key, const char *where, struct spur_error *e)
{
    const char *nearest = keys->nearest ? keys->nearest(keys->context, key) : NULL;
    int r = error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: no option and no setting of a path is called '%.100s'",
                       where, key);

    if (nearest)
        error_remedy(e, "did you mean %s?", nearest);
    return r;
}

int plan_key_find(const struct plan_keys *keys, const char *key, const char *where, struct plan_key *ret,
                  struct spur_error *e)
{
    struct plan_key found = keys->find(keys->context, key);

    if (found.kind == PLAN_KEY_UNKNOWN)
        return plan_unknown_key(keys, key, where, e);
    if (found.kind == PLAN_KEY_FIXED)
        return error_spur(e, SPUR_CODE_USAGE, "plan",
                          "%.200s: '%s' is of the whole comparison: it can be neither an axis nor an arm's setting",
                          where, key);
    *ret = found;
    return 0;
}

char *plan_trim(const char *text, size_t n)
{
    while (n && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return strndup(text, n);
}

void *plan_grow(void *items, size_t *n, size_t size)
{
    char *grown = reallocarray(items, *n + 1, size);

    if (grown) {
        memset(grown + *n * size, 0, size);
        ++*n;
    }
    return grown;
}

/* ------------------------------------------------------------------------------------------------
 * Items
 */

static void item_clear(struct plan_item *item)
{
    free(item->key);
    free(item->value);
    free(item->where);
}

int plan_item_add(struct plan_item **items, size_t *n, const char *key, const char *value, const char *where,
                  struct spur_error *e)
{
    struct plan_item item = {.key = strdup(key), .value = strdup(value), .where = strdup(where)};
    struct plan_item *grown = NULL;

    if (item.key && item.value && item.where)
        grown = plan_grow(*items, n, sizeof(**items));
    if (!grown) {
        item_clear(&item);
        return plan_no_memory(e);
    }
    grown[*n - 1] = item;
    *items = grown;
    return 0;
}

void plan_items_free(struct plan_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        item_clear(&items[i]);
    free(items);
}

void plan_item_remove(struct plan_item *items, size_t *n, size_t at)
{
    item_clear(&items[at]);
    memmove(&items[at], &items[at + 1], (--*n - at) * sizeof(*items));
}

const struct plan_item *plan_item_find(const struct plan_item *items, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(items[i].key, key))
            return &items[i];
    return NULL;
}

static size_t position(const struct plan_spec *s)
{
    return s->n_items + s->n_axes;
}

int plan_spec_add_option(struct plan_spec *s, const char *key, const char *value, const char *where,
                         struct spur_error *e)
{
    size_t at = position(s);
    int r = plan_item_add(&s->items, &s->n_items, key, value, where, e);

    if (!r)
        s->items[s->n_items - 1].position = at;
    return r;
}

/* "KEY=REST" -> both without the blanks around them. */
static int split_pair(const char *text, const char *where, const char *rest, char **ret_key, char **ret_value,
                      struct spur_error *e)
{
    const char *equals = strchr(text, '=');
    _cleanup_free_ char *key = NULL, *value = NULL;

    if (!equals)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: '%.200s' is not KEY=%s", where, text, rest);
    key = plan_trim(text, (size_t)(equals - text));
    value = plan_trim(equals + 1, strlen(equals + 1));
    if (!key || !value)
        return plan_no_memory(e);
    if (!*key || !*value)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: '%.200s' is not KEY=%s", where, text, rest);
    *ret_key = key;
    *ret_value = value;
    key = value = NULL;
    return 0;
}

int plan_spec_add_axis(struct plan_spec *s, const char *text, const char *where, struct spur_error *e)
{
    _cleanup_free_ char *key = NULL, *value = NULL;
    size_t at = position(s);
    int r = split_pair(text, where, "VALUES", &key, &value, e);

    if (!r)
        r = plan_item_add(&s->axes, &s->n_axes, key, value, where, e);
    if (!r)
        s->axes[s->n_axes - 1].position = at;
    return r;
}

int plan_spec_add_prepare(struct plan_spec *s, const char *text, const char *where, struct spur_error *e)
{
    _cleanup_free_ char *key = NULL, *value = NULL;
    int r = split_pair(text, where, "COMMAND", &key, &value, e);

    if (!r && plan_item_find(s->prepares, s->n_prepares, key))
        return error_spur(e, SPUR_CODE_USAGE, "plan", "%.200s: axis '%.100s' has a command already", where, key);
    return r ? r : plan_item_add(&s->prepares, &s->n_prepares, key, value, where, e);
}

void plan_spec_free(struct plan_spec *s)
{
    plan_items_free(s->items, s->n_items);
    plan_items_free(s->axes, s->n_axes);
    plan_items_free(s->prepares, s->n_prepares);
    for (size_t i = 0; i < s->n_arms; i++) {
        plan_items_free(s->arms[i].items, s->arms[i].n_items);
        free(s->arms[i].name);
        free(s->arms[i].where);
    }
    free(s->arms);
    s->items = s->axes = s->prepares = NULL;
    s->arms = NULL;
    s->n_items = s->n_axes = s->n_prepares = s->n_arms = 0;
}
