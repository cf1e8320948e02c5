/* SPDX-License-Identifier: MIT */
/*
 * The order of trials. Whatever drifts - the storage, the machine - must not fall on one arm: in a cell each arm stands
 * in each place, and after each other arm, equally often.
 */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

/* ------------------------------------------------------------------------------------------------
 * Random numbers: splitmix64, so that a plan does not depend on the C library
 */

struct generator {
    uint64_t state;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t draw(struct generator *g)
{
    g->state += 0x9e3779b97f4a7c15u;
    return mix(g->state);
}

/* 0..n-1, each equally likely: draws from the cut-off rest of the range are thrown away. */
static uint32_t below(struct generator *g, uint32_t n)
{
    uint64_t rest = (UINT64_MAX - n + 1) % n, value;

    do
        value = draw(g);
    while (value < rest);
    return (uint32_t)(value % n);
}

static void shuffle(struct generator *g, uint32_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = below(g, (uint32_t)i);
        uint32_t other = items[j];

        items[j] = items[i - 1];
        items[i - 1] = other;
    }
}

#define BITS_63 (UINT64_MAX >> 1)

/* Each step can be undone within 63 bits: two indices never have one seed. */
static uint64_t trial_seed(uint64_t seed, uint64_t index)
{
    uint64_t z = (mix(seed) + index) & BITS_63;

    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u) & BITS_63;
    z = ((z ^ (z >> 27)) * 0x94d049bb133111ebu) & BITS_63;
    return z ^ (z >> 31);
}

/* ------------------------------------------------------------------------------------------------
 * Arms in a cell
 */

/* A cell's own sequence of Williams rows. */
struct turn {
    struct generator random;
    uint32_t *arms; /* planned ones, relabelled */
    uint32_t n;     /* of them; fewer than 2: the cell is left out */
    uint32_t *rows; /* of this turn, in their order */
    uint32_t n_rows, next;
};

/* Place @place of row @row, as an index of n arms. An odd square needs its mirror image to balance who follows whom. */
static uint32_t williams(uint32_t n, uint32_t row, uint32_t place)
{
    uint32_t step;

    if (row >= n)
        place = n - 1 - place;
    step = place % 2 ? (place + 1) / 2 : (n - place / 2) % n;
    return (step + row) % n;
}

/*
 * Square and mirror image stay apart: within each, every arm stands once in every place, so that places are balanced
 * as well as can be wherever the experiment ends.
 */
static void start_turn(struct turn *t)
{
    uint32_t swap = t->n_rows > t->n ? below(&t->random, 2) * t->n : 0;

    for (uint32_t i = 0; i < t->n_rows; i++)
        t->rows[i] = (i + swap) % t->n_rows;
    for (uint32_t i = 0; i < t->n_rows; i += t->n)
        shuffle(&t->random, t->rows + i, t->n);
    t->next = 0;
}

static int turn_init(struct turn *t, const struct experiment *x, uint32_t cell)
{
    t->random.state = mix(x->seed ^ mix(cell + 1));
    t->arms = calloc(x->n_arms, sizeof(*t->arms));
    t->rows = calloc(2 * x->n_arms, sizeof(*t->rows));
    if (!t->arms || !t->rows)
        return -1;
    for (uint32_t i = 0; i < x->n_arms; i++)
        if (x->cells[cell].pairs[i].state == PAIR_PLANNED)
            t->arms[t->n++] = i;
    shuffle(&t->random, t->arms, t->n);
    t->n_rows = t->next = t->n % 2 ? 2 * t->n : t->n;
    return 0;
}

static uint32_t next_row(struct turn *t)
{
    if (t->next == t->n_rows)
        start_turn(t);
    return t->rows[t->next++];
}

/* ------------------------------------------------------------------------------------------------
 * Cells in a block
 */

struct order {
    struct experiment *x;
    struct generator random;
    struct turn *turns; /* of each cell */
    uint32_t *cells;    /* scratch: in their order within a block */
    uint32_t n_cells;
    size_t n_prepared;
};

/* Cells [first, first + n), which share the values of the axes before @axis: prepared ones value by value. */
static int visit(struct order *o, size_t axis, uint32_t first, uint32_t n)
{
    uint32_t n_values, *values;
    int r = 0;

    if (axis == o->n_prepared) {
        uint32_t begin = o->n_cells;

        for (uint32_t i = first; i < first + n; i++)
            if (o->turns[i].n >= 2)
                o->cells[o->n_cells++] = i;
        shuffle(&o->random, o->cells + begin, o->n_cells - begin);
        return 0;
    }
    n_values = (uint32_t)o->x->axes[axis].n_values;
    values = calloc(n_values, sizeof(*values));
    if (!values)
        return -1;
    for (uint32_t i = 0; i < n_values; i++)
        values[i] = i;
    shuffle(&o->random, values, n_values);
    for (uint32_t i = 0; i < n_values && !r; i++)
        r = visit(o, axis + 1, first + values[i] * (n / n_values), n / n_values);
    free(values);
    return r;
}

static void write_cell(struct order *o, uint32_t block, uint32_t position)
{
    uint32_t cell = o->cells[position];
    struct turn *t = &o->turns[cell];
    uint32_t row = next_row(t), last = EXPERIMENT_NONE;

    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t arm = t->arms[williams(t->n, row, i)];

        o->x->rows[o->x->n_rows++] = (struct experiment_row){
            .block = block,
            .cell = cell,
            .arm = arm,
            .cell_position = position,
            .arm_position = i,
            .predecessor = last,
            .seed = trial_seed(o->x->seed, (uint64_t)block * o->x->n_cells + cell),
        };
        last = arm;
    }
}

static int write_block(struct order *o, uint32_t block)
{
    o->n_cells = 0;
    if (visit(o, 0, 0, (uint32_t)o->x->n_cells) < 0)
        return -1;
    for (uint32_t i = 0; i < o->n_cells; i++)
        write_cell(o, block, i);
    return 0;
}

/* No cell has two arms that can run: the first reason, as an example. */
static int nothing_to_run(const struct experiment *x, struct spur_error *e)
{
    const char *reason = NULL, *name = NULL;
    bool refused = false;

    for (size_t i = 0; i < x->n_cells; i++)
        for (size_t j = 0; j < x->n_arms; j++) {
            const struct experiment_pair *pair = &x->cells[i].pairs[j];

            refused |= pair->state == PAIR_REFUSED;
            if (!reason && pair->state != PAIR_PLANNED) {
                reason = pair->reason;
                name = x->arms[j].name;
            }
        }
    return error_spur(e, refused ? SPUR_CODE_REFUSED : SPUR_CODE_USAGE, "plan",
                      "nothing can be compared: no cell has two arms that can run (%s: %.400s)", name ? name : "?",
                      reason ? reason : "no reason was given");
}

static int fill(struct order *o, size_t *ret_n)
{
    struct experiment *x = o->x;

    *ret_n = 0;
    o->turns = calloc(x->n_cells, sizeof(*o->turns));
    o->cells = calloc(x->n_cells, sizeof(*o->cells));
    if (!o->turns || !o->cells)
        return -1;
    for (uint32_t i = 0; i < x->n_cells; i++) {
        if (turn_init(&o->turns[i], x, i) < 0)
            return -1;
        if (o->turns[i].n >= 2)
            *ret_n += (size_t)o->turns[i].n * x->n_blocks;
    }
    while (o->n_prepared < x->n_axes && x->axes[o->n_prepared].prepare_command)
        o->n_prepared++;
    return 0;
}

static void order_free(struct order *o)
{
    for (size_t i = 0; o->turns && i < o->x->n_cells; i++) {
        free(o->turns[i].arms);
        free(o->turns[i].rows);
    }
    free(o->turns);
    free(o->cells);
}

int plan_order(struct experiment *x, struct spur_error *e)
{
    struct order o = {.x = x, .random.state = mix(x->seed)};
    size_t n;
    int r = fill(&o, &n);

    if (!r && !n) {
        order_free(&o);
        return nothing_to_run(x, e);
    }
    free(x->rows);
    x->n_rows = 0;
    x->rows = r ? NULL : calloc(n, sizeof(*x->rows));
    if (!x->rows)
        r = -1;
    for (uint32_t block = 0; block < x->n_blocks && !r; block++)
        r = write_block(&o, block);
    order_free(&o);
    return r < 0 ? plan_no_memory(e) : 0;
}
