/* SPDX-License-Identifier: MIT */
/* The order of trials: balanced, shuffled, and the same for the same seed everywhere. */
#include "plan_fixture.h"

#define MAX_ARMS 7

static const char *const arm_texts[] = {"a a:path=null", "a b:path=null", "a c:path=null", "a d:path=null",
                                        "a e:path=null", "a f:path=null", "a g:path=null"};

/* Not ordered yet. */
static void make_arms(struct experiment *x, size_t n_arms, uint32_t n_blocks, uint64_t seed, const char *const *axes)
{
    struct plan_spec s = {.n_blocks = n_blocks, .seed = seed};
    const char *texts[16] = {NULL};
    struct spur_error e;
    size_t n = 0;

    for (size_t i = 0; i < n_arms; i++)
        texts[n++] = arm_texts[i];
    for (; *axes; axes++)
        texts[n++] = *axes;
    if (make_with(&s, x, &e, texts))
        fail_msg("%s", e.detail);
}

static void order(struct experiment *x)
{
    struct spur_error e;

    if (plan_order(x, &e))
        fail_msg("%s", e.detail);
}

/* One line a block: cells with their arms. */
static const char *rows_text(const struct experiment *x)
{
    static char out[4000];
    char *at = out;

    for (size_t i = 0; i < x->n_rows; i++) {
        const struct experiment_row *row = &x->rows[i];

        if (!row->arm_position)
            at += sprintf(at, "%s%u", !i ? "" : row->cell_position ? " " : "\n", row->cell);
        at += sprintf(at, "%s", x->arms[row->arm].name);
    }
    return out;
}

static void golden(void **state)
{
    struct experiment x;

    make_arms(&x, 2, 5, 42, TEXTS("x threads=1,8,64"));
    order(&x);
    assert_string_equal(rows_text(&x), "0ab 1ba 2ab\n"
                                       "2ba 0ba 1ab\n"
                                       "2ab 1ba 0ba\n"
                                       "2ba 0ab 1ab\n"
                                       "2ab 1ba 0ab");
    assert_true(x.rows[0].seed == 7239879678918079842u);
    assert_true(x.rows[29].seed == 2577675718664816072u);
    experiment_free(&x);
    make_arms(&x, 3, 3, 1, TEXTS("x threads=1,8", "x n=p,q,r", "p n=mount {}"));
    order(&x);
    assert_string_equal(rows_text(&x), "4cab 5cab 3cab 2cab 0acb 1bca\n"
                                       "3abc 2abc 4abc 5abc 1abc 0cba\n"
                                       "5bca 4bca 2bca 3bca 0bac 1cab");
    experiment_free(&x);
}

static void each_trial_once_and_in_its_place(void **state)
{
    for (size_t n_arms = 2; n_arms <= MAX_ARMS; n_arms++) {
        struct experiment x;
        char *seen;

        make_arms(&x, n_arms, 11, n_arms, TEXTS("x threads=1,2,3", "x depth=1,2"));
        order(&x);
        assert_int_equal(x.n_rows, 11 * 6 * n_arms);
        seen = calloc(x.n_rows, 1);
        for (size_t i = 0; i < x.n_rows; i++) {
            const struct experiment_row *row = &x.rows[i];
            size_t in_block = i % (6 * n_arms);

            assert_int_equal(row->block, i / (6 * n_arms));
            assert_int_equal(row->cell_position, in_block / n_arms);
            assert_int_equal(row->arm_position, in_block % n_arms);
            assert_int_equal(row->predecessor, row->arm_position ? x.rows[i - 1].arm : EXPERIMENT_NONE);
            if (row->arm_position)
                assert_int_equal(row->cell, x.rows[i - 1].cell);
            assert_true(row->cell < 6 && row->arm < n_arms);
            assert_false(seen[(row->block * 6 + row->cell) * n_arms + row->arm]++);
        }
        free(seen);
        experiment_free(&x);
    }
}

struct counts {
    unsigned place[MAX_ARMS][MAX_ARMS];   /* [arm][place] */
    unsigned follows[MAX_ARMS][MAX_ARMS]; /* [arm][arm before] */
};

static struct counts count(const struct experiment *x, uint32_t cell)
{
    struct counts c = {0};

    for (size_t i = 0; i < x->n_rows; i++) {
        const struct experiment_row *row = &x->rows[i];

        if (row->cell != cell)
            continue;
        c.place[row->arm][row->arm_position]++;
        if (row->predecessor != EXPERIMENT_NONE)
            c.follows[row->arm][row->predecessor]++;
    }
    return c;
}

static void full_turns_are_balanced_exactly(void **state)
{
    for (uint32_t n = 2; n <= MAX_ARMS; n++) {
        uint32_t turn = n % 2 ? 2 * n : n;
        struct experiment x;

        make_arms(&x, n, 3 * turn, 100 + n, TEXTS("x threads=1,2,3"));
        order(&x);
        for (uint32_t cell = 0; cell < 3; cell++) {
            struct counts c = count(&x, cell);

            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++) {
                    assert_int_equal(c.place[i][j], 3 * turn / n);
                    assert_int_equal(c.follows[i][j], i == j ? 0 : 3 * turn / n);
                }
        }
        experiment_free(&x);
    }
}

static void places_differ_by_one_at_most(void **state)
{
    for (uint32_t n = 2; n <= MAX_ARMS; n++)
        for (uint32_t blocks = 1; blocks <= 20; blocks++) {
            struct experiment x;
            struct counts c;

            make_arms(&x, n, blocks, blocks, TEXTS(NULL));
            order(&x);
            c = count(&x, 0);
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                    assert_true(c.place[i][j] == blocks / n || c.place[i][j] == blocks / n + 1);
            experiment_free(&x);
        }
}

/* What turns do not fix is random: who begins, and which cell comes when. */
static void the_rest_is_shuffled(void **state)
{
    enum { SEEDS = 400, CELLS = 9, BLOCKS = 5 };
    double position[CELLS] = {0}, first = 0, same_first = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct experiment x;
        uint32_t beginner[CELLS] = {0};

        make_arms(&x, 2, BLOCKS, seed, TEXTS("x threads=1,2,3,4,5,6,7,8,9"));
        order(&x);
        for (size_t i = 0; i < x.n_rows; i += 2) {
            position[x.rows[i].cell] += x.rows[i].cell_position;
            if (!x.rows[i].block)
                beginner[x.rows[i].cell] = x.rows[i].arm;
        }
        for (int i = 0; i < CELLS; i++)
            first += beginner[i];
        same_first += beginner[0] == beginner[1];
        experiment_free(&x);
    }
    for (int i = 0; i < CELLS; i++) /* the mean of 0..8; standard error 0.06 */
        assert_true(position[i] / SEEDS / BLOCKS > 3.75 && position[i] / SEEDS / BLOCKS < 4.25);
    assert_true(first / SEEDS / CELLS > 0.46 && first / SEEDS / CELLS < 0.54);
    assert_true(same_first / SEEDS > 0.4 && same_first / SEEDS < 0.6);
}

/* The arms of cell 0 in @block, as a number. */
static unsigned arms_in(const struct experiment *x, uint32_t block)
{
    const struct experiment_row *row = x->rows + block * x->n_arms;
    unsigned n = 0;

    for (size_t i = 0; i < x->n_arms; i++)
        n = n * 8 + row[i].arm;
    return n;
}

static void every_order_of_four_arms_comes_first_somewhere(void **state)
{
    unsigned seen[24] = {0}, n_seen = 0;

    for (uint64_t seed = 0; seed < 400; seed++) {
        struct experiment x;
        unsigned i = 0;

        make_arms(&x, 4, 1, seed, TEXTS(NULL));
        order(&x);
        while (i < n_seen && seen[i] != arms_in(&x, 0))
            i++;
        if (i == n_seen)
            seen[n_seen++] = arms_in(&x, 0);
        experiment_free(&x);
    }
    assert_int_equal(n_seen, 24);
}

/* Cyclic orders of three arms: abc, bca, cab are of one hand. */
static bool same_hand(unsigned a, unsigned b)
{
    for (int i = 0; i < 3; i++, a = a / 8 + a % 8 * 64)
        if (a == b)
            return true;
    return false;
}

static void turns_begin_differently(void **state)
{
    unsigned same_two = 0, same_three = 0;

    for (uint64_t seed = 0; seed < 400; seed++) {
        struct experiment x;

        make_arms(&x, 2, 4, seed, TEXTS(NULL));
        order(&x);
        same_two += arms_in(&x, 0) == arms_in(&x, 2);
        experiment_free(&x);
        make_arms(&x, 3, 12, seed, TEXTS(NULL));
        order(&x);
        same_three += same_hand(arms_in(&x, 0), arms_in(&x, 6));
        experiment_free(&x);
    }
    assert_in_range(same_two, 160, 240);
    assert_in_range(same_three, 160, 240);
}

static void blocks_differ(void **state)
{
    struct experiment x;
    unsigned moved = 0;

    make_arms(&x, 2, 2, 3, TEXTS("x threads=1,2,3,4,5,6,7,8,9"));
    order(&x);
    for (size_t i = 0; i < 18; i += 2)
        moved += x.rows[i].cell != x.rows[i + 18].cell;
    assert_true(moved >= 5);
    experiment_free(&x);
}

/* Goes over to another value of the axis, the first included. */
static unsigned changes(const struct experiment *x, uint32_t block, size_t axis)
{
    uint32_t last = EXPERIMENT_NONE;
    unsigned n = 0;

    for (size_t i = 0; i < x->n_rows; i++) {
        uint32_t value = x->cells[x->rows[i].cell].value[axis];

        if (x->rows[i].block != block)
            continue;
        n += value != last;
        last = value;
    }
    return n;
}

static void prepared_axes_are_grouped(void **state)
{
    unsigned first[3] = {0};
    struct experiment x;

    make_arms(&x, 2, 60, 9, TEXTS("x threads=1,2,3,4", "x n=p,q,r", "x m=s,t", "p n=mount {}", "p m=tune {}"));
    order(&x);
    assert_string_equal(x.axes[0].key, "n");
    for (uint32_t block = 0; block < 60; block++) {
        assert_int_equal(changes(&x, block, 0), 3);
        assert_in_range(changes(&x, block, 1), 4, 6);
        first[x.cells[x.rows[block * 48].cell].value[0]]++;
    }
    for (int i = 0; i < 3; i++) /* in an order of its own in each block */
        assert_in_range(first[i], 10, 30);
    experiment_free(&x);
}

static void seeds_belong_to_cell_and_block(void **state)
{
    struct experiment x, y;

    make_arms(&x, 3, 10, 5, TEXTS("x threads=1,2,3,4,5,6,7,8,9,10"));
    make_arms(&y, 3, 10, 6, TEXTS("x threads=1,2,3,4,5,6,7,8,9,10"));
    order(&x);
    order(&y);
    for (size_t i = 0; i < x.n_rows; i += 3) {
        assert_true(x.rows[i].seed == x.rows[i + 1].seed && x.rows[i].seed == x.rows[i + 2].seed);
        assert_true(x.rows[i].seed <= INT64_MAX);
        for (size_t j = i + 3; j < x.n_rows; j += 3)
            assert_true(x.rows[i].seed != x.rows[j].seed);
        for (size_t j = 0; j < y.n_rows; j += 3)
            assert_true(x.rows[i].seed != y.rows[j].seed);
    }
    experiment_free(&x);
    experiment_free(&y);
}

static void pairs_that_are_not_planned_have_no_rows(void **state)
{
    struct experiment x;

    make_arms(&x, 3, 6, 5, TEXTS("x threads=1,2,3,4"));
    x.cells[1].pairs[2].state = PAIR_NOT_APPLICABLE;
    x.cells[2].pairs[0].state = PAIR_REFUSED;
    x.cells[2].pairs[1].state = PAIR_NOT_APPLICABLE;
    order(&x);
    assert_int_equal(x.n_rows, 6 * (3 + 2 + 0 + 3));
    for (size_t i = 0; i < x.n_rows; i++) {
        assert_int_equal(x.cells[x.rows[i].cell].pairs[x.rows[i].arm].state, PAIR_PLANNED);
        assert_int_not_equal(x.rows[i].cell, 2);
        assert_true(x.rows[i].cell_position < 3);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            assert_int_equal(count(&x, 1).place[i][j], 3);
    experiment_free(&x);
}

static void nothing_to_run(void **state)
{
    struct spur_error e;
    struct experiment x;

    make_arms(&x, 2, 5, 5, TEXTS("x threads=1,2"));
    for (int i = 0; i < 2; i++) {
        x.cells[i].pairs[1].state = PAIR_NOT_APPLICABLE;
        x.cells[i].pairs[1].reason = strdup("it is too small");
    }
    assert_int_equal(plan_order(&x, &e), -EINVAL);
    assert_non_null(strstr(e.detail, "(b: it is too small)"));
    x.cells[1].pairs[1].state = PAIR_REFUSED;
    assert_int_equal(plan_order(&x, &e), -EPERM);
    experiment_free(&x);
}

static void a_plan_can_be_ordered_again(void **state)
{
    struct experiment x;
    char first[4000];

    make_arms(&x, 2, 5, 5, TEXTS("x threads=1,2"));
    order(&x);
    strcpy(first, rows_text(&x));
    order(&x);
    assert_string_equal(first, rows_text(&x));
    x.seed = 6;
    order(&x);
    assert_string_not_equal(first, rows_text(&x));
    experiment_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(each_trial_once_and_in_its_place),
        cmocka_unit_test(full_turns_are_balanced_exactly),
        cmocka_unit_test(places_differ_by_one_at_most),
        cmocka_unit_test(the_rest_is_shuffled),
        cmocka_unit_test(every_order_of_four_arms_comes_first_somewhere),
        cmocka_unit_test(turns_begin_differently),
        cmocka_unit_test(blocks_differ),
        cmocka_unit_test(prepared_axes_are_grouped),
        cmocka_unit_test(seeds_belong_to_cell_and_block),
        cmocka_unit_test(pairs_that_are_not_planned_have_no_rows),
        cmocka_unit_test(nothing_to_run),
        cmocka_unit_test(a_plan_can_be_ordered_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
