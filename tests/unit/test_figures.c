/* SPDX-License-Identifier: MIT */
/* Figures out of a result as docs/run-json.md has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_fixture.h"
#include "store/figures.h"

static json_t *good(void)
{
    json_t *result = json_pack("{s:b, s:I, s:f, s:f, s:f, s:{s:i, s:i}, s:{s:{s:f, s:f}, s:{s:f, s:f}}, s:{s:s}, s:[]}",
                               "complete", 1, "bytes", (json_int_t)5 << 29, "seconds", 2.0, "bytes_per_second", 1.5e9,
                               "requests_per_second", 1280.0, "latency_ns", "p50", 1000, "p99", 3000, "cpu", "process",
                               "user_s", 1.0, "system_s", 4.0, "machine", "user_s", 2.0, "system_s", 8.0, "verify",
                               "status", "ok", "errors");

    assert_non_null(result);
    json_object_set_new(result, "requests", json_integer(2560));
    json_object_set_new(result, "wire",
                        json_pack("{s:f, s:f, s:f, s:i, s:i}", "mean_in_flight", 8.1, "mean_bytes", 65536.0,
                                  "mean_service_ns", 570e3, "requests", 40960, "retries", 3));
    return result;
}

static void assert_none(json_t *result)
{
    struct figures f, none;

    for (int m = 0; m < N_METRICS; m++)
        none.metric[m] = NAN;
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        none.wire[w] = NAN;
    none.wire_retries = NAN;
    none.process_user_cpus = none.process_system_cpus = none.machine_user_cpus = none.machine_system_cpus = NAN;
    figures_take(result, &f);
    assert_same_figures(&f, &none);
    json_decref(result);
}

static void whole(void **state)
{
    json_t *result = good();
    struct figures f;

    figures_take(result, &f);
    assert_true(f.metric[METRIC_RATE] == 1.5e9);
    assert_true(f.metric[METRIC_REQUESTS] == 1280);
    assert_true(f.metric[METRIC_P50] == 1000);
    assert_true(f.metric[METRIC_P99] == 3000);
    assert_true(f.metric[METRIC_CPU_PROCESS] == 2); /* 5 s for 2.5 GiB */
    assert_true(f.metric[METRIC_CPU_MACHINE] == 4);
    assert_true(f.process_user_cpus == 0.5);
    assert_true(f.process_system_cpus == 2);
    assert_true(f.machine_user_cpus == 1);
    assert_true(f.machine_system_cpus == 4);
    assert_true(f.wire[WIRE_IN_FLIGHT] == 8.1);
    assert_true(f.wire[WIRE_MEAN_BYTES] == 65536);
    assert_true(f.wire[WIRE_SERVICE] == 570e3);
    assert_true(f.wire[WIRE_PER_REQUEST] == 16);
    assert_true(f.wire_retries == 3);
    json_decref(result);
}

static void without(void **state)
{
    json_t *result = good();
    struct figures f;

    json_object_set_new(json_object_get(result, "cpu"), "machine", json_null());
    json_object_set_new(json_object_get(result, "latency_ns"), "p99", json_null());
    figures_take(result, &f);
    assert_true(isnan(f.metric[METRIC_CPU_MACHINE]) && isnan(f.machine_user_cpus) && isnan(f.machine_system_cpus));
    assert_true(isnan(f.metric[METRIC_P99]));
    assert_true(f.metric[METRIC_P50] == 1000);
    assert_true(f.metric[METRIC_CPU_PROCESS] == 2);
    json_object_set_new(json_object_get(result, "wire"), "retries", json_null());
    json_object_set_new(json_object_get(result, "wire"), "mean_in_flight", json_null());
    figures_take(result, &f);
    assert_true(isnan(f.wire_retries) && isnan(f.wire[WIRE_IN_FLIGHT]) && f.wire[WIRE_PER_REQUEST] == 16);
    json_object_set_new(json_object_get(result, "wire"), "others_only", json_true());
    figures_take(result, &f);
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        assert_true(isnan(f.wire[w]));
    assert_true(f.metric[METRIC_P50] == 1000);
    json_object_set_new(result, "wire", json_null()); /* the worker died, or a result before there was one */
    figures_take(result, &f);
    assert_true(isnan(f.wire[WIRE_MEAN_BYTES]) && isnan(f.wire[WIRE_PER_REQUEST]));
    json_object_set_new(result, "latency_ns", json_null());
    json_object_set_new(result, "bytes_per_second", json_null());
    figures_take(result, &f);
    assert_true(isnan(f.metric[METRIC_P50]) && isnan(f.metric[METRIC_RATE]));
    json_decref(result);
}

/* The path that moves nothing, and a window of no length. */
static void nothing_to_divide_by(void **state)
{
    json_t *result = good();
    struct figures f;

    json_object_set_new(result, "bytes", json_null());
    figures_take(result, &f);
    assert_true(isnan(f.metric[METRIC_CPU_PROCESS]) && isnan(f.metric[METRIC_CPU_MACHINE]));
    assert_true(f.process_user_cpus == 0.5);
    json_object_set_new(result, "bytes", json_integer(0));
    json_object_set_new(result, "seconds", json_real(0));
    figures_take(result, &f);
    assert_true(isnan(f.metric[METRIC_CPU_PROCESS]) && isnan(f.process_user_cpus));
    assert_true(f.metric[METRIC_REQUESTS] == 1280);
    json_decref(result);
}

static void no_figures(void **state)
{
    json_t *result = good();

    json_object_set_new(result, "complete", json_false());
    assert_none(result);
    result = good();
    json_object_del(result, "complete");
    assert_none(result);
    result = good();
    json_object_set_new(json_object_get(result, "verify"), "status", json_string("failed"));
    assert_none(result);
    result = good();
    json_array_append_new(json_object_get(result, "errors"), json_pack("{s:s}", "detail", "broken"));
    assert_none(result);
    assert_none(json_object());
    assert_none(NULL);
}

static void verification_off(void **state)
{
    json_t *result = good();
    struct figures f;

    json_object_set_new(json_object_get(result, "verify"), "status", json_null());
    figures_take(result, &f);
    assert_true(f.metric[METRIC_RATE] == 1.5e9);
    json_decref(result);
}

static void names(void **state)
{
    for (enum metric m = 0; m < N_METRICS; m++) {
        assert_true(strlen(metric_name(m)) > 0 && strlen(metric_words(m)) > 0 && strlen(metric_unit(m)) > 0);
        assert_int_equal(metric_higher_is_better(m), m == METRIC_RATE || m == METRIC_REQUESTS);
        for (enum wire_figure w = 0; w < N_WIRE_FIGURES; w++)
            assert_string_not_equal(metric_name(m), wire_figure_name(w));
        for (enum metric k = 0; k < m; k++)
            assert_string_not_equal(metric_name(m), metric_name(k));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),      cmocka_unit_test(without),          cmocka_unit_test(nothing_to_divide_by),
        cmocka_unit_test(no_figures), cmocka_unit_test(verification_off), cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
