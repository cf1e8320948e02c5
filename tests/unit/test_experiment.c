/* SPDX-License-Identifier: MIT */
/* The plan as JSON and back, and what of it is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_fixture.h"

static void plan_as_json(void **state)
{
    struct experiment x, back;
    json_t *json, *parsed;
    char *text;

    fixture_plan(&x, 3);
    x.matches = fixture_zeroed(1, sizeof(*x.matches));
    x.matches[x.n_matches++] = (struct experiment_match){1, fixture_text("threads"), 12, 3, 8.1, 7.75, 1};
    json = experiment_to_json(&x);
    assert_non_null(json);
    text = json_dumps(json, JSON_COMPACT);
    assert_non_null(text); /* strict UTF-8 */
    parsed = json_loads(text, 0, NULL);
    assert_true(json_equal(json, parsed));
    assert_int_equal(experiment_from_json(parsed, &back), 0);
    assert_same_plan(&x, &back);
    assert_int_equal(back.n_matches, 1);
    assert_string_equal(back.matches[0].key, "threads");
    assert_int_equal(back.matches[0].value, 12);
    assert_true(back.matches[0].arm == 1 && back.matches[0].cell == 1 && back.matches[0].target == 8.1 &&
                back.matches[0].in_flight == 7.75);
    experiment_free(&back);
    experiment_free(&x);
    json_decref(json);
    json_decref(parsed);
    free(text);
}

static void plan_of_one_cell(void **state)
{
    struct experiment x = {.n_arms = 1, .n_cells = 1, .aa = EXPERIMENT_NONE}, back;
    json_t *json;

    x.arms = fixture_zeroed(1, sizeof(*x.arms));
    x.arms[0].name = fixture_text("a");
    x.cells = fixture_zeroed(1, sizeof(*x.cells));
    x.cells[0].label = fixture_text("all");
    x.cells[0].pairs = fixture_zeroed(1, sizeof(*x.cells[0].pairs));
    json = experiment_to_json(&x);
    assert_int_equal(experiment_from_json(json, &back), 0);
    assert_int_equal(back.aa, EXPERIMENT_NONE);
    assert_null(back.command);
    json_decref(json);
    experiment_free(&x);
    experiment_free(&back);
}

/* The value at @path ("rows/0/2") of a good plan replaced by @value must make it invalid. */
static void assert_invalid(json_t *good, const char *path, json_t *value)
{
    json_t *plan = json_deep_copy(good), *at = plan;
    char copy[100], *rest = copy, *word, *last = NULL;
    struct experiment x;

    strcpy(copy, path);
    while ((word = strsep(&rest, "/"))) {
        if (last)
            at = json_is_array(at) ? json_array_get(at, (size_t)atoi(last)) : json_object_get(at, last);
        last = word;
    }
    if (json_is_array(at))
        assert_int_equal(json_array_set_new(at, (size_t)atoi(last), value), 0);
    else
        assert_int_equal(json_object_set_new(at, last, value), 0);
    if (experiment_from_json(plan, &x) != -EINVAL)
        fail_msg("%s: taken", path);
    json_decref(plan);
}

static void plan_inconsistent(void **state)
{
    static const char *const texts[] = {"arms/0/name", "axes/0/key", "cells/0/label", "common/0/0", "command"};
    struct experiment x;
    json_t *good;

    fixture_plan(&x, 3);
    good = experiment_to_json(&x);
    assert_invalid(good, "schema", json_integer(2));
    assert_invalid(good, "baseline", json_integer(3));
    assert_invalid(good, "baseline", json_null());
    assert_invalid(good, "aa", json_integer(3));
    assert_invalid(good, "rows/0/0", json_integer(3));
    assert_invalid(good, "rows/0/1", json_integer(4));
    assert_invalid(good, "rows/0/2", json_integer(-1));
    assert_invalid(good, "rows/0/3", json_integer(4));
    assert_invalid(good, "rows/0/4", json_integer(3));
    assert_invalid(good, "rows/0/5", json_integer(3));
    assert_invalid(good, "rows/0/6", json_string("1"));
    assert_invalid(good, "rows/0", json_array());
    assert_invalid(good, "rows/0", json_pack("[i,i,i,i,i,n,i]", 0, 1, 1, 0, 0, 0)); /* not applicable there */
    assert_invalid(good, "cells/3/values/1", json_integer(2));
    assert_invalid(good, "cells/3/values", json_array());
    assert_invalid(good, "cells/3/pairs", json_array());
    assert_invalid(good, "cells/3/pairs/0/state", json_string("perhaps"));
    assert_invalid(good, "axes/1/unit", json_string("miles"));
    assert_invalid(good, "axes/1/left_out", json_integer(-1));
    assert_invalid(good, "region", json_string("elsewhere"));
    assert_invalid(good, "quick", json_integer(1));
    assert_invalid(good, "n_blocks", json_integer(1ll << 32));
    assert_invalid(good, "arms/0/name", json_null());
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        assert_invalid(good, texts[i], json_string("%"));
        assert_invalid(good, texts[i], json_string("%4g"));
        assert_invalid(good, texts[i], json_string("%00"));
        assert_invalid(good, texts[i], json_integer(1));
    }
    for (void *i = json_object_iter(good); i; i = json_object_iter_next(good, i))
        if (!strcmp(json_object_iter_key(i), "command") || !strcmp(json_object_iter_key(i), "memory") ||
            !strcmp(json_object_iter_key(i), "aa") || !strcmp(json_object_iter_key(i), "margin") ||
            !strcmp(json_object_iter_key(i), "alpha"))
            continue; /* null where there is none */
        else
            assert_invalid(good, json_object_iter_key(i), json_null());
    assert_int_equal(experiment_from_json(NULL, &x), -EINVAL);
    json_decref(good);
    experiment_free(&x);
}

static void value_of(void **state)
{
    struct experiment x;

    fixture_plan(&x, 1);
    assert_string_equal(experiment_value_of(&x, 3, 1, "file"), ODD_NAME); /* the arm's own */
    assert_string_equal(experiment_value_of(&x, 3, 0, "file"), "first");  /* the first of two */
    assert_string_equal(experiment_value_of(&x, 2, 0, "request"), "64K");
    assert_string_equal(experiment_value_of(&x, 3, 0, "request"), "0.1");
    assert_string_equal(experiment_value_of(&x, 3, 0, "mount"), "b");
    assert_string_equal(experiment_value_of(&x, 3, 1, "empty"), "");
    assert_null(experiment_value_of(&x, 3, 0, "empty"));
    experiment_free(&x);
    experiment_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_as_json),
        cmocka_unit_test(plan_of_one_cell),
        cmocka_unit_test(plan_inconsistent),
        cmocka_unit_test(value_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
