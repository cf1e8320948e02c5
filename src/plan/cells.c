/* SPDX-License-Identifier: MIT */
/* Cells and their labels. */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

/* NULL: out of memory. */
static char *make_label(const struct experiment *x, const uint32_t *value)
{
    char *text = NULL;
    size_t n;
    FILE *out;

    if (!x->n_axes)
        return strdup("all");
    out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    for (size_t i = 0; i < x->n_axes; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", x->axes[i].key, x->axes[i].values[value[i]].text);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* The first axis goes slowest. */
static void values_of(const struct experiment *x, size_t cell, uint32_t *ret)
{
    for (size_t i = x->n_axes; i--; cell /= x->axes[i].n_values)
        ret[i] = (uint32_t)(cell % x->axes[i].n_values);
}

static int make_cell(struct experiment *x, size_t index, struct spur_error *e)
{
    struct experiment_cell cell = {.value = calloc(x->n_axes + 1, sizeof(*cell.value)),
                                   .pairs = calloc(x->n_arms, sizeof(*cell.pairs))};

    if (cell.value) {
        values_of(x, index, cell.value);
        cell.label = make_label(x, cell.value);
    }
    if (!cell.value || !cell.pairs || !cell.label) {
        free(cell.value);
        free(cell.pairs);
        free(cell.label);
        return plan_no_memory(e);
    }
    x->cells[index] = cell;
    x->n_cells = index + 1; /* so far whole */
    return 0;
}

int plan_labels(struct experiment *x, struct spur_error *e)
{
    for (size_t i = 0; i < x->n_cells; i++) {
        char *label = make_label(x, x->cells[i].value);

        if (!label)
            return plan_no_memory(e);
        free(x->cells[i].label);
        x->cells[i].label = label;
    }
    return 0;
}

int plan_cells(struct experiment *x, struct spur_error *e)
{
    size_t n = 1;
    int r = 0;

    for (size_t i = 0; i < x->n_axes && n <= PLAN_MAX_ROWS; i++)
        n *= x->axes[i].n_values;
    if (n > PLAN_MAX_ROWS || n * x->n_arms * x->n_blocks > PLAN_MAX_ROWS) {
        r = error_spur(e, SPUR_CODE_USAGE, "plan", "%s%zu cells, %zu arms and %u blocks are more than %u trials",
                       n > PLAN_MAX_ROWS ? "at least " : "", n, x->n_arms, x->n_blocks, PLAN_MAX_ROWS);
        error_remedy(e, "give fewer values to some axis");
        return r;
    }
    x->cells = calloc(n, sizeof(*x->cells));
    if (!x->cells)
        return plan_no_memory(e);
    for (size_t i = 0; i < n && !r; i++)
        r = make_cell(x, i, e);
    return r;
}
