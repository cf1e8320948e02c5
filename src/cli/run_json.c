/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/run.h"
#include "core/error.h"
#include "core/util.h"
#include "core/whole_file.h"

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

/* A file that exists is replaced only if spur wrote it. */
int run_json_check(const char *file, struct spur_error *e)
{
    struct stat st;
    json_t *old;
    bool ours;

    if (!strcmp(file, "-"))
        return 0;
    if (stat(file, &st) < 0 && errno == ENOENT)
        return whole_file_check(file, "--json", e);
    old = stat(file, &st) == 0 && S_ISREG(st.st_mode) ? json_load_file(file, 0, NULL) : NULL;
    ours = json_is_integer(json_object_get(old, "schema")) && json_is_string(json_object_get(old, "spur"));
    json_decref(old);
    if (ours)
        return whole_file_check(file, "--json", e);
    error_spur(e, SPUR_CODE_REFUSED, "json", "--json: %s exists and is no result of spur's", file);
    error_remedy(e, "name a new file");
    return -EPERM;
}

int run_json_write(const char *file, const json_t *result, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    _cleanup_free_ char *dump = json_dumps(result, DUMP_FLAGS);

    if (!dump || asprintf(&text, "%s\n", dump) < 0)
        return error_errno(e, ENOMEM, "json", "the result");
    if (strcmp(file, "-"))
        return whole_file_write(file, text, strlen(text), "--json", e);
    if (fputs(text, stdout) < 0 || fflush(stdout) < 0)
        return error_errno(e, errno, "write", "standard output");
    return 0;
}
