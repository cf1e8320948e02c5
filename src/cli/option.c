/* SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/error.h"
#include "core/util.h"

size_t option_count(const struct option *rows)
{
    size_t n = 0;

    while (rows && rows[n].name)
        n++;
    return n;
}

static const struct option *find_row(const struct option *rows, const char *name, size_t length)
{
    for (size_t i = 0; rows && rows[i].name; i++)
        if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length))
            return &rows[i];
    return NULL;
}

bool option_given(const struct option_result *result, const char *name)
{
    const struct option *row = find_row(result->rows, name, strlen(name));

    return row && (result->given >> (row - result->rows) & 1);
}

/* ------------------------------------------------------------------------------------------------
 * Values
 */

static bool is_number(const struct option *row)
{
    return row->kind == OPTION_SIZE || row->kind == OPTION_TIME || row->kind == OPTION_SECONDS ||
           row->kind == OPTION_COUNT || row->kind == OPTION_PERCENT || row->kind == OPTION_SEED;
}

static void format_number(const struct option *row, uint64_t value, char *ret_text)
{
    if (row->kind == OPTION_SIZE)
        units_format_size(value, ret_text);
    else if (row->kind == OPTION_TIME || row->kind == OPTION_SECONDS)
        units_format_duration(value, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT, "%llu", (unsigned long long)value);
}

/* Joins ", "-separated words; whatever does not fit is left off. */
static void add_word(char *text, size_t size, const char *word)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, "%s%s", n ? ", " : "", word);
}

char *option_range_text(const struct option *row, char *ret_text, size_t size)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];

    ret_text[0] = 0;
    for (size_t i = 0; row->choices && row->choices[i]; i++)
        add_word(ret_text, size, row->choices[i]);
    for (size_t i = 0; row->names && row->names(i); i++)
        add_word(ret_text, size, row->names(i));
    if (!is_number(row) || row->kind == OPTION_SEED)
        return ret_text;
    format_number(row, row->min, low);
    format_number(row, row->max, high);
    if (row->kind == OPTION_PERCENT)
        snprintf(ret_text, size, "0 to 100");
    else if (row->max)
        snprintf(ret_text, size, "%s to %s", low, high);
    else if (row->min)
        snprintf(ret_text, size, "at least %s", low);
    return ret_text;
}

static int check_range(const struct option *row, const char *text, uint64_t value, struct spur_error *e)
{
    char limit[UNITS_TEXT];

    if (value < row->min) {
        format_number(row, row->min, limit);
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: %s is below the least value, %s", row->name, text,
                          limit);
    }
    if (row->max && value > row->max) {
        format_number(row, row->max, limit);
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: %s is above the greatest value, %s", row->name, text,
                          limit);
    }
    return 0;
}

static int parse_by_kind(const struct option *row, const char *text, uint64_t *ret, struct spur_error *e)
{
    switch (row->kind) {
    case OPTION_SIZE:
        return units_parse_bytes(text, ret, e);
    case OPTION_TIME:
    case OPTION_SECONDS:
        return units_parse_time(text, row->kind == OPTION_SECONDS, ret, e);
    case OPTION_PERCENT:
        return units_parse_percent(text, ret, e);
    default:
        return units_parse_count(text, ret, e);
    }
}

static int store_number(const struct option *row, const char *text, void *values, struct spur_error *e)
{
    struct spur_error reason = {0};
    uint64_t value;

    if (parse_by_kind(row, text, &value, &reason) < 0)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: %s", row->name, reason.detail);
    if (check_range(row, text, value, e) < 0)
        return -EINVAL;
    *(uint64_t *)((char *)values + row->offset) = value;
    return 0;
}

static int unknown_value(const char *option, const char *value, const char *near, const char *all, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_USAGE, "option", "--%s: '%s' is not known", option, value);
    if (near)
        error_remedy(e, "did you mean %s?", near);
    else
        error_remedy(e, "one of: %s", all);
    return -EINVAL;
}

int option_unknown_value(const char *option, const char *value, nearest_fn names, struct spur_error *e)
{
    char all[200] = "";

    for (size_t i = 0; names(i); i++)
        add_word(all, sizeof(all), names(i));
    return unknown_value(option, value, nearest_name(value, names), all, e);
}

static int store_choice(const struct option *row, const char *text, void *values, struct spur_error *e)
{
    char all[200];

    for (unsigned i = 0; row->choices[i]; i++) {
        if (strcmp(row->choices[i], text))
            continue;
        *(unsigned *)((char *)values + row->offset) = i;
        return 0;
    }
    return unknown_value(row->name, text, nearest_in(text, row->choices), option_range_text(row, all, sizeof(all)), e);
}

static int store_name(const struct option *row, const char *text, void *values, struct spur_error *e)
{
    for (size_t i = 0; row->names(i); i++) {
        if (strcmp(row->names(i), text))
            continue;
        *(const char **)((char *)values + row->offset) = text;
        return 0;
    }
    return option_unknown_value(row->name, text, row->names, e);
}

static int append_text(const struct option *row, const char *text, void *values, struct option_result *result,
                       struct spur_error *e)
{
    struct option_texts *t = (struct option_texts *)((char *)values + row->offset);
    const char **grown = realloc(t->items, (t->n_items + 1) * sizeof(*grown));

    if (!grown)
        return error_errno(e, ENOMEM, "realloc", "--%s", row->name);
    if (!t->items && result->n_texts < ARRAY_SIZE(result->texts))
        result->texts[result->n_texts++] = t;
    t->items = grown;
    t->items[t->n_items++] = text;
    return 0;
}

static int store(const struct option *row, const char *text, void *values, struct option_result *result,
                 struct spur_error *e)
{
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)((char *)values + row->offset) = true;
        return 0;
    case OPTION_CHOICE:
        return store_choice(row, text, values, e);
    case OPTION_NAME:
        return store_name(row, text, values, e);
    case OPTION_TEXT:
        *(const char **)((char *)values + row->offset) = text;
        return 0;
    case OPTION_TEXTS:
        return append_text(row, text, values, result, e);
    default:
        return store_number(row, text, values, e);
    }
}

static int store_flag(const struct option *row, const char *text, void *values, struct spur_error *e)
{
    if (strcmp(text, "yes") && strcmp(text, "no"))
        return error_spur(e, SPUR_CODE_USAGE, "option", "%s: '%s' is neither yes nor no", row->name, text);
    *(bool *)((char *)values + row->offset) = !strcmp(text, "yes");
    return 0;
}

int option_set(const struct option *rows, const char *name, const char *text, void *values, struct spur_error *e)
{
    for (size_t i = 0; rows[i].name; i++) {
        if (strcmp(rows[i].name, name) || rows[i].kind == OPTION_TEXTS)
            continue;
        if (rows[i].kind == OPTION_FLAG)
            return store_flag(&rows[i], text, values, e);
        return store(&rows[i], text, values, NULL, e);
    }
    return error_spur(e, SPUR_CODE_USAGE, "option", "unknown option %s", name);
}

/* ------------------------------------------------------------------------------------------------
 * The command line
 */

static int unknown_option(const struct option *rows, const char *name, size_t length, struct spur_error *e)
{
    const char *names[OPTION_MAX_ROWS + 2];
    size_t n = option_count(rows);
    char word[80];
    const char *near;

    for (size_t i = 0; i < n; i++)
        names[i] = rows[i].name;
    names[n] = "help";
    names[n + 1] = NULL;
    snprintf(word, sizeof(word), "%.*s", (int)(length < 70 ? length : 70), name);
    near = nearest_in(word, names);
    error_spur(e, SPUR_CODE_USAGE, "option", "unknown option --%s", word);
    if (near)
        error_remedy(e, "did you mean --%s?", near);
    else
        error_remedy(e, "--help lists the options");
    return -EINVAL;
}

static int short_option(const struct option *rows, const char *argument, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_USAGE, "option", "unknown option %s", argument);
    if (find_row(rows, argument + 1, strcspn(argument + 1, "=")))
        error_remedy(e, "options begin with two dashes: -%s", argument);
    else
        error_remedy(e, "options have long names only; a file name that begins with a dash goes after --");
    return -EINVAL;
}

/* argv[*i] begins with "--" and a name; *i moves past its value. */
static int take_option(const struct option *rows, int argc, char **argv, int *i, void *values,
                       struct option_result *result, struct spur_error *e)
{
    const char *name = argv[*i] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    const struct option *row = find_row(rows, name, length);
    uint64_t bit;

    if (!row)
        return unknown_option(rows, name, length, e);
    bit = 1ull << (row - rows);
    if (row->kind == OPTION_FLAG && value)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s takes no value", row->name);
    if (row->kind != OPTION_FLAG && !value && ++*i >= argc)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: its value is missing: --%s %s", row->name, row->name,
                          row->metavar);
    if ((result->given & bit) && row->kind != OPTION_TEXTS)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s is given twice", row->name);
    if (!value && row->kind != OPTION_FLAG)
        value = argv[*i];
    if ((row->kind == OPTION_TEXT || row->kind == OPTION_TEXTS) && !*value)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: its value is empty", row->name);
    result->given |= bit;
    return store(row, value, values, result, e);
}

static int check_together(const struct option *rows, const struct option_result *result, struct spur_error *e)
{
    for (size_t i = 0; rows && rows[i].name; i++) {
        bool given = result->given >> i & 1;

        if (given && rows[i].conflicts && option_given(result, rows[i].conflicts))
            return error_spur(e, SPUR_CODE_USAGE, "option", "--%s and --%s exclude each other", rows[i].name,
                              rows[i].conflicts);
        if (!given && rows[i].required)
            return error_spur(e, SPUR_CODE_USAGE, "option", "--%s %s is required", rows[i].name, rows[i].metavar);
    }
    return 0;
}

static int store_defaults(const struct option *rows, void *values, struct option_result *result, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && rows && rows[i].name; i++)
        if (rows[i].default_text)
            r = store(&rows[i], rows[i].default_text, values, result, e);
    return r;
}

static int take_all(const struct option *rows, int argc, char **argv, void *values, struct option_result *result,
                    struct spur_error *e)
{
    bool options_ended = false;

    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        int r = 0;

        if (options_ended || a[0] != '-' || !a[1])
            result->arguments[result->n_arguments++] = argv[i];
        else if (!strcmp(a, "--"))
            options_ended = true;
        else if (!strcmp(a, "--help") || !strcmp(a, "-h"))
            result->help = true;
        else if (a[1] != '-')
            r = short_option(rows, a, e);
        else
            r = take_option(rows, argc, argv, &i, values, result, e);
        if (r < 0)
            return r;
        if (result->help)
            return 0;
    }
    return check_together(rows, result, e);
}

int option_parse(const struct option *rows, int argc, char **argv, void *ret_values, struct option_result *ret_result,
                 struct spur_error *e)
{
    int r;

    memset(ret_result, 0, sizeof(*ret_result));
    ret_result->rows = rows;
    ret_result->arguments = calloc((size_t)argc + 1, sizeof(*ret_result->arguments));
    if (!ret_result->arguments)
        return error_errno(e, ENOMEM, "calloc", "command line");
    r = store_defaults(rows, ret_values, ret_result, e);
    if (!r)
        r = take_all(rows, argc, argv, ret_values, ret_result, e);
    if (r < 0)
        option_result_free(ret_result);
    return r;
}

void option_result_free(struct option_result *result)
{
    for (size_t i = 0; i < result->n_texts; i++) {
        free(result->texts[i]->items);
        memset(result->texts[i], 0, sizeof(*result->texts[i]));
    }
    result->n_texts = 0;
    free(result->arguments);
    result->arguments = NULL;
    result->n_arguments = 0;
}
