/* SPDX-License-Identifier: MIT */
/*
 * Another program runs the trial (path external): the job in its options, the process, its figures. A program is one
 * file that fills a struct external_tool, and one row in external.c. docs/external.md says what each can and cannot.
 */
#ifndef SPUR_WORKER_EXTERNAL_H
#define SPUR_WORKER_EXTERNAL_H

#include <sys/resource.h>

#include "worker/measure.h"

#define EXTERNAL_QUANTILES 5 /* p50, p90, p99, p99.9, p99.99 */

/* Words of a command line; NULL-terminated, owned. */
struct external_words {
    char **items;
    size_t n;
    bool failed; /* out of memory */
};

struct external_time {
    bool known;
    uint64_t ns;
};

/* What the program said of its own window. */
struct external_figures {
    uint64_t bytes, requests;
    double seconds;
    struct external_time min, mean, max, quantile[EXTERNAL_QUANTILES];
    char latency_source[200]; /* which of the program's figures it is */
    char latency_reason[200]; /* why the unknown ones are; also of percentiles that too few requests decide */
    bool has_cpu;             /* of the window; else the process as a whole is taken */
    double user_s, system_s;
    char cpu_includes[200];
    char output[600]; /* the line, or what stands for it */
};

/* Makes no state of its own; every call has the trial, which is opened but for buffers and threads. */
struct external_tool {
    const char *name;
    const char *version_option;
    bool short_options; /* -x VALUE, two words; else --name=VALUE */
    bool warms_up;      /* has an option for it; else the program is run once before, for the warm-up's time */
    /* Options that leave the job and the figures as they are, without dashes; NULL-terminated. Whole names: what is
     * cut short, or another name of an option, could be one that spur gives itself. */
    const char *const *arguments_allowed;
    bool (*uses_setting)(const struct trial *t, const char *key);
    /* Usage errors: what of the job has no option of the program's. */
    int (*check)(const struct trial *t, struct spur_error *e);
    bool (*uses_cufile)(const struct trial *t); /* what it reads by system calls is then compatibility mode */
    /* Appends the options; @ns: of the timed part, 0 with --bytes; @warmup_ns: before it, in the same run. */
    void (*arguments)(const struct trial *t, uint64_t ns, uint64_t warmup_ns, struct external_words *words);
    /* -EPROTO: not understood, with the line in question. */
    int (*parse)(const struct trial *t, const char *output, struct external_figures *ret, struct spur_error *e);
};

extern const struct external_tool external_fio, external_gdsio;

struct external {
    const struct external_tool *tool;
    char *program; /* real path */
    char sha256[65];
    char version[100];             /* "" : it did not say */
    struct external_words command; /* of the timed run */
    struct rusage usage;           /* of the timed run, from the program's start to its end */
    double wall_s;
    struct external_figures figures; /* figures.seconds 0: there are none */
};

/* Finds the program and its identity, and translates the job; runs nothing. Usage or refused. */
int external_open(struct trial *t, struct spur_error *e);
/* Asks the program for its version. Refused: it does not start. */
int external_greet(struct external *x, struct spur_error *e);
void external_free(struct external *x);
/* {tool, program, version, sha256, command}; new reference. */
json_t *external_describe(const struct external *x);

/* Hears the parent and reports; @life changes as long as there are signs of it. True: stop. */
struct external_hooks {
    void *context;
    bool (*tick)(void *context, const char *phase, uint64_t life);
};

/* Runs the program and reads what it printed; -ECANCELED: it was stopped. Counters are read around the timed run. */
int external_run(struct trial *t, struct measure *m, const struct external_hooks *hooks, struct spur_error *e);

/* Pieces of the above. */
/* Usage: a setting that @tool does not use. */
int external_check_settings(const struct trial *t, const struct external_tool *tool, struct spur_error *e);
/* Usage: a word behind the first @n_own that is none of tool->arguments_allowed, or one of spur's own again. */
int external_check_arguments(const struct external_tool *tool, const struct external_words *w, size_t n_own,
                             struct spur_error *e);
void external_add(struct external_words *w, const char *text, ...) __attribute__((format(printf, 2, 3)));
void external_words_free(struct external_words *w);
const char *external_setting(const struct trial *t, const char *key);
/* "NAME: output not understood: ..." with @line quoted. */
int external_not_understood(struct spur_error *e, const char *tool, const char *why, const char *line);

/* A run of @words to its end. @output is malloc'd and at most 16 MiB long, @errors the end of stderr. */
struct external_end {
    int status;
    struct rusage usage;
    double wall_s;
    char *output;
    char errors[1200];
};
/* @limit_ns: it is killed after that, 0: never. @life: whether ticks go on counting until then, or follow what the
 * process does. Refused: it cannot be started. -ECANCELED: a hook said stop. -ETIMEDOUT: it was killed at the limit. */
int external_execute(char **words, uint64_t planned_ns, uint64_t limit_ns, const char *phase,
                     const struct external_hooks *hooks, struct external_end *ret, struct spur_error *e);

#endif
