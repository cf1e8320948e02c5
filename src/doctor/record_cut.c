/* SPDX-License-Identifier: MIT */
/* What of a file's text goes into a record. */
#include <string.h>

#include "doctor/record.h"
#include "probe/mount.h"

static bool begins_with_one(const char *text, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, "|");

        if (!strncmp(text, list, n))
            return true;
        list += n + (list[n] == '|');
    }
    return false;
}

/* Keeps the pieces between @separator that begin with one of @keep. */
static void cut_pieces(char *text, char separator, const char *keep)
{
    const char stops[] = {separator, '\n', 0};
    char *out = text;

    for (char *at = text; *at;) {
        size_t n = strcspn(at, stops);

        if (begins_with_one(at, keep)) {
            memmove(out, at, n);
            out += n;
            *out++ = at[n] ? at[n] : '\n';
        }
        at += n + (at[n] != 0);
    }
    *out = 0;
}

static bool is_above(const char *folder, const char *path)
{
    size_t n = strlen(folder);

    return !strcmp(folder, "/") || (!strncmp(folder, path, n) && (path[n] == '/' || !path[n]));
}

/* Mounts of the files and of what they stand on, and of control groups. */
static bool is_kept(const struct record *r, const char *line)
{
    char point[PATH_MAX], type[64];
    const char *dash = strstr(line, " - ");

    if (!dash || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 || sscanf(dash, " - %63s", type) != 1)
        return false;
    mount_unescape(point);
    for (size_t i = 0; i < r->n_paths; i++)
        if (is_above(point, r->paths[i]))
            return true;
    return !strncmp(type, "cgroup", 6) || !strcmp(point, "/proc") || !strcmp(point, "/sys");
}

static void cut_mounts(const struct record *r, char *text)
{
    char *out = text;

    for (char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        char last = at[n];
        bool keep;

        at[n] = 0;
        keep = is_kept(r, at);
        if (keep) {
            memmove(out, at, n);
            out += n;
            *out++ = '\n';
        }
        at += n + (last != 0);
    }
    *out = 0;
}

void record_cut(const struct record *r, enum cut how, const char *keep, char *text)
{
    static const char *const stops[] = {[CUT_FIRST_PAREN] = "(", [CUT_DASH] = "-"};

    if (how == CUT_LINES)
        cut_pieces(text, '\n', keep);
    else if (how == CUT_WORDS)
        cut_pieces(text, ' ', keep);
    else if (how == CUT_MOUNTS)
        cut_mounts(r, text);
    else if (how)
        text[strcspn(text, stops[how])] = 0;
}
