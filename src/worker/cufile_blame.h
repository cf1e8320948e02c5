/* SPDX-License-Identifier: MIT */
/* Which key of cufile.json made the library refuse to start: it answers -22 (EINVAL) and names none. */
#ifndef SPUR_WORKER_CUFILE_BLAME_H
#define SPUR_WORKER_CUFILE_BLAME_H

#include "worker/job.h"

/* If @e is that answer: adds to its detail each key of the configuration in force that is known to be out of range or
 * of another kind, or where the file is damaged, and to its remedy the check of spur doctor that looks at that file.
 * Other errors, and keys that are not known, are left as they are. */
void cufile_blame(const struct job *job, struct spur_error *e);

#endif
