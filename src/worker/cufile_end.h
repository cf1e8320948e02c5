/* SPDX-License-Identifier: MIT */
/* A worker that ended with its cuFile library in it: which library, and how far it had come. */
#ifndef SPUR_WORKER_CUFILE_END_H
#define SPUR_WORKER_CUFILE_END_H

#include "worker/trial_env.h"

#define CUFILE_END_WORDS 4300 /* bytes: the whole name of a file, and what is said of it */

/*
 * "/a/libcufile.so.1.15.1 (cuFile 1.15.1) was being loaded", "...: its driver was being closed". False, and "": the
 * worker did not come to a library, or its path has none.
 */
bool cufile_end_words(const struct trial_env *env, char *ret, size_t size);
/* Adds that, and the last of @log (lines of cufile.log; NULL: there is none), to the detail of @e. */
void cufile_end_blame(const struct trial_env *env, const json_t *log, struct spur_error *e);

#endif
