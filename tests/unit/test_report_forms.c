/* SPDX-License-Identifier: MIT */
/* JSON against its document, every null with its reason, and CSV that survives any name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/util.h"
#include "test_report.h"

/* ------------------------------------------------------------------------------------------------
 * docs/report-json.md
 */

struct documented {
    char key[120], type[40];
    bool seen;
};

struct document {
    struct documented rows[200];
    size_t n;
};

static void read_document(struct document *d)
{
    char line[1000];
    FILE *f = fopen(SPUR_TEST_DOCS "/report-json.md", "re");

    assert_non_null(f);
    d->n = 0;
    while (fgets(line, sizeof(line), f)) {
        struct documented *row = &d->rows[d->n];

        row->seen = false;
        if (sscanf(line, "| `%119[^`]` | %39[^|]", row->key, row->type) == 2)
            assert_true(++d->n < ARRAY_SIZE(d->rows));
    }
    fclose(f);
    assert_true(d->n > 100);
}

/* A * in the document stands for one key. */
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

static bool has_type(const char *type, const json_t *value)
{
    const char *name = json_is_string(value)    ? "string"
                       : json_is_boolean(value) ? "boolean"
                       : json_is_integer(value) ? "integer"
                       : json_is_real(value)    ? "real"
                       : json_is_object(value)  ? "object"
                                                : "array";

    return json_is_null(value) || !strncmp(type, name, strlen(name));
}

/* Items of lists of plain values, and objects that only group, have no row of their own. */
static bool needs_row(const char *key, const json_t *value)
{
    return !json_is_object(value) && strcmp(key + strlen(key) - 2, "[]") && !strstr(key, "[][]");
}

static void check_key(struct document *d, const json_t *nulls, const char *key, const json_t *value)
{
    bool found = false, explained = !json_is_null(value);
    const char *pattern;
    json_t *why;

    for (size_t i = 0; i < d->n; i++)
        if (matches(d->rows[i].key, key)) {
            d->rows[i].seen = found = true;
            if (!has_type(d->rows[i].type, value))
                fail_msg("%s is said to be %s", key, d->rows[i].type);
        }
    if (!found && needs_row(key, value))
        fail_msg("not documented: %s", key);
    json_object_foreach((json_t *)nulls, pattern, why) explained = explained || matches(pattern, key);
    if (!explained)
        fail_msg("null without a reason: %s", key);
}

static void walk(struct document *d, const json_t *nulls, const char *key, const json_t *value)
{
    char name[200];
    const char *k;
    json_t *item;
    size_t i;

    if (*key)
        check_key(d, nulls, key, value);
    json_object_foreach((json_t *)value, k, item)
    {
        /* Reasons are keyed by keys, which have points in them. */
        if (strcmp(key, "nulls")) {
            snprintf(name, sizeof(name), "%s%s%s", key, *key ? "." : "", k);
            walk(d, nulls, name, item);
        } else {
            check_key(d, nulls, "nulls.x", item);
        }
    }
    json_array_foreach(value, i, item)
    {
        snprintf(name, sizeof(name), "%s[]", key);
        walk(d, nulls, name, item);
    }
}

/* ------------------------------------------------------------------------------------------------
 * An experiment that has everything
 */

static double crossing(const struct made *m, uint32_t cell, uint32_t arm)
{
    const double rates[] = {1500, 1200, 900, 600};

    return arm == 1 ? rates[cell / 2] : 1000;
}

static void varied(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    if (row->arm == 3 && row->block == 2) {
        t->status = TRIAL_FAILED;
        t->error = (char *)"a \"quoted\", error\r\nof two lines";
        t->observed[0] = t->served[0] = t->verify[0] = 0;
        t->window_s = NAN;
    }
    if (row->arm == 3 && row->cell == 0)
        strcpy(t->served, "memory");
    if (row->arm == 1 && row->cell == 1 && row->block == 3)
        t->figures.metric[METRIC_RATE] *= 3;
}

static void make_varied(struct made *m)
{
    made_begin(m, "odirect fanout aa mmap cufile");
    made_axis(m, "threads", UNIT_COUNT, "1 2 4 8");
    made_axis(m, "op", UNIT_NONE, "read write");
    free(m->x.arms[4].name);
    m->x.arms[4].name = strdup("cu\xff\"file,\"");
    made_plan(m, 6);
    made_state(m, 0, 4, PAIR_REFUSED, "no nvidia-fs");
    made_state(m, 1, 4, PAIR_NOT_APPLICABLE, "no writes");
    m->rate = crossing;
    m->trial = varied;
    m->n_trials -= 3;
    m->x.axes[0].n_left_out = 2;
    m->x.matches = calloc(1, sizeof(*m->x.matches));
    m->x.matches[m->x.n_matches++] = (struct experiment_match){1, strdup("threads"), 12, 3, 8.1, 7.75};
    made_run(m);
    made_event(m, EVENT_STOPPED, 5, 3, 3, "three in a row");
    made_finish(m);
}

static void test_json_keys(void **state)
{
    struct document *d = calloc(1, sizeof(*d));
    struct made m;
    json_t *report;

    assert_non_null(d);
    read_document(d);
    make_varied(&m);
    report = report_json(&m.a);
    assert_non_null(report);
    walk(d, json_object_get(report, "nulls"), "", report);
    for (size_t i = 0; i < d->n; i++)
        if (!d->rows[i].seen)
            fail_msg("documented, but not there: %s", d->rows[i].key);
    json_decref(report);
    made_free(&m);
    free(d);
}

/* The figures are the analysis's, and a null is no 0. */
static void test_json_figures(void **state)
{
    json_t *report, *c, *rate;
    struct made m;

    make_varied(&m);
    report = report_json(&m.a);
    c = json_array_get(json_object_get(report, "comparisons"), 0);
    rate = json_object_get(json_object_get(c, "metrics"), "bytes_per_second");
    assert_string_equal(json_string_value(json_object_get(c, "arm")), "fanout");
    assert_true(json_real_value(json_object_get(rate, "ratio")) == m.a.comparisons[0].metric[METRIC_RATE].ratio);
    assert_string_equal(json_string_value(json_object_get(rate, "verdict")), "better");
    rate = json_object_get(json_object_get(c, "metrics"), "cpu_machine_s_per_gib");
    assert_true(json_is_null(json_object_get(rate, "ratio")));
    assert_string_equal(json_string_value(json_object_get(rate, "verdict")), "none");
    assert_int_equal(json_array_size(json_object_get(report, "trials")), m.n_trials);
    assert_int_equal(json_array_size(json_object_get(report, "outliers")), m.a.n_outliers);
    json_decref(report);
    made_free(&m);
}

static double real_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_null(value) ? NAN : json_number_value(value);
}

static void check_json_wire(bool wire)
{
    struct made m;
    json_t *report, *arm, *trial;

    made_begin(&m, "odirect fanout");
    made_plan(&m, 2);
    m.wire = wire;
    made_run(&m);
    made_finish(&m);
    report = report_json(&m.a);
    arm = json_array_get(json_object_get(json_array_get(json_object_get(report, "cells"), 0), "arms"), 1);
    trial = json_object_get(json_array_get(json_object_get(report, "trials"), 0), "figures");
    assert_int_equal(json_array_size(json_object_get(report, "comparisons")), 1);
    if (wire) {
        assert_true(fabs(real_of(json_object_get(json_object_get(arm, "figures"), "wire_per_request"), "center") - 16) <
                    1e-9);
        assert_true(real_of(arm, "wire_retries") == 1);
        assert_true(real_of(trial, "wire_mean_bytes") == 1048576);
        assert_true(real_of(trial, "wire_retries") == 0);
    } else {
        assert_true(isnan(real_of(json_object_get(json_object_get(arm, "figures"), "wire_in_flight"), "center")));
        assert_true(isnan(real_of(arm, "wire_retries")) && isnan(real_of(trial, "wire_retries")));
        assert_non_null(json_object_get(json_object_get(report, "nulls"), "cells[].arms[].wire_retries"));
    }
    json_decref(report);
    made_free(&m);
}

/* Figures, no verdicts: there is no family of them. */
static void test_json_wire(void **state)
{
    check_json_wire(true);
    check_json_wire(false);
}

/* ------------------------------------------------------------------------------------------------
 * CSV
 */

/* Reads a field at *p as RFC 4180 has it; returns what ended it. */
static char read_field(const char **p, char *ret)
{
    bool quoted = **p == '"';
    char end;

    *p += quoted;
    for (; quoted ? !(**p == '"' && (*p)[1] != '"') : !strchr(",\r", **p); (*p)++) {
        assert_true(**p != 0);
        *p += quoted && **p == '"';
        *ret++ = **p;
    }
    *ret = 0;
    *p += quoted;
    end = **p;
    *p += end == '\r' ? 2 : 1;
    return end;
}

static size_t read_record(const char **p, char fields[40][200])
{
    size_t n = 0;

    while (read_field(p, fields[n++]) == ',')
        assert_true(n < 40);
    return n;
}

static char *csv_of(struct made *m)
{
    char *text = NULL;
    size_t size;
    struct spur_error e;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(report_csv(out, m->store, &m->a, &e), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void test_csv(void **state)
{
    char fields[40][200];
    size_t n_columns, n = 0, n_outliers = 0;
    struct made m;
    const char *p;
    char *text;

    make_varied(&m);
    p = text = csv_of(&m);
    n_columns = read_record(&p, fields);
    assert_int_equal(n_columns, 9 + 2 + N_METRICS + 4 + N_WIRE_FIGURES + 1 + 11);
    assert_string_equal(fields[9], "threads");
    assert_string_equal(fields[11], "bytes_per_second");
    for (; *p; n++) {
        const struct store_trial *t = &m.a.trials[n];

        assert_int_equal(read_record(&p, fields), n_columns);
        assert_string_equal(fields[6], m.x.arms[m.x.rows[t->row].arm].name);
        assert_string_equal(fields[n_columns - 1], t->error ? t->error : "");
        if (t->status == TRIAL_OK)
            assert_true(fabs(atof(fields[11]) / t->figures.metric[METRIC_RATE] - 1) < 1e-14);
        else
            assert_string_equal(fields[11], "");
        n_outliers += fields[n_columns - 2][0] == '1';
    }
    assert_int_equal(n, m.n_trials);
    assert_true(n_outliers > 0);
    assert_int_equal(n_outliers, m.a.n_outliers);
    free(text);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_keys),
        cmocka_unit_test(test_json_figures),
        cmocka_unit_test(test_json_wire),
        cmocka_unit_test(test_csv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
