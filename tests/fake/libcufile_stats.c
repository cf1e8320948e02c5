/* SPDX-License-Identifier: MIT */
/* Statistics of levels 1 to 3, in the layout of the profile's version. See libcufile.h. */
#include "libcufile.h"

#include <string.h>

static struct {
    pthread_mutex_t lock;
    int level; /* -1: not set by call */
    bool is_set, is_started;
    int config_level;
    struct cufile_raw_basic basic;
    struct cufile_raw_vectored vectored;
    struct cufile_raw_histograms histograms;
    struct cufile_raw_gpus gpus;
} stats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int level(void)
{
    return stats.is_set ? stats.level : stats.config_level;
}

/* A level from cufile.json or the environment counts from the start; one set by call after cuFileStatsStart. */
static bool counts(void)
{
    return level() > 0 && (stats.is_started || !stats.is_set);
}

void stats_begin(void)
{
    pthread_mutex_lock(&stats.lock);
    stats.config_level = (int)config_number(KEY_STATS);
    pthread_mutex_unlock(&stats.lock);
}

/* ------------------------------------------------------------------------------------------------
 * Counting
 */

static void count_ops(struct cufile_ops *ops, bool ok)
{
    if (ok)
        ops->ok++;
    else
        ops->err++;
}

static void count_basic(const struct outcome *o)
{
    struct cufile_raw_basic *b = &stats.basic;
    bool ok = o->result >= 0;
    uint64_t bytes = ok ? (uint64_t)o->result : 0, us = o->ns / 1000;

    count_ops(o->is_write ? &b->write : &b->read, ok);
    *(o->is_write ? &b->write_bytes : &b->read_bytes) += bytes;
    *(o->is_write ? &b->write_latency_sum_us : &b->read_latency_sum_us) += us;
}

/* The real library keeps batches apart from single requests. */
static void count_batch(const struct outcome *o)
{
    struct cufile_raw_basic *b = &stats.basic;
    bool ok = o->result >= 0;

    count_ops(&b->batch_enqueued, ok);
    count_ops(o->road == ROAD_POSIX ? &b->batch_posix_processed : &b->batch_processed, ok);
    if (o->road == ROAD_POSIX)
        count_ops(&b->batch_posix_enqueued, ok);
    if (o->road != ROAD_USER)
        count_ops(o->road == ROAD_NVFS ? &b->nvfs_submit : o->road == ROAD_P2P ? &b->p2p_submit : &b->aio_submit, ok);
    count_ops(&b->total_submit, ok);
    *(o->is_write ? &b->batch_write_bytes : &b->batch_read_bytes) += ok ? (uint64_t)o->result : 0;
}

static void count_histogram(const struct outcome *o)
{
    uint64_t *to = o->is_write ? stats.histograms.write : stats.histograms.read;
    size_t kb = o->asked_bytes >> 10;
    unsigned i = 0;

    while (kb >> (i + 2) && i < 31) /* 0-4 KiB first */
        i++;
    to[i]++;
}

static void count_read(struct cufile_raw_gpu *g, const struct outcome *o)
{
    g->n_reads++;
    if (o->result < 0) {
        g->n_reads_err++;
        return;
    }
    g->read_bytes += (uint64_t)o->result;
    g->read_duration_us += o->ns / 1000;
    g->n_unaligned_reads += o->is_unaligned;
    if (o->road != ROAD_USER)
        *(o->road == ROAD_NVFS ? &g->n_nvfs_reads : o->road == ROAD_P2P ? &g->n_p2p_reads : &g->n_posix_reads) += 1;
}

static void count_write(struct cufile_raw_gpu *g, const struct outcome *o)
{
    g->n_writes++;
    if (o->result < 0) {
        g->n_writes_err++;
        return;
    }
    g->write_bytes += (uint64_t)o->result;
    g->write_duration_us += o->ns / 1000;
    g->n_unaligned_writes += o->is_unaligned;
    if (o->road != ROAD_USER)
        *(o->road == ROAD_NVFS ? &g->n_nvfs_writes : o->road == ROAD_P2P ? &g->n_p2p_writes : &g->n_posix_writes) += 1;
}

static struct cufile_raw_gpu *gpu_of(int device)
{
    struct cufile_raw_gpu *g;

    if (device < 0 || device >= CUFILE_STATS_GPUS)
        return NULL;
    g = &stats.gpus.gpu[device];
    if (stats.gpus.n <= (unsigned)device)
        stats.gpus.n = (unsigned)device + 1;
    memory_uuid(device, g->uuid);
    return g;
}

void stats_count(const struct outcome *o)
{
    struct cufile_raw_gpu *g;

    pthread_mutex_lock(&stats.lock);
    if (counts()) {
        if (o->is_batch)
            count_batch(o);
        else
            count_basic(o);
        if (level() >= 2)
            count_histogram(o);
        g = level() >= 3 ? gpu_of(o->device) : NULL;
        if (g && o->is_write)
            count_write(g, o);
        else if (g)
            count_read(g, o);
    }
    pthread_mutex_unlock(&stats.lock);
}

void stats_count_vectored(bool is_write, ssize_t result, uint64_t ns)
{
    struct cufile_raw_vectored *v = &stats.vectored;

    pthread_mutex_lock(&stats.lock);
    if (counts()) {
        count_ops(is_write ? &v->writev : &v->readv, result >= 0);
        *(is_write ? &v->writev_bytes : &v->readv_bytes) += result >= 0 ? (uint64_t)result : 0;
        *(is_write ? &v->writev_latency_sum_us : &v->readv_latency_sum_us) += ns / 1000;
    }
    pthread_mutex_unlock(&stats.lock);
}

static void count_registered(struct cufile_raw_gpu *g, bool is_deregister, bool ok, size_t bytes)
{
    if (is_deregister) {
        g->n_mmap_free++;
        g->registered_bytes -= bytes;
        return;
    }
    g->n_mmap++;
    if (ok) {
        g->n_mmap_ok++;
        g->registered_bytes += bytes;
    } else {
        g->n_mmap_err++;
    }
}

void stats_registered(bool is_handle, bool is_deregister, bool ok, int device, size_t bytes)
{
    struct cufile_raw_basic *b = &stats.basic;
    struct cufile_raw_gpu *g;

    pthread_mutex_lock(&stats.lock);
    if (counts()) {
        if (is_handle)
            count_ops(is_deregister ? &b->handle_deregister : &b->handle_register, ok);
        else
            count_ops(is_deregister ? &b->buffer_deregister : &b->buffer_register, ok);
        g = !is_handle && level() >= 3 ? gpu_of(device) : NULL;
        if (g)
            count_registered(g, is_deregister, ok, bytes);
    }
    pthread_mutex_unlock(&stats.lock);
}

void stats_batch(enum batch_event event, bool ok)
{
    struct cufile_raw_basic *b = &stats.basic;
    struct cufile_ops *const ops[] = {&b->batch_setup, &b->batch_submit, &b->batch_complete, &b->batch_cancel,
                                      &b->batch_destroy};

    pthread_mutex_lock(&stats.lock);
    if (counts())
        count_ops(ops[event], ok);
    pthread_mutex_unlock(&stats.lock);
}

/* ------------------------------------------------------------------------------------------------
 * Calls
 */

CUfileError_t cuFileSetStatsLevel(int to)
{
    int code = fault_code("cuFileSetStatsLevel");

    if (code || to < 0 || to > 3)
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    pthread_mutex_lock(&stats.lock);
    stats.level = to;
    stats.is_set = true;
    pthread_mutex_unlock(&stats.lock);
    return status_of(0);
}

CUfileError_t cuFileGetStatsLevel(int *ret)
{
    int code = fault_code("cuFileGetStatsLevel");

    if (code || !ret)
        return status_of(code ? code : CUFILE_INVALID_VALUE);
    pthread_mutex_lock(&stats.lock);
    *ret = level();
    pthread_mutex_unlock(&stats.lock);
    return status_of(0);
}

static int driver_is_open(void)
{
    bool is_open;

    state_lock();
    is_open = state.is_open;
    state_unlock();
    return is_open ? 0 : CUFILE_DRIVER_NOT_INITIALIZED;
}

static CUfileError_t switch_to(const char *symbol, bool start)
{
    int code = fault_code(symbol);

    code = code ? code : driver_is_open();
    pthread_mutex_lock(&stats.lock);
    if (!code && start && !level())
        code = CUFILE_INVALID_VALUE;
    if (!code)
        stats.is_started = start;
    pthread_mutex_unlock(&stats.lock);
    return status_of(code);
}

CUfileError_t cuFileStatsStart(void)
{
    return switch_to("cuFileStatsStart", true);
}

CUfileError_t cuFileStatsStop(void)
{
    return switch_to("cuFileStatsStop", false);
}

CUfileError_t cuFileStatsReset(void)
{
    int code = fault_code("cuFileStatsReset");

    code = code ? code : driver_is_open();
    pthread_mutex_lock(&stats.lock);
    if (!code) {
        memset(&stats.basic, 0, sizeof(stats.basic));
        memset(&stats.vectored, 0, sizeof(stats.vectored));
        memset(&stats.histograms, 0, sizeof(stats.histograms));
        memset(&stats.gpus, 0, sizeof(stats.gpus));
    }
    pthread_mutex_unlock(&stats.lock);
    return status_of(code);
}

static uint8_t *append(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* Lock held. Not a byte beyond what the version's structure has. */
static void write_stats(uint8_t *to, int wanted)
{
    const struct profile *p = profile_get();

    to = append(to, &stats.basic, sizeof(stats.basic));
    if (p->version >= CUFILE_VECTORED_VERSION)
        to = append(to, &stats.vectored, sizeof(stats.vectored));
    memset(to, 0x5a, p->stats_extra_bytes);
    to += p->stats_extra_bytes;
    if (wanted >= 2)
        to = append(to, &stats.histograms, sizeof(stats.histograms));
    if (wanted >= 3)
        append(to, &stats.gpus, sizeof(stats.gpus));
}

static CUfileError_t get(const char *symbol, void *to, int wanted)
{
    int code = fault_code(symbol);

    code = code ? code : driver_is_open();
    pthread_mutex_lock(&stats.lock);
    if (!code && (!to || level() < wanted))
        code = CUFILE_INVALID_VALUE;
    if (!code)
        write_stats(to, wanted);
    pthread_mutex_unlock(&stats.lock);
    return status_of(code);
}

CUfileError_t cuFileGetStatsL1(void *to)
{
    return get("cuFileGetStatsL1", to, 1);
}

CUfileError_t cuFileGetStatsL2(void *to)
{
    return get("cuFileGetStatsL2", to, 2);
}

CUfileError_t cuFileGetStatsL3(void *to)
{
    return get("cuFileGetStatsL3", to, 3);
}
