/* SPDX-License-Identifier: MIT */
/* Each function fills its part of a zeroed struct; what it leaves on failure, experiment_free can free. */
#include "store/experiment.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "store/text.h"
#include "store/words.h"

/* ------------------------------------------------------------------------------------------------
 * Small parts
 */

static int parse_text(const json_t *json, char **ret)
{
    return json_is_string(json) ? text_from_json(json, ret) : -EINVAL;
}

static int parse_index(const json_t *json, size_t n, uint32_t *ret)
{
    json_int_t value = json_integer_value(json);

    if (!json_is_integer(json) || value < 0 || value >= EXPERIMENT_NONE || (uint64_t)value >= n)
        return -EINVAL;
    *ret = (uint32_t)value;
    return 0;
}

static int parse_index_or_none(const json_t *json, size_t n, uint32_t *ret)
{
    if (!json_is_null(json))
        return parse_index(json, n, ret);
    *ret = EXPERIMENT_NONE;
    return 0;
}

static int parse_real(const json_t *json, double *ret)
{
    if (!json_is_null(json) && !json_is_number(json))
        return -EINVAL;
    *ret = json_is_null(json) ? NAN : json_number_value(json);
    return 0;
}

static int parse_u64(const json_t *json, uint64_t *ret)
{
    *ret = (uint64_t)json_integer_value(json);
    return json_is_integer(json) ? 0 : -EINVAL;
}

static int parse_bool(const json_t *json, bool *ret)
{
    *ret = json_is_true(json);
    return json_is_boolean(json) ? 0 : -EINVAL;
}

static int parse_word(const json_t *json, const char *const *words, unsigned *ret)
{
    int i = word_index(words, json_string_value(json));

    if (i < 0)
        return -EINVAL;
    *ret = (unsigned)i;
    return 0;
}

/* Zeroed room for the items of @json; *ret_n stays 0 unless there is room. */
static int parse_array(const json_t *json, size_t size, void **ret, size_t *ret_n)
{
    size_t n = json_array_size(json);

    if (!json_is_array(json))
        return -EINVAL;
    *ret = n ? calloc(n, size) : NULL;
    if (n && !*ret)
        return -ENOMEM;
    *ret_n = n;
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Parts of the plan
 */

static int parse_settings(const json_t *json, struct experiment_settings *s)
{
    void *items = NULL;
    int r = parse_array(json, sizeof(*s->items), &items, &s->n);

    s->items = items;
    for (size_t i = 0; !r && i < s->n; i++) {
        const json_t *pair = json_array_get(json, i);

        r = json_array_size(pair) == 2 ? parse_text(json_array_get(pair, 0), &s->items[i].key) : -EINVAL;
        if (!r)
            r = parse_text(json_array_get(pair, 1), &s->items[i].value);
    }
    return r;
}

static int parse_arms(const json_t *json, struct experiment *x)
{
    void *arms = NULL;
    int r = parse_array(json, sizeof(*x->arms), &arms, &x->n_arms);

    x->arms = arms;
    for (size_t i = 0; !r && i < x->n_arms; i++) {
        const json_t *arm = json_array_get(json, i);

        r = parse_text(json_object_get(arm, "name"), &x->arms[i].name);
        if (!r)
            r = parse_bool(json_object_get(arm, "is_aa"), &x->arms[i].is_aa);
        if (!r)
            r = parse_settings(json_object_get(arm, "settings"), &x->arms[i].settings);
    }
    return r;
}

static int parse_values(const json_t *json, struct experiment_axis *axis)
{
    void *values = NULL;
    int r = parse_array(json, sizeof(*axis->values), &values, &axis->n_values);

    axis->values = values;
    for (size_t i = 0; !r && i < axis->n_values; i++) {
        const json_t *value = json_array_get(json, i);

        r = parse_text(json_object_get(value, "text"), &axis->values[i].text);
        if (!r)
            r = parse_real(json_object_get(value, "number"), &axis->values[i].number);
    }
    return r;
}

static int parse_axis(const json_t *json, struct experiment_axis *axis)
{
    unsigned unit = 0;
    int r = parse_text(json_object_get(json, "key"), &axis->key);

    if (!r)
        r = parse_word(json_object_get(json, "unit"), unit_words, &unit);
    if (!r)
        r = parse_bool(json_object_get(json, "is_label"), &axis->is_label);
    if (!r)
        r = text_from_json(json_object_get(json, "prepare_command"), &axis->prepare_command);
    if (!r && json_object_get(json, "left_out"))
        r = parse_index(json_object_get(json, "left_out"), EXPERIMENT_NONE, &axis->n_left_out);
    axis->unit = (enum experiment_unit)unit;
    return r ? r : parse_values(json_object_get(json, "values"), axis);
}

static int parse_axes(const json_t *json, struct experiment *x)
{
    void *axes = NULL;
    int r = parse_array(json, sizeof(*x->axes), &axes, &x->n_axes);

    x->axes = axes;
    for (size_t i = 0; !r && i < x->n_axes; i++)
        r = parse_axis(json_array_get(json, i), &x->axes[i]);
    return r;
}

static int parse_pairs(const json_t *json, const struct experiment *x, struct experiment_cell *cell)
{
    void *pairs = NULL;
    size_t n = 0;
    int r = json_array_size(json) == x->n_arms ? parse_array(json, sizeof(*cell->pairs), &pairs, &n) : -EINVAL;

    cell->pairs = pairs;
    for (size_t i = 0; !r && i < n; i++) {
        const json_t *pair = json_array_get(json, i);
        unsigned state = 0;

        r = parse_word(json_object_get(pair, "state"), state_words, &state);
        cell->pairs[i].state = (enum experiment_state)state;
        if (!r)
            r = text_from_json(json_object_get(pair, "reason"), &cell->pairs[i].reason);
    }
    return r;
}

static int parse_cell(const json_t *json, const struct experiment *x, struct experiment_cell *cell)
{
    const json_t *values = json_object_get(json, "values");
    void *indices = NULL;
    size_t n = 0;
    int r = parse_text(json_object_get(json, "label"), &cell->label);

    if (!r)
        r = json_array_size(values) == x->n_axes ? parse_array(values, sizeof(*cell->value), &indices, &n) : -EINVAL;
    cell->value = indices;
    for (size_t i = 0; !r && i < n; i++)
        r = parse_index(json_array_get(values, i), x->axes[i].n_values, &cell->value[i]);
    return r ? r : parse_pairs(json_object_get(json, "pairs"), x, cell);
}

static int parse_cells(const json_t *json, struct experiment *x)
{
    void *cells = NULL;
    int r = parse_array(json, sizeof(*x->cells), &cells, &x->n_cells);

    x->cells = cells;
    for (size_t i = 0; !r && i < x->n_cells; i++)
        r = parse_cell(json_array_get(json, i), x, &x->cells[i]);
    return r;
}

static int parse_row(const json_t *json, const struct experiment *x, struct experiment_row *row)
{
    int r = json_array_size(json) == 7 ? parse_index(json_array_get(json, 0), x->n_blocks, &row->block) : -EINVAL;

    if (!r)
        r = parse_index(json_array_get(json, 1), x->n_cells, &row->cell);
    if (!r)
        r = parse_index(json_array_get(json, 2), x->n_arms, &row->arm);
    if (!r)
        r = parse_index(json_array_get(json, 3), x->n_cells, &row->cell_position);
    if (!r)
        r = parse_index(json_array_get(json, 4), x->n_arms, &row->arm_position);
    if (!r)
        r = parse_index_or_none(json_array_get(json, 5), x->n_arms, &row->predecessor);
    if (!r)
        r = parse_u64(json_array_get(json, 6), &row->seed);
    if (!r && x->cells[row->cell].pairs[row->arm].state != PAIR_PLANNED)
        r = -EINVAL;
    return r;
}

static int parse_rows(const json_t *json, struct experiment *x)
{
    void *rows = NULL;
    int r = parse_array(json, sizeof(*x->rows), &rows, &x->n_rows);

    x->rows = rows;
    for (size_t i = 0; !r && i < x->n_rows; i++)
        r = parse_row(json_array_get(json, i), x, &x->rows[i]);
    return r;
}

static int parse_match(const json_t *json, const struct experiment *x, struct experiment_match *match)
{
    int r = parse_index(json_object_get(json, "arm"), x->n_arms, &match->arm);

    if (!r)
        r = parse_text(json_object_get(json, "key"), &match->key);
    if (!r)
        r = parse_index(json_object_get(json, "value"), SIZE_MAX, &match->value);
    if (!r)
        r = parse_index(json_object_get(json, "n_pilots"), SIZE_MAX, &match->n_pilots);
    if (!r)
        r = parse_real(json_object_get(json, "target"), &match->target);
    if (!r && json_object_get(json, "cell")) /* older plans have one cell */
        r = parse_index(json_object_get(json, "cell"), x->n_cells, &match->cell);
    return r ? r : parse_real(json_object_get(json, "in_flight"), &match->in_flight);
}

/* Older plans have no such key. */
static int parse_matches(const json_t *json, struct experiment *x)
{
    void *matches = NULL;
    int r = json ? parse_array(json, sizeof(*x->matches), &matches, &x->n_matches) : 0;

    x->matches = matches;
    for (size_t i = 0; !r && i < x->n_matches; i++)
        r = parse_match(json_array_get(json, i), x, &x->matches[i]);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

static int parse_head(const json_t *json, struct experiment *x)
{
    unsigned region = 0;
    int r = text_from_json(json_object_get(json, "command"), &x->command);

    if (!r)
        r = text_from_json(json_object_get(json, "memory"), &x->memory);
    if (!r)
        r = parse_index(json_object_get(json, "n_blocks"), SIZE_MAX, &x->n_blocks);
    if (!r)
        r = parse_bool(json_object_get(json, "until_decided"), &x->until_decided);
    if (!r)
        r = parse_bool(json_object_get(json, "quick"), &x->quick);
    if (!r)
        r = parse_word(json_object_get(json, "region"), region_words, &region);
    if (!r)
        r = parse_real(json_object_get(json, "margin"), &x->margin);
    if (!r)
        r = parse_real(json_object_get(json, "alpha"), &x->alpha);
    if (!r)
        r = parse_u64(json_object_get(json, "seed"), &x->seed);
    if (!r)
        r = parse_u64(json_object_get(json, "limit_ns"), &x->limit_ns);
    x->region = (enum experiment_region)region;
    return r;
}

static int parse_body(const json_t *json, struct experiment *x)
{
    int r = parse_settings(json_object_get(json, "common"), &x->common);

    if (!r)
        r = parse_arms(json_object_get(json, "arms"), x);
    if (!r)
        r = parse_index(json_object_get(json, "baseline"), x->n_arms, &x->baseline);
    if (!r)
        r = parse_index_or_none(json_object_get(json, "aa"), x->n_arms, &x->aa);
    if (!r)
        r = parse_axes(json_object_get(json, "axes"), x);
    if (!r)
        r = parse_cells(json_object_get(json, "cells"), x);
    if (!r)
        r = parse_matches(json_object_get(json, "matches"), x);
    return r ? r : parse_rows(json_object_get(json, "rows"), x);
}

int experiment_from_json(const json_t *json, struct experiment *ret)
{
    struct experiment x = {0};
    int r = json_integer_value(json_object_get(json, "schema")) == EXPERIMENT_SCHEMA ? 0 : -EINVAL;

    if (!r)
        r = parse_head(json, &x);
    if (!r)
        r = parse_body(json, &x);
    if (r) {
        experiment_free(&x);
        return r;
    }
    *ret = x;
    return 0;
}
