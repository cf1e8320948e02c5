/* SPDX-License-Identifier: MIT */
/*
 * From a device number down to whole disks. A device's folder in /sys holds `partition` if it is one (its disk is the
 * folder above), `slaves/` with links to what lies under dm and md, `loop/backing_file` if it is a bound loop.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "probe/mount.h"
#include "probe/read.h"

#define MOST_LEVELS 16 /* of stacking: more is taken for a circle */

struct walk {
    const struct probe *p;
    struct probe_block *block;
    unsigned level;
};

static bool walk_device(struct walk *w, dev_t dev);
static bool walk_folder(struct walk *w, const char *folder);

static bool fail(struct walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct walk *w, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(w->block->reason, PROBE_REASON, format, ap);
    va_end(ap);
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) && access(path, F_OK) == 0;
}

static bool add_leaf(struct walk *w, const char *name)
{
    struct probe_block *b = w->block;

    for (unsigned i = 0; i < b->n_leaves; i++)
        if (!strcmp(b->leaves[i], name))
            return true;
    if (b->n_leaves == PROBE_MAX_LEAVES)
        return fail(w, "%s: over %u disks", b->top, PROBE_MAX_LEAVES);
    if (strlen(name) >= sizeof(b->leaves[0]))
        return fail(w, "%.64s: name too long", name);
    strcpy(b->leaves[b->n_leaves++], name);
    return true;
}

/* Device that holds a file named by the kernel. Below a moved root the mount table has to say. */
static bool device_of_name(struct walk *w, const char *name, dev_t *ret)
{
    struct probe_mount *m;
    struct stat st;
    bool known;

    if (!w->p->root[0]) {
        if (stat(name, &st) < 0)
            return fail(w, "%.90s: %s", name, strerrordesc_np(errno));
        *ret = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
        return true;
    }
    m = malloc(sizeof(*m));
    if (!m)
        return fail(w, "%.90s: out of memory", name);
    mount_find_name(w->p, name, m);
    known = m->known;
    if (known)
        *ret = makedev(m->major, m->minor);
    else
        fail(w, "%s", m->reason);
    free(m);
    return known;
}

/* Its file's own device; what a loop does itself shows there too. */
static bool walk_loop(struct walk *w, const char *folder)
{
    char name[PATH_MAX], path[PATH_MAX];
    dev_t dev;

    if (snprintf(path, sizeof(path), "%s/loop/backing_file", folder + strlen(w->p->root)) >= (int)sizeof(path))
        return fail(w, "%.90s: name too long", folder);
    if (read_line(w->p, path, name, sizeof(name), w->block->reason) < 0)
        return false;
    return device_of_name(w, name, &dev) && walk_device(w, dev);
}

/* A link that leads out of a moved root leads to another machine. */
static bool is_inside(const struct walk *w, const char *path)
{
    size_t n = strlen(w->p->root);

    return !strncmp(path, w->p->root, n) && path[n] == '/';
}

/* Folder that a link below @folder leads to. */
static bool follow(struct walk *w, const char *folder, const char *name, char *ret)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) || !realpath(path, ret) ||
        !is_inside(w, ret))
        return fail(w, "%.70s/%.40s: %s", folder + strlen(w->p->root), name, strerrordesc_np(errno));
    return true;
}

/* Number of devices below this one, or -1 with the reason. */
static int walk_slaves(struct walk *w, const char *folder)
{
    char slaves[PATH_MAX], below[PATH_MAX];
    struct dirent *entry;
    DIR *dir = NULL;
    bool good = true;
    int n = 0;

    if (snprintf(slaves, sizeof(slaves), "%s/slaves", folder) < (int)sizeof(slaves))
        dir = opendir(slaves);
    if (!dir)
        return errno == ENOENT ? 0
                               : (fail(w, "%.90s/slaves: %s", folder + strlen(w->p->root), strerrordesc_np(errno)), -1);
    while (good && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        n++;
        good = follow(w, slaves, entry->d_name, below) && walk_folder(w, below);
    }
    closedir(dir);
    return good ? n : -1;
}

static bool walk_disk(struct walk *w, const char *folder)
{
    int n = walk_slaves(w, folder);

    if (n != 0)
        return n > 0;
    if (exists(folder, "loop"))
        return walk_loop(w, folder);
    if (!strncmp(base_name(folder), "loop", 4))
        return fail(w, "%s: no file is bound to it", base_name(folder));
    return add_leaf(w, base_name(folder));
}

static bool walk_folder(struct walk *w, const char *folder)
{
    char disk[PATH_MAX];
    bool good;

    if (++w->level > MOST_LEVELS)
        return fail(w, "%s: stacked over %u levels", base_name(folder), MOST_LEVELS);
    snprintf(disk, sizeof(disk), "%s", folder);
    if (exists(folder, "partition"))
        *strrchr(disk, '/') = 0;
    good = walk_disk(w, disk);
    w->level--;
    return good;
}

/* The value of a mount option; false if it is not there, empty or too long. */
static bool take_value(const char *options, const char *key, char *ret)
{
    size_t n = strlen(key), length;

    for (const char *at = options; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, n) || at[n] != '=')
            continue;
        at += n + 1;
        length = strcspn(at, ",");
        if (!length || length >= PATH_MAX)
            return false;
        memcpy(ret, at, length);
        ret[length] = 0;
        mount_unescape(ret);
        return true;
    }
    return false;
}

/*
 * Overlay: files that were written lie in the upper folder. Those of lower folders may lie on other devices; which one
 * holds a file cannot be seen from outside, so every lower folder must be on the upper's device. A list with escaped
 * colons is not taken apart.
 */
static bool overlay_lowers_agree(struct walk *w, const char *options, dev_t upper)
{
    char list[PATH_MAX], *at = list, *name;
    dev_t dev;

    if (!take_value(options, "lowerdir", list) || strstr(options, "lowerdir+=") || strstr(options, "datadir+="))
        return fail(w, "overlay: its lower folders are not listed as lowerdir=");
    while ((name = strsep(&at, ":"))) {
        if (!*name)
            continue;
        if (!device_of_name(w, name, &dev))
            return false;
        if (dev != upper)
            return fail(w, "overlay: lower folder %.80s is on another device than the upper", name);
    }
    return true;
}

static bool walk_overlay(struct walk *w, const struct probe_mount *m)
{
    char upper[PATH_MAX];
    dev_t dev;

    if (!take_value(m->super_options, "upperdir", upper))
        return fail(w, "overlay at %.90s: no upperdir, it is read-only", m->mount_point);
    if (!device_of_name(w, upper, &dev))
        return false;
    if (dev == makedev(m->major, m->minor)) /* a container sees itself alone */
        return fail(w, "overlay at %.40s: its upper folder %.90s cannot be seen from here", m->mount_point, upper);
    if (!overlay_lowers_agree(w, m->super_options, dev))
        return false;
    return walk_device(w, dev);
}

static bool walk_anonymous(struct walk *w, dev_t dev)
{
    struct probe_mount *m = malloc(sizeof(*m));
    bool good;

    if (!m)
        return fail(w, "0:%u: out of memory", minor(dev));
    mount_find_device(w->p, dev, m);
    if (!m->known)
        good = fail(w, "%.100s (btrfs subvolumes are so)", m->reason);
    else if (!strcmp(m->fs_type, "overlay"))
        good = walk_overlay(w, m);
    else
        good = fail(w, "%s at %.80s has no block device of its own", m->fs_type, m->mount_point);
    free(m);
    return good;
}

static bool walk_device(struct walk *w, dev_t dev)
{
    char path[PATH_MAX], folder[PATH_MAX];
    bool good;

    if (++w->level > MOST_LEVELS)
        return fail(w, "%u:%u: stacked over %u levels", major(dev), minor(dev), MOST_LEVELS);
    if (major(dev) == 0) {
        good = walk_anonymous(w, dev);
    } else if (!read_path(w->p, path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev)) ||
               !realpath(path, folder) || !is_inside(w, folder)) {
        good = fail(w, "/sys/dev/block/%u:%u: %s", major(dev), minor(dev), strerrordesc_np(errno));
    } else {
        if (!w->block->top[0])
            snprintf(w->block->top, sizeof(w->block->top), "%.31s", base_name(folder));
        good = walk_folder(w, folder);
    }
    w->level--;
    return good;
}

static bool all_count(struct walk *w)
{
    struct probe_block *b = w->block;
    uint64_t on;
    char path[96];

    for (unsigned i = 0; i < b->n_leaves; i++) {
        snprintf(path, sizeof(path), "/sys/block/%s/queue/iostats", b->leaves[i]);
        if (read_u64(w->p, path, &on, b->reason) < 0)
            return false;
        if (!on)
            return fail(w, "%s is 0", path);
    }
    return true;
}

void probe_block_find(const struct probe *p, dev_t dev, struct probe_block *ret)
{
    char root[PATH_MAX];
    struct probe real = *p;
    struct walk w = {.p = &real, .block = ret};

    memset(ret, 0, sizeof(*ret));
    if (p->root[0]) { /* realpath below must begin with the root */
        if (!realpath(p->root, root) || strlen(root) >= sizeof(real.root)) {
            reason_set(ret->reason, "%.100s: no such root", p->root);
            return;
        }
        strcpy(real.root, root);
    }
    ret->known = walk_device(&w, dev);
    if (!ret->known) {
        ret->n_leaves = 0;
        return;
    }
    ret->iostats = all_count(&w);
}
