/* SPDX-License-Identifier: MIT */
/* From a spec to arms, axes and cells. */
#include "plan_fixture.h"

#include <math.h>

static struct spur_error last_error;

/* "key=value key=value" */
static const char *settings_text(const struct experiment_setting *items, size_t n)
{
    static char out[1000];

    out[0] = 0;
    for (size_t i = 0; i < n; i++)
        sprintf(out + strlen(out), "%s%s=%s", i ? " " : "", items[i].key, items[i].value);
    return out;
}

static const char *settings_of(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    struct experiment_setting *items;
    const char *text;
    size_t n;

    assert_int_equal(plan_settings(x, cell, arm, &items, &n, NULL), 0);
    text = settings_text(items, n);
    free(items);
    return text;
}

static void two_paths(void **state)
{
    struct experiment x;

    make(&x, "o file=/m/a", "o request=4K", "a odirect", "a fanout:piece=64K");
    assert_int_equal(x.n_arms, 2);
    assert_string_equal(x.arms[0].name, "odirect");
    assert_int_equal(x.baseline, 0);
    assert_int_equal(x.aa, EXPERIMENT_NONE);
    assert_int_equal(x.n_axes, 0);
    assert_int_equal(x.n_cells, 1);
    assert_string_equal(x.cells[0].label, "all");
    assert_int_equal(x.cells[0].pairs[1].state, PAIR_PLANNED);
    assert_int_equal(x.n_blocks, 5);
    assert_true(x.margin == 0.03 && x.alpha == 0.05);
    assert_string_equal(settings_of(&x, 0, 0), "file=/m/a request=4K path=odirect");
    assert_string_equal(settings_of(&x, 0, 1), "file=/m/a request=4K path=fanout piece=64K");
    experiment_free(&x);
}

static void axes_make_cells(void **state)
{
    struct experiment x;

    make(&x, "o request=4K,64K", "x threads=1..8*8", "a odirect", "a fanout", "o seconds=2");
    assert_int_equal(x.n_axes, 2);
    assert_string_equal(x.axes[0].key, "request");
    assert_int_equal(x.axes[0].unit, UNIT_BYTES);
    assert_true(x.axes[0].values[1].number == 65536);
    assert_int_equal(x.n_cells, 4);
    assert_string_equal(x.cells[0].label, "request 4K, threads 1");
    assert_string_equal(x.cells[1].label, "request 4K, threads 8");
    assert_string_equal(x.cells[2].label, "request 64K, threads 1");
    assert_int_equal(x.cells[2].value[0], 1);
    assert_int_equal(x.cells[2].value[1], 0);
    assert_string_equal(settings_of(&x, 1, 1), "seconds=2 request=4K threads=8 path=fanout");
    experiment_free(&x);
}

/* --quick keeps ends and middle of numbers, all names, and counts the rest. */
static void quick_counts_what_it_leaves_out(void **state)
{
    struct plan_spec s = {.n_blocks = 5, .quick = true};
    struct experiment x, y;
    json_t *json;

    if (make_with(&s, &x, &last_error,
                  TEXTS("x threads=1..64", "x depth=1,2,4", "x op=a,b,c,d", "a odirect", "a fanout")))
        fail_msg("%s", last_error.detail);
    assert_int_equal(x.axes[0].n_values, 3);
    assert_string_equal(x.axes[0].values[1].text, "8");
    assert_int_equal(x.axes[0].n_left_out, 4);
    assert_int_equal(x.axes[1].n_left_out, 0);
    assert_int_equal(x.axes[2].n_values, 4);
    json = experiment_to_json(&x);
    assert_int_equal(experiment_from_json(json, &y), 0);
    assert_int_equal(y.axes[0].n_left_out, 4);
    assert_null(json_object_get(json_array_get(json_object_get(json, "axes"), 1), "left_out"));
    json_decref(json);
    experiment_free(&x);
    experiment_free(&y);
    plan_spec_free(&s);
}

static void axes_come_as_given_and_prepared_ones_first(void **state)
{
    struct experiment x;

    make(&x, "x depth=1,2", "o request=4K,8K", "x nc=1,8", "x threads=3", "p nc=mount {}", "a odirect", "a fanout");
    assert_int_equal(x.n_axes, 4);
    assert_string_equal(x.axes[0].key, "nc");
    assert_true(x.axes[0].is_label);
    assert_string_equal(x.axes[0].prepare_command, "mount {}");
    assert_int_equal(x.axes[0].unit, UNIT_COUNT); /* all its values are numbers */
    assert_string_equal(x.axes[1].key, "depth");
    assert_null(x.axes[1].prepare_command);
    assert_string_equal(x.axes[2].key, "request");
    assert_string_equal(x.axes[3].key, "threads");
    assert_int_equal(x.axes[3].n_values, 1);
    /* A label is no setting. */
    assert_string_equal(settings_of(&x, 0, 0), "depth=1 request=4K threads=3 path=odirect");
    experiment_free(&x);
}

static void axes_of_words(void **state)
{
    struct experiment x;

    make(&x, "x piece=auto,1M", "x mode=a,2", "p mode=set {}", "a odirect", "a fanout");
    assert_int_equal(x.axes[0].unit, UNIT_NONE);
    assert_int_equal(x.axes[1].unit, UNIT_NONE); /* "auto" is no number */
    assert_true(isnan(x.axes[1].values[1].number));
    experiment_free(&x);
}

static void files(void **state)
{
    struct experiment x;

    make(&x, "o file=/a", "o file=\"/b,c\"", "a odirect", "a fanout:file=/x,file=/y");
    assert_int_equal(x.n_axes, 0);
    assert_string_equal(settings_of(&x, 0, 0), "file=/a file=/b,c path=odirect");
    assert_string_equal(settings_of(&x, 0, 1), "path=fanout file=/x file=/y");
    experiment_free(&x);
    make(&x, "x file=/a,/b", "a odirect", "a fanout");
    assert_int_equal(x.n_cells, 2);
    assert_string_equal(settings_of(&x, 1, 0), "file=/b path=odirect");
    experiment_free(&x);
    make(&x, "o file=/a,/b", "a odirect", "a fanout");
    assert_int_equal(x.n_cells, 2);
    experiment_free(&x);
    refuse("is given already", "o file=/a,/b", "o file=/c", "a odirect", "a fanout");
    refuse("is given already", "o file=/c", "x file=/a,/b", "a odirect", "a fanout");
}

static void arms_override_common(void **state)
{
    struct experiment x;

    make(&x, "o threads=4", "o request=4K", "a odirect", "a many:path=odirect,threads=64");
    assert_string_equal(settings_of(&x, 0, 0), "threads=4 request=4K path=odirect");
    assert_string_equal(settings_of(&x, 0, 1), "request=4K path=odirect threads=64");
    assert_string_equal(experiment_value_of(&x, 0, 1, "threads"), "64");
    experiment_free(&x);
}

static void paths_of_arms(void **state)
{
    struct experiment x;

    make(&x, "o path=odirect", "a one:threads=1", "a two:threads=2", "a fanout:threads=2");
    assert_string_equal(settings_of(&x, 0, 0), "path=odirect threads=1");
    assert_string_equal(settings_of(&x, 0, 2), "path=fanout threads=2");
    experiment_free(&x);
    make(&x, "x path=odirect,fanout", "a one:threads=1", "a two:threads=2");
    assert_int_equal(x.n_cells, 2);
    assert_string_equal(settings_of(&x, 1, 0), "path=fanout threads=1");
    experiment_free(&x);
    make(&x, "a fanout:path=odirect", "a odirect");
    assert_string_equal(settings_of(&x, 0, 0), "path=odirect");
    experiment_free(&x);
    refuse("--arm one: the arm has no path", "a odirect", "a one:threads=1");
    assert_non_null(strstr(last_error.remedy, "null, odirect, fanout, buffered"));
    refuse("named after a path, but path is an axis", "x path=odirect,fanout", "a odirect", "a b:threads=1");
}

static void paths_become_arms(void **state)
{
    struct plan_spec s = {.aa = true};
    struct experiment x;

    make(&x, "o path=odirect,fanout", "o threads=1,2");
    assert_int_equal(x.n_arms, 2);
    assert_string_equal(x.arms[1].name, "fanout");
    assert_int_equal(x.n_axes, 1);
    assert_string_equal(settings_of(&x, 0, 1), "threads=1 path=fanout");
    experiment_free(&x);
    make(&x, "x path=odirect,fanout,buffered");
    assert_int_equal(x.n_arms, 3);
    assert_int_equal(x.n_axes, 0);
    experiment_free(&x);
    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("o threads=1", "o path=odirect", "o depth=1")), 0);
    assert_int_equal(x.n_arms, 2);
    assert_string_equal(x.arms[1].name, "odirect (A/A)");
    assert_string_equal(settings_of(&x, 0, 1), "threads=1 depth=1 path=odirect");
    experiment_free(&x);
    refuse("one arm has nothing to be compared with", "o path=odirect");
    refuse("no arms", "o request=4K");
}

static void aa_copies_the_baseline(void **state)
{
    struct plan_spec s = {.aa = true, .baseline = "fanout", .seed = 7, .limit_ns = 5};
    struct experiment x;

    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout:piece=64K")), 0);
    assert_int_equal(x.n_arms, 3);
    assert_int_equal(x.baseline, 1);
    assert_int_equal(x.aa, 2);
    assert_true(x.arms[2].is_aa && !x.arms[1].is_aa);
    assert_string_equal(x.arms[2].name, "fanout (A/A)");
    assert_string_equal(settings_of(&x, 0, 2), "path=fanout piece=64K");
    assert_true(x.seed == 7 && x.limit_ns == 5);
    experiment_free(&x);
    s = (struct plan_spec){.aa = true};
    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("a odirect")), 0);
    assert_int_equal(x.n_arms, 2);
    experiment_free(&x);
    s = (struct plan_spec){.aa = true};
    refuse_with(make_with(&s, &x, &last_error, TEXTS("a odirect", "a odirect (A/A):path=null")), "A/A copy");
    s = (struct plan_spec){.baseline = "mmap"};
    refuse_with(make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout")), "there is no arm 'mmap'");
}

static void memory_is_the_resolved_one(void **state)
{
    struct plan_spec s = {.memory = "cuda:0"};
    struct experiment x;

    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("o memory=auto", "o threads=1", "a odirect", "a fanout")), 0);
    assert_string_equal(x.memory, "cuda:0");
    assert_string_equal(settings_of(&x, 0, 0), "memory=cuda:0 threads=1 path=odirect");
    experiment_free(&x);
    s = (struct plan_spec){.memory = "emulated"};
    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout:memory=pinned")), 0);
    assert_string_equal(settings_of(&x, 0, 0), "memory=emulated path=odirect");
    assert_string_equal(settings_of(&x, 0, 1), "path=fanout memory=pinned");
    experiment_free(&x);
    s = (struct plan_spec){.memory = "emulated"};
    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("x memory=pinned,emulated", "a odirect", "a fanout")), 0);
    assert_string_equal(settings_of(&x, 0, 0), "memory=pinned path=odirect");
    experiment_free(&x);
}

static void keys_that_cannot_be(void **state)
{
    refuse("--arm a: reqest: no option and no setting of a path is called 'reqest'", "a a:path=null,reqest=4K",
           "a odirect");
    assert_string_equal(last_error.remedy, "did you mean request?");
    refuse("--axis: no option", "x wrong=1,2", "a odirect", "a fanout");
    refuse("--option: no option", "o wrong=1", "a odirect", "a fanout");
    refuse("'seed' is of the whole comparison", "x seed=1,2", "a odirect", "a fanout");
    refuse("'json' is of the whole comparison", "a odirect:json=x", "a fanout");
    refuse("there is no axis 'threads' to prepare", "p threads=x", "a odirect", "a fanout");
    refuse("a quote is not closed", "x n=1,2", "p n=x 'y", "a odirect", "a fanout");
    refuse("there is no axis", "o threads=1", "p threads=x", "a odirect", "a fanout");
}

static void one_place_for_a_key(void **state)
{
    refuse("--arm odirect: threads: 'threads' is an axis (--option)", "o threads=1,2", "a odirect:threads=4",
           "a fanout");
    refuse("is given already", "o threads=1", "x threads=1,2", "a odirect", "a fanout");
    refuse("is given already", "x threads=1,2", "x threads=4,8", "a odirect", "a fanout");
    refuse("is given already", "o threads=1", "o threads=2", "a odirect", "a fanout");
    refuse("given twice", "a odirect:threads=1,threads=2", "a fanout");
    refuse("one value, not 4", "a odirect:threads=1..8", "a fanout");
    refuse("there is an arm 'odirect' already", "a odirect", "a odirect:threads=1");
}

static void bad_values_name_their_place(void **state)
{
    refuse("--option: '4 KiB': no space", "o request=4 KiB", "a odirect", "a fanout");
    refuse("--axis: '64KB'", "x request=64KB,1M", "a odirect", "a fanout");
    refuse("--arm odirect: request: '1.5K'", "a odirect:request=1.5K", "a fanout");
    refuse("is not KEY=VALUES", "x threads", "a odirect");
    refuse("is not KEY=VALUES", "x threads=", "a odirect");
    refuse("is not KEY=COMMAND", "p threads", "a odirect");
    refuse("has a command already", "p a=b", "p a=c", "a odirect");
}

static void settings_need_a_path_that_has_them(void **state)
{
    struct experiment x;

    refuse("--arm odirect: piece: path odirect of arm odirect has no setting 'piece'", "a odirect:piece=1M",
           "a fanout");
    refuse("--option: no arm has a path with a setting 'piece'", "o piece=1M", "a odirect", "a buffered");
    refuse("--axis: no arm has a path with a setting 'piece'", "x piece=1M,2M", "a odirect", "a buffered");
    make(&x, "x piece=1M,2M", "x path=odirect,fanout", "a a:threads=1", "a b:threads=2");
    experiment_free(&x);
    make(&x, "x path=odirect,fanout", "a a:piece=1M", "a b:threads=2");
    experiment_free(&x);
    make(&x, "o path=fanout", "o piece=1M", "a a:threads=1", "a b:threads=2");
    experiment_free(&x);
}

static void limits(void **state)
{
    struct plan_spec s = {.n_blocks = 1001};
    struct experiment x;

    refuse_with(make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout")), "1001 is not 1 to 1000");
    s = (struct plan_spec){.n_blocks = 5, .until_decided = true};
    refuse_with(make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout")), "20 blocks");
    s = (struct plan_spec){.n_blocks = 20, .until_decided = true};
    assert_int_equal(make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout")), 0);
    experiment_free(&x);
}

/* 1000 blocks of two arms leave room for 500 cells. */
static void rows_are_limited(void **state)
{
    struct experiment x;

    for (int n = 500; n <= 501; n++) {
        struct plan_spec s = {.n_blocks = 1000};
        char text[4000] = "x threads=1";
        int r;

        for (int i = 2; i <= n; i++)
            sprintf(text + strlen(text), ",%d", i);
        r = make_with(&s, &x, &last_error, TEXTS("a odirect", "a fanout", text));
        if (n == 500) {
            assert_int_equal(r, 0);
            assert_int_equal(x.n_cells, 500);
            experiment_free(&x);
        } else {
            refuse_with(r, "501 cells, 2 arms and 1000 blocks are more than 1000000 trials");
        }
    }
    refuse("more than 1000000 trials", "x cpus=1,2,3,4,5,6,7,8,9,0", "x threads=1,2,3,4,5,6,7,8,9,10",
           "x depth=1,2,3,4,5,6,7,8,9,10", "x mix=1,2,3,4,5,6,7,8,9,10", "x op=1,2,3,4,5,6,7,8,9,0",
           "x engine=1,2,3,4,5,6,7,8,9,0", "x request=1,2,3,4,5,6,7,8,9,10", "a odirect", "a fanout");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_paths),
        cmocka_unit_test(axes_make_cells),
        cmocka_unit_test(quick_counts_what_it_leaves_out),
        cmocka_unit_test(axes_come_as_given_and_prepared_ones_first),
        cmocka_unit_test(axes_of_words),
        cmocka_unit_test(files),
        cmocka_unit_test(arms_override_common),
        cmocka_unit_test(paths_of_arms),
        cmocka_unit_test(paths_become_arms),
        cmocka_unit_test(aa_copies_the_baseline),
        cmocka_unit_test(memory_is_the_resolved_one),
        cmocka_unit_test(keys_that_cannot_be),
        cmocka_unit_test(one_place_for_a_key),
        cmocka_unit_test(bad_values_name_their_place),
        cmocka_unit_test(settings_need_a_path_that_has_them),
        cmocka_unit_test(limits),
        cmocka_unit_test(rows_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
