/* SPDX-License-Identifier: MIT */
/*
 * Statistics as libcufile lays them out, all counters 64 bits. Level 1 grew by its vector part in 1.19, which moved
 * all that follows it.
 */
#ifndef SPUR_DRIVER_CUFILE_LAYOUT_H
#define SPUR_DRIVER_CUFILE_LAYOUT_H

#include "driver/cufile.h"

#define CUFILE_STATS_ROOM       65536 /* what a caller gives for any of them: they may grow again */
#define CUFILE_STATS_GPUS       16
#define CUFILE_VECTORED_VERSION 1190 /* cuFileGetVersion of the first library with the vector part */

struct cufile_raw_basic {
    struct cufile_ops read, write, handle_register, handle_deregister, buffer_register, buffer_deregister;
    uint64_t read_bytes, write_bytes, read_bytes_per_s, write_bytes_per_s, read_latency_us, write_latency_us;
    uint64_t reads_per_s, writes_per_s, read_latency_sum_us, write_latency_sum_us;
    struct cufile_ops batch_submit, batch_complete, batch_setup, batch_cancel, batch_destroy;
    struct cufile_ops batch_enqueued, batch_posix_enqueued, batch_processed, batch_posix_processed;
    struct cufile_ops nvfs_submit, p2p_submit, aio_submit, iouring_submit, mixed_submit, total_submit;
    uint64_t batch_read_bytes, batch_write_bytes, batch_read_bytes_per_s, batch_write_bytes_per_s;
    uint64_t submit_latency_us, completion_latency_us, submits_per_s, completions_per_s;
    uint64_t submit_latency_sum_us, completion_latency_sum_us, last_batch_read_bytes, last_batch_write_bytes;
};

struct cufile_raw_vectored {
    struct cufile_ops readv, writev;
    uint64_t readv_bytes, writev_bytes, readv_bytes_per_s, writev_bytes_per_s, readv_latency_us, writev_latency_us;
    uint64_t readvs_per_s, writevs_per_s, readv_latency_sum_us, writev_latency_sum_us;
};

struct cufile_raw_histograms {
    uint64_t read[32], write[32]; /* by size */
};

struct cufile_raw_gpu {
    unsigned char uuid[16];
    uint64_t read_bytes, read_bytes_per_s, read_utilisation, read_duration_us;
    uint64_t n_reads, n_p2p_reads, n_nvfs_reads, n_posix_reads, n_unaligned_reads, n_routed_reads;
    uint64_t n_sparse_regions, n_inline_regions, n_reads_err;
    uint64_t write_bytes, write_bytes_per_s, write_utilisation, write_duration_us;
    uint64_t n_writes, n_p2p_writes, n_nvfs_writes, n_posix_writes, n_unaligned_writes, n_routed_writes, n_writes_err;
    uint64_t n_mmap, n_mmap_ok, n_mmap_err, n_mmap_free, registered_bytes;
};

struct cufile_raw_gpus {
    uint32_t n;
    uint32_t padding;
    struct cufile_raw_gpu gpu[CUFILE_STATS_GPUS];
};

_Static_assert(sizeof(struct cufile_raw_basic) == 512, "level 1 before 1.19");
_Static_assert(sizeof(struct cufile_raw_vectored) == 112, "level 1 since 1.19: 624");
_Static_assert(sizeof(struct cufile_raw_histograms) == 512, "level 2: 1024, since 1.19 1136");
_Static_assert(sizeof(struct cufile_raw_gpu) == 248, "one GPU");
_Static_assert(512 + 512 + sizeof(struct cufile_raw_gpus) == 5000, "level 3: 5000, since 1.19 5112");

_Static_assert(sizeof(CUfileError_t) == 8, "CUfileError_t");
_Static_assert(sizeof(CUfileDescr_t) == 24, "CUfileDescr_t");
_Static_assert(sizeof(CUfileDrvProps_t) == 56, "CUfileDrvProps_t");
_Static_assert(sizeof(CUfileIOParams_t) == 64, "CUfileIOParams_t");
_Static_assert(sizeof(CUfileIOEvents_t) == 24, "CUfileIOEvents_t");
_Static_assert(sizeof(CUfileIOVec_t) == 16, "CUfileIOVec_t");
_Static_assert(offsetof(CUfileDrvProps_t, max_batch_io_size) == 48, "tail of CUfileDrvProps_t");
_Static_assert(offsetof(CUfileIOParams_t, fh) == 40 && offsetof(CUfileIOParams_t, cookie) == 56, "CUfileIOParams_t");

#endif
