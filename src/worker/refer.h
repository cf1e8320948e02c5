/* SPDX-License-Identifier: MIT */
/* A refusal names the check of spur doctor that says more. */
#ifndef SPUR_WORKER_REFER_H
#define SPUR_WORKER_REFER_H

#include "spur.h"

/* Adds "; spur doctor --check CHECK FILE says more" to the remedy, unless that names a check already; the word FILE
 * where the name does not fit. */
void refer_to(struct spur_error *e, const char *check, const char *file);

/* The same for a trial whose settings name a cufile.json; NULL: the one that doctor finds by itself. */
void refer_to_config(struct spur_error *e, const char *check, const char *file, const char *json);

/* The check for what cuFile, CUDA or the loader said, in order of what is worth reading first. */
const char *refer_check(const struct spur_error *why);
/* Adds that check if the library, the driver or the GPU is not there, or will not take the file (error_is_refusal). */
void refer_refusal(struct spur_error *e, const char *file);

#endif
