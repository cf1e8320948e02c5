/* SPDX-License-Identifier: MIT */
/* The result of a trial whatever became of its worker. */
#ifndef SPUR_WORKER_WHOLE_RESULT_H
#define SPUR_WORKER_WHOLE_RESULT_H

#include "worker/parent.h"

/*
 * What docs/run-json.md describes, new reference: the worker's result with what was asked for; where it left none, what
 * is known (@effective of `ready`, or NULL; the last progress) and why.
 */
json_t *worker_result(const struct job *job, const json_t *effective, const struct worker_end *end);

#endif
