/* SPDX-License-Identifier: MIT */
#include "report/json_nulls.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"

/* [] stands for all items; * for one key. */
static const struct {
    const char *key, *why;
} reasons[] = {
    {"plan.command", "the experiment does not say how it was started"},
    {"plan.memory", "each arm or cell names its own"},
    {"plan.margin", "not set"},
    {"plan.alpha", "not set"},
    {"plan.family_alpha", "not set"},
    {"plan.axes[].prepare_command", "nothing is run before a value"},
    {"plan.axes[].values[].number", "the values of this axis are names"},
    {"cells[].arms[].reason", "the pair was planned"},
    {"cells[].arms[].stopped", "the arm was not stopped in this cell"},
    {"cells[].arms[].error", "no trial of it is without figures, or the worker gave no reason"},
    {"cells[].arms[].observed", "no trial has figures, or no evidence shows a road"},
    {"cells[].arms[].served", "no trial has figures, or nothing there counts who answered"},
    {"cells[].arms[].verify", "no trial has figures, or nothing was verified"},
    {"cells[].arms[].figures.*.center",
     "no trial has this figure, or (not of CPU) it was 0 in all; of the wire also: the page cache served it, and what "
     "was counted is others'"},
    {"cells[].arms[].figures.*.min", "no trial has this figure, or (not of CPU) it was 0 in all"},
    {"cells[].arms[].figures.*.max", "no trial has this figure, or (not of CPU) it was 0 in all"},
    {"cells[].arms[].figures.*.low",
     "fewer than two trials have this figure, those (not of CPU) left out where it was 0"},
    {"cells[].arms[].figures.*.high",
     "fewer than two trials have this figure, those (not of CPU) left out where it was 0"},
    {"cells[].arms[].wire_retries",
     "no trial has figures, nothing there counts what is sent again, or the page cache served it"},
    {"comparisons[].ranked_apart", "both arms were served alike"},
    {"comparisons[].metrics.*.ratio", "in no block do both arms have this figure, above 0"},
    {"comparisons[].metrics.*.df", "fewer than two blocks, or infinite: all variances are alike"},
    {"comparisons[].metrics.*.blocks_low", "the comparison is decided, or it cannot be told"},
    {"comparisons[].metrics.*.blocks_high", "the comparison is decided, or it cannot be told"},
    {"comparisons[].metrics.*.*", "in fewer than two blocks do both arms have this figure, above 0"},
    {"lines[].saturates", "it still gains at the last point, or fewer than three points have figures"},
    {"lines[].crossovers[].low", "fewer than 20 blocks, or the data do not bound it"},
    {"lines[].crossovers[].high", "fewer than 20 blocks, or the data do not bound it"},
    {"lines[].crossovers[].x", "the data do not give it"},
    {"causes[].variant", "there is one kind of it only"},
    {"causes[].subject", "it is of nothing that has a name"},
    {"causes[].faster", "it is no cause of a difference"},
    {"causes[].ratio_low", "it is of one arm alone"},
    {"causes[].ratio_high", "it is of one arm alone"},
    {"causes[].numbers.*.*", "the number is of the other arm alone, or it cannot be told"},
    {"drift", "too few trials with figures"},
    {"drift.*", "the data do not give it"},
    {"outliers[].*", "the data do not give it"},
    {"trials[].predecessor", "the first of its cell in the block"},
    {"trials[].figures.*",
     "the trial has no figures, this one was not measured in it, or (wire) the page cache served it"},
    {"trials[].observed", "nothing was moved, or the worker left no result"},
    {"trials[].served", "nothing counts who answered, or it was more than one"},
    {"trials[].verify", "nothing was verified, or the worker left no result"},
    {"trials[].window_s", "the worker left no result"},
    {"trials[].wall_s", "not measured"},
    {"trials[].error", "nothing went wrong"},
};

/* A * matches to the next point. */
static bool matches(const char *pattern, const char *key)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*')
            key += strcspn(key, ".");
        else if (*pattern != *key++)
            return false;
    }
    return !*key;
}

static size_t find_reason(const char *key)
{
    size_t i = 0;

    while (i < ARRAY_SIZE(reasons) && !matches(reasons[i].key, key))
        i++;
    return i;
}

struct walk {
    char key[200];
    bool seen[ARRAY_SIZE(reasons)];
};

static void walk_value(struct walk *w, const json_t *value)
{
    size_t length = strlen(w->key), i;
    const char *key;
    json_t *item;

    if (json_is_null(value)) {
        i = find_reason(w->key);
        if (i < ARRAY_SIZE(reasons))
            w->seen[i] = true;
    }
    json_object_foreach((json_t *)value, key, item)
    {
        snprintf(w->key + length, sizeof(w->key) - length, "%s%s", length ? "." : "", key);
        walk_value(w, item);
    }
    json_array_foreach(value, i, item)
    {
        snprintf(w->key + length, sizeof(w->key) - length, "[]");
        walk_value(w, item);
    }
    w->key[length] = 0;
}

json_t *json_nulls(const json_t *report)
{
    json_t *object = json_object();
    struct walk w = {"", {false}};

    walk_value(&w, report);
    for (size_t i = 0; object && i < ARRAY_SIZE(reasons); i++)
        if (w.seen[i] && json_object_set_new(object, reasons[i].key, json_string(reasons[i].why))) {
            json_decref(object);
            object = NULL;
        }
    return object;
}
