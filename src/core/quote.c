/* SPDX-License-Identifier: MIT */
#include "core/quote.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *word)
{
    bool plain = *word;

    for (const char *c = word; *c; c++)
        plain &= strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%", *c) != NULL;
    return plain;
}

char *quote_word(const char *word)
{
    char *text = malloc(4 * strlen(word) + 3), *at = text;

    if (!text)
        return NULL;
    if (is_plain(word))
        return strcpy(text, word);
    *at++ = '\'';
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            at = stpcpy(at, "'\\''");
        else
            *at++ = *c;
    }
    strcpy(at, "'");
    return text;
}
