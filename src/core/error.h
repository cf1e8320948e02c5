/* SPDX-License-Identifier: MIT */
/* Filling struct spur_error: only the function that decides it is an error words it. */
#ifndef SPUR_CORE_ERROR_H
#define SPUR_CORE_ERROR_H

#include "spur.h"

/* Each fills @e (which may be NULL) and returns the negative errno to return. detail is printf-like, of any length:
 * where it has no room in @e, paths in it are shortened in their middle (core/fit.h). */

/* A system call failed with @err (positive errno). Returns -err. */
int error_errno(struct spur_error *e, int err, const char *operation, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
/* spur's own judgement. SPUR_CODE_USAGE -> -EINVAL, REFUSED -> -EPERM, MISMATCH -> -EILSEQ. */
int error_spur(struct spur_error *e, enum spur_code code, const char *operation, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
/* A foreign code (CUresult, ...). Returns @ret (a negative errno of the caller's choice). */
int error_foreign(struct spur_error *e, enum spur_source source, int code, int ret, const char *operation,
                  const char *detail, ...) __attribute__((format(printf, 6, 7)));
/*
 * Whether @e says that it cannot be done here, rather than that it failed: spur's own refusal, a library or a function
 * in it that is missing, a CUDA driver that does not start (its stub, no GPU).
 */
bool error_is_refusal(const struct spur_error *e);
/* Adds a remedy to an error that was just filled. */
void error_remedy(struct spur_error *e, const char *remedy, ...) __attribute__((format(printf, 2, 3)));
/* Words the detail of an error anew; they may be made from its own. Its code stays. */
void error_reword(struct spur_error *e, const char *detail, ...) __attribute__((format(printf, 2, 3)));
/* What was asked for cannot be, with what to ask for instead. Returns -EINVAL. */
int error_usage(struct spur_error *e, const char *option, const char *remedy, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
/* A process ended with @status (of waitpid) where it should not have: "NAME was killed by SIGKILL" or "NAME ended with
 * status 3", then @more ("", ": its last words"). Its end is no system call's, so no errno is worded. Returns -EIO. */
int error_process(struct spur_error *e, int status, const char *operation, const char *name, const char *more);
/* The remedy of a write that failed with @err for want of room (ENOSPC, EDQUOT, EFBIG); of others, none. */
void error_remedy_room(struct spur_error *e, int err);

#endif
