/* SPDX-License-Identifier: MIT */
/* ELF files, /etc/ld.so.cache and /proc/N/maps: what is read of good ones, and that bad ones are survived. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util.h"
#include "which/elf.h"
#include "which/ldcache.h"
#include "which/maps.h"
#include "which/mentions.h"

/* ------------------------------------------------------------------------------------------------
 * A shared object with all that is read of one
 */

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[10];
    char interp[32], strings[128], data[64];
};

enum { AT_NEEDED1 = 1, AT_NEEDED2 = 16, AT_SONAME = 26, AT_RPATH = 37, AT_RUNPATH = 60 };

static const char table[128] = "\0libcufile.so.0\0libc.so.6\0libx.so.1\0\0$ORIGIN/../../lib:/opt\0/run\0cuFileReadv";

static void make_image(struct image *m)
{
    const Elf64_Dyn dynamic[10] = {
        {DT_NEEDED, {AT_NEEDED1}},
        {DT_NEEDED, {AT_NEEDED2}},
        {DT_SONAME, {AT_SONAME}},
        {DT_RPATH, {AT_RPATH}},
        {DT_RUNPATH, {AT_RUNPATH}},
        {DT_FLAGS_1, {DF_1_NODEFLIB}},
        {DT_STRTAB, {0x10000 + offsetof(struct image, strings)}},
        {DT_STRSZ, {sizeof(m->strings)}},
        {DT_NULL, {0}},
        {DT_NEEDED, {AT_NEEDED1}},
    };

    memset(m, 0, sizeof(*m));
    memcpy(m->header.e_ident, ELFMAG "\2\1\1", 7);
    m->header.e_machine = EM_X86_64;
    m->header.e_type = ET_DYN;
    m->header.e_phoff = offsetof(struct image, segments);
    m->header.e_phnum = 3;
    m->header.e_phentsize = sizeof(Elf64_Phdr);
    m->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x10000, .p_filesz = sizeof(*m)};
    m->segments[1] =
        (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, dynamic), .p_filesz = sizeof(m->dynamic)};
    m->segments[2] =
        (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = offsetof(struct image, interp), .p_filesz = sizeof(m->interp)};
    memcpy(m->dynamic, dynamic, sizeof(dynamic));
    strcpy(m->interp, "/lib64/ld-linux-x86-64.so.2");
    memcpy(m->strings, table, sizeof(table));
    memcpy(m->data, "\0/usr/lib/libcufile.so.1.9.1\0", 29);
}

static int file_of(const void *data, size_t n)
{
    int fd = memfd_create("image", MFD_CLOEXEC);

    assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    return fd;
}

static void elf_all_of_it(void **state)
{
    _cleanup_fd_ int fd = -1;
    char reason[ELF_REASON];
    struct image m;
    struct elf elf;

    make_image(&m);
    fd = file_of(&m, sizeof(m));
    assert_int_equal(elf_read(fd, &elf, reason), 0);
    assert_int_equal(elf.machine, EM_X86_64);
    assert_int_equal(elf.n_needed, 2); /* what stands behind DT_NULL is none */
    assert_string_equal(elf.needed[0], "libcufile.so.0");
    assert_string_equal(elf.needed[1], "libc.so.6");
    assert_string_equal(elf.soname, "libx.so.1");
    assert_string_equal(elf.rpath, "$ORIGIN/../../lib:/opt");
    assert_string_equal(elf.runpath, "/run");
    assert_string_equal(elf.interp, "/lib64/ld-linux-x86-64.so.2");
    assert_true(elf.no_default_lib);
    assert_true(elf_has_string(fd, &elf, "cuFileReadv"));
    assert_false(elf_has_string(fd, &elf, "cuFileRead"));
    elf_free(&elf);
}

static int read_bytes(const void *data, size_t n, char reason[ELF_REASON])
{
    _cleanup_fd_ int fd = file_of(data, n);
    struct mentions m;
    struct elf elf;
    int r = elf_read(fd, &elf, reason);

    mentions_find(fd, &m);
    if (!r)
        elf_free(&elf);
    return r;
}

static void elf_others(void **state)
{
    char reason[ELF_REASON];
    struct image m;

    make_image(&m);
    assert_int_equal(read_bytes("#!/bin/sh\n# a script, longer than a header", 40, reason), -ENOEXEC);
    assert_int_equal(read_bytes("", 0, reason), -ENOEXEC);
    m.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -ENOTSUP);
    assert_non_null(strstr(reason, "32-bit"));
    m.header.e_ident[EI_CLASS] = ELFCLASS64;
    m.header.e_ident[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -ENOTSUP);
}

/* Cut at any length: an error, never a part of the truth. */
static void elf_truncated(void **state)
{
    char reason[ELF_REASON];
    struct image m;

    make_image(&m);
    for (size_t n = 0; n < offsetof(struct image, data); n++) {
        assert_true(read_bytes(&m, n, reason) < 0);
        assert_true(strlen(reason) > 0);
    }
    assert_int_equal(read_bytes(&m, sizeof(m), reason), 0);
}

/* What a damaged file may claim. */
static void elf_lies(void **state)
{
    char reason[ELF_REASON];
    struct image m;

    make_image(&m);
    m.dynamic[7].d_un.d_val = 1ull << 40; /* a table of 1 TiB */
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -EBADMSG);
    make_image(&m);
    m.dynamic[0].d_un.d_val = 200; /* a string behind the table */
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -EBADMSG);
    make_image(&m);
    memset(m.strings, 'x', sizeof(m.strings)); /* strings without an end */
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -EBADMSG);
    make_image(&m);
    m.segments[1].p_offset = UINT64_MAX - 8;
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -EBADMSG);
    make_image(&m);
    m.segments[0].p_offset = UINT64_MAX - 100; /* addresses that wrap around */
    assert_int_equal(read_bytes(&m, sizeof(m), reason), -EBADMSG);
}

static uint64_t random_of(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return *seed >> 33;
}

static void damage(unsigned char *data, size_t n, uint64_t *seed)
{
    for (uint64_t k = 1 + random_of(seed) % 6; k; k--)
        data[random_of(seed) % n] = random_of(seed) % 3 ? (unsigned char)random_of(seed) : 0xff;
}

static void elf_mutations(void **state)
{
    size_t n_good = 0, n_bad = 0;
    uint64_t seed = 1;
    char reason[ELF_REASON];
    struct image m;

    for (int i = 0; i < 4000; i++) {
        make_image(&m);
        damage((unsigned char *)&m, sizeof(m), &seed);
        if (read_bytes(&m, sizeof(m), reason) < 0)
            n_bad++;
        else
            n_good++;
    }
    assert_true(n_good > 100 && n_bad > 100); /* both ways were gone */
}

/* This program, as its compiler made it. */
static void elf_of_this_program(void **state)
{
    _cleanup_fd_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char reason[ELF_REASON];
    bool has_libc = false;
    struct elf elf;

    assert_int_equal(elf_read(fd, &elf, reason), 0);
    for (size_t i = 0; i < elf.n_needed; i++)
        has_libc |= !strncmp(elf.needed[i], "libc.so.", 8);
    assert_true(has_libc);
    assert_non_null(elf.interp);
    elf_free(&elf);
}

/* ------------------------------------------------------------------------------------------------
 * Names in data and code
 */

static struct mentions in_data(const char *data, size_t n)
{
    struct mentions m = {.n = 0};

    mentions_in_data((const unsigned char *)data, n, &m);
    return m;
}

#define IN(text) in_data(text, sizeof(text))

static void mentions_of_data(void **state)
{
    struct mentions m = IN("x\0libcufile.so.0\0libcufile.so\0libcufile.so.0");

    assert_int_equal(m.n, 2); /* each once */
    assert_string_equal(m.names[0], "libcufile.so.0");
    assert_string_equal(m.names[1], "libcufile.so");
    m = IN("\0/usr/local/cuda/lib64/libcufile.so\0");
    assert_int_equal(m.n, 1);
    assert_string_equal(m.names[0], "/usr/local/cuda/lib64/libcufile.so");
    assert_int_equal(IN("cannot open libcufile.so.0: gone").n, 0);
    assert_int_equal(IN("\0mylibcufile.so.0").n, 0);
    assert_int_equal(IN("\0libcufile_rdma.so.1").n, 0);
    assert_int_equal(in_data("\0libcufile.so.0", 15).n, 0); /* no end within */
    assert_int_equal(IN("").n, 0);
}

static void mentions_of_code(void **state)
{
    /* mov rax, "libcufil"; mov [..], rax; mov rax, "ile.so.0": as gcc writes it for a string of 14 bytes. */
    static const char code[] = "AWfH\xb8libcufilAVAUATUH\x89\xfdSH\xb8ile.so.0\xc7\x87";
    static const char shorter[] = "H\xb8libcufil\xc7\x40\x08"
                                  "e.so\xc3";
    struct mentions m = {.n = 0};

    mentions_in_code((const unsigned char *)code, sizeof(code), &m);
    assert_int_equal(m.n, 1);
    assert_string_equal(m.names[0], "libcufile.so.0");
    assert_true(m.in_code[0]);
    m.n = 0;
    mentions_in_code((const unsigned char *)shorter, sizeof(shorter), &m);
    assert_int_equal(m.n, 1);
    assert_string_equal(m.names[0], "libcufile.so");
    m.n = 0;
    mentions_in_code((const unsigned char *)"libcufil", 8, &m);
    assert_int_equal(m.n, 0);
}

/* Without section headers the segments are searched. */
static void mentions_of_a_file(void **state)
{
    _cleanup_fd_ int fd = -1;
    struct mentions found;
    struct image m;

    make_image(&m);
    fd = file_of(&m, sizeof(m));
    mentions_find(fd, &found);
    assert_int_equal(found.n, 2);
    assert_string_equal(found.names[0], "libcufile.so.0");
    assert_string_equal(found.names[1], "/usr/lib/libcufile.so.1.9.1");
}

/* ------------------------------------------------------------------------------------------------
 * ld.so.cache
 */

static size_t put32(char *p, size_t at, uint32_t value)
{
    memcpy(p + at, &value, sizeof(value));
    return at + 4;
}

struct entry {
    uint32_t flags, key, value;
    uint64_t hwcap;
};

/* The new format at @at, with an extension of hwcaps folders behind. Offsets of strings: from @at. */
static size_t put_new(char *p, size_t at)
{
    static const char strings[] = "libcufile.so.0\0/opt/a/libcufile.so.0\0/opt/v3/libcufile.so.0\0x86-64-v3\0/i386/x";
    const struct entry entries[] = {
        {0x0003, 0, 70, 0}, {0x0303, 0, 37, (1ull << 62) | 0}, {0x0303, 0, 15, 0}, {0x0a03, 0, 70, 0}};
    uint32_t string_at = 48 + 24 * (uint32_t)ARRAY_SIZE(entries), extension = string_at + sizeof(strings) + 1;
    size_t n = at;

    extension += (4 - extension % 4) % 4;
    memcpy(p + n, "glibc-ld.so.cache1.1", 20);
    n = put32(p, n + 20, ARRAY_SIZE(entries));
    n = put32(p, n, sizeof(strings));
    n = put32(p, n + 4, extension);
    n += 12;
    for (size_t i = 0; i < ARRAY_SIZE(entries); i++, n += 24) {
        put32(p, n, entries[i].flags);
        put32(p, n + 4, string_at + entries[i].key);
        put32(p, n + 8, string_at + entries[i].value);
        memcpy(p + n + 16, &entries[i].hwcap, 8);
    }
    memcpy(p + n, strings, sizeof(strings));
    n = at + extension;
    n = put32(p, n, 0xeaa42174);
    n = put32(p, n, 1);
    n = put32(p, n, 1);
    n = put32(p, n, 0);
    n = put32(p, n, extension + 24);
    n = put32(p, n, 4);
    return put32(p, n, string_at + 60);
}

static struct ldcache parsed(const char *data, size_t n)
{
    char *copy = malloc(n ? n : 1);
    struct ldcache c;

    memcpy(copy, data, n);
    ldcache_parse(copy, n, &c);
    return c;
}

static void check_new(const struct ldcache *c)
{
    assert_string_equal(c->reason, "");
    assert_string_equal(ldcache_find(c, "libcufile.so.0", EM_X86_64, 1, 0), "/opt/a/libcufile.so.0");
    assert_null(ldcache_find(c, "libcufile.so.0", EM_X86_64, 1, 1));
    assert_string_equal(ldcache_find(c, "libcufile.so.0", EM_X86_64, 3, 0), "/opt/v3/libcufile.so.0");
    assert_string_equal(ldcache_find(c, "libcufile.so.0", EM_X86_64, 3, 1), "/opt/a/libcufile.so.0");
    assert_string_equal(ldcache_find(c, "libcufile.so.0", EM_AARCH64, 1, 0), "/i386/x");
    assert_null(ldcache_find(c, "libcufile.so", EM_X86_64, 1, 0));
}

static void cache_new(void **state)
{
    char data[512] = {0};
    struct ldcache c = parsed(data, put_new(data, 0));

    check_new(&c);
    ldcache_free(&c);
}

/* "ld.so-1.7.0" with one entry, the new table behind it; then the old one alone. */
static void cache_old(void **state)
{
    char data[512] = {0};
    size_t n;
    struct ldcache c;

    memcpy(data, "ld.so-1.7.0", 11);
    put32(data, 12, 1);
    n = put_new(data, 32);
    c = parsed(data, n);
    check_new(&c);
    ldcache_free(&c);

    put32(data, 16, 0x0303);
    put32(data, 20, 0);
    put32(data, 24, 7);
    memcpy(data + 28, "liba.so\0/lib/liba.so", 21);
    data[35] = '\0';
    put32(data, 24, 8);
    c = parsed(data, 28 + 21);
    assert_string_equal(ldcache_find(&c, "liba.so", EM_X86_64, 1, 0), "/lib/liba.so");
    ldcache_free(&c);
}

static void search_all(const struct ldcache *c)
{
    for (unsigned level = 1; level <= 4; level++)
        for (size_t i = 0; i < 4; i++)
            ldcache_find(c, "libcufile.so.0", EM_X86_64, level, i);
}

static void cache_damaged(void **state)
{
    char good[512] = {0}, data[512];
    size_t n = put_new(good, 0), n_with_reason = 0;
    uint64_t seed = 2;
    struct ldcache c;

    for (size_t cut = 0; cut <= n; cut++) {
        c = parsed(good, cut);
        search_all(&c);
        n_with_reason += c.reason[0] != '\0';
        ldcache_free(&c);
    }
    assert_true(n_with_reason >= 48 + 4 * 24);
    for (int i = 0; i < 20000; i++) {
        memcpy(data, good, sizeof(data));
        damage((unsigned char *)data, n, &seed);
        c = parsed(data, n);
        search_all(&c);
        ldcache_free(&c);
    }
}

/* ------------------------------------------------------------------------------------------------ */

static void maps_lines(void **state)
{
    struct maps_entry m;

    assert_true(maps_parse("7f00-7f10 r-xp 00001000 08:02 135522    /usr/lib/lib a\\012b.so", &m));
    assert_string_equal(m.file, "/usr/lib/lib a\nb.so");
    assert_string_equal(m.range, "7f00-7f10");
    assert_false(m.deleted);
    assert_true(m.runs);
    assert_true(maps_parse("7f00-7f10 r--p 00000000 00:01 2 /tmp/libcufile.so.0 (deleted)", &m));
    assert_string_equal(m.file, "/tmp/libcufile.so.0");
    assert_true(m.deleted);
    assert_false(m.runs);
    assert_false(maps_parse("7f00-7f10 rw-p 00000000 00:00 0 ", &m));
    assert_false(maps_parse("7f00-7f10 rw-p 00000000 00:00 0   [heap]", &m));
    assert_false(maps_parse("", &m));
    assert_false(maps_parse("7f00-7f10", &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elf_all_of_it),    cmocka_unit_test(elf_others),       cmocka_unit_test(elf_truncated),
        cmocka_unit_test(elf_lies),         cmocka_unit_test(elf_mutations),    cmocka_unit_test(elf_of_this_program),
        cmocka_unit_test(mentions_of_data), cmocka_unit_test(mentions_of_code), cmocka_unit_test(mentions_of_a_file),
        cmocka_unit_test(cache_new),        cmocka_unit_test(cache_old),        cmocka_unit_test(cache_damaged),
        cmocka_unit_test(maps_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
