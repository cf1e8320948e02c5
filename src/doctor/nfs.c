/* SPDX-License-Identifier: MIT */
/* NFS: transport, connections, sizes, and how many requests may be under way. */
#include <string.h>

#include "core/quote.h"
#include "doctor/check.h"
#include "probe/mount.h"

static bool is_nfs(const struct doctor *d)
{
    return file_is_type(d, "nfs") || file_is_type(d, "nfs4");
}

#define NCONNECT_WANTED 8
#define WSIZE_WANTED    (1u << 20)
#define SERVERS_SAY     " (the server has a say in sizes)"

struct nfs {
    char proto[32], version[16], connections[32], ports[256];
    bool rdma, one_connection; /* without nconnect and remoteports */
};

static void nfs_read(struct doctor *d, struct nfs *n)
{
    *n = (struct nfs){.connections = "1"};
    file_option(d, "proto", n->proto, sizeof(n->proto));
    file_option(d, "vers", n->version, sizeof(n->version));
    n->rdma = !strncmp(n->proto, "rdma", 4);
    n->one_connection = !file_option(d, "nconnect", n->connections, sizeof(n->connections));
    if (file_option(d, "remoteports", n->ports, sizeof(n->ports)))
        n->one_connection = false;
}

/* 0: it is not among the options. */
static uint64_t nfs_size(const struct doctor *d, const char *key)
{
    char value[32];

    return file_option(d, key, value, sizeof(value)) ? strtoull(value, NULL, 10) : 0;
}

struct others {
    const struct probe_mount *m;
    char names[600];
};

static bool visit_other(void *context, const struct mount_line *l)
{
    struct others *o = context;
    size_t server = strcspn(o->m->source, ":") + 1, used = strlen(o->names);

    if (!strncmp(l->fs_type, "nfs", 3) && !strncmp(l->source, o->m->source, server) &&
        strcmp(l->mount_point, o->m->mount_point))
        snprintf(o->names + used, sizeof(o->names) - used, "%s%s", used ? " " : "", l->mount_point);
    return false;
}

/* One command that cures all that is wrong with the mount, and keeps what is not. */
static char *nfs_command(struct doctor *d, const struct nfs *n)
{
    const struct probe_mount *m = &d->file->mount;
    struct others others = {.m = m};
    char wanted[160], reason[PROBE_REASON], *text = NULL;
    uint64_t rsize = nfs_size(d, "rsize"), wsize = nfs_size(d, "wsize");
    _cleanup_free_ char *mount = NULL, *point = quote_word(m->mount_point);
    int used = snprintf(wanted, sizeof(wanted), "%s", n->rdma ? "" : ",proto=rdma,port=20049");

    if (n->one_connection)
        used += snprintf(wanted + used, sizeof(wanted) - (size_t)used, ",nconnect=%d", NCONNECT_WANTED);
    if (rsize && rsize < WSIZE_WANTED)
        used += snprintf(wanted + used, sizeof(wanted) - (size_t)used, ",rsize=%u", WSIZE_WANTED);
    if (wsize && wsize < WSIZE_WANTED)
        snprintf(wanted + used, sizeof(wanted) - (size_t)used, ",wsize=%u", WSIZE_WANTED);
    mount_walk(&d->p, visit_other, &others, reason);
    mount = mount_command(m, wanted + (*wanted == ','));
    if (!mount || !point ||
        asprintf(&text, "umount %s && %s%s%s%s", point, mount, strstr(wanted, "size=") ? SERVERS_SAY : "",
                 *others.names ? "; before it unmount what shares the server's connections: " : "", others.names) < 0)
        return NULL;
    return text;
}

static void nfs_transport(struct doctor *d, const struct nfs *n, const char *command)
{
    const struct probe_mount *m = &d->file->mount;
    const char *version = *n->version ? n->version : "?";

    if (n->rdma) {
        say(d, SEVERITY_PASS, m->mount_point, "vers=%s, proto=%s", version, n->proto);
        return;
    }
    conclude(&d->file->nvfs, ANSWER_NO, "%s is NFS over %s; the direct road needs proto=rdma", m->mount_point,
             *n->proto ? n->proto : "an unknown transport");
    remedy(say(d, SEVERITY_WARN, m->mount_point, "vers=%s, proto=%s: the direct road needs NFS over RDMA", version,
               *n->proto ? n->proto : "(not shown)"),
           "%s", command);
}

static void nfs_connections(struct doctor *d, const struct nfs *n, const char *command)
{
    const struct probe_mount *m = &d->file->mount;

    fact_text(d, "nconnect", n->connections);
    fact_text(d, "remoteports", *n->ports ? n->ports : NULL);
    if (!n->one_connection)
        say(d, SEVERITY_PASS, m->mount_point, "nconnect=%s%s%s", n->connections, *n->ports ? ", remoteports=" : "",
            n->ports);
    else
        remedy(say(d, SEVERITY_WARN, m->mount_point, "mounted without nconnect: one connection carries everything"),
               "%s", command);
}

static void judge_size(struct doctor *d, const char *key, const char *command)
{
    const struct probe_mount *m = &d->file->mount;
    uint64_t bytes = nfs_size(d, key);

    if (!bytes) {
        say(d, SEVERITY_UNKNOWN, m->mount_point, "%s is not among its options", key);
        return;
    }
    fact_number(d, key, bytes);
    if (bytes >= WSIZE_WANTED)
        say(d, SEVERITY_PASS, m->mount_point, "%s=%llu", key, (unsigned long long)bytes);
    else
        remedy(say(d, SEVERITY_WARN, m->mount_point, "%s=%llu: a request of 1 MiB becomes %llu calls", key,
                   (unsigned long long)bytes, (unsigned long long)((WSIZE_WANTED + bytes - 1) / bytes)),
               "%s", command);
}

void check_nfs(struct doctor *d)
{
    _cleanup_free_ char *command = NULL;
    struct nfs n;

    if (file_is_not_mine(d, is_nfs(d)))
        return;
    nfs_read(d, &n);
    fact_text(d, "proto", *n.proto ? n.proto : NULL);
    fact_text(d, "vers", *n.version ? n.version : NULL);
    command = nfs_command(d, &n);
    nfs_transport(d, &n, command ? command : "");
    nfs_connections(d, &n, command ? command : "");
    judge_size(d, "rsize", command ? command : "");
    judge_size(d, "wsize", command ? command : "");
}

#define IN_FLIGHT_WANTED 64 /* eight threads of eight requests */

/* From 4.1 on a session, which all connections share, has slots of its own; its server may have agreed to fewer. */
static uint64_t session_slots(struct doctor *d)
{
    char version[16] = "";
    uint64_t slots = 0;
    bool has = file_option(d, "vers", version, sizeof(version)) && strtod(version, NULL) > 4.05;

    if (!has || !look_u64(d, &slots, "/sys/module/nfs/parameters/max_session_slots"))
        return UINT64_MAX;
    fact_number(d, "session_slots", slots);
    return slots;
}

static void judge_slots(struct doctor *d, const char *name, uint64_t slots, const char *connections)
{
    uint64_t n = strtoull(connections, NULL, 10), all = slots * (n ? n : 1), session = session_slots(d);
    bool few = all < IN_FLIGHT_WANTED;

    fact_number(d, "slots", slots);
    fact_number(d, "in_flight_at_most", all < session ? all : session);
    if (few)
        remedy(say(d, SEVERITY_WARN, name, "%llu slots for each of %s connections: fewer than %u requests in flight",
                   (unsigned long long)slots, connections, IN_FLIGHT_WANTED),
               "sysctl sunrpc.%s=%d, then mount anew", strrchr(name, '/') + 1, 128);
    if (session < IN_FLIGHT_WANTED)
        remedy(say(d, SEVERITY_WARN, "/sys/module/nfs/parameters/max_session_slots",
                   "%llu slots in the session, which all connections share: fewer than %u requests in flight",
                   (unsigned long long)session, IN_FLIGHT_WANTED),
               "options nfs max_session_slots=180 in /etc/modprobe.d/nfs.conf, then load nfs anew");
    if (!few && session >= IN_FLIGHT_WANTED)
        say(d, SEVERITY_PASS, name, "%llu slots for each of %s connections", (unsigned long long)slots, connections);
}

/* Slots of one connection are requests that may be under way; 128 is the kernel's default for RDMA, 65536 for TCP. */
void check_nfs_slots(struct doctor *d)
{
    char proto[32] = "", connections[32] = "1";
    const char *name;
    uint64_t slots;

    if (file_is_not_mine(d, is_nfs(d)))
        return;
    file_option(d, "proto", proto, sizeof(proto));
    file_option(d, "nconnect", connections, sizeof(connections));
    name = strncmp(proto, "rdma", 4) ? "/proc/sys/sunrpc/tcp_max_slot_table_entries"
                                     : "/proc/sys/sunrpc/rdma_slot_table_entries";
    if (look_u64(d, &slots, "%s", name))
        judge_slots(d, name, slots, connections);
    else
        say(d, SEVERITY_UNKNOWN, name, "it cannot be read");
}
