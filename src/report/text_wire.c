/* SPDX-License-Identifier: MIT */
/* What the storage saw, as figures in words: the tables of text and markdown, and the page's. */
#include <math.h>

#include "core/units.h"
#include "core/util.h"
#include "report/text_table.h"
#include "report/wire_words.h"

bool wire_is_known(const struct arm_cell *c)
{
    return c->n_ok && (isfinite(c->wire[WIRE_IN_FLIGHT].center) || isfinite(c->wire[WIRE_MEAN_BYTES].center));
}

static char *number(double value, char *ret)
{
    snprintf(ret, WIRE_WORDS, value < 0.095 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
    return ret;
}

char *wire_words(const struct arm_cell *c, enum wire_figure w, char *ret)
{
    double value = c->wire[w].center;

    if (!isfinite(value)) {
        snprintf(ret, WIRE_WORDS, "-");
        return ret;
    }
    if (w == WIRE_MEAN_BYTES)
        return units_format_mean_bytes(value, ret);
    if (w == WIRE_SERVICE)
        return units_format_time((uint64_t)llround(value), ret);
    return number(value, ret);
}

char *wire_retries_words(const struct arm_cell *c, char *ret)
{
    snprintf(ret, WIRE_WORDS, isfinite(c->wire_retries) ? "%.0f" : "-", c->wire_retries);
    return ret;
}

bool text_has_wire(const struct analysis *a)
{
    for (size_t i = 0; i < a->x->n_cells * a->x->n_arms; i++)
        if (wire_is_known(&a->arm_cells[i]))
            return true;
    return false;
}

static void add_row(struct text_table *t, const struct analysis *a, uint32_t cell, uint32_t arm)
{
    const struct arm_cell *c = analysis_arm_cell(a, cell, arm);
    char label[512], text[WIRE_WORDS];

    text_table_add_name(t, a->x->cells[cell].label);
    text_table_add_name(t, analysis_arm_label(a, cell, arm, label, sizeof(label)));
    for (enum wire_figure w = 0; w < N_WIRE_FIGURES; w++)
        text_table_add(t, "%s", wire_words(c, w, text));
    text_table_add(t, "%s", wire_retries_words(c, text));
}

void text_wire(struct text_table *t, const struct analysis *a)
{
    static const char *const names[] = {"cell", "arm", "in flight", "size", "time", "per request", "sent again"};

    t->align = "llrrrrr";
    t->n_columns = ARRAY_SIZE(names);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        text_table_add(t, "%s", names[i]);
    for (uint32_t cell = 0; cell < a->x->n_cells; cell++)
        for (uint32_t arm = 0; arm < a->x->n_arms; arm++)
            if (wire_is_known(analysis_arm_cell(a, cell, arm)))
                add_row(t, a, cell, arm);
}
