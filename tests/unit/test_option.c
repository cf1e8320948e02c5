/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/option.h"
#include "core/error.h"
#include "core/util.h"

struct values {
    struct option_texts files;
    uint64_t size, time, count, seed;
    unsigned word;
    const char *name, *text;
    bool flag;
};

static const char *const words[] = {"red", "green", "blue", NULL};

static const char *name_at(size_t index)
{
    static const char *const names[] = {"alpha", "beta"};

    return index < ARRAY_SIZE(names) ? names[index] : NULL;
}

#define AT(field) .offset = offsetof(struct values, field)

static const struct option rows[] = {
    {.name = "file", .metavar = "FILE", .kind = OPTION_TEXTS, AT(files)},
    {.name = "size", .metavar = "SIZE", .kind = OPTION_SIZE, AT(size), .min = 1, .max = 1 << 30, .default_text = "1M"},
    {.name = "time", .metavar = "TIME", .kind = OPTION_SECONDS, AT(time), .default_text = "10", .conflicts = "count"},
    {.name = "count", .metavar = "COUNT", .kind = OPTION_COUNT, AT(count), .min = 2},
    {.name = "seed", .metavar = "NUMBER", .kind = OPTION_SEED, AT(seed), .absent = "drawn"},
    {.name = "word", .metavar = "WORD", .kind = OPTION_CHOICE, AT(word), .choices = words, .default_text = "green"},
    {.name = "name", .metavar = "NAME", .kind = OPTION_NAME, AT(name), .names = name_at, .default_text = "alpha"},
    {.name = "text", .metavar = "TEXT", .kind = OPTION_TEXT, AT(text)},
    {.name = "flag", .kind = OPTION_FLAG, AT(flag)},
    {0},
};

static const struct option strict_rows[] = {
    {.name = "size", .metavar = "SIZE", .kind = OPTION_SIZE, AT(size), .required = true},
    {0},
};

#define ARGV(...)                                                                                                      \
    (char *[]){"command", __VA_ARGS__, NULL}, (int)(sizeof((char *[]){"command", __VA_ARGS__}) / sizeof(char *))

static int parse(struct values *v, struct option_result *r, struct spur_error *e, char **argv, int argc)
{
    memset(v, 0, sizeof(*v));
    memset(e, 0, sizeof(*e));
    return option_parse(rows, argc, argv, v, r, e);
}

static void defaults_are_parsed(void **state)
{
    char *argv[] = {"command", NULL};
    struct option_result r;
    struct spur_error e;
    struct values v;

    assert_int_equal(parse(&v, &r, &e, argv, 1), 0);
    assert_int_equal(v.size, 1 << 20);
    assert_int_equal(v.time, 10000000000);
    assert_int_equal(v.word, 1);
    assert_string_equal(v.name, "alpha");
    assert_null(v.text);
    assert_false(v.flag);
    assert_int_equal(v.files.n_items, 0);
    assert_int_equal(r.given, 0);
    assert_false(option_given(&r, "size"));
    option_result_free(&r);
}

static void both_forms_are_taken(void **state)
{
    struct option_result r;
    struct spur_error e;
    struct values v;

    assert_int_equal(parse(&v, &r, &e,
                           ARGV("--size", "4K", "--word=blue", "--name", "beta", "--flag", "--text=a=b", "--file", "x",
                                "--file=--flag", "--seed", "18446744073709551615")),
                     0);
    assert_int_equal(v.size, 4096);
    assert_int_equal(v.word, 2);
    assert_string_equal(v.name, "beta");
    assert_true(v.flag);
    assert_string_equal(v.text, "a=b");
    assert_int_equal(v.files.n_items, 2);
    assert_string_equal(v.files.items[0], "x");
    assert_string_equal(v.files.items[1], "--flag");
    assert_int_equal(v.seed, UINT64_MAX);
    assert_true(option_given(&r, "size") && option_given(&r, "file") && !option_given(&r, "count"));
    option_result_free(&r);
    assert_null(v.files.items);
}

/* Bytes pass through untouched, and after "--" nothing is an option. */
static void arguments_stay_as_they_are(void **state)
{
    struct option_result r;
    struct spur_error e;
    struct values v;

    assert_int_equal(parse(&v, &r, &e, ARGV("a\n\xff", "--flag", "-", "--", "-x", "--size", "--")), 0);
    assert_int_equal(r.n_arguments, 5);
    assert_string_equal(r.arguments[0], "a\n\xff");
    assert_string_equal(r.arguments[1], "-");
    assert_string_equal(r.arguments[2], "-x");
    assert_string_equal(r.arguments[3], "--size");
    assert_string_equal(r.arguments[4], "--");
    assert_true(v.flag);
    assert_int_equal(v.size, 1 << 20);
    option_result_free(&r);
}

static void help_ends_parsing(void **state)
{
    struct option_result r;
    struct spur_error e;
    struct values v;

    assert_int_equal(parse(&v, &r, &e, ARGV("--help", "--nonsense")), 0);
    assert_true(r.help);
    option_result_free(&r);
    assert_int_equal(parse(&v, &r, &e, ARGV("--", "--help")), 0);
    assert_false(r.help);
    option_result_free(&r);
}

static void refused(const char *detail, const char *remedy, char **argv, int argc)
{
    struct option_result r;
    struct spur_error e;
    struct values v;

    assert_int_equal(parse(&v, &r, &e, argv, argc), -EINVAL);
    assert_string_equal(e.detail, detail);
    assert_string_equal(e.remedy, remedy);
    assert_int_equal(exit_code_of(&e), EXIT_USAGE);
}

static void errors_name_cause_and_remedy(void **state)
{
    refused("unknown option --szie", "did you mean --size?", ARGV("--szie", "1"));
    refused("unknown option --szie", "did you mean --size?", ARGV("--szie=1"));
    refused("unknown option --frobnicate", "--help lists the options", ARGV("--frobnicate"));
    refused("unknown option -size", "options begin with two dashes: --size", ARGV("-size", "1"));
    refused("unknown option -x", "options have long names only; a file name that begins with a dash goes after --",
            ARGV("-x"));
    refused("--size: its value is missing: --size SIZE", "", ARGV("--size"));
    refused("--size: '': a number is missing", "", ARGV("--size="));
    refused("--text: its value is empty", "", ARGV("--text="));
    refused("--size is given twice", "", ARGV("--size", "1", "--size=1"));
    refused("--flag is given twice", "", ARGV("--flag", "--flag"));
    refused("--flag takes no value", "", ARGV("--flag=yes"));
    refused("--size: 0 is below the least value, 1", "", ARGV("--size", "0"));
    refused("--size: 2G is above the greatest value, 1G", "", ARGV("--size", "2G"));
    refused("--count: 1 is below the least value, 2", "", ARGV("--count", "1"));
    refused("--time and --count exclude each other", "", ARGV("--time", "1", "--count", "2"));
    refused("--time and --count exclude each other", "", ARGV("--count", "2", "--time", "1"));
    refused("--word: 'gren' is not known", "did you mean green?", ARGV("--word", "gren"));
    refused("--word: 'x' is not known", "one of: red, green, blue", ARGV("--word", "x"));
    refused("--name: 'bta' is not known", "did you mean beta?", ARGV("--name", "bta"));
}

static void what_is_required_must_be_given(void **state)
{
    char *argv[] = {"command", NULL};
    struct option_result r;
    struct spur_error e = {0};
    struct values v = {0};

    assert_int_equal(option_parse(strict_rows, 1, argv, &v, &r, &e), -EINVAL);
    assert_string_equal(e.detail, "--size SIZE is required");
}

static void ranges_in_words(void **state)
{
    char text[100];

    assert_string_equal(option_range_text(&rows[1], text, sizeof(text)), "1 to 1G");
    assert_string_equal(option_range_text(&rows[3], text, sizeof(text)), "at least 2");
    assert_string_equal(option_range_text(&rows[5], text, sizeof(text)), "red, green, blue");
    assert_string_equal(option_range_text(&rows[6], text, sizeof(text)), "alpha, beta");
    assert_string_equal(option_range_text(&rows[7], text, sizeof(text)), "");
}

static void messages_are_one_line(void **state)
{
    struct spur_error e = {0};
    char text[2400];

    error_errno(&e, ENOENT, "open", "a\nb\x01\xff");
    assert_int_equal(exit_code_of(&e), EXIT_FAILED);
    error_remedy(&e, "make it first");
    exit_message("run", &e, text, sizeof(text));
    assert_string_equal(text, "spur run: a\\nb\\x01\xff: No such file or directory (open); make it first");
    error_spur(&e, SPUR_CODE_REFUSED, "file", "x: is a FIFO");
    assert_int_equal(exit_code_of(&e), EXIT_REFUSED);
    exit_message(NULL, &e, text, sizeof(text));
    assert_string_equal(text, "spur: x: is a FIFO");
    error_spur(&e, SPUR_CODE_MISMATCH, "verify", "x");
    assert_int_equal(exit_code_of(&e), EXIT_FAILED);
    error_errno(&e, ENODEV, "dlopen", "libx.so");
    assert_int_equal(exit_code_of(&e), EXIT_REFUSED);
    error_errno(&e, ENODEV, "read", "x");
    assert_int_equal(exit_code_of(&e), EXIT_FAILED);
    error_foreign(&e, SPUR_SOURCE_CUDA, 100, -ENODEV, "cuInit", "no GPU");
    assert_int_equal(exit_code_of(&e), EXIT_REFUSED);
    error_foreign(&e, SPUR_SOURCE_CUDA, 2, -ENOMEM, "cuMemAlloc_v2", "no memory");
    assert_int_equal(exit_code_of(&e), EXIT_FAILED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_parsed),
        cmocka_unit_test(both_forms_are_taken),
        cmocka_unit_test(arguments_stay_as_they_are),
        cmocka_unit_test(help_ends_parsing),
        cmocka_unit_test(errors_name_cause_and_remedy),
        cmocka_unit_test(what_is_required_must_be_given),
        cmocka_unit_test(ranges_in_words),
        cmocka_unit_test(messages_are_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
