/* SPDX-License-Identifier: MIT */
#include "which/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util.h"
#include "which/elf.h"
#include "which/library.h"

#define SOURCE_BYTES (4u << 20)
#define MOST_DEEP    64

static int hit(struct scan *s, enum scan_kind kind, const char *file, const char *name, bool in_code)
{
    struct scan_hit *h;

    for (size_t i = 0; i < s->n_hits; i++)
        if (s->hits[i].kind == kind && !strcmp(s->hits[i].file, file) && !strcmp(s->hits[i].name, name))
            return 0;
    if (s->n_hits % 32 == 0) {
        struct scan_hit *grown = realloc(s->hits, (s->n_hits + 32) * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        s->hits = grown;
    }
    h = &s->hits[s->n_hits];
    memset(h, 0, sizeof(*h));
    h->kind = kind;
    h->in_code = in_code;
    snprintf(h->name, sizeof(h->name), "%s", name);
    h->file = strdup(file);
    if (!h->file)
        return -ENOMEM;
    s->n_hits++;
    return 0;
}

void scan_free(struct scan *s)
{
    for (size_t i = 0; i < s->n_hits; i++)
        free(s->hits[i].file);
    free(s->hits);
    memset(s, 0, sizeof(*s));
}

/* ------------------------------------------------------------------------------------------------
 * Files
 */

/* What names a library that the file needs is not looked for in its data again. */
int scan_elf(struct scan *s, const struct tree *t, const char *file)
{
    _cleanup_fd_ int fd = tree_open_file(t, file, NULL);
    char reason[ELF_REASON];
    struct mentions m;
    struct elf elf;
    size_t before = s->n_hits;
    int r = 0;

    if (fd < 0 || elf_read(fd, &elf, reason) < 0)
        return 0;
    for (size_t i = 0; !r && i < elf.n_needed; i++)
        if (library_is_cufile(elf.needed[i]))
            r = hit(s, SCAN_NEEDS, file, elf.needed[i], false);
    elf_free(&elf);
    if (r || s->n_hits > before)
        return r;
    mentions_find(fd, &m);
    for (size_t i = 0; !r && i < m.n; i++)
        r = hit(s, SCAN_OPENS, file, m.names[i], m.in_code[i]);
    return r;
}

static bool has_any(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

/* Only sources whose path names cuFile or what stands on it: reading all of them would take minutes. */
static bool is_source(const char *file)
{
    static const char *const words[] = {"cufile", "kvikio", "gds", NULL};
    size_t n = strlen(file);

    return n > 3 && !strcmp(file + n - 3, ".py") && has_any(file, words);
}

static int scan_source(struct scan *s, const struct tree *t, const char *file)
{
    size_t n = 0;
    _cleanup_free_ char *text = tree_read(t, file, SOURCE_BYTES, &n);
    struct mentions m = {.n = 0};
    int r = 0;

    if (!text)
        return 0;
    if (strstr(text, "load_nvidia_dynamic_lib(\"cufile\")") || strstr(text, "load_nvidia_dynamic_lib('cufile')"))
        r = hit(s, SCAN_PYTHON, file, "cufile", false);
    for (size_t i = 0; i < n; i++) /* a literal then ends as a string of C does */
        text[i] = text[i] == '"' || text[i] == '\'' ? '\0' : text[i];
    mentions_in_data((const unsigned char *)text, n + 1, &m);
    for (size_t i = 0; !r && i < m.n; i++)
        r = hit(s, SCAN_PYTHON, file, m.names[i], false);
    return r;
}

static bool is_shared_object(const char *name)
{
    const char *so = strstr(name, ".so");

    while (so && so[3] && so[3] != '.')
        so = strstr(so + 3, ".so");
    return so != NULL;
}

/* In a folder whose name ends with bin, or tools (that of the vendor's): /usr/sbin, /usr/local/cuda/gds/tools. */
static bool is_in_bin(const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t n = slash ? (size_t)(slash - file) : 0;

    return (n >= 3 && !strncmp(file + n - 3, "bin", 3)) || (n >= 6 && !strncmp(file + n - 6, "/tools", 6));
}

static bool is_of_packages(const char *file)
{
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/");
}

static bool is_wanted_elf(const struct scan *s, const char *file, const char *name)
{
    if (!(s->kinds & (SCAN_NEEDS | SCAN_OPENS)) || !strncmp(name, "libcufile", 9))
        return false;
    if (!(s->kinds & SCAN_OUTSIDE))
        return is_shared_object(name);
    return !is_of_packages(file) && (is_shared_object(name) || is_in_bin(file));
}

static int scan_file(struct scan *s, const struct tree *t, const char *file, const char *name)
{
    char real[PATH_MAX];

    if (library_is_cufile(name)) {
        if (!(s->kinds & SCAN_LIBRARY) || tree_resolve(t, file, real) < 0 || !tree_is_file(t, real))
            return 0;
        return hit(s, SCAN_LIBRARY, real, "", false);
    }
    if (is_wanted_elf(s, file, name))
        return scan_elf(s, t, file);
    return s->kinds & SCAN_PYTHON && is_source(file) ? scan_source(s, t, file) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Folders
 */

static bool is_skipped(const char *folder)
{
    static const char *const names[] = {"/proc", "/sys", "/dev"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strcmp(folder, names[i]))
            return true;
    return false;
}

static unsigned char type_of(DIR *d, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : S_ISLNK(st.st_mode) ? DT_LNK : DT_UNKNOWN;
}

static int walk(struct scan *s, const struct tree *t, const char *folder, int depth);

static int see_folder(struct scan *s, const struct tree *t, const char *parent, const char *folder, const char *name,
                      int depth)
{
    size_t n = strlen(name);
    int r = 0;

    if (s->kinds & SCAN_SITE && n > 10 && !strcmp(name + n - 10, ".dist-info"))
        return hit(s, SCAN_SITE, parent, "", false);
    if (s->kinds & SCAN_PREFIX && !strcmp(name, "conda-meta"))
        r = hit(s, SCAN_PREFIX, parent, "", false);
    return r ? r : walk(s, t, folder, depth + 1);
}

/*
 * Links to a libcufile count; among packages those out of their folder too, for some installers link each file into a
 * cache. Within a folder they are further names of one file.
 */
static bool is_wanted_link(const struct scan *s, DIR *d, const char *name)
{
    char target[PATH_MAX];
    ssize_t n;

    if (library_is_cufile(name))
        return true;
    n = s->kinds & SCAN_OUTSIDE ? -1 : readlinkat(dirfd(d), name, target, sizeof(target));
    return n > 0 && memchr(target, '/', (size_t)n);
}

static int see(struct scan *s, const struct tree *t, DIR *d, const char *folder, const struct dirent *entry, int depth)
{
    unsigned char type = type_of(d, entry);
    char path[PATH_MAX];

    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !tree_join(path, folder, entry->d_name))
        return 0;
    s->cut |= ++s->n_entries > SCAN_ENTRIES;
    if (type == DT_DIR)
        return see_folder(s, t, folder, path, entry->d_name, depth);
    if (s->kinds & SCAN_PREFIX && type == DT_REG && !strcmp(entry->d_name, "pyvenv.cfg"))
        return hit(s, SCAN_PREFIX, folder, "", false);
    if (type == DT_REG || (type == DT_LNK && is_wanted_link(s, d, entry->d_name)))
        return scan_file(s, t, path, entry->d_name);
    return 0;
}

static int walk(struct scan *s, const struct tree *t, const char *folder, int depth)
{
    struct dirent *entry;
    int r = 0;
    DIR *d;

    if (depth > MOST_DEEP || is_skipped(folder))
        return 0;
    d = tree_open_dir(t, folder);
    if (!d) {
        s->n_unreadable++;
        return 0;
    }
    while (!r && !s->cut && (entry = readdir(d)))
        r = see(s, t, d, folder, entry, depth);
    closedir(d);
    return r;
}

int scan_walk(struct scan *s, const struct tree *t, const char *folder)
{
    return walk(s, t, folder, 0);
}
