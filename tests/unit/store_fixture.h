/* SPDX-License-Identifier: MIT */
/* A plan with everything in it, and a folder of its own, for the tests of the store. Include after cmocka.h. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util.h"
#include "store/store.h"

#define ODD_NAME "it's \"odd\"\n100% \xff\xc3\x28 \xed\xa0\x80 \xe2\x82\xac {}; DROP TABLE arms; --"

struct fixture {
    char folder[64];
    char file[80]; /* "results" in it, which is not there */
    struct experiment x;
    json_t *identity, *environment;
};

static inline char *fixture_text(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    return copy;
}

static inline void *fixture_zeroed(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    assert_non_null(p);
    return p;
}

static inline void fixture_settings(struct experiment_settings *s, const char *const (*pairs)[2], size_t n)
{
    s->items = fixture_zeroed(n, sizeof(*s->items));
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        s->items[i].key = fixture_text(pairs[i][0]);
        s->items[i].value = fixture_text(pairs[i][1]);
    }
}

static inline void fixture_arms(struct experiment *x)
{
    static const char *const names[] = {"odirect", ODD_NAME, "odirect again"};
    static const char *const settings[][2] = {{"path", "fanout"}, {"file", ODD_NAME}, {"empty", ""}};

    x->n_arms = 3;
    x->baseline = 0;
    x->aa = 2;
    x->arms = fixture_zeroed(3, sizeof(*x->arms));
    for (uint32_t i = 0; i < 3; i++)
        x->arms[i].name = fixture_text(names[i]);
    x->arms[2].is_aa = true;
    fixture_settings(&x->arms[1].settings, settings, 3);
}

static inline void fixture_axis(struct experiment_axis *axis, const char *key, enum experiment_unit unit,
                                const char *const *texts, const double *numbers)
{
    axis->key = fixture_text(key);
    axis->unit = unit;
    axis->n_values = 2;
    axis->values = fixture_zeroed(2, sizeof(*axis->values));
    for (int i = 0; i < 2; i++) {
        axis->values[i].text = fixture_text(texts[i]);
        axis->values[i].number = numbers[i];
    }
}

static inline void fixture_cells(struct experiment *x)
{
    x->n_axes = 2;
    x->axes = fixture_zeroed(2, sizeof(*x->axes));
    fixture_axis(&x->axes[0], "mount", UNIT_NONE, (const char *[]){ODD_NAME, "b"}, (double[]){NAN, NAN});
    x->axes[0].prepare_command = fixture_text("remount 'a b' {}");
    x->axes[0].is_label = true;
    fixture_axis(&x->axes[1], "request", UNIT_BYTES, (const char *[]){"64K", "0.1"}, (double[]){65536, 0.1});
    x->n_cells = 4;
    x->cells = fixture_zeroed(4, sizeof(*x->cells));
    for (uint32_t i = 0; i < 4; i++) {
        char label[sizeof(ODD_NAME) + 16];

        snprintf(label, sizeof(label), "%u %s", i, ODD_NAME);
        x->cells[i].label = fixture_text(label);
        x->cells[i].value = fixture_zeroed(2, sizeof(uint32_t));
        x->cells[i].value[0] = i / 2;
        x->cells[i].value[1] = i % 2;
        x->cells[i].pairs = fixture_zeroed(3, sizeof(*x->cells[i].pairs));
    }
    x->cells[1].pairs[1] = (struct experiment_pair){PAIR_NOT_APPLICABLE, fixture_text("cannot " ODD_NAME)};
    x->cells[2].pairs[1] = (struct experiment_pair){PAIR_REFUSED, fixture_text("no such road")};
}

static inline void fixture_rows(struct experiment *x, uint32_t n_blocks)
{
    struct experiment_row *row = x->rows = fixture_zeroed((size_t)n_blocks * 12, sizeof(*row));

    x->n_blocks = n_blocks;
    for (uint32_t b = 0; b < n_blocks; b++)
        for (uint32_t c = 0; c < 4; c++)
            for (uint32_t a = 0; a < 3; a++)
                if (x->cells[c].pairs[a].state == PAIR_PLANNED)
                    *row++ =
                        (struct experiment_row){b, c, a, 3 - c, a, a ? a - 1 : EXPERIMENT_NONE, UINT64_MAX - b * 4 - c};
    x->n_rows = (size_t)(row - x->rows);
}

static inline void fixture_plan(struct experiment *x, uint32_t n_blocks)
{
    static const char *const common[][2] = {{"file", "first"}, {"file", ODD_NAME}, {"seconds", "10s"}};

    memset(x, 0, sizeof(*x));
    fixture_settings(&x->common, common, 3);
    fixture_arms(x);
    fixture_cells(x);
    fixture_rows(x, n_blocks);
    x->until_decided = x->quick = true;
    x->region = REGION_ROTATE;
    x->margin = 0.03;
    x->alpha = 0.1 / 3;
    x->seed = UINT64_MAX;
    x->limit_ns = 7200000000000ull;
    x->command = fixture_text("spur compare --file '" ODD_NAME "'");
    x->memory = fixture_text("emulated");
}

static inline void fixture_set_up(struct fixture *f)
{
    strcpy(f->folder, "/tmp/spur-store-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->file, sizeof(f->file), "%s/results", f->folder);
    fixture_plan(&f->x, 3);
    f->identity = json_pack("{s:s, s:f, s:s%}", "binary", "abc", "size", 0.1, "nul", "a\0b", (size_t)3);
    f->environment = json_pack("{s:[i, n, b]}", "list", 1, 1);
    assert_non_null(f->identity);
    assert_non_null(f->environment);
}

/* Files only, no folders. */
static inline void fixture_remove_folder(const char *folder)
{
    DIR *d = opendir(folder);

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        char name[400];

        snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
        if (unlink(name) < 0)
            rmdir(name);
    }
    closedir(d);
    assert_int_equal(rmdir(folder), 0);
}

static inline void fixture_tear_down(struct fixture *f)
{
    fixture_remove_folder(f->folder);
    experiment_free(&f->x);
    json_decref(f->identity);
    json_decref(f->environment);
}

static inline unsigned fixture_count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* "." and ".." */
}

static inline struct store *fixture_create(const struct fixture *f)
{
    struct store *s = NULL;
    struct spur_error e = {0};
    int r = store_create(f->file, &f->x, f->identity, f->environment, &s, &e);

    if (r)
        print_error("%d: %s\n", r, e.detail);
    assert_int_equal(r, 0);
    return s;
}

static inline struct store *fixture_open(const struct fixture *f, bool write)
{
    struct store *s = NULL;
    struct spur_error e = {0};
    int r = store_open(f->file, write, &s, &e);

    if (r)
        print_error("%d: %s\n", r, e.detail);
    assert_int_equal(r, 0);
    return s;
}

static inline void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static inline void assert_same_real(double a, double b)
{
    assert_true(isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof(a)) == 0);
}

static inline void assert_same_settings(const struct experiment_settings *a, const struct experiment_settings *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->items[i].key, b->items[i].key);
        assert_string_equal(a->items[i].value, b->items[i].value);
    }
}

static inline void assert_same_axes(const struct experiment *a, const struct experiment *b)
{
    assert_int_equal(a->n_axes, b->n_axes);
    for (size_t i = 0; i < a->n_axes; i++) {
        assert_string_equal(a->axes[i].key, b->axes[i].key);
        assert_int_equal(a->axes[i].unit, b->axes[i].unit);
        assert_int_equal(a->axes[i].is_label, b->axes[i].is_label);
        assert_same_text(a->axes[i].prepare_command, b->axes[i].prepare_command);
        assert_int_equal(a->axes[i].n_values, b->axes[i].n_values);
        for (size_t v = 0; v < a->axes[i].n_values; v++) {
            assert_string_equal(a->axes[i].values[v].text, b->axes[i].values[v].text);
            assert_same_real(a->axes[i].values[v].number, b->axes[i].values[v].number);
        }
    }
}

static inline void assert_same_cells(const struct experiment *a, const struct experiment *b)
{
    assert_int_equal(a->n_cells, b->n_cells);
    for (size_t i = 0; i < a->n_cells; i++) {
        assert_string_equal(a->cells[i].label, b->cells[i].label);
        assert_memory_equal(a->cells[i].value, b->cells[i].value, a->n_axes * sizeof(uint32_t));
        for (size_t k = 0; k < a->n_arms; k++) {
            assert_int_equal(a->cells[i].pairs[k].state, b->cells[i].pairs[k].state);
            assert_same_text(a->cells[i].pairs[k].reason, b->cells[i].pairs[k].reason);
        }
    }
}

static inline void assert_same_plan(const struct experiment *a, const struct experiment *b)
{
    assert_same_settings(&a->common, &b->common);
    assert_int_equal(a->n_arms, b->n_arms);
    for (size_t i = 0; i < a->n_arms; i++) {
        assert_string_equal(a->arms[i].name, b->arms[i].name);
        assert_int_equal(a->arms[i].is_aa, b->arms[i].is_aa);
        assert_same_settings(&a->arms[i].settings, &b->arms[i].settings);
    }
    assert_same_axes(a, b);
    assert_same_cells(a, b);
    assert_int_equal(a->n_rows, b->n_rows);
    assert_memory_equal(a->rows, b->rows, a->n_rows * sizeof(*a->rows));
    assert_int_equal(a->baseline, b->baseline);
    assert_int_equal(a->aa, b->aa);
    assert_int_equal(a->n_blocks, b->n_blocks);
    assert_int_equal(a->until_decided, b->until_decided);
    assert_int_equal(a->quick, b->quick);
    assert_int_equal(a->region, b->region);
    assert_same_real(a->margin, b->margin);
    assert_same_real(a->alpha, b->alpha);
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->limit_ns, b->limit_ns);
    assert_same_text(a->command, b->command);
    assert_same_text(a->memory, b->memory);
}

/* A trial of @row, with figures made of it. */
static inline struct store_trial fixture_trial(uint32_t row)
{
    struct store_trial t = {.row = row,
                            .observed = "host",
                            .served = "storage",
                            .verify = "ok",
                            .emulated = true,
                            .began_realtime_ns = 1700000000000000000ull + row,
                            .t0_monotonic_ns = row + 1,
                            .window_s = 10.1,
                            .wall_s = 11.3};

    for (int m = 0; m < N_METRICS; m++)
        t.figures.metric[m] = row + m / 7.0;
    t.figures.process_user_cpus = row + 0.1;
    t.figures.process_system_cpus = row + 0.2;
    t.figures.machine_user_cpus = NAN;
    t.figures.machine_system_cpus = row + 0.4;
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        t.figures.wire[w] = row + w / 9.0;
    t.figures.wire_retries = row ? row : NAN;
    return t;
}

static inline void assert_same_figures(const struct figures *a, const struct figures *b)
{
    for (int m = 0; m < N_METRICS; m++)
        assert_same_real(a->metric[m], b->metric[m]);
    assert_same_real(a->process_user_cpus, b->process_user_cpus);
    assert_same_real(a->process_system_cpus, b->process_system_cpus);
    assert_same_real(a->machine_user_cpus, b->machine_user_cpus);
    assert_same_real(a->machine_system_cpus, b->machine_system_cpus);
    for (int w = 0; w < N_WIRE_FIGURES; w++)
        assert_same_real(a->wire[w], b->wire[w]);
    assert_same_real(a->wire_retries, b->wire_retries);
}

/* But for the result, which is never read with it. */
static inline void assert_same_trial(const struct store_trial *a, const struct store_trial *b)
{
    assert_int_equal(a->row, b->row);
    assert_int_equal(a->status, b->status);
    assert_same_figures(&a->figures, &b->figures);
    assert_string_equal(a->observed, b->observed);
    assert_string_equal(a->served, b->served);
    assert_string_equal(a->verify, b->verify);
    assert_int_equal(a->emulated, b->emulated);
    assert_int_equal(a->simulated, b->simulated);
    assert_int_equal(a->began_realtime_ns, b->began_realtime_ns);
    assert_int_equal(a->t0_monotonic_ns, b->t0_monotonic_ns);
    assert_same_real(a->window_s, b->window_s);
    assert_same_real(a->wall_s, b->wall_s);
    assert_same_text(a->error, b->error);
}

/* With the error, if any; what was made is closed. */
static inline int fixture_try_create(const struct fixture *f, const char *name, struct spur_error *e)
{
    struct store *s;
    int r = store_create(name, &f->x, f->identity, f->environment, &s, e);

    if (!r)
        store_close(s);
    return r;
}

static inline int fixture_try_open(const char *name, bool write, struct spur_error *e)
{
    struct store *s;
    int r = store_open(name, write, &s, e);

    if (!r)
        store_close(s);
    return r;
}

static inline void assert_error(int r, int expected, const struct spur_error *e, const char *words)
{
    if (r != expected || !strstr(e->detail, words))
        fail_msg("%d, expected %d and '%s': %s", r, expected, words, e->detail);
    if (r == -EPERM) {
        assert_int_equal(e->source, SPUR_SOURCE_SPUR);
        assert_int_equal(e->code, SPUR_CODE_REFUSED);
        assert_true(e->remedy[0]);
    }
}

static inline void fixture_name(const struct fixture *f, const char *name, char *ret)
{
    assert_true(snprintf(ret, 400, "%s/%s", f->folder, name) < 400);
}

/* All trials, each with a result that fills most of a page. */
static inline void fixture_fill(struct store *s)
{
    json_t *result = json_object();
    char text[3000];

    memset(text, 'x', sizeof(text));
    json_object_set_new(result, "text", json_stringn(text, sizeof(text)));
    for (uint32_t i = 0; i < store_experiment(s)->n_rows; i++) {
        struct store_trial t = fixture_trial(i);

        t.result = result;
        assert_int_equal(store_add_trial(s, &t, NULL), 0);
    }
    json_decref(result);
}

#endif
