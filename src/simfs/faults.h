/* SPDX-License-Identifier: MIT */
/*
 * Faults by schedule:
 *
 *   SPEC  = FAULT { ";" FAULT }
 *   FAULT = KIND [ ":" VALUE ] "@" WHEN { "," WHEN }
 *   KIND  = "error" ":" ERRNO | "short" ":" SIZE | "delay" ":" TIME | "hang" | "wrong" [ ":" COUNT ]
 *         | "truncate" [ ":" SIZE ] | "gone" ":" TIME
 *   WHEN  = "n=" NUMBER [ "-" [ NUMBER ] ] | "offset=" SIZE [ "-" SIZE ] | "p=" 0..1 | "seed=" NUMBER | "server="
 * NUMBER | "file=" NUMBER | "op=" ( "read" | "write" ) | "times=" NUMBER
 *
 * A request that meets offset (any byte of it), server, file and op of a fault is counted by it, from 1; n and p then
 * decide whether it strikes. The first fault of the list that strikes decides.
 */
#ifndef SPUR_SIMFS_FAULTS_H
#define SPUR_SIMFS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simfs/model.h"
#include "spur.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_ERROR,
    FAULT_SHORT,
    FAULT_DELAY,
    FAULT_HANG,
    FAULT_WRONG,
    FAULT_TRUNCATE,
    FAULT_GONE,
    FAULT_N_KINDS,
};

struct fault {
    enum fault_kind kind;
    uint64_t value;   /* errno, bytes, ns or a count */
    bool value_given; /* truncate: else at the request's own offset */
    uint64_t n_first, n_last;
    uint64_t offset_first, offset_end; /* [first, end) */
    double p;
    uint64_t seed, times;
    int64_t server, file, op; /* -1: any */
    /* Schedule */
    uint64_t counted, struck, random;
};

struct faults {
    struct fault *items;
    size_t n;
};

/* Parses @text. -EINVAL: a usage error that names the place, as character number from 1. @n_servers, @n_files: what
 * server= and file= may name. */
int faults_parse(const char *text, unsigned n_servers, uint64_t n_files, struct faults *ret_faults,
                 struct spur_error *e);
void faults_free(struct faults *f);

/* A request arrives: the fault that strikes it, or NULL. Not thread-safe. */
const struct fault *faults_strike(struct faults *f, enum model_op op, uint64_t file, unsigned server, uint64_t offset,
                                  uint64_t bytes);

/* "error", ...; "-" of FAULT_NONE. Static. */
const char *fault_name(enum fault_kind kind);

/* "EIO"; "?" of an unknown number. Static. */
const char *fault_errno_name(int number);

#endif
