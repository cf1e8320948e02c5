/* SPDX-License-Identifier: MIT */
#include "which/loader.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

static const char *const by_names[] = {
    [BY_PATH] = "path",
    [BY_PRELOAD] = "LD_PRELOAD",
    [BY_RPATH] = "RPATH",
    [BY_LIBRARY_PATH] = "LD_LIBRARY_PATH",
    [BY_RUNPATH] = "RUNPATH",
    [BY_CACHE] = "ld.so.cache",
    [BY_DEFAULT] = "default folders",
    [BY_PACKAGE] = "cuda.pathfinder",
};

const char *loader_by_name(enum found_by by)
{
    return by_names[by];
}

/* ------------------------------------------------------------------------------------------------
 * What the machine is
 */

/* Level of x86-64 as the psABI names it, by the features that tell the levels apart. */
static unsigned machine_level(uint16_t machine)
{
#if defined(__x86_64__)
    if (machine != EM_X86_64 || !__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma"))
        return 2;
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") ? 4 : 3;
#else
    return 1;
#endif
}

static bool is_multiarch(const struct tree *t, uint16_t machine)
{
    return tree_is_dir(t, machine == EM_AARCH64 ? "/usr/lib/aarch64-linux-gnu" : "/usr/lib/x86_64-linux-gnu");
}

void loader_open(struct loader *l, const struct tree *t, uint16_t machine, const char *library_path)
{
    memset(l, 0, sizeof(*l));
    l->tree = t;
    l->machine = machine;
    l->level = machine_level(machine);
    l->library_path = library_path && *library_path ? strdup(library_path) : NULL;
    l->platform = machine == EM_AARCH64 ? "aarch64" : "x86_64";
    if (is_multiarch(t, machine))
        l->lib = machine == EM_AARCH64 ? "lib/aarch64-linux-gnu" : "lib/x86_64-linux-gnu";
    else
        l->lib = "lib64";
    ldcache_read(t, &l->cache);
}

void loader_close(struct loader *l)
{
    free(l->library_path);
    ldcache_free(&l->cache);
    memset(l, 0, sizeof(*l));
}

/* ------------------------------------------------------------------------------------------------
 * One search
 */

struct search {
    const struct loader *l;
    const char *name;
    struct found *found;
    size_t n;
};

/* Whether this loader would take the file; one that is no ELF file at all ends its search. */
static bool acceptable(const struct search *s, const char *file, struct found *f)
{
    _cleanup_fd_ int fd = tree_open_file(s->l->tree, file, f->real);
    struct elf elf;
    bool right;
    int r;

    if (fd < 0)
        return false;
    r = elf_read(fd, &elf, f->fault);
    if (r == -ENOTSUP)
        return false;
    right = r < 0 || elf.machine == s->l->machine;
    if (!r)
        elf_free(&elf);
    return right;
}

static void try_file(struct search *s, const char *file, enum found_by by, const char *where, const char *owner)
{
    struct found *f = &s->found[s->n];

    if (s->n == FOUND_MAX)
        return;
    memset(f, 0, sizeof(*f));
    if (!acceptable(s, file, f))
        return;
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->found[i].real, f->real))
            return;
    snprintf(f->file, sizeof(f->file), "%s", file);
    snprintf(f->where, sizeof(f->where), "%s", where);
    snprintf(f->owner, sizeof(f->owner), "%s", owner);
    f->by = by;
    s->n++;
}

static void try_folder(struct search *s, const char *folder, enum found_by by, const char *where, const char *owner)
{
    char file[PATH_MAX], hwcaps[PATH_MAX];

    if (s->l->level > 1 && tree_join(hwcaps, folder, "glibc-hwcaps") && tree_is_dir(s->l->tree, hwcaps))
        for (unsigned v = s->l->level; v >= 2; v--)
            if (snprintf(file, sizeof(file), "%s/x86-64-v%u/%s", hwcaps, v, s->name) < (int)sizeof(file))
                try_file(s, file, by, where, owner);
    if (tree_join(file, folder, s->name))
        try_file(s, file, by, where, owner);
}

/* ------------------------------------------------------------------------------------------------
 * Lists of folders
 */

static bool put(char *out, size_t *n, const char *text, size_t length)
{
    if (*n + length >= PATH_MAX)
        return false;
    memcpy(out + *n, text, length);
    *n += length;
    out[*n] = '\0';
    return true;
}

static bool token_is(const char *p, const char *token, size_t *ret_length)
{
    size_t n = strlen(token);

    if (p[1] == '{' && !strncmp(p + 2, token, n) && p[2 + n] == '}')
        *ret_length = n + 3;
    else if (!strncmp(p + 1, token, n) && !(p[1 + n] == '_' || (p[1 + n] >= 'A' && p[1 + n] <= 'Z')))
        *ret_length = n + 1;
    else
        return false;
    return true;
}

static bool put_origin(char *out, size_t *n, const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash && put(out, n, file, slash == file ? 1 : (size_t)(slash - file));
}

/* $ORIGIN, $LIB, $PLATFORM, with or without braces. @file is the object in which they stand. */
static bool expand(const struct loader *l, const char *file, const char *text, size_t length, char out[PATH_MAX])
{
    size_t n = 0, token = 0;
    bool fits = true;

    out[0] = '\0';
    for (size_t i = 0; fits && i < length; i += token) {
        token = 1;
        if (text[i] != '$')
            fits = put(out, &n, text + i, 1);
        else if (token_is(text + i, "ORIGIN", &token))
            fits = put_origin(out, &n, file);
        else if (token_is(text + i, "LIB", &token))
            fits = put(out, &n, l->lib, strlen(l->lib));
        else if (token_is(text + i, "PLATFORM", &token))
            fits = put(out, &n, l->platform, strlen(l->platform));
        else
            fits = put(out, &n, text + i, token = 1);
    }
    return fits;
}

/* An empty element is the current folder. */
static void try_list(struct search *s, const char *list, const char *separators, const char *origin, enum found_by by,
                     const char *owner)
{
    while (list) {
        size_t n = strcspn(list, separators);
        char folder[PATH_MAX], where[PATH_MAX];

        if (n < sizeof(where) && expand(s->l, origin, list, n, folder)) {
            snprintf(where, sizeof(where), "%.*s", (int)n, list);
            try_folder(s, n ? folder : ".", by, n ? where : "(empty: the current folder)", owner);
        }
        list = list[n] ? list + n + 1 : NULL;
    }
}

/* Of a library found through a link $ORIGIN is the folder of the link; of a program that of its file. */
static const char *origin_of(const struct object *o)
{
    return !o ? "/" : o->opened[0] ? o->opened : o->file;
}

/* An RPATH beside a RUNPATH counts for nothing. */
static void try_rpath(struct search *s, const struct object *o)
{
    if (o && o->elf.rpath && !o->elf.runpath)
        try_list(s, o->elf.rpath, ":", origin_of(o), BY_RPATH, o->file);
}

static void try_rpaths(struct search *s, const struct object *from, const struct object *program)
{
    bool program_seen = false;

    if (from && from->elf.runpath)
        return;
    for (const struct object *o = from; o; o = o->parent) {
        program_seen |= o == program;
        try_rpath(s, o);
    }
    if (!program_seen)
        try_rpath(s, program);
}

static bool in_default_folder(const char *file)
{
    return !strncmp(file, "/lib", 4) || !strncmp(file, "/usr/lib", 8);
}

static void try_cache(struct search *s, bool no_default)
{
    const char *file;

    for (size_t i = 0; (file = ldcache_find(&s->l->cache, s->name, s->l->machine, s->l->level, i)); i++)
        if (!no_default || !in_default_folder(file))
            try_file(s, file, BY_CACHE, "", "");
}

static void try_defaults(struct search *s)
{
    char folder[64];

    for (int i = 0; i < 4; i++) {
        const char *below = i < 2 ? s->l->lib : "lib";

        if (i >= 2 && !strcmp(s->l->lib, "lib64"))
            break; /* there the list ends with /usr/lib64 */
        snprintf(folder, sizeof(folder), "%s/%s", i % 2 ? "/usr" : "", below);
        try_folder(s, folder, BY_DEFAULT, folder, "");
    }
}

size_t loader_find(const struct loader *l, const struct object *from, const struct object *program, const char *name,
                   struct found ret[FOUND_MAX])
{
    struct search s = {.l = l, .name = name, .found = ret};
    const struct object *asks = from ? from : program;
    char path[PATH_MAX];
    bool no_default = asks && asks->elf.no_default_lib;

    if (strchr(name, '/')) {
        if (expand(l, origin_of(asks), name, strlen(name), path))
            try_file(&s, path, BY_PATH, "", "");
        return s.n;
    }
    try_rpaths(&s, from, program);
    if (l->library_path)
        try_list(&s, l->library_path, ":;", origin_of(program), BY_LIBRARY_PATH, "");
    if (from && from->elf.runpath)
        try_list(&s, from->elf.runpath, ":", origin_of(from), BY_RUNPATH, from->file);
    try_cache(&s, no_default);
    if (!no_default)
        try_defaults(&s);
    return s.n;
}
