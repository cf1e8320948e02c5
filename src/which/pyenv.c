/* SPDX-License-Identifier: MIT */
#include "which/pyenv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"

#define CFG_BYTES 65536
#define PTH_BYTES (1u << 20)

bool pyenv_is_python(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    size_t n = !strncmp(name, "python", 6) ? 6 : !strncmp(name, "pypy", 4) ? 4 : 0;

    return n && strspn(name + n, "0123456789.") == strlen(name + n);
}

/* The folder above, in place; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || !path[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Folders of packages
 */

static void add_site(struct pyenv *p, const struct tree *t, const char *folder)
{
    char real[PATH_MAX];

    if (p->n_sites == PYENV_SITES || tree_resolve(t, folder, real) < 0 || !tree_is_dir(t, real))
        return;
    for (size_t i = 0; i < p->n_sites; i++)
        if (!strcmp(p->sites[i], real))
            return;
    strcpy(p->sites[p->n_sites++], real);
}

static void add_site_below(struct pyenv *p, const struct tree *t, const char *prefix, const char *rest)
{
    char folder[PATH_MAX];

    if (tree_join(folder, prefix, rest))
        add_site(p, t, folder);
}

static void see_version(struct pyenv *p, const char *text)
{
    int major, minor;

    if (!p->version[0] && sscanf(text, "%d.%d", &major, &minor) == 2 && major > 0 && major < 100 && minor >= 0 &&
        minor < 1000)
        snprintf(p->version, sizeof(p->version), "%d.%d", major, minor);
}

/* lib/pythonX.Y of a prefix: the folder of the version that is known, else all. */
static void add_sites_of_lib(struct pyenv *p, const struct tree *t, const char *prefix, const char *lib)
{
    char folder[PATH_MAX], rest[NAME_MAX + 64];
    DIR *d = tree_join(folder, prefix, lib) ? tree_open_dir(t, folder) : NULL;
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        const char *version = entry->d_name + 6;

        if (strncmp(entry->d_name, "python", 6) != 0 || (*version && !isdigit((unsigned char)*version)) ||
            strlen(entry->d_name) > 32)
            continue;
        if (p->version[0] && strchr(version, '.') && strcmp(version, p->version) != 0)
            continue;
        snprintf(rest, sizeof(rest), "%s/%s/site-packages", lib, entry->d_name);
        add_site_below(p, t, prefix, rest);
        snprintf(rest, sizeof(rest), "%s/%s/dist-packages", lib, entry->d_name);
        add_site_below(p, t, prefix, rest);
        snprintf(folder, sizeof(folder), "%s/%s", prefix, rest);
        if (tree_is_dir(t, folder))
            see_version(p, version);
    }
    if (d)
        closedir(d);
}

static void add_sites(struct pyenv *p, const struct tree *t, const char *prefix)
{
    if (!strcmp(prefix, "/usr")) { /* where pip installs as root, before the system's own */
        add_sites_of_lib(p, t, prefix, "local/lib");
        add_sites_of_lib(p, t, prefix, "local/lib64");
    }
    add_sites_of_lib(p, t, prefix, "lib");
    add_sites_of_lib(p, t, prefix, "lib64");
}

static void add_list(struct pyenv *p, const struct tree *t, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        char folder[PATH_MAX];

        if (n && n < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)n, list);
            add_site(p, t, folder);
        }
        list += n + (list[n] != '\0');
    }
}

/* A line of a .pth file that is a folder; those that begin with import are code. */
static void add_pth_lines(struct pyenv *p, const struct tree *t, const char *site, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        if (line[0] == '#' || !strncmp(line, "import", 6))
            continue;
        if (line[0] == '/')
            add_site(p, t, line);
        else
            add_site_below(p, t, site, line);
    }
}

static void add_pths(struct pyenv *p, const struct tree *t, const char *site)
{
    DIR *d = tree_open_dir(t, site);
    char file[PATH_MAX];
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        size_t n = strlen(entry->d_name);
        _cleanup_free_ char *text = NULL;

        if (n < 5 || strcmp(entry->d_name + n - 4, ".pth") != 0 || !tree_join(file, site, entry->d_name))
            continue;
        text = tree_read(t, file, PTH_BYTES, NULL);
        if (text)
            add_pth_lines(p, t, site, text);
    }
    if (d)
        closedir(d);
}

/* ------------------------------------------------------------------------------------------------
 * What kind of environment it is
 */

/* Value of a key of pyvenv.cfg: "home = /usr/bin". */
static bool cfg_value(const char *text, const char *key, char *ret, size_t size)
{
    size_t n = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *p = line + strspn(line, " \t");

        if (strncasecmp(p, key, n) != 0)
            continue;
        p += n + strspn(p + n, " \t");
        if (*p++ != '=')
            continue;
        p += strspn(p, " \t");
        snprintf(ret, size, "%.*s", (int)strcspn(p, "\r\n"), p);
        return true;
    }
    return false;
}

/* Its Python: bin/python of the environment; the last link leads to the base's. */
static void find_interpreter(struct pyenv *p, const struct tree *t)
{
    static const char *const names[] = {"bin/python", "bin/python3", "bin/pypy3"};
    char file[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (tree_join(file, p->prefix, names[i]) && tree_is_file(t, file)) {
            tree_resolve(t, file, p->interpreter);
            return;
        }
    if (p->version[0] && snprintf(file, sizeof(file), "%s/bin/python%s", p->prefix, p->version) < (int)sizeof(file) &&
        tree_is_file(t, file))
        tree_resolve(t, file, p->interpreter);
}

static void read_cfg(struct pyenv *p, const struct tree *t, const char *text)
{
    char home[PATH_MAX] = "", value[64] = "";
    bool system;

    p->is_venv = true;
    if (cfg_value(text, "version", value, sizeof(value)) || cfg_value(text, "version_info", value, sizeof(value)))
        see_version(p, value);
    system = cfg_value(text, "include-system-site-packages", value, sizeof(value)) && !strcasecmp(value, "true");
    add_sites(p, t, p->prefix);
    cfg_value(text, "home", home, sizeof(home));
    if (!home[0] || tree_resolve(t, home, p->base) < 0 || !tree_is_dir(t, p->base)) {
        snprintf(p->note, sizeof(p->note), "its base Python is gone: %.200s", home[0] ? home : "pyvenv.cfg names none");
        p->base[0] = '\0';
        return;
    }
    go_up(p->base); /* from .../bin */
    if (system)
        add_sites(p, t, p->base);
}

static void open_prefix(struct pyenv *p, const struct tree *t)
{
    _cleanup_free_ char *cfg = NULL;
    char file[PATH_MAX];

    if (tree_join(file, p->prefix, "pyvenv.cfg"))
        cfg = tree_read(t, file, CFG_BYTES, NULL);
    if (cfg) {
        read_cfg(p, t, cfg);
    } else {
        strcpy(p->base, p->prefix);
        add_sites(p, t, p->prefix);
    }
    p->is_conda = tree_join(file, p->prefix, "conda-meta") && tree_is_dir(t, file);
    if (!p->interpreter[0])
        find_interpreter(p, t);
    if (!p->interpreter[0] && !p->note[0])
        snprintf(p->note, sizeof(p->note), "no Python in its bin folder");
}

static bool is_prefix(const struct tree *t, const char *folder)
{
    char file[PATH_MAX];

    if (tree_join(file, folder, "pyvenv.cfg") && tree_is_file(t, file))
        return true;
    return tree_join(file, folder, "bin") && tree_is_dir(t, file);
}

/* An interpreter's prefix is that of the name by which it is called if there is a pyvenv.cfg, else of its file. */
static void prefix_of_interpreter(struct pyenv *p, const struct tree *t, const char *name)
{
    char file[PATH_MAX];

    tree_resolve(t, name, p->interpreter);
    if (tree_resolve_parent(t, name, p->prefix) == 0 && go_up(p->prefix) && go_up(p->prefix) &&
        tree_join(file, p->prefix, "pyvenv.cfg") && tree_is_file(t, file))
        return;
    strcpy(p->prefix, p->interpreter);
    go_up(p->prefix);
    go_up(p->prefix);
    if (pyenv_is_python(p->interpreter))
        see_version(p, strrchr(p->interpreter, '/') + strlen("/python"));
}

static int find_prefix(struct pyenv *p, const struct tree *t, const char *name, struct spur_error *e)
{
    char real[PATH_MAX];
    int r = tree_resolve(t, name, real);

    if (r < 0)
        return error_errno(e, -r, "open", "%s%s", t->root, name);
    if (tree_is_file(t, real)) {
        if (!pyenv_is_python(name) && !pyenv_is_python(real)) {
            error_spur(e, SPUR_CODE_USAGE, "python", "%s%s: no Python by its name", t->root, name);
            error_remedy(e, "for another program: --command");
            return -EINVAL;
        }
        prefix_of_interpreter(p, t, name);
        return 0;
    }
    strcpy(p->prefix, real);
    return 0;
}

int pyenv_open(struct pyenv *p, const struct tree *t, const char *name, const struct pyenv_world *w,
               struct spur_error *e)
{
    char user[PATH_MAX];
    int r;

    memset(p, 0, sizeof(*p));
    r = find_prefix(p, t, name, e);
    if (r < 0)
        return r;
    add_list(p, t, w->python_path);
    if (p->interpreter[0] || is_prefix(t, p->prefix)) {
        open_prefix(p, t);
    } else {
        add_site(p, t, p->prefix); /* a folder of packages: pip install --target */
        snprintf(p->note, sizeof(p->note), "a folder of packages: which Python will use it is not known");
    }
    if (!p->is_venv && w->home && w->home[0] && tree_join(user, w->home, ".local"))
        add_sites(p, t, user);
    for (size_t i = 0; i < p->n_sites; i++)
        add_pths(p, t, p->sites[i]);
    for (size_t i = 0; !r && i < p->n_sites; i++)
        r = dists_read_site(&p->dists, t, p->sites[i]);
    if (!r && p->is_conda)
        r = dists_read_conda(&p->dists, t, p->prefix);
    return r < 0 ? error_errno(e, -r, "read", "packages of %s", name) : 0;
}

void pyenv_close(struct pyenv *p)
{
    dists_free(&p->dists);
    p->n_sites = 0;
}
