/* SPDX-License-Identifier: MIT */
/* Lists, ranges and numbers of one key. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/units.h"
#include "core/util.h"
#include "plan/parts.h"

/* ------------------------------------------------------------------------------------------------
 * Lists
 */

/* From after the opening quote; *p is then after the closing one. */
static int quoted(const char **p, char **ret, struct spur_error *e)
{
    const char *s = *p;
    char *out = malloc(strlen(s) + 1);
    size_t n = 0;

    if (!out)
        return plan_no_memory(e);
    for (; *s && (*s != '"' || s[1] == '"'); s++) {
        s += *s == '"';
        out[n++] = *s;
    }
    out[n] = 0;
    if (!*s) {
        free(out);
        return error_spur(e, SPUR_CODE_USAGE, "plan", "'\"%.200s': the double quote is not closed", *p);
    }
    *p = s + 1;
    *ret = out;
    return 0;
}

static const char *skip_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

static int quoted_value(const char **p, char **ret, struct spur_error *e)
{
    const char *s = *p + 1;
    char *value = NULL;
    int r = quoted(&s, &value, e);

    if (r < 0)
        return r;
    s = skip_blanks(s);
    if (*s && *s != ',') {
        free(value);
        return error_spur(e, SPUR_CODE_USAGE, "plan", "'%.200s': only a comma can follow a closing quote", *p);
    }
    *p = s;
    *ret = value;
    return 0;
}

int plan_list_next(const char **p, char **ret, struct spur_error *e)
{
    const char *s = skip_blanks(*p);
    size_t n = strcspn(s, ",");
    char *value = NULL;
    int r;

    if (*s == '"') {
        r = quoted_value(&s, &value, e);
        if (r < 0)
            return r;
    } else {
        value = plan_trim(s, n);
        if (!value)
            return plan_no_memory(e);
        s += n;
    }
    if (!*value) {
        free(value);
        return error_spur(e, SPUR_CODE_USAGE, "plan", "a value is missing");
    }
    *p = s;
    *ret = value;
    return 0;
}

int plan_list_split(const char *text, char ***ret, size_t *ret_n, struct spur_error *e)
{
    const char *p = text;
    char **list = NULL;
    size_t n = 0;

    for (bool more = true; more; p++) {
        char *value;
        int r = plan_list_next(&p, &value, e);
        char **grown = r < 0 ? NULL : plan_grow(list, &n, sizeof(*list));

        if (!grown) {
            if (!r)
                free(value);
            plan_list_free(list, n);
            return r < 0 ? r : plan_no_memory(e);
        }
        list = grown;
        list[n - 1] = value;
        more = *p == ',';
    }
    *ret = list;
    *ret_n = n;
    return 0;
}

void plan_list_free(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static bool needs_quotes(const char *value)
{
    size_t n = strlen(value);

    return !n || strpbrk(value, ",\";") || isspace((unsigned char)value[0]) || isspace((unsigned char)value[n - 1]);
}

void plan_list_write(FILE *out, const char *value)
{
    if (!needs_quotes(value)) {
        fputs(value, out);
        return;
    }
    fputc('"', out);
    for (; *value; value++)
        fputs(*value == '"' ? "\"\"" : (char[]){*value, 0}, out);
    fputc('"', out);
}

/* ------------------------------------------------------------------------------------------------
 * Values
 */

struct values {
    const struct plan_key *key;
    struct experiment_value *items;
    uint64_t *exact; /* a double does not tell all of them apart */
    size_t n;
};

void plan_values_free(struct experiment_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(values[i].text);
    free(values);
}

static int parse(const char *text, const struct plan_key *key, uint64_t *ret, struct spur_error *e)
{
    switch (key->unit) {
    case UNIT_BYTES:
        return units_parse_bytes(text, ret, e);
    case UNIT_NS:
        return units_parse_time(text, key->plain_seconds, ret, e);
    case UNIT_PERCENT:
        return units_parse_percent(text, ret, e);
    default:
        return units_parse_count(text, ret, e);
    }
}

static const char *format(uint64_t value, const struct plan_key *key, char *ret_text)
{
    if (key->unit == UNIT_BYTES)
        return units_format_size(value, ret_text);
    if (key->unit == UNIT_NS)
        return units_format_duration(value, ret_text);
    snprintf(ret_text, UNITS_TEXT, "%llu", (unsigned long long)value);
    return ret_text;
}

static bool same(const struct values *v, size_t i, const char *text, double number, uint64_t exact)
{
    if (isnan(number))
        return isnan(v->items[i].number) && !strcmp(v->items[i].text, text);
    return !isnan(v->items[i].number) && v->exact[i] == exact;
}

/* Unless it is there already. */
static int add(struct values *v, const char *text, double number, uint64_t exact, struct spur_error *e)
{
    for (size_t i = 0; i < v->n; i++)
        if (same(v, i, text, number, exact))
            return 0;
    if (v->n == PLAN_MAX_VALUES)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "more than %u values", PLAN_MAX_VALUES);
    v->items[v->n] = (struct experiment_value){strdup(text), number};
    v->exact[v->n] = exact;
    if (!v->items[v->n].text)
        return plan_no_memory(e);
    v->n++;
    return 0;
}

static int add_number(struct values *v, uint64_t number, struct spur_error *e)
{
    char text[UNITS_TEXT];

    return add(v, format(number, v->key, text), (double)number, number, e);
}

/* Settings take words such as "auto" beside numbers. */
static bool is_word(const char *text, const struct plan_key *key)
{
    return key->unit == UNIT_NONE || (key->kind == PLAN_KEY_SETTING && !isdigit((unsigned char)*text) && *text != '-');
}

static int add_one(struct values *v, const char *text, struct spur_error *e)
{
    uint64_t number;
    int r;

    if (is_word(text, v->key))
        return add(v, text, NAN, 0, e);
    r = parse(text, v->key, &number, e);
    return r < 0 ? r : add(v, text, (double)number, number, e);
}

static int rise(struct values *v, uint64_t a, uint64_t b, uint64_t factor, struct spur_error *e)
{
    int r = 0;

    for (uint64_t value = a; value < b && !r;) {
        r = add_number(v, value, e);
        if (__builtin_mul_overflow(value, factor, &value))
            break;
    }
    return r ? r : add_number(v, b, e);
}

static int fall(struct values *v, uint64_t a, uint64_t b, uint64_t factor, struct spur_error *e)
{
    int r = 0;

    for (uint64_t value = a; value > b && !r; value /= factor)
        r = add_number(v, value, e);
    return r ? r : add_number(v, b, e);
}

static int bad_range(struct spur_error *e, const char *text, const char *reason)
{
    return error_spur(e, SPUR_CODE_USAGE, "plan", "range '%.200s': %s", text, reason);
}

static int parse_factor(const char *range, const char *text, uint64_t *ret, struct spur_error *e)
{
    int r = units_parse_count(text, ret, e);

    if (r < 0)
        return plan_at(e, "factor of a range", r);
    return *ret < 2 ? bad_range(e, range, "its factor must be at least 2") : 0;
}

/* "a..b", "a..b*k"; @text is cut up. */
static int add_range(struct values *v, const char *range, char *text, struct spur_error *e)
{
    char *end = strstr(text, ".."), *star;
    uint64_t a, b, factor = 2;
    int r;

    *end = 0;
    end += 2;
    star = strchr(end, '*');
    if (star) {
        *star = 0;
        r = parse_factor(range, star + 1, &factor, e);
        if (r < 0)
            return r;
    }
    r = parse(text, v->key, &a, e);
    if (!r)
        r = parse(end, v->key, &b, e);
    if (r < 0)
        return r;
    if (!a && b)
        return bad_range(e, range, "it multiplies, so it cannot rise from 0; list the 0 apart");
    return a > b ? fall(v, a, b, factor, e) : rise(v, a, b, factor, e);
}

static int add_text(struct values *v, const char *text, struct spur_error *e)
{
    _cleanup_free_ char *copy = NULL;

    if (is_word(text, v->key) || !strstr(text, ".."))
        return add_one(v, text, e);
    copy = strdup(text);
    return copy ? add_range(v, text, copy, e) : plan_no_memory(e);
}

int plan_values(const char *text, const struct plan_key *key, struct experiment_value **ret, size_t *ret_n,
                struct spur_error *e)
{
    _cleanup_free_ uint64_t *exact = calloc(PLAN_MAX_VALUES, sizeof(*exact));
    struct values v = {.key = key, .exact = exact, .items = calloc(PLAN_MAX_VALUES, sizeof(*v.items))};
    char **list = NULL;
    size_t n = 0;
    int r = v.exact && v.items ? plan_list_split(text, &list, &n, e) : plan_no_memory(e);

    for (size_t i = 0; i < n && !r; i++)
        r = add_text(&v, list[i], e);
    plan_list_free(list, n);
    if (r < 0) {
        plan_values_free(v.items, v.n);
        return r;
    }
    *ret = v.items;
    *ret_n = v.n;
    return 0;
}
