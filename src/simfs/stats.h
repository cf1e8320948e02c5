/* SPDX-License-Identifier: MIT */
/* What simfs counts of itself: MOUNT/.spur/stats (docs/simfs.md). */
#ifndef SPUR_SIMFS_STATS_H
#define SPUR_SIMFS_STATS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simfs/model.h"

/* Settings that are said beside the counters. */
struct stats_facts {
    uint64_t latency_ns, rate, rpc_bytes, n_servers, connection;
};

struct stats {
    pthread_mutex_t mutex;
    uint64_t requests[MODEL_N_OPS], bytes[MODEL_N_OPS]; /* answered */
    uint64_t errors, short_answers;
    uint64_t in_flight, service_ns, busy_ns;
    uint64_t changed_ns; /* up to when busy_ns is summed */
    pthread_cond_t settled;
    uint64_t n_sending[2]; /* answers on their way that are not yet counted, by epoch */
    unsigned epoch;        /* 0 or 1 */
    bool settling;
};

void stats_init(struct stats *s);
void stats_destroy(struct stats *s);

/* A request was received at @now_ns. */
void stats_arrive(struct stats *s, uint64_t now_ns);
/* Its answer is about to be sent; stats_answer or stats_drop with what it returns follows. */
unsigned stats_sending(struct stats *s);
/* It was not one to be counted. */
void stats_drop(struct stats *s, unsigned epoch);
/* Waits until all is counted that somebody may have received before the call. */
void stats_settle(struct stats *s);
/* It was answered at @now_ns: @answer is the number of bytes, or a negative errno; @asked what it was to be. */
void stats_answer(struct stats *s, enum model_op op, uint64_t arrival_ns, uint64_t now_ns, int64_t answer,
                  uint64_t asked, unsigned epoch);

/* The file's text at @now_ns. @log_lost: lines of the log that could not be written. Returns its length, less than
 * @size. */
size_t stats_text(struct stats *s, const struct stats_facts *facts, uint64_t now_ns, uint64_t cpu_ns, uint64_t log_lost,
                  char *ret_text, size_t size);
#define STATS_TEXT 1024

#endif
