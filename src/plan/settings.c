/* SPDX-License-Identifier: MIT */
/* Settings of one arm in one cell. */
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "plan/parts.h"

int plan_setting_add(struct experiment_settings *settings, const char *key, const char *value, struct spur_error *e)
{
    struct experiment_setting setting = {strdup(key), strdup(value)}, *grown = NULL;

    if (setting.key && setting.value)
        grown = plan_grow(settings->items, &settings->n, sizeof(*settings->items));
    if (!grown) {
        free(setting.key);
        free(setting.value);
        return plan_no_memory(e);
    }
    settings->items = grown;
    settings->items[settings->n - 1] = setting;
    return 0;
}

const char *plan_setting_find(const struct experiment_settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->n; i++)
        if (!strcmp(settings->items[i].key, key))
            return settings->items[i].value;
    return NULL;
}

int plan_settings(const struct experiment *x, uint32_t cell, uint32_t arm, struct experiment_setting **ret,
                  size_t *ret_n, struct spur_error *e)
{
    const struct experiment_settings *own = &x->arms[arm].settings;
    struct experiment_setting *all = calloc(x->common.n + x->n_axes + own->n + 1, sizeof(*all));
    size_t n = 0;

    if (!all)
        return plan_no_memory(e);
    for (size_t i = 0; i < x->common.n; i++)
        if (!plan_setting_find(own, x->common.items[i].key))
            all[n++] = x->common.items[i];
    for (size_t i = 0; i < x->n_axes; i++)
        if (!x->axes[i].is_label)
            all[n++] = (struct experiment_setting){x->axes[i].key, x->axes[i].values[x->cells[cell].value[i]].text};
    for (size_t i = 0; i < own->n; i++)
        all[n++] = own->items[i];
    *ret = all;
    *ret_n = n;
    return 0;
}
