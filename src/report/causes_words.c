/* SPDX-License-Identifier: MIT */
/* What a cause says, and what to try. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/util.h"
#include "report/analysis_parts.h"
#include "report/sentences.h"

struct words {
    FILE *out;
    const struct analysis *a;
    const struct cause *c;
    const struct cause_case *const *cases;
};

/* ------------------------------------------------------------------------------------------------
 * Numbers: "8.1", "0.9 to 7.2"
 */

enum number_unit { NUMBER_WHOLE, NUMBER_COUNT, NUMBER_BYTES, NUMBER_NS, NUMBER_RATE, NUMBER_PERCENT, NUMBER_RATIO };

#define NUMBER_TEXT 64

static char *format(enum number_unit unit, double value, char *ret)
{
    char text[UNITS_TEXT];

    if (unit == NUMBER_BYTES)
        snprintf(ret, NUMBER_TEXT, "%s", units_format_mean_bytes(value, text));
    else if (unit == NUMBER_NS)
        snprintf(ret, NUMBER_TEXT, "%s", units_format_time((uint64_t)llround(value), text));
    else if (unit == NUMBER_RATE)
        snprintf(ret, NUMBER_TEXT, "%s/s", units_format_mean_bytes(value, text));
    else if (unit == NUMBER_PERCENT)
        snprintf(ret, NUMBER_TEXT, "%.3g %%", 100 * value);
    else if (unit == NUMBER_WHOLE)
        snprintf(ret, NUMBER_TEXT, "%.0f", value);
    else if (unit == NUMBER_RATIO)
        snprintf(ret, NUMBER_TEXT, "%.*f", value < 9.95 ? 2 : value < 99.5 ? 1 : 0, value);
    else
        snprintf(ret, NUMBER_TEXT, "%.*f", value < 0.095 ? 2 : value < 99.95 ? 1 : 0, value);
    return ret;
}

static void put_span(FILE *out, enum number_unit unit, double low, double high)
{
    char a[NUMBER_TEXT], b[NUMBER_TEXT];

    if (!isfinite(low)) {
        fputs("an unknown number", out);
        return;
    }
    format(unit, low, a);
    format(unit, high, b);
    fprintf(out, strcmp(a, b) ? "%s to %s" : "%s", a, b);
}

static const struct cause_span *span_of(const struct cause *c, const char *key)
{
    static const struct cause_span none = {"", NAN, NAN, NAN, NAN};

    for (int i = 0; i < CAUSE_NUMBERS && c->numbers[i].key; i++)
        if (!strcmp(c->numbers[i].key, key))
            return &c->numbers[i];
    return &none;
}

static void put_faster(const struct words *w, const char *key, enum number_unit unit)
{
    const struct cause_span *s = span_of(w->c, key);

    put_span(w->out, unit, s->faster_low, s->faster_high);
}

static void put_slower(const struct words *w, const char *key, enum number_unit unit)
{
    const struct cause_span *s = span_of(w->c, key);

    put_span(w->out, unit, s->slower_low, s->slower_high);
}

/* ------------------------------------------------------------------------------------------------
 * Places and names
 */

static uint32_t faster_arm(const struct words *w)
{
    return w->c->arm_is_faster || w->c->is_same ? w->c->arm : w->a->x->baseline;
}

static uint32_t slower_arm(const struct words *w)
{
    return w->c->arm_is_faster || w->c->is_same ? w->a->x->baseline : w->c->arm;
}

static void put_faster_arm(const struct words *w)
{
    words_arm(w->out, w->a, faster_arm(w));
}

static void put_slower_arm(const struct words *w)
{
    words_arm(w->out, w->a, slower_arm(w));
}

/* The only axis in which the cells differ, if there is one with numbers and they are neighbours on it. */
static uint32_t axis_of(const struct words *w)
{
    const struct experiment *x = w->a->x;
    uint32_t axis = EXPERIMENT_NONE;

    for (uint32_t i = 0; i < x->n_axes; i++)
        for (size_t k = 1; k < w->c->n_cells; k++) {
            if (x->cells[w->c->cells[k]].value[i] == x->cells[w->c->cells[0]].value[i])
                continue;
            if (axis != EXPERIMENT_NONE && axis != i)
                return EXPERIMENT_NONE;
            axis = i;
        }
    if (axis == EXPERIMENT_NONE || x->axes[axis].unit == UNIT_NONE)
        return EXPERIMENT_NONE;
    for (size_t k = 1; k < w->c->n_cells; k++)
        if (x->cells[w->c->cells[k]].value[axis] != x->cells[w->c->cells[k - 1]].value[axis] + 1)
            return EXPERIMENT_NONE;
    return axis;
}

static void put_place(const struct words *w)
{
    const struct experiment *x = w->a->x;
    const struct cause *c = w->c;
    uint32_t axis = axis_of(w);

    if (c->n_cells == 1) {
        words_fixed(w->out, x, c->cells[0], EXPERIMENT_NONE);
        return;
    }
    if (axis == EXPERIMENT_NONE) {
        fprintf(w->out, "In %zu of %zu cells: ", c->n_cells, x->n_cells);
        return;
    }
    words_fixed(w->out, x, c->cells[0], axis);
    words_range(w->out, &x->axes[axis], x->cells[c->cells[0]].value[axis],
                x->cells[c->cells[c->n_cells - 1]].value[axis], "From ", " to ");
    fputs(": ", w->out);
}

/* Whether put_place writes anything. */
static bool has_place(const struct words *w)
{
    for (size_t i = 0; i < w->a->x->n_axes; i++)
        if (w->a->x->axes[i].n_values > 1)
            return true;
    return false;
}

static void put_ratio(const struct words *w)
{
    put_span(w->out, NUMBER_RATIO, w->c->ratio_low, w->c->ratio_high);
    fputs("x the rate", w->out);
}

/* ------------------------------------------------------------------------------------------------
 * Each cause
 */

static void say_in_flight(const struct words *w)
{
    put_faster_arm(w);
    fputs(" kept ", w->out);
    put_faster(w, "in_flight", NUMBER_COUNT);
    fputs(" wire requests of ", w->out);
    put_faster(w, "wire_bytes", NUMBER_BYTES);
    fputs(" in flight (", w->out);
    put_faster(w, "service_ns", NUMBER_NS);
    fputs(" each), ", w->out);
    put_slower_arm(w);
    fputs(" ", w->out);
    put_slower(w, "in_flight", NUMBER_COUNT);
    fputs(" of ", w->out);
    put_slower(w, "wire_bytes", NUMBER_BYTES);
    fputs(" (", w->out);
    put_slower(w, "service_ns", NUMBER_NS);
    fputs(")", w->out);
}

static void say_concurrency(const struct words *w)
{
    say_in_flight(w);
    fputs(", which is why it has ", w->out);
    put_ratio(w);
    fputs(".", w->out);
}

static void say_held_back(const struct words *w)
{
    say_in_flight(w);
    fputs("; but in flight x size / service time is ", w->out);
    put_faster(w, "little_bytes_per_second", NUMBER_RATE);
    fputs(" and ", w->out);
    put_slower(w, "little_bytes_per_second", NUMBER_RATE);
    fputs(" where the rates are ", w->out);
    put_faster(w, "bytes_per_second", NUMBER_RATE);
    fputs(" and ", w->out);
    put_slower(w, "bytes_per_second", NUMBER_RATE);
    fputs(": these figures contradict each other, so concurrency is not named as the cause.", w->out);
}

static void say_splitting(const struct words *w)
{
    fputs("a request became ", w->out);
    put_faster(w, "per_request", NUMBER_COUNT);
    fputs(" on the wire with ", w->out);
    put_faster_arm(w);
    fputs(", ", w->out);
    put_slower(w, "per_request", NUMBER_COUNT);
    fputs(" with ", w->out);
    put_slower_arm(w);
    fputs("; ", w->out);
    say_in_flight(w);
    fputs(!strcmp(w->c->variant, "small") ? ": its smaller ones carry less in the time that they take, which makes "
                                          : ": more, smaller ones under way together make ",
          w->out);
    put_ratio(w);
    fputs(".", w->out);
}

static void say_slower_mount(const struct words *w)
{
    put_slower_arm(w);
    fputs(" reaches the rate that its simulated mount was set to, ", w->out);
    put_slower(w, "set_bytes_per_second", NUMBER_RATE);
    fputs("; the mounts of ", w->out);
    put_faster_arm(w);
    fputs(" were set to ", w->out);
    put_faster(w, "set_bytes_per_second", NUMBER_RATE);
    fputs(" together, of which it has ", w->out);
    put_faster(w, "bytes_per_second", NUMBER_RATE);
    fputs(".", w->out);
}

static void say_saturation(const struct words *w)
{
    const char *v = w->c->variant;

    if (!strcmp(v, "slower")) {
        say_slower_mount(w);
        return;
    }
    put_faster_arm(w);
    fputs(" and ", w->out);
    put_slower_arm(w);
    fputs(" are the same because ", w->out);
    if (!strcmp(v, "link")) {
        fputs("the link ", w->out);
        words_clean(w->out, w->c->subject);
        fputs(" is full (", w->out);
        put_faster(w, "link_share", NUMBER_PERCENT);
        fputs(" of its speed)", w->out);
    } else if (!strcmp(v, "set rate")) {
        fputs("both reach the rate that the simulated mount was set to, ", w->out);
        put_faster(w, "set_bytes_per_second", NUMBER_RATE);
    } else {
        fputs("the storage gives no more: ", w->out);
        put_faster(w, "in_flight", NUMBER_COUNT);
        fputs(" and ", w->out);
        put_slower(w, "in_flight", NUMBER_COUNT);
        fputs(" wire requests of ", w->out);
        put_faster(w, "wire_bytes", NUMBER_BYTES);
        fputs(" in flight", w->out);
        fputs(!strcmp(v, "axis") ? ", and fewer, give the same rate" : " give the same rate", w->out);
    }
    if (strcmp(v, "set rate")) {
        fputs(", ", w->out);
        put_faster(w, "bytes_per_second", NUMBER_RATE);
    }
    fputs(".", w->out);
}

static void say_cpus(const struct words *w)
{
    fputs(" (", w->out);
    put_slower(w, "user_cpus", NUMBER_COUNT);
    fputs(" CPUs USR, ", w->out);
    put_slower(w, "system_cpus", NUMBER_COUNT);
    fputs(" SYS; ", w->out);
    put_slower(w, "cpu_s_per_gib", NUMBER_RATIO);
    fputs(" s per GiB against ", w->out);
    put_faster(w, "cpu_s_per_gib", NUMBER_RATIO);
    fputs(")", w->out);
}

static bool has_small_requests(const struct cause *c)
{
    return span_of(c, "request_bytes")->slower_high <= CAUSE_SMALL_REQUEST;
}

static void say_cpu(const struct words *w)
{
    if (!strcmp(w->c->variant, "machine")) {
        fputs("the machine's CPUs never idle with ", w->out);
        put_slower_arm(w);
    } else {
        fputs("the threads of ", w->out);
        put_slower_arm(w);
        fputs(" never idle", w->out);
    }
    say_cpus(w);
    if (!strcmp(w->c->variant, "threads"))
        fputs("; the other uses more CPUs", w->out);
    if (has_small_requests(w->c)) {
        fputs("; its requests are small, ", w->out);
        put_slower(w, "request_bytes", NUMBER_BYTES);
    }
    fputs(". That is why ", w->out);
    put_faster_arm(w);
    fputs(" has ", w->out);
    put_ratio(w);
    fputs(".", w->out);
}

static void say_cache(const struct words *w)
{
    fputs("of what ", w->out);
    put_faster_arm(w);
    fprintf(w->out, " %s, ",
            !strcmp(w->c->variant, "reads")    ? "read"
            : !strcmp(w->c->variant, "writes") ? "wrote"
                                               : "read and wrote");
    put_faster(w, "wire_share", NUMBER_PERCENT);
    fputs(" went over the wire, of ", w->out);
    put_slower_arm(w);
    fputs("'s ", w->out);
    put_slower(w, "wire_share", NUMBER_PERCENT);
    fputs(!strcmp(w->c->variant, "reads") ? ": the page cache served the rest, which makes "
                                          : ": the rest was in the page cache at the end, which makes ",
          w->out);
    put_ratio(w);
    fputs(".", w->out);
}

static void say_not_direct(const struct words *w)
{
    put_slower_arm(w);
    fprintf(w->out, " did not move bytes directly: observed is %s", w->c->subject);
    fputs(!strcmp(w->c->variant, "direct") ? ", where " : ". That ", w->out);
    put_faster_arm(w);
    fputs(!strcmp(w->c->variant, "direct") ? " did, with " : " has ", w->out);
    put_ratio(w);
    fputs(!strcmp(w->c->variant, "direct") ? "." : " compares two ways through host memory.", w->out);
}

static void say_throttled(const struct words *w)
{
    if (!strcmp(w->c->variant, "GPU")) {
        fputs("the GPU held its clocks down (heat or power) in ", w->out);
        put_slower(w, "gpu_slowed_share", NUMBER_PERCENT);
        fputs(" of the trials of ", w->out);
        put_slower_arm(w);
        fputs(" and ", w->out);
        put_faster(w, "gpu_slowed_share", NUMBER_PERCENT);
        fputs(" of those of ", w->out);
        put_faster_arm(w);
        fputs("; how much that is of ", w->out);
        put_ratio(w);
        fputs(" is not known.", w->out);
        return;
    }
    put_slower_arm(w);
    fputs(" was held back by the CPU limit of its control group in ", w->out);
    put_slower(w, "throttled_share", NUMBER_PERCENT);
    fputs(" of the periods", w->out);
    say_cpus(w);
    fputs("; ", w->out);
    put_faster_arm(w);
    fputs(", which needs less CPU, has ", w->out);
    put_ratio(w);
    fputs(".", w->out);
}

static void say_too_short(const struct words *w)
{
    fputs("the rate of ", w->out);
    words_arm(w->out, w->a, w->c->arm);
    fputs(" was still rising when its windows ended: in their last third it was ", w->out);
    put_faster(w, "rising", NUMBER_RATIO);
    fputs("x that of the third before, in every trial. Its figures are below what it comes to.", w->out);
}

static void say_noise(const struct words *w)
{
    words_arm(w->out, w->a, w->c->arm);
    fputs(" against ", w->out);
    words_arm(w->out, w->a, w->a->x->baseline);
    fputs(" is undecided: from block to block the ratio varies by ", w->out);
    put_faster(w, "sd", NUMBER_PERCENT);
    fputs(" (standard deviation), so ", w->out);
    put_faster(w, "blocks", NUMBER_WHOLE);
    fputs(" blocks leave +- ", w->out);
    put_faster(w, "half_width", NUMBER_PERCENT);
    fputs(", and ", w->out);
    words_percent(w->out, w->a->x->margin);
    fputs(" % are looked for.", w->out);
}

/* ------------------------------------------------------------------------------------------------ */

typedef void say_fn(const struct words *w);

static say_fn *const sayers[N_CAUSES] = {
    [CAUSE_CONCURRENCY] = say_concurrency,
    [CAUSE_SPLITTING] = say_splitting,
    [CAUSE_SATURATION] = say_saturation,
    [CAUSE_CPU] = say_cpu,
    [CAUSE_CACHE] = say_cache,
    [CAUSE_NOT_DIRECT] = say_not_direct,
    [CAUSE_THROTTLED] = say_throttled,
    [CAUSE_TOO_SHORT] = say_too_short,
    [CAUSE_NOISE] = say_noise,
    [CAUSE_HELD_BACK] = say_held_back,
};

static int take_tries(const struct words *w, struct cause *c)
{
    struct texts tries = {0};
    int r = cause_tries(w->a, c, w->cases, &tries);

    if (r < 0) {
        texts_free(&tries);
        return r;
    }
    c->tries = tries.items;
    c->n_tries = tries.n;
    return 0;
}

/* "concurrency (confidence high)" */
static void put_title(FILE *out, const struct cause *c)
{
    fputs(cause_name(c->kind), out);
    if (c->kind != CAUSE_HELD_BACK)
        fprintf(out, " (confidence %s)", cause_confidence_name(c->confidence));
    fputs(": ", out);
}

static void put_tries(FILE *out, const struct analysis *a, const struct cause *c)
{
    bool is_of_one = !c->is_same && c->kind != CAUSE_NOISE && c->kind != CAUSE_HELD_BACK;

    if (c->n_tries)
        fputs(" Try", out);
    if (c->n_tries && is_of_one) {
        fputs(" for ", out);
        words_arm(out, a, c->arm_is_faster ? a->x->baseline : c->arm);
    }
    for (size_t i = 0; i < c->n_tries; i++)
        fprintf(out, "%s%s", i ? "; or " : ": ", c->tries[i]);
    fputs(c->n_tries ? "." : "", out);
}

char *cause_paragraph(const struct analysis *a, const struct cause *c)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    put_title(out, c);
    fputs(c->text, out);
    put_tries(out, a, c);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *cause_none_paragraph(const struct analysis *a)
{
    char *text = NULL;

    if (!a->n_unexplained)
        return NULL;
    if (asprintf(&text,
                 "no cause is named for %zu of %zu decided comparison%s: no rule has all the figures that it needs, or "
                 "they fit none (docs/why.md)",
                 a->n_unexplained, a->n_decided, a->n_decided == 1 ? "" : "s") < 0)
        return NULL;
    return text;
}

int cause_words(const struct analysis *a, struct cause *c, const struct cause_case *const *cases)
{
    size_t size;
    struct words w = {open_memstream(&c->text, &size), a, c, cases};

    if (!w.out)
        return -ENOMEM;
    put_place(&w);
    sayers[c->kind](&w);
    if (fclose(w.out) == EOF)
        return -ENOMEM;
    if (has_place(&w))
        c->text[0] = (char)tolower(c->text[0]);
    return take_tries(&w, c);
}
