/* SPDX-License-Identifier: MIT */
#include "which/library.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/sha256.h"
#include "core/util.h"
#include "driver/cufile_version.h"
#include "which/elf.h"
#include "worker/job.h" /* json_filename */

#define CHUNK (1u << 20)

json_t *which_string(const char *text)
{
    return text && *text ? json_filename(text) : json_null();
}

bool library_is_cufile(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    static const char stem[] = "libcufile.so";
    size_t n = strlen(stem);

    return !strncmp(name, stem, n) && (!name[n] || (name[n] == '.' && isdigit((unsigned char)name[n + 1]) &&
                                                    strspn(name + n, ".0123456789") == strlen(name + n)));
}

const char *library_is_cufile_inside(int fd)
{
    char reason[ELF_REASON];
    const char *why = NULL;
    struct elf elf;

    if (elf_read(fd, &elf, reason) < 0)
        return NULL;
    if (elf.soname && library_is_cufile(elf.soname))
        why = "SONAME";
    else if (elf_defines(fd, &elf, "cuFileDriverOpen") && elf_defines(fd, &elf, "cuFileRead"))
        why = "functions (cuFileDriverOpen, cuFileRead)";
    elf_free(&elf);
    return why;
}

/* ------------------------------------------------------------------------------------------------
 * Version by what is in the file
 */

/* "1.20.0.107" as a whole string: four numbers, the first of them 1. */
static size_t version_length(const char *p, size_t n)
{
    size_t length = 0, dots = 0;

    while (length < n && length < 24 && (isdigit((unsigned char)p[length]) || p[length] == '.'))
        dots += p[length++] == '.';
    return length < n && !p[length] && dots == 3 && isdigit((unsigned char)p[length - 1]) ? length : 0;
}

struct strings {
    char version[32]; /* the one that was found */
    bool several;     /* different ones: none is believed */
};

static void look(const char *data, size_t n, struct strings *s)
{
    const char *p = data;

    while ((p = memmem(p, n - (size_t)(p - data),
                       "\0"
                       "1.",
                       3))) {
        size_t length = version_length(p + 1, n - (size_t)(p + 1 - data));
        char text[32];

        p++;
        if (!length)
            continue;
        snprintf(text, sizeof(text), "%.*s", (int)length, p);
        s->several |= s->version[0] && strcmp(s->version, text) != 0;
        strcpy(s->version, text);
    }
}

static bool version_in_strings(int fd, struct cufile_version *ret)
{
    _cleanup_free_ char *buffer = malloc(CHUNK);
    struct strings s = {0};
    off_t at = 0;
    ssize_t n;

    while (buffer && (n = pread(fd, buffer, CHUNK, at)) > 0) {
        look(buffer, (size_t)n, &s);
        at += n < (ssize_t)CHUNK ? n : n - 64; /* one that lies across the border is in the next chunk */
    }
    if (!s.version[0] || s.several ||
        sscanf(s.version, "%d.%d.%d.%d", &ret->major, &ret->minor, &ret->patch, &ret->build) != 4)
        return false;
    snprintf(ret->text, sizeof(ret->text), "%s", s.version);
    snprintf(ret->source, sizeof(ret->source), "string in the file");
    return true;
}

/* From which minor version on a function is there (docs/cufile.md; the vendor's headers of 1.4 to 1.19). */
static const struct {
    const char *name;
    int since;
} functions[] = {
    {"cuFileReadAsync", 7},   {"cuFileGetVersion", 8},         {"cuFileGetParameterSizeT", 14},
    {"cuFileGetStatsL1", 15}, {"cuFileDriverGetP2PFlags", 16}, {"cuFileExportPCIeTopology", 17},
    {"cuFileReadv", 19},
};

static void range_by_symbols(int fd, int *least, int *most)
{
    char reason[ELF_REASON];
    struct elf elf;

    *least = *most = -1;
    if (elf_read(fd, &elf, reason) < 0)
        return;
    if (elf_has_string(fd, &elf, "cuFileDriverOpen"))
        *least = 0;
    for (size_t i = 0; *least >= 0 && i < ARRAY_SIZE(functions); i++) {
        if (elf_has_string(fd, &elf, functions[i].name))
            *least = functions[i].since;
        else if (*most < 0)
            *most = functions[i].since - 1;
    }
    if (*most >= 0 && *most < *least)
        *least = *most = -1; /* no library of the vendor's has these together */
    elf_free(&elf);
}

bool library_version(const struct tree *t, const char *real, int fd, struct cufile_version *ret, int *ret_least,
                     int *ret_most)
{
    char outside[2 * PATH_MAX];

    *ret_least = *ret_most = -1;
    tree_outside(t, real, outside, sizeof(outside));
    cufile_version_find(NULL, outside, ret);
    /* libcufile.so.0, .1: that is the interface's number. */
    if (ret->major >= 1 && ret->minor >= 0)
        return true;
    memset(ret, 0, sizeof(*ret));
    ret->major = ret->minor = ret->patch = ret->build = -1;
    if (fd < 0)
        return false;
    if (version_in_strings(fd, ret))
        return true;
    range_by_symbols(fd, ret_least, ret_most);
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * What is known
 */

static json_t *describe_faults(const struct cufile_version *v)
{
    json_t *list = json_array();
    const struct cufile_fault *f;

    for (size_t i = 0; (f = cufile_fault_find(v, i)); i++)
        json_array_append_new(list, json_pack("{s:s, s:s?}", "what", f->words, "remedy", f->remedy));
    return list;
}

static json_t *describe_known(const struct cufile_version *v, const struct cufile_known *k)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o}", "requests", cufile_requests_word(k->requests), "requests_words",
                     k->requests_words, "basis", k->basis, "statistics", k->statistics, "remedy", k->remedy, "faults",
                     describe_faults(v));
}

/* Both ends of a range are of one row: then that row is known, though not the faults. */
static const struct cufile_known *known_of_range(int least, int most)
{
    const struct cufile_version low = {.major = 1, .minor = least, .patch = 0},
                                high = {.major = 1, .minor = most, .patch = 0};

    if (least < 0 || most < 0)
        return NULL;
    return cufile_known_find(&low) == cufile_known_find(&high) ? cufile_known_find(&low) : NULL;
}

static void set_known(json_t *library, const struct cufile_version *v, int least, int most)
{
    const struct cufile_known *k = v->major >= 0 ? cufile_known_find(v) : known_of_range(least, most);

    if (k) {
        json_object_set_new(library, "known", describe_known(v, k));
        return;
    }
    json_object_set_new(library, "known", json_null());
    json_object_set_new(library, "known_reason",
                        v->major < 0 ? json_string("its version is not known")
                                     : json_string("not known to this table of " CUFILE_TABLE_DATE
                                                   ", which ends with " CUFILE_TABLE_NEWEST));
}

static void set_version(json_t *library, const struct cufile_version *v, bool found, int least, int most)
{
    json_object_set_new(library, "version", found ? json_string(v->text) : json_null());
    json_object_set_new(library, "version_source", found ? json_string(v->source) : json_null());
    if (!found && least >= 0) {
        json_object_set_new(library, "version_least", json_sprintf("1.%d", least));
        json_object_set_new(library, "version_most", most >= 0 ? json_sprintf("1.%d", most) : json_null());
    }
    if (!found)
        json_object_set_new(library, "version_reason",
                            json_string("neither its file name, nor a package's list, nor a string in it says"));
    json_object_set_new(library, "cuda", found ? which_string(cufile_cuda_release(v)) : json_null());
}

/* A copy that is no ELF file is shown all the same: the loader may meet it. */
static void set_fault(json_t *library, int fd)
{
    char reason[ELF_REASON];
    struct elf elf;

    if (elf_read(fd, &elf, reason) < 0)
        json_object_set_new(library, "fault", json_string(reason));
    else
        elf_free(&elf);
}

static void set_contents(json_t *library, int fd)
{
    char hex[SHA256_TEXT];
    struct stat st;
    int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : sha256_of_fd(fd, hex);

    json_object_set_new(library, "bytes", r < 0 ? json_null() : json_integer((json_int_t)st.st_size));
    json_object_set_new(library, "sha256", r < 0 ? json_null() : json_string(hex));
    if (r < 0)
        json_object_set_new(library, "sha256_reason", json_string(strerrordesc_np(-r)));
    else
        set_fault(library, fd);
}

json_t *library_describe(const struct tree *t, const char *real, const char *contents)
{
    _cleanup_fd_ int fd = contents ? open(contents, O_RDONLY | O_CLOEXEC) : tree_open_file(t, real, NULL);
    json_t *library = json_pack("{s:o}", "file", which_string(real));
    struct cufile_version v;
    int least, most;
    bool found;

    if (contents && fd < 0)
        fd = -errno;
    found = library_version(t, real, fd, &v, &least, &most);
    set_version(library, &v, found, least, most);
    set_contents(library, fd);
    set_known(library, &v, least, most);
    return library;
}
