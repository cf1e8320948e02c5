/* SPDX-License-Identifier: MIT */
/* Keys in their places: common, axes, arms. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

/* ------------------------------------------------------------------------------------------------
 * Options: common, or an axis
 */

struct plan_axis_source *plan_source_find(const struct plan_work *w, const char *key)
{
    for (size_t i = 0; i < w->n_sources; i++)
        if (!strcmp(w->sources[i].item->key, key))
            return &w->sources[i];
    return NULL;
}

static int given_twice(struct plan_work *w, const struct plan_item *item, const char *other)
{
    int r = error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: '%s' is given already (%.200s)", item->where, item->key,
                       other);

    error_remedy(w->e, "keep one of them; several values stand in one list: %s=A,B", item->key);
    return r;
}

/* --quick tries an axis at its ends and in its middle; names are all kept, for none stands for another. */
static size_t thin(const struct plan_work *w, const struct plan_key *key, struct experiment_value *values, size_t n)
{
    const size_t keep[] = {0, n / 2, n - 1};
    size_t k = 0;

    if (!w->s->quick || key->unit == UNIT_NONE || n <= ARRAY_SIZE(keep))
        return n;
    for (size_t i = 0; i < n; i++) {
        if (i == keep[k])
            values[k++] = values[i];
        else
            free(values[i].text);
    }
    return k;
}

/* Takes @values over. */
static int add_source(struct plan_work *w, const struct plan_item *item, const struct plan_key *key,
                      struct experiment_value *values, size_t n)
{
    const struct plan_axis_source *other = plan_source_find(w, item->key);
    struct plan_axis_source *grown = NULL;
    size_t n_kept;

    if (!other)
        grown = plan_grow(w->sources, &w->n_sources, sizeof(*grown));
    if (!grown) {
        plan_values_free(values, n);
        return other ? given_twice(w, item, other->item->where) : plan_no_memory(w->e);
    }
    w->sources = grown;
    n_kept = thin(w, key, values, n);
    w->sources[w->n_sources - 1] =
        (struct plan_axis_source){.item = item,
                                  .prepare = plan_item_find(w->s->prepares, w->s->n_prepares, item->key),
                                  .key = *key,
                                  .values = values,
                                  .n_values = n_kept,
                                  .n_left_out = n - n_kept};
    return 0;
}

static int take_option(struct plan_work *w, const struct plan_item *item)
{
    struct experiment_value *values;
    struct plan_key key;
    size_t n;
    int r = plan_key_find(w->keys, item->key, item->where, &key, w->e);

    if (r < 0)
        return r;
    r = plan_values(item->value, &key, &values, &n, w->e);
    if (r < 0)
        return plan_at(w->e, item->where, r);
    if (n > 1)
        return add_source(w, item, &key, values, n);
    if (!key.repeats && plan_setting_find(&w->x->common, item->key))
        r = given_twice(w, item, plan_item_find(w->s->items, w->s->n_items, item->key)->where);
    else
        r = plan_setting_add(&w->x->common, item->key, values[0].text, w->e);
    plan_values_free(values, n);
    return r;
}

/* Values of a key that only its command knows: numbers, if all of them are. */
static int label_values(const struct plan_item *item, struct plan_key *key, struct experiment_value **ret,
                        size_t *ret_n, struct spur_error *e)
{
    int r;

    key->unit = UNIT_COUNT;
    r = plan_values(item->value, key, ret, ret_n, NULL);
    if (r != -EINVAL)
        return r ? plan_no_memory(e) : 0;
    key->unit = UNIT_NONE;
    return plan_values(item->value, key, ret, ret_n, e);
}

static int take_axis(struct plan_work *w, const struct plan_item *item)
{
    struct plan_key key = w->keys->find(w->keys->context, item->key);
    bool is_label = key.kind == PLAN_KEY_UNKNOWN && plan_item_find(w->s->prepares, w->s->n_prepares, item->key);
    struct experiment_value *values;
    size_t n;
    int r = is_label ? 0 : plan_key_find(w->keys, item->key, item->where, &key, w->e);

    if (r < 0)
        return r;
    r = is_label ? label_values(item, &key, &values, &n, w->e) : plan_values(item->value, &key, &values, &n, w->e);
    if (r < 0)
        return plan_at(w->e, item->where, r);
    return add_source(w, item, &key, values, n);
}

/* The resolved memory takes the place of what was asked for ("auto"). */
static int settle_memory(struct plan_work *w)
{
    struct experiment_settings *common = &w->x->common;

    if (!w->s->memory || plan_source_find(w, "memory") ||
        w->keys->find(w->keys->context, "memory").kind != PLAN_KEY_OPTION)
        return 0;
    for (size_t i = 0; i < common->n; i++) {
        if (!strcmp(common->items[i].key, "memory")) {
            free(common->items[i].value);
            common->items[i].value = strdup(w->s->memory);
            return common->items[i].value ? 0 : plan_no_memory(w->e);
        }
    }
    return plan_setting_add(common, "memory", w->s->memory, w->e);
}

static int take_keys(struct plan_work *w)
{
    int r = 0;

    for (size_t i = 0; i < w->s->n_items && !r; i++)
        r = take_option(w, &w->s->items[i]);
    for (size_t i = 0; i < w->s->n_axes && !r; i++)
        r = take_axis(w, &w->s->axes[i]);
    return r;
}

static int check_common(struct plan_work *w)
{
    for (size_t i = 0; i < w->n_sources; i++) {
        const struct plan_item *item = w->sources[i].item;

        if (plan_setting_find(&w->x->common, item->key)) /* some other item of this key has one value */
            for (size_t j = 0; j < w->s->n_items; j++)
                if (!strcmp(w->s->items[j].key, item->key) && &w->s->items[j] != item)
                    return given_twice(w, item, w->s->items[j].where);
    }
    return 0;
}

static int check_prepares(struct plan_work *w)
{
    for (size_t i = 0; i < w->s->n_prepares; i++) {
        const struct plan_item *prepare = &w->s->prepares[i];
        const struct plan_axis_source *source = plan_source_find(w, prepare->key);
        char **words;
        int r;

        if (!source)
            return error_spur(w->e, SPUR_CODE_USAGE, "plan", "%.200s: there is no axis '%.100s' to prepare",
                              prepare->where, prepare->key);
        r = plan_command_words(prepare->value, source->values[0].text, &words, w->e);
        if (r < 0)
            return plan_at(w->e, prepare->where, r);
        plan_words_free(words);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Axes
 */

static bool before(const struct plan_axis_source *a, const struct plan_axis_source *b)
{
    if (!a->prepare != !b->prepare)
        return a->prepare;
    return a->item->position < b->item->position;
}

static void sort_sources(struct plan_work *w)
{
    for (size_t i = 1; i < w->n_sources; i++)
        for (size_t j = i; j && before(&w->sources[j], &w->sources[j - 1]); j--) {
            struct plan_axis_source other = w->sources[j];

            w->sources[j] = w->sources[j - 1];
            w->sources[j - 1] = other;
        }
}

/* A word among numbers ("auto") makes names of all. */
static enum experiment_unit common_unit(struct plan_axis_source *source)
{
    bool numbers = true;

    for (size_t i = 0; i < source->n_values; i++)
        numbers &= !isnan(source->values[i].number);
    for (size_t i = 0; i < source->n_values && !numbers; i++)
        source->values[i].number = NAN;
    return numbers ? source->key.unit : UNIT_NONE;
}

static int make_axis(struct plan_axis_source *source, struct experiment_axis *axis, struct spur_error *e)
{
    axis->key = strdup(source->item->key);
    axis->unit = common_unit(source);
    axis->is_label = source->key.kind == PLAN_KEY_UNKNOWN;
    if (source->prepare)
        axis->prepare_command = strdup(source->prepare->value);
    axis->values = source->values;
    axis->n_values = source->n_values;
    axis->n_left_out = (uint32_t)source->n_left_out;
    source->values = NULL;
    source->n_values = 0;
    return axis->key && (!source->prepare || axis->prepare_command) ? 0 : plan_no_memory(e);
}

static int make_axes(struct plan_work *w)
{
    int r = 0;

    sort_sources(w);
    w->x->axes = calloc(w->n_sources + 1, sizeof(*w->x->axes));
    if (!w->x->axes)
        return plan_no_memory(w->e);
    for (size_t i = 0; i < w->n_sources && !r; i++)
        r = make_axis(&w->sources[i], &w->x->axes[w->x->n_axes++], w->e);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

static int check_blocks(const struct plan_spec *s, struct spur_error *e)
{
    if (s->until_decided && s->n_blocks != 20)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "until-decided plans 20 blocks, not %u", s->n_blocks);
    if (!s->n_blocks || s->n_blocks > 1000)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "blocks: %u is not 1 to 1000", s->n_blocks);
    return 0;
}

static int copy_rest(const struct plan_spec *s, struct experiment *x, struct spur_error *e)
{
    x->n_blocks = s->n_blocks;
    x->until_decided = s->until_decided;
    x->quick = s->quick;
    x->region = s->region;
    x->margin = 0.03;
    x->alpha = 0.05;
    x->seed = s->seed;
    x->limit_ns = s->limit_ns;
    x->command = strdup(s->command ? s->command : "");
    x->memory = strdup(s->memory ? s->memory : "");
    return x->command && x->memory ? 0 : plan_no_memory(e);
}

static int expand(struct plan_work *w)
{
    int r = check_blocks(w->s, w->e);

    if (!r)
        r = copy_rest(w->s, w->x, w->e);
    if (!r)
        r = take_keys(w);
    if (!r)
        r = check_common(w);
    if (!r)
        r = settle_memory(w);
    if (!r)
        r = check_prepares(w);
    if (!r)
        r = plan_arms(w);
    if (!r)
        r = make_axes(w);
    return r ? r : plan_cells(w->x, w->e);
}

int plan_expand(const struct plan_spec *s, const struct plan_keys *keys, struct experiment *ret, struct spur_error *e)
{
    struct experiment x = {0};
    struct plan_work w = {.s = s, .keys = keys, .x = &x, .e = e};
    int r = expand(&w);

    for (size_t i = 0; i < w.n_sources; i++)
        plan_values_free(w.sources[i].values, w.sources[i].n_values);
    free(w.sources);
    if (r < 0)
        experiment_free(&x);
    else
        *ret = x;
    return r;
}
