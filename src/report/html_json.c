/* SPDX-License-Identifier: MIT */
#include "report/html_json.h"

#include <string.h>

#include "core/units.h"
#include "report/html_text.h"

#define MAX_ITEMS 8 /* of an array */
#define KEY_SIZE  256

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcmp(name + n - m, end);
}

static void put_integer(FILE *out, const char *name, json_int_t value)
{
    char text[UNITS_TEXT];

    fprintf(out, "%lld", (long long)value);
    if (value < 10000)
        return;
    if (strstr(name, "bytes") || strstr(name, "resident") || ends(name, ".total") || ends(name, ".available") ||
        ends(name, "memory_max"))
        fprintf(out, " <small>%s</small>", units_format_bytes((uint64_t)value, text));
    else if (ends(name, "_ns") && !strstr(name, "realtime") && !strstr(name, "monotonic"))
        fprintf(out, " <small>%s</small>", units_format_time((uint64_t)value, text));
}

static void put_null(const struct html_json *j, const char *name)
{
    const char *reason = json_string_value(json_object_get(j->nulls, name));

    fputs("not known", j->out);
    if (reason) {
        fputs(": ", j->out);
        html_text(j->out, reason);
    }
}

static void put_scalar(const struct html_json *j, const char *name, const json_t *value)
{
    if (json_is_string(value))
        html_text(j->out, json_string_value(value));
    else if (json_is_integer(value))
        put_integer(j->out, name, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(j->out, "%.6g", json_real_value(value));
    else if (json_is_null(value))
        put_null(j, name);
    else
        fputs(json_is_true(value) ? "yes" : "no", j->out);
}

static bool begin(struct html_json *j, const char *name)
{
    if (j->n >= j->max) {
        j->left_out++;
        return false;
    }
    j->n++;
    fputs("<dt>", j->out);
    html_text(j->out, name);
    fputs("<dd>", j->out);
    return true;
}

static bool is_flat(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_is_object(json_array_get(array, i)) || json_is_array(json_array_get(array, i)))
            return false;
    return true;
}

static void put_flat(struct html_json *j, const char *name, const json_t *array)
{
    size_t n = json_array_size(array), shown = n <= 2 * MAX_ITEMS ? n : MAX_ITEMS;

    if (!begin(j, name))
        return;
    if (!n)
        fputs("none", j->out);
    for (size_t i = 0; i < shown; i++) {
        fputs(i ? ", " : "", j->out);
        put_scalar(j, name, json_array_get(array, i));
    }
    if (n > shown)
        fprintf(j->out, " and %zu more", n - shown);
    fputc('\n', j->out);
}

static void put_array(struct html_json *j, const char *name, const json_t *array)
{
    size_t n = json_array_size(array);
    char key[KEY_SIZE];

    for (size_t i = 0; i < n && i < MAX_ITEMS; i++) {
        snprintf(key, sizeof(key), "%.220s[%zu]", name, i);
        html_json(j, key, json_array_get(array, i));
    }
    if (n > MAX_ITEMS && begin(j, name))
        fprintf(j->out, "and %zu more\n", n - MAX_ITEMS);
}

static void put_object(struct html_json *j, const char *name, const json_t *object)
{
    const char *k;
    json_t *v;
    char key[KEY_SIZE];

    json_object_foreach((json_t *)object, k, v)
    {
        snprintf(key, sizeof(key), "%.120s%s%.120s", name, *name ? "." : "", k);
        html_json(j, key, v);
    }
}

void html_json(struct html_json *j, const char *name, const json_t *value)
{
    if (json_is_object(value)) {
        put_object(j, name, value);
    } else if (json_is_array(value) && is_flat(value)) {
        put_flat(j, name, value);
    } else if (json_is_array(value)) {
        put_array(j, name, value);
    } else if (value && begin(j, name)) {
        put_scalar(j, name, value);
        fputc('\n', j->out);
    }
}
