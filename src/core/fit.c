/* SPDX-License-Identifier: MIT */
#include "core/fit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"

#define BLANKS  " \t\n"
#define MARK    "..."
#define HEAD    8 /* bytes of a path's begin that are kept at least */
#define A_WHILE 20

/* A part of the text without blanks. */
struct word {
    char *at;
    size_t length, tail; /* tail: bytes of its last part, which stay */
};

static bool is_inside(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* of a character of UTF-8 */
}

/* The last part of a path, with its slash; at most @most bytes. 0: the word is no path. */
static size_t tail_of(const char *at, size_t length, size_t most)
{
    size_t begin = length > 1 ? length - 1 : 0;

    while (begin > 0 && at[begin - 1] != '/')
        begin--;
    if (!begin)
        return 0;
    begin--;
    if (length - begin > most)
        begin = length - most;
    while (begin < length && is_inside(at[begin]))
        begin++;
    return length - begin;
}

/* The path that can lose most. False: none can. */
static bool find_longest(char *text, size_t most_tail, struct word *ret)
{
    size_t best = 0;

    for (char *at = text + strspn(text, BLANKS); *at; at += strspn(at, BLANKS)) {
        size_t length = strcspn(at, BLANKS), tail = tail_of(at, length, most_tail);

        if (tail && length > HEAD + strlen(MARK) + tail && length - tail > best) {
            best = length - tail;
            *ret = (struct word){at, length, tail};
        }
        at += length;
    }
    return best > 0;
}

/* To @room bytes for its begin; up to a slash, if one is near. */
static void cut_middle(const struct word *w, size_t room)
{
    char *end = w->at + w->length, *cut = w->at + room;
    char *slash = memrchr(w->at, '/', room);

    while (cut > w->at && is_inside(*cut))
        cut--;
    if (slash && slash > w->at && cut - slash < A_WHILE)
        cut = slash + 1;
    memcpy(cut, MARK, strlen(MARK));
    memmove(cut + strlen(MARK), end - w->tail, w->tail + strlen(end) + 1);
}

static void cut_end(char *text, size_t size)
{
    size_t cut = size - strlen(MARK) - 1;

    while (cut > 0 && is_inside(text[cut]))
        cut--;
    strcpy(text + cut, MARK);
}

void fit_text(char *text, size_t size)
{
    static const size_t tails[] = {256, 64}; /* the names of files whole, if it can be */
    struct word w;

    for (size_t i = 0; i < ARRAY_SIZE(tails); i++)
        while (strlen(text) >= size && find_longest(text, tails[i], &w)) {
            size_t excess = strlen(text) - size + 1 + strlen(MARK), begin = w.length - w.tail;

            cut_middle(&w, begin > excess + HEAD ? begin - excess : HEAD);
        }
    if (strlen(text) >= size)
        cut_end(text, size);
}

void fit_vprint(char *ret, size_t size, const char *format, va_list ap)
{
    _cleanup_free_ char *text = NULL;
    va_list again;

    va_copy(again, ap);
    if (vasprintf(&text, format, again) < 0) {
        text = NULL;
        vsnprintf(ret, size, format, ap); /* no memory */
    } else {
        fit_text(text, size);
        strcpy(ret, text);
    }
    va_end(again);
}

struct fit_name fit_name(const char *file)
{
    _cleanup_free_ char *text = strdup(file ? file : "");
    struct fit_name name = {""};

    if (text)
        fit_text(text, sizeof(name.text));
    snprintf(name.text, sizeof(name.text), "%s", text ? text : "a file");
    return name;
}
