/* SPDX-License-Identifier: MIT */
/* Replaces what tells of people and places, the same by the same. Private to the doctor. */
#ifndef SPUR_DOCTOR_SCRUB_H
#define SPUR_DOCTOR_SCRUB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SCRUB_WORDS 512

struct scrub {
    struct {
        char *word;
        bool is_name, is_short; /* short names are replaced as whole components of a path only */
        char as[40];
    } words[SCRUB_WORDS];
    size_t n;
    unsigned n_hosts, n_users, n_names, n_addresses, n_uuids;
};

enum scrub_kind { SCRUB_HOST, SCRUB_USER, SCRUB_NAME };

/* From now on this word becomes host1, user1, name1, ...; common names of folders stay. A name with blanks or
 * backslashes is known as the kernel escapes it as well. */
void scrub_word(struct scrub *s, enum scrub_kind kind, const char *word, size_t length);
/* Each component of a path, as names. */
void scrub_path(struct scrub *s, const char *path);
/* How much: addresses (IPv4, IPv6, Ethernet) and UUIDs only; hosts and users too; names as well. */
enum scrub_depth { SCRUB_ADDRESSES, SCRUB_PEOPLE, SCRUB_ALL };

/* @text with those replaced; malloc'd, NULL: no memory. */
char *scrub_text(struct scrub *s, enum scrub_depth depth, const char *text);
/* All strings in it, keys apart; names only in those that hold a path. New reference. */
json_t *scrub_json(struct scrub *s, const json_t *from);
void scrub_free(struct scrub *s);

#endif
