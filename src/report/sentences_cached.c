/* SPDX-License-Identifier: MIT */
/* Arms that were to go past the page cache, and that a cache answered nevertheless: no figure of theirs is the
 * storage's, even where both sides of a comparison are alike. */
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"
#include "report/sentences.h"

/* Paths through the page cache may be answered by it; another program's are not ours to call a fault. */
static bool may_be_cached(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    static const char *const paths[] = {"buffered", "mmap", "external"};
    const char *path = experiment_value_of(x, cell, arm, "path") ?: x->arms[arm].name;

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        if (!strcmp(path, paths[i]))
            return true;
    return false;
}

static size_t count_cells(const struct analysis *a, uint32_t arm)
{
    size_t n = 0;

    for (uint32_t cell = 0; cell < a->x->n_cells; cell++)
        n += !may_be_cached(a->x, cell, arm) && analysis_arm_cell(a, cell, arm)->n_cached > 0;
    return n;
}

void warn_cached(FILE *out, const struct analysis *a)
{
    unsigned n = 0;

    for (uint32_t arm = 0; arm < a->x->n_arms; arm++) {
        size_t n_cells = count_cells(a, arm);

        if (!n_cells)
            continue;
        fputs(n++ ? ", " : "served by a cache, past which they were to go: ", out);
        words_arm(out, a, arm);
        fprintf(out, " in %zu of ", n_cells);
        words_count(out, a->x->n_cells, "cell", "cells");
    }
    if (n)
        fputs("; these figures are no storage's (spur doctor --check file-layout FILE says more of the file)", out);
}
