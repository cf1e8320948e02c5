/* SPDX-License-Identifier: MIT */
#include "which/words.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "core/util.h"

/* Between words: also a line that goes on, and a comment. */
static void skip_blanks(struct words *w)
{
    for (;;) {
        w->at += strspn(w->at, w->shell ? " \t" : " \t\n");
        if (w->shell && w->at[0] == '\\' && w->at[1] == '\n')
            w->at += 2;
        else if (w->shell && w->at[0] == '#')
            w->at += strcspn(w->at, "\n");
        else
            return;
    }
}

static bool is_redirection(const char *at)
{
    return *at == '<' || *at == '>' || (at[0] == '&' && at[1] == '>');
}

static bool is_operator(const char *at)
{
    return *at && strchr("|;&\n", *at) && !is_redirection(at);
}

static bool ends(const struct words *w)
{
    return !*w->at || strchr(" \t\n", *w->at) || (w->shell && (is_operator(w->at) || is_redirection(w->at)));
}

/* ------------------------------------------------------------------------------------------------
 * Parts of a word
 */

static void take_quoted(struct words *w, char quote)
{
    for (; *w->at && *w->at != quote; w->at++) {
        if (quote == '"' && *w->at == '\\' && w->at[1] && strchr("$`\"\\", w->at[1]))
            w->at++;
        *w->to++ = *w->at;
    }
    if (*w->at)
        w->at++;
    else
        w->unclosed = quote;
}

/* "(...)" with all that is in it, "$(...)" too. */
static void take_nested(struct words *w)
{
    unsigned depth = 1;

    *w->to++ = '(';
    while (depth && *w->at) {
        char c = *w->at++;

        if (c == '\'' || c == '"') {
            take_quoted(w, c);
            continue;
        }
        depth += c == '(';
        depth -= c == ')';
        *w->to++ = c;
    }
    if (depth)
        w->unclosed = '(';
}

static void take(struct words *w)
{
    char c = *w->at++;

    if (c == '\'' || c == '"') {
        take_quoted(w, c);
    } else if (w->shell && c == '`') {
        *w->to++ = c;
        take_quoted(w, c);
    } else if (w->shell && c == '(') {
        take_nested(w);
    } else if (c == '\\' && *w->at) {
        if (*w->at != '\n' || !w->shell)
            *w->to++ = *w->at;
        w->at++;
    } else {
        *w->to++ = c;
    }
}

/* ------------------------------------------------------------------------------------------------ */

/* "2>&1", "> file", "<(sort)": with its word, which is dropped. */
static void skip_redirection(struct words *w)
{
    char *begin = w->to;

    w->has_text |= w->at[0] == '<' && w->at[1] == '<' && w->at[2] != '<';
    w->at += strspn(w->at, "<>&|");
    skip_blanks(w);
    while (!ends(w))
        take(w);
    w->to = begin;
}

static bool is_number(const char *begin, const char *end)
{
    while (begin < end && isdigit((unsigned char)*begin))
        begin++;
    return begin == end;
}

char *words_next(struct words *w)
{
    char *word = w->to;

    for (;;) {
        skip_blanks(w);
        if (!*w->at || (w->shell && is_operator(w->at)))
            return NULL;
        while (!ends(w))
            take(w);
        if (!w->shell || !is_redirection(w->at) || !is_number(word, w->to))
            break;
        w->to = word; /* the number of a descriptor */
        skip_redirection(w);
    }
    *w->to++ = '\0';
    return word;
}

const char *words_operator(struct words *w)
{
    static const char *const operators[] = {"&&", "||", "|&", ";;", "|", "&", ";", "\n"};

    for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
        size_t n = strlen(operators[i]);

        if (!strncmp(w->at, operators[i], n)) {
            w->at += n;
            return operators[i];
        }
    }
    return "";
}
