/* SPDX-License-Identifier: MIT */
#include "plan_fixture.h"

#include <math.h>

/* The values of @text, joined by blanks; or '!' and the error. */
static const char *values_of(const char *key_name, const char *text)
{
    static char out[20000];
    struct plan_key key = find_key(NULL, key_name);
    struct experiment_value *values;
    struct spur_error e = {0};
    size_t n, at = 0;
    int r = plan_values(text, &key, &values, &n, &e);

    out[0] = 0;
    if (r < 0) {
        assert_int_equal(r, -EINVAL);
        assert_int_equal(e.code, SPUR_CODE_USAGE);
        snprintf(out, sizeof(out), "!%s", e.detail);
        return out;
    }
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s", i ? " " : "", values[i].text);
    plan_values_free(values, n);
    return out;
}

static void fails(const char *key, const char *text, const char *part)
{
    const char *out = values_of(key, text);

    if (*out != '!' || !strstr(out, part))
        fail_msg("%s: '%s' is not in '%s'", text, part, out);
}

static void lists(void **state)
{
    assert_string_equal(values_of("threads", "1,8, 64"), "1 8 64");
    assert_string_equal(values_of("request", "4096"), "4096");
    assert_string_equal(values_of("request", " 4K ,16KiB"), "4K 16KiB");
    assert_string_equal(values_of("op", "read,randread"), "read randread");
    assert_string_equal(values_of("mix", "70,30%"), "70 30%");
    assert_string_equal(values_of("seconds", "10,250ms"), "10 250ms");
}

static void each_value_once(void **state)
{
    assert_string_equal(values_of("threads", "8,1..8,8"), "8 1 2 4");
    assert_string_equal(values_of("request", "4096,4K,8K"), "4096 8K");
    assert_string_equal(values_of("op", "read,read"), "read");
    /* As doubles these are one number. */
    assert_string_equal(values_of("threads", "9007199254740993,9007199254740992"), "9007199254740993 9007199254740992");
}

static void ranges(void **state)
{
    assert_string_equal(values_of("request", "4K..64K"), "4K 8K 16K 32K 64K");
    assert_string_equal(values_of("request", "4K..1M*16"), "4K 64K 1M");
    assert_string_equal(values_of("request", "1536..8K"), "1536 3K 6K 8K");
    assert_string_equal(values_of("threads", "1..64*4"), "1 4 16 64");
    assert_string_equal(values_of("threads", "1..6"), "1 2 4 6");
    assert_string_equal(values_of("threads", "8..8"), "8");
    assert_string_equal(values_of("threads", "0..0"), "0");
    assert_string_equal(values_of("warmup", "250ms..2s"), "250ms 500ms 1s 2s");
    assert_string_equal(values_of("seconds", "15..60"), "15s 30s 1m");
    assert_string_equal(values_of("mix", "10%..80"), "10 20 40 80");
    assert_string_equal(values_of("threads", "1..4,16..64"), "1 2 4 16 32 64");
}

static void ranges_that_fall(void **state)
{
    assert_string_equal(values_of("threads", "8..1"), "8 4 2 1");
    assert_string_equal(values_of("threads", "100..10"), "100 50 25 12 10");
    assert_string_equal(values_of("threads", "64..1*4"), "64 16 4 1");
    assert_string_equal(values_of("threads", "4..0"), "4 2 1 0");
    assert_string_equal(values_of("request", "1M..256K"), "1M 512K 256K");
}

static void ranges_at_the_end_of_64_bits(void **state)
{
    assert_string_equal(values_of("threads", "9223372036854775807..18446744073709551615"),
                        "9223372036854775807 18446744073709551614 18446744073709551615");
    assert_string_equal(values_of("threads", "1..18446744073709551615*18446744073709551615"), "1 18446744073709551615");
}

static void bad_values(void **state)
{
    fails("threads", "", "a value is missing");
    fails("threads", "1,,2", "a value is missing");
    fails("threads", "1,", "a value is missing");
    fails("threads", "\"\"", "a value is missing");
    fails("threads", "1K", "plain number");
    fails("request", "64KB", "ambiguous");
    fails("request", "auto", "digit");
    fails("warmup", "5", "unit is missing");
    fails("threads", "0..8", "cannot rise from 0");
    fails("threads", "1..8*1", "at least 2");
    fails("threads", "1..8*", "factor of a range: ");
    fails("threads", "1..8*x", "factor of a range: ");
    fails("threads", "..8", "a number is missing");
    fails("threads", "1..", "a number is missing");
    fails("threads", "1..2..3", "whole numbers");
    fails("mix", "50..200", "more than 100");
}

static void words(void **state)
{
    assert_string_equal(values_of("file", "../a..b"), "../a..b");
    assert_string_equal(values_of("piece", "auto,64K..256K"), "auto 64K 128K 256K");
    assert_string_equal(values_of("engine", "1..8"), "1..8"); /* no number: no range */
}

static void too_many_values(void **state)
{
    char text[8000] = "1";

    for (int i = 2; i <= 1000; i++)
        sprintf(text + strlen(text), ",%d", i);
    assert_int_equal(*values_of("threads", text), '1');
    strcat(text, ",1001");
    fails("threads", text, "more than 1000");
}

static void numbers(void **state)
{
    struct plan_key bytes = find_key(NULL, "piece"), time = find_key(NULL, "seconds");
    struct experiment_value *v;
    size_t n;

    assert_int_equal(plan_values("auto,64K", &bytes, &v, &n, NULL), 0);
    assert_true(isnan(v[0].number));
    assert_true(v[1].number == 65536);
    plan_values_free(v, n);
    assert_int_equal(plan_values("2", &time, &v, &n, NULL), 0);
    assert_true(v[0].number == 2e9);
    plan_values_free(v, n);
}

static void quotes(void **state)
{
    char **list;
    size_t n;

    assert_int_equal(plan_list_split(" \"a,b\" , c\"d ,\"say \"\"no\"\"\",\" x \"", &list, &n, NULL), 0);
    assert_int_equal(n, 4);
    assert_string_equal(list[0], "a,b");
    assert_string_equal(list[1], "c\"d");
    assert_string_equal(list[2], "say \"no\"");
    assert_string_equal(list[3], " x ");
    plan_list_free(list, n);
    fails("file", "\"a,b", "not closed");
    fails("file", "\"a\"\"", "not closed");
    fails("file", "\"a\"b", "only a comma");
    assert_string_equal(values_of("cpus", "\"0-7,16\""), "0-7,16");
    assert_string_equal(values_of("cpus", "0-7,16"), "0-7 16");
}

/* ------------------------------------------------------------------------------------------------
 * Arms
 */

static void arms(void **state)
{
    struct plan_spec s = {0};

    assert_int_equal(plan_spec_add_arm(&s, "odirect", "--arm", NULL), 0);
    assert_int_equal(
        plan_spec_add_arm(&s, " big one : path=fanout, piece = 8M,file=\"a,b\" ,file=cuda:0=x", "--arm", NULL), 0);
    assert_int_equal(s.n_arms, 2);
    assert_int_equal(s.arms[0].n_items, 0);
    assert_string_equal(s.arms[1].name, "big one");
    assert_int_equal(s.arms[1].n_items, 4);
    assert_string_equal(s.arms[1].items[1].key, "piece");
    assert_string_equal(s.arms[1].items[1].value, "8M");
    assert_string_equal(s.arms[1].items[1].where, "--arm big one: piece");
    assert_string_equal(s.arms[1].items[2].value, "\"a,b\"");
    assert_string_equal(s.arms[1].items[3].value, "cuda:0=x");
    plan_spec_free(&s);
}

static void bad_arms(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "1 to 64 bytes"},
        {":path=null", "1 to 64 bytes"},
        {"12345678901234567890123456789012345678901234567890123456789012345", "1 to 64 bytes"},
        {"a=b", "no colon, comma"},
        {"a,b", "no colon, comma"},
        {"a'b", "no colon, comma"},
        {"a\tb", "printable"},
        {"x:", "is not KEY=VALUE"},
        {"x:threads", "is not KEY=VALUE"},
        {"x:=1", "is not KEY=VALUE"},
        {"x:threads=", "threads: a value is missing"},
        {"x:threads=1,", "is not KEY=VALUE"},
        {"x:file=\"a", "file: '\"a': the double quote is not closed"},
        {"odirect", "there is an arm 'odirect' already (--arm odirect)"},
    };
    struct plan_spec s = {0};

    assert_int_equal(plan_spec_add_arm(&s, "odirect", "--arm", NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct spur_error e = {0};

        assert_int_equal(plan_spec_add_arm(&s, rows[i].text, "--arm", &e), -EINVAL);
        if (!strstr(e.detail, rows[i].part))
            fail_msg("'%s' is not in '%s'", rows[i].part, e.detail);
        assert_int_equal(s.n_arms, 1);
    }
    assert_int_equal(
        plan_spec_add_arm(&s, "1234567890123456789012345678901234567890123456789012345678901234", "", NULL), 0);
    plan_spec_free(&s);
}

/* ------------------------------------------------------------------------------------------------
 * Commands
 */

static const char *words_of(const char *command, const char *value)
{
    static char out[1000];
    struct spur_error e = {0};
    char **list;
    int r = plan_command_words(command, value, &list, &e);

    out[0] = 0;
    if (r < 0) {
        assert_int_equal(r, -EINVAL);
        snprintf(out, sizeof(out), "!%s", e.detail);
        return out;
    }
    for (char **w = list; *w; w++)
        sprintf(out + strlen(out), "<%s>", *w);
    plan_words_free(list);
    return out;
}

static void commands(void **state)
{
    assert_string_equal(words_of("mount -o nconnect={} /m", "8"), "<mount><-o><nconnect=8></m>");
    assert_string_equal(words_of(" a\tb  c ", ""), "<a><b><c>");
    assert_string_equal(words_of("a {}{} '{}' \"{}\" {", "x y"), "<a><x yx y><x y><x y><{>");
    assert_string_equal(words_of("a {}", "{}"), "<a><{}>");
    assert_string_equal(words_of("a 'b c'd\" e\"", ""), "<a><b cd e>");
    assert_string_equal(words_of("a '' \"\"", ""), "<a><><>");
    assert_string_equal(words_of("a b\\ c \"d\\\"e\\\\f\\g\" 'h\\'", ""), "<a><b c><d\"e\\f\\g><h\\>");
    assert_string_equal(words_of("a $HOME `b` > c;d", ""), "<a><$HOME><`b`><>><c;d>");
    assert_string_equal(words_of("a b c d e f g", ""), "<a><b><c><d><e><f><g>");
}

static void bad_commands(void **state)
{
    assert_non_null(strstr(words_of("", "1"), "it is empty"));
    assert_non_null(strstr(words_of(" \t", "1"), "it is empty"));
    assert_non_null(strstr(words_of("a 'b", "1"), "quote is not closed"));
    assert_non_null(strstr(words_of("a \"b", "1"), "quote is not closed"));
    assert_non_null(strstr(words_of("a \"b\\", "1"), "quote is not closed"));
    assert_non_null(strstr(words_of("a b\\", "1"), "ends with a backslash"));
    assert_non_null(strstr(words_of("'' b", "1"), "name of the program is empty"));
    assert_non_null(strstr(words_of("{} b", ""), "name of the program is empty"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(each_value_once),
        cmocka_unit_test(ranges),
        cmocka_unit_test(ranges_that_fall),
        cmocka_unit_test(ranges_at_the_end_of_64_bits),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(words),
        cmocka_unit_test(too_many_values),
        cmocka_unit_test(numbers),
        cmocka_unit_test(quotes),
        cmocka_unit_test(arms),
        cmocka_unit_test(bad_arms),
        cmocka_unit_test(commands),
        cmocka_unit_test(bad_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
