/* SPDX-License-Identifier: MIT */
/*
 * A cuFile library for tests, without a GPU or nvidia-fs. It encodes mechanisms, never a result, and moves real bytes
 * between the file and the memory of the fake libcuda (or host memory). docs/fake-cufile.md has its variables.
 *
 * All state is under one lock; bytes are moved and pieces are waited for outside it.
 */
#ifndef FAKE_LIBCUFILE_H
#define FAKE_LIBCUFILE_H

#include "driver/cufile_layout.h"

#include <pthread.h>
#include <stdio.h>

#define PAGE        4096u
#define MOST_PIECES 8 /* in flight of one request: the largest max_request_parallelism */

#define FAKE_EXPORT __attribute__((visibility("default")))

#define X(type, name, arguments) FAKE_EXPORT type name arguments;
CUFILE_FUNCTIONS(X)
#undef X
FAKE_EXPORT CUfileError_t cuFileDriverClose(void);
FAKE_EXPORT CUfileError_t cuFileDriverClose_v2(void);

extern FAKE_EXPORT const int fake_cufile_is_simulated;
FAKE_EXPORT void fake_cufile_fail(const char *rules); /* replaces FAKE_CUFILE_FAIL; NULL: none */
FAKE_EXPORT uint64_t fake_cufile_calls(const char *symbol);

/* Of the module: "1.15.1.6"; its symbols are those of that version. */
extern const char fake_built_version[];

enum mechanism { MECHANISM_SERIAL, MECHANISM_SERIALISED, MECHANISM_PARALLEL };
enum road {
    ROAD_POSIX,
    ROAD_NVFS,
    ROAD_P2P,
    ROAD_USER,
    N_ROADS
}; /* user: a client's own RDMA, counted as none of the others */
enum udev { UDEV_IGNORED, UDEV_READ, UDEV_MISSING };

/* ------------------------------------------------------------------------------------------------
 * Profile (libcufile_profile.c): from the environment, once
 */

struct profile {
    int major, minor, patch;
    int version; /* 1000 major + 10 minor, as cuFileGetVersion */
    enum mechanism mechanism;
    unsigned slots; /* large requests at a time, with MECHANISM_SERIALISED */
    size_t piece_bytes;
    uint64_t latency_ns, bytes_per_s; /* 0: unlimited */
    unsigned weight[N_ROADS];         /* of operations */
    bool files_supported;             /* else no file has a direct road */
    enum udev udev;
    bool batch_cached;        /* a batch reads through the page cache in compatibility mode */
    size_t properties_bytes;  /* of CUfileDrvProps_t */
    size_t stats_extra_bytes; /* between levels 1 and 2: a layout that nobody knows */
    bool is_strict;           /* misuse aborts */
};
const struct profile *profile_get(void);
bool has_direct_road(void);
/* Says what the caller did wrong; aborts with FAKE_CUFILE_CHECK. */
void fake_violation(const char *what);

/* ------------------------------------------------------------------------------------------------
 * Injected faults (libcufile_rules.c)
 */

struct fault {
    bool is_set; /* `code` is to be returned */
    int code;
    size_t short_bytes; /* SIZE_MAX: not */
};
/* Counts the call; delays, hangs or aborts where a rule says so. First line of every function. */
struct fault fault_enter(const char *symbol);
/* The same, for functions that return CUfileError_t. */
int fault_code(const char *symbol);

/* ------------------------------------------------------------------------------------------------
 * Configuration (libcufile_config.c, libcufile_json.c)
 */

enum key {
    KEY_STATS,
    KEY_QUEUE_DEPTH,
    KEY_IO_THREADS,
    KEY_THRESHOLD,
    KEY_PARALLELISM,
    KEY_DIRECT_IO,
    KEY_DEVICE_CACHE,
    KEY_BUFFER_CACHE,
    KEY_PINNED,
    KEY_BATCH,
    KEY_POLL_SIZE,
    KEY_BATCH_TIMEOUT,
    KEY_LAST_SIZE = KEY_BATCH_TIMEOUT,
    KEY_POLL_MODE,
    KEY_ALLOW_COMPAT,
    KEY_FORCE_COMPAT,
    KEY_API_CHECK,
    KEY_PARALLEL_IO,
    KEY_NVTX,
    KEY_SYSTEM_MEMORY,
    KEY_P2PDMA,
    KEY_IOURING,
    KEY_FORCE_ODIRECT,
    KEY_SKIP_TOPOLOGY,
    KEY_MEMOPS_BYPASS,
    KEY_VANILLA_POSIX,
    KEY_FALLBACK,
    N_KEYS
};

/* Lock held. -EINVAL: a value out of range, or a file that cannot be parsed. */
int config_load(void);
uint64_t config_number(enum key key);
/* Lock held. Stages a value, or changes the running one when the driver is open; a code. */
int config_put(enum key key, uint64_t value);
const char *config_log_dir(void);
const char *config_log_level(void);

/*
 * Calls @each with every scalar of a JSON document with comments: "execution.parallel_io", "true". Elements of arrays
 * have their array's name. Returns -EINVAL for a text that is no JSON, or the first non-zero of @each.
 */
int json_walk(const char *text, int (*each)(void *context, const char *key, const char *value, bool is_string),
              void *context);

/* ------------------------------------------------------------------------------------------------
 * Driver (libcufile.c)
 */

struct fake_state {
    pthread_mutex_t lock;
    pthread_cond_t progress;
    bool is_open;
    long uses;
    unsigned n_inflight;
    uint64_t n_dealt; /* operations that were given a road */
};
extern struct fake_state state;

void state_lock(void);
void state_unlock(void);
CUfileError_t status_of(int code);
/* Lock held. Opens the driver if it is not open; a code. */
int driver_ensure(void);
enum road road_next(void);

void log_open(void);
void log_line(const char *level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------------------------------------
 * Memory (libcufile_memory.c) and files (libcufile_files.c)
 */

/* Bytes that a request touches. */
struct target {
    uint8_t *at;
    bool is_pinned;
    void *region; /* of the fake libcuda */
    int device;   /* -1: host memory */
};

/* Resolves @bytes at base + offset; a code. */
int target_find(const void *base, size_t bytes, off_t offset, struct target *ret);
void target_done(const struct target *t);
/* UUID of a GPU; zeros if there is none. */
void memory_uuid(int device, unsigned char uuid[16]);
CUresult memory_call(CUstream stream, void (*function)(void *), void *argument);

struct fake_file {
    struct fake_file *next;
    int fd;
    int cached_fd; /* the same file without O_DIRECT */
    int direct_fd; /* the same file with it, where its file system takes that */
    int flags;
    bool is_direct_io;  /* fd has O_DIRECT */
    bool is_past_cache; /* direct_fd has */
};
/* NULL: no such handle. */
struct fake_file *file_of(CUfileHandle_t handle);

/* ------------------------------------------------------------------------------------------------
 * Transfers
 */

/* Queueing model (libcufile_model.c): when a piece that starts now will be there. */
uint64_t model_issue(size_t bytes);
void model_wait(uint64_t until_ns);
/* MECHANISM_SERIALISED: large requests wait for a slot. */
void model_enter(void);
void model_leave(void);

/*
 * Direct roads (libcufile_lane.c): up to MOST_PIECES pieces in flight, each in a slot. A read or write is begun, and
 * its bytes, or -errno, are waited for with lane_end. NULL with errno: the kernel gives no queue.
 */
struct lane *lane_take(void);
void lane_give(struct lane *l); /* nothing is in flight */
void lane_read(struct lane *l, unsigned slot, const struct fake_file *f, uint8_t *to, size_t bytes, off_t offset);
void lane_write(struct lane *l, unsigned slot, const struct fake_file *f, const uint8_t *from, size_t bytes,
                off_t offset);
ssize_t lane_end(struct lane *l, unsigned slot);

struct transfer {
    struct fake_file *file;
    const void *base;
    size_t bytes;
    off_t file_offset, offset;
    bool is_write, is_batch;
};
/* Bytes, or a negative: -errno below 4096, or -code. */
ssize_t transfer_run(const struct transfer *t);

/* What one operation did, for the statistics (libcufile_stats.c). */
struct outcome {
    bool is_write, is_batch, is_unaligned;
    enum road road;
    int device;
    ssize_t result;
    size_t asked_bytes;
    uint64_t ns;
};
void stats_count(const struct outcome *o);
void stats_count_vectored(bool is_write, ssize_t result, uint64_t ns);
void stats_registered(bool is_handle, bool is_deregister, bool ok, int device, size_t bytes);
enum batch_event { BATCH_SETUP, BATCH_SUBMIT, BATCH_COMPLETE, BATCH_CANCEL, BATCH_DESTROY };
void stats_batch(enum batch_event event, bool ok);
/* Lock held; when the driver opens. */
void stats_begin(void);

/* /proc/driver/nvidia-fs/stats below $SPUR_ROOT (libcufile_nvfs.c). */
void nvfs_count(bool is_write, ssize_t result);

#endif
