/* SPDX-License-Identifier: MIT */
/*
 * What surrounds a worker: its environment, and for cuFile a private directory with the trial's own cufile.json and the
 * library's log. The parent makes it before the worker starts and removes it after its end, however that came.
 */
#ifndef SPUR_WORKER_TRIAL_ENV_H
#define SPUR_WORKER_TRIAL_ENV_H

#include "worker/job.h"

#define TRIAL_STAGE_FILE "stage" /* in the private directory: how far the library came (path/cufile_stage.h) */

struct trial_env {
    char **list; /* NULL-terminated; for posix_spawn */
    size_t n;
    char dir[4096]; /* "" where the job needs none */
};

/* Whether the job's path is one of cuFile's, whose library is configured by environment and files. */
bool trial_env_is_cufile(const struct job *job);
/* Whether the worker has an environment of the job's: those, and external programs. */
bool trial_env_is_own(const struct job *job);

/*
 * @job NULL: the plain environment. @pilot: the worker is a pilot (compatibility mode forbidden). Usage error: a
 * cufile.json that cannot be read or is damaged (with its line), a key that has no place.
 */
int trial_env_make(const struct job *job, bool pilot, struct trial_env *ret, struct spur_error *e);
/* The last lines of the library's log that report errors, or where @any the last ones of any kind if none does; at most
 * @most. New reference, an array, NULL: no log. */
json_t *trial_env_log(const struct trial_env *env, size_t most, bool any);
/* Removes the directory and frees all. */
void trial_env_free(struct trial_env *env);

/* cufile_json.c: the file that the job's settings name; NULL: none, what is in force here is. */
const char *cufile_json_named(const struct job *job);
/* The file that a cuFile library reads before the job's keys are put in: what the job names, else what the environment
 * names, else the system's, which may not be there. */
const char *cufile_json_in_force(const struct job *job);
bool cufile_json_has_keys(const struct job *job); /* json.* */
/* Refused: the file that the job names, or with @inherits the environment, cannot be read. What is in it is not looked
 * at. */
int cufile_json_check(const struct job *job, bool inherits, struct spur_error *e);
/* The text of the file in force without the job's keys ("{}": there is none), malloc'd, and its name. */
int cufile_json_read(const struct job *job, char **ret_text, const char **ret_filename, struct spur_error *e);
/* The configuration in force on this machine, with the job's json.* keys put in; malloc'd text. */
int cufile_json_compose(const struct job *job, char **ret_text, struct spur_error *e);
/* JSON with comments and trailing commas, as cuFile takes it; new reference. Usage error with the line. */
json_t *cufile_json_parse(const char *text, const char *filename, struct spur_error *e);

#endif
