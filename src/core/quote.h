/* SPDX-License-Identifier: MIT */
/* Words for commands that a user may paste. */
#ifndef SPUR_CORE_QUOTE_H
#define SPUR_CORE_QUOTE_H

/* @word as a shell reads it back: itself where it is plain, else in single quotes; with bytes that are not printable
 * as $'\351', which bash and shells of POSIX.1-2024 take. Malloc'd; NULL: no memory. */
char *quote_word(const char *word);

#endif
