/* SPDX-License-Identifier: MIT */
#include "core/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"

struct suffix {
    const char *name;
    uint64_t factor;
};

static const struct suffix size_suffixes[] = {
    {"K", 1ull << 10},
    {"k", 1ull << 10},
    {"KiB", 1ull << 10},
    {"M", 1ull << 20},
    {"m", 1ull << 20},
    {"g", 1ull << 30},
    {"MiB", 1ull << 20},
    {"G", 1ull << 30},
    {"GiB", 1ull << 30},
    {"T", 1ull << 40},
    {"t", 1ull << 40},
    {"TiB", 1ull << 40},
    {"B", 1},
};

static const struct suffix time_suffixes[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000u},
    {"m", 60 * 1000000000ull},
    {"h", 3600 * 1000000000ull},
};

static int bad(struct spur_error *e, const char *text, const char *reason)
{
    return error_spur(e, SPUR_CODE_USAGE, "option", "'%s': %s", text, reason);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number at the start of @text; *ret_rest is what follows. Reasons that do not depend on the unit are given here.
 */
static int parse_number(const char *text, uint64_t *ret_value, const char **ret_rest, struct spur_error *e)
{
    const char *p = text;
    uint64_t value = 0;

    if (!*text)
        return bad(e, text, "a number is missing");
    if (*text == '-')
        return bad(e, text, "it cannot be negative");
    if (!is_digit(*text))
        return bad(e, text, "it does not begin with a digit");
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return bad(e, text, "decimal digits only");
    for (; is_digit(*p); p++)
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (unsigned)(*p - '0'), &value))
            return bad(e, text, "too large: 2^64 and more cannot be counted");
    if ((*p == 'e' || *p == 'E') && (is_digit(p[1]) || p[1] == '+' || p[1] == '-'))
        return bad(e, text, "no exponents: write the number out");
    *ret_value = value;
    *ret_rest = p;
    return 0;
}

static const struct suffix *find_suffix(const struct suffix *rows, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static int scale(const char *text, uint64_t value, uint64_t factor, uint64_t *ret, struct spur_error *e)
{
    if (__builtin_mul_overflow(value, factor, &value))
        return bad(e, text, "too large: 2^64 and more cannot be counted");
    *ret = value;
    return 0;
}

/* "1.5M" -> "whole numbers only: 1536K"; without the proposal where it would not be exact. */
static int bad_fraction(struct spur_error *e, const char *text, uint64_t whole, const char *fraction,
                        const struct suffix *rows, size_t n, uint64_t step, const char *smaller[])
{
    uint64_t digits = 0, scale10 = 1;
    const char *p = fraction;
    const struct suffix *s;
    uint64_t parts;

    for (; is_digit(*p) && scale10 < 1000000; p++) {
        digits = digits * 10 + (unsigned)(*p - '0');
        scale10 *= 10;
    }
    s = find_suffix(rows, n, p);
    if (!s || s->factor == 1 || whole > UINT64_MAX / step / 2 || digits * step % scale10)
        return bad(e, text, "whole numbers only");
    parts = whole * step + digits * step / scale10;
    return error_spur(e, SPUR_CODE_USAGE, "option", "'%s': whole numbers only: %llu%s", text, (unsigned long long)parts,
                      smaller[s - rows]);
}

static int bad_size(struct spur_error *e, const char *text, const char *rest)
{
    if (*rest == ' ' || *rest == '\t')
        return bad(e, text, "no space between the number and its unit");
    if (*rest == '%')
        return bad(e, text, "a percentage is no size");
    if (strlen(rest) == 2 && strchr("KMGTkmgt", rest[0]) && (rest[1] == 'B' || rest[1] == 'b'))
        return error_spur(e, SPUR_CODE_USAGE, "option",
                          "'%s': %s is ambiguous (powers of 1000 or of 1024?): write %ciB, or the number of bytes",
                          text, rest, rest[0] & ~0x20);
    return error_spur(e, SPUR_CODE_USAGE, "option", "'%s': '%s' is no unit of size: K, M, G, T (powers of 1024)", text,
                      rest);
}

int units_parse_bytes(const char *text, uint64_t *ret_bytes, struct spur_error *e)
{
    static const char *smaller[ARRAY_SIZE(size_suffixes)] = {"", "", "", "K", "K", "M", "K", "M", "M", "G", "G", "G"};
    const struct suffix *s;
    const char *rest;
    uint64_t value;
    int r = parse_number(text, &value, &rest, e);

    if (r < 0)
        return r;
    if (!*rest) {
        *ret_bytes = value;
        return 0;
    }
    if (*rest == '.')
        return bad_fraction(e, text, value, rest + 1, size_suffixes, ARRAY_SIZE(size_suffixes), 1024, smaller);
    s = find_suffix(size_suffixes, ARRAY_SIZE(size_suffixes), rest);
    return s ? scale(text, value, s->factor, ret_bytes, e) : bad_size(e, text, rest);
}

int units_parse_time(const char *text, bool plain_seconds, uint64_t *ret_ns, struct spur_error *e)
{
    const struct suffix *s;
    const char *rest;
    uint64_t value;
    int r = parse_number(text, &value, &rest, e);

    if (r < 0)
        return r;
    if (!*rest && (plain_seconds || !value))
        return scale(text, value, 1000000000u, ret_ns, e);
    if (!*rest)
        return bad(e, text, "its unit is missing: ns, us, ms, s, m or h");
    if (*rest == '.')
        return bad(e, text, "whole numbers only: use a smaller unit");
    if (*rest == ' ' || *rest == '\t')
        return bad(e, text, "no space between the number and its unit");
    s = find_suffix(time_suffixes, ARRAY_SIZE(time_suffixes), rest);
    if (!s)
        return error_spur(e, SPUR_CODE_USAGE, "option", "'%s': '%s' is no unit of time: ns, us, ms, s, m or h", text,
                          rest);
    return scale(text, value, s->factor, ret_ns, e);
}

int units_parse_count(const char *text, uint64_t *ret_count, struct spur_error *e)
{
    const char *rest;
    uint64_t value;
    int r = parse_number(text, &value, &rest, e);

    if (r < 0)
        return r;
    if (*rest == '.')
        return bad(e, text, "whole numbers only");
    if (*rest)
        return error_spur(e, SPUR_CODE_USAGE, "option", "'%s': a plain number without '%s'", text, rest);
    *ret_count = value;
    return 0;
}

int units_parse_percent(const char *text, uint64_t *ret_percent, struct spur_error *e)
{
    const char *rest;
    uint64_t value;
    int r = parse_number(text, &value, &rest, e);

    if (r < 0)
        return r;
    if (*rest && strcmp(rest, "%"))
        return bad(e, text, "a whole percentage, 0 to 100");
    if (value > 100)
        return bad(e, text, "more than 100 %");
    *ret_percent = value;
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Back to text
 */

static const char *const size_words[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

/* Three significant digits, never "1.00e+03". */
static void three_digits(double value, char *ret, size_t size)
{
    snprintf(ret, size, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

char *units_format_bytes(uint64_t bytes, char *ret_text)
{
    unsigned exact = bytes ? (unsigned)__builtin_ctzll(bytes) / 10 : 0;
    unsigned unit = bytes ? (63u - (unsigned)__builtin_clzll(bytes)) / 10 : 0;
    char number[16];

    if (unit && exact && bytes >> (exact * 10) < 10000) {
        snprintf(ret_text, UNITS_TEXT, "%llu %s", (unsigned long long)(bytes >> (exact * 10)), size_words[exact]);
    } else if (unit < 2) {
        snprintf(ret_text, UNITS_TEXT, "%llu byte%s", (unsigned long long)bytes, bytes == 1 ? "" : "s");
    } else {
        three_digits((double)bytes / (double)(1ull << (unit * 10)), number, sizeof(number));
        snprintf(ret_text, UNITS_TEXT, "%s %s", number, size_words[unit]);
    }
    return ret_text;
}

char *units_format_mean_bytes(double bytes, char *ret_text)
{
    uint64_t whole = (uint64_t)(bytes + 0.5);
    char number[16];

    if (whole < 1024 || whole >= 1 << 20 || whole % 1024 == 0)
        return units_format_bytes(whole, ret_text);
    three_digits(bytes / 1024, number, sizeof(number));
    snprintf(ret_text, UNITS_TEXT, "%s KiB", number);
    return ret_text;
}

char *units_format_size(uint64_t bytes, char *ret_text)
{
    unsigned unit = bytes ? (unsigned)__builtin_ctzll(bytes) / 10 : 0;

    if (unit > 4)
        unit = 4;
    snprintf(ret_text, UNITS_TEXT, "%llu%.1s", (unsigned long long)(bytes >> (unit * 10)),
             unit ? size_words[unit] : "");
    return ret_text;
}

char *units_format_rate(double bytes_per_second, char *ret_text)
{
    double unit = bytes_per_second >= 1024.0 * 1024 * 1024 ? 1024.0 * 1024 * 1024 : 1024.0 * 1024;
    char number[24];

    three_digits(bytes_per_second / unit, number, sizeof(number));
    snprintf(ret_text, UNITS_TEXT, "%s %s", number, unit > 1024.0 * 1024 ? "GiB/s" : "MiB/s");
    return ret_text;
}

static char *format_long_time(uint64_t seconds, char *ret_text)
{
    unsigned long long s = seconds;

    if (s >= 3600)
        snprintf(ret_text, UNITS_TEXT, "%llu h %llu m", s / 3600, s % 3600 / 60);
    else
        snprintf(ret_text, UNITS_TEXT, "%llu m %llu s", s / 60, s % 60);
    return ret_text;
}

char *units_format_time(uint64_t ns, char *ret_text)
{
    static const char *const words[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    unsigned unit = 0;
    char number[24];

    if (ns >= 100 * 1000000000ull)
        return format_long_time((ns + 500000000u) / 1000000000u, ret_text);
    if (ns < 1000) {
        snprintf(ret_text, UNITS_TEXT, "%llu ns", (unsigned long long)ns);
        return ret_text;
    }
    while (value >= 999.5 && unit < 3) {
        value /= 1000;
        unit++;
    }
    three_digits(value, number, sizeof(number));
    snprintf(ret_text, UNITS_TEXT, "%s %s", number, words[unit]);
    return ret_text;
}

char *units_format_duration(uint64_t ns, char *ret_text)
{
    size_t i = ARRAY_SIZE(time_suffixes) - 1;

    while (i > 0 && ns % time_suffixes[i].factor)
        i--;
    if (!ns)
        i = 3;
    snprintf(ret_text, UNITS_TEXT, "%llu%s", (unsigned long long)(ns / time_suffixes[i].factor), time_suffixes[i].name);
    return ret_text;
}
