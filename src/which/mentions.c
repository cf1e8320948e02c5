/* SPDX-License-Identifier: MIT */
#include "which/mentions.h"

#include <ctype.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util.h"

#define CHUNK   (1u << 20)
#define OVERLAP 1024u /* a name is found whole in one chunk or in the next */
#define NEAR    64u   /* two immediates of one name are not further apart */

static void add(struct mentions *m, const char *name, size_t length, bool in_code)
{
    if (length >= MENTION_BYTES || m->n == MENTIONS_MAX)
        return;
    for (size_t i = 0; i < m->n; i++)
        if (strlen(m->names[i]) == length && !memcmp(m->names[i], name, length))
            return;
    memcpy(m->names[m->n], name, length);
    m->names[m->n][length] = '\0';
    m->in_code[m->n++] = in_code;
}

static bool is_path_byte(unsigned char c)
{
    return isalnum(c) || (c && strchr("/._+-", c));
}

/* ".0", ".1.9.1" or nothing, up to a NUL. */
static bool version_ends(const unsigned char *data, size_t n, size_t *at)
{
    while (*at < n && (data[*at] == '.' || isdigit(data[*at])))
        (*at)++;
    return *at < n && data[*at] == '\0';
}

void mentions_in_data(const unsigned char *data, size_t n, struct mentions *m)
{
    static const char name[] = "libcufile.so";
    const unsigned char *p = data;

    while ((p = memmem(p, n - (size_t)(p - data), name, strlen(name)))) {
        size_t begin = (size_t)(p - data), end = begin + strlen(name);

        while (begin > 0 && is_path_byte(data[begin - 1]) && end - begin < MENTION_BYTES)
            begin--;
        /* Either the bare name, or a path of which it is the last part. */
        if (version_ends(data, n, &end) && (begin == (size_t)(p - data) || p[-1] == '/'))
            add(m, (const char *)data + begin, end - begin, false);
        p++;
    }
}

/* "libcufil" as an operand; the rest of the name as another one nearby, overlapping the first or not. */
void mentions_in_code(const unsigned char *data, size_t n, struct mentions *m)
{
    const unsigned char *p = data;

    while ((p = memmem(p, n - (size_t)(p - data), "libcufil", 8))) {
        size_t left = n - (size_t)(p - data) - 8;
        const unsigned char *rest = memmem(p + 8, left < NEAR ? left : NEAR, "e.so", 4);
        char name[] = "libcufile.so.0";

        if (rest && (size_t)(rest - data) + 6 <= n) {
            bool versioned = rest[4] == '.' && isdigit(rest[5]);

            name[13] = versioned ? (char)rest[5] : '0';
            add(m, name, versioned ? 14 : 12, true);
        }
        p++;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Which parts of a file are looked at
 */

struct search {
    int fd;
    unsigned char *buffer;
    uint64_t budget; /* bytes that are still read: damaged sections may all claim the whole file */
    struct mentions *m;
};

static void search_part(struct search *s, uint64_t offset, uint64_t bytes, bool is_code)
{
    unsigned char *buffer = s->buffer;
    uint64_t kept = 0;

    while (bytes && s->budget) {
        uint64_t want = bytes < CHUNK - kept ? bytes : CHUNK - kept;
        ssize_t n = pread(s->fd, buffer + kept, want, (off_t)offset);

        if (n <= 0)
            return;
        kept += (uint64_t)n;
        (is_code ? mentions_in_code : mentions_in_data)(buffer, kept, s->m);
        s->budget -= s->budget < (uint64_t)n ? s->budget : (uint64_t)n;
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
        if (kept > OVERLAP) {
            memmove(buffer, buffer + kept - OVERLAP, OVERLAP);
            kept = OVERLAP;
        }
    }
}

static bool read_table(int fd, void *ret, size_t bytes, uint64_t offset)
{
    return pread(fd, ret, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool is_device_code(int fd, const Elf64_Shdr *names, const Elf64_Shdr *s)
{
    char name[16] = "";

    if (s->sh_name >= names->sh_size || pread(fd, name, sizeof(name) - 1, (off_t)(names->sh_offset + s->sh_name)) < 0)
        return false;
    return !strncmp(name, ".nv_fatbin", 10) || !strncmp(name, "__nv_relfatbin", 14);
}

static bool search_sections(struct search *c, const Elf64_Ehdr *h)
{
    size_t bytes = (size_t)h->e_shnum * sizeof(Elf64_Shdr);
    _cleanup_free_ Elf64_Shdr *s = NULL;

    if (!h->e_shnum || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum)
        return false;
    s = malloc(bytes);
    if (!s || !read_table(c->fd, s, bytes, h->e_shoff))
        return false;
    for (unsigned i = 0; i < h->e_shnum; i++) {
        bool is_code = s[i].sh_flags & SHF_EXECINSTR;

        if (s[i].sh_type != SHT_PROGBITS || !(s[i].sh_flags & SHF_ALLOC) || (s[i].sh_flags & SHF_WRITE) ||
            is_device_code(c->fd, &s[h->e_shstrndx], &s[i]))
            continue;
        search_part(c, s[i].sh_offset, s[i].sh_size, is_code);
    }
    return true;
}

static void search_segments(struct search *c, const Elf64_Ehdr *h)
{
    for (unsigned i = 0; i < h->e_phnum && h->e_phentsize == sizeof(Elf64_Phdr); i++) {
        Elf64_Phdr p;

        if (!read_table(c->fd, &p, sizeof(p), h->e_phoff + i * sizeof(p)))
            return;
        if (p.p_type == PT_LOAD && !(p.p_flags & PF_W))
            search_part(c, p.p_offset, p.p_filesz, p.p_flags & PF_X);
    }
}

void mentions_find(int fd, struct mentions *ret)
{
    _cleanup_free_ unsigned char *buffer = malloc(CHUNK);
    struct search s = {.fd = fd, .buffer = buffer, .m = ret};
    struct stat st;
    Elf64_Ehdr h;

    memset(ret, 0, sizeof(*ret));
    if (!buffer || fstat(fd, &st) < 0 || !read_table(fd, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
        return;
    s.budget = 2 * (uint64_t)st.st_size;
    if (!search_sections(&s, &h))
        search_segments(&s, &h);
}
