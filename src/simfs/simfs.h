/* SPDX-License-Identifier: MIT */
/* Simulated storage: a FUSE file system that answers by a queueing model (docs/simfs.md). */
#ifndef SPUR_SIMFS_SIMFS_H
#define SPUR_SIMFS_SIMFS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "simfs/model.h"
#include "spur.h"

#define SIMFS_MAX_FILES 1024

struct simfs_options {
    const char *mount; /* absolute, without symbolic links */
    struct model_setup model;
    uint64_t file_bytes, n_files;
    const char *backing; /* "memory", "pattern", or a directory */
    const char *faults;  /* NULL: none */
    const char *log;     /* NULL: none */
    const char *device;  /* loop device of a fuseblk mount; NULL: fuse */
    bool direct_io;      /* every open is past the kernel's cache */
    bool foreground;
};

/* Largest request that this kernel and libfuse carry, bytes; says which of them sets it. */
uint64_t simfs_rpc_max(const char **ret_what);

/*
 * Serves until the mount is gone or a signal comes. Without options->foreground: returns as soon as the mount answers,
 * and a process of its own serves. @ready is called in this process when it answers. 0 or negative errno; EPERM
 * (refused): no FUSE here, MOUNT is no empty directory, a foreign log or backing.
 */
typedef void (*simfs_ready_fn)(void *context, const struct simfs_options *options);
int simfs_serve(const struct simfs_options *options, simfs_ready_fn ready, void *context, struct spur_error *e);

/* Unmounts @mount, and waits until its server has ended. -EPERM (refused): no simfs. */
int simfs_unmount(const char *mount, struct spur_error *e);

/* The model against what a reader sees. 0: it holds; 1: it does not, or nothing could be judged; 128 + signal:
 * interrupted. Or negative errno. */
int simfs_self_test(FILE *out, struct spur_error *e);

#endif
