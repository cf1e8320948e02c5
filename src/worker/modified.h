/* SPDX-License-Identifier: MIT */
/* Whether somebody else wrote a trial's files while it did not: by their time of modification and size. */
#ifndef SPUR_WORKER_MODIFIED_H
#define SPUR_WORKER_MODIFIED_H

#include <jansson.h>

#include "worker/target.h"

/* How the files are now; asked of the server where there is one. Block devices have no such time. */
void modified_look(struct target_list *list);
/* Marks those that are not as they were at the last look. Reading changes neither, by any path, nor does the writing
 * back of pages that were dirty before. */
void modified_compare(struct target_list *list);
/* A mismatch in a file that is marked has its cause: the remedy says so. */
void modified_blame(const struct target_list *list, struct spur_error *mismatch);
/* `files_modified` of @result and a note. @own_writes: as in struct outcome. */
void modified_tell(const struct target_list *list, bool own_writes, json_t *result, json_t *nulls, json_t *notes);

#endif
