/* SPDX-License-Identifier: MIT */
/* What a key of an arm or an axis is: an option of spur run, or a setting of a path. */
#include <string.h>

#include "cli/compare_options.h"

static const struct option *run_row(const char *key)
{
    for (size_t i = 0; run_option_rows[i].name; i++)
        if (!strcmp(run_option_rows[i].name, key))
            return &run_option_rows[i];
    return NULL;
}

static bool is_fixed(const char *key)
{
    static const char *const fixed[] = {"seed", "json", "quiet", "set", NULL};

    for (size_t i = 0; fixed[i]; i++)
        if (!strcmp(fixed[i], key))
            return true;
    return false;
}

static enum experiment_unit unit_of(enum option_kind kind)
{
    switch (kind) {
    case OPTION_SIZE:
        return UNIT_BYTES;
    case OPTION_TIME:
    case OPTION_SECONDS:
        return UNIT_NS;
    case OPTION_COUNT:
        return UNIT_COUNT;
    case OPTION_PERCENT:
        return UNIT_PERCENT;
    default:
        return UNIT_NONE;
    }
}

static const struct spur_setting *find_setting(const char *key)
{
    const struct spur_setting *s = NULL;
    const char *path;

    for (size_t p = 0; !s && (path = spur_path_name(p)); p++)
        s = spur_path_setting_find(path, key);
    return s;
}

/* Of spur run's --json a comparison has its own; json is a setting there. */
const struct option *compare_key_option(const char *key)
{
    const struct option *row = run_row(key);

    return row && is_fixed(key) && find_setting(key) ? NULL : row;
}

static struct plan_key keys_find(void *context, const char *key)
{
    const struct option *row = compare_key_option(key);
    const struct spur_setting *s = row ? NULL : find_setting(key);

    if (row)
        return (struct plan_key){.kind = is_fixed(key) ? PLAN_KEY_FIXED : PLAN_KEY_OPTION,
                                 .unit = unit_of(row->kind),
                                 .plain_seconds = row->kind == OPTION_SECONDS,
                                 .repeats = row->kind == OPTION_TEXTS};
    if (s)
        return (struct plan_key){.kind = PLAN_KEY_SETTING,
                                 .unit = !strcmp(s->unit, "bytes")   ? UNIT_BYTES
                                         : !strcmp(s->unit, "count") ? UNIT_COUNT
                                                                     : UNIT_NONE};
    return (struct plan_key){.kind = PLAN_KEY_UNKNOWN};
}

static const char *keys_nearest(void *context, const char *key)
{
    const char *names[256];
    const struct spur_setting *s;
    const char *path;
    size_t n = 0;

    for (size_t i = 0; run_option_rows[i].name && n < 64; i++)
        if (!is_fixed(run_option_rows[i].name))
            names[n++] = run_option_rows[i].name;
    for (size_t p = 0; (path = spur_path_name(p)); p++)
        for (size_t i = 0; (s = spur_path_setting(path, i)) && n < 255; i++)
            names[n++] = s->name;
    names[n] = NULL;
    return nearest_in(key, names);
}

static bool keys_path_takes(void *context, const char *path, const char *key)
{
    return spur_path_setting_find(path, key);
}

const struct plan_keys compare_keys = {
    .path_takes = keys_path_takes,
    .check = compare_value_check,
    .find = keys_find,
    .nearest = keys_nearest,
    .path_name = spur_path_name,
};
