/* SPDX-License-Identifier: MIT */
/* Words of a command line as a shell divides them. Nothing is expanded. */
#ifndef SPUR_WHICH_WORDS_H
#define SPUR_WHICH_WORDS_H

#include <stdbool.h>

struct words {
    const char *at; /* the rest of the command */
    char *to;       /* where the next word goes; room for all of them */
    bool shell;     /* operators end a row of words, redirections are left out; else only blanks divide (env -S) */
    bool has_text;  /* a here-document was met: what follows may be no words */
    char unclosed;  /* a quote or parenthesis that does not end; 0: none */
};

/* The next word without its quotes; NULL: an operator or the end. */
char *words_next(struct words *w);
/* Takes the operator at which the words ended: "&&", "||", "|", "&", ";", "\n" ...; "": the end. */
const char *words_operator(struct words *w);

#endif
