/* SPDX-License-Identifier: MIT */
/* spur prepare: what stands at the name is judged, then a file is written and put there. */
#ifndef SPUR_CLI_PREPARE_H
#define SPUR_CLI_PREPARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pattern/pattern.h"
#include "spur.h"

struct prepare_options {
    uint64_t bytes;
    uint64_t n_threads;
    uint64_t seed;
    bool seed_given;
    bool overwrite, device_ok, quiet;
};

/* ------------------------------------------------------------------------------------------------
 * Target (prepare_target.c)
 */

enum prepare_state {
    PREPARE_NEW,      /* nothing stands there */
    PREPARE_IN_PLACE, /* a file that may be written over */
    PREPARE_DONE,     /* a file that is already what was asked for */
};

struct prepare_target {
    const char *name;
    char shown[512]; /* for messages: the name, and where it points if it is a symbolic link */
    enum prepare_state state;
    bool is_device;
    uint64_t old_bytes;  /* size of what stands there */
    uint64_t uuid[2];    /* PREPARE_DONE: its UUID */
    uint64_t seed;       /* PREPARE_DONE: what it was made from, if seed_known */
    bool seed_known;     /* not, if a run has written blocks since */
    int fd_read;         /* what stands there, -1: nothing */
    int fd;              /* for writing, -1: not yet open */
    int dir_fd;          /* of a new file's directory */
    const char *base;    /* last part of the name */
    char temporary[260]; /* of a new file where the file system has no nameless ones; "": none */
    struct stat st;
};

/*
 * Decides what may be done; opens for reading only, and only regular files and block devices. Refused: a foreign file
 * without --overwrite, what is no file, a device without consent. prepare_target_close after success and failure.
 */
int prepare_target_judge(const char *name, const struct prepare_options *o, struct prepare_target *ret_target,
                         struct spur_error *e);

/* Looks for room, opens for writing and allocates. Nothing that stood there has changed on return. */
int prepare_target_open(struct prepare_target *t, const struct prepare_options *o, struct spur_error *e);

/* A new file gets its name, which must still be free; the directory is synced. */
int prepare_target_publish(struct prepare_target *t, struct spur_error *e);

/* Closes; a temporary that was not published is removed. */
void prepare_target_close(struct prepare_target *t);

/* ------------------------------------------------------------------------------------------------
 * Writing (prepare_write.c)
 */

struct prepare_content {
    uint64_t bytes;
    uint64_t uuid[2];
    uint64_t generation;
    uint64_t seed; /* block i has key pattern_mix(seed + i * PATTERN_STEP) */
};

struct prepare_writer {
    int fd;
    const char *name; /* for messages */
    struct prepare_content content;
    unsigned n_threads;
    const atomic_int *stop; /* not 0: end early */
    /* Called several times a second on the calling thread. */
    void (*progress)(void *context, uint64_t done_bytes);
    void *context;
    bool direct; /* out: past the page cache */
};

/* The first block says that the file is unfinished (SPURPART), on the disk. @bytes: of it, at most 4096. */
int prepare_mark(int fd, const char *name, const struct prepare_content *c, size_t bytes, struct spur_error *e);

/* Writes all blocks, the first as SPURPART, and syncs. -EINTR: stopped. */
int prepare_write(struct prepare_writer *w, struct spur_error *e);

/* The first block for good: from now on the file is whole. */
int prepare_seal(int fd, const char *name, const struct prepare_content *c, struct spur_error *e);

#endif
