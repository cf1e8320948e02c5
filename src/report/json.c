/* SPDX-License-Identifier: MIT */
/* The analysis as JSON: docs/report-json.md. */
#include <math.h>

#include "core/util.h"
#include "report/html_text.h"
#include "report/json_nulls.h"
#include "report/report.h"
#include "store/text.h"
#include "store/words.h"

/* ------------------------------------------------------------------------------------------------
 * Small parts. Out of memory anywhere leaves NULL, which all that is built on it inherits.
 */

static void append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item)) {
        json_decref(*list);
        *list = NULL;
    }
}

static void set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value)) {
        json_decref(*object);
        *object = NULL;
    }
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Exact where it is UTF-8; null for NULL. */
static json_t *name(const char *text)
{
    _cleanup_free_ char *clean = NULL;

    if (!text)
        return json_null();
    if (text_is_utf8(text))
        return json_string(text);
    clean = html_clean(text);
    return clean ? json_string(clean) : NULL;
}

static json_t *word(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *big(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *texts(char *const *items, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        append(&list, json_string(items[i]));
    return list;
}

static json_t *settings(const struct experiment_settings *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++)
        append(&list, json_pack("[o, o]", name(s->items[i].key), name(s->items[i].value)));
    return list;
}

/* ------------------------------------------------------------------------------------------------
 * The plan
 */

static json_t *arms(const struct experiment *x)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < x->n_arms; i++)
        append(&list, json_pack("{s:o, s:b, s:b, s:o}", "name", name(x->arms[i].name), "is_baseline", i == x->baseline,
                                "is_aa", i == x->aa, "settings", settings(&x->arms[i].settings)));
    return list;
}

static json_t *axes(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_axes; i++) {
        json_t *values = json_array();

        for (size_t k = 0; k < x->axes[i].n_values; k++)
            append(&values, json_pack("{s:o, s:o}", "text", name(x->axes[i].values[k].text), "number",
                                      real(x->axes[i].values[k].number)));
        append(&list, json_pack("{s:o, s:s, s:o, s:o, s:o*}", "key", name(x->axes[i].key), "unit",
                                word_of(unit_words, x->axes[i].unit), "prepare_command",
                                name(x->axes[i].prepare_command), "values", values, "left_out",
                                x->axes[i].n_left_out ? json_integer(x->axes[i].n_left_out) : NULL));
    }
    return list;
}

static json_t *matches(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_matches; i++) {
        const struct experiment_match *m = &x->matches[i];

        append(&list, json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:i}", "cell", name(x->cells[m->cell].label), "arm",
                                name(x->arms[m->arm].name), "key", name(m->key), "value", (int)m->value, "target",
                                real(m->target), "in_flight", real(m->in_flight), "n_pilots", (int)m->n_pilots));
    }
    return list;
}

static json_t *plan(const struct analysis *a)
{
    const struct experiment *x = a->x;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "command",
                     name(x->command), "memory", name(x->memory), "arms", arms(x), "axes", axes(x), "common",
                     settings(&x->common), "n_blocks", (int)x->n_blocks, "n_blocks_done", (int)a->n_blocks_done,
                     "n_rows", (int)x->n_rows, "until_decided", x->until_decided, "quick", x->quick, "region",
                     word_of(region_words, x->region), "margin", real(x->margin), "alpha", real(x->alpha),
                     "family_alpha", real(a->family_alpha), "seed", big(x->seed), "limit_ns", big(x->limit_ns),
                     "matches", matches(x));
}

static json_t *state(const struct analysis *a)
{
    return json_pack("{s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:I}", "harness_biased", a->harness_biased, "emulated",
                     a->emulated, "simulated", a->simulated, "unverified", a->unverified, "finished", a->finished,
                     "interrupted", a->interrupted, "limited", a->limited, "n_without_figures",
                     (json_int_t)a->n_without_figures);
}

/* ------------------------------------------------------------------------------------------------
 * Cells
 */

static json_t *figure(const struct stats_figure *f)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "n", (int)f->n, "center", real(f->center), "low", real(f->low),
                     "high", real(f->high), "min", real(f->min), "max", real(f->max));
}

static json_t *figures(const struct arm_cell *c)
{
    json_t *object = json_object();

    for (unsigned m = 0; m < N_METRICS; m++)
        set(&object, metric_name((enum metric)m), figure(&c->metric[m]));
    set(&object, "process_user_cpus", figure(&c->process_user_cpus));
    set(&object, "process_system_cpus", figure(&c->process_system_cpus));
    set(&object, "machine_user_cpus", figure(&c->machine_user_cpus));
    set(&object, "machine_system_cpus", figure(&c->machine_system_cpus));
    for (unsigned w = 0; w < N_WIRE_FIGURES; w++)
        set(&object, wire_figure_name((enum wire_figure)w), figure(&c->wire[w]));
    return object;
}

static json_t *arm_cell(const struct analysis *a, uint32_t cell, uint32_t arm)
{
    const struct arm_cell *c = analysis_arm_cell(a, cell, arm);

    return json_pack("{s:o, s:s, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "arm",
                     name(a->x->arms[arm].name), "state", word_of(state_words, c->state), "reason", name(c->reason),
                     "n_planned", (int)c->n_planned, "n_ok", (int)c->n_ok, "n_failed", (int)c->n_failed, "n_refused",
                     (int)c->n_refused, "stopped", name(c->stopped), "error", name(c->error), "observed",
                     word(c->observed), "served", word(c->served), "verify", word(c->verify), "figures", figures(c),
                     "wire_retries", real(c->wire_retries));
}

static json_t *cells(const struct analysis *a)
{
    const struct experiment *x = a->x;
    json_t *list = json_array();

    for (uint32_t i = 0; i < x->n_cells; i++) {
        json_t *values = json_array(), *in_it = json_array();

        for (size_t k = 0; k < x->n_axes; k++)
            append(&values, name(x->axes[k].values[x->cells[i].value[k]].text));
        for (uint32_t arm = 0; arm < x->n_arms; arm++)
            append(&in_it, arm_cell(a, i, arm));
        append(&list, json_pack("{s:o, s:o, s:o}", "label", name(x->cells[i].label), "values", values, "arms", in_it));
    }
    return list;
}

/* ------------------------------------------------------------------------------------------------
 * Comparisons
 */

static json_t *blocks(unsigned n)
{
    return n ? json_integer(n) : json_null();
}

static json_t *effect(const struct stats_effect *e)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "n", (int)e->n, "ratio",
                     real(e->ratio), "low", real(e->low), "high", real(e->high), "level", real(e->level), "raw_low",
                     real(e->raw_low), "raw_high", real(e->raw_high), "sd", real(e->sd), "sd_moderated",
                     real(e->sd_moderated), "df", real(e->df), "p", real(e->p), "verdict",
                     stats_verdict_name(e->verdict), "blocks_low", blocks(e->blocks_low), "blocks_high",
                     blocks(e->blocks_high));
}

static void add_comparisons(const struct analysis *a, const struct comparison *items, size_t n, json_t **list)
{
    for (size_t i = 0; i < n; i++) {
        json_t *metrics = json_object();

        for (unsigned m = 0; m < N_METRICS; m++)
            set(&metrics, metric_name((enum metric)m), effect(&items[i].metric[m]));
        append(list, json_pack("{s:i, s:o, s:b, s:o, s:o}", "cell", (int)items[i].cell, "arm",
                               name(a->x->arms[items[i].arm].name), "is_aa", items[i].arm == a->x->aa, "ranked_apart",
                               name(items[i].ranked_apart), "metrics", metrics));
    }
}

static json_t *comparisons(const struct analysis *a)
{
    json_t *list = json_array();

    add_comparisons(a, a->comparisons, a->n_comparisons, &list);
    add_comparisons(a, a->aa, a->n_aa, &list);
    return list;
}

/* ------------------------------------------------------------------------------------------------
 * Lines
 */

static json_t *crossovers(const struct line *l)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->n_crossovers; i++) {
        const struct stats_crossover *c = &l->crossovers[i];

        append(&list, json_pack("{s:i, s:i, s:o, s:o, s:o, s:b}", "before", (int)l->cells[c->before], "after",
                                (int)l->cells[c->after], "x", real(c->x), "low", real(c->low), "high", real(c->high),
                                "rises", c->rises));
    }
    return list;
}

static json_t *lines(const struct analysis *a)
{
    json_t *list = json_array();

    for (size_t i = 0; i < a->n_lines; i++) {
        const struct line *l = &a->lines[i];
        json_t *along = json_array();

        for (size_t k = 0; k < l->n_cells; k++)
            append(&along, json_integer(l->cells[k]));
        append(&list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "axis", name(a->x->axes[l->axis].key), "arm",
                                name(a->x->arms[l->arm].name), "cells", along, "saturates",
                                l->saturates < l->n_cells ? json_integer(l->cells[l->saturates]) : json_null(),
                                "crossovers", crossovers(l)));
    }
    return list;
}

/* ------------------------------------------------------------------------------------------------
 * Causes
 */

static json_t *spans(const struct cause *c)
{
    json_t *object = json_object();

    for (int i = 0; i < CAUSE_NUMBERS && c->numbers[i].key; i++) {
        const struct cause_span *s = &c->numbers[i];

        set(&object, s->key,
            json_pack("{s:o, s:o, s:o, s:o}", "faster_low", real(s->faster_low), "faster_high", real(s->faster_high),
                      "slower_low", real(s->slower_low), "slower_high", real(s->slower_high)));
    }
    return object;
}

/* Null where neither is the faster one. */
static json_t *faster_arm(const struct analysis *a, const struct cause *c)
{
    if (c->is_same || c->kind == CAUSE_NOISE || c->kind == CAUSE_TOO_SHORT)
        return json_null();
    return name(a->x->arms[c->arm_is_faster ? c->arm : a->x->baseline].name);
}

static json_t *causes(const struct analysis *a)
{
    json_t *list = json_array();

    for (size_t i = 0; i < a->n_causes; i++) {
        const struct cause *c = &a->causes[i];
        json_t *in = json_array();

        for (size_t k = 0; k < c->n_cells; k++)
            append(&in, json_integer(c->cells[k]));
        append(&list,
               json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", cause_name(c->kind),
                         "confidence", cause_confidence_name(c->confidence), "variant", word(c->variant), "subject",
                         word(c->subject), "arm", name(a->x->arms[c->arm].name), "faster", faster_arm(a, c), "cells",
                         in, "ratio_low", real(c->ratio_low), "ratio_high", real(c->ratio_high), "numbers", spans(c),
                         "text", json_string(c->text), "tries", texts(c->tries, c->n_tries)));
    }
    return list;
}

/* ------------------------------------------------------------------------------------------------
 * Trials
 */

static json_t *drift(const struct stats_drift *d)
{
    if (!d->known)
        return json_null();
    return json_pack("{s:b, s:o, s:o, s:o, s:o}", "is_drift", d->is_drift, "change", real(d->change), "low",
                     real(d->low), "high", real(d->high), "p", real(d->p));
}

static json_t *outliers(const struct analysis *a)
{
    json_t *list = json_array();

    for (size_t i = 0; i < a->n_outliers; i++)
        append(&list, json_pack("{s:i, s:o, s:o}", "row", (int)a->outliers[i].row, "value", real(a->outliers[i].value),
                                "center", real(a->outliers[i].center)));
    return list;
}

static json_t *trial_figures(const struct figures *f)
{
    json_t *object = json_object();

    for (unsigned m = 0; m < N_METRICS; m++)
        set(&object, metric_name((enum metric)m), real(f->metric[m]));
    set(&object, "process_user_cpus", real(f->process_user_cpus));
    set(&object, "process_system_cpus", real(f->process_system_cpus));
    set(&object, "machine_user_cpus", real(f->machine_user_cpus));
    set(&object, "machine_system_cpus", real(f->machine_system_cpus));
    for (unsigned w = 0; w < N_WIRE_FIGURES; w++)
        set(&object, wire_figure_name((enum wire_figure)w), real(f->wire[w]));
    set(&object, "wire_retries", real(f->wire_retries));
    return object;
}

static json_t *trial(const struct analysis *a, const struct store_trial *t)
{
    const struct experiment *x = a->x;
    const struct experiment_row *row = &x->rows[t->row];

    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o}",
                     "row", (int)t->row, "block", (int)row->block, "cell", (int)row->cell, "cell_position",
                     (int)row->cell_position, "arm_position", (int)row->arm_position, "predecessor",
                     row->predecessor < x->n_arms ? name(x->arms[row->predecessor].name) : json_null(), "arm",
                     name(x->arms[row->arm].name), "status", word_of(status_words, t->status), "figures",
                     trial_figures(&t->figures), "observed", word(t->observed), "served", word(t->served), "verify",
                     word(t->verify), "emulated", t->emulated, "simulated", t->simulated, "began_realtime_ns",
                     big(t->began_realtime_ns), "t0_monotonic_ns", big(t->t0_monotonic_ns), "window_s",
                     real(t->window_s), "wall_s", real(t->wall_s), "error", name(t->error));
}

static json_t *trials(const struct analysis *a)
{
    json_t *list = json_array();

    for (size_t i = 0; i < a->n_trials; i++)
        append(&list, trial(a, &a->trials[i]));
    return list;
}

/* ------------------------------------------------------------------------------------------------ */

json_t *report_json(const struct analysis *a)
{
    json_t *object = json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}",
                               "schema", 1, "spur", SPUR_VERSION, "form", "report", "plan", plan(a), "state", state(a),
                               "warnings", texts(a->warnings, a->n_warnings), "sentences",
                               texts(a->sentences, a->n_sentences), "cells", cells(a), "comparisons", comparisons(a),
                               "lines", lines(a), "causes", causes(a), "n_decided", (int)a->n_decided, "n_unexplained",
                               (int)a->n_unexplained, "drift", drift(&a->drift), "outliers", outliers(a), "trials",
                               trials(a));

    if (object)
        set(&object, "nulls", json_nulls(object));
    return object;
}
