/* SPDX-License-Identifier: MIT */
/*
 * The doctor: will the direct road work for a file on this machine, and if not, why and what to do. Checks are rows of
 * a table over facts; everything comes out as one JSON object (docs/doctor.md names its keys), which text, comparison
 * and records are made from. Nothing of the machine is changed.
 */
#ifndef SPUR_DOCTOR_H
#define SPUR_DOCTOR_H

#include <jansson.h>
#include <stdio.h>

#include "spur.h"

#define DOCTOR_SCHEMA    "spur-doctor-1"
#define RECORDING_SCHEMA "spur-recording-1"

struct doctor_request {
    const char *const *files; /* or directories */
    size_t n_files;
    const char *root; /* a recorded machine: nothing of this one is looked at; NULL: this machine */
    bool no_probe;    /* nothing is loaded, no GPU is started and no file is read through cuFile */
};

/*
 * The report, a new reference. -errno with the reason only if there can be none: the root is no recording or a newer
 * one's, or no memory.
 */
int doctor_report(const struct doctor_request *r, json_t **ret, struct spur_error *e);

/* 0: the direct road works for all files; 4: works, but not on it; 3: one cannot be read at all. */
int doctor_exit(const json_t *report);

/* verbose: also what passed. @check: only the findings of that check, or NULL. */
void doctor_text(FILE *out, const json_t *report, bool verbose, const char *check);

/* What differs between two reports, a line for each key; returns how many. */
size_t doctor_compare(FILE *out, const json_t *here, const json_t *there);
/* A report that --json wrote. -errno with the reason: unreadable, no report, or a newer one's. */
int doctor_load(const char *filename, json_t **ret, struct spur_error *e);

/*
 * Makes a record of this machine in @dir, which is made or must be empty: the files of /proc, /sys, /run and /etc that
 * checks read, and facts.json. No data of files; names of hosts, users and files, addresses and serials are replaced.
 */
int doctor_record(const struct doctor_request *r, const char *dir, struct spur_error *e);

/* Names of the checks, in order of the table; NULL past the end. */
const char *doctor_check_name(size_t index);
/* The table as markdown, as it stands in docs/doctor.md. */
void doctor_list_checks(FILE *out);

#endif
