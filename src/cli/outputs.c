/* SPDX-License-Identifier: MIT */
#include "cli/outputs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"

/* A name that need not lead anywhere yet: its folder, and what stands after that (points into @file). */
static bool find_folder(const char *file, struct stat *ret_folder, const char **ret_name, size_t *ret_length)
{
    size_t length = strlen(file);
    _cleanup_free_ char *folder = NULL;
    const char *slash;

    while (length > 1 && file[length - 1] == '/')
        length--;
    slash = memrchr(file, '/', length);
    folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    *ret_name = slash ? slash + 1 : file;
    *ret_length = length - (size_t)(*ret_name - file);
    return folder && stat(folder, ret_folder) == 0;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_same(const char *a, const char *b)
{
    const char *name_a, *name_b;
    size_t length_a, length_b;
    struct stat st_a, st_b;

    if (!strcmp(a, b))
        return true;
    if (!strcmp(a, "-") || !strcmp(b, "-"))
        return false;
    if (stat(a, &st_a) == 0 && stat(b, &st_b) == 0 && is_one(&st_a, &st_b))
        return true;
    return find_folder(a, &st_a, &name_a, &length_a) && find_folder(b, &st_b, &name_b, &length_b) &&
           is_one(&st_a, &st_b) && length_a == length_b && !memcmp(name_a, name_b, length_a);
}

static int check_results(const struct output *output, const char *db, struct spur_error *e)
{
    static const struct {
        const char *suffix, *what;
    } kept[] = {{"", "is the results file"},
                {".lock", "is the lock of the results file"},
                {"-journal", "is SQLite's, beside the results file"},
                {"-wal", "is SQLite's, beside the results file"},
                {"-shm", "is SQLite's, beside the results file"}};
    _cleanup_free_ char *real = realpath(db, NULL); /* what is beside a link's target is meant */

    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        _cleanup_free_ char *name = NULL;
        int r;

        if (asprintf(&name, "%s%s", real ? real : db, kept[i].suffix) < 0)
            return error_errno(e, ENOMEM, "asprintf", "--%s", output->option);
        if (!is_same(output->file, name))
            continue;
        r = error_spur(e, access(name, F_OK) ? SPUR_CODE_USAGE : SPUR_CODE_REFUSED, "option", "--%s: %s %s",
                       output->option, output->file, kept[i].what);
        error_remedy(e, "name another file");
        return r;
    }
    return 0;
}

int outputs_check(const struct output *outputs, size_t n, const char *db, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; i < n && !r; i++) {
        const char *file = outputs[i].file;

        for (size_t k = 0; file && k < i; k++)
            if (outputs[k].file && is_same(outputs[k].file, file))
                return error_spur(e, SPUR_CODE_USAGE, "option", "--%s and --%s both go to %s", outputs[k].option,
                                  outputs[i].option, strcmp(file, "-") ? file : "standard output");
        if (file && strcmp(file, "-"))
            r = check_results(&outputs[i], db, e);
    }
    return r;
}
