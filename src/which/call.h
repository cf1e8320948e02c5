/* SPDX-License-Identifier: MIT */
/* A command line as a shell reads it, as far as it decides which program is started, and with which variables. */
#ifndef SPUR_WHICH_CALL_H
#define SPUR_WHICH_CALL_H

#include "which/which.h"

struct which_call {
    struct which_question q; /* with what assignments and env change of its variables */
    const char *program;     /* as it is written; NULL: there is none */
    bool has_arguments;
    const char *rest;      /* of the command, behind the program and its arguments: "&& other"; NULL: nothing */
    char folder[PATH_MAX]; /* where it is started, perhaps relative to where the command is; "": there */
    char *text;            /* owned: what the above point into */
};

/*
 * Splits q->command at blanks, with quotes and backslashes; NAME=VALUE words before the program and env with its
 * options count, and so do cd, export, unset and exec before it. Nothing is expanded. -ENOMEM, or a usage error: no
 * shell takes it, or it is more of a shell's language than is read. To be freed in any case.
 */
int which_call_parse(const struct which_question *q, struct which_call *ret, struct spur_error *e);
void which_call_free(struct which_call *call);

/* Whether @file (its last part) is a program whose work is to start others: a shell, sudo, timeout ... */
bool which_call_starts_others(const char *file);

#endif
