/* SPDX-License-Identifier: MIT */
#include "probe/mount.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "probe/read.h"

#define MOUNTINFO "/proc/self/mountinfo"

void mount_unescape(char *s)
{
    char *out = s;

    for (; *s; s++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
            *out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
            s += 3;
        } else {
            *out++ = *s;
        }
    }
    *out = 0;
}

static char *take_field(char **at)
{
    char *field = strsep(at, " ");

    return field && *field ? field : NULL;
}

/* proc_pid_mountinfo(5): id parent major:minor root point options [tag[:value]...] - type source super_options */
static bool parse_line(char *at, struct mount_line *l)
{
    char *device, *tag;
    int end = 0;

    if (!take_field(&at) || !take_field(&at) || !(device = take_field(&at)))
        return false;
    if (sscanf(device, "%u:%u%n", &l->major, &l->minor, &end) != 2 || device[end])
        return false;
    l->root = take_field(&at);
    l->mount_point = take_field(&at);
    l->options = take_field(&at);
    do {
        tag = take_field(&at);
        if (!tag)
            return false;
    } while (strcmp(tag, "-"));
    l->fs_type = take_field(&at);
    l->source = strsep(&at, " "); /* a source may be empty */
    l->super_options = take_field(&at);
    if (!l->root || !l->mount_point || !l->options || !l->fs_type || !l->source || !l->super_options)
        return false;
    mount_unescape(l->root);
    mount_unescape(l->mount_point);
    mount_unescape(l->source);
    return true;
}

int mount_walk(const struct probe *p, mount_visit_fn visit, void *context, char *reason)
{
    char *text = read_text(p, MOUNTINFO, reason), *at = text, *line;
    struct mount_line parsed;
    unsigned n = 0;
    int r = -ENOENT;

    if (!text)
        return -EIO;
    while (r == -ENOENT && (line = strsep(&at, "\n"))) {
        n++;
        if (!*line)
            continue;
        if (!parse_line(line, &parsed)) {
            reason_set(reason, MOUNTINFO ": line %u is malformed", n);
            r = -EINVAL;
        } else if (visit(context, &parsed)) {
            r = 0;
        }
    }
    free(text);
    return r;
}

/* Which mount is looked for, and the best so far. */
struct search {
    const char *name; /* NULL: any */
    bool has_dev;     /* major and minor must agree */
    unsigned major, minor;
    size_t best; /* length of the best mount point + 1 */
    struct probe_mount *found;
    bool too_long;
};

static bool is_prefix(const char *point, const char *name)
{
    size_t n = strlen(point);

    if (n == 1 && point[0] == '/')
        return name[0] == '/';
    return !strncmp(point, name, n) && (name[n] == 0 || name[n] == '/');
}

static bool copy(char *ret, size_t size, const char *from)
{
    return (size_t)snprintf(ret, size, "%s", from) < size;
}

static bool search_visit(void *context, const struct mount_line *l)
{
    struct search *s = context;
    struct probe_mount *m = s->found;

    if (s->has_dev && (l->major != s->major || l->minor != s->minor))
        return false;
    if (s->name && (!is_prefix(l->mount_point, s->name) || strlen(l->mount_point) + 1 < s->best))
        return false;
    s->best = strlen(l->mount_point) + 1;
    m->major = l->major;
    m->minor = l->minor;
    s->too_long = !copy(m->mount_point, sizeof(m->mount_point), l->mount_point) ||
                  !copy(m->fs_type, sizeof(m->fs_type), l->fs_type) || !copy(m->source, sizeof(m->source), l->source) ||
                  !copy(m->options, sizeof(m->options), l->options) ||
                  !copy(m->super_options, sizeof(m->super_options), l->super_options);
    return false;
}

/* False if the table itself could not be read. */
static bool search_run(const struct probe *p, struct search *s)
{
    struct probe_mount *m = s->found;
    int r;

    memset(m, 0, sizeof(*m));
    r = mount_walk(p, search_visit, s, m->reason);
    if (r != -ENOENT)
        return false;
    m->known = s->best > 0 && !s->too_long;
    if (s->too_long)
        reason_set(m->reason, MOUNTINFO ": a field of %.100s is over 4096 bytes", m->mount_point);
    else if (!s->best && s->name)
        reason_set(m->reason, MOUNTINFO ": no mount holds %.100s", s->name);
    else if (!s->best)
        reason_set(m->reason, MOUNTINFO ": no mount of device %u:%u", s->major, s->minor);
    return true;
}

void mount_find_device(const struct probe *p, dev_t dev, struct probe_mount *ret)
{
    struct search s = {.has_dev = true, .major = major(dev), .minor = minor(dev), .found = ret};

    search_run(p, &s);
}

void mount_find_name(const struct probe *p, const char *absolute, struct probe_mount *ret)
{
    struct search s = {.name = absolute, .found = ret};

    search_run(p, &s);
}

bool mount_has_option(const char *options, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = options; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, n) && (at[n] == 0 || at[n] == ','))
            return true;
    }
    return false;
}

/*
 * Files of btrfs subvolumes and of overlays carry device numbers that mountinfo does not show: then the mount that
 * holds the name is taken, if it too has an anonymous device (major 0).
 */
void mount_find(const struct probe *p, const char *name, dev_t dev, struct probe_mount *ret)
{
    struct search s = {.name = name, .has_dev = true, .major = major(dev), .minor = minor(dev), .found = ret};

    if (!search_run(p, &s) || s.best)
        return;
    if (major(dev) == 0) {
        mount_find_name(p, name, ret);
        if (ret->known && ret->major == 0)
            return;
    }
    ret->known = false;
    reason_set(ret->reason, MOUNTINFO ": no mount of device %u:%u holds %.80s", major(dev), minor(dev), name);
}

void probe_mount_find(const struct probe *p, const char *filename, dev_t dev, struct probe_mount *ret)
{
    char *real = p->root[0] ? strdup(filename) : realpath(filename, NULL);

    if (!real) {
        memset(ret, 0, sizeof(*ret));
        reason_set(ret->reason, "%.100s: %s", filename, strerrordesc_np(errno));
        return;
    }
    mount_find(p, real, dev, ret);
    free(real);
}
