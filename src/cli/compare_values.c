/* SPDX-License-Identifier: MIT */
/* One value of one key, by itself: a word that nothing knows is told from one that a path cannot take. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare_options.h"
#include "core/error.h"
#include "core/units.h"
#include "core/util.h"
#include "worker/cpus.h"

/* ------------------------------------------------------------------------------------------------
 * Options of spur run
 */

static int check_option(const char *key, const char *value, struct spur_error *e)
{
    struct run_options o = {0};

    if (!strcmp(key, "memory"))
        return run_options_check_memory(value, e);
    if (!strcmp(key, "cpus"))
        return !strcmp(value, "near") ? 0 : cpus_check(value, e);
    if (!strcmp(key, "file"))
        return 0;
    return option_set(run_option_rows, key, value, &o, e);
}

/* "--KEY: " goes: who asks knows the place. */
static void drop_option(struct spur_error *e, const char *key)
{
    size_t length = strlen(key), dashes = strncmp(e->detail, "--", 2) ? 0 : 2;

    if (!strncmp(e->detail + dashes, key, length) && !strncmp(e->detail + dashes + length, ": ", 2))
        memmove(e->detail, e->detail + dashes + length + 2, strlen(e->detail + dashes + length + 2) + 1);
}

/* ------------------------------------------------------------------------------------------------
 * Settings of paths
 */

static bool parse(const struct spur_setting *s, const char *text, uint64_t *ret)
{
    struct spur_error why;

    return !(!strcmp(s->unit, "bytes") ? units_parse_bytes(text, ret, &why) : units_parse_count(text, ret, &why));
}

/* "4K..64M" */
static bool is_within(const struct spur_setting *s, char *range, const char *value)
{
    char *dots = strstr(range, "..");
    uint64_t low, high, n;

    if (!dots)
        return false;
    *dots = 0;
    return parse(s, range, &low) && parse(s, dots + 2, &high) && parse(s, value, &n) && n >= low && n <= high;
}

/* Rows whose range is a list of words and ranges, and no prose. */
static bool is_list(const struct spur_setting *s)
{
    static const char *const units[] = {"word", "count", "bytes"};

    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (!strcmp(s->unit, units[i]))
            return !strstr(s->range, " to ");
    return false;
}

static int check_setting(const char *path, const char *key, const char *value, struct spur_error *e)
{
    const struct spur_setting *s = spur_path_setting_find(path, key);
    _cleanup_free_ char *range = s && is_list(s) ? strdup(s->range) : NULL;
    char *rest = range, *one;

    if (!s || !is_list(s))
        return 0;
    if (!range)
        return error_errno(e, ENOMEM, "strdup", "%s", key);
    while ((one = strsep(&rest, ","))) {
        one += strspn(one, " ");
        if (!strcmp(one, value) || !strcmp(s->default_value ?: "", value) || is_within(s, one, value))
            return 0;
    }
    error_spur(e, SPUR_CODE_USAGE, "set", "'%.100s' is out of range", value);
    error_remedy(e, "path %s takes: %s", path, s->range);
    return -EINVAL;
}

int compare_value_check(void *context, const char *path, const char *key, const char *value, struct spur_error *e)
{
    struct spur_error why = {0};
    int r = path ? check_setting(path, key, value, &why) : check_option(key, value, &why);

    (void)context;
    if (r < 0) {
        drop_option(&why, key);
        *e = why;
    }
    return r;
}
