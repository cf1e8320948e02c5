/* SPDX-License-Identifier: MIT */
/* Counters read at both ends of the window. */
#ifndef SPUR_WORKER_MEASURE_H
#define SPUR_WORKER_MEASURE_H

#include "path/path.h"
#include "probe/nvfs.h"
#include "probe/probe.h"
#include "worker/gpu_sampler.h"
#include "worker/seen.h"
#include "worker/trial.h"

struct snapshot {
    uint64_t t_ns; /* CLOCK_MONOTONIC */
    double process_user_s, process_system_s;
    struct probe_cpu cpu;
    struct probe_process_io io;
    struct probe_block_stat block;
    struct probe_nvfs nvfs;
    struct path_roads roads; /* of the path, where it has them */
};

/* What is measured, found once at set-up. */
struct measure {
    struct probe probe;
    struct probe_block block; /* leaves under all targets; unknown if one of them is */
    struct spur_path *path;   /* that counts its roads, or NULL */
    double baseline_busy;     /* CPUs busy while the trial was idle; negative: not measured */
    struct snapshot begin, end;
    struct seen seen; /* by the storage, at the same moments */
    struct gpu_sampler *gpu_sampler;
    struct gpu_samples gpu_samples; /* between begin and end; after the end */
};

void measure_init(struct measure *m, const struct target_list *targets);
/* The GPUs of the trial, whose links are to be watched. */
void measure_gpus(struct measure *m, const struct trial *t);
void measure_free(struct measure *m);
/* Watches the machine for @ns while the trial is idle. */
void measure_baseline(struct measure *m, uint64_t ns);
/* Both ends of the window. */
void measure_begin(struct measure *m);
void measure_end(struct measure *m);

/* Bytes of the targets' usable ranges in the page cache; false with a reason if unknown for one of them. */
bool measure_residency(const struct trial *t, uint64_t *ret_bytes, char *ret_reason, size_t size);

/* CPU seconds of the whole machine above the baseline, split by ticks; false with a reason. */
struct machine_cpu {
    double user_s, system_s, busy_s;
};
bool measure_machine_cpu(const struct measure *m, struct machine_cpu *ret, char *ret_reason, size_t size);

#endif
