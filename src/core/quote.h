/* SPDX-License-Identifier: MIT */
/* Words for commands that a user may paste. */
#ifndef SPUR_CORE_QUOTE_H
#define SPUR_CORE_QUOTE_H

/* @word as a POSIX shell reads it back: itself where it is plain, else in single quotes. Malloc'd; NULL: no memory. */
char *quote_word(const char *word);

#endif
