/* SPDX-License-Identifier: MIT */
/* Replaces what tells of people and places, the same by the same. Private to the doctor. */
#ifndef SPUR_DOCTOR_SCRUB_H
#define SPUR_DOCTOR_SCRUB_H

#include <stddef.h>

#define SCRUB_WORDS 512

struct scrub {
    struct {
        char *word;
        char as[40];
    } words[SCRUB_WORDS];
    size_t n;
    unsigned n_hosts, n_users, n_names, n_addresses, n_uuids;
};

enum scrub_kind { SCRUB_HOST, SCRUB_USER, SCRUB_NAME };

/* From now on this word becomes host1, user1, name1, ...; common names of folders and short words stay. */
void scrub_word(struct scrub *s, enum scrub_kind kind, const char *word, size_t length);
/* Each component of a path, as names. */
void scrub_path(struct scrub *s, const char *path);
/* @text with those words, addresses (IPv4, IPv6, Ethernet) and UUIDs replaced; malloc'd, NULL: no memory. */
char *scrub_text(struct scrub *s, const char *text);
void scrub_free(struct scrub *s);

#endif
