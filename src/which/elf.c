/* SPDX-License-Identifier: MIT */
#include "which/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util.h"

#define MOST_HEADERS 4096u
#define MOST_DYNAMIC 65536u /* entries */

struct reader {
    int fd;
    uint64_t size;
    Elf64_Phdr *headers;
    size_t n_headers;
    Elf64_Dyn *dynamic;
    size_t n_dynamic;
    char *reason;
};

__attribute__((format(printf, 3, 4))) static int fail(struct reader *r, int err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(r->reason, ELF_REASON, format, ap);
    va_end(ap);
    return -err;
}

static bool inside(const struct reader *r, uint64_t offset, uint64_t length)
{
    return offset <= r->size && length <= r->size - offset;
}

/* All of it, or an error: a file may shrink while it is read. */
static int read_at(struct reader *r, void *buffer, uint64_t length, uint64_t offset, const char *what)
{
    char *p = buffer;

    if (!inside(r, offset, length))
        return fail(r, EBADMSG, "its %s lies beyond its end (truncated?)", what);
    while (length) {
        ssize_t n = pread(r->fd, p, length, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(r, errno, "read: %s", strerrordesc_np(errno));
        if (n == 0)
            return fail(r, EBADMSG, "its %s lies beyond its end (truncated?)", what);
        p += n;
        offset += (uint64_t)n;
        length -= (uint64_t)n;
    }
    return 0;
}

static int read_header(struct reader *r, Elf64_Ehdr *h)
{
    unsigned char ident[EI_NIDENT];

    if (!inside(r, 0, sizeof(ident)) || read_at(r, ident, sizeof(ident), 0, "header") < 0 ||
        memcmp(ident, ELFMAG, SELFMAG) != 0)
        return fail(r, ENOEXEC, "no ELF file");
    if (ident[EI_CLASS] == ELFCLASS32)
        return fail(r, ENOTSUP, "a 32-bit ELF file; cuFile is 64-bit only");
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB || ident[EI_VERSION] != EV_CURRENT)
        return fail(r, ENOTSUP, "no 64-bit little-endian ELF file");
    return read_at(r, h, sizeof(*h), 0, "header");
}

static int read_headers(struct reader *r, const Elf64_Ehdr *h)
{
    size_t bytes = (size_t)h->e_phnum * sizeof(Elf64_Phdr);

    if (!h->e_phnum)
        return 0;
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum > MOST_HEADERS)
        return fail(r, EBADMSG, "program headers of a strange size or number");
    r->headers = malloc(bytes);
    if (!r->headers)
        return fail(r, ENOMEM, "no memory");
    r->n_headers = h->e_phnum;
    return read_at(r, r->headers, bytes, h->e_phoff, "table of program headers");
}

static const Elf64_Phdr *header_of(const struct reader *r, uint32_t type)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (r->headers[i].p_type == type)
            return &r->headers[i];
    return NULL;
}

static int read_dynamic(struct reader *r)
{
    const Elf64_Phdr *h = header_of(r, PT_DYNAMIC);
    uint64_t n = h ? h->p_filesz / sizeof(Elf64_Dyn) : 0;
    int e;

    if (!n)
        return 0;
    if (n > MOST_DYNAMIC)
        return fail(r, EBADMSG, "a dynamic section of %llu entries", (unsigned long long)n);
    r->dynamic = malloc(n * sizeof(Elf64_Dyn));
    if (!r->dynamic)
        return fail(r, ENOMEM, "no memory");
    e = read_at(r, r->dynamic, n * sizeof(Elf64_Dyn), h->p_offset, "dynamic section");
    if (e)
        return e;
    for (r->n_dynamic = 0; r->n_dynamic < n && r->dynamic[r->n_dynamic].d_tag != DT_NULL; r->n_dynamic++)
        ;
    return 0;
}

/* The last entry counts, as in the loader. */
static bool value_of(const struct reader *r, int64_t tag, uint64_t *ret)
{
    bool found = false;

    for (size_t i = 0; i < r->n_dynamic; i++)
        if (r->dynamic[i].d_tag == tag) {
            *ret = r->dynamic[i].d_un.d_val;
            found = true;
        }
    return found;
}

/* Address to place in the file, by the loaded segments. */
static bool place_of(const struct reader *r, uint64_t address, uint64_t *ret)
{
    for (size_t i = 0; i < r->n_headers; i++) {
        const Elf64_Phdr *h = &r->headers[i];

        if (h->p_type != PT_LOAD || address < h->p_vaddr || address - h->p_vaddr >= h->p_filesz)
            continue;
        *ret = h->p_offset + (address - h->p_vaddr);
        return *ret >= h->p_offset && *ret < r->size;
    }
    return false;
}

static int find_strings(struct reader *r, struct elf *elf)
{
    uint64_t address = 0, size = 0, offset = 0;

    if (!r->n_dynamic)
        return 0;
    if (!value_of(r, DT_STRTAB, &address) || !value_of(r, DT_STRSZ, &size))
        return fail(r, EBADMSG, "a dynamic section without a string table");
    if (!place_of(r, address, &offset) || !inside(r, offset, size))
        return fail(r, EBADMSG, "its dynamic string table lies beyond its end (truncated?)");
    elf->strings_offset = offset;
    elf->strings_size = size;
    if (!value_of(r, DT_SYMTAB, &address) || !place_of(r, address, &elf->symbols_offset))
        elf->symbols_offset = 0;
    return 0;
}

/* String @index of the table, to be freed by the caller. */
static int read_string(struct reader *r, const struct elf *elf, uint64_t index, char **ret)
{
    uint64_t most = index < elf->strings_size ? elf->strings_size - index : 0;
    size_t n = most < ELF_STRING_MAX ? (size_t)most : ELF_STRING_MAX;
    _cleanup_free_ char *text = malloc(n + 1);
    char *shorter;
    int e;

    if (!text)
        return fail(r, ENOMEM, "no memory");
    e = n ? read_at(r, text, n, elf->strings_offset + index, "string table") : 0;
    if (e < 0)
        return e;
    if (!n || !memchr(text, '\0', n))
        return fail(r, EBADMSG, "a string of its dynamic section has no end");
    shorter = strdup(text);
    if (!shorter)
        return fail(r, ENOMEM, "no memory");
    free(*ret);
    *ret = shorter;
    return 0;
}

static int read_optional(struct reader *r, const struct elf *elf, int64_t tag, char **ret)
{
    uint64_t index;

    return value_of(r, tag, &index) ? read_string(r, elf, index, ret) : 0;
}

static int read_needed(struct reader *r, struct elf *elf)
{
    int e = 0;

    for (size_t i = 0; !e && i < r->n_dynamic; i++) {
        if (r->dynamic[i].d_tag != DT_NEEDED)
            continue;
        if (elf->n_needed == ELF_NEEDED_MAX)
            return fail(r, EBADMSG, "over %d needed libraries", ELF_NEEDED_MAX);
        if (!elf->needed)
            elf->needed = calloc(ELF_NEEDED_MAX, sizeof(*elf->needed));
        if (!elf->needed)
            return fail(r, ENOMEM, "no memory");
        e = read_string(r, elf, r->dynamic[i].d_un.d_val, &elf->needed[elf->n_needed]);
        elf->n_needed += !e;
    }
    return e;
}

static int read_interp(struct reader *r, struct elf *elf)
{
    const Elf64_Phdr *h = header_of(r, PT_INTERP);

    if (!h)
        return 0;
    if (!h->p_filesz || h->p_filesz > 4096)
        return fail(r, EBADMSG, "a strange name of its loader");
    elf->interp = calloc(1, h->p_filesz + 1);
    if (!elf->interp)
        return fail(r, ENOMEM, "no memory");
    return read_at(r, elf->interp, h->p_filesz, h->p_offset, "loader's name");
}

static int read_all(struct reader *r, struct elf *elf)
{
    Elf64_Ehdr h;
    uint64_t flags = 0;
    int e = read_header(r, &h);

    if (!e)
        e = read_headers(r, &h);
    if (!e)
        e = read_interp(r, elf);
    if (!e)
        e = read_dynamic(r);
    if (!e)
        e = find_strings(r, elf);
    if (!e)
        e = read_needed(r, elf);
    if (!e)
        e = read_optional(r, elf, DT_SONAME, &elf->soname);
    if (!e)
        e = read_optional(r, elf, DT_RPATH, &elf->rpath);
    if (!e)
        e = read_optional(r, elf, DT_RUNPATH, &elf->runpath);
    if (e)
        return e;
    elf->machine = h.e_machine;
    elf->type = h.e_type;
    elf->no_default_lib = value_of(r, DT_FLAGS_1, &flags) && (flags & DF_1_NODEFLIB);
    return 0;
}

int elf_read(int fd, struct elf *ret, char ret_reason[ELF_REASON])
{
    struct reader r = {.fd = fd, .reason = ret_reason};
    struct stat st;
    int e;

    memset(ret, 0, sizeof(*ret));
    ret_reason[0] = '\0';
    if (fstat(fd, &st) < 0)
        return fail(&r, errno, "stat: %s", strerrordesc_np(errno));
    r.size = (uint64_t)st.st_size;
    e = read_all(&r, ret);
    free(r.headers);
    free(r.dynamic);
    if (e)
        elf_free(ret);
    return e;
}

void elf_free(struct elf *elf)
{
    for (size_t i = 0; i < elf->n_needed; i++)
        free(elf->needed[i]);
    free(elf->needed);
    free(elf->interp);
    free(elf->soname);
    free(elf->rpath);
    free(elf->runpath);
    memset(elf, 0, sizeof(*elf));
}

/* Its place in the dynamic string table as a whole string; 0: it is not there. */
static uint64_t string_index(int fd, const struct elf *elf, const char *name)
{
    static const uint64_t most = 64 << 20;
    size_t size = (size_t)(elf->strings_size < most ? elf->strings_size : most), length = strlen(name) + 2;
    _cleanup_free_ char *table = size ? malloc(size) : NULL;
    const char *found = NULL;
    char whole[128];
    ssize_t n;

    if (!table || length > sizeof(whole))
        return 0;
    whole[0] = '\0'; /* the table begins with one, so each string stands between two */
    strcpy(whole + 1, name);
    n = pread(fd, table, size, (off_t)elf->strings_offset);
    if (n > 0)
        found = memmem(table, (size_t)n, whole, length);
    return found ? (uint64_t)(found - table) + 1 : 0;
}

bool elf_has_string(int fd, const struct elf *elf, const char *name)
{
    return string_index(fd, elf, name) != 0;
}

bool elf_defines(int fd, const struct elf *elf, const char *name)
{
    uint64_t at = elf->symbols_offset, index = at ? string_index(fd, elf, name) : 0, most = ELF_SYMBOLS_MAX;
    _cleanup_free_ Elf64_Sym *symbols = NULL;
    ssize_t n;

    if (!index)
        return false;
    if (elf->strings_offset > at && (elf->strings_offset - at) / sizeof(*symbols) < most)
        most = (elf->strings_offset - at) / sizeof(*symbols);
    symbols = malloc(most * sizeof(*symbols) + 1);
    n = symbols ? pread(fd, symbols, most * sizeof(*symbols), (off_t)at) : 0;
    for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*symbols); i++)
        if (symbols[i].st_name == index && symbols[i].st_shndx != SHN_UNDEF &&
            (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC || ELF64_ST_TYPE(symbols[i].st_info) == STT_GNU_IFUNC))
            return true;
    return false;
}

const char *elf_machine_name(uint16_t machine, char *buffer, size_t size)
{
    if (machine == EM_X86_64)
        return "x86-64";
    if (machine == EM_AARCH64)
        return "AArch64";
    snprintf(buffer, size, "machine %u", machine);
    return buffer;
}
