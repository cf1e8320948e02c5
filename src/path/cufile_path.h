/* SPDX-License-Identifier: MIT */
/* What the three cuFile paths share: the library, its configuration, files, buffers and evidence. */
#ifndef SPUR_CUFILE_PATH_H
#define SPUR_CUFILE_PATH_H

#include "driver/cufile.h"
#include "path/path.h"

enum cufile_route { CUFILE_ROUTE_DIRECT, CUFILE_ROUTE_ANY, CUFILE_ROUTE_COMPAT };

/* spur_path.state */
struct cufile_path_state {
    struct cufile *lib;
    enum cufile_route route;
    bool registers;      /* register=yes */
    bool counts;         /* statistics were asked for, and are there */
    char no_counts[600]; /* why not */
    bool driver_open;
    struct cufile_properties properties;
    struct cufile_parameter parameters[CUFILE_N_PARAMETERS]; /* in force, read back after the driver was opened */
};

/* Settings of all three; a path may add its own. */
#define CUFILE_SETTINGS                                                                                                \
    {"route", "word", "direct, any, compat", "direct",                                                                 \
     "road asked for; direct: anything else is refused; any: takes what comes and says which; compat: forced"},        \
        {"library", "file", "a libcufile.so", "auto", "library file; auto: libcufile.so.0 as the loader finds it"},    \
        {"json", "file", "a cufile.json", "auto", "configuration file; auto: the one in force on this machine"},       \
        {"json.*", "value", "SECTION.KEY", "",                                                                         \
         "one key of the configuration, such as json.execution.parallel_io=false"},                                    \
        {"env.*", "value", "NAME", "",                                                                                 \
         "a variable of the trial's environment, such as env.CUFILE_LOGGING_LEVEL=TRACE"},                             \
        {"register", "word", "yes, no", "yes", "register buffers before they are used"},                               \
        {"poll", "word", "yes, no", "no", "poll for completions of small requests"},                                   \
    {                                                                                                                  \
        "stats", "word", "yes, no", "yes",                                                                             \
            "count operations by road, where the library can; no: to see what counting costs"                          \
    }

extern const struct spur_setting cufile_settings[];

/* The file of the library that was loaded. */
const char *cufile_file(const struct cufile_path_state *s);

/* path_ops slots of all three. */
int cufile_path_probe(struct spur_error *e);
int cufile_path_open(struct spur_path *p, struct spur_error *e);
void cufile_path_close(struct spur_path *p);
int cufile_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e);
void cufile_file_close(struct spur_file *f);
int cufile_attach(struct spur_path *p, struct spur_buffer *b, struct spur_error *e);
void cufile_detach(struct spur_path *p, struct spur_buffer *b);
void cufile_effective(struct spur_path *p, path_fact_fn emit, void *context);
void cufile_evidence(struct spur_path *p, path_fact_fn emit, void *context);
void cufile_roads(struct spur_path *p, struct path_roads *ret);
enum spur_observed cufile_asked_road(const struct spur_path *p);

/* cufile_config.c: what must be in force before the library is loaded, and before its driver is opened. */
int cufile_configure_environment(struct spur_path *p, struct spur_error *e);
int cufile_configure_library(struct spur_path *p, struct spur_error *e);

/* The handle of a file; the base that the library knows a buffer by. */
static inline CUfileHandle_t cufile_handle(const struct spur_file *f)
{
    return f->state;
}

static inline void *cufile_base(const struct spur_buffer *b)
{
    return (void *)(uintptr_t)b->address;
}

/*
 * Moves exactly r->length bytes, or fewer at the end of the file, from @done on; a short count goes on where it ended.
 * For requests without segments.
 */
int64_t cufile_move(struct spur_queue *q, const struct spur_request *r, uint64_t done, struct spur_error *e);

#endif
