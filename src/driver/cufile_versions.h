/* SPDX-License-Identifier: MIT */
/* What is known of cuFile's versions: a table with a date. It says what was published or seen, not what is installed.
 */
#ifndef SPUR_DRIVER_CUFILE_VERSIONS_H
#define SPUR_DRIVER_CUFILE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/cufile.h"

#define CUFILE_TABLE_DATE   "2026-12-02"
#define CUFILE_TABLE_NEWEST "1.20.0.107" /* the last version that it knows */

/* What becomes of a request larger than a piece (1 MiB). */
enum cufile_requests {
    CUFILE_REQUESTS_ONE_PIECE,  /* its pieces follow one another: one is on its way for each thread */
    CUFILE_REQUESTS_SERIALISED, /* split, but threads wait for each other */
    CUFILE_REQUESTS_PARALLEL,   /* its pieces are on their way together */
};

struct cufile_known {
    int from[3], to[3]; /* major, minor, patch, both included */
    enum cufile_requests requests;
    const char *requests_words;
    const char *basis;      /* "measured on 1.15.1.6 ...", "inferred ..." */
    const char *statistics; /* what the library tells of the road */
    const char *remedy;     /* NULL: nothing to remedy */
};

struct cufile_fault {
    int from[3], to[3];
    const char *words;
    const char *remedy; /* NULL: none known */
    const char *only;   /* matters there only: "wekafs", "aarch64", "no driver"; NULL: anywhere */
    bool fails;         /* reads fail there, or hang */
};

/* "one piece at a time", "serialised", "parallel": as the JSON has it. */
const char *cufile_requests_word(enum cufile_requests requests);

/*
 * The row of a version. NULL: it is newer than the table, or older than 1.0, or it is not known well enough (a number
 * of -1) to tell between two rows.
 */
const struct cufile_known *cufile_known_find(const struct cufile_version *v);
/* Fault @index that applies to the version; NULL past the end. A patch of -1 matches any. */
const struct cufile_fault *cufile_fault_find(const struct cufile_version *v, size_t index);
/* "12.8": the CUDA release that it came with; NULL: not in the table. */
const char *cufile_cuda_release(const struct cufile_version *v);

/* Whether @v is newer than what the table knows. */
bool cufile_version_is_newer(const struct cufile_version *v);

#endif
