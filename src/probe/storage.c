/* SPDX-License-Identifier: MIT */
#include "probe/storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "probe/mount.h"
#include "probe/read.h"

const char *storage_source_name(enum storage_source source)
{
    static const char *const names[] = {NULL, "block", "nfs", "simfs"};

    return names[source];
}

/* ------------------------------------------------------------------------------------------------
 * What counts
 */

static struct storage_item *find(struct storage *s, enum storage_source source, const char *name)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->items[i].source == source && !strcmp(s->items[i].name, name))
            return &s->items[i];
    return NULL;
}

static void append(struct storage *s, struct storage_item item)
{
    if (s->n < STORAGE_MAX && item.name) {
        s->items[s->n++] = item;
        return;
    }
    s->full = true;
    free(item.name);
    free(item.host);
}

static void add_nothing(struct storage *s, const char *name, const char *reason)
{
    struct storage_item item = {.source = STORAGE_NONE};

    if (find(s, STORAGE_NONE, name))
        return;
    item.name = strdup(name);
    reason_set(item.reason, "%s", reason);
    append(s, item);
}

/* What a loop asks its file for is answered by the page cache too: the disk below sees the rest. */
static void note_loop(const struct probe *p, const char *top, struct storage *s)
{
    char path[96], name[4096], reason[PROBE_REASON];

    snprintf(path, sizeof(path), "/sys/block/%.31s/loop/backing_file", top);
    if (!strncmp(top, "loop", 4) && !s->loop_file && read_line(p, path, name, sizeof(name), reason) == 0)
        s->loop_file = strdup(name);
}

static void add_disks(const struct probe *p, const char *filename, dev_t dev, struct storage *s)
{
    struct probe_block block;

    probe_block_find(p, dev, &block);
    if (!block.known || !block.iostats)
        add_nothing(s, filename, block.reason);
    if (block.known)
        note_loop(p, block.top, s);
    for (unsigned i = 0; block.known && block.iostats && i < block.n_leaves; i++)
        if (!find(s, STORAGE_BLOCK, block.leaves[i]))
            append(s, (struct storage_item){.source = STORAGE_BLOCK, .name = strdup(block.leaves[i])});
}

/* Mounts of one device are one superblock: whatever their points, they have the same counters. */
static void add_mount(struct storage *s, enum storage_source source, const struct probe_mount *m)
{
    struct storage_item item = {.source = source, .device = makedev(m->major, m->minor)};

    for (unsigned i = 0; i < s->n; i++)
        if (s->items[i].source == source && s->items[i].device == item.device) {
            s->shared |= strcmp(s->items[i].name, m->mount_point) != 0;
            return;
        }
    item.name = strdup(m->mount_point);
    item.host = source == STORAGE_NFS ? strndup(m->source, strcspn(m->source, "/")) : NULL;
    append(s, item);
}

/* Another FUSE file system is asked once, outside of any window, and then left alone. */
static void add_fuse(const struct probe *p, const struct probe_mount *m, struct storage *s)
{
    char reason[PROBE_REASON];
    struct probe_simfs c;

    probe_simfs_read(p, m->mount_point, &c);
    if (c.known) {
        add_mount(s, STORAGE_SIMFS, m);
        return;
    }
    reason_set(reason, "FUSE at %.40s counts nothing for spur: %.90s", m->mount_point, c.reason);
    add_nothing(s, m->mount_point, reason);
}

static bool is_nfs(const char *type)
{
    return !strcmp(type, "nfs") || !strcmp(type, "nfs4");
}

/* "fuse", "fuse.simfs", "fuseblk", "fuseblk.simfs"; fusectl is none. */
static bool is_fuse(const char *type)
{
    return !strcmp(type, "fuse") || !strncmp(type, "fuse.", 5) || !strncmp(type, "fuseblk", 7);
}

void storage_add(const struct probe *p, const char *filename, dev_t dev, struct storage *s)
{
    struct probe_mount *m = malloc(sizeof(*m));

    if (!m) {
        s->full = true;
        return;
    }
    probe_mount_find(p, filename, dev, m);
    if (m->known && is_nfs(m->fs_type))
        add_mount(s, STORAGE_NFS, m);
    else if (m->known && is_fuse(m->fs_type))
        add_fuse(p, m, s);
    else
        add_disks(p, filename, dev, s); /* a device node has no mount */
    free(m);
}

void storage_free(struct storage *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        free(s->items[i].name);
        free(s->items[i].host);
    }
    free(s->loop_file);
    *s = (struct storage){.n = 0};
}

/* ------------------------------------------------------------------------------------------------
 * Readings
 */

static uint64_t clock_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static const char *read_source(const struct probe *p, const struct storage_item *item, struct storage_counters *c)
{
    switch (item->source) {
    case STORAGE_BLOCK:
        probe_disk_read(p, item->name, &c->disk);
        return c->disk.known ? NULL : c->disk.reason;
    case STORAGE_NFS:
        probe_nfs_read(p, item->name, &c->nfs);
        return c->nfs.known ? NULL : c->nfs.reason;
    case STORAGE_SIMFS:
        probe_simfs_read(p, item->name, &c->simfs);
        return c->simfs.known ? NULL : c->simfs.reason;
    default:
        return item->reason;
    }
}

void storage_read(const struct probe *p, const struct storage_item *item, struct storage_counters *ret)
{
    uint64_t before = clock_ns();
    char reason[PROBE_REASON];
    const char *why;

    memset(ret, 0, sizeof(*ret));
    why = read_source(p, item, ret);
    ret->t_ns = before + (clock_ns() - before) / 2;
    ret->known = !why;
    if (!why)
        return;
    reason_set(reason, "%s", why);
    memcpy(ret->reason, reason, sizeof(reason));
}

/* ------------------------------------------------------------------------------------------------
 * In flight now
 */

static uint64_t repeated(const struct probe_nfs_mount *m)
{
    uint64_t n = 0;

    for (int i = 0; i < N_NFS_OPS; i++)
        n += m->op[i].transmissions - m->op[i].ops;
    return n;
}

void storage_idle_read(const struct probe *p, const struct storage *s, struct storage_idle *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (unsigned i = 0; i < s->n; i++) {
        struct probe_nfs_mount m;

        if (s->items[i].source != STORAGE_NFS)
            continue;
        probe_nfs_read(p, s->items[i].name, &m);
        ret->unanswered[i] = m.known ? m.transports.sends - m.transports.receives : 0;
        ret->repeated[i] = m.known ? repeated(&m) : 0;
    }
}

/* Mounts of one server share its transports: they are counted once. */
static bool is_counted_already(const struct storage *s, unsigned which)
{
    for (unsigned i = 0; i < which; i++)
        if (s->items[i].source == STORAGE_NFS && s->items[i].host && s->items[which].host &&
            !strcmp(s->items[i].host, s->items[which].host))
            return true;
    return false;
}

/* What was sent again is sent twice and received once: the difference then says nothing. */
static bool nfs_in_flight(const struct probe *p, const struct storage *s, const struct storage_idle *idle, unsigned i,
                          uint64_t *sum, char *reason)
{
    struct probe_nfs_mount m;
    uint64_t n;

    if (is_counted_already(s, i))
        return true;
    probe_nfs_read(p, s->items[i].name, &m);
    if (!m.known) {
        reason_set(reason, "%s", m.reason);
        return false;
    }
    n = m.transports.sends - m.transports.receives - (idle ? idle->unanswered[i] : 0);
    if (!m.transports.n || !m.transports.known || (idle && repeated(&m) != idle->repeated[i]) || n > INT32_MAX) {
        reason_set(reason, "%.60s: %s", s->items[i].name,
                   !m.transports.n || !m.transports.known ? "its transports are not of a known kind"
                                                          : "requests were sent again, so sends less receives says "
                                                            "nothing");
        return false;
    }
    *sum += n;
    return true;
}

/* The kernel's own count where it may be read, else the server's. */
static bool simfs_in_flight(const struct probe *p, const struct storage_item *item, uint64_t *sum, char *reason)
{
    char unreadable[PROBE_REASON];
    struct probe_simfs c;
    uint64_t n;

    if (probe_fuse_waiting(p, item->device, &n, unreadable) == 0) {
        *sum += n;
        return true;
    }
    probe_simfs_read(p, item->name, &c);
    *sum += c.in_flight;
    if (!c.known)
        reason_set(reason, "%s", c.reason);
    return c.known;
}

static bool disk_in_flight(const struct probe *p, const struct storage_item *item, uint64_t *sum, char *reason)
{
    struct probe_disk d;

    probe_disk_read(p, item->name, &d);
    *sum += d.in_flight;
    if (!d.known)
        reason_set(reason, "%s", d.reason);
    return d.known;
}

bool storage_in_flight(const struct probe *p, const struct storage *s, const struct storage_idle *idle, uint64_t *ret,
                       char *reason)
{
    uint64_t sum = 0;
    bool good = s->n > 0 && !s->full;

    if (!good)
        reason_set(reason, "not everything that counts requests to these files is known");
    for (unsigned i = 0; good && i < s->n; i++) {
        const struct storage_item *item = &s->items[i];

        if (item->source == STORAGE_BLOCK)
            good = disk_in_flight(p, item, &sum, reason);
        else if (item->source == STORAGE_NFS)
            good = nfs_in_flight(p, s, idle, i, &sum, reason);
        else if (item->source == STORAGE_SIMFS)
            good = simfs_in_flight(p, item, &sum, reason);
        else
            good = false, reason_set(reason, "%s", item->reason);
    }
    *ret = good ? sum : 0;
    return good;
}
