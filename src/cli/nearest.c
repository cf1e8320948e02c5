/* SPDX-License-Identifier: MIT */
#include "cli/nearest.h"

#include <string.h>
#include <strings.h>

#define LONGEST 64 /* longer words are no typing errors */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t row[3][LONGEST + 1]; /* the last three rows of the usual matrix */
    size_t n = strlen(a), m = strlen(b);

    if (n > LONGEST || m > LONGEST)
        return n > m ? n : m;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

struct best {
    const char *name;
    size_t distance;
};

static void consider(struct best *best, const char *word, const char *name)
{
    size_t longer = strlen(word) > strlen(name) ? strlen(word) : strlen(name);
    size_t d = strcasecmp(word, name) ? nearest_distance(word, name) : 0;
    /* An abbreviation is near however much is left out. */
    if (strlen(word) >= 3 && !strncmp(word, name, strlen(word)))
        d = 1;
    if (d <= 1 + longer / 4 && d < longer && d < best->distance) {
        best->name = name;
        best->distance = d;
    }
}

const char *nearest_name(const char *word, nearest_fn name)
{
    struct best best = {NULL, (size_t)-1};

    for (size_t i = 0; name(i); i++)
        consider(&best, word, name(i));
    return best.name;
}

const char *nearest_in(const char *word, const char *const *names)
{
    struct best best = {NULL, (size_t)-1};

    for (size_t i = 0; names[i]; i++)
        consider(&best, word, names[i]);
    return best.name;
}
