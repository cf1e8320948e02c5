/* SPDX-License-Identifier: MIT */
#include "probe/nfs.h"

#include <stdlib.h>
#include <string.h>

#include "probe/mount.h"
#include "probe/read.h"

#define MOUNTSTATS "/proc/self/mountstats"
#define MAX_FIELDS 32

struct parse {
    struct probe_nfs_mount *mount;
    const char *point;
    unsigned line;
    bool inside; /* the lines are those of the mount that is looked for */
    bool in_ops; /* below "per-op statistics" */
    bool has_bytes, has_op[N_NFS_OPS];
    bool bad;
};

static void malformed(struct parse *s, const char *what)
{
    reason_set(s->mount->reason, MOUNTSTATS ": line %u: %s", s->line, what);
    s->bad = true;
}

/* Numbers up to the end of a line; -1 if there is something else. Idle times may be negative: they are not used. */
static int numbers(const char *at, uint64_t *ret, int most)
{
    int n = 0;

    while (n < most && at[strspn(at, " \t")]) {
        at += strspn(at, " \t");
        at += *at == '-';
        if (!parse_u64(&at, &ret[n++]) || (*at && *at != ' ' && *at != '\t'))
            return -1;
    }
    return n;
}

/* ------------------------------------------------------------------------------------------------
 * Lines
 */

/* "device SOURCE mounted on POINT with fstype TYPE [statvers=1.1]": nfs_show_stats(), show_vfsstat() */
static void take_device(struct parse *s, char *line)
{
    char *point = strstr(line, " mounted on "), *type;

    s->inside = s->in_ops = false;
    if (!point)
        return;
    point += strlen(" mounted on ");
    type = strstr(point, " with fstype ");
    if (!type)
        return;
    *type = 0;
    type += strlen(" with fstype ");
    mount_unescape(point);
    if (strcmp(point, s->point) || (strncmp(type, "nfs ", 4) && strncmp(type, "nfs4 ", 5)))
        return;
    *s->mount = (struct probe_nfs_mount){.nconnect = 1, .transports.known = true}; /* the last one lies on top */
    s->has_bytes = s->has_op[NFS_READ] = s->has_op[NFS_WRITE] = s->has_op[NFS_COMMIT] = false;
    s->inside = true;
}

static bool option(const char *options, const char *key, char *ret, size_t size)
{
    size_t n = strlen(key), length;

    for (const char *at = options; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, n) || at[n] != '=')
            continue;
        length = strcspn(at + n + 1, ",");
        if (length >= size)
            return false;
        memcpy(ret, at + n + 1, length);
        ret[length] = 0;
        return true;
    }
    return false;
}

static void number_option(const char *options, const char *key, uint64_t *ret)
{
    char text[24];
    const char *at = text;
    uint64_t v;

    if (option(options, key, text, sizeof(text)) && parse_u64(&at, &v) && !*at)
        *ret = v;
}

static void take_options(struct parse *s, const char *options)
{
    struct probe_nfs_mount *m = s->mount;

    option(options, "vers", m->version, sizeof(m->version));
    option(options, "proto", m->protocol, sizeof(m->protocol));
    number_option(options, "rsize", &m->rsize_bytes);
    number_option(options, "wsize", &m->wsize_bytes);
    number_option(options, "nconnect", &m->nconnect);
}

/* "pnfs=LAYOUT_NFSV4_1_FILES" or "pnfs=not configured": show_pnfs() */
static void take_nfsv4(struct parse *s, const char *rest)
{
    char layout[32];

    if (option(rest, "pnfs", layout, sizeof(layout)) && strcmp(layout, "not configured"))
        memcpy(s->mount->pnfs, layout, sizeof(layout));
}

/* normal read, write; direct read, write; server read, write; pages */
static void take_bytes(struct parse *s, const char *rest)
{
    uint64_t v[MAX_FIELDS];

    if (numbers(rest, v, MAX_FIELDS) < 6) {
        malformed(s, "fewer than six numbers of bytes");
        return;
    }
    s->mount->server_read_bytes = v[4];
    s->mount->server_write_bytes = v[5];
    s->has_bytes = true;
}

/* Behind @first: sends receives bad_xids outstanding backlog [max_slots sending pending] */
static bool add_transport(struct probe_nfs_transports *t, const uint64_t *v, int n, int first, bool has_queues)
{
    if (n < first + 5)
        return false;
    t->connects += first > 2 ? v[2] : 0;
    t->sends += v[first];
    t->receives += v[first + 1];
    t->outstanding_sum += v[first + 3];
    t->backlog_sum += v[first + 4];
    if (!has_queues || n < first + 8)
        return true;
    t->has_queues = true;
    t->max_slots = v[first + 5] > t->max_slots ? v[first + 5] : t->max_slots;
    t->sending_sum += v[first + 6];
    t->pending_sum += v[first + 7];
    return true;
}

static void take_transport(struct parse *s, char *rest)
{
    struct probe_nfs_transports *t = &s->mount->transports;
    char *kind = strsep(&rest, " ");
    bool rdma = !strcmp(kind, "rdma"), tcp = !strcmp(kind, "tcp"), udp = !strcmp(kind, "udp");
    uint64_t v[MAX_FIELDS];
    int n = rest ? numbers(rest, v, MAX_FIELDS) : -1;

    t->n++;
    if (!rdma && !tcp && !udp) {
        t->known = false;
        return;
    }
    memcpy(t->kind, t->n == 1 || !strcmp(t->kind, kind) ? kind : "mixed",
           t->n == 1 || !strcmp(t->kind, kind) ? strlen(kind) + 1 : sizeof("mixed"));
    if (!add_transport(t, v, n, udp ? 2 : 5, !rdma))
        malformed(s, "too few numbers of a transport");
}

static void take_op(struct parse *s, const char *line)
{
    static const char *const names[N_NFS_OPS] = {"READ:", "WRITE:", "COMMIT:"};
    uint64_t v[MAX_FIELDS];
    int n;

    for (int i = 0; i < N_NFS_OPS; i++) {
        if (strncmp(line, names[i], strlen(names[i])))
            continue;
        n = numbers(line + strlen(names[i]), v, MAX_FIELDS);
        if (n < 8) {
            malformed(s, "fewer than eight numbers of an operation");
            return;
        }
        s->mount->op[i] =
            (struct probe_nfs_op){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], n > 8 ? v[8] : 0, n > 8};
        s->has_op[i] = true;
    }
}

static void take_line(struct parse *s, char *line)
{
    if (!strncmp(line, "device ", 7) || !strncmp(line, "no device ", 10)) {
        take_device(s, line);
        return;
    }
    if (!s->inside)
        return;
    line += strspn(line, " \t");
    if (s->in_ops)
        take_op(s, line);
    else if (!strncmp(line, "opts:", 5))
        take_options(s, line + 5 + strspn(line + 5, " \t"));
    else if (!strncmp(line, "nfsv4:", 6))
        take_nfsv4(s, line + 6 + strspn(line + 6, " \t"));
    else if (!strncmp(line, "bytes:", 6))
        take_bytes(s, line + 6);
    else if (!strncmp(line, "xprt:", 5))
        take_transport(s, line + 5 + strspn(line + 5, " \t"));
    else if (!strncmp(line, "per-op statistics", 17))
        s->in_ops = true;
}

/* ------------------------------------------------------------------------------------------------ */

static bool whole(struct parse *s)
{
    if (s->bad)
        return false;
    if (s->has_bytes && s->has_op[NFS_READ] && s->has_op[NFS_WRITE])
        return true;
    if (!s->mount->nconnect) /* set by the line that begins a mount */
        reason_set(s->mount->reason, MOUNTSTATS ": no NFS mount at %.100s", s->point);
    else
        reason_set(s->mount->reason, MOUNTSTATS ": no lines bytes:, READ: and WRITE: of %.80s", s->point);
    return false;
}

void probe_nfs_read(const struct probe *p, const char *mount_point, struct probe_nfs_mount *ret)
{
    struct parse s = {.mount = ret, .point = mount_point};
    char *text, *at, *line;

    memset(ret, 0, sizeof(*ret));
    text = at = read_text(p, MOUNTSTATS, ret->reason);
    if (!text)
        return;
    while (!s.bad && (line = strsep(&at, "\n"))) {
        s.line++;
        take_line(&s, line);
    }
    free(text);
    ret->known = whole(&s);
}
