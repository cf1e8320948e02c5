/* SPDX-License-Identifier: MIT */
/* cufile.json with comments, damaged, and with a trial's keys put in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util.h"
#include "worker/trial_env.h"

static const char good[] = "{\n"
                           "    // a comment with \"quotes\" and a } brace\n"
                           "    \"logging\": { \"level\": \"ERROR\", /* several\n lines */ },\n"
                           "    \"execution\": {\n"
                           "        \"max_io_threads\": 4, // the number\n"
                           "        \"parallel_io\": true,\n"
                           "    },\n"
                           "    \"fs\": { \"url\": \"http://x/*y*/,}\", \"quote\": \"a\\\"// no comment\" },\n"
                           "    \"list\": [ 1, 2, ],\n"
                           "}\n";

static json_t *parsed(const char *text)
{
    struct spur_error e = {0};
    json_t *json = cufile_json_parse(text, "f", &e);

    if (!json)
        fail_msg("%s", e.detail);
    return json;
}

static void comments_and_commas_go(void **state)
{
    json_t *json = parsed(good), *fs = json_object_get(json, "fs");

    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "execution"), "max_io_threads")), 4);
    assert_true(json_is_true(json_object_get(json_object_get(json, "execution"), "parallel_io")));
    assert_string_equal(json_string_value(json_object_get(fs, "url")), "http://x/*y*/,}"); /* strings are left alone */
    assert_string_equal(json_string_value(json_object_get(fs, "quote")), "a\"// no comment");
    assert_int_equal(json_array_size(json_object_get(json, "list")), 2);
    json_decref(json);
}

static void damage_has_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\n /* one\n two */\n \"a\": 1 \"b\": 2 }", "f:4: "}, /* comments keep the lines */
        {"{ \"a\": ", "f:1: "},
        {"", "f:1: "},
        {"[1]", "is no JSON object"},
        {"{ \"a\": 1 } /", "f:1: "},
        {"{ \"a\": 1 /* never ends", "f:1: "},
        {"{ \"a\": \"never ends // }", "f:1: "},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct spur_error e = {0};

        assert_null(cufile_json_parse(rows[i].text, "f", &e));
        if (!strstr(e.detail, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.detail);
        assert_int_equal(e.code, SPUR_CODE_USAGE);
        assert_true(e.remedy[0]);
    }
}

/* Whatever is in the file: an object, or an error that names it; never more of the text than there is. */
static void mutations_are_survived(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15ull;
    unsigned n_good = 0, n_bad = 0;

    for (unsigned round = 0; round < 3000; round++) {
        static const char spice[] = "\"/*\\{}[],\n:1";
        char *text = strdup(good);
        struct spur_error e = {0};
        json_t *json;

        for (unsigned i = 0; i < 1 + round % 4; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            text[(seed >> 33) % strlen(good)] = spice[(seed >> 20) % (sizeof(spice) - 1)];
        }
        if (round % 5 == 0)
            text[(seed >> 40) % strlen(good)] = 0;
        json = cufile_json_parse(text, "f", &e);
        n_good += json != NULL;
        n_bad += json == NULL;
        if (!json && !strstr(e.detail, "f:") && !strstr(e.detail, "no JSON object"))
            fail_msg("no place: %s", e.detail);
        json_decref(json);
        free(text);
    }
    assert_true(n_good > 300 && n_bad > 300);
}

/* ------------------------------------------------------------------------------------------------ */

static char *composed(const char *base, struct spur_key_value *settings, size_t n, struct spur_error *e)
{
    char name[] = "/tmp/spur-test-XXXXXX", *text = NULL;
    int fd = mkstemp(name);
    struct job job = {.n_settings = n + 1};
    struct spur_key_value all[8] = {{"json", name}};

    assert_true(fd >= 0 && write(fd, base, strlen(base)) == (ssize_t)strlen(base));
    close(fd);
    memcpy(all + 1, settings, n * sizeof(*settings));
    job.settings = all;
    if (cufile_json_compose(&job, &text, e) < 0)
        text = NULL;
    unlink(name);
    return text;
}

static void keys_are_put_in(void **state)
{
    struct spur_key_value settings[] = {{"json.execution.parallel_io", "false"},
                                        {"json.new.section.key", "[1,2]"},
                                        {"json.logging.level", "TRACE"},
                                        {"route", "compat"}};
    struct spur_error e = {0};
    char *text = composed(good, settings, ARRAY_SIZE(settings), &e);
    json_t *json, *execution;

    assert_non_null(text);
    json = parsed(text);
    execution = json_object_get(json, "execution");
    assert_true(json_is_false(json_object_get(execution, "parallel_io")));
    assert_int_equal(json_integer_value(json_object_get(execution, "max_io_threads")), 4); /* what was there stays */
    assert_int_equal(json_array_size(json_object_get(json_object_get(json_object_get(json, "new"), "section"), "key")),
                     2);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "logging"), "level")), "TRACE");
    assert_null(json_object_get(json, "route"));
    json_decref(json);
    free(text);
}

static void a_value_is_no_section(void **state)
{
    struct spur_key_value settings[] = {{"json.execution.max_io_threads.deeper", "1"}};
    struct spur_error e = {0};

    assert_null(composed(good, settings, 1, &e));
    assert_non_null(strstr(e.detail, "max_io_threads is no section"));
    assert_null(composed("{ broken", settings, 1, &e));
    assert_non_null(strstr(e.detail, ":1: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_commas_go), cmocka_unit_test(damage_has_its_line),
        cmocka_unit_test(mutations_are_survived), cmocka_unit_test(keys_are_put_in),
        cmocka_unit_test(a_value_is_no_section),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
