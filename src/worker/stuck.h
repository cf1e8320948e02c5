/* SPDX-License-Identifier: MIT */
/* What each thread of a silent process is doing. */
#ifndef SPUR_WORKER_STUCK_H
#define SPUR_WORKER_STUCK_H

#include <jansson.h>
#include <sys/types.h>

/* A new list of {thread, name, state, wchan, syscall}, from /proc: empty words where it does not say. */
json_t *stuck_threads(pid_t pid);

/* Threads with their states in one line: "spur-0 D (wchan folio_wait_bit_common)". */
void stuck_words(const json_t *threads, char *ret, size_t size);

#endif
