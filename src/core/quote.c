/* SPDX-License-Identifier: MIT */
#include "core/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

static bool is_plain(const char *word)
{
    bool plain = *word;

    for (const char *c = word; *c; c++)
        plain &= strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%", *c) != NULL;
    return plain;
}

static bool is_printable(const char *word)
{
    size_t n = 1;

    for (; *word && n; word += n)
        n = utf8_printable(word);
    return n;
}

static char *quote(char *at, const char *word)
{
    *at++ = '\'';
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            at = stpcpy(at, "'\\''");
        else
            *at++ = *c;
    }
    return stpcpy(at, "'");
}

/* What commands are shown in shows no raw bytes. */
static char *quote_bytes(char *at, const char *word)
{
    at = stpcpy(at, "$'");
    for (; *word; word++) {
        size_t n = utf8_printable(word);

        if (!n)
            at += sprintf(at, "\\%03o", (unsigned char)*word);
        else if (*word == '\'' || *word == '\\')
            at += sprintf(at, "\\%c", *word);
        else
            at = mempcpy(at, word, n);
        word += n ? n - 1 : 0;
    }
    return stpcpy(at, "'");
}

char *quote_word(const char *word)
{
    char *text = malloc(4 * strlen(word) + 4);

    if (!text)
        return NULL;
    if (is_plain(word))
        return strcpy(text, word);
    *(is_printable(word) ? quote : quote_bytes)(text, word) = '\0';
    return text;
}
