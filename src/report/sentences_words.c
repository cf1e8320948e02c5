/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/utf8.h"
#include "core/util.h"
#include "report/sentences.h"

/* ------------------------------------------------------------------------------------------------
 * Lists of texts
 */

FILE *texts_begin(struct texts *t)
{
    t->out = open_memstream(&t->text, &t->size);
    return t->out;
}

int texts_end(struct texts *t)
{
    bool failed = fclose(t->out) == EOF;

    t->out = NULL;
    if (!failed && t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 16;
        char **items = realloc(t->items, room * sizeof(*items));

        failed = !items;
        t->items = items ? items : t->items;
        t->room = items ? room : t->room;
    }
    if (failed || !t->size)
        free(t->text);
    else
        t->items[t->n++] = t->text;
    t->text = NULL;
    return failed ? -ENOMEM : 0;
}

void texts_free(struct texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->items[i]);
    free(t->items);
    memset(t, 0, sizeof(*t));
}

/* ------------------------------------------------------------------------------------------------
 * Names and numbers
 */

void words_clean(FILE *out, const char *text)
{
    while (text && *text) {
        size_t n = utf8_printable(text);

        if (n)
            fwrite(text, 1, n, out);
        else
            fprintf(out, "\\x%02X", (unsigned char)*text);
        text += n ? n : 1;
    }
}

void words_arm(FILE *out, const struct analysis *a, uint32_t arm)
{
    words_clean(out, a->x->arms[arm].name);
}

void words_arm_in(FILE *out, const struct analysis *a, uint32_t cell, uint32_t arm)
{
    char label[512];

    words_clean(out, analysis_arm_label(a, cell, arm, label, sizeof(label)));
}

static bool shows_as_one(double value, int decimals)
{
    double scale = pow(10, decimals);

    return value != 1 && llround(value * scale) == llround(scale);
}

static char *format_ratio(double value, int max_decimals, char *ret)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    while (decimals >= 2 && decimals < max_decimals && shows_as_one(value, decimals))
        decimals++;
    if (!isfinite(value))
        snprintf(ret, WORDS_RATIO, "-");
    else if (value > 0 && value < 0.0995)
        snprintf(ret, WORDS_RATIO, "%.2g", value);
    else
        snprintf(ret, WORDS_RATIO, "%.*f", decimals, value);
    return ret;
}

char *words_ratio(double ratio, char *ret)
{
    return format_ratio(ratio, 2, ret);
}

void words_interval(FILE *out, double low, double high)
{
    int max_decimals = low > 1 || high < 1 ? 6 : 2;
    char text[2][WORDS_RATIO];

    if (isfinite(low) && isfinite(high))
        fprintf(out, "[%s, %s]", format_ratio(low, max_decimals, text[0]), format_ratio(high, max_decimals, text[1]));
}

void words_percent(FILE *out, double share)
{
    fprintf(out, "%.3g", share * 100);
}

void words_count(FILE *out, size_t n, const char *one, const char *many)
{
    fprintf(out, "%zu %s", n, n == 1 ? one : many);
}

void words_needed(FILE *out, unsigned low, unsigned high)
{
    if (!low)
        return;
    if (low >= 1000)
        fputs("more than 1000 blocks would be needed", out);
    else if (high > 1000)
        fprintf(out, "%u to more than 1000 blocks would be needed", low);
    else if (low == high)
        fprintf(out, "about %u blocks would likely decide", low);
    else
        fprintf(out, "%u to %u blocks would likely decide", low, high);
}

/* ------------------------------------------------------------------------------------------------
 * Places on an axis
 */

static const struct {
    const char *key, *before, *one, *many;
} axis_words[] = {
    {"threads", "", " thread", " threads"},
    {"request", "", " requests", " requests"},
    {"depth", "depth ", "", ""},
};

/* What stands around the number; any other key is "KEY = ". */
static size_t find_words(const struct experiment_axis *axis)
{
    size_t i = 0;

    while (i < ARRAY_SIZE(axis_words) && strcmp(axis->key, axis_words[i].key))
        i++;
    return axis->unit == UNIT_NONE ? ARRAY_SIZE(axis_words) : i;
}

static void put_before(FILE *out, const struct experiment_axis *axis)
{
    size_t w = find_words(axis);

    if (w < ARRAY_SIZE(axis_words)) {
        fputs(axis_words[w].before, out);
        return;
    }
    words_clean(out, axis->key);
    fputs(" = ", out);
}

static void put_after(FILE *out, const struct experiment_axis *axis, double number)
{
    size_t w = find_words(axis);

    if (w < ARRAY_SIZE(axis_words))
        fputs(number == 1 ? axis_words[w].one : axis_words[w].many, out);
}

/* "512-byte requests", "64 KiB requests" */
static void put_size(FILE *out, double bytes)
{
    char text[UNITS_TEXT];
    char *space = strstr(units_format_bytes((uint64_t)llround(bytes), text), " byte");

    if (space)
        memcpy(space, "-byte", sizeof("-byte"));
    fputs(text, out);
}

static void put_number(FILE *out, const struct experiment_axis *axis, uint32_t value)
{
    const struct experiment_value *v = &axis->values[value];

    if (!strcmp(axis->key, "request") && axis->unit == UNIT_BYTES && isfinite(v->number))
        put_size(out, v->number);
    else
        words_clean(out, v->text);
}

void words_value(FILE *out, const struct experiment_axis *axis, uint32_t value)
{
    put_before(out, axis);
    put_number(out, axis, value);
    put_after(out, axis, axis->values[value].number);
}

void words_range(FILE *out, const struct experiment_axis *axis, uint32_t low, uint32_t high, const char *before,
                 const char *between)
{
    fputs(before, out);
    put_before(out, axis);
    put_number(out, axis, low);
    fputs(between, out);
    put_number(out, axis, high);
    put_after(out, axis, axis->values[high].number);
}

static void put_size_between(FILE *out, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    for (; bytes >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
        bytes /= 1024;
    fprintf(out, "%.*f %s", bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, bytes, units[unit]);
}

void words_number(FILE *out, const struct experiment_axis *axis, double number)
{
    char text[UNITS_TEXT];

    if (axis->unit == UNIT_BYTES)
        put_size_between(out, number);
    else if (axis->unit == UNIT_NS)
        fputs(units_format_time((uint64_t)llround(fmax(number, 0)), text), out);
    else
        fprintf(out, "%.3g", number);
}

void words_fixed(FILE *out, const struct experiment *x, uint32_t cell, uint32_t but_axis)
{
    bool any = false;

    for (uint32_t i = 0; i < x->n_axes; i++) {
        if (i == but_axis || x->axes[i].n_values < 2)
            continue;
        fputs(any ? ", " : "At ", out);
        words_value(out, &x->axes[i], x->cells[cell].value[i]);
        any = true;
    }
    if (any)
        fputs(": ", out);
}

const char *words_verb(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    const char *op = experiment_value_of(x, cell, arm, "op");

    if (op && !strcmp(op, "mix"))
        return "reads and writes";
    return op && (!strcmp(op, "write") || !strcmp(op, "randwrite")) ? "writes" : "reads";
}
