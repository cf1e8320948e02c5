/* SPDX-License-Identifier: MIT */
/*
 * A process between spur and a prepare command, so that the command does not outlive spur, however that ends. It is a
 * fork of spur, in a process group of its own, and hears of spur's end by the end of their socket. It holds what spur
 * holds, the lock of the results file too: as long as the command cannot be ended, nobody goes on with the file.
 */
#ifndef SPUR_SWEEP_GUARD_H
#define SPUR_SWEEP_GUARD_H

#include <sys/types.h>

#include "spur.h"

enum guard_kind {
    GUARD_STARTED,  /* value: process of the command, which leads its group */
    GUARD_FAILED,   /* value: errno; it was not started */
    GUARD_ENDED,    /* value: its status, as of waitpid */
    GUARD_TERMINAL, /* it wanted the terminal, and was ended with its group; value: 1: some of it lives on */
    GUARD_OVER,     /* it was ended with its group, for spur asked for that; value: as above */
};

struct guard_word {
    int kind, value;
};

struct guard {
    pid_t pid;     /* of the guard */
    pid_t command; /* 0: not known yet */
    int fd;
};

/* Forks the guard, which starts @file with @words: standard input is /dev/null, standard output is stderr. SIGCHLD is
 * blocked by the caller. */
int guard_start(const char *file, char **words, struct guard *ret, struct spur_error *e);
/* 1: there is a word; 0: none yet; -EPIPE: the guard is gone without one. */
int guard_hear(struct guard *g, struct guard_word *ret);
/* Asks for the end of the command; GUARD_OVER or GUARD_ENDED comes. */
void guard_end(struct guard *g);
/* After the last word: waits for the guard's end, unless it @stays for what it could not end. */
void guard_free(struct guard *g, bool stays);
/* Ends a process group: SIGTERM, and after 2 s SIGKILL to what is not through; whatever is this process's child or was
 * left to it is waited for. True: some of it lives on, in the kernel or as another user's. */
bool guard_end_group(pid_t group);

#endif
