/* SPDX-License-Identifier: MIT */
/* The worker's side of worker_check: jobs are opened one after another in one process, and nothing is timed. */
#ifndef SPUR_WORKER_PLAN_CHECK_H
#define SPUR_WORKER_PLAN_CHECK_H

#include "worker/wire.h"

/*
 * While *message is a "check", answers it and receives the next one. False with *message of any other kind, which is
 * the caller's; true with NULL in it: the stream ended.
 */
bool plan_check_answer(struct wire *w, json_t **message);

#endif
