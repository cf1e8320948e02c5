/* SPDX-License-Identifier: MIT */
/* Which files an arm reads in a cell, as one text: "9:/mnt/a/f9:/mnt/b/f", names sorted, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_causes.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_files(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    size_t n = 0;

    while (experiment_value_at(x, cell, arm, "file", n))
        n++;
    return n;
}

static char *join(const char *const *names, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!i || strcmp(names[i], names[i - 1]) != 0)
            fprintf(out, "%zu:%s", strlen(names[i]), names[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *cause_files(const struct experiment *x, uint32_t cell, uint32_t arm)
{
    size_t n = count_files(x, cell, arm);
    _cleanup_free_ const char **names = calloc(n + 1, sizeof(*names));

    if (!names)
        return NULL;
    for (size_t i = 0; i < n; i++)
        names[i] = experiment_value_at(x, cell, arm, "file", i);
    qsort(names, n, sizeof(*names), compare_names);
    return join(names, n);
}

/* ------------------------------------------------------------------------------------------------ */

struct name {
    const char *text;
    size_t n;
};

/* The next name of *@rest; false: there is none. */
static bool next_name(const char **rest, struct name *ret)
{
    char *end;

    ret->n = strtoul(*rest, &end, 10);
    if (*end != ':')
        return false;
    ret->text = end + 1;
    *rest = ret->text + ret->n;
    return true;
}

/* Both are sorted: one walk. */
bool cause_files_within(const char *some, const char *all)
{
    struct name want, have;

    if (!strcmp(some, all))
        return true;
    while (next_name(&some, &want)) {
        do {
            if (!next_name(&all, &have))
                return false;
        } while (have.n != want.n || memcmp(have.text, want.text, want.n) != 0);
    }
    return true;
}
