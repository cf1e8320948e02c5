/* SPDX-License-Identifier: MIT */
/*
 * Programs that open cuFile at run time do not need it in their dynamic section; the name that they give to dlopen is
 * in their data, or, short as it is, in two immediate operands of their code (kvikio's is).
 */
#ifndef SPUR_WHICH_MENTIONS_H
#define SPUR_WHICH_MENTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define MENTIONS_MAX  8
#define MENTION_BYTES 256

struct mentions {
    char names[MENTIONS_MAX][MENTION_BYTES]; /* "libcufile.so.0", "/usr/local/cuda/lib64/libcufile.so" */
    bool in_code[MENTIONS_MAX];              /* pieced together: not a string of its own */
    size_t n;
};

/*
 * Names of libcufile in the read-only sections of an ELF file, in the order of the file; device code (.nv_fatbin) is
 * left out. Without section headers the read-only segments are searched. A name that is part of a sentence is none.
 */
void mentions_find(int fd, struct mentions *ret);

/* The same in @n bytes of any kind, for both ways. */
void mentions_in_data(const unsigned char *data, size_t n, struct mentions *m);
void mentions_in_code(const unsigned char *data, size_t n, struct mentions *m);

#endif
