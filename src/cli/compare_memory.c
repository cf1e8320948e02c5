/* SPDX-License-Identifier: MIT */
/* The memory that was resolved is what stands in the plan, so a resumed or repeated experiment has the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "core/error.h"
#include "core/util.h"

static int replace(char **text, const char *name, struct spur_error *e)
{
    char *copy = strdup(name);

    if (!copy)
        return error_errno(e, ENOMEM, "strdup", "memory");
    free(*text);
    *text = copy;
    return 0;
}

/* What "auto" came to: the same in all pairs. NULL: no pair has it. */
static const char *resolved(const struct experiment *x, const struct sweep_pair *pairs)
{
    for (size_t i = 0; i < x->n_cells * x->n_arms; i++) {
        const char *asked = experiment_value_of(x, (uint32_t)(i / x->n_arms), (uint32_t)(i % x->n_arms), "memory");

        if (pairs[i].effective && (!asked || !strcmp(asked, "auto")))
            return pairs[i].job.memory;
    }
    return NULL;
}

static int resolve_settings(struct experiment_settings *s, const char *name, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < s->n; i++)
        if (!strcmp(s->items[i].key, "memory") && !strcmp(s->items[i].value, "auto"))
            r = replace(&s->items[i].value, name, e);
    return r;
}

/* Two values that come to one memory would be one cell twice. */
static int resolve_axis(struct experiment *x, struct experiment_axis *axis, const char *name, struct spur_error *e)
{
    size_t k = 0;
    int r;

    while (k < axis->n_values && strcmp(axis->values[k].text, "auto"))
        k++;
    if (k == axis->n_values)
        return 0;
    for (size_t i = 0; i < axis->n_values; i++)
        if (!strcmp(axis->values[i].text, name)) {
            error_spur(e, SPUR_CODE_USAGE, "plan", "memory: auto is %s here, which is among its values already", name);
            error_remedy(e, "leave one of them out");
            return -EINVAL;
        }
    r = replace(&axis->values[k].text, name, e);
    return r ? r : plan_labels(x, e);
}

static bool is_axis(const struct experiment *x)
{
    for (size_t i = 0; i < x->n_axes; i++)
        if (!strcmp(x->axes[i].key, "memory"))
            return true;
    return false;
}

static int add_common(struct experiment *x, const char *name, struct spur_error *e)
{
    struct experiment_setting *grown = realloc(x->common.items, (x->common.n + 1) * sizeof(*grown));
    struct experiment_setting setting = {strdup("memory"), strdup(name)};

    if (grown)
        x->common.items = grown;
    if (!grown || !setting.key || !setting.value) {
        free(setting.key);
        free(setting.value);
        return error_errno(e, ENOMEM, "malloc", "memory");
    }
    grown[x->common.n++] = setting;
    return 0;
}

/* An arm that says nothing of it has the default, auto. */
static bool any_silent(const struct experiment *x)
{
    for (uint32_t arm = 0; arm < x->n_arms; arm++)
        if (!experiment_value_of(x, 0, arm, "memory"))
            return true;
    return false;
}

static int resolve(struct experiment *x, const char *name, struct spur_error *e)
{
    int r = resolve_settings(&x->common, name, e);

    for (size_t i = 0; !r && i < x->n_arms; i++)
        r = resolve_settings(&x->arms[i].settings, name, e);
    for (size_t i = 0; !r && i < x->n_axes; i++)
        if (!strcmp(x->axes[i].key, "memory"))
            r = resolve_axis(x, &x->axes[i], name, e);
    if (!r && !is_axis(x) && any_silent(x))
        r = add_common(x, name, e);
    return r;
}

int compare_memory(struct experiment *x, const struct sweep_pair *pairs, struct spur_error *e)
{
    const char *name = resolved(x, pairs);
    int r = name ? resolve(x, name, e) : 0;

    if (r < 0)
        return r;
    free(x->memory);
    x->memory = NULL;
    name = experiment_memory(x, 0);
    return name && !experiment_memory(x, 1) ? replace(&x->memory, name, e) : 0;
}
