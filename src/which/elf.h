/* SPDX-License-Identifier: MIT */
/*
 * What the dynamic section of an ELF file says. 64-bit little-endian files only: there is no other cuFile. Nothing is
 * mapped and nothing is believed: each offset is checked against the file's size, each table and string has a limit.
 * Formats: System V gABI, chapters 4 and 5; glibc's elf/elf.h for the numbers.
 */
#ifndef SPUR_WHICH_ELF_H
#define SPUR_WHICH_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_REASON      120
#define ELF_STRING_MAX  16384 /* of an RPATH, say */
#define ELF_NEEDED_MAX  1024
#define ELF_SYMBOLS_MAX 1000000u

struct elf {
    uint16_t machine, type; /* EM_X86_64, ET_DYN, ... */
    char *interp;           /* NULL: none */
    char *soname, *rpath, *runpath;
    char **needed;
    size_t n_needed;
    bool no_default_lib;                   /* DF_1_NODEFLIB */
    uint64_t strings_offset, strings_size; /* the dynamic string table in the file; 0: none */
    uint64_t symbols_offset;               /* the dynamic symbol table; 0: none */
};

/*
 * Reads from @fd, wherever its position is. 0 (a static file has nothing needed); -ENOEXEC: no ELF file; -ENOTSUP: 32
 * bits, big-endian, or another version; -EBADMSG: damaged; -errno of read. @ret_reason says it in words.
 */
int elf_read(int fd, struct elf *ret, char ret_reason[ELF_REASON]);
void elf_free(struct elf *elf);

/* Whether the dynamic string table has @name as a whole string: a symbol that it defines or uses. */
bool elf_has_string(int fd, const struct elf *elf, const char *name);

/* Whether it defines the function @name for others. The symbol table has no size of its own: it is read up to the
 * strings that follow it, or ELF_SYMBOLS_MAX entries. */
bool elf_defines(int fd, const struct elf *elf, const char *name);

/* "x86-64", "AArch64", "machine 40". */
const char *elf_machine_name(uint16_t machine, char *buffer, size_t size);

#endif
