/* SPDX-License-Identifier: MIT */
/*
 * A CUDA driver for tests, without a GPU. It encodes mechanisms, never a result:
 *
 * - Device memory is apart: device addresses (also those of mapped host memory) are inaccessible to the CPU, which
 *   crashes when it follows one.
 * - Each stream is a thread that completes copies late, and reads a copy's source only then: a buffer that is used
 *   again before its copy ended yields wrong bytes. FAKE_CUDA_DELAY_US (50) is added to 20 bytes a nanosecond.
 * - FAKE_CUDA_RATE_MIB=N: all copies of a device together move N MiB a second at most (0: no limit).
 * - Calls on a thread without a current context fail as the real ones do; so does everything after a kernel fault.
 * - Kernels are the device functions of src/kernels/judge.h, compiled for the host, lane after lane.
 * - FAKE_CUDA_FAIL="cuMemAlloc_v2:3:2,..." makes the third call of a function return 2 (symbol : k-th call : CUresult).
 * - FAKE_CUDA_CHECK=1: at exit, whatever was not given back is listed and the process aborts; memory that is freed
 *   while copies use it aborts at once.
 * - FAKE_CUDA_DEVICES=N (1, 0 to 8), FAKE_CUDA_BYTES=N (8 GiB each).
 *
 * All state is under one lock; bytes are moved and kernels run outside it.
 */
#ifndef FAKE_LIBCUDA_H
#define FAKE_LIBCUDA_H

#include "driver/cuda.h"
#include "kernels/judge.h"

#include <pthread.h>

#define FAKE_EXPORT  __attribute__((visibility("default")))
#define FAKE_DEVICES 8

#define X(member, symbol, arguments) FAKE_EXPORT CUresult symbol arguments;
CUDA_FUNCTIONS(X)
#undef X
FAKE_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);

/* For tests, found by dlsym. */
extern FAKE_EXPORT const int spur_fake_cuda;
FAKE_EXPORT void spur_fake_cuda_fail(const char *rules); /* replaces FAKE_CUDA_FAIL; NULL: none */
FAKE_EXPORT void spur_fake_cuda_delay(unsigned us);      /* replaces FAKE_CUDA_DELAY_US */
FAKE_EXPORT unsigned long spur_fake_cuda_calls(const char *symbol);
FAKE_EXPORT unsigned spur_fake_cuda_leaks(void); /* things not given back */

/* As the driver has it: calls @function on the stream's thread when what was enqueued before is done. */
FAKE_EXPORT CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *argument);

/*
 * For the fake libcufile, which moves bytes as a device does: where the bytes of a device address are, which counts as
 * work in flight until it is unpinned. NULL: not the GPU's, *ret_inside: though the first byte is.
 */
struct fake_cuda_pin {
    void *region;
    int device; /* -1: host memory that is registered */
};
FAKE_EXPORT uint8_t *spur_fake_cuda_pin(CUdeviceptr address, size_t bytes, struct fake_cuda_pin *ret, bool *ret_inside);
FAKE_EXPORT void spur_fake_cuda_unpin(const struct fake_cuda_pin *pin);

struct CUctx_st {
    int device;
    unsigned refs;
    CUresult error; /* sticky: a kernel fault */
    CUstream default_stream;
    uint64_t copies_free_ns; /* when the last byte that was accepted is copied */
};

/* Memory that the fake GPU can reach. */
struct region {
    struct region *next;
    CUdeviceptr device; /* inside `reserve`, which nobody can touch */
    size_t bytes;
    uint8_t *host; /* where the bytes are: `backing`, or registered host memory */
    bool is_host;
    void *reserve, *backing;
    size_t mapped;
    unsigned n_uses; /* enqueued work that will touch it */
    int device_index;
};

enum kernel { KERNEL_FILL, KERNEL_CHECK, KERNEL_DIGEST, KERNEL_COPY, KERNEL_COUNT };

struct launch {
    enum kernel kernel;
    uint8_t *at; /* the range, or the table */
    uint64_t bytes;
    unsigned n;
    struct kernel_result *result;
    struct pattern_fill fill;
    struct pattern_expect expect;
};

enum op_kind { OP_COPY, OP_RECORD, OP_LAUNCH, OP_CALL };

struct op {
    struct op *next;
    enum op_kind kind;
    uint64_t issued_ns, cost_ns;
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
    CUevent event;
    uint64_t sequence;
    struct launch launch;
    void (*call)(void *);
    void *argument;
    struct region *uses[2];
};

struct CUstream_st {
    CUstream next;
    CUcontext context;
    pthread_t thread;
    pthread_cond_t wake;
    struct op *head, **tail;
    bool stop, is_default;
};

struct CUevent_st {
    uint64_t recorded, completed;
    unsigned n_pending;
    bool destroyed;
};

struct CUfunc_st {
    enum kernel kernel;
};

struct CUmod_st {
    struct CUfunc_st functions[KERNEL_COUNT];
    const char *image;
};

struct fake {
    pthread_mutex_t lock;
    pthread_cond_t progress; /* some work was completed */
    uint64_t delay_ns;
    uint64_t copies_per_s; /* bytes, of each device; 0: unlimited */
    bool check;
    int n_devices;
    int visible[FAKE_DEVICES]; /* by number as CUDA counts what it sees */
    size_t total_bytes, used_bytes[FAKE_DEVICES];
    struct CUctx_st contexts[FAKE_DEVICES];
    struct region *regions;
    CUstream streams;
    unsigned n_events, n_modules;
};
extern struct fake fake;

/* Counts the call, and returns the code of a rule that fits it. First line of every function. */
CUresult fake_enter(const char *symbol);
/* Likewise, and there must be a current context without a fault. *ret: the current context, also with an error. */
CUresult fake_enter_context(const char *symbol, CUcontext *ret);

void fake_lock(void);
void fake_unlock(void);
/* Says what the caller did wrong; aborts with FAKE_CUDA_CHECK. */
void fake_violation(const char *what);

/* With the lock held. */
struct region *region_of_device(CUdeviceptr address, size_t bytes);
/* Whether host memory may be used by a copy; *ret: its registration, NULL if it has none. */
bool region_of_host(const void *host, size_t bytes, struct region **ret);
void region_use(struct region *r);
void region_done(struct region *r);

CUstream stream_new(CUcontext context, bool is_default);
void stream_end(CUstream stream); /* lock held; drains and joins, releasing the lock meanwhile */
CUstream stream_find(CUstream handle, CUcontext context);
void stream_put(CUstream stream, const struct op *op);

/* Outside the lock. False: an address is not the GPU's. */
bool kernel_run(const struct launch *launch);
/* Lock held: reads the arguments and marks what they point to as used. */
CUresult kernel_arguments(enum kernel kernel, void **arguments, struct op *op);
/* KERNEL_COUNT: no such kernel. */
enum kernel kernel_named(const char *name);

#endif
