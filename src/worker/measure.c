/* SPDX-License-Identifier: MIT */
#include "worker/measure.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "core/util.h"

#define MIN_MACHINE_WINDOW_NS 1990000000ull /* 2 s less jitter: ticks are 10 ms, and say too little of less */

/* Leaves of one more file system; a device that is there already is not added twice. */
static void add_leaves(struct probe_block *all, const struct probe_block *one)
{
    for (unsigned i = 0; i < one->n_leaves; i++) {
        bool there = false;

        for (unsigned k = 0; k < all->n_leaves; k++)
            there |= !strcmp(all->leaves[k], one->leaves[i]);
        if (!there && all->n_leaves < PROBE_MAX_LEAVES)
            memcpy(all->leaves[all->n_leaves++], one->leaves[i], sizeof(one->leaves[i]));
    }
    all->iostats &= one->iostats;
}

void measure_init(struct measure *m, const struct target_list *targets)
{
    memset(m, 0, sizeof(*m));
    m->baseline_busy = -1;
    probe_init(&m->probe);
    m->block.known = m->block.iostats = true;
    for (size_t i = 0; i < targets->n && m->block.known; i++) {
        struct probe_block one;

        if (i && targets->items[i].device == targets->items[i - 1].device)
            continue;
        probe_block_find(&m->probe, targets->items[i].device, &one);
        if (one.known)
            add_leaves(&m->block, &one);
        else
            m->block = one;
        if (!i)
            memcpy(m->block.top, one.top, sizeof(one.top));
    }
    seen_init(&m->seen, &m->probe, targets);
}

void measure_gpus(struct measure *m, const struct trial *t)
{
    char uuids[TRIAL_MAX_MEMORIES][48];
    unsigned n = 0;

    for (unsigned i = 0; i < t->n_memories; i++) {
        struct spur_memory_info info = {.size = sizeof(info)};

        spur_memory_describe(t->memories[i], &info);
        if (info.uuid[0])
            snprintf(uuids[n++], sizeof(uuids[0]), "%.47s", info.uuid);
    }
    m->gpu_sampler = gpu_sampler_open((const char(*)[48])uuids, n);
}

void measure_free(struct measure *m)
{
    gpu_sampler_stop(m->gpu_sampler, &m->gpu_samples);
    gpu_sampler_close(m->gpu_sampler);
    seen_free(&m->seen);
}

static void snapshot(const struct measure *m, struct snapshot *ret)
{
    struct rusage ru = {0};

    memset(ret, 0, sizeof(*ret));
    ret->t_ns = now_ns();
    getrusage(RUSAGE_SELF, &ru);
    ret->process_user_s = (double)ru.ru_utime.tv_sec + (double)ru.ru_utime.tv_usec / 1e6;
    ret->process_system_s = (double)ru.ru_stime.tv_sec + (double)ru.ru_stime.tv_usec / 1e6;
    probe_cpu_read(&m->probe, &ret->cpu);
    probe_process_io_read(&m->probe, &ret->io);
    if (m->block.known)
        probe_block_read(&m->probe, &m->block, &ret->block);
    else
        snprintf(ret->block.reason, sizeof(ret->block.reason), "%s", m->block.reason);
    probe_nvfs_read(&m->probe, &ret->nvfs);
    if (m->path)
        m->path->ops->roads(m->path, &ret->roads);
}

void measure_begin(struct measure *m)
{
    snapshot(m, &m->begin);
    seen_begin(&m->seen);
    gpu_sampler_start(m->gpu_sampler);
}

void measure_end(struct measure *m)
{
    snapshot(m, &m->end);
    seen_end(&m->seen);
    gpu_sampler_stop(m->gpu_sampler, &m->gpu_samples);
    if (m->begin.io.known && m->end.io.known)
        storage_window_check(&m->seen.storage, m->end.io.read_bytes - m->begin.io.read_bytes, &m->seen.sum);
}

/* CPU seconds that were not idle between two readings: exact to about 20 ms. */
static double busy_s(const struct snapshot *a, const struct snapshot *b)
{
    double seconds = (double)(b->t_ns - a->t_ns) / 1e9;
    double idle = (double)(b->cpu.idle + b->cpu.iowait - a->cpu.idle - a->cpu.iowait) / (double)b->cpu.ticks_per_second;
    double busy = b->cpu.n_cpus * seconds - idle;

    return busy > 0 ? busy : 0;
}

void measure_baseline(struct measure *m, uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull)};
    struct snapshot a, b;

    snapshot(m, &a);
    nanosleep(&ts, NULL);
    snapshot(m, &b);
    if (a.cpu.known && b.cpu.known)
        m->baseline_busy = busy_s(&a, &b) / ((double)(b.t_ns - a.t_ns) / 1e9);
}

bool measure_machine_cpu(const struct measure *m, struct machine_cpu *ret, char *ret_reason, size_t size)
{
    const struct snapshot *a = &m->begin, *b = &m->end;
    double seconds = (double)(b->t_ns - a->t_ns) / 1e9;
    double user, system;

    if (!a->cpu.known || !b->cpu.known) {
        snprintf(ret_reason, size, "%s", a->cpu.known ? b->cpu.reason : a->cpu.reason);
        return false;
    }
    if (b->t_ns - a->t_ns < MIN_MACHINE_WINDOW_NS || m->baseline_busy < 0) {
        snprintf(ret_reason, size,
                 "the window is shorter than 2 s, the tick of the kernel's counters too coarse for it");
        return false;
    }
    ret->busy_s = busy_s(a, b) - m->baseline_busy * seconds;
    if (ret->busy_s < 0)
        ret->busy_s = 0;
    user = (double)(b->cpu.user - a->cpu.user);
    system = (double)(b->cpu.system - a->cpu.system);
    ret->user_s = user + system > 0 ? ret->busy_s * user / (user + system) : 0;
    ret->system_s = ret->busy_s - ret->user_s;
    return true;
}

bool measure_residency(const struct trial *t, uint64_t *ret_bytes, char *ret_reason, size_t size)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->targets.n; i++) {
        struct probe_residency r;

        probe_residency_read(t->targets.items[i].fd, t->targets.items[i].begin_bytes, t->targets.items[i].usable_bytes,
                             &r);
        if (!r.known) {
            snprintf(ret_reason, size, "%s", r.reason);
            return false;
        }
        sum += r.resident_bytes;
    }
    *ret_bytes = sum;
    return true;
}
