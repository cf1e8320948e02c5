/* SPDX-License-Identifier: MIT */
/* What spur run takes: its rows, its values, and what the rows cannot say. */
#ifndef SPUR_CLI_RUN_OPTIONS_H
#define SPUR_CLI_RUN_OPTIONS_H

#include "cli/command.h"
#include "worker/job.h"

struct run_options {
    struct option_texts files;
    const char *path;
    const char *memory; /* "auto" or a name */
    unsigned op;        /* enum job_op */
    uint64_t read_percent;
    uint64_t request_bytes;
    uint64_t n_threads;
    uint64_t depth;
    uint64_t seconds_ns;
    uint64_t total_bytes; /* --bytes; 0: until seconds_ns have passed */
    uint64_t warmup_ns;   /* 0 with --bytes */
    uint64_t begin_bytes; /* --offset */
    uint64_t range_bytes; /* 0: whole files */
    bool unaligned;
    uint64_t seed; /* drawn by run_options_check where it was not given */
    bool seed_given;
    unsigned verify;              /* enum job_verify */
    uint64_t verify_limit_ns;     /* 0: no limit */
    unsigned share;               /* enum job_share */
    struct option_texts settings; /* KEY=VALUE, as given */
    struct spur_key_value *pairs; /* the same split; made by run_options_check, owned here */
    size_t n_pairs;
    uint64_t interval_ns; /* 0: none */
    uint64_t stall_ns;    /* 0: no watchdog */
    const char *json;     /* file name, "-", or NULL */
    const char *cpus;     /* "" or a list */
    bool overwrite, device_ok, quiet;
};

extern const struct option run_option_rows[];

/*
 * Options that depend on each other, the memory's name, the keys of --set; draws the seed. Whether a GPU of that index
 * is there, and what depth and alignment the path has, is known only later.
 */
int run_options_check(void *options, const struct option_result *given, struct spur_error *e);
/* The word of --memory alone: known, and a GPU's number well written. */
int run_options_check_memory(const char *memory, struct spur_error *e);
void run_options_free(struct run_options *o);

/* The job that the options ask for; it borrows their strings and pairs. */
void run_options_job(const struct run_options *o, struct job *ret);

/* For struct command: description, exit codes and examples of run. */
extern const char run_description[];
extern const struct command_exit run_exits[];
extern const struct command_example run_examples[];

#endif
