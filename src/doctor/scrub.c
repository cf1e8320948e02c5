/* SPDX-License-Identifier: MIT */
#include "doctor/scrub.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

/* Names of folders that say nothing of anybody. */
static bool is_common(const char *word, size_t length)
{
    static const char *const common[] = {
        "mnt",    "data",         "home",    "root",        "tmp",
        "var",    "dev",          "shm",     "run",         "srv",
        "opt",    "usr",          "etc",     "lib",         "proc",
        "sys",    "nfs",          "disk",    "nvme",        "file",
        "lustre", "system",       "user",    "user.slice",  "media",
        "docker", "containers",   "overlay", "overlay2",    "storage",
        "upper",  "lower",        "work",    "merged",      "diff",
        "fs",     "system.slice", "scratch", "volume",      "volumes",
        "export", "local",        "lib64",   "kubepods",    "kubepods.slice",
        "boot",   "modules",      "udev",    "cufile.json", ".",
        "..",
    };

    for (size_t i = 0; i < ARRAY_SIZE(common); i++)
        if (strlen(common[i]) == length && !strncmp(common[i], word, length))
            return true;
    return false;
}

/* Words that mean something in what is recorded. */
static bool is_keyword(const char *word, size_t length)
{
    static const char *const keywords[] = {"rdma",    "tcp",  "udp",    "ordered", "writeback", "journal",
                                           "nfs4",    "ext4", "xfs",    "tmpfs",   "cgroup",    "cgroup2",
                                           "unified", "cpu",  "memory", "true",    "false"};

    for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
        if (strlen(keywords[i]) == length && !strncmp(keywords[i], word, length))
            return true;
    return false;
}

static size_t find(const struct scrub *s, const char *word, size_t length)
{
    size_t i = 0;

    while (i < s->n && (strlen(s->words[i].word) != length || strncmp(s->words[i].word, word, length)))
        i++;
    return i;
}

static const char *add(struct scrub *s, const char *word, size_t length, const char *stem, unsigned *n)
{
    size_t i = find(s, word, length);

    if (i < s->n)
        return s->words[i].as;
    if (s->n == SCRUB_WORDS || !(s->words[s->n].word = strndup(word, length)))
        return stem;
    snprintf(s->words[s->n].as, sizeof(s->words[0].as), "%s%u", stem, ++*n);
    return s->words[s->n++].as;
}

#define SHORT 3 /* bytes; shorter names may be parts of anything */

/* As the kernel writes it in its tables: those of @bytes as \ooo. NULL: it has none of them, or no memory. */
static char *escaped(const char *word, size_t length, const char *bytes)
{
    char *text = malloc(4 * length + 1), *at = text;

    for (size_t i = 0; text && i < length; i++) {
        if (strchr(bytes, word[i]))
            at += sprintf(at, "\\%03o", (unsigned char)word[i]);
        else
            *at++ = word[i];
    }
    if (text && (size_t)(at - text) > length) {
        *at = 0;
        return text;
    }
    free(text);
    return NULL;
}

/* The same replacement for the other ways to write it. */
static void add_escaped(struct scrub *s, const char *word, size_t length, const char *as)
{
    static const char *const bytes[] = {" \t\n\\", " \t\n\\#"}; /* of paths, and of sources */

    for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
        char *other = escaped(word, length, bytes[i]);

        if (!other || s->n == SCRUB_WORDS || find(s, other, strlen(other)) < s->n) {
            free(other);
            continue;
        }
        s->words[s->n].word = other;
        s->words[s->n].is_name = true;
        s->words[s->n].is_short = false;
        snprintf(s->words[s->n++].as, sizeof(s->words[0].as), "%s", as);
    }
}

void scrub_word(struct scrub *s, enum scrub_kind kind, const char *word, size_t length)
{
    size_t before = s->n;
    char as[sizeof(s->words[0].as)];

    if (!length || (kind != SCRUB_NAME && length < 2) || is_common(word, length) || is_keyword(word, length))
        return;
    if (kind == SCRUB_HOST)
        add(s, word, length, "host", &s->n_hosts);
    else if (kind == SCRUB_USER)
        add(s, word, length, "user", &s->n_users);
    else
        add(s, word, length, "name", &s->n_names);
    if (s->n == before)
        return;
    s->words[before].is_name = kind == SCRUB_NAME;
    s->words[before].is_short = kind == SCRUB_NAME && length < SHORT;
    snprintf(as, sizeof(as), "%s", s->words[before].as);
    add_escaped(s, word, length, as);
}

void scrub_path(struct scrub *s, const char *path)
{
    while (*path) {
        size_t n = strcspn(path, "/");

        scrub_word(s, SCRUB_NAME, path, n);
        path += n + (path[n] == '/');
    }
}

/* ------------------------------------------------------------------------------------------------ */

struct out {
    char *text;
    size_t used, size;
    bool failed;
};

static void put(struct out *o, const char *text, size_t n)
{
    char *grown;

    if (o->used + n + 1 > o->size) {
        grown = realloc(o->text, (o->used + n + 1) * 2);
        o->failed |= !grown;
        if (!grown)
            return;
        o->text = grown;
        o->size = (o->used + n + 1) * 2;
    }
    memcpy(o->text + o->used, text, n);
    o->used += n;
    o->text[o->used] = 0;
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || c == '_';
}

/* Behind a slash, or at the beginning of a text of one line; and up to what ends a path. */
static bool is_component(const char *text, const char *at, size_t n)
{
    bool begins = at == text ? !strchr(text, '\n') : at[-1] == '/';

    return begins && (!at[n] || strchr("/ \t\n,:;\"')", at[n]));
}

/* The longest known word that begins here. */
static size_t known_word(const struct scrub *s, enum scrub_depth depth, const char *text, const char *at,
                         const char **ret_as)
{
    size_t best = 0;

    for (size_t i = 0; i < s->n; i++) {
        size_t n = strlen(s->words[i].word);

        if (n <= best || (s->words[i].is_name && depth < SCRUB_ALL) || strncmp(at, s->words[i].word, n) ||
            (is_word_byte(at[n]) && is_word_byte(at[n - 1])) || (s->words[i].is_short && !is_component(text, at, n)))
            continue;
        best = n;
        *ret_as = s->words[i].as;
    }
    return best;
}

static size_t uuid_length(const char *at)
{
    static const unsigned parts[] = {8, 4, 4, 4, 12};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (strspn(at + n, "0123456789abcdefABCDEF") != parts[i])
            return 0;
        n += parts[i];
        if (i + 1 < ARRAY_SIZE(parts) && at[n++] != '-')
            return 0;
    }
    return n;
}

/* An address of a host; times (12:30:00), PCI addresses (0000:18:00.0) and versions (2.28.4.1) are none. */
static size_t address_length(const char *at)
{
    size_t n4 = strspn(at, "0123456789."), n6 = strspn(at, "0123456789abcdefABCDEF:");
    char text[64];
    unsigned char raw[16];
    unsigned colons = 0;

    if (n4 >= 7 && n4 < 16 && !is_word_byte(at[n4])) {
        snprintf(text, sizeof(text), "%.*s", (int)n4, at);
        if (inet_pton(AF_INET, text, raw) == 1)
            return n4;
    }
    for (size_t i = 0; i < n6; i++)
        colons += at[i] == ':';
    if (n6 < 4 || n6 > 39 || colons < 2 || at[n6] == '.' || is_word_byte(at[n6]))
        return 0;
    snprintf(text, sizeof(text), "%.*s", (int)n6, at);
    return (colons == 5 && n6 == 17) || inet_pton(AF_INET6, text, raw) == 1 ? n6 : 0;
}

/* Numbers of versions look like addresses: those behind "version" and the like stay. */
static bool follows_version(const char *text, const char *at)
{
    size_t n = at - text < 24 ? (size_t)(at - text) : 24;
    char before[32];

    snprintf(before, sizeof(before), "%.*s", (int)n, at - n);
    return strcasestr(before, "version") || strcasestr(before, ".so.") || strcasestr(before, "cufile");
}

static size_t replace_one(struct scrub *s, enum scrub_depth depth, struct out *o, const char *text, const char *at)
{
    const char *as = NULL;
    size_t n = depth > SCRUB_ADDRESSES ? known_word(s, depth, text, at, &as) : 0;

    if (!n && (n = uuid_length(at))) {
        size_t i = find(s, at, n);

        as = add(s, at, n, "uuid", &s->n_uuids);
        if (i + 1 == s->n)
            snprintf(s->words[i].as, sizeof(s->words[0].as), "00000000-0000-0000-0000-%012u", s->n_uuids % 1000000);
    }
    if (!n && !follows_version(text, at) && (n = address_length(at)))
        as = add(s, at, n, "address", &s->n_addresses);
    if (n)
        put(o, as, strlen(as));
    return n;
}

char *scrub_text(struct scrub *s, enum scrub_depth depth, const char *text)
{
    struct out o = {NULL};
    size_t n;

    put(&o, "", 0);
    for (const char *at = text; *at && !o.failed; at += n) {
        bool begins = at == text || !is_word_byte(at[-1]) || !is_word_byte(*at);

        n = begins ? replace_one(s, depth, &o, text, at) : 0;
        if (n)
            continue;
        n = 1;
        put(&o, at, n);
    }
    if (!o.failed)
        return o.text;
    free(o.text);
    return NULL;
}

/* Members that hold names without a slash, where those were given so, or sentences about them. */
static bool is_about_names(const char *key)
{
    static const char *const keys[] = {"name", "real", "error", "detail", "remedy", "reason"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!strcmp(key, keys[i]))
            return true;
    return false;
}

static json_t *scrub_string(struct scrub *s, const char *key, const json_t *from)
{
    const char *text = json_string_value(from);
    bool all = strchr(text, '/') || is_about_names(key);
    _cleanup_free_ char *clean = scrub_text(s, all ? SCRUB_ALL : SCRUB_PEOPLE, text);

    return json_string(clean ? clean : "");
}

static json_t *scrub_member(struct scrub *s, const char *of, const json_t *from)
{
    const json_t *value;
    const char *key;
    json_t *to;
    size_t i;

    if (json_is_string(from))
        return scrub_string(s, of, from);
    if (json_is_object(from)) {
        to = json_object();
        json_object_foreach((json_t *)from, key, value) /* "1.15.1.6" is no address there */
            json_object_set_new(to, key, strcmp(key, "version") ? scrub_member(s, key, value) : json_deep_copy(value));
        return to;
    }
    if (!json_is_array(from))
        return json_deep_copy(from);
    to = json_array();
    json_array_foreach(from, i, value) json_array_append_new(to, scrub_member(s, of, value));
    return to;
}

json_t *scrub_json(struct scrub *s, const json_t *from)
{
    return scrub_member(s, "", from);
}

void scrub_free(struct scrub *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->words[i].word);
    memset(s, 0, sizeof(*s));
}
