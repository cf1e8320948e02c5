/* SPDX-License-Identifier: MIT */
/*
 * The path contract: code that moves bytes between a file and memory. A new path is one file that defines a
 * struct path_ops, and one row in src/path/table.c; src/path/null.c is the template.
 *
 * A path has either `transfer` (one request, synchronous) or `submit` and `reap`. Slots left NULL are filled from
 * defaults (src/path/defaults.c), so the core never tests for NULL: a path with only `transfer` gets a submit/reap of
 * depth 1, one with only submit/reap gets a transfer. The core has checked each request against the limits and the
 * buffer's bounds, and splits requests with segments for paths that do not take them.
 *
 * State lives in the instances; nothing at file scope.
 */
#ifndef SPUR_PATH_H
#define SPUR_PATH_H

#include "memory/memory.h"
#include "spur.h"

struct path_ops;

struct spur_path {
    const struct path_ops *ops; /* complete: defaults filled in */
    unsigned n_queues;
    size_t max_request_bytes;
    struct spur_key_value *settings; /* every row of ops->settings, with the value in force */
    size_t n_settings;
    struct spur_file **files; /* open files, in order of opening */
    size_t n_files;
    struct spur_buffer **buffers; /* attached buffers */
    size_t n_buffers;
    void *state;
};

struct spur_file {
    struct spur_path *path;
    char *filename;
    unsigned flags;  /* SPUR_FILE_WRITE */
    unsigned index;  /* in path->files */
    uint64_t bytes;  /* size when opened */
    int fd;          /* main descriptor, -1 if the path has none */
    int fd_buffered; /* second descriptor without O_DIRECT, -1 if none */
    uint32_t align;  /* what O_DIRECT needs of offset and length; 1 for paths without */
    uint32_t align_address;
    void *state;
};

struct spur_queue {
    struct spur_path *path;
    struct spur_memory *memory;
    unsigned depth;
    unsigned in_flight;      /* kept by the core */
    struct spur_error error; /* of the last failed completion */
    void *state;
    void *core; /* the defaults' own state */
};

/* Facts that a path hands over. value may be NULL (then reason says why it is not known). */
struct path_fact {
    const char *key;
    const char *value;
    const char *reason;
};
typedef void (*path_fact_fn)(void *context, const struct path_fact *fact);

/* Operations by road, as the path's own library counts them for this process, since it was opened. */
struct path_roads {
    bool known;
    char reason[240];       /* why not */
    uint64_t n_operations;  /* all that succeeded */
    uint64_t n_nvfs, n_p2p; /* through nvidia-fs; by the kernel's PCI peer-to-peer DMA */
    uint64_t n_posix;       /* read or written by the library itself: compatibility mode */
    uint64_t n_bounced;     /* of all: through a bounce buffer for their alignment */
    uint64_t bytes;
    bool is_simulated; /* the library is a test suite's */
};

struct path_ops {
    const char *name;
    const char *summary;
    const struct spur_setting *settings; /* ended by a row without a name; NULL: none */
    enum spur_observed observed;         /* what the code itself is, where no library decides: host paths */
    bool moves_no_bytes;                 /* null */
    bool uses_page_cache;                /* buffered, mmap */
    bool takes_segments;
    bool needs_real_memory; /* its library cannot reach a GPU that is emulated */
    bool is_external;       /* another program runs the whole trial; no request goes through this path */

    int (*probe)(struct spur_error *e);
    int (*open)(struct spur_path *p, struct spur_error *e);
    void (*close)(struct spur_path *p);

    int (*file_open)(struct spur_path *p, struct spur_file *f, struct spur_error *e);
    void (*file_close)(struct spur_file *f);
    void (*limits)(const struct spur_file *f, struct spur_limits *limits); /* prefilled: 1, 1, 1, depth 1 */

    int (*attach)(struct spur_path *p, struct spur_buffer *b, struct spur_error *e);
    void (*detach)(struct spur_path *p, struct spur_buffer *b);

    int (*queue_open)(struct spur_queue *q, struct spur_error *e);
    void (*queue_close)(struct spur_queue *q);

    int64_t (*transfer)(struct spur_queue *q, const struct spur_request *r, struct spur_error *e);
    int (*submit)(struct spur_queue *q, const struct spur_request *requests, unsigned n, struct spur_error *e);
    int (*reap)(struct spur_queue *q, struct spur_completion *completions, unsigned max, unsigned min,
                struct spur_error *e);

    /* Effective settings as they run (after set-up), and evidence of the road (after the window). */
    void (*effective)(struct spur_path *p, path_fact_fn emit, void *context);
    void (*evidence)(struct spur_path *p, path_fact_fn emit, void *context);
    /* Read at both ends of the window; for paths whose `observed` is unknown. Stays NULL where the code itself is the
     * road. */
    void (*roads)(struct spur_path *p, struct path_roads *ret);
    /* The road that was asked for, for paths that can be asked: SPUR_OBSERVED_COMPAT; UNKNOWN: whatever comes;
     * SPUR_OBSERVED_NVIDIA_FS: any direct one. NULL: cannot be asked. */
    enum spur_observed (*asked_road)(const struct spur_path *p);
};

/* Rows; NULL-terminated. src/path/table.c */
extern const struct path_ops *const path_table[];
extern const struct path_ops null_path, buffered_path, mmap_path, odirect_path, fanout_path, cufile_path,
    cufile_batch_path, cufile_async_path, external_path;

/* Value in force of a path's setting; never NULL for a key of its table. */
const char *path_setting(const struct spur_path *p, const char *key);

/* -ENODEV etc. are passed on; fills q->error from @e and returns code (for use in completions). */
int64_t path_fail(struct spur_queue *q, const struct spur_error *e, int64_t code);

#endif
