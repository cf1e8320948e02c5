/* SPDX-License-Identifier: MIT */
#include "store/figures.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *words, *unit;
    bool higher_is_better;
} metrics[N_METRICS] = {
    [METRIC_RATE] = {"bytes_per_second", "throughput", "bytes/s", true},
    [METRIC_REQUESTS] = {"requests_per_second", "requests/s", "1/s", true},
    [METRIC_P50] = {"latency_p50_ns", "median latency", "ns", false},
    [METRIC_P99] = {"latency_p99_ns", "99 % latency", "ns", false},
    [METRIC_CPU_PROCESS] = {"cpu_process_s_per_gib", "process CPU per GiB", "s/GiB", false},
    [METRIC_CPU_MACHINE] = {"cpu_machine_s_per_gib", "machine CPU per GiB", "s/GiB", false},
};

const char *metric_name(enum metric m)
{
    return metrics[m].name;
}

const char *metric_words(enum metric m)
{
    return metrics[m].words;
}

const char *metric_unit(enum metric m)
{
    return metrics[m].unit;
}

bool metric_higher_is_better(enum metric m)
{
    return metrics[m].higher_is_better;
}

const char *wire_figure_name(enum wire_figure w)
{
    static const char *const names[N_WIRE_FIGURES] = {"wire_in_flight", "wire_mean_bytes", "wire_service_ns",
                                                      "wire_per_request"};

    return names[w];
}

/* NaN: null, or not there. */
static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double positive(double value)
{
    return value > 0 ? value : NAN;
}

static bool has_figures(const json_t *result)
{
    const char *status = json_string_value(json_object_get(json_object_get(result, "verify"), "status"));

    return json_is_true(json_object_get(result, "complete")) && !(status && !strcmp(status, "failed")) &&
           !json_array_size(json_object_get(result, "errors"));
}

static void take_cpu(const json_t *cpu, double bytes, double seconds, double *ret_per_gib, double *ret_user_cpus,
                     double *ret_system_cpus)
{
    double user_s = number(cpu, "user_s"), system_s = number(cpu, "system_s");

    *ret_per_gib = (user_s + system_s) / (bytes / (double)(1ull << 30));
    *ret_user_cpus = user_s / seconds;
    *ret_system_cpus = system_s / seconds;
}

/* What is others' alone describes no arm. */
static void take_wire(const json_t *wire, double requests, struct figures *f)
{
    if (json_is_true(json_object_get(wire, "others_only")))
        wire = NULL;
    f->wire[WIRE_IN_FLIGHT] = number(wire, "mean_in_flight");
    f->wire[WIRE_MEAN_BYTES] = number(wire, "mean_bytes");
    f->wire[WIRE_SERVICE] = number(wire, "mean_service_ns");
    f->wire[WIRE_PER_REQUEST] = number(wire, "requests") / positive(requests);
    f->wire_retries = number(wire, "retries");
}

void figures_take(const json_t *result, struct figures *ret)
{
    const json_t *latency = json_object_get(result, "latency_ns"), *cpu = json_object_get(result, "cpu");
    /* A quotient by nothing is no figure, and NaN passes through. */
    double bytes = positive(number(result, "bytes")), seconds = positive(number(result, "seconds"));
    struct figures f;

    f.metric[METRIC_RATE] = number(result, "bytes_per_second");
    f.metric[METRIC_REQUESTS] = number(result, "requests_per_second");
    f.metric[METRIC_P50] = number(latency, "p50");
    f.metric[METRIC_P99] = number(latency, "p99");
    take_cpu(json_object_get(cpu, "process"), bytes, seconds, &f.metric[METRIC_CPU_PROCESS], &f.process_user_cpus,
             &f.process_system_cpus);
    take_cpu(json_object_get(cpu, "machine"), bytes, seconds, &f.metric[METRIC_CPU_MACHINE], &f.machine_user_cpus,
             &f.machine_system_cpus);
    take_wire(json_object_get(result, "wire"), number(result, "requests"), &f);
    if (!has_figures(result)) {
        for (int w = 0; w < N_WIRE_FIGURES; w++)
            f.wire[w] = NAN;
        f.wire_retries = NAN;
        for (int m = 0; m < N_METRICS; m++)
            f.metric[m] = NAN;
        f.process_user_cpus = f.process_system_cpus = f.machine_user_cpus = f.machine_system_cpus = NAN;
    }
    *ret = f;
}
