/* SPDX-License-Identifier: MIT */
/* The parts of spur compare. */
#ifndef SPUR_CLI_COMPARE_H
#define SPUR_CLI_COMPARE_H

#include "cli/compare_options.h"
#include "sweep/sweep.h"

/* compare_plan.c: the experiment without its order, and whether anything in it runs code. Owned by the caller, as is
 * what was asked for in @ret_spec, which is zeroed (also after an error). */
int compare_plan(struct compare_options *o, const struct option_result *given, struct plan_spec *ret_spec,
                 struct experiment *ret, struct spur_error *e);
/* An error of an arm that can run in no cell gets the line of the job file that is to blame. */
void compare_plan_place(const struct plan_spec *s, struct spur_error *e);
/* Whether the command line, or a job file, says anything of a plan: with --resume it need not. */
bool compare_has_plan(const struct compare_options *o, const struct option_result *given);
/* The command line that repeats it, with @seed; malloc'd. */
char *compare_command_text(uint64_t seed, bool seed_given);
/* The command line as it was given; malloc'd. */
char *compare_command_given(void);

/* compare_quick.c: what --quick takes for what is not given. @shortens: longer windows, warm-ups and verification
 * passes of a job file give way. */
int compare_quick(struct plan_spec *s, bool shortens, struct spur_error *e);
/* Whether any window is so short that figures are rough. */
bool compare_quick_is_short(const struct experiment *x);

/* compare_jobs.c: a job of each pair, [cell * n_arms + arm]; a pair whose settings cannot go together becomes not
 * applicable. sweep_pairs_free. */
int compare_jobs(struct experiment *x, struct sweep_pair **ret, struct spur_error *e);

/* compare_memory.c: "auto" becomes, wherever the plan says it, what the check of @pairs resolved it to; x->memory is
 * NULL where it varies. Usage error: an axis has the same memory twice then. */
int compare_memory(struct experiment *x, const struct sweep_pair *pairs, struct spur_error *e);

/* compare_match.c: --match: finds settings by pilots, and makes jobs of them anew. */
int compare_match(const struct compare_options *o, struct experiment *x, struct sweep_pair **pairs,
                  struct spur_error *e);

/* compare_text.c */
void compare_text_plan(FILE *out, const struct experiment *x, const struct sweep_pair *pairs, const char *results);
/* Each trial in its order. */
void compare_text_order(FILE *out, const struct experiment *x);
/* Commands that the plan runs, with the SHA-256 of their programs. */
int compare_text_code(FILE *out, const struct experiment *x, struct spur_error *e);

/* compare_code.c: settings that run code as the user (program, args, library, json by file, env.*), and commands. */
/* Refused: the plan has a command, or a job file such a setting, and neither is allowed. */
int compare_code_check(const struct plan_spec *s, const struct compare_options *o, struct spur_error *e);
bool compare_code_stored(const struct experiment *x);
/* Each such setting with the SHA-256 of its file. */
int compare_code_show(FILE *out, const struct experiment *x, struct spur_error *e);

struct compare_progress {
    FILE *out;
    bool live; /* a terminal: the line is rewritten in place */
    bool shown;
    const struct experiment *x;
};
extern const struct sweep_hooks compare_hooks; /* context: struct compare_progress */

#endif
