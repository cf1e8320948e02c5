/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/run.h"
#include "core/error.h"
#include "core/util.h"

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

/* A place that cannot take the result is said before the trial, not after it. */
static int check_directory(const char *file, struct spur_error *e)
{
    const char *slash = strrchr(file, '/');
    _cleanup_free_ char *name = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");

    if (!name)
        return error_errno(e, ENOMEM, "strdup", "--json: %s", file);
    return access(name, W_OK | X_OK) < 0 ? error_errno(e, errno, "access", "--json: %s", name) : 0;
}

/* A file that exists is replaced only if spur wrote it. */
int run_json_check(const char *file, struct spur_error *e)
{
    struct stat st;
    json_t *old;
    bool ours;

    if (!strcmp(file, "-"))
        return 0;
    if (stat(file, &st) < 0 && errno == ENOENT)
        return check_directory(file, e);
    old = stat(file, &st) == 0 && S_ISREG(st.st_mode) ? json_load_file(file, 0, NULL) : NULL;
    ours = json_is_integer(json_object_get(old, "schema")) && json_is_string(json_object_get(old, "spur"));
    json_decref(old);
    if (ours)
        return check_directory(file, e);
    error_spur(e, SPUR_CODE_REFUSED, "json", "--json: %s exists and is no result of spur's", file);
    error_remedy(e, "name a new file");
    return -EPERM;
}

static int write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        text += n;
        length -= (size_t)n;
    }
    return 0;
}

static int write_file(const char *file, const char *text, struct spur_error *e)
{
    _cleanup_free_ char *temporary = NULL;
    int fd, r;

    if (asprintf(&temporary, "%s.XXXXXX", file) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", file);
    fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return error_errno(e, errno, "mkostemp", "%s", temporary);
    r = write_all(fd, text, strlen(text));
    if (!r && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && !r)
        r = -errno;
    if (!r && rename(temporary, file) < 0)
        r = -errno;
    if (!r)
        return 0;
    unlink(temporary);
    return error_errno(e, -r, "write", "--json: %s", file);
}

int run_json_write(const char *file, const json_t *result, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    _cleanup_free_ char *dump = json_dumps(result, DUMP_FLAGS);

    if (!dump || asprintf(&text, "%s\n", dump) < 0)
        return error_errno(e, ENOMEM, "json", "the result");
    if (strcmp(file, "-"))
        return write_file(file, text, e);
    if (fputs(text, stdout) < 0 || fflush(stdout) < 0)
        return error_errno(e, errno, "write", "standard output");
    return 0;
}
