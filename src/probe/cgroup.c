/* SPDX-License-Identifier: MIT */
#include "probe/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/mount.h"
#include "probe/read.h"

#define SELF        "/proc/self/cgroup"
#define V1_NO_LIMIT (1ull << 62) /* version 1 writes LONG_MAX rounded down to pages */

/* Where one controller's files are: a folder per group, from the mount point down. */
struct place {
    bool known;
    bool v2;
    char path[1024];       /* in /proc/self/cgroup */
    char point[PATH_MAX];  /* mount point */
    char folder[PATH_MAX]; /* of this process's group, below the probe's root */
    char reason[PROBE_REASON];
};

/* Path of the line whose controllers hold the word; "" is version 2's line. */
static bool find_path(char *text, const char *controller, char *ret, size_t size)
{
    char *line, *controllers;

    while ((line = strsep(&text, "\n"))) {
        if (!strsep(&line, ":") || !(controllers = strsep(&line, ":")) || !line || *line != '/')
            continue;
        if (*controller ? mount_has_option(controllers, controller) : !*controllers)
            return snprintf(ret, size, "%s", line) < (int)size;
    }
    return false;
}

static bool self_path(const struct probe *p, const char *controller, struct place *ret)
{
    char *text = read_text(p, SELF, ret->reason);
    bool found;

    if (!text)
        return false;
    found = find_path(text, controller, ret->path, sizeof(ret->path));
    free(text);
    if (!found)
        reason_set(ret->reason, SELF ": no line for %s", *controller ? controller : "version 2");
    return found;
}

struct hierarchy {
    const char *controller; /* "": version 2 */
    struct place *place;
};

/* The folder is point + path, less the mount's root, which a bind mount into a container has. */
static bool hierarchy_visit(void *context, const struct mount_line *l)
{
    struct hierarchy *h = context;
    struct place *pl = h->place;
    const char *below = pl->path;
    size_t n = strcmp(l->root, "/") ? strlen(l->root) : 0;

    if (strcmp(l->fs_type, *h->controller ? "cgroup" : "cgroup2"))
        return false;
    if (*h->controller && !mount_has_option(l->super_options, h->controller))
        return false;
    if (strncmp(below, l->root, n) || (below[n] != 0 && below[n] != '/'))
        return false;
    below += n;
    below += !strcmp(below, "/");
    return snprintf(pl->point, sizeof(pl->point), "%s", l->mount_point) < (int)sizeof(pl->point) &&
           snprintf(pl->folder, sizeof(pl->folder), "%s%s", l->mount_point, below) < (int)sizeof(pl->folder);
}

static void find_place(const struct probe *p, const char *controller, struct place *ret)
{
    struct hierarchy h = {.controller = controller, .place = ret};
    char reason[PROBE_REASON];
    int r;

    memset(ret, 0, sizeof(*ret));
    ret->v2 = !*controller;
    if (!self_path(p, controller, ret))
        return;
    r = mount_walk(p, hierarchy_visit, &h, reason);
    ret->known = r == 0;
    if (r == -ENOENT)
        reason_set(ret->reason, "no cgroup mount holds %.80s of %s", ret->path, SELF);
    else if (r < 0)
        memcpy(ret->reason, reason, sizeof(reason));
}

/* A controller that version 1 has mounted is there and not in version 2. */
static void find_controller(const struct probe *p, const char *controller, struct place *ret)
{
    find_place(p, controller, ret);
    if (!ret->known)
        find_place(p, "", ret);
}

/* File @name of a group's folder. A controller's files are missing in the root group: no limit there. */
static int read_file_line(const struct probe *p, const char *folder, const char *name, char *line, size_t size,
                          char *reason)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return read_line(p, path, line, size, reason);
}

static void number_fail(struct cgroup_number *n, const char *folder, const char *name, const char *line)
{
    n->known = false;
    reason_set(n->reason, "%.80s/%s: malformed: '%.40s'", folder, name, line);
}

/* One group's quota. 1: there is one, 0: no limit, or no such file; -1: malformed. */
static int read_quota_v2(const struct probe *p, const char *folder, uint64_t *quota, uint64_t *period,
                         struct cgroup_number *n)
{
    char line[64];
    const char *at = line;

    if (read_file_line(p, folder, "cpu.max", line, sizeof(line), n->reason) < 0)
        return 0;
    n->known = true;
    if (!strncmp(line, "max ", 4))
        return 0;
    if (parse_u64(&at, quota) && parse_u64(&at, period) && !*at && *period)
        return 1;
    number_fail(n, folder, "cpu.max", line);
    return -1;
}

static int read_quota_v1(const struct probe *p, const char *folder, uint64_t *quota, uint64_t *period,
                         struct cgroup_number *n)
{
    char line[64], period_line[64];
    const char *at = line, *period_at = period_line;

    if (read_file_line(p, folder, "cpu.cfs_quota_us", line, sizeof(line), n->reason) < 0 ||
        read_file_line(p, folder, "cpu.cfs_period_us", period_line, sizeof(period_line), n->reason) < 0)
        return 0;
    n->known = true;
    if (!strcmp(line, "-1"))
        return 0;
    if (parse_u64(&at, quota) && !*at && parse_u64(&period_at, period) && !*period_at && *period)
        return 1;
    number_fail(n, folder, "cpu.cfs_quota_us", line);
    return -1;
}

/* Cuts the last name off; false at the mount point. */
static bool go_up(const struct place *pl, char *folder)
{
    if (strlen(folder) <= strlen(pl->point))
        return false;
    *strrchr(folder, '/') = 0;
    return true;
}

/* @tightest becomes the folder whose quota binds; the group's own if none does. */
static void read_quota(const struct probe *p, const struct place *pl, struct cgroup *ret, char *tightest)
{
    char folder[PATH_MAX];
    uint64_t quota, period;
    int r;

    strcpy(folder, pl->folder);
    strcpy(tightest, pl->folder);
    ret->quota_us.unlimited = true;
    do {
        r = (pl->v2 ? read_quota_v2 : read_quota_v1)(p, folder, &quota, &period, &ret->quota_us);
        if (r > 0 && (ret->quota_us.unlimited ||
                      (double)quota / (double)period < (double)ret->quota_us.value / (double)ret->period_us)) {
            ret->quota_us.unlimited = false;
            ret->quota_us.value = quota;
            ret->period_us = period;
            strcpy(tightest, folder);
        }
    } while (r >= 0 && go_up(pl, folder));
}

static void take_stat(const char *text, const char *path, const char *key, uint64_t divisor, struct cgroup_number *ret)
{
    ret->known = parse_key_u64(text, key, ' ', &ret->value);
    ret->value /= divisor;
    if (!ret->known)
        reason_set(ret->reason, "%.100s: no %s", path, key);
}

static void read_stat(const struct probe *p, bool v2, const char *folder, struct cgroup *ret)
{
    char path[PATH_MAX + 64], *text;

    snprintf(path, sizeof(path), "%s/cpu.stat", folder);
    text = read_text(p, path, ret->nr_periods.reason);
    if (!text) {
        memcpy(ret->nr_throttled.reason, ret->nr_periods.reason, PROBE_REASON);
        memcpy(ret->throttled_us.reason, ret->nr_periods.reason, PROBE_REASON);
        return;
    }
    take_stat(text, path, "nr_periods", 1, &ret->nr_periods);
    take_stat(text, path, "nr_throttled", 1, &ret->nr_throttled);
    take_stat(text, path, v2 ? "throttled_usec" : "throttled_time", v2 ? 1 : 1000, &ret->throttled_us);
    free(text);
}

static void read_memory(const struct probe *p, struct cgroup_number *ret)
{
    struct place *pl = malloc(sizeof(*pl));
    char folder[PATH_MAX], line[64];
    const char *name, *at;
    uint64_t v;

    if (!pl) {
        reason_set(ret->reason, "out of memory");
        return;
    }
    find_controller(p, "memory", pl);
    name = pl->v2 ? "memory.max" : "memory.limit_in_bytes";
    ret->unlimited = true;
    strcpy(folder, pl->folder);
    memcpy(ret->reason, pl->reason, sizeof(pl->reason));
    do {
        if (!pl->known || read_file_line(p, folder, name, line, sizeof(line), ret->reason) < 0)
            continue;
        ret->known = true;
        at = line;
        if (!strcmp(line, "max"))
            continue;
        if (!parse_u64(&at, &v) || *at) {
            number_fail(ret, folder, name, line);
            break;
        }
        if (v < V1_NO_LIMIT && (ret->unlimited || v < ret->value)) {
            ret->unlimited = false;
            ret->value = v;
        }
    } while (pl->known && go_up(pl, folder));
    free(pl);
}

void cgroup_read(const struct probe *p, struct cgroup *ret)
{
    struct place *pl = malloc(sizeof(*pl));
    char tightest[PATH_MAX];

    memset(ret, 0, sizeof(*ret));
    if (!pl) {
        reason_set(ret->reason, "out of memory");
        return;
    }
    find_controller(p, "cpu", pl);
    if (pl->known) {
        ret->version = pl->v2 ? 2 : 1;
        strcpy(ret->path, pl->path);
        read_quota(p, pl, ret, tightest);
        read_stat(p, pl->v2, tightest, ret);
        read_memory(p, &ret->memory_max);
    } else {
        memcpy(ret->reason, pl->reason, sizeof(pl->reason));
    }
    free(pl);
}

static bool take(const struct cgroup_number *n, uint64_t *ret, char *reason)
{
    *ret = n->value;
    if (!n->known)
        memcpy(reason, n->reason, sizeof(n->reason));
    return n->known;
}

void probe_throttle_read(const struct probe *p, struct probe_throttle *ret)
{
    struct cgroup g;

    memset(ret, 0, sizeof(*ret));
    cgroup_read(p, &g);
    if (!g.version)
        memcpy(ret->reason, g.reason, sizeof(ret->reason));
    else if (g.quota_us.unlimited)
        reason_set(ret->reason, "no CPU limit binds this process");
    else
        ret->known = take(&g.nr_periods, &ret->periods, ret->reason) &&
                     take(&g.nr_throttled, &ret->throttled_periods, ret->reason) &&
                     take(&g.throttled_us, &ret->throttled_us, ret->reason);
}
