/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver API as spur uses it: our own declarations, loaded by dlopen, so that the build needs no toolkit and
 * one binary serves machines with and without a GPU. SPUR_LIBCUDA in the environment names another library file.
 *
 * Not to be included together with the vendor's cuda.h.
 */
#ifndef SPUR_DRIVER_CUDA_H
#define SPUR_DRIVER_CUDA_H

#include "spur.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUuuid_st {
    unsigned char bytes[16];
} CUuuid;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999,
};

enum {
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEMHOSTREGISTER_DEVICEMAP = 2,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

/* The stream that each thread has of its own. */
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

/* X(member of struct cuda_api, symbol in the library, arguments): what must be there. */
#define CUDA_FUNCTIONS(X)                                                                                              \
    X(cuInit, cuInit, (unsigned flags))                                                                                \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                                          \
    X(cuGetErrorName, cuGetErrorName, (CUresult code, const char **text))                                              \
    X(cuGetErrorString, cuGetErrorString, (CUresult code, const char **text))                                          \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                                                \
    X(cuDeviceGet, cuDeviceGet, (CUdevice * device, int index))                                                        \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice device))                                       \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                        \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *id, int size, CUdevice device))                                 \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                        \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                      \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                      \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                                           \
    X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                \
    X(cuMemFree, cuMemFree_v2, (CUdeviceptr address))                                                                  \
    X(cuMemHostRegister, cuMemHostRegister_v2, (void *host, size_t bytes, unsigned flags))                             \
    X(cuMemHostUnregister, cuMemHostUnregister, (void *host))                                                          \
    X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *host, unsigned flags))    \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))      \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))            \
    X(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                                             \
    X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                                          \
    X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                                     \
    X(cuEventCreate, cuEventCreate, (CUevent * event, unsigned flags))                                                 \
    X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                                              \
    X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                                                  \
    X(cuEventQuery, cuEventQuery, (CUevent event))                                                                     \
    X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                                         \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                                                          \
      (CUmodule * module, const void *image, unsigned n_options, int *options, void **values))                         \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                                               \
    X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))            \
    X(cuLaunchKernel, cuLaunchKernel,                                                                                  \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,     \
       unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra))

struct cuda_api {
#define X(member, symbol, arguments) CUresult(*member) arguments;
    CUDA_FUNCTIONS(X)
#undef X
    /* cuDeviceGetUuid_v2 (since 11.4: tells MIG instances apart), else cuDeviceGetUuid. */
    CUresult (*cuDeviceGetUuid)(CUuuid *uuid, CUdevice device);
    const char *uuid_symbol; /* which of them */
    bool is_fake;            /* the test suite's library: everything that runs on it is simulated */
};

/*
 * The loaded driver. -ENODEV: no library, or a symbol is missing; the detail says which. Loaded once per process: the
 * driver is process-wide anyway, and the table never changes afterwards. Does not initialise the driver.
 */
int cuda_api_get(const struct cuda_api **ret, struct spur_error *e);

/* cuda_api_get and cuInit. */
int cuda_ready(const struct cuda_api **ret, struct spur_error *e);

/*
 * Words a CUresult with its name and description: "<what>: CUDA_ERROR_OUT_OF_MEMORY (out of memory)". The code stays in
 * e->code; returns -ENOMEM for out of memory, -ENODEV where there is no GPU, else -EIO.
 */
int cuda_fail(const struct cuda_api *api, struct spur_error *e, CUresult code, const char *operation, const char *what,
              ...) __attribute__((format(printf, 5, 6)));

struct cuda_device_info {
    char name[128];
    char uuid[48]; /* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"; "MIG-..." for a MIG instance */
    char pci[24];  /* "0000:18:00.0", lower case */
    uint64_t total_bytes;
    int numa_node;    /* -1: unknown */
    int major, minor; /* compute capability */
    int n_multiprocessors;
    int driver_version; /* 13000: 13.0; the CUDA version that the driver speaks */
    bool is_fake;
};

/* GPUs that the driver shows to this process (CUDA_VISIBLE_DEVICES narrows and renumbers them). */
int cuda_device_count(int *ret, struct spur_error *e);

/* Facts of one GPU; makes no context. -ERANGE: no such index. */
int cuda_device_info_get(int index, struct cuda_device_info *ret, struct spur_error *e);

#endif
