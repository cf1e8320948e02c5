/* SPDX-License-Identifier: MIT */
/* What spur run prints and writes. */
#ifndef SPUR_CLI_RUN_H
#define SPUR_CLI_RUN_H

#include <jansson.h>
#include <stdio.h>

#include "spur.h"
#include "worker/parent.h"

/* "spur run: odirect, read, ... memory emulated": the first line, once it is known what runs. */
void run_text_head(FILE *out, const json_t *effective, const struct job *job);
/* Table of one row, then notes and errors. */
void run_text_result(FILE *out, const json_t *result, const struct job *job);
/* The live line on a terminal; rewritten in place. */
void run_text_live(FILE *out, const struct worker_progress *p, const struct job *job);
void run_text_live_end(FILE *out);

/* Refuses a FILE that exists and is no result of spur's: it would be replaced. "-" is always fine. */
int run_json_check(const char *file, struct spur_error *e);
/* Whole or not at all (a temporary file, renamed), mode 0600; "-": standard output. */
int run_json_write(const char *file, const json_t *result, struct spur_error *e);

#endif
