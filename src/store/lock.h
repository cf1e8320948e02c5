/* SPDX-License-Identifier: MIT */
/*
 * One writer of a results file: a lock on a file of its own beside it, FILE.lock. A lock on the results file itself
 * would need a descriptor of it, and closing that drops the POSIX locks by which SQLite guards the file in this
 * process.
 */
#ifndef SPUR_STORE_LOCK_H
#define SPUR_STORE_LOCK_H

#include "spur.h"

struct store_lock {
    int fd; /* -1: not held */
    char *name;
};

/* @real: the results file, symbolic links resolved. -EPERM (REFUSED): another writer has it. */
int store_lock_take(const char *real, const char *filename, struct store_lock *ret, struct spur_error *e);
/* Only after the results file was closed. */
void store_lock_release(struct store_lock *lock);

#endif
