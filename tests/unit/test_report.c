/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/units.h"
#include "test_report.h"

/* ------------------------------------------------------------------------------------------------
 * The plan
 */

static void *grow(void *items, size_t n, size_t size)
{
    char *grown = realloc(items, (n + 1) * size);

    assert_non_null(grown);
    memset(grown + n * size, 0, size);
    return grown;
}

static char *copy(const char *text)
{
    char *p = strdup(text);

    assert_non_null(p);
    return p;
}

void made_setting(struct experiment_settings *s, const char *key, const char *value)
{
    s->items = grow(s->items, s->n, sizeof(*s->items));
    s->items[s->n].key = copy(key);
    s->items[s->n++].value = copy(value);
}

void made_begin(struct made *m, const char *arms)
{
    char *list = copy(arms), *rest = list, *name;
    struct experiment *x = &m->x;

    memset(m, 0, sizeof(*m));
    m->noise = 0.01;
    *x = (struct experiment){.aa = EXPERIMENT_NONE, .margin = 0.03, .alpha = 0.05, .seed = 7};
    while ((name = strsep(&rest, " "))) {
        x->arms = grow(x->arms, x->n_arms, sizeof(*x->arms));
        x->arms[x->n_arms].name = copy(name);
        x->arms[x->n_arms].is_aa = !strcmp(name, "aa");
        if (x->arms[x->n_arms].is_aa)
            x->aa = (uint32_t)x->n_arms;
        made_setting(&x->arms[x->n_arms].settings, "path", strcmp(name, "aa") ? name : x->arms[0].name);
        x->n_arms++;
    }
    free(list);
    made_setting(&x->common, "file", "/mnt/a/file");
    made_setting(&x->common, "seconds", "10s");
    x->command = copy("spur compare --file /mnt/a/file --arm odirect --arm fanout");
    x->memory = copy("pinned");
}

static double number_of(enum experiment_unit unit, const char *text)
{
    uint64_t value = 0;
    struct spur_error e;

    if (unit == UNIT_NONE)
        return NAN;
    if (unit == UNIT_BYTES)
        assert_int_equal(units_parse_bytes(text, &value, &e), 0);
    else if (unit == UNIT_NS)
        assert_int_equal(units_parse_time(text, true, &value, &e), 0);
    else
        assert_int_equal(units_parse_count(text, &value, &e), 0);
    return (double)value;
}

void made_axis(struct made *m, const char *key, enum experiment_unit unit, const char *values)
{
    struct experiment_axis *axis;
    char *list = copy(values), *rest = list, *text;

    m->x.axes = grow(m->x.axes, m->x.n_axes, sizeof(*m->x.axes));
    axis = &m->x.axes[m->x.n_axes++];
    axis->key = copy(key);
    axis->unit = unit;
    while ((text = strsep(&rest, " "))) {
        axis->values = grow(axis->values, axis->n_values, sizeof(*axis->values));
        axis->values[axis->n_values].text = copy(text);
        axis->values[axis->n_values++].number = number_of(unit, text);
    }
    free(list);
}

static char *label_of(const struct experiment *x, const uint32_t *value)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    for (size_t i = 0; i < x->n_axes; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", x->axes[i].key, x->axes[i].values[value[i]].text);
    if (!x->n_axes)
        fputs("all", out);
    fclose(out);
    return text;
}

static void add_cell(struct experiment *x, size_t index)
{
    struct experiment_cell *cell = &x->cells[index];

    cell->value = calloc(x->n_axes + 1, sizeof(*cell->value));
    cell->pairs = calloc(x->n_arms, sizeof(*cell->pairs));
    assert_true(cell->value && cell->pairs);
    for (size_t i = x->n_axes; i--; index /= x->axes[i].n_values)
        cell->value[i] = (uint32_t)(index % x->axes[i].n_values);
    cell->label = label_of(x, cell->value);
}

static void add_rows(struct experiment *x)
{
    x->rows = calloc(x->n_blocks * x->n_cells * x->n_arms, sizeof(*x->rows));
    assert_non_null(x->rows);
    for (uint32_t block = 0; block < x->n_blocks; block++)
        for (uint32_t cell = 0; cell < x->n_cells; cell++)
            for (uint32_t i = 0; i < x->n_arms; i++)
                x->rows[x->n_rows++] = (struct experiment_row){
                    .block = block,
                    .cell = cell,
                    .arm = (uint32_t)((i + block) % x->n_arms),
                    .cell_position = cell,
                    .arm_position = i,
                    .predecessor = i ? (uint32_t)((i + block - 1) % x->n_arms) : EXPERIMENT_NONE,
                    .seed = block * 1000 + cell,
                };
}

void made_plan(struct made *m, uint32_t n_blocks)
{
    struct experiment *x = &m->x;

    x->n_blocks = n_blocks;
    x->n_cells = 1;
    for (size_t i = 0; i < x->n_axes; i++)
        x->n_cells *= x->axes[i].n_values;
    x->cells = calloc(x->n_cells, sizeof(*x->cells));
    assert_non_null(x->cells);
    for (size_t i = 0; i < x->n_cells; i++)
        add_cell(x, i);
    add_rows(x);
    m->n_trials = (uint32_t)x->n_rows;
}

void made_state(struct made *m, uint32_t cell, uint32_t arm, enum experiment_state state, const char *reason)
{
    struct experiment *x = &m->x;
    size_t n = 0;

    x->cells[cell].pairs[arm].state = state;
    x->cells[cell].pairs[arm].reason = copy(reason);
    for (size_t i = 0; i < x->n_rows; i++)
        if (x->rows[i].cell != cell || x->rows[i].arm != arm)
            x->rows[n++] = x->rows[i];
    x->n_rows = n;
    m->n_trials = (uint32_t)n;
}

/* ------------------------------------------------------------------------------------------------
 * Trials
 */

double made_noise(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu + 1;
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        z ^= z >> 30;
        z *= 0xbf58476d1ce4e5b9u;
        z ^= z >> 27;
        z *= 0x94d049bb133111ebu;
        z ^= z >> 31;
        sum += (double)(z >> 11) / 9007199254740992.0 * 2 - 1;
    }
    return sum / 3;
}

/* The baseline one request at a time of those that it was asked for, others 16 pieces of each. */
static void fill_wire(const struct made *m, const struct experiment_row *row, struct figures *f)
{
    bool is_split = row->arm != m->x.baseline;

    for (int w = 0; w < N_WIRE_FIGURES; w++)
        f->wire[w] = NAN;
    f->wire_retries = NAN;
    if (!m->wire)
        return;
    f->wire[WIRE_IN_FLIGHT] = (is_split ? 118 : 8.1) * exp(0.01 * made_noise(row->block, row->cell, row->arm));
    f->wire[WIRE_MEAN_BYTES] = 1048576;
    f->wire[WIRE_SERVICE] = is_split ? 9.2e6 : 570e3;
    f->wire[WIRE_PER_REQUEST] = is_split ? 16 : 1;
    f->wire_retries = row->block == 1;
}

static void fill(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    double rate = m->rate ? m->rate(m, row->cell, row->arm) : 1000;
    double share = exp(3 * m->noise * made_noise(row->block, row->cell, row->arm));

    rate *= 1048576.0 * share * exp(0.05 * made_noise(row->block, 77, 0));
    t->figures.metric[METRIC_RATE] = rate;
    t->figures.metric[METRIC_REQUESTS] = rate / 65536;
    t->figures.metric[METRIC_P50] = 1e12 / rate;
    t->figures.metric[METRIC_P99] = 3e12 / rate * exp(m->noise * made_noise(row->block, row->cell, 50 + row->arm));
    t->figures.metric[METRIC_CPU_PROCESS] = (row->arm == m->x.baseline || row->arm == m->x.aa ? 0.5 : 0.25) / share;
    t->figures.metric[METRIC_CPU_MACHINE] = NAN;
    t->figures.process_user_cpus = 0.1;
    t->figures.process_system_cpus = 0.4;
    t->figures.machine_user_cpus = t->figures.machine_system_cpus = NAN;
    fill_wire(m, row, &t->figures);
}

static void run_row(struct made *m, uint32_t index)
{
    struct store_trial t = {.row = index, .status = TRIAL_OK, .window_s = 10, .wall_s = 11.5};
    struct spur_error e;

    t.began_realtime_ns = 1764565200000000000u + index * 12000000000u; /* 2025-12-01 05:00 UTC */
    t.t0_monotonic_ns = 1000000000u + index * 12000000000u;
    strcpy(t.observed, "host");
    strcpy(t.served, "storage");
    strcpy(t.verify, "ok");
    fill(m, &m->x.rows[index], &t);
    if (m->trial)
        m->trial(m, &m->x.rows[index], &t);
    if (t.status != TRIAL_OK) {
        for (int i = 0; i < N_METRICS; i++)
            t.figures.metric[i] = NAN;
        t.figures.process_user_cpus = t.figures.process_system_cpus = NAN;
        for (int i = 0; i < N_WIRE_FIGURES; i++)
            t.figures.wire[i] = NAN;
    }
    assert_int_equal(store_add_trial(m->store, &t, &e), 0);
}

void made_run(struct made *m)
{
    json_t *object = json_object();
    struct spur_error e;

    /* Each trial is synced, which takes its time on a disk. */
    strcpy(m->dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/spur-report.XXXXXX" : "/tmp/spur-report.XXXXXX");
    assert_non_null(mkdtemp(m->dir));
    snprintf(m->file, sizeof(m->file), "%s/results.db", m->dir);
    if (store_create(m->file, &m->x, object, object, &m->store, &e) < 0)
        fail_msg("store_create: %s", e.detail);
    json_decref(object);
    made_event(m, EVENT_STARTED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, "spur compare");
    for (uint32_t i = 0; i < m->n_trials; i++)
        if (!m->is_absent || !m->is_absent(m, &m->x.rows[i]))
            run_row(m, i);
}

void made_event(struct made *m, enum store_event_kind kind, uint32_t block, uint32_t cell, uint32_t arm,
                const char *text)
{
    struct store_event event = {kind, 1764565200000000000u, block, cell, arm, (char *)text};
    struct spur_error e;

    assert_int_equal(store_add_event(m->store, &event, &e), 0);
}

void made_finish(struct made *m)
{
    struct spur_error e;

    if (analysis_make(m->store, &m->a, &e) < 0)
        fail_msg("analysis_make: %s", e.detail);
}

void made_free(struct made *m)
{
    analysis_free(&m->a);
    store_close(m->store);
    experiment_free(&m->x);
    unlink(m->file);
    rmdir(m->dir);
}
