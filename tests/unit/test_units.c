/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cli/nearest.h"
#include "core/units.h"
#include "core/util.h"

struct good {
    const char *text;
    uint64_t value;
};

static void sizes_are_powers_of_1024(void **state)
{
    static const struct good rows[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"4096B", 4096},
        {"4K", 4096},
        {"4k", 4096},
        {"4KiB", 4096},
        {"1M", 1 << 20},
        {"16MiB", 16 << 20},
        {"16m", 16 << 20},
        {"8G", 8ull << 30},
        {"8g", 8ull << 30},
        {"2T", 2ull << 40},
        {"2t", 2ull << 40},
        {"2TiB", 2ull << 40},
        {"007", 7},
        {"18446744073709551615", UINT64_MAX},
        {"16777215T", 16777215ull << 40},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint64_t value = 1234567;

        assert_int_equal(units_parse_bytes(rows[i].text, &value, NULL), 0);
        assert_int_equal(value, rows[i].value);
    }
}

struct bad {
    const char *text;
    const char *reason; /* must be in the detail */
};

typedef int (*parse_fn)(const char *text, uint64_t *ret, struct spur_error *e);

static void refuse_all(parse_fn parse, const struct bad *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct spur_error e = {0};
        uint64_t value = 1234567;

        assert_int_equal(parse(rows[i].text, &value, &e), -EINVAL);
        assert_int_equal(value, 1234567); /* written only on success */
        assert_int_equal(e.source, SPUR_SOURCE_SPUR);
        assert_int_equal(e.code, SPUR_CODE_USAGE);
        if (!strstr(e.detail, rows[i].reason))
            fail_msg("'%s' gives \"%s\", not \"%s\"", rows[i].text, e.detail, rows[i].reason);
    }
}

static void bad_sizes_have_one_reason(void **state)
{
    static const struct bad rows[] = {
        {"", "missing"},
        {" ", "begin with a digit"},
        {"-1", "negative"},
        {"+1", "begin with a digit"},
        {"K", "begin with a digit"},
        {"1e3", "exponents"},
        {"1E+3", "exponents"},
        {"0x10", "decimal"},
        {"300%", "percentage"},
        {"4KB", "ambiguous"},
        {"4kb", "ambiguous"},
        {"4Mb", "ambiguous"},
        {"4 KiB", "no space"},
        {"4K ", "no unit"},
        {"4 ", "no space"},
        {"1.5M", "whole numbers only: 1536K"},
        {"0.5G", "whole numbers only: 512M"},
        {"1.25KiB", "whole numbers only: 1280"},
        {"1.3M", "whole numbers only"},
        {"1.", "whole numbers only"},
        {"4P", "no unit"},
        {"4Ki", "no unit"},
        {"4KiBx", "no unit"},
        {"4K4", "no unit"},
        {"18446744073709551616", "too large"},
        {"99999999999999999999999", "too large"},
        {"99999999T", "too large"},
        {"16777216T", "too large"},
    };

    refuse_all(units_parse_bytes, rows, ARRAY_SIZE(rows));
}

static int parse_strict_time(const char *text, uint64_t *ret, struct spur_error *e)
{
    return units_parse_time(text, false, ret, e);
}

static void times_are_in_nanoseconds(void **state)
{
    static const struct good rows[] = {
        {"0", 0},
        {"5ns", 5},
        {"500us", 500000},
        {"250ms", 250000000},
        {"10s", 10000000000},
        {"1m", 60000000000},
        {"2h", 7200000000000},
    };
    static const struct bad bad[] = {
        {"", "missing"},      {"10", "unit is missing"}, {"-1s", "negative"},  {"1.5s", "whole numbers"},
        {"10 s", "no space"}, {"10d", "no unit"},        {"10sec", "no unit"}, {"1e3s", "exponents"},
        {"10S", "no unit"},   {"6000000h", "too large"}, {"1h30m", "no unit"},
    };
    uint64_t value;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(units_parse_time(rows[i].text, false, &value, NULL), 0);
        assert_int_equal(value, rows[i].value);
    }
    refuse_all(parse_strict_time, bad, ARRAY_SIZE(bad));
    assert_int_equal(units_parse_time("10", true, &value, NULL), 0);
    assert_int_equal(value, 10000000000);
}

static void counts_and_percentages(void **state)
{
    static const struct bad counts[] = {
        {"", "missing"}, {"-1", "negative"}, {"1.0", "whole"}, {"4K", "plain number"}, {"8 ", "plain number"},
    };
    static const struct bad percentages[] = {{"101", "100"}, {"300%", "100"}, {"7%%", "whole"}, {"7.5", "whole"}};
    uint64_t value;

    assert_int_equal(units_parse_count("18446744073709551615", &value, NULL), 0);
    assert_int_equal(value, UINT64_MAX);
    refuse_all(units_parse_count, counts, ARRAY_SIZE(counts));
    assert_int_equal(units_parse_percent("70", &value, NULL), 0);
    assert_int_equal(value, 70);
    assert_int_equal(units_parse_percent("100%", &value, NULL), 0);
    assert_int_equal(value, 100);
    refuse_all(units_parse_percent, percentages, ARRAY_SIZE(percentages));
}

static void bytes_are_exact_where_they_can_be(void **state)
{
    char text[UNITS_TEXT];

    assert_string_equal(units_format_bytes(0, text), "0 bytes");
    assert_string_equal(units_format_bytes(1, text), "1 byte");
    assert_string_equal(units_format_bytes(1000, text), "1000 bytes");
    assert_string_equal(units_format_bytes(4096, text), "4 KiB");
    assert_string_equal(units_format_bytes(16 << 20, text), "16 MiB");
    assert_string_equal(units_format_bytes(1536ull << 20, text), "1536 MiB");
    assert_string_equal(units_format_bytes(1000000000, text), "954 MiB");
    assert_string_equal(units_format_bytes(8ull << 30, text), "8 GiB");
    assert_string_equal(units_format_bytes((8ull << 30) + 1, text), "8.00 GiB");
    assert_string_equal(units_format_bytes(UINT64_MAX, text), "16.0 EiB");
    assert_string_equal(units_format_mean_bytes(700.4, text), "700 bytes");
    assert_string_equal(units_format_mean_bytes(5000, text), "4.88 KiB");
    assert_string_equal(units_format_mean_bytes(65536.3, text), "64 KiB");
    assert_string_equal(units_format_mean_bytes(1033735, text), "1010 KiB");
    assert_string_equal(units_format_mean_bytes(1048575.9, text), "1 MiB");
    assert_string_equal(units_format_mean_bytes(1500000, text), "1.43 MiB");
}

/* What is shown as a limit or a default must be taken as an option, and mean the same. */
static void sizes_and_durations_come_back(void **state)
{
    static const uint64_t values[] = {0,       1,          999,         1000,          4096,        1536 << 10, 1000000,
                                      1 << 20, 8ull << 30, 60000000000, 7200000000000, 10000000001, UINT64_MAX};
    char text[UNITS_TEXT];
    uint64_t back;

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        assert_int_equal(units_parse_bytes(units_format_size(values[i], text), &back, NULL), 0);
        assert_int_equal(back, values[i]);
        assert_int_equal(units_parse_time(units_format_duration(values[i], text), false, &back, NULL), 0);
        assert_int_equal(back, values[i]);
    }
    assert_string_equal(units_format_size(1536 << 10, text), "1536K");
    assert_string_equal(units_format_duration(10000000000, text), "10s");
}

static void times_and_rates_have_three_digits(void **state)
{
    char text[UNITS_TEXT];

    assert_string_equal(units_format_time(0, text), "0 ns");
    assert_string_equal(units_format_time(999, text), "999 ns");
    assert_string_equal(units_format_time(12345, text), "12.3 us");
    assert_string_equal(units_format_time(999999, text), "1.00 ms");
    assert_string_equal(units_format_time(4560000, text), "4.56 ms");
    assert_string_equal(units_format_time(99900000000, text), "99.9 s");
    assert_string_equal(units_format_time(125000000000, text), "2 m 5 s");
    assert_string_equal(units_format_time(11520000000000, text), "3 h 12 m");
    assert_string_equal(units_format_rate(0, text), "0.00 MiB/s");
    assert_string_equal(units_format_rate(12.3 * 1048576, text), "12.3 MiB/s");
    assert_string_equal(units_format_rate(1.95 * 1073741824, text), "1.95 GiB/s");
    assert_string_equal(units_format_rate(43.0 * 1073741824, text), "43.0 GiB/s");
}

static void the_nearest_name_is_proposed(void **state)
{
    static const char *const names[] = {"null", "buffered", "mmap", "odirect", "fanout", NULL};

    assert_int_equal(nearest_distance("", ""), 0);
    assert_int_equal(nearest_distance("abc", ""), 3);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
    assert_int_equal(nearest_distance("szie", "size"), 1); /* a swap is one error */
    assert_string_equal(nearest_in("odirct", names), "odirect");
    assert_string_equal(nearest_in("ODIRECT", names), "odirect");
    assert_string_equal(nearest_in("buf", names), "buffered");
    assert_string_equal(nearest_in("nul", names), "null");
    assert_null(nearest_in("cufile", names));
    assert_null(nearest_in("", names));
    assert_null(nearest_in("x", names));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_powers_of_1024),          cmocka_unit_test(bad_sizes_have_one_reason),
        cmocka_unit_test(times_are_in_nanoseconds),          cmocka_unit_test(counts_and_percentages),
        cmocka_unit_test(bytes_are_exact_where_they_can_be), cmocka_unit_test(sizes_and_durations_come_back),
        cmocka_unit_test(times_and_rates_have_three_digits), cmocka_unit_test(the_nearest_name_is_proposed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
