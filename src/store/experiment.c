/* SPDX-License-Identifier: MIT */
#include "store/experiment.h"

#include <stdlib.h>
#include <string.h>

static void free_settings(struct experiment_settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i].key);
        free(s->items[i].value);
    }
    free(s->items);
}

static void free_arms(struct experiment *x)
{
    for (size_t i = 0; i < x->n_arms; i++) {
        free(x->arms[i].name);
        free_settings(&x->arms[i].settings);
    }
    free(x->arms);
}

static void free_axes(struct experiment *x)
{
    for (size_t i = 0; i < x->n_axes; i++) {
        struct experiment_axis *axis = &x->axes[i];

        for (size_t v = 0; v < axis->n_values; v++)
            free(axis->values[v].text);
        free(axis->values);
        free(axis->key);
        free(axis->prepare_command);
    }
    free(x->axes);
}

static void free_cells(struct experiment *x)
{
    for (size_t i = 0; i < x->n_cells; i++) {
        struct experiment_cell *cell = &x->cells[i];

        for (size_t a = 0; cell->pairs && a < x->n_arms; a++)
            free(cell->pairs[a].reason);
        free(cell->pairs);
        free(cell->value);
        free(cell->label);
    }
    free(x->cells);
}

void experiment_free(struct experiment *x)
{
    if (!x)
        return;
    free_cells(x);
    free_axes(x);
    free_arms(x);
    free_settings(&x->common);
    for (size_t i = 0; i < x->n_matches; i++)
        free(x->matches[i].key);
    free(x->matches);
    free(x->rows);
    free(x->command);
    free(x->memory);
    memset(x, 0, sizeof(*x));
}

static const char *setting_at(const struct experiment_settings *s, const char *key, size_t index)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->items[i].key, key) && !index--)
            return s->items[i].value;
    return NULL;
}

static const char *setting_value(const struct experiment_settings *s, const char *key)
{
    return setting_at(s, key, 0);
}

const char *experiment_value_at(const struct experiment *x, uint32_t cell, uint32_t arm, const char *key, size_t index)
{
    if (setting_value(&x->arms[arm].settings, key))
        return setting_at(&x->arms[arm].settings, key, index);
    for (size_t i = 0; i < x->n_axes; i++)
        if (!strcmp(x->axes[i].key, key))
            return index ? NULL : x->axes[i].values[x->cells[cell].value[i]].text;
    return setting_at(&x->common, key, index);
}

const char *experiment_value_of(const struct experiment *x, uint32_t cell, uint32_t arm, const char *key)
{
    return experiment_value_at(x, cell, arm, key, 0);
}

/* Memory @index as it stands in arms, axis and common settings, one after the other; may come twice. */
static const char *memory_said(const struct experiment *x, size_t index)
{
    for (size_t i = 0; i < x->n_arms; i++) {
        const char *value = setting_value(&x->arms[i].settings, "memory");

        value = value ? value : setting_value(&x->common, "memory");
        if (value && !index--)
            return value;
    }
    for (size_t i = 0; i < x->n_axes; i++) {
        if (strcmp(x->axes[i].key, "memory"))
            continue;
        return index < x->axes[i].n_values ? x->axes[i].values[index].text : NULL;
    }
    return NULL;
}

const char *experiment_memory(const struct experiment *x, size_t index)
{
    const char *value;

    for (size_t i = 0; (value = memory_said(x, i)); i++) {
        bool again = false;

        for (size_t k = 0; k < i; k++)
            again |= !strcmp(memory_said(x, k), value);
        if (!again && !index--)
            return value;
    }
    return NULL;
}

const struct experiment_match *experiment_match_of(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    for (size_t i = 0; i < x->n_matches; i++)
        if (x->matches[i].cell == cell && x->matches[i].arm == arm)
            return &x->matches[i];
    return NULL;
}
