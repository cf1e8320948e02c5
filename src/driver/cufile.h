/* SPDX-License-Identifier: MIT */
/*
 * The cuFile API as spur uses it: our own declarations, loaded by dlopen. Every function is optional: libraries from
 * 1.4 to 1.20 have between 24 and 50 of them.
 *
 * Not to be included together with the vendor's cufile.h.
 *
 * To be called in a trial's process only: the first use of the library fixes its configuration, it must not be forked
 * afterwards, and it may crash when it is loaded, opened or closed.
 */
#ifndef SPUR_DRIVER_CUFILE_H
#define SPUR_DRIVER_CUFILE_H

#include "driver/cuda.h"

#include <sys/types.h>
#include <time.h>

/* ------------------------------------------------------------------------------------------------
 * Declarations
 */

/* Travels in a register. err: 0, 5001.., or (from cuFileDriverOpen) a negative errno. cu_err: meant with 5011 only. */
typedef struct CUfileError {
    int err;
    CUresult cu_err;
} CUfileError_t;

typedef void *CUfileHandle_t;
typedef void *CUfileBatchHandle_t;

enum { CUFILE_HANDLE_OPAQUE_FD = 1, CUFILE_HANDLE_USERSPACE_FS = 3 };
enum { CUFILE_RDMA_REGISTER = 1, CUFILE_RDMA_RELAXED_ORDERING = 2 }; /* cuFileBufRegister */

typedef struct CUfileDescr {
    int type;
    union {
        int fd;
        void *handle;
    } handle;
    const void *fs_ops;
} CUfileDescr_t;

/* Sizes in KB. The tail from max_batch_io_size on is missing before 11.6: zero it, and give more room than this. */
typedef struct CUfileDrvProps {
    struct {
        unsigned major_version, minor_version; /* 0.0: no nvidia-fs */
        size_t poll_thresh_size, max_direct_io_size;
        unsigned dstatusflags, dcontrolflags;
    } nvfs;
    unsigned fflags;
    unsigned max_device_cache_size, per_buffer_cache_size, max_device_pinned_mem_size;
    unsigned max_batch_io_size, max_batch_io_timeout_msecs;
} CUfileDrvProps_t;

enum { CUFILE_READ = 0, CUFILE_WRITE = 1 };
enum { CUFILE_BATCH = 1 };

typedef struct CUfileIOParams {
    int mode; /* CUFILE_BATCH */
    struct {
        void *devPtr_base;
        off_t file_offset, devPtr_offset;
        size_t size;
    } batch;
    CUfileHandle_t fh;
    int opcode;
    void *cookie;
} CUfileIOParams_t;

typedef struct CUfileIOEvents {
    void *cookie;
    int status; /* CUFILE_BATCH_... */
    size_t ret; /* bytes, or a negative code */
} CUfileIOEvents_t;

enum {
    CUFILE_BATCH_WAITING = 1,
    CUFILE_BATCH_PENDING = 2,
    CUFILE_BATCH_INVALID = 4,
    CUFILE_BATCH_CANCELED = 8,
    CUFILE_BATCH_COMPLETE = 16,
    CUFILE_BATCH_TIMEOUT = 32,
    CUFILE_BATCH_FAILED = 64,
};

/* cuFileStreamRegister; all four together are the fastest. */
enum {
    CUFILE_STREAM_FIXED_BUF_OFFSET = 1,
    CUFILE_STREAM_FIXED_FILE_OFFSET = 2,
    CUFILE_STREAM_FIXED_FILE_SIZE = 4,
    CUFILE_STREAM_PAGE_ALIGNED_INPUTS = 8,
};

typedef struct CUfileIOVec {
    void *base;
    size_t len;
} CUfileIOVec_t;

enum {
    CUFILE_SUCCESS = 0,
    CUFILE_BASE_ERROR = 5000, /* above it: a cuFile code */
    CUFILE_DRIVER_NOT_INITIALIZED = 5001,
    CUFILE_IO_NOT_SUPPORTED = 5008,
    CUFILE_CUDA_DRIVER_ERROR = 5011,
    CUFILE_INVALID_MAPPING_RANGE = 5017,
    CUFILE_INVALID_FILE_TYPE = 5018,
    CUFILE_INVALID_FILE_OPEN_FLAG = 5019,
    CUFILE_INVALID_VALUE = 5022,
    CUFILE_MEMORY_ALREADY_REGISTERED = 5023,
    CUFILE_MEMORY_NOT_REGISTERED = 5024,
    CUFILE_DRIVER_ALREADY_OPEN = 5026,
    CUFILE_HANDLE_NOT_REGISTERED = 5027,
    CUFILE_HANDLE_ALREADY_REGISTERED = 5028,
    CUFILE_INTERNAL_ERROR = 5030,
    CUFILE_IO_DISABLED = 5034,
    CUFILE_BATCH_FULL = 5037,
    CUFILE_ASYNC_NOT_SUPPORTED = 5038,
    CUFILE_INTERNAL_BATCH_SUBMIT_ERROR = 5040,
};

/* cuFileGet/SetParameterSizeT, ...Bool, ...String, by number. */
enum {
    CUFILE_PARAM_PROFILE_STATS = 0,
    CUFILE_PARAM_FORCE_COMPAT_MODE = 2,
    CUFILE_PARAM_LOGGING_LEVEL = 0,
    CUFILE_PARAM_LOG_DIR = 2,
};

/* X(type, name, arguments) */
#define CUFILE_FUNCTIONS(X)                                                                                            \
    X(CUfileError_t, cuFileDriverOpen, (void))                                                                         \
    X(long, cuFileUseCount, (void))                                                                                    \
    X(CUfileError_t, cuFileDriverGetProperties, (CUfileDrvProps_t * properties))                                       \
    X(CUfileError_t, cuFileDriverSetPollMode, (bool poll, size_t threshold_kb))                                        \
    X(CUfileError_t, cuFileDriverSetMaxDirectIOSize, (size_t kb))                                                      \
    X(CUfileError_t, cuFileDriverSetMaxCacheSize, (size_t kb))                                                         \
    X(CUfileError_t, cuFileDriverSetMaxPinnedMemSize, (size_t kb))                                                     \
    X(CUfileError_t, cuFileHandleRegister, (CUfileHandle_t * handle, CUfileDescr_t * descr))                           \
    X(void, cuFileHandleDeregister, (CUfileHandle_t handle))                                                           \
    X(CUfileError_t, cuFileBufRegister, (const void *base, size_t bytes, int flags))                                   \
    X(CUfileError_t, cuFileBufDeregister, (const void *base))                                                          \
    X(ssize_t, cuFileRead, (CUfileHandle_t handle, void *base, size_t bytes, off_t file_offset, off_t offset))         \
    X(ssize_t, cuFileWrite, (CUfileHandle_t handle, const void *base, size_t bytes, off_t file_offset, off_t offset))  \
    X(ssize_t, cuFileReadv,                                                                                            \
      (CUfileHandle_t handle, const CUfileIOVec_t *iov, size_t n_iov, off_t file_offset, unsigned flags))              \
    X(ssize_t, cuFileWritev,                                                                                           \
      (CUfileHandle_t handle, const CUfileIOVec_t *iov, size_t n_iov, off_t file_offset, unsigned flags))              \
    X(CUfileError_t, cuFileBatchIOSetUp, (CUfileBatchHandle_t * batch, unsigned n))                                    \
    X(CUfileError_t, cuFileBatchIOSubmit,                                                                              \
      (CUfileBatchHandle_t batch, unsigned n, CUfileIOParams_t *requests, unsigned flags))                             \
    X(CUfileError_t, cuFileBatchIOGetStatus,                                                                           \
      (CUfileBatchHandle_t batch, unsigned min, unsigned *n, CUfileIOEvents_t *events, struct timespec *timeout))      \
    X(CUfileError_t, cuFileBatchIOCancel, (CUfileBatchHandle_t batch))                                                 \
    X(void, cuFileBatchIODestroy, (CUfileBatchHandle_t batch))                                                         \
    X(CUfileError_t, cuFileReadAsync,                                                                                  \
      (CUfileHandle_t handle, void *base, size_t *bytes, off_t *file_offset, off_t *offset, ssize_t *done,             \
       CUstream stream))                                                                                               \
    X(CUfileError_t, cuFileWriteAsync,                                                                                 \
      (CUfileHandle_t handle, void *base, size_t *bytes, off_t *file_offset, off_t *offset, ssize_t *done,             \
       CUstream stream))                                                                                               \
    X(CUfileError_t, cuFileStreamRegister, (CUstream stream, unsigned flags))                                          \
    X(CUfileError_t, cuFileStreamDeregister, (CUstream stream))                                                        \
    X(CUfileError_t, cuFileGetVersion, (int *version))                                                                 \
    X(CUfileError_t, cuFileGetParameterSizeT, (int parameter, size_t *value))                                          \
    X(CUfileError_t, cuFileGetParameterBool, (int parameter, bool *value))                                             \
    X(CUfileError_t, cuFileGetParameterString, (int parameter, char *value, int size))                                 \
    X(CUfileError_t, cuFileSetParameterSizeT, (int parameter, size_t value))                                           \
    X(CUfileError_t, cuFileSetParameterBool, (int parameter, bool value))                                              \
    X(CUfileError_t, cuFileSetParameterString, (int parameter, const char *value))                                     \
    X(CUfileError_t, cuFileGetParameterMinMaxValue, (int parameter, size_t *min, size_t *max))                         \
    X(CUfileError_t, cuFileGetParameterPosixPoolSlabArray, (size_t * sizes_kb, size_t * counts, int n))                \
    X(CUfileError_t, cuFileSetParameterPosixPoolSlabArray, (const size_t *sizes_kb, const size_t *counts, int n))      \
    X(CUfileError_t, cuFileGetParameterGpuBounceBufferSlabArray, (size_t * sizes_kb, size_t * counts, int n))          \
    X(CUfileError_t, cuFileSetParameterGpuBounceBufferSlabArray,                                                       \
      (const size_t *sizes_kb, const size_t *counts, int n))                                                           \
    X(CUfileError_t, cuFileGetStatsL1, (void *stats))                                                                  \
    X(CUfileError_t, cuFileGetStatsL2, (void *stats))                                                                  \
    X(CUfileError_t, cuFileGetStatsL3, (void *stats))                                                                  \
    X(CUfileError_t, cuFileSetStatsLevel, (int level))                                                                 \
    X(CUfileError_t, cuFileGetStatsLevel, (int *level))                                                                \
    X(CUfileError_t, cuFileStatsStart, (void))                                                                         \
    X(CUfileError_t, cuFileStatsStop, (void))                                                                          \
    X(CUfileError_t, cuFileStatsReset, (void))                                                                         \
    X(CUfileError_t, cuFileGetBARSizeInKB, (int gpu, size_t *kb))                                                      \
    X(CUfileError_t, cuFileDriverGetP2PFlags, (int status_flag, int *flags))                                           \
    X(CUfileError_t, cuFileDriverSetP2PFlags, (int status_flag, int flags))                                            \
    X(CUfileError_t, cuFileExportPCIeTopology, (const char *file))

/* ------------------------------------------------------------------------------------------------
 * The loaded library
 */

struct cufile_version {
    int number;       /* of cuFileGetVersion: 1150 for 1.15.x; 0: it has none (before 1.8) or it failed */
    int major, minor; /* -1: unknown */
    int patch, build; /* -1: unknown: cuFileGetVersion does not tell them */
    char text[32];    /* what is known: "1.15.1.6", "1.15.1", "1.15"; "" */
    char source[160]; /* where from: "cuFileGetVersion; nvidia_cufile-1.15.1.6.dist-info" */
};

struct cufile {
/* Each is NULL where the library lacks it. */
#define X(type, name, arguments) type(*name) arguments;
    CUFILE_FUNCTIONS(X)
#undef X
    CUfileError_t (*cuFileDriverClose)(void); /* cuFileDriverClose_v2, else the plain one */
    const char *close_symbol;                 /* which of them; NULL: neither */

    char *asked_file; /* what dlopen was given */
    char *real_file;  /* of the loaded library, symbolic links resolved; NULL: the loader does not tell */
    struct cufile_version version;
    bool is_simulated; /* the test suite's library: nothing that it does is a storage's or a GPU's */
    void *library;     /* of dlopen */
};

/* What cufile_open would ask the loader for. Lives as long as @library and the environment. */
const char *cufile_asked(const char *library);

/*
 * Loads @library; NULL: what $SPUR_LIBCUFILE names, else libcufile.so.0 by the loader's own search. Does not open the
 * driver and touches no GPU. -ENODEV: no such library, it does not load, or it is no libcufile (has no cuFileRead,
 * cuFileWrite, cuFileHandleRegister or cuFileDriverOpen); the detail says why.
 */
int cufile_open(const char *library, struct cufile **ret, struct spur_error *e);

/*
 * Frees the handle. The library stays loaded: it starts threads of its own, and unloading their code crashes the
 * process later. It ends with the process.
 */
void cufile_close(struct cufile *c);

/* Whether the library has this symbol, also one that is not declared here. */
bool cufile_has(const struct cufile *c, const char *symbol);

/* ------------------------------------------------------------------------------------------------
 * Errors
 */

struct cufile_code {
    int code;
    const char *name;   /* "HANDLE_NOT_REGISTERED" */
    const char *cause;  /* likely cause */
    const char *remedy; /* may be NULL */
    int ret;            /* the negative errno that spur returns for it */
};

/* Rows of the table in order of their codes; NULL past the end. */
const struct cufile_code *cufile_code_row(size_t index);
/* NULL: no such code. */
const struct cufile_code *cufile_code_find(int code);

/* @status of a call that failed. SPUR_SOURCE_CUFILE with the code; a negative err of cuFileDriverOpen stands as is. */
int cufile_error(struct spur_error *e, CUfileError_t status, const char *operation, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * The same for cuFileHandleRegister of @fd: with 5027 it looks at the udev facts of the file's device, which cuFile
 * needs, and names what is missing.
 */
int cufile_error_file(struct spur_error *e, CUfileError_t status, int fd, const char *operation, const char *detail,
                      ...) __attribute__((format(printf, 5, 6)));

/*
 * @result < 0 of cuFileRead and the like, with @err, errno right after the call. -1: errno, which may be a cuFile code;
 * below -5000: minus a cuFile code; else minus an errno.
 */
int cufile_error_transfer(struct spur_error *e, ssize_t result, int err, const char *operation, const char *detail, ...)
    __attribute__((format(printf, 5, 6)));

/* ------------------------------------------------------------------------------------------------
 * Configuration in force
 */

#define CUFILE_N_PARAMETERS 34

/* A parameter as the library has it. */
struct cufile_parameter {
    const char *name; /* "execution.parallel_io"; static storage */
    bool known;
    char text[256];  /* "true", "4", "ERROR", "[4,1024,16384]" */
    char reason[96]; /* why it is not known */
};

/*
 * All of them, in the order of the library's enumerations; once the driver is open. Before that the library tells what
 * was set by call and zeros (seen with 1.14 to 1.20), neither its defaults nor cufile.json.
 */
void cufile_parameters_read(const struct cufile *c, struct cufile_parameter ret[CUFILE_N_PARAMETERS]);

struct cufile_properties {
    bool known;
    char reason[160];
    unsigned nvfs_major, nvfs_minor; /* 0.0: no nvidia-fs */
    uint64_t poll_threshold_kb, max_direct_io_kb;
    uint64_t max_device_cache_kb, per_buffer_cache_kb, max_device_pinned_kb;
    uint64_t max_batch_io, max_batch_timeout_ms; /* 0 in libraries that do not tell them */
    uint32_t status_flags, control_flags, feature_flags;
    /* The flags in words, by blanks: "nvme nfs"; "" for none; bits without a name as "bit15". */
    char status_words[160]; /* file systems and devices with a direct road */
    char control_words[96]; /* "poll", "allow_compat", ... : what is allowed, not what is used */
    char feature_words[96]; /* "batch", "streams", "parallel_io", ... */
};

/* Once the driver is open. */
void cufile_properties_read(const struct cufile *c, struct cufile_properties *ret);

/* ------------------------------------------------------------------------------------------------
 * Statistics of this process, from 1.15 on
 */

struct cufile_ops {
    uint64_t ok, err;
};

/* By road, summed over GPUs (level 3). */
struct cufile_roads {
    uint64_t bytes, n;
    uint64_t n_p2p, n_nvfs, n_posix;
    uint64_t n_unaligned;      /* went through a bounce buffer for it */
    uint64_t n_dynamic_routed; /* by way of another GPU */
    uint64_t n_err;
};

struct cufile_batch_stats {
    struct cufile_ops submit, complete, setup, cancel, destroy;
    struct cufile_ops enqueued, posix_enqueued, processed, posix_processed;
    struct cufile_ops nvfs_submit, p2p_submit, aio_submit, iouring_submit, mixed_submit, total_submit;
    uint64_t read_bytes, write_bytes;
};

struct cufile_stats {
    bool known;
    char reason[200]; /* why not, or, with known, why not all */
    int level;        /* in force */
    uint64_t at_ns;   /* when they were read (CLOCK_MONOTONIC) */
    bool has_roads;   /* level 3 was read: what stands from `reads` on is known */
    unsigned n_gpus;
    uint64_t registered_bytes; /* now, of GPU memory */

    /* Counters, all uint64_t. */
    struct cufile_ops read, write, readv, writev; /* v: from 1.19 on, not contained in the others */
    struct cufile_ops handle_register, buffer_register;
    uint64_t read_bytes, write_bytes, readv_bytes, writev_bytes;
    struct cufile_batch_stats batch;
    struct cufile_roads reads, writes;
    uint64_t n_sparse_regions, n_inline_regions;
    uint64_t n_registered, n_register_failed;
};

/*
 * Asks for statistics of @level (0 to 3), which overrides cufile.json and the environment; before the driver is opened.
 * -ENOTSUP: this library has none that can be read (before 1.15).
 */
int cufile_stats_set_level(const struct cufile *c, int level, struct spur_error *e);

/* Starts counting; once the driver is open. Counting never starts by itself in a library that has cuFileStatsStart. */
int cufile_stats_start(const struct cufile *c, struct spur_error *e);

/* Reads them. Never fails: what cannot be read is unknown with the reason. */
void cufile_stats_read(const struct cufile *c, struct cufile_stats *ret);

/* What was counted between @before and @after; unknown where either is, or where a counter went backwards. */
void cufile_stats_since(const struct cufile_stats *before, const struct cufile_stats *after, struct cufile_stats *ret);

#endif
