/* SPDX-License-Identifier: MIT */
/* The configuration that the library says is in force. See cufile.h. */
#include "driver/cufile.h"

#include "core/util.h"

#include <stdio.h>
#include <string.h>

enum kind { KIND_SIZE, KIND_BOOL, KIND_STRING, KIND_POSIX_SLABS, KIND_GPU_SLABS };

/* In the order of the library's enumerations; the index in each is the number that it wants. */
static const struct parameter {
    enum kind kind;
    int number;
    const char *name;
} parameters[] = {
    {KIND_SIZE, 0, "profile.cufile_stats"},
    {KIND_SIZE, 1, "execution.max_io_queue_depth"},
    {KIND_SIZE, 2, "execution.max_io_threads"},
    {KIND_SIZE, 3, "execution.min_io_threshold_size_kb"},
    {KIND_SIZE, 4, "execution.max_request_parallelism"},
    {KIND_SIZE, 5, "properties.max_direct_io_size_kb"},
    {KIND_SIZE, 6, "properties.max_device_cache_size_kb"},
    {KIND_SIZE, 7, "properties.per_buffer_cache_size_kb"},
    {KIND_SIZE, 8, "properties.max_device_pinned_mem_size_kb"},
    {KIND_SIZE, 9, "properties.io_batchsize"},
    {KIND_SIZE, 10, "properties.poll_mode_max_size_kb"},
    {KIND_SIZE, 11, "properties.max_batch_io_timeout_msecs"},
    {KIND_BOOL, 0, "properties.use_poll_mode"},
    {KIND_BOOL, 1, "properties.allow_compat_mode"},
    {KIND_BOOL, 2, "properties.force_compat_mode"},
    {KIND_BOOL, 3, "miscellaneous.api_check_aggressive"},
    {KIND_BOOL, 4, "execution.parallel_io"},
    {KIND_BOOL, 5, "profile.nvtx"},
    {KIND_BOOL, 6, "properties.allow_system_memory"},
    {KIND_BOOL, 7, "properties.use_pci_p2pdma"},
    {KIND_BOOL, 8, "properties.prefer_iouring"},
    {KIND_BOOL, 9, "properties.force_odirect_mode"},
    {KIND_BOOL, 10, "miscellaneous.skip_topology_detection"},
    {KIND_BOOL, 11, "miscellaneous.stream_memops_bypass"},
    {KIND_BOOL, 12, "properties.vanilla_posix_io_mode"}, /* 12 and 13 since 1.19 */
    {KIND_BOOL, 13, "properties.gds_fallback_io"},
    {KIND_STRING, 0, "logging.level"},
    {KIND_STRING, 1, "CUFILE_LOGFILE_PATH"}, /* the variable; no key */
    {KIND_STRING, 2, "logging.dir"},
    {KIND_STRING, 3, "properties.rdma_transport_type"}, /* since 1.19 */
    {KIND_POSIX_SLABS, 0, "properties.posix_pool_slab_size_kb"},
    {KIND_POSIX_SLABS, 1, "properties.posix_pool_slab_count"},
    {KIND_GPU_SLABS, 0, "properties.gpu_bounce_buffer_slab_config.slab_size_kb"},
    {KIND_GPU_SLABS, 1, "properties.gpu_bounce_buffer_slab_config.slab_count"},
};
_Static_assert(ARRAY_SIZE(parameters) == CUFILE_N_PARAMETERS, "CUFILE_N_PARAMETERS");

typedef CUfileError_t (*slabs_t)(size_t *, size_t *, int);

static void refused(struct cufile_parameter *to, CUfileError_t status)
{
    const struct cufile_code *row = cufile_code_find(status.err);

    snprintf(to->reason, sizeof(to->reason), "the library does not tell it (%s %d)", row ? row->name : "err",
             status.err);
}

static CUfileError_t read_size(const struct cufile *c, int number, struct cufile_parameter *to)
{
    size_t value = 0;
    CUfileError_t status = c->cuFileGetParameterSizeT(number, &value);

    snprintf(to->text, sizeof(to->text), "%zu", value);
    return status;
}

static CUfileError_t read_bool(const struct cufile *c, int number, struct cufile_parameter *to)
{
    bool value = false;
    CUfileError_t status = c->cuFileGetParameterBool(number, &value);

    snprintf(to->text, sizeof(to->text), "%s", value ? "true" : "false");
    return status;
}

static CUfileError_t read_string(const struct cufile *c, int number, struct cufile_parameter *to)
{
    CUfileError_t status = c->cuFileGetParameterString(number, to->text, sizeof(to->text));

    to->text[sizeof(to->text) - 1] = '\0';
    return status;
}

#define MOST_SLABS 16

/* The library wants the number of slabs exactly and does not tell it. */
/* Only the right number of slabs is answered; a wrong one is an error in the library's log, so the usual goes first. */
static CUfileError_t read_slabs(slabs_t get, int usual, int number, struct cufile_parameter *to)
{
    size_t sizes[MOST_SLABS] = {0}, counts[MOST_SLABS] = {0};
    CUfileError_t status = get(sizes, counts, usual);
    size_t at = 0;
    int n = status.err ? 0 : usual;

    while (status.err && n < MOST_SLABS)
        status = get(sizes, counts, ++n);
    if (status.err)
        return status;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(to->text + at, sizeof(to->text) - at, "%s%zu", i ? "," : "[",
                               number ? counts[i] : sizes[i]);
    snprintf(to->text + at, sizeof(to->text) - at, "]");
    return status;
}

static const void *getter_of(const struct cufile *c, enum kind kind)
{
    switch (kind) {
    case KIND_SIZE:
        return (const void *)c->cuFileGetParameterSizeT;
    case KIND_BOOL:
        return (const void *)c->cuFileGetParameterBool;
    case KIND_STRING:
        return (const void *)c->cuFileGetParameterString;
    case KIND_POSIX_SLABS:
        return (const void *)c->cuFileGetParameterPosixPoolSlabArray;
    case KIND_GPU_SLABS:
        return (const void *)c->cuFileGetParameterGpuBounceBufferSlabArray;
    }
    return NULL;
}

static CUfileError_t call(const struct cufile *c, const struct parameter *p, struct cufile_parameter *to)
{
    switch (p->kind) {
    case KIND_SIZE:
        return read_size(c, p->number, to);
    case KIND_BOOL:
        return read_bool(c, p->number, to);
    case KIND_STRING:
        return read_string(c, p->number, to);
    case KIND_POSIX_SLABS:
        return read_slabs(c->cuFileGetParameterPosixPoolSlabArray, 3, p->number, to);
    default:
        return read_slabs(c->cuFileGetParameterGpuBounceBufferSlabArray, 4, p->number, to);
    }
}

static void read_one(const struct cufile *c, const struct parameter *p, struct cufile_parameter *ret)
{
    CUfileError_t status;

    memset(ret, 0, sizeof(*ret));
    ret->name = p->name;
    if (!getter_of(c, p->kind)) {
        snprintf(ret->reason, sizeof(ret->reason), "this library has no call that tells it");
        return;
    }
    status = call(c, p, ret);
    ret->known = !status.err;
    if (status.err) {
        *ret->text = '\0';
        refused(ret, status);
    }
}

void cufile_parameters_read(const struct cufile *c, struct cufile_parameter ret[CUFILE_N_PARAMETERS])
{
    for (unsigned i = 0; i < CUFILE_N_PARAMETERS; i++)
        read_one(c, &parameters[i], &ret[i]);
}

/* ------------------------------------------------------------------------------------------------
 * Properties
 */

static void words(uint32_t flags, const char *const *names, unsigned n, char *to, size_t size)
{
    size_t at = 0;

    *to = '\0';
    for (unsigned bit = 0; bit < 32; bit++) {
        const char *sep = at ? " " : "";

        if (!(flags & 1u << bit) || at >= size)
            continue;
        if (bit < n && names[bit])
            at += (size_t)snprintf(to + at, size - at, "%s%s", sep, names[bit]);
        else
            at += (size_t)snprintf(to + at, size - at, "%sbit%u", sep, bit);
    }
}

static void decode(struct cufile_properties *p)
{
    static const char *const status[] = {"lustre",      "weka",     "nfs",       "gpfs",     "nvme",
                                         "nvmeof",      "scsi",     "scaleflux", "nvmesh",   "beegfs",
                                         "yrcloudfile", "nvme-p2p", "scatefs",   "virtiofs", "panfs"};
    static const char *const control[] = {"poll", "allow_compat", "posix_io", NULL, "fallback"};
    static const char *const feature[] = {"dynamic_routing", "batch", "streams", "parallel_io", "p2p"};

    words(p->status_flags, status, ARRAY_SIZE(status), p->status_words, sizeof(p->status_words));
    words(p->control_flags, control, ARRAY_SIZE(control), p->control_words, sizeof(p->control_words));
    words(p->feature_flags, feature, ARRAY_SIZE(feature), p->feature_words, sizeof(p->feature_words));
}

void cufile_properties_read(const struct cufile *c, struct cufile_properties *ret)
{
    union {
        CUfileDrvProps_t p;
        char room[4096]; /* it grew once */
    } u = {.room = {0}};
    CUfileError_t status;

    memset(ret, 0, sizeof(*ret));
    if (!c->cuFileDriverGetProperties) {
        snprintf(ret->reason, sizeof(ret->reason), "the library has no cuFileDriverGetProperties");
        return;
    }
    status = c->cuFileDriverGetProperties(&u.p);
    if (status.err) {
        const struct cufile_code *row = cufile_code_find(status.err);

        snprintf(ret->reason, sizeof(ret->reason), "cuFileDriverGetProperties: %s (%d)", row ? row->name : "err",
                 status.err);
        return;
    }
    ret->known = true;
    ret->nvfs_major = u.p.nvfs.major_version;
    ret->nvfs_minor = u.p.nvfs.minor_version;
    ret->poll_threshold_kb = u.p.nvfs.poll_thresh_size;
    ret->max_direct_io_kb = u.p.nvfs.max_direct_io_size;
    ret->max_device_cache_kb = u.p.max_device_cache_size;
    ret->per_buffer_cache_kb = u.p.per_buffer_cache_size;
    ret->max_device_pinned_kb = u.p.max_device_pinned_mem_size;
    ret->max_batch_io = u.p.max_batch_io_size;
    ret->max_batch_timeout_ms = u.p.max_batch_io_timeout_msecs;
    ret->status_flags = u.p.nvfs.dstatusflags;
    ret->control_flags = u.p.nvfs.dcontrolflags;
    ret->feature_flags = u.p.fflags;
    decode(ret);
}
