/* SPDX-License-Identifier: MIT */
/* --quick: short windows, also where a job file has longer ones. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "core/units.h"
#include "core/util.h"

#define SHORT_NS 2000000000ull /* below: no CPU figure of the whole machine */

/* What quick trials take where nothing else is said. */
static const struct {
    const char *key, *value;
    uint64_t ns;
    bool shortens; /* goes before a longer one of a job file */
} quick_values[] = {{"seconds", "1s", 1000000000, true},
                    {"warmup", "200ms", 200000000, true},
                    {"interval", "100ms", 100000000, false},
                    {"verify-limit", "500ms", 500000000, true}};

/* ------------------------------------------------------------------------------------------------
 * A job file's values
 */

/* Some value is longer than @ns; 0 of a limit is none. */
static bool is_longer(const struct plan_item *item, uint64_t ns)
{
    struct plan_key key = compare_keys.find(NULL, item->key);
    struct experiment_value *values;
    bool longer = false, limit = !strcmp(item->key, "verify-limit");
    size_t n;

    if (plan_values(item->value, &key, &values, &n, NULL) < 0)
        return false; /* said later, with its place */
    for (size_t i = 0; i < n; i++)
        longer |= values[i].number > (double)ns || (limit && values[i].number == 0);
    plan_values_free(values, n);
    return longer;
}

static void drop_longer(struct plan_item *items, size_t *n, const char *key, uint64_t ns)
{
    for (size_t i = *n; i--;) {
        bool own = !strncmp(items[i].where, "--", 2); /* of the command line */

        if (!own && !strcmp(items[i].key, key) && is_longer(&items[i], ns))
            plan_item_remove(items, n, i);
    }
}

static void shorten(struct plan_spec *s, const char *key, uint64_t ns)
{
    drop_longer(s->items, &s->n_items, key, ns);
    drop_longer(s->axes, &s->n_axes, key, ns);
    for (size_t i = 0; i < s->n_arms; i++)
        drop_longer(s->arms[i].items, &s->arms[i].n_items, key, ns);
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

static bool has(const struct plan_item *items, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(items[i].key, key))
            return true;
    return false;
}

static bool shared_has(const struct plan_spec *s, const char *key)
{
    return has(s->items, s->n_items, key) || has(s->axes, s->n_axes, key);
}

static bool any_has(const struct plan_spec *s, const char *key)
{
    bool any = shared_has(s, key);

    for (size_t i = 0; i < s->n_arms; i++)
        any |= has(s->arms[i].items, s->arms[i].n_items, key);
    return any;
}

int compare_quick(struct plan_spec *s, bool shortens, struct spur_error *e)
{
    bool bytes = any_has(s, "bytes"), verify = any_has(s, "verify");
    int r = 0;

    for (size_t i = 0; !r && i < ARRAY_SIZE(quick_values); i++) {
        const char *key = quick_values[i].key;
        bool had = any_has(s, key);

        if (bytes && (!strcmp(key, "seconds") || !strcmp(key, "warmup")))
            continue;
        if (shortens && quick_values[i].shortens)
            shorten(s, key, quick_values[i].ns);
        if (shared_has(s, key) || (!had && verify && !strcmp(key, "verify-limit"))) /* off has no limit */
            continue;
        r = plan_spec_add_option(s, key, quick_values[i].value, "--quick", e);
    }
    return r;
}

bool compare_quick_is_short(const struct experiment *x)
{
    for (size_t i = 0; i < x->n_cells * x->n_arms; i++) {
        uint32_t cell = (uint32_t)(i / x->n_arms), arm = (uint32_t)(i % x->n_arms);
        const char *seconds = experiment_value_of(x, cell, arm, "seconds");
        uint64_t ns;

        if (seconds && !experiment_value_of(x, cell, arm, "bytes") && !units_parse_time(seconds, true, &ns, NULL) &&
            ns < SHORT_NS)
            return true;
    }
    return false;
}
