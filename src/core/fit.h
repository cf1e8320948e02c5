/* SPDX-License-Identifier: MIT */
/* Sentences that must fit into a fixed room, without losing what they say. */
#ifndef SPUR_CORE_FIT_H
#define SPUR_CORE_FIT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Shortens @text in place to fewer than @size bytes (at least 8). Paths in it are cut first, the longest first, in
 * their middle: "/long/.../libcufile.so.1.18.1.6" keeps the name of the file and all words around it. Where that is not
 * enough, the text ends with "...". No UTF-8 character is split.
 */
void fit_text(char *text, size_t size);

/* Formats, of whatever length, and shortens to @size bytes. */
void fit_vprint(char *ret, size_t size, const char *format, va_list ap);

/* The name of a file for a sentence that has little room: fit_name(file).text, until the end of the expression. */
struct fit_name {
    char text[180];
};
struct fit_name fit_name(const char *file);

#endif
