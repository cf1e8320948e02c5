/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "core/fit.h"
#include "core/util.h"

/* @end: a few words behind the detail, which are kept. */
static void fill(struct spur_error *e, enum spur_source source, int code, const char *operation, const char *detail,
                 va_list ap, const char *end)
{
    if (!e)
        return;
    memset(e, 0, sizeof(*e));
    e->source = source;
    e->code = code;
    snprintf(e->operation, sizeof(e->operation), "%s", operation);
    fit_vprint(e->detail, sizeof(e->detail) - strlen(end), detail, ap);
    strcat(e->detail, end);
}

int error_errno(struct spur_error *e, int err, const char *operation, const char *detail, ...)
{
    char cause[100];
    va_list ap;

    snprintf(cause, sizeof(cause), ": %s", strerrordesc_np(err) ?: "?");
    va_start(ap, detail);
    fill(e, SPUR_SOURCE_ERRNO, err, operation, detail, ap, cause);
    va_end(ap);
    return -err;
}

int error_spur(struct spur_error *e, enum spur_code code, const char *operation, const char *detail, ...)
{
    va_list ap;

    va_start(ap, detail);
    fill(e, SPUR_SOURCE_SPUR, code, operation, detail, ap, "");
    va_end(ap);
    switch (code) {
    case SPUR_CODE_REFUSED:
        return -EPERM;
    case SPUR_CODE_MISMATCH:
        return -EILSEQ;
    default:
        return -EINVAL;
    }
}

int error_foreign(struct spur_error *e, enum spur_source source, int code, int ret, const char *operation,
                  const char *detail, ...)
{
    va_list ap;

    va_start(ap, detail);
    fill(e, source, code, operation, detail, ap, "");
    va_end(ap);
    return ret;
}

/* cuFile will not take the machine, or the file: no call on it was tried. */
static bool cufile_refuses(const struct spur_error *e)
{
    static const int codes[] = {5001, 5004, 5005, 5007, 5008, 5009, 5010, 5011, 5018, 5020, 5025, 5027, 5034};

    if (strcmp(e->operation, "cuFileDriverOpen") && strcmp(e->operation, "cuFileHandleRegister"))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
        if (e->code == codes[i])
            return true;
    return false;
}

bool error_is_refusal(const struct spur_error *e)
{
    switch (e->source) {
    case SPUR_SOURCE_SPUR:
        return e->code == SPUR_CODE_REFUSED;
    case SPUR_SOURCE_ERRNO:
        return e->code == ENODEV && (!strcmp(e->operation, "dlopen") || !strcmp(e->operation, "dlsym"));
    case SPUR_SOURCE_CUDA:
        return !strcmp(e->operation, "cuInit");
    case SPUR_SOURCE_CUFILE:
        return cufile_refuses(e);
    default:
        return false;
    }
}

void error_remedy(struct spur_error *e, const char *remedy, ...)
{
    va_list ap;

    if (!e)
        return;
    va_start(ap, remedy);
    fit_vprint(e->remedy, sizeof(e->remedy), remedy, ap);
    va_end(ap);
}

void error_reword(struct spur_error *e, const char *detail, ...)
{
    char text[sizeof(e->detail)];
    va_list ap;

    if (!e)
        return;
    va_start(ap, detail);
    fit_vprint(text, sizeof(text), detail, ap); /* @e's own detail may be part of it, also where there is no memory */
    va_end(ap);
    strcpy(e->detail, text);
}

int error_usage(struct spur_error *e, const char *option, const char *remedy, const char *detail, ...)
{
    va_list ap;

    va_start(ap, detail);
    fill(e, SPUR_SOURCE_SPUR, SPUR_CODE_USAGE, option, detail, ap, "");
    va_end(ap);
    error_remedy(e, "%s", remedy);
    return -EINVAL;
}

int error_process(struct spur_error *e, int status, const char *operation, const char *name, const char *more)
{
    if (WIFSIGNALED(status))
        return error_foreign(e, SPUR_SOURCE_ERRNO, EIO, -EIO, operation, "%s was killed by SIG%s%s", name,
                             sigabbrev_np(WTERMSIG(status)) ?: "?", more);
    return error_foreign(e, SPUR_SOURCE_ERRNO, EIO, -EIO, operation, "%s ended with status %d%s", name,
                         WEXITSTATUS(status), more);
}

void error_remedy_room(struct spur_error *e, int err)
{
    if (err == ENOSPC)
        error_remedy(e, "free space there, or name another place");
    else if (err == EDQUOT)
        error_remedy(e, "free space of that quota, or name another place");
    else if (err == EFBIG)
        error_remedy(e, "raise the limit of file sizes (ulimit -f), or name a place that takes larger files");
}
