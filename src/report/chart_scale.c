/* SPDX-License-Identifier: MIT */
#include "report/chart_scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"

#define RATE_LOG_FROM  100.0 /* largest to smallest */
#define LOG_ROOM       1.25  /* above and below */
#define SWEPT_LOG_FROM 8.0
#define TICKS_WANTED   5

static struct chart_unit pick(const struct chart_unit *units, size_t n, double largest)
{
    size_t i = 0;

    while (i + 1 < n && largest >= units[i + 1].factor)
        i++;
    return units[i];
}

struct chart_unit chart_unit_rate(double largest)
{
    static const struct chart_unit units[] = {
        {"bytes/s", 1}, {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}};

    return pick(units, ARRAY_SIZE(units), largest);
}

struct chart_unit chart_unit_bytes(double largest)
{
    static const struct chart_unit units[] = {{"bytes", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};

    return pick(units, ARRAY_SIZE(units), largest);
}

struct chart_unit chart_unit_requests(double largest)
{
    static const struct chart_unit units[] = {{"1/s", 1}, {"K/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}};

    return pick(units, ARRAY_SIZE(units), largest);
}

struct chart_unit chart_unit_time(double largest_ns)
{
    static const struct chart_unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

    return pick(units, ARRAY_SIZE(units), largest_ns);
}

/* 1, 2 or 5 times a power of ten, so that about TICKS_WANTED of them fill @span. */
static double round_step(double span)
{
    double raw = span / TICKS_WANTED, power = pow(10, floor(log10(raw))), digit = raw / power;

    return power * (digit <= 1.0000001 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void fill(double low, double high, double step, struct chart_scale *ret)
{
    long first = lround(low / step), last = lround(high / step);

    memset(ret, 0, sizeof(*ret));
    ret->low = (double)first * step;
    ret->high = (double)last * step;
    for (long i = first; i <= last && ret->n_ticks < CHART_TICKS; i++)
        ret->ticks[ret->n_ticks++] = (double)i * step;
}

void chart_scale_zero(double max, struct chart_scale *ret)
{
    double step = round_step(max);

    fill(0, step * ceil(max * 1.02 / step), step, ret);
}

void chart_scale_span(double low, double high, struct chart_scale *ret)
{
    double step = round_step(high - low);

    fill(step * floor(low / step), step * ceil(high / step), step, ret);
}

static void add_tick(double tick, struct chart_scale *ret)
{
    if (tick >= ret->low * 0.9999 && tick <= ret->high * 1.0001 && ret->n_ticks < CHART_TICKS)
        ret->ticks[ret->n_ticks++] = tick;
}

void chart_scale_log(double min, double max, struct chart_scale *ret)
{
    static const double digits[] = {1, 2, 5};
    size_t n_digits = log10(max / min) < 2.2 ? ARRAY_SIZE(digits) : 1;
    int first = (int)floor(log10(min)), last = (int)ceil(log10(max)), stride = 1 + (last - first) / 8;

    memset(ret, 0, sizeof(*ret));
    ret->is_log = true;
    ret->low = min / LOG_ROOM;
    ret->high = max * LOG_ROOM;
    for (int d = first; d <= last; d += n_digits > 1 ? 1 : stride)
        for (size_t i = 0; i < n_digits; i++)
            add_tick(digits[i] * pow(10, d), ret);
}

void chart_scale_rate(double min, double max, struct chart_scale *ret)
{
    if (min > 0 && max / min >= RATE_LOG_FROM)
        chart_scale_log(min, max, ret);
    else
        chart_scale_zero(max, ret);
}

static double place(const struct chart_scale *s, double value)
{
    if (s->is_log)
        return log(value / s->low) / log(s->high / s->low);
    return (value - s->low) / (s->high - s->low);
}

static void pad(double min, double max, struct chart_scale *ret)
{
    const double margin = 0.045;
    double span = max - min;

    ret->is_log = min > 0 && max / min >= SWEPT_LOG_FROM;
    if (ret->is_log) {
        ret->low = min / pow(max / min, margin);
        ret->high = max * pow(max / min, margin);
    } else {
        span = span > 0 ? span : fabs(max) > 0 ? fabs(max) : 1;
        ret->low = min - margin * span;
        ret->high = max + margin * span;
    }
}

void chart_scale_swept(const double *values, size_t n, const double *width, struct chart_scale *ret, bool *ret_labelled)
{
    double end = -1, last;

    memset(ret, 0, sizeof(*ret));
    pad(values[0], values[n - 1], ret);
    last = place(ret, values[n - 1]) - width[n - 1] / 2;
    for (size_t i = 0; i < n; i++) {
        double at = place(ret, values[i]);

        ret_labelled[i] = i == n - 1 || i == 0 || (at - width[i] / 2 >= end && at + width[i] / 2 <= last);
        if (ret_labelled[i])
            end = at + width[i] / 2;
    }
}

char *chart_tick_text(double value, char *ret)
{
    snprintf(ret, CHART_TICK_TEXT, "%.6f", fabs(value) < 5e-7 ? 0 : value);
    for (size_t n = strlen(ret); n && (ret[n - 1] == '0' || ret[n - 1] == '.'); n--) {
        bool is_point = ret[n - 1] == '.';

        ret[n - 1] = '\0';
        if (is_point)
            break;
    }
    return ret;
}
