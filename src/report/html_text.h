/* SPDX-License-Identifier: MIT */
/* Text of users on its way into a page or a chart. Bytes that are not printable UTF-8 (control characters, line breaks,
 * marks that turn the direction of text) are shown as \xNN everywhere. */
#ifndef SPUR_REPORT_HTML_TEXT_H
#define SPUR_REPORT_HTML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* As HTML text or as the value of a quoted attribute. NULL is "". */
void html_text(FILE *out, const char *s);

/* Printable UTF-8 on one line, not escaped for anything. malloc'd; NULL: out of memory. */
char *html_clean(const char *s);

/* At most @max characters of clean text, "..." in its middle; the same where it fits. malloc'd; NULL: out of memory. */
char *html_shorten(const char *clean, size_t max);
/* Characters of clean text. */
size_t html_length(const char *clean);

#endif
