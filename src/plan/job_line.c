/* SPDX-License-Identifier: MIT */
/*
 * A job file's lines, on their way through inih. It cuts lines that do not fit its buffer and takes "; ..." for a
 * comment within quotes too, so comments are taken off here, the bytes of a value that it would act on travel as
 * control bytes, and a long line goes in pieces: inih takes an indented line for more of the value above.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "plan/parts.h"

static const char acted_on[] = " \t;#";
#define MAX_KEY 64u

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

long plan_line_comment(const char *line, size_t n)
{
    bool in_quotes = false, hidden = false;

    if (n && (*line == ';' || *line == '#'))
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (line[i] == '"')
            in_quotes = !in_quotes;
        if (line[i] != ';' || !i || !is_blank(line[i - 1]))
            continue;
        if (!in_quotes)
            return (long)i;
        hidden = true;
    }
    return in_quotes && hidden ? -1 : (long)n;
}

const char *plan_line_bad_byte(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            return &line[i];
    return NULL;
}

static void strip(const char **line, size_t *n)
{
    while (*n && is_blank((*line)[*n - 1]))
        --*n;
    while (*n && is_blank(**line)) {
        ++*line;
        --*n;
    }
}

/* To the end of the line; *ret_n without what ends it: \n or \r\n. */
static const char *take(struct plan_lines *l, size_t *ret_n)
{
    const char *line = l->rest, *end = memchr(line, '\n', (size_t)(l->end - line));

    l->rest = end ? end + 1 : l->end;
    if (!end)
        end = l->end;
    if (end > line && end[-1] == '\r')
        end--;
    l->number++;
    *ret_n = (size_t)(end - line);
    return line;
}

int plan_lines_next(struct plan_lines *l, const char **ret, size_t *ret_n, struct spur_error *e)
{
    while (l->rest < l->end) {
        size_t n;
        const char *line = take(l, &n), *bad = plan_line_bad_byte(line, n);
        long length;

        if (bad)
            return error_spur(e, SPUR_CODE_USAGE, "plan", "control byte 0x%02x", (unsigned char)*bad);
        strip(&line, &n);
        length = plan_line_comment(line, n);
        if (length < 0)
            return error_spur(e, SPUR_CODE_USAGE, "plan",
                              "a double quote is not closed, so what follows the semicolon may be comment or value");
        n = (size_t)length;
        strip(&line, &n);
        if (!n)
            continue;
        *ret = line;
        *ret_n = n;
        return 1;
    }
    return 0;
}

int plan_lines_begin(struct plan_lines *l, const char *line, size_t n, struct spur_error *e)
{
    size_t key = 0;

    while (key < n && line[key] != '=' && line[key] != ':')
        key++;
    if (key == n)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "'%.*s' is neither [SECTION] nor KEY = VALUE",
                          n > 200 ? 200 : (int)n, line);
    if (!key || key > MAX_KEY)
        return error_spur(e, SPUR_CODE_USAGE, "plan", "a key has 1 to %u bytes", MAX_KEY);
    l->piece = line;
    l->piece_end = line + n;
    l->first_piece = true;
    return 0;
}

static char encode(char c)
{
    const char *at = strchr(acted_on, c);

    return at ? (char)(at - acted_on + 1) : c;
}

static char decode(char c)
{
    return c > 0 && c < (char)sizeof(acted_on) ? acted_on[c - 1] : c;
}

char *plan_lines_piece(struct plan_lines *l, char *ret, size_t size)
{
    bool is_value = !l->first_piece;
    size_t n = 0;

    if (l->piece == l->piece_end || size < MAX_KEY + 8)
        return NULL;
    if (is_value)
        ret[n++] = ' ';
    for (; l->piece < l->piece_end && n + 2 < size; l->piece++) {
        ret[n++] = is_value ? encode(*l->piece) : *l->piece;
        is_value |= *l->piece == '=' || *l->piece == ':';
    }
    ret[n++] = '\n';
    ret[n] = 0;
    l->first_piece = false;
    return ret;
}

int plan_lines_append(char **value, const char *piece, struct spur_error *e)
{
    size_t n = *value ? strlen(*value) : 0, more = strlen(piece);
    char *grown = realloc(*value, n + more + 1);

    if (!grown)
        return plan_no_memory(e);
    *value = grown;
    for (size_t i = 0; i < more; i++)
        grown[n + i] = decode(piece[i]);
    grown[n + more] = 0;
    return 0;
}
