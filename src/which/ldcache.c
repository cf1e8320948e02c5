/* SPDX-License-Identifier: MIT */
#include "which/ldcache.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

#define FILE_NAME  "/etc/ld.so.cache"
#define MOST_BYTES (64u << 20)

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"

#define OLD_HEADER 16u /* magic[11], padding, u32 entries */
#define OLD_ENTRY  12u /* i32 flags, u32 key, u32 value */
#define NEW_HEADER 48u /* magic[20], u32 entries, u32 bytes of strings, u8 flags, u8[3], u32 extensions, u32[3] */
#define NEW_ENTRY  24u /* i32 flags, u32 key, u32 value, u32 os version, u64 hwcap */

#define EXTENSION_MAGIC  0xeaa42174u
#define EXTENSION_HWCAPS 1u
#define HWCAP_EXTENSION  (1ull << 62) /* the low 32 bits are an index into the list of glibc-hwcaps folders */

#define LIB64_X86     0x0303 /* ELF libc6, x86-64 */
#define LIB64_AARCH64 0x0a03

static uint32_t u32_at(const char *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof(value));
    return value;
}

static uint64_t u64_at(const char *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof(value));
    return value;
}

static bool inside(const struct ldcache *c, const char *p, uint64_t bytes)
{
    size_t at = (size_t)(p - c->data);

    return at <= c->size && bytes <= c->size - at;
}

static void take_new(struct ldcache *c, const char *base)
{
    c->base = base;
    c->entries = base + NEW_HEADER;
    c->n_entries = u32_at(base + 20);
    c->extensions = u32_at(base + 32);
    if (inside(c, c->entries, (uint64_t)c->n_entries * NEW_ENTRY))
        return;
    snprintf(c->reason, sizeof(c->reason), FILE_NAME ": damaged, its table is longer than the file");
    c->n_entries = 0;
}

static bool is_new(const struct ldcache *c, const char *p)
{
    return inside(c, p, NEW_HEADER) && !memcmp(p, NEW_MAGIC, strlen(NEW_MAGIC));
}

static void take_old(struct ldcache *c)
{
    uint64_t end = OLD_HEADER + (uint64_t)u32_at(c->data + 12) * OLD_ENTRY;

    if (end > c->size) {
        snprintf(c->reason, sizeof(c->reason), FILE_NAME ": damaged, its table is longer than the file");
        return;
    }
    if (is_new(c, c->data + round_up(end, 8))) {
        take_new(c, c->data + round_up(end, 8));
        return;
    }
    c->is_old = true;
    c->base = c->data + end;
    c->entries = c->data + OLD_HEADER;
    c->n_entries = u32_at(c->data + 12);
}

void ldcache_parse(char *data, size_t size, struct ldcache *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->data = data;
    ret->size = size;
    if (is_new(ret, data))
        take_new(ret, data);
    else if (size >= OLD_HEADER && !memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)))
        take_old(ret);
    else
        snprintf(ret->reason, sizeof(ret->reason), FILE_NAME ": not in a known format");
}

void ldcache_read(const struct tree *t, struct ldcache *ret)
{
    size_t size = 0;
    char *data = tree_read(t, FILE_NAME, MOST_BYTES, &size);

    if (data) {
        ldcache_parse(data, size, ret);
        return;
    }
    memset(ret, 0, sizeof(*ret));
    snprintf(ret->reason, sizeof(ret->reason), FILE_NAME ": %s", strerrordesc_np(errno));
}

void ldcache_free(struct ldcache *c)
{
    free(c->data);
    memset(c, 0, sizeof(*c));
}

/* ------------------------------------------------------------------------------------------------ */

/* A string at an offset from the base, if it ends within the file. */
static const char *string_at(const struct ldcache *c, uint32_t offset)
{
    size_t left = c->size - (size_t)(c->base - c->data);

    return offset < left && memchr(c->base + offset, '\0', left - offset) ? c->base + offset : NULL;
}

/* The place of the list of glibc-hwcaps folders, and its length. */
static const char *hwcaps_list(const struct ldcache *c, uint32_t *ret_n)
{
    size_t left = c->size - (size_t)(c->base - c->data);
    uint32_t at = c->extensions, n;

    if (!at || left < 8 || at > left - 8 || u32_at(c->base + at) != EXTENSION_MAGIC)
        return NULL;
    n = u32_at(c->base + at + 4);
    for (uint32_t i = 0; i < n && i < 64 && (uint64_t)at + 8 + (i + 1) * 16ull <= left; i++) {
        const char *section = c->base + at + 8 + i * 16ull;
        uint32_t offset = u32_at(section + 8), bytes = u32_at(section + 12);

        if (u32_at(section) != EXTENSION_HWCAPS || offset > left || bytes > left - offset)
            continue;
        *ret_n = bytes / 4;
        return c->base + offset;
    }
    return NULL;
}

/* How good an entry is: 1 plain, N for glibc-hwcaps/x86-64-vN, 0 for one that this processor does not take. */
static unsigned rank_of(const struct ldcache *c, const char *entry, unsigned level)
{
    uint64_t hwcap = c->is_old ? 0 : u64_at(entry + 16);
    uint32_t n = 0, index = (uint32_t)hwcap;
    const char *list, *name;
    unsigned v;

    if (!hwcap)
        return 1;
    list = hwcap & HWCAP_EXTENSION ? hwcaps_list(c, &n) : NULL;
    name = list && index < n ? string_at(c, u32_at(list + 4ull * index)) : NULL;
    return name && sscanf(name, "x86-64-v%u", &v) == 1 && v >= 2 && v <= level ? v : 0;
}

static const char *matches(const struct ldcache *c, uint32_t i, const char *name, uint32_t flags)
{
    const char *entry = c->entries + (uint64_t)i * (c->is_old ? OLD_ENTRY : NEW_ENTRY);
    const char *key;

    if (u32_at(entry) != flags)
        return NULL;
    key = string_at(c, u32_at(entry + 4));
    return key && !strcmp(key, name) ? entry : NULL;
}

const char *ldcache_find(const struct ldcache *c, const char *name, uint16_t machine, unsigned level, size_t index)
{
    uint32_t flags = machine == EM_AARCH64 ? LIB64_AARCH64 : LIB64_X86;

    for (unsigned rank = level > 1 ? level : 1; rank >= 1; rank--)
        for (uint32_t i = 0; i < c->n_entries; i++) {
            const char *entry = matches(c, i, name, flags);

            if (entry && rank_of(c, entry, level) == rank && index-- == 0)
                return string_at(c, u32_at(entry + 8));
        }
    return NULL;
}
