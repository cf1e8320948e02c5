/* SPDX-License-Identifier: MIT */
/* A trial as the parent asks for it, and its form on the wire between parent and worker. */
#ifndef SPUR_WORKER_JOB_H
#define SPUR_WORKER_JOB_H

#include <jansson.h>

#include "spur.h"

#define WORKER_PROTOCOL 1

enum job_verify { VERIFY_SAMPLE, VERIFY_INLINE, VERIFY_OFF };
enum job_share { SHARE_NONE = 0, SHARE_HANDLE = 1, SHARE_BUFFER = 2, SHARE_BOTH = 3 };
enum job_op { JOB_READ, JOB_WRITE, JOB_RANDREAD, JOB_RANDWRITE, JOB_MIX };

struct job {
    char **files; /* files or directories, as the user named them */
    size_t n_files;
    char path[32];
    char memory[32]; /* or "auto" */
    enum job_op op;
    enum job_verify verify;
    enum job_share share;
    unsigned mix_percent; /* of reads */
    unsigned threads, depth;
    uint64_t request_bytes;
    uint64_t seconds_ns;  /* window; 0 with total_bytes */
    uint64_t total_bytes; /* 0: time-based */
    uint64_t warmup_ns;
    uint64_t begin_bytes; /* where the range begins in each file */
    uint64_t range_bytes; /* from there; 0: to the end */
    uint64_t seed;
    uint64_t interval_ns;
    uint64_t verify_limit_ns; /* of the untimed pass; 0: none */
    bool unaligned, overwrite, device_ok;
    char cpus[128];       /* CPU list that the worker is bound to; "": as it was started */
    bool pilot;           /* of route=direct: compatibility mode is forbidden; stays with the parent */
    bool probe;           /* the library may make of the environment's cufile.json what it will; with the parent */
    double baseline_busy; /* CPUs of the machine that are busy without the trial; negative: the worker measures it */
    struct spur_key_value *settings;
    size_t n_settings;
};

bool job_writes(const struct job *job);
const char *job_op_name(enum job_op op); /* "randread" */
const char *job_verify_name(enum job_verify verify);
const char *job_share_name(enum job_share share);
/* Index of @word among the names of an enum above, or -1. */
int job_op_parse(const char *word);
int job_verify_parse(const char *word);
int job_share_parse(const char *word);

/* New reference, or NULL (out of memory). */
json_t *job_to_json(const struct job *job);
/* Owns copies of all; job_free. -EINVAL: not a job of this protocol. */
int job_from_json(const json_t *json, struct job *ret_job);
void job_free(struct job *job);

/* A file name as a JSON string: itself if it is UTF-8, else with each other byte as \xNN (and \ as \\). New reference.
 */
json_t *json_filename(const char *name);
/* {source, code, operation, detail, remedy}; new reference. */
json_t *json_error(const struct spur_error *e);
void json_error_parse(const json_t *json, struct spur_error *ret);

#endif
