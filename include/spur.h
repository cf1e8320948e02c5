/* SPDX-License-Identifier: MIT */
/**
 * spur.h - move file bytes to and from (GPU) memory by a chosen path.
 *
 * Experimental: names and layouts may change until the first stable release.
 *
 * Objects and the order in which they are made (destroyed in the reverse order):
 *
 *   spur_memory   a kind of memory, opened: "pageable", "pinned", "cuda:0", "emulated"
 *   spur_path     code that moves bytes between a file and memory: "odirect", "fanout", ...
 *   spur_file     a file opened on a path
 *   spur_buffer   a range of a memory; attached to a path before queues are opened on it
 *   spur_queue    one thread's way into a path: it serves the files and buffers that the path
 *                 had when the queue was opened
 *
 * Every call returns 0 (or a count) or a negative errno, and fills a struct spur_error that the
 * caller owns when it fails. The library never prints and never exits. Sizes and offsets are in
 * bytes, times in nanoseconds. Outputs named ret_ are written only on success.
 *
 * Threads: a queue belongs to one thread at a time. The other objects may be used by several
 * threads once they are open; opening and closing is for one thread.
 */
#ifndef SPUR_H
#define SPUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SPUR_API __attribute__((visibility("default")))
#else
#define SPUR_API
#endif

/** Version of the library and tool, "MAJOR.MINOR.PATCH". Static storage. */
SPUR_API const char *spur_version(void);

/** Where an error code comes from. Codes of different sources are never mixed in one number. */
enum spur_source {
    SPUR_SOURCE_NONE = 0,
    SPUR_SOURCE_ERRNO,  /**< code is a positive errno */
    SPUR_SOURCE_CUDA,   /**< code is a CUresult */
    SPUR_SOURCE_CUFILE, /**< code is a CUfileOpError */
    SPUR_SOURCE_SPUR,   /**< code is an enum spur_code */
};

/** Errors that are spur's own judgement; they decide the tool's exit code. */
enum spur_code {
    SPUR_CODE_NONE = 0,
    SPUR_CODE_USAGE,    /**< what was asked for cannot be: a value out of range, a depth that the path cannot have */
    SPUR_CODE_REFUSED,  /**< would be unsafe or untrue: foreign file, holes, no such road here */
    SPUR_CODE_MISMATCH, /**< bytes differ from what they must be */
};

/** What went wrong, in the words of the function that decided it. Owned by the caller. */
struct spur_error {
    enum spur_source source;
    int code;
    char operation[48]; /**< the call that failed: "open", "cuMemAlloc" */
    char detail[600];   /**< cause, naming the file, offset or value */
    char remedy[300];   /**< what to do; may be empty */
};

/** Road that evidence shows; never what was asked for. */
enum spur_observed {
    SPUR_OBSERVED_UNKNOWN = 0,
    SPUR_OBSERVED_HOST, /**< read or written by the kernel for host memory, then copied where a GPU is the end */
    SPUR_OBSERVED_NVIDIA_FS,
    SPUR_OBSERVED_P2PDMA,
    SPUR_OBSERVED_USER_RDMA,
    SPUR_OBSERVED_C2C,
    SPUR_OBSERVED_COMPAT,
    SPUR_OBSERVED_MIXED,
};

/** Word for @observed as it stands in JSON ("nvidia-fs"). Static storage. */
SPUR_API const char *spur_observed_name(enum spur_observed observed);

enum spur_op {
    SPUR_OP_READ = 0,  /**< file to memory */
    SPUR_OP_WRITE = 1, /**< memory to file */
};

struct spur_memory;
struct spur_buffer;
struct spur_path;
struct spur_file;
struct spur_queue;

/* ------------------------------------------------------------------------------------------------
 * Tables
 */

/** Number of paths and memories; valid indices are below it. */
SPUR_API size_t spur_path_count(void);
SPUR_API size_t spur_memory_count(void);

/** Name and one-line summary of row @index. Static storage; NULL past the end. */
SPUR_API const char *spur_path_name(size_t index);
SPUR_API const char *spur_path_summary(size_t index);
SPUR_API const char *spur_memory_name(size_t index);
SPUR_API const char *spur_memory_summary(size_t index);

/**
 * Whether the path or memory can run here. 0: yes; negative errno with the exact reason in
 * @ret_error: no. Neither allocates anything that outlives the call, but a first look at a GPU may
 * initialise the CUDA driver in this process.
 */
SPUR_API int spur_path_probe(const char *name, struct spur_error *ret_error);
SPUR_API int spur_memory_probe(const char *name, struct spur_error *ret_error);

/** An option of a path (spur run --set NAME=VALUE). */
struct spur_setting {
    const char *name;          /**< "piece"; "env.*": any key that begins with "env." and goes on */
    const char *unit;          /**< "bytes", "count", "word", ... */
    const char *range;         /**< in words: "4K..64M", "auto, yes, no" */
    const char *default_value; /**< as text */
    const char *help;
};

/** Option @index of path @name; NULL past the end or if there is no such path. Static storage. */
SPUR_API const struct spur_setting *spur_path_setting(const char *name, size_t index);

/** The option of path @name that takes @key; NULL: none does, or there is no such path. Static storage. */
SPUR_API const struct spur_setting *spur_path_setting_find(const char *name, const char *key);

/* ------------------------------------------------------------------------------------------------
 * Memory
 */

/** What an opened memory is. Set size before the call. */
struct spur_memory_info {
    size_t size;         /**< sizeof(struct spur_memory_info) */
    char name[32];       /**< "cuda:0" */
    bool is_device;      /**< the CPU cannot reach it: host paths stage and copy */
    bool is_emulated;    /**< a GPU emulated in host memory */
    bool is_simulated;   /**< the CUDA driver is a test suite's: nothing here is a GPU's */
    bool is_page_locked; /**< host memory that is page-locked */
    int numa_node;       /**< nearest NUMA node, -1 unknown */
    char device_name[128];
    char uuid[48];        /**< "GPU-..."; empty for host memory */
    char pci_address[24]; /**< "0000:18:00.0"; empty for host memory */
    uint64_t total_bytes; /**< of the device; 0 for host memory */
};

/**
 * Opens a memory by name: "pageable", "pinned", "cuda:N", "emulated".
 * -ENODEV: no such device or driver here; -EINVAL: no such name; -ERANGE: GPU index out of range.
 */
SPUR_API int spur_memory_open(const char *name, struct spur_memory **ret_memory, struct spur_error *ret_error);
SPUR_API void spur_memory_close(struct spur_memory *memory);
SPUR_API int spur_memory_describe(const struct spur_memory *memory, struct spur_memory_info *ret_info);

/**
 * Allocates @bytes (page-aligned, > 0) of @memory. -ENOMEM: out of memory, or RLIMIT_MEMLOCK too small.
 * The buffer must be freed before its memory is closed and after queues that use it are closed.
 */
SPUR_API int spur_buffer_alloc(struct spur_memory *memory, size_t bytes, struct spur_buffer **ret_buffer,
                               struct spur_error *ret_error);
SPUR_API void spur_buffer_free(struct spur_buffer *buffer);

/** Copies between host memory and a buffer; complete on return. -EINVAL: outside the buffer. */
SPUR_API int spur_buffer_write(struct spur_buffer *buffer, uint64_t offset, const void *host, size_t bytes,
                               struct spur_error *ret_error);
SPUR_API int spur_buffer_read(struct spur_buffer *buffer, uint64_t offset, void *host, size_t bytes,
                              struct spur_error *ret_error);

/** Address of the buffer: a CPU address, or a device address (CUdeviceptr) for "cuda:N". */
SPUR_API uint64_t spur_buffer_address(const struct spur_buffer *buffer);

/* ------------------------------------------------------------------------------------------------
 * Path, file, queue
 */

/** One option of a path with its value as text. */
struct spur_key_value {
    const char *key;
    const char *value;
};

/** How a path is opened. Set size; zero the rest for defaults. */
struct spur_path_options {
    size_t size;                           /**< sizeof(struct spur_path_options) */
    const struct spur_key_value *settings; /**< copied; unknown keys and bad values are -EINVAL (usage) */
    size_t n_settings;
    unsigned n_queues;        /**< queues that will be opened together; 0 means 1 */
    size_t max_request_bytes; /**< largest request; 0 means 16 MiB */
};

SPUR_API int spur_path_open(const char *name, const struct spur_path_options *options, struct spur_path **ret_path,
                            struct spur_error *ret_error);
SPUR_API void spur_path_close(struct spur_path *path);

enum {
    SPUR_FILE_WRITE = 1, /**< open for reading and writing; without it read-only (O_RDONLY, O_NOATIME where allowed) */
};

/** Opens an existing file; never creates, truncates or deletes. */
SPUR_API int spur_file_open(struct spur_path *path, const char *filename, unsigned flags, struct spur_file **ret_file,
                            struct spur_error *ret_error);
SPUR_API void spur_file_close(struct spur_file *file);
/** Size of the file in bytes when it was opened (block devices: of the device). */
SPUR_API uint64_t spur_file_size(const struct spur_file *file);

/** What requests on a file must keep to on its path. 1 means: anything goes. Set size. */
struct spur_limits {
    size_t size;
    uint32_t offset_align;  /**< multiple that file offsets must have */
    uint32_t length_align;  /**< multiple of lengths; a request that ends at the end of the file is exempt on reads */
    uint32_t address_align; /**< multiple of buffer offsets */
    uint32_t max_depth;     /**< requests that one queue can hold; 1: a synchronous path */
};

SPUR_API int spur_file_limits(const struct spur_file *file, struct spur_limits *ret_limits);

/** Makes a buffer known to the path (registration); before spur_queue_open, on the thread that opens. */
SPUR_API int spur_buffer_attach(struct spur_path *path, struct spur_buffer *buffer, struct spur_error *ret_error);
SPUR_API void spur_buffer_detach(struct spur_path *path, struct spur_buffer *buffer);

/**
 * Opens a queue of up to @depth requests (1..spur_limits.max_depth) for buffers of @memory.
 * To be called on the thread that will use the queue.
 */
SPUR_API int spur_queue_open(struct spur_path *path, struct spur_memory *memory, unsigned depth,
                             struct spur_queue **ret_queue, struct spur_error *ret_error);
/** Waits for what is in flight, then frees. */
SPUR_API void spur_queue_close(struct spur_queue *queue);

/** One piece of a buffer. */
struct spur_segment {
    struct spur_buffer *buffer;
    uint64_t offset; /**< in the buffer, bytes */
    uint64_t length; /**< bytes */
};

/** What the caller asks for. Fixed layout: requests travel in arrays. */
struct spur_request {
    uint32_t op;         /**< enum spur_op */
    uint32_t n_segments; /**< 0: one segment, {buffer, buffer_offset, length} */
    struct spur_file *file;
    uint64_t offset; /**< in the file, bytes */
    uint64_t length; /**< bytes, > 0; with segments the sum of theirs */
    struct spur_buffer *buffer;
    uint64_t buffer_offset;
    const struct spur_segment *segments; /**< must live until the request completes */
    uint64_t user_data;                  /**< given back in the completion */
};

/** How a request ended. Fixed layout. */
struct spur_completion {
    uint64_t user_data;
    int64_t result; /**< bytes moved (fewer than asked for only at the end of the file), or a negative errno: see
                         spur_queue_error */
    void *stream;   /**< stream (CUstream) on which the bytes became visible, NULL: visible to everybody */
};

/**
 * Hands in up to @n requests and returns how many were accepted (the first ones), or a negative errno if none was.
 * -EAGAIN: the queue is full, reap first. -EINVAL: the first request breaks the limits.
 * Each accepted request completes exactly once, as success or failure; a refused one never does.
 */
SPUR_API int spur_queue_submit(struct spur_queue *queue, const struct spur_request *requests, unsigned n,
                               struct spur_error *ret_error);

/**
 * Takes up to @max completions, waiting until there are at least @min (min <= requests in flight; more is clamped).
 * *Complete* means: the bytes are visible to work launched afterwards on that GPU. Returns the count.
 */
SPUR_API int spur_queue_reap(struct spur_queue *queue, struct spur_completion *ret_completions, unsigned max,
                             unsigned min, struct spur_error *ret_error);

/** One request, complete on return: bytes moved or a negative errno. Nothing else may be in flight on the queue. */
SPUR_API int64_t spur_queue_transfer(struct spur_queue *queue, const struct spur_request *request,
                                     struct spur_error *ret_error);

/** Reason of the last failed completion of this queue. Owned by the queue. */
SPUR_API const struct spur_error *spur_queue_error(const struct spur_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
