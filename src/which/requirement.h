/* SPDX-License-Identifier: MIT */
/*
 * Requires-Dist lines of Python packages: "name[extra] (==1.2); marker". Grammar: the specification "Dependency
 * specifiers" of packaging.python.org (PEP 508). Markers are judged for CPython on Linux.
 */
#ifndef SPUR_WHICH_REQUIREMENT_H
#define SPUR_WHICH_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>

#define PACKAGE_NAME 128

struct requirement {
    char name[PACKAGE_NAME];   /* normalised: lower case, one - for each run of - _ . */
    char extras[PACKAGE_NAME]; /* ",cufile,nvrtc,"; "" where there are none */
    char spec[PACKAGE_NAME];   /* "==1.13.1.3", ">=1,<2"; "" */
    char marker[512];          /* ""; too long: cut, and then taken as true */
};

struct marker_world {
    const char *python_version; /* "3.12"; NULL: comparisons with it are true */
    const char *machine;        /* "x86_64" */
    const char *extra;          /* normalised; "" */
};

/* False: not a requirement. */
bool requirement_parse(const char *text, struct requirement *ret);

/* Whether the marker holds there. What is not understood is taken as true. */
bool requirement_holds(const struct requirement *r, const struct marker_world *w);

/* The @index-th extra that the marker names, normalised: `extra == "test"`. False: there are no more. */
bool requirement_extra(const struct requirement *r, size_t index, char ret[PACKAGE_NAME]);

/* Whether it asks for that extra of its package. */
bool requirement_wants_extra(const struct requirement *r, const char *extra);

/* "==1.2.3" and nothing else, also "==1.2.*". */
bool requirement_is_pinned(const struct requirement *r);

/* Whether @version is one that an "==" of @r allows; true where the specification has another form. */
bool requirement_allows(const struct requirement *r, const char *version);

/* Normalised name of @length bytes of @text; it is cut where it does not fit. */
void package_normalise(const char *text, size_t length, char ret[PACKAGE_NAME]);

#endif
