/* SPDX-License-Identifier: MIT */
#include "which/dist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

#define RECORD_BYTES (64u << 20)
#define CONDA_BYTES  (16u << 20)
#define MOST_REQUIRE 4096

static void dist_free(struct dist *d)
{
    free(d->name);
    free(d->version);
    free(d->site);
    free(d->info);
    free(d->requires);
}

void dists_free(struct dists *d)
{
    for (size_t i = 0; i < d->n; i++)
        dist_free(&d->items[i]);
    free(d->items);
    memset(d, 0, sizeof(*d));
}

/* A zeroed one at the end; NULL: no memory or too many. */
static struct dist *add(struct dists *d, const char *site, const char *info)
{
    struct dist *new;

    if (d->n == DIST_MAX)
        return NULL;
    if (d->n % 64 == 0) {
        struct dist *grown = realloc(d->items, (d->n + 64) * sizeof(*grown));

        if (!grown)
            return NULL;
        d->items = grown;
    }
    new = &d->items[d->n];
    memset(new, 0, sizeof(*new));
    new->site = strdup(site);
    new->info = strdup(info);
    if (!new->site || !new->info) {
        dist_free(new);
        return NULL;
    }
    d->n++;
    return new;
}

static void drop_last(struct dists *d)
{
    dist_free(&d->items[--d->n]);
    d->n_unreadable++;
}

static void set_name(struct dist *d, const char *name)
{
    free(d->name);
    d->name = strdup(name);
    package_normalise(name, strlen(name), d->normal);
}

static void add_requirement(struct dist *d, const struct requirement *r)
{
    if (d->n_requires == MOST_REQUIRE)
        return;
    if (d->n_requires % 32 == 0) {
        struct requirement *grown = realloc(d->requires, (d->n_requires + 32) * sizeof(*grown));

        if (!grown)
            return;
        d->requires = grown;
    }
    d->requires[d->n_requires++] = *r;
}

/* ------------------------------------------------------------------------------------------------
 * METADATA
 */

static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);

    return !strncasecmp(line, key, n) && line[n] == ':' ? line + n + 1 + strspn(line + n + 1, " \t") : NULL;
}

static void take_line(struct dist *d, const char *line)
{
    struct requirement r;
    const char *value;

    if ((value = value_of(line, "Name")) && !d->name) {
        set_name(d, value);
    } else if ((value = value_of(line, "Version")) && !d->version) {
        d->version = strdup(value);
    } else if ((value = value_of(line, "Requires-Dist")) && requirement_parse(value, &r)) {
        add_requirement(d, &r);
    }
}

/* Headers, up to the first empty line. A NUL ends the text. */
static void parse_metadata(struct dist *d, char *text)
{
    while (*text && *text != '\n' && *text != '\r') {
        size_t n = strcspn(text, "\n");
        bool more = text[n] != '\0';

        text[n] = '\0';
        if (n && text[n - 1] == '\r')
            text[n - 1] = '\0';
        take_line(d, text);
        text += n + more;
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n > k && !strcmp(text + n - k, end);
}

static int read_info(struct dists *d, const struct tree *t, const char *site, const char *entry)
{
    char info[PATH_MAX], file[PATH_MAX];
    const char *metadata = ends_with(entry, ".egg-info") ? "PKG-INFO" : "METADATA";
    _cleanup_free_ char *text = NULL;
    struct dist *new;

    if (!tree_join(info, site, entry) || !tree_join(file, info, metadata))
        return 0;
    text = tree_read(t, file, METADATA_BYTES, NULL);
    if (!text) {
        d->n_unreadable++;
        return 0;
    }
    new = add(d, site, info);
    if (!new)
        return d->n == DIST_MAX ? 0 : -ENOMEM;
    parse_metadata(new, text);
    if (!new->name || !new->normal[0])
        drop_last(d);
    return 0;
}

int dists_read_site(struct dists *d, const struct tree *t, const char *site)
{
    DIR *dir = tree_open_dir(t, site);
    struct dirent *entry;
    int r = 0;

    while (dir && !r && (entry = readdir(dir)))
        if (ends_with(entry->d_name, ".dist-info") || ends_with(entry->d_name, ".egg-info"))
            r = read_info(d, t, site, entry->d_name);
    if (dir)
        closedir(dir);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Conda
 */

/* "libcufile >=1.13,<2 h123": a name, and a specification with or without a build. */
static void add_conda_requirement(struct dist *d, const char *text)
{
    struct requirement r = {0};
    size_t n = strcspn(text, " ");
    const char *spec = text + n + strspn(text + n, " ");

    package_normalise(text, n, r.name);
    snprintf(r.spec, sizeof(r.spec), "%.*s", (int)(strcspn(spec, " ") % sizeof(r.spec)), spec);
    add_requirement(d, &r);
}

static void take_conda(struct dists *d, const char *prefix, const char *file, const json_t *package)
{
    const char *name = json_string_value(json_object_get(package, "name"));
    const char *version = json_string_value(json_object_get(package, "version"));
    struct dist *new = name ? add(d, prefix, file) : NULL;
    const json_t *text;
    size_t i;

    if (!new)
        return;
    set_name(new, name);
    new->version = version ? strdup(version) : NULL;
    new->is_conda = true;
    json_array_foreach(json_object_get(package, "depends"), i, text) if (json_is_string(text))
        add_conda_requirement(new, json_string_value(text));
}

int dists_read_conda(struct dists *d, const struct tree *t, const char *prefix)
{
    char folder[PATH_MAX], file[PATH_MAX];
    DIR *dir = tree_join(folder, prefix, "conda-meta") ? tree_open_dir(t, folder) : NULL;
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        _cleanup_free_ char *text = NULL;
        json_t *package;

        if (!ends_with(entry->d_name, ".json") || !tree_join(file, folder, entry->d_name))
            continue;
        text = tree_read(t, file, CONDA_BYTES, NULL);
        package = text ? json_loads(text, 0, NULL) : NULL;
        if (json_is_object(package))
            take_conda(d, prefix, file, package);
        else
            d->n_unreadable++;
        json_decref(package);
    }
    if (dir)
        closedir(dir);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

bool dist_is_cufile(const struct dist *d)
{
    static const char stem[] = "nvidia-cufile";
    size_t n = strlen(stem);

    if (d->is_conda)
        return !strcmp(d->normal, "libcufile");
    return !strncmp(d->normal, stem, n) && (!d->normal[n] || !strncmp(d->normal + n, "-cu", 3));
}

/* Whether a line of the RECORD is of that file: "PATH,hash,size", the path perhaps in double quotes. */
static bool record_has(const char *record, const char *relative)
{
    size_t n = strlen(relative);

    for (const char *p = record; (p = strstr(p, relative)); p++) {
        bool begins = p == record || p[-1] == '\n' || (p[-1] == '"' && (p - 1 == record || p[-2] == '\n'));

        if (begins && (p[n] == ',' || (p[n] == '"' && p[n + 1] == ',')))
            return true;
    }
    return false;
}

static bool conda_has(const char *text, const char *relative)
{
    char quoted[PATH_MAX];

    return snprintf(quoted, sizeof(quoted), "\"%s\"", relative) < (int)sizeof(quoted) && strstr(text, quoted);
}

static bool owns(const struct dist *d, const struct tree *t, const char *file)
{
    size_t n = strlen(d->site);
    _cleanup_free_ char *text = NULL;
    char record[PATH_MAX];

    if (strncmp(file, d->site, n) || file[n] != '/')
        return false;
    if (d->is_conda) {
        text = tree_read(t, d->info, CONDA_BYTES, NULL);
        return text && conda_has(text, file + n + 1);
    }
    if (tree_join(record, d->info, "RECORD"))
        text = tree_read(t, record, RECORD_BYTES, NULL);
    return text && record_has(text, file + n + 1);
}

const struct dist *dists_owner(const struct dists *d, const struct tree *t, const char *file)
{
    for (size_t i = 0; i < d->n; i++)
        if (owns(&d->items[i], t, file))
            return &d->items[i];
    return NULL;
}
