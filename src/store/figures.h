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

/* What the storage saw (docs/wire.md): describes an arm, and is never judged. */
enum wire_figure {
    WIRE_IN_FLIGHT,   /* wire.mean_in_flight */
    WIRE_MEAN_BYTES,  /* wire.mean_bytes */
    WIRE_SERVICE,     /* wire.mean_service_ns */
    WIRE_PER_REQUEST, /* requests on the wire for one of the caller's */
    N_WIRE_FIGURES,
};

struct figures {
    double metric[N_METRICS];
    double wire[N_WIRE_FIGURES];
    double wire_retries; /* sent again in the window */
    /* CPUs busy in the window: seconds of CPU per second */
    double process_user_cpus, process_system_cpus;
    double machine_user_cpus, machine_system_cpus;
};

/* Key in JSON, CSV and the store ("bytes_per_second"), words for people ("throughput"), unit ("bytes/s"). */
const char *metric_name(enum metric m);
const char *metric_words(enum metric m);
const char *metric_unit(enum metric m);
bool metric_higher_is_better(enum metric m);

const char *wire_figure_name(enum wire_figure w);

/* A result that is not complete, or whose verification failed, has none: all NaN. */
void figures_take(const json_t *result, struct figures *ret);

#endif
