/* SPDX-License-Identifier: MIT */
/* Pieces that make up a result. Library of result.c; everything returned is a new reference. */
#ifndef SPUR_WORKER_RESULT_PARTS_H
#define SPUR_WORKER_RESULT_PARTS_H

#include "worker/result.h"

json_t *result_u64(uint64_t v);
json_t *result_real(double v); /* null for what is no finite number */
/* key: null in @result (may be NULL), and its reason in @nulls. */
void result_null(json_t *result, json_t *nulls, const char *key, const char *reason);
void result_note(json_t *notes, const char *text, ...) __attribute__((format(printf, 2, 3)));
double result_seconds(const struct outcome *o); /* of the window */
unsigned result_busy_threads(const struct trial *t);
/* A path_fact_fn: sets the fact's key, and KEY_reason where there is one, of the JSON object @context. */
void result_fact(void *context, const struct path_fact *fact);

json_t *result_errors(const struct outcome *o);
/* Sets `cache` of @result. */
void result_cache(json_t *result, const struct outcome *o, json_t *nulls);
/* Appends one piece of evidence; takes over @value. strength: strong, supporting, weak, none. */
void result_evidence(json_t *evidence, const char *source, const char *strength, const char *says, json_t *value);
/* What the kernel and nvidia-fs counted. */
void result_io_evidence(const struct measure *m, json_t *evidence);
json_t *result_device(const struct measure *m, json_t *nulls);
/* What the storage saw. @others_only: the trial's own bytes are not in it, but for a few. */
json_t *result_wire(const struct seen *s, bool others_only, json_t *nulls);
/* What the links of the GPUs carried. */
json_t *result_gpu_links(const struct gpu_samples *s, json_t *nulls);
/* What answered: "storage", "cache", "memory"; NULL with a reason where nothing counts it. */
const char *result_served(const struct trial *t, const struct measure *m, const struct totals *s,
                          const char **ret_reason);
/* Notes on everything that a reader of the figures must know. */
void result_flags(const struct trial *t, const struct measure *m, const struct outcome *o, const struct totals *s,
                  const char *served_by, json_t *notes);

#endif
