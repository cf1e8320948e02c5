/* SPDX-License-Identifier: MIT */
#ifndef SPUR_CORE_UTF8_H
#define SPUR_CORE_UTF8_H

#include <stddef.h>

/* Length in bytes of the printable character at @s; 0: the byte there is none. Control characters, line breaks and
 * marks that turn the direction of text are not printable. */
size_t utf8_printable(const char *s);

#endif
