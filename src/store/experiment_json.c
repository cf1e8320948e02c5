/* SPDX-License-Identifier: MIT */
#include "store/experiment.h"

#include <math.h>

#include "store/text.h"
#include "store/words.h"

/* ------------------------------------------------------------------------------------------------
 * Small parts
 */

/* Out of memory anywhere leaves NULL, which all that is built on it inherits. */
static void append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item)) {
        json_decref(*list);
        *list = NULL;
    }
}

static json_t *index_to_json(uint32_t i)
{
    return i == EXPERIMENT_NONE ? json_null() : json_integer(i);
}

static json_t *real_to_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Of 64 bits, JSON's integers have a sign: the upper half turns negative, and back on reading. */
static json_t *u64_to_json(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* ------------------------------------------------------------------------------------------------
 * Parts of the plan
 */

static json_t *settings_to_json(const struct experiment_settings *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++)
        append(&list, json_pack("[o, o]", text_to_json(s->items[i].key), text_to_json(s->items[i].value)));
    return list;
}

static json_t *arms_to_json(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_arms; i++)
        append(&list, json_pack("{s:o, s:b, s:o}", "name", text_to_json(x->arms[i].name), "is_aa", x->arms[i].is_aa,
                                "settings", settings_to_json(&x->arms[i].settings)));
    return list;
}

static json_t *values_to_json(const struct experiment_axis *axis)
{
    json_t *list = json_array();

    for (size_t i = 0; i < axis->n_values; i++)
        append(&list, json_pack("{s:o, s:o}", "text", text_to_json(axis->values[i].text), "number",
                                real_to_json(axis->values[i].number)));
    return list;
}

static json_t *axes_to_json(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_axes; i++) {
        const struct experiment_axis *axis = &x->axes[i];

        append(&list, json_pack("{s:o, s:s, s:b, s:o, s:o, s:o*}", "key", text_to_json(axis->key), "unit",
                                word_of(unit_words, axis->unit), "is_label", axis->is_label, "prepare_command",
                                text_to_json(axis->prepare_command), "values", values_to_json(axis), "left_out",
                                axis->n_left_out ? json_integer(axis->n_left_out) : NULL));
    }
    return list;
}

static json_t *pairs_to_json(const struct experiment *x, const struct experiment_cell *cell)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_arms; i++)
        append(&list, json_pack("{s:s, s:o}", "state", word_of(state_words, cell->pairs[i].state), "reason",
                                text_to_json(cell->pairs[i].reason)));
    return list;
}

static json_t *cells_to_json(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_cells; i++) {
        json_t *values = json_array();

        for (size_t k = 0; k < x->n_axes; k++)
            append(&values, index_to_json(x->cells[i].value[k]));
        append(&list, json_pack("{s:o, s:o, s:o}", "label", text_to_json(x->cells[i].label), "values", values, "pairs",
                                pairs_to_json(x, &x->cells[i])));
    }
    return list;
}

static json_t *rows_to_json(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_rows; i++) {
        const struct experiment_row *r = &x->rows[i];

        append(&list, json_pack("[o, o, o, o, o, o, o]", index_to_json(r->block), index_to_json(r->cell),
                                index_to_json(r->arm), index_to_json(r->cell_position), index_to_json(r->arm_position),
                                index_to_json(r->predecessor), u64_to_json(r->seed)));
    }
    return list;
}

static json_t *matches_to_json(const struct experiment *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n_matches; i++) {
        const struct experiment_match *m = &x->matches[i];

        append(&list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cell", index_to_json(m->cell), "arm",
                                index_to_json(m->arm), "key", text_to_json(m->key), "value", index_to_json(m->value),
                                "n_pilots", index_to_json(m->n_pilots), "target", real_to_json(m->target), "in_flight",
                                real_to_json(m->in_flight)));
    }
    return list;
}

static json_t *plan_to_json(const struct experiment *x)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "schema", EXPERIMENT_SCHEMA, "command", text_to_json(x->command), "memory",
                     text_to_json(x->memory), "common", settings_to_json(&x->common), "baseline",
                     index_to_json(x->baseline), "aa", index_to_json(x->aa), "n_blocks", index_to_json(x->n_blocks),
                     "until_decided", x->until_decided, "quick", x->quick, "region", word_of(region_words, x->region),
                     "margin", real_to_json(x->margin), "alpha", real_to_json(x->alpha), "seed", u64_to_json(x->seed),
                     "limit_ns", u64_to_json(x->limit_ns), "arms", arms_to_json(x), "axes", axes_to_json(x), "cells",
                     cells_to_json(x), "rows", rows_to_json(x));
}

/* Plans without matches are as they were before there were any. */
json_t *experiment_to_json(const struct experiment *x)
{
    json_t *json = plan_to_json(x);

    if (json && x->n_matches && json_object_set_new(json, "matches", matches_to_json(x))) {
        json_decref(json);
        return NULL;
    }
    return json;
}
