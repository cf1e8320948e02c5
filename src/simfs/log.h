/* SPDX-License-Identifier: MIT */
/* One line for each request, written by a thread of its own (docs/simfs.md has the form). */
#ifndef SPUR_SIMFS_LOG_H
#define SPUR_SIMFS_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simfs/faults.h"
#include "spur.h"

#define LOG_FIRST_LINE "# simfs log 1: arrival_ns op file offset length server service_ns answer fault\n"

struct log_entry {
    uint64_t arrival_ns, service_ns;
    enum model_op op;
    uint64_t file, offset, bytes;
    unsigned server;
    int64_t answer; /* bytes or negative errno */
    enum fault_kind fault;
};

struct log {
    int fd; /* -1: none */
    pthread_mutex_t mutex;
    pthread_cond_t changed, drained;
    pthread_t thread;
    char *text;  /* lines that are not yet written */
    char *spare; /* the thread's */
    size_t n, room;
    bool started, stopping;
    int error; /* positive errno of the first write that failed */
    uint64_t lost;
};

/* Makes @name anew. -EPERM (refused): a file that is there and is no simfs log. */
int log_open(struct log *l, const char *name, struct spur_error *e);
int log_start(struct log *l); /* the thread; 0 or negative errno */
/* Waits where 16 MiB are still to be written. Does nothing without a log. */
void log_add(struct log *l, const struct log_entry *entry);
/* Lines that could not be written. */
uint64_t log_lost(struct log *l);
/* Writes what is left. Returns 0, or the negative errno of the first write that failed. */
int log_close(struct log *l);

/* The line, with its end. @ret of LOG_LINE bytes; returns its length. */
size_t log_line(const struct log_entry *entry, char *ret);
#define LOG_LINE 192

#endif
