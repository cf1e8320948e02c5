/* SPDX-License-Identifier: MIT */
/*
 * Writes a results file of trials that never ran, through the store alone: to time the report on large files and to try
 * its forms. All of it is marked emulated, and its event and notes say synthetic. Deterministic in --seed.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"
#include "store/store.h"

#define MAX_ARMS  16
#define WINDOW_S  10.0
#define TRIAL_NS  11000000000ull
#define BEGAN_NS  1700000000000000000ull
#define REQUEST   (1u << 20)
#define SYNTHETIC "synthetic: written by make-results, nothing was measured"

struct options {
    const char *filename;
    uint32_t n_arms, n_cells, n_blocks, n_intervals;
    bool aa, wire;
    double noise, drift; /* sd of log rates; rate at the end / at the begin */
    struct {
        double first, last; /* ratio to the baseline in the first and in the last cell */
    } ratio[MAX_ARMS];
    uint64_t seed;
};

static const char usage[] =
    "usage: make-results FILE [--arms N] [--cells N] [--blocks N] [--ratio R[:R],...] [--noise SD] [--drift R]\n"
    "                    [--intervals N] [--seed N] [--aa] [--wire]\n"
    "Arm 0 is the baseline. --ratio has one value for each other arm; A:B goes from A in the first cell (one thread) "
    "to\n"
    "B in the last. --aa adds a second copy of the baseline, --wire what the storage saw.\n";

/* ------------------------------------------------------------------------------------------------
 * Options
 */

static uint32_t count(const char *text, uint32_t least, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || !*text || value < least || value > most)
        errx(2, "%s: not a number of %u..%u", text, least, most);
    return (uint32_t)value;
}

static double real(const char *text, const char **ret_end)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !(value >= 0) || isinf(value) || (!ret_end && *end))
        errx(2, "%s: not a number", text);
    if (ret_end)
        *ret_end = end;
    return value;
}

static void parse_ratios(const char *text, struct options *o)
{
    for (int arm = 1; *text; arm++) {
        if (arm == MAX_ARMS)
            errx(2, "--ratio: too many values");
        o->ratio[arm].first = o->ratio[arm].last = real(text, &text);
        if (*text == ':')
            o->ratio[arm].last = real(text + 1, &text);
        if (*text && *text++ != ',')
            errx(2, "--ratio: not R[:R],...");
    }
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {{"arms", 1, NULL, 'a'},
                                          {"cells", 1, NULL, 'c'},
                                          {"blocks", 1, NULL, 'b'},
                                          {"ratio", 1, NULL, 'r'},
                                          {"noise", 1, NULL, 'n'},
                                          {"drift", 1, NULL, 'd'},
                                          {"seed", 1, NULL, 's'},
                                          {"aa", 0, NULL, 'A'},
                                          {"wire", 0, NULL, 'w'},
                                          {"intervals", 1, NULL, 'i'},
                                          {0}};

    *o = (struct options){
        .n_arms = 2, .n_cells = 7, .n_blocks = 5, .n_intervals = 4, .noise = 0.02, .drift = 1, .seed = 1};
    for (int arm = 0; arm < MAX_ARMS; arm++)
        o->ratio[arm].first = o->ratio[arm].last = arm ? 1.25 : 1;
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == 'a')
            o->n_arms = count(optarg, 1, MAX_ARMS - 1);
        else if (c == 'c')
            o->n_cells = count(optarg, 1, 100000);
        else if (c == 'b')
            o->n_blocks = count(optarg, 1, 100000);
        else if (c == 'i')
            o->n_intervals = count(optarg, 0, 10000);
        else if (c == 's')
            o->seed = count(optarg, 0, UINT32_MAX);
        else if (c == 'r')
            parse_ratios(optarg, o);
        else if (c == 'n')
            o->noise = real(optarg, NULL);
        else if (c == 'd')
            o->drift = real(optarg, NULL);
        else if (c == 'A')
            o->aa = true;
        else if (c == 'w')
            o->wire = true;
        else
            errx(2, "%s", usage);
    }
    if (optind + 1 != argc)
        errx(2, "%s", usage);
    o->filename = argv[optind];
}

/* ------------------------------------------------------------------------------------------------
 * Noise
 */

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));

    return radius * cos(2 * M_PI * uniform(state));
}

/* ------------------------------------------------------------------------------------------------
 * The plan
 */

static void *must(void *p)
{
    if (!p)
        errx(1, "out of memory");
    return p;
}

static char *print(const char *format, uint32_t n)
{
    char text[64];

    snprintf(text, sizeof(text), format, n);
    return must(strdup(text));
}

/* 1, 2, 4, ... while that is a plausible number of threads. */
static uint32_t threads_of(const struct options *o, uint32_t cell)
{
    return o->n_cells <= 12 ? 1u << cell : cell + 1;
}

static const char *path_of(uint32_t arm)
{
    static const char *const paths[] = {"odirect", "fanout", "buffered", "mmap"};

    return paths[arm % ARRAY_SIZE(paths)];
}

static void make_arm(struct experiment *x, uint32_t arm, const struct options *o)
{
    struct experiment_arm *a = &x->arms[arm];

    a->is_aa = arm == o->n_arms;
    a->name = a->is_aa ? print("odirect again", 0) : arm < 4 ? must(strdup(path_of(arm))) : print("arm %u", arm);
    a->settings.n = 1;
    a->settings.items = must(calloc(1, sizeof(*a->settings.items)));
    a->settings.items[0].key = must(strdup("path"));
    a->settings.items[0].value = must(strdup(path_of(a->is_aa ? 0 : arm)));
}

static void make_cells(struct experiment *x, const struct options *o)
{
    struct experiment_axis *axis = x->axes = must(calloc(1, sizeof(*x->axes)));

    x->n_axes = 1;
    axis->key = must(strdup("threads"));
    axis->unit = UNIT_COUNT;
    axis->values = must(calloc(o->n_cells, sizeof(*axis->values)));
    axis->n_values = x->n_cells = o->n_cells;
    x->cells = must(calloc(o->n_cells, sizeof(*x->cells)));
    for (uint32_t i = 0; i < o->n_cells; i++) {
        axis->values[i].text = print("%u", threads_of(o, i));
        axis->values[i].number = threads_of(o, i);
        x->cells[i].label = print("threads %u", threads_of(o, i));
        x->cells[i].value = must(calloc(1, sizeof(uint32_t)));
        x->cells[i].value[0] = i;
        x->cells[i].pairs = must(calloc(x->n_arms, sizeof(*x->cells[i].pairs)));
    }
}

/* Cells in shuffled order; arms turn from block to block, every other turn backwards. */
static void make_rows(struct experiment *x, const struct options *o, uint64_t *state)
{
    uint32_t n_arms = (uint32_t)x->n_arms, *order = must(calloc(o->n_cells, sizeof(*order)));
    struct experiment_row *row = x->rows = must(calloc((size_t)o->n_blocks * o->n_cells * n_arms, sizeof(*row)));

    for (uint32_t block = 0; block < o->n_blocks; block++) {
        for (uint32_t i = 0; i < o->n_cells; i++) {
            uint32_t k = (uint32_t)(next(state) % (i + 1));

            order[i] = order[k];
            order[k] = i;
        }
        for (uint32_t c = 0; c < o->n_cells; c++) {
            uint64_t seed = next(state) >> 1;
            uint32_t before = EXPERIMENT_NONE;

            for (uint32_t p = 0; p < n_arms; p++, row++) {
                uint32_t arm = (block + order[c] + (block & 1 ? n_arms - p : p)) % n_arms;

                *row = (struct experiment_row){block, order[c], arm, c, p, before, seed};
                before = arm;
            }
        }
    }
    x->n_rows = (size_t)(row - x->rows);
    free(order);
}

static void make_plan(const struct options *o, struct experiment *x, uint64_t *state)
{
    *x = (struct experiment){.n_arms = o->n_arms + o->aa,
                             .aa = o->aa ? o->n_arms : EXPERIMENT_NONE,
                             .n_blocks = o->n_blocks,
                             .margin = 0.03,
                             .alpha = 0.05,
                             .seed = o->seed,
                             .command = must(strdup("make-results")),
                             .memory = must(strdup("emulated"))};
    x->arms = must(calloc(x->n_arms, sizeof(*x->arms)));
    for (uint32_t arm = 0; arm < x->n_arms; arm++)
        make_arm(x, arm, o);
    make_cells(x, o);
    make_rows(x, o, state);
}

/* ------------------------------------------------------------------------------------------------
 * Trials
 */

/* Rises with the threads and saturates. */
static double true_rate(const struct options *o, const struct experiment_row *row)
{
    double threads = threads_of(o, row->cell), along = o->n_cells > 1 ? (double)row->cell / (o->n_cells - 1) : 0;
    uint32_t arm = row->arm < o->n_arms ? row->arm : 0;

    return 4e8 * threads / (1 + threads / 8) * o->ratio[arm].first *
           pow(o->ratio[arm].last / o->ratio[arm].first, along);
}

static json_t *make_intervals(const struct options *o, double bytes, uint64_t *state)
{
    json_t *list = json_array();
    double length_s = WINDOW_S / o->n_intervals;

    for (uint32_t i = 0; i < o->n_intervals; i++) {
        json_int_t n = (json_int_t)(bytes / o->n_intervals / REQUEST * exp(o->noise * normal(state)));

        json_array_append_new(list, json_pack("{s:f, s:f, s:I, s:I}", "begin_s", i * length_s, "end_s",
                                              (i + 1) * length_s, "bytes", n * REQUEST, "requests", n));
    }
    return list;
}

static json_t *make_effective(const char *path, uint32_t threads)
{
    return json_pack("{s:s, s:{s:s, s:b, s:b, s:b, s:b, s:i, s:s}, s:{}, s:{}, s:i, s:i, s:i, s:s, "
                     "s:[{s:s, s:i, s:s, s:s, s:s}]}",
                     "path", path, "memory", "name", "emulated", "device", 1, "emulated", 1, "simulated", 0,
                     "page_locked", 0, "numa_node", -1, "device_name", "host memory and a copy engine thread",
                     "settings", "path_facts", "threads", (int)threads, "depth", 1, "request_bytes", (int)REQUEST,
                     "share", "none", "files", "name", "/synthetic/file", "bytes", 1 << 30, "file_system", "none",
                     "format", "spur", "extents", "data");
}

static json_t *make_environment(void)
{
    return json_pack("{s:s, s:{s:s, s:i, s:i, s:n}, s:[f, f, f]}", "kernel", "0 synthetic", "cpu", "model", "synthetic",
                     "online", 8, "allowed", 8, "governor", "loadavg", 1.0, 1.0, 1.0);
}

/* As many as the rate asks for at that time each. */
static json_t *make_wire(const struct experiment_row *row, double rate, json_int_t requests)
{
    json_int_t pieces = row->arm ? 4 : 1;
    double service_s = 570e-6;

    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:n}", "source", "block", "requests", requests * pieces, "mean_bytes",
                     (double)REQUEST / (double)pieces, "mean_service_ns", 1e9 * service_s, "mean_in_flight",
                     rate * service_s / ((double)REQUEST / (double)pieces), "retries");
}

static json_t *make_result(const struct options *o, const struct experiment_row *row, double rate, uint64_t *state)
{
    uint32_t threads = threads_of(o, row->cell);
    json_int_t requests = (json_int_t)(rate * WINDOW_S / REQUEST), bytes = requests * REQUEST;
    json_int_t p50 = (json_int_t)(threads * (double)REQUEST / rate * 1e9 * exp(o->noise * normal(state)));
    json_int_t p99 = (json_int_t)(2.5 * (double)p50 * exp(o->noise * normal(state)));
    double cpu_s = 0.2 * (double)bytes / (1 << 30) * exp(o->noise * normal(state)), idle_s = 0.1 * uniform(state);
    json_t *result = json_pack(
        "{s:i, s:s, s:b, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:{s:I, s:I, s:I, s:I, s:I}, s:[[I,I],[I,I]],"
        " s:{s:{s:f, s:f, s:s}, s:{s:f, s:f, s:f, s:s}}, s:{s:s, s:s}, s:[{s:s, s:s, s:s, s:n}], s:[s], s:[], s:{}}",
        "schema", 1, "spur", spur_version(), "complete", 1, "observed", "host", "served", "storage", "bytes", bytes,
        "requests", requests, "seconds", WINDOW_S, "bytes_per_second", (double)bytes / WINDOW_S, "requests_per_second",
        (double)requests / WINDOW_S, "latency_ns", "min", p50 / 2, "mean", p50, "p50", p50, "p99", p99, "max", p99 * 2,
        "latency_histogram", p50, requests - requests / 50, p99, requests / 50, "cpu", "process", "user_s", cpu_s * 0.2,
        "system_s", cpu_s * 0.8, "includes", "nothing", "machine", "user_s", cpu_s * 0.25 + idle_s, "system_s",
        cpu_s * 0.9, "baseline_busy_cpus", 0.1, "method", "synthetic", "verify", "mode", "sample", "status", "ok",
        "evidence", "source", "construction", "strength", "none", "says", SYNTHETIC, "value", "notes", SYNTHETIC,
        "errors", "nulls");

    json_object_set_new(must(result), "intervals", make_intervals(o, (double)bytes, state));
    if (o->wire)
        json_object_set_new(result, "wire", make_wire(row, rate, requests));
    json_object_set_new(result, "effective", make_effective(path_of(row->arm < o->n_arms ? row->arm : 0), threads));
    json_object_set_new(result, "environment",
                        json_pack("{s:o, s:o}", "begin", make_environment(), "end", make_environment()));
    return result;
}

static void add_trial(struct store *s, const struct options *o, uint32_t i, uint64_t *state)
{
    const struct experiment *x = store_experiment(s);
    double rate = true_rate(o, &x->rows[i]) * exp(o->noise * normal(state)) * pow(o->drift, i / (double)x->n_rows);
    json_t *result = make_result(o, &x->rows[i], rate, state);
    struct store_trial t = {.row = i,
                            .observed = "host",
                            .served = "storage",
                            .verify = "ok",
                            .emulated = true,
                            .began_realtime_ns = BEGAN_NS + i * TRIAL_NS,
                            .t0_monotonic_ns = (i + 1) * TRIAL_NS,
                            .window_s = WINDOW_S,
                            .wall_s = WINDOW_S + 0.8,
                            .result = result};
    struct spur_error e;

    figures_take(result, &t.figures);
    if (store_add_trial(s, &t, &e) < 0)
        errx(1, "%s", e.detail);
    json_decref(result);
}

static void add_event(struct store *s, enum store_event_kind kind, uint64_t realtime_ns)
{
    struct store_event event = {.kind = kind,
                                .realtime_ns = realtime_ns,
                                .block = EXPERIMENT_NONE,
                                .cell = EXPERIMENT_NONE,
                                .arm = EXPERIMENT_NONE,
                                .text = (char[]){SYNTHETIC}};
    struct spur_error e;

    if (store_add_event(s, &event, &e) < 0)
        errx(1, "%s", e.detail);
}

int main(int argc, char **argv)
{
    struct options o;
    struct experiment x;
    struct store *s;
    struct spur_error e;
    json_t *identity = json_pack("{s:s}", "note", SYNTHETIC), *environment = make_environment();
    uint64_t state;

    parse(argc, argv, &o);
    state = o.seed;
    make_plan(&o, &x, &state);
    if (store_create(o.filename, &x, identity, environment, &s, &e) < 0)
        errx(1, "%s", e.detail);
    add_event(s, EVENT_STARTED, BEGAN_NS);
    for (uint32_t i = 0; i < x.n_rows; i++)
        add_trial(s, &o, i, &state);
    add_event(s, EVENT_FINISHED, BEGAN_NS + x.n_rows * TRIAL_NS);
    store_close(s);
    experiment_free(&x);
    json_decref(identity);
    json_decref(environment);
    return 0;
}
