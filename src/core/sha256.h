/* SPDX-License-Identifier: MIT */
/* What a file is, whatever its name. */
#ifndef SPUR_CORE_SHA256_H
#define SPUR_CORE_SHA256_H

#include "spur.h"

#define SHA256_TEXT 65 /* 64 hexadecimal digits and the end */

/* Of the whole file; 0 or a negative errno, with an error that names it. */
int sha256_of_file(const char *filename, char ret_hex[SHA256_TEXT], struct spur_error *e);

/* Of what can be read from @fd on. 0 or a negative errno. */
int sha256_of_fd(int fd, char ret_hex[SHA256_TEXT]);

#endif
