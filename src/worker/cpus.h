/* SPDX-License-Identifier: MIT */
/* Binding of the worker to CPUs: one set for all arms that are compared. */
#ifndef SPUR_WORKER_CPUS_H
#define SPUR_WORKER_CPUS_H

#include "probe/probe.h"

/* Whether @list is one, of any machine's CPUs. Usage error: no. */
int cpus_check(const char *list, struct spur_error *e);

/*
 * Binds the calling thread, and with it all that are started later, to @list ("0-7,16"). Usage error: no list, or none
 * of its CPUs may be used here.
 */
int cpus_bind(const char *list, struct spur_error *e);

/* CPUs next to the PCI device @address ("0000:18:00.0"), as /sys tells. -ENOENT etc. where it does not. */
int cpus_near(const struct probe *p, const char *address, char *ret_list, size_t size, struct spur_error *e);

#endif
