/* SPDX-License-Identifier: MIT */
/* The figures of a trial that are compared, taken from its result (docs/run-json.md). NaN: it has none. */
#ifndef SPUR_STORE_FIGURES_H
#define SPUR_STORE_FIGURES_H

#include <jansson.h>
#include <stdbool.h>

enum metric {
    METRIC_RATE,        /* bytes_per_second: primary */
    METRIC_REQUESTS,    /* requests_per_second */
    METRIC_P50,         /* latency_ns.p50 */
    METRIC_P99,         /* latency_ns.p99 */
    METRIC_CPU_PROCESS, /* CPU seconds of the worker process per GiB moved */
    METRIC_CPU_MACHINE, /* CPU seconds of the machine above its baseline per GiB moved */
    N_METRICS,
};

struct figures {
    double metric[N_METRICS];
    /* CPUs busy in the window: seconds of CPU per second */
    double process_user_cpus, process_system_cpus;
    double machine_user_cpus, machine_system_cpus;
};

/* Key in JSON, CSV and the store ("bytes_per_second"), words for people ("throughput"), unit ("bytes/s"). */
const char *metric_name(enum metric m);
const char *metric_words(enum metric m);
const char *metric_unit(enum metric m);
bool metric_higher_is_better(enum metric m);

/* A result that is not complete, or whose verification failed, has none: all NaN. */
void figures_take(const json_t *result, struct figures *ret);

#endif
