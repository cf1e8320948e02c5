/* SPDX-License-Identifier: MIT */
/* What a trial was asked for against what its path can do with its files. */
#ifndef SPUR_WORKER_TRIAL_LIMITS_H
#define SPUR_WORKER_TRIAL_LIMITS_H

#include "worker/trial.h"

/* The strictest limits of path and files, into t->limits. After the files were opened. */
void trial_limits_take(struct trial *t);
/* -EINVAL: the job's depth is more than @most. */
int trial_limits_check_depth(const struct job *job, unsigned most, struct spur_error *e);
/* -EINVAL with the option that does not fit them. */
int trial_limits_check(const struct trial *t, struct spur_error *e);

#endif
