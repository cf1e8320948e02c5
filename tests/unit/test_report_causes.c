/* SPDX-License-Identifier: MIT */
/* Causes from a results file: what the rules need beyond figures comes out of the trials' results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/util.h"
#include "report/analysis_causes.h"
#include "test_report.h"

#define GIB ((double)(1ull << 30))

/* What a trial's result says; the baseline is arm 0. */
struct said {
    double threads[2], in_flight[2], service_ns[2];
    double cpus[2];            /* of the process */
    double throttled[2];       /* share of periods */
    double link_bytes[2];      /* received in 10 s, of a port of 100 Gbit/s; 0: there is none */
    bool rising[2], disagrees; /* both arms' samples */
    json_t *results[2];
    const char *observed, *library, *settings[2]; /* of arm 0: a cuFile */
    double per_request;                           /* 0: 1 */
    const char *files[2];                         /* separated by spaces; NULL: those of all */
    void (*also)(const struct made *m, const struct experiment_row *row,
                 struct store_trial *t); /* in place of say_trial */
};

static json_t *make_intervals(bool rising)
{
    json_t *list = json_array();

    for (int i = 0; i < 9; i++)
        json_array_append_new(list, json_pack("{s:f, s:f, s:I, s:i}", "begin_s", (double)i, "end_s", i + 1.0, "bytes",
                                              (json_int_t)(1000000 * (rising ? 1 + 0.05 * i : 1)), "requests", 1));
    return list;
}

static json_t *make_result(const struct said *s, int arm)
{
    json_t *rdma = json_array();

    if (s->link_bytes[arm] > 0)
        json_array_append_new(rdma, json_pack("{s:s, s:f, s:f, s:f}", "name", "mlx5_0/1", "received_bytes",
                                              s->link_bytes[arm], "sent_bytes", 1e6, "speed_bits_per_second", 1e11));
    return json_pack("{s:f, s:{s:i, s:i, s:{s:s?}}, s:{s:{s:{s:i}}}, s:{s:{s:i, s:i}, s:{s:b}, s:[], s:o}, s:o}",
                     "seconds", 10.0, "effective", "threads", (int)s->threads[arm], "depth", 1, "path_facts",
                     "library_version", arm ? NULL : s->library, "environment", "begin", "cpu", "online", 64, "wire",
                     "throttled", "periods", 100, "throttled_periods", (int)(100 * s->throttled[arm]), "sampled",
                     "agrees", !s->disagrees, "network", "rdma", rdma, "intervals", make_intervals(s->rising[arm]));
}

/* In flight and service time are the arm's, the rate is theirs. */
static double rate_of(const struct made *m, uint32_t cell, uint32_t arm)
{
    const struct said *s = m->context;

    (void)cell;
    return s->in_flight[arm] / (s->service_ns[arm] / 1e9); /* MiB/s */
}

static void say_trial(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    const struct said *s = m->context;
    double rate = t->figures.metric[METRIC_RATE];

    t->figures.wire[WIRE_IN_FLIGHT] = s->in_flight[row->arm] * exp(0.005 * made_noise(row->block, row->cell, 9));
    t->figures.wire[WIRE_MEAN_BYTES] = 1048576;
    t->figures.wire[WIRE_SERVICE] = t->figures.wire[WIRE_IN_FLIGHT] * 1048576e9 / rate;
    t->figures.wire[WIRE_PER_REQUEST] = s->per_request > 0 ? s->per_request : 1;
    t->figures.metric[METRIC_REQUESTS] = rate / 1048576 / t->figures.wire[WIRE_PER_REQUEST];
    if (row->arm == 0 && s->observed)
        snprintf(t->observed, sizeof(t->observed), "%s", s->observed);
    t->figures.metric[METRIC_CPU_PROCESS] = s->cpus[row->arm] / (rate / GIB);
    t->figures.process_user_cpus = 0.25 * s->cpus[row->arm];
    t->figures.process_system_cpus = 0.75 * s->cpus[row->arm];
    t->result = s->results[row->arm];
}

static struct said unremarkable(void)
{
    return (struct said){.threads = {8, 8}, .in_flight = {8, 24}, .service_ns = {570e3, 570e3}, .cpus = {0.5, 0.6}};
}

static void name_files(struct made *m, int arm, const char *files)
{
    char *list = files ? strdup(files) : NULL, *rest = list, *name;

    while ((name = strsep(&rest, " ")))
        made_setting(&m->x.arms[arm].settings, "file", name);
    free(list);
}

static void make(struct made *m, struct said *s, const char *arms, const char *threads)
{
    made_begin(m, arms);
    for (int i = 0; i < 2; i++)
        name_files(m, i, s->files[i]);
    if (s->settings[0])
        made_setting(&m->x.arms[0].settings, s->settings[0], s->settings[1]);
    if (threads)
        made_axis(m, "threads", UNIT_COUNT, threads);
    made_plan(m, 5);
    m->noise = 0.002;
    m->context = s;
    m->rate = rate_of;
    m->trial = s->also ? s->also : say_trial;
    for (int i = 0; i < 2; i++)
        s->results[i] = make_result(s, i);
    made_run(m);
    for (int i = 0; i < 2; i++)
        json_decref(s->results[i]);
    made_event(m, EVENT_FINISHED, EXPERIMENT_NONE, EXPERIMENT_NONE, EXPERIMENT_NONE, NULL);
    made_finish(m);
}

static const struct cause *only(const struct made *m, enum cause_kind kind)
{
    if (m->a.n_causes != 1 || m->a.causes[0].kind != kind)
        fail_msg("%zu causes, the first is: %s", m->a.n_causes, m->a.n_causes ? m->a.causes[0].text : "none");
    return &m->a.causes[0];
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

/* ------------------------------------------------------------------------------------------------ */

static void test_concurrency(void **state)
{
    struct said s = unremarkable();
    const struct cause *c;
    struct made m;

    make(&m, &s, "odirect fanout", NULL);
    c = only(&m, CAUSE_CONCURRENCY);
    assert_int_equal(c->confidence, CONFIDENCE_HIGH);
    assert_true(c->arm_is_faster && fabs(c->ratio_low - 3) < 0.1);
    assert_says(c->text, "fanout kept 24.0 wire requests of 1 MiB in flight (569 us each), odirect 8.0 of 1 MiB");
    assert_int_equal(c->n_tries, 2);
    assert_string_equal(c->tries[0], "threads=24");
    assert_string_equal(c->tries[1], "path=fanout");
    assert_true(m.a.n_decided == 1 && m.a.n_unexplained == 0);
    made_free(&m);
}

/* Cells that agree are one; of a slower arm it is the other way round. */
static void test_merged(void **state)
{
    struct said s = unremarkable();
    const struct cause *c;
    struct made m;

    s.in_flight[1] = 4;
    make(&m, &s, "odirect fanout", "1 2 4");
    c = only(&m, CAUSE_CONCURRENCY);
    assert_int_equal(c->n_cells, 3);
    assert_false(c->arm_is_faster);
    assert_says(c->text, "from 1 to 4 threads: odirect kept 8.0");
    assert_says(c->tries[0], "as many threads");
    made_free(&m);
}

/* Of arms with several files all count, in any order: the first alone would be the same for all of these. */
static void test_several_files(void **state)
{
    static const struct {
        const char *files[2];
        size_t n_causes;
    } rows[] = {
        {{"/mnt/a/f /mnt/b/f", "/mnt/a/f /mnt/b/f"}, 1},
        {{"/mnt/a/f /mnt/b/f", "/mnt/b/f /mnt/a/f"}, 1},
        {{"/mnt/a/file", NULL}, 1},
        {{"/mnt/a/f", "/mnt/a/f /mnt/b/f"}, 0},
        {{"/mnt/a/f /mnt/b/f", "/mnt/a/f"}, 0},
        {{"/mnt/a/f /mnt/b/f", "/mnt/a/f /mnt/c/f"}, 0},
        {{"/mnt/a/file /mnt/b/f", NULL}, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct said s = unremarkable();
        struct made m;

        memcpy(s.files, rows[i].files, sizeof(s.files));
        make(&m, &s, "odirect fanout", NULL);
        if (m.a.n_causes != rows[i].n_causes)
            fail_msg("row %zu: %zu causes", i, m.a.n_causes);
        made_free(&m);
    }
}

/* What an arm got from a part of the files was not the ceiling of all; what another got from more says nothing. */
static void test_files_within(void **state)
{
    assert_true(cause_files_within("2:/a", "2:/a2:/b"));
    assert_true(cause_files_within("2:/b", "2:/a2:/b"));
    assert_true(cause_files_within("2:/a2:/c", "2:/a2:/b2:/c"));
    assert_true(cause_files_within("", "2:/a"));
    assert_false(cause_files_within("2:/a2:/b", "2:/a"));
    assert_false(cause_files_within("2:/c", "2:/a2:/b"));
    assert_false(cause_files_within("2:/a", "3:/a1"));
    assert_false(cause_files_within("2:/a", ""));
}

static struct said of_library(const char *version, double in_flight)
{
    struct said s = unremarkable();

    s.observed = "nvidia-fs";
    s.library = version;
    s.in_flight[0] = in_flight;
    s.per_request = 16;
    return s;
}

static void assert_tries(struct said s, const char *first, const char *last)
{
    const struct cause *c;
    struct made m;

    make(&m, &s, "odirect fanout", NULL);
    c = only(&m, CAUSE_CONCURRENCY);
    assert_string_equal(c->tries[0], first);
    assert_says(c->tries[c->n_tries - 1], last);
    made_free(&m);
}

/* More threads help who waits for the wire; not who waits for other threads. */
static void test_locked(void **state)
{
    struct said told = of_library("1.18.0.66", 8);

    assert_tries(of_library("1.15.1.6", 8), "threads=24", "travel together");
    assert_tries(of_library("1.18.0.66", 8), "path=fanout", "another version (1.18.1 or later; else execution.");
    assert_tries(of_library(NULL, 1), "path=fanout", "travel together");
    told.settings[0] = "json.execution.parallel_io";
    told.settings[1] = "false";
    assert_tries(told, "threads=24", "travel together");
}

/* The samples contradict the mean. */
static void test_disagrees(void **state)
{
    struct said s = unremarkable();
    struct made m;

    s.disagrees = true;
    make(&m, &s, "odirect fanout", NULL);
    assert_int_equal(m.a.n_causes, 0);
    assert_int_equal(m.a.n_unexplained, 1);
    made_free(&m);
}

static void test_link(void **state)
{
    struct said s = unremarkable();
    const struct cause *c;
    struct made m;

    s.in_flight[1] = 8;
    s.link_bytes[0] = 1.18e11;
    s.link_bytes[1] = 1.19e11;
    make(&m, &s, "odirect fanout", NULL);
    c = only(&m, CAUSE_SATURATION);
    assert_string_equal(c->variant, "link");
    assert_string_equal(c->subject, "mlx5_0/1");
    assert_says(c->text, "are the same because the link mlx5_0/1 is full (95.2 % of its speed)");
    made_free(&m);

    s.link_bytes[1] = 0.9e11; /* full for one of them only */
    make(&m, &s, "odirect fanout", NULL);
    assert_int_equal(m.a.n_causes, 0);
    made_free(&m);
}

static void test_throttled(void **state)
{
    struct said s = unremarkable();
    struct made m;

    s.throttled[0] = 0.8;
    s.throttled[1] = 0.1;
    s.cpus[0] = 2;
    s.cpus[1] = 1.5;
    make(&m, &s, "odirect fanout", NULL);
    assert_says(only(&m, CAUSE_THROTTLED)->text, "held back by the CPU limit of its control group in 80 % of");
    made_free(&m);
}

static void test_too_short(void **state)
{
    struct said s = unremarkable();
    struct made m;

    s.in_flight[1] = 8;
    s.rising[0] = true;
    make(&m, &s, "odirect fanout", NULL);
    assert_says(only(&m, CAUSE_TOO_SHORT)->text, "the rate of odirect was still rising");
    assert_string_equal(m.a.causes[0].tries[0], "warmup=10s");
    made_free(&m);
}

/* But for one trial of them. */
static void rise_often(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    const struct said *s = m->context;

    say_trial(m, row, t);
    if (row->arm == 0 && row->block == 2)
        t->result = s->results[1];
}

static void test_rises_often(void **state)
{
    struct said s = unremarkable();
    struct made m;

    s.in_flight[1] = 8;
    s.rising[0] = true;
    s.also = rise_often;
    make(&m, &s, "odirect fanout", NULL);
    assert_int_equal(m.a.n_causes, 0);
    made_free(&m);
}

/* Another's requests are counted with the faster arm's. */
static void crowd(const struct made *m, const struct experiment_row *row, struct store_trial *t)
{
    say_trial(m, row, t);
    if (row->arm == 1)
        t->figures.wire[WIRE_IN_FLIGHT] *= 1.5;
}

static void test_held_back(void **state)
{
    struct said s = unremarkable();
    struct made m;

    s.also = crowd;
    make(&m, &s, "odirect fanout", NULL);
    assert_says(only(&m, CAUSE_HELD_BACK)->text, "these figures contradict each other");
    assert_int_equal(m.a.n_unexplained, 1);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concurrency),  cmocka_unit_test(test_merged),      cmocka_unit_test(test_disagrees),
        cmocka_unit_test(test_link),         cmocka_unit_test(test_throttled),   cmocka_unit_test(test_too_short),
        cmocka_unit_test(test_held_back),    cmocka_unit_test(test_rises_often), cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_files_within), cmocka_unit_test(test_locked),
    };

    return cmocka_run_group_tests_name("report causes", tests, NULL, NULL);
}
