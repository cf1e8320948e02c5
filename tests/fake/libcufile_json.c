/* SPDX-License-Identifier: MIT */
/* A reader of JSON with comments and trailing commas, as tolerant as the one in libcufile. See libcufile.h. */
#include "libcufile.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define MOST_KEY   256
#define MOST_DEPTH 16

struct reader {
    const char *at;
    char key[MOST_KEY];
    int (*each)(void *context, const char *key, const char *value, bool is_string);
    void *context;
    unsigned depth;
};

static int read_value(struct reader *r);

static void skip(struct reader *r)
{
    for (;;) {
        while (isspace((unsigned char)*r->at))
            r->at++;
        if (r->at[0] == '/' && r->at[1] == '/') {
            r->at += strcspn(r->at, "\n");
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            const char *end = strstr(r->at, "*/");

            r->at = end ? end + 2 : r->at + strlen(r->at);
        } else {
            return;
        }
    }
}

static bool take(struct reader *r, char c)
{
    skip(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static int read_string(struct reader *r, char *to, size_t size)
{
    size_t n = 0;

    if (!take(r, '"'))
        return -EINVAL;
    while (*r->at && *r->at != '"') {
        if (*r->at == '\\' && r->at[1])
            r->at++;
        if (n + 1 < size)
            to[n++] = *r->at;
        r->at++;
    }
    to[n] = '\0';
    return *r->at++ == '"' ? 0 : -EINVAL;
}

static int read_object(struct reader *r)
{
    size_t n = strlen(r->key);

    while (!take(r, '}')) {
        char name[MOST_KEY];
        int rc = read_string(r, name, sizeof(name));

        if (rc || !take(r, ':'))
            return -EINVAL;
        snprintf(r->key + n, sizeof(r->key) - n, "%s%s", n ? "." : "", name);
        rc = read_value(r);
        r->key[n] = '\0';
        if (rc)
            return rc;
        if (!take(r, ',') && (skip(r), *r->at != '}'))
            return -EINVAL;
    }
    return 0;
}

static int read_array(struct reader *r)
{
    while (!take(r, ']')) {
        int rc = read_value(r);

        if (rc)
            return rc;
        if (!take(r, ',') && (skip(r), *r->at != ']'))
            return -EINVAL;
    }
    return 0;
}

static int read_word(struct reader *r)
{
    char text[64];
    size_t n = strspn(r->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFX");

    if (!n || n >= sizeof(text))
        return -EINVAL;
    memcpy(text, r->at, n);
    text[n] = '\0';
    r->at += n;
    return r->each(r->context, r->key, text, false);
}

static int read_value(struct reader *r)
{
    char text[512];
    int rc;

    if (r->depth == MOST_DEPTH)
        return -EINVAL;
    r->depth++;
    if (take(r, '{'))
        rc = read_object(r);
    else if (take(r, '['))
        rc = read_array(r);
    else if (*r->at == '"')
        rc = (rc = read_string(r, text, sizeof(text))) ? rc : r->each(r->context, r->key, text, true);
    else
        rc = read_word(r);
    r->depth--;
    return rc;
}

int json_walk(const char *text, int (*each)(void *context, const char *key, const char *value, bool is_string),
              void *context)
{
    struct reader r = {.at = text, .each = each, .context = context};
    int rc = read_value(&r);

    skip(&r);
    return rc ? rc : *r.at ? -EINVAL : 0;
}
