/* SPDX-License-Identifier: MIT */
#ifndef SPUR_WORKER_CHILD_H
#define SPUR_WORKER_CHILD_H

#include <sys/types.h>

/* Runs one trial that arrives on WIRE_FD; @parent: the process whose end is this one's. Returns an exit status. */
int worker_main(pid_t parent);

#endif
