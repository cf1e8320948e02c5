/* SPDX-License-Identifier: MIT */
/* Words of a prepare command. No shell sees it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/quote.h"
#include "core/util.h"
#include "plan/parts.h"

void plan_words_free(char **words)
{
    for (char **w = words; w && *w; w++)
        free(*w);
    free(words);
}

static int bad(struct spur_error *e, const char *command, const char *reason)
{
    return error_spur(e, SPUR_CODE_USAGE, "plan", "command '%.300s': %s", command, reason);
}

/* One word from *p on, unquoted into @out; NULL, or what is wrong. */
static const char *take_word(const char **p, char *out)
{
    const char *s = *p;
    char quote = 0;

    for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
        if (*s == quote) {
            quote = 0;
        } else if (!quote && (*s == '"' || *s == '\'')) {
            quote = *s;
        } else if (*s == '\\' && quote != '\'' && (!quote || s[1] == '"' || s[1] == '\\')) {
            if (!*++s)
                return "it ends with a backslash";
            *out++ = *s;
        } else {
            *out++ = *s;
        }
    }
    *out = 0;
    *p = s;
    return quote ? "a quote is not closed" : NULL;
}

/* @word with each {} replaced. NULL: out of memory. */
static char *fill_in(const char *word, const char *value)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    for (const char *at; (at = strstr(word, "{}")); word = at + 2) {
        fwrite(word, 1, (size_t)(at - word), out);
        fputs(value, out);
    }
    fputs(word, out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static int split(const char *command, const char *value, char *word, char **words, struct spur_error *e)
{
    const char *p = command;

    for (size_t n = 0;; n++) {
        const char *reason;

        while (isspace((unsigned char)*p))
            p++;
        if (!*p)
            return words[0] ? 0 : bad(e, command, "it is empty");
        reason = take_word(&p, word);
        if (reason)
            return bad(e, command, reason);
        words[n] = fill_in(word, value);
        if (!words[n])
            return plan_no_memory(e);
        if (!*words[0])
            return bad(e, command, "the name of the program is empty");
    }
}

int plan_command_words(const char *command, const char *value, char ***ret, struct spur_error *e)
{
    size_t n = strlen(command);
    _cleanup_free_ char *word = malloc(n + 1);
    char **words = calloc(n / 2 + 2, sizeof(*words)); /* a word and the blank after it take two bytes at least */
    int r = word && words ? split(command, value, word, words, e) : plan_no_memory(e);

    if (r < 0) {
        plan_words_free(words);
        return r;
    }
    *ret = words;
    return 0;
}

char *plan_command_text(const char *command, const char *value)
{
    char **words = NULL, *text = NULL;
    struct spur_error e;
    size_t n;
    FILE *out;

    if (plan_command_words(command, value, &words, &e) < 0)
        return NULL;
    out = open_memstream(&text, &n);
    for (char **w = words; out && *w; w++) {
        _cleanup_free_ char *quoted = quote_word(*w);

        fprintf(out, "%s%s", w == words ? "" : " ", quoted ? quoted : "");
    }
    plan_words_free(words);
    return !out || fclose(out) == EOF ? NULL : text;
}
