/* SPDX-License-Identifier: MIT */
/* NFS: transport, connections, sizes, and how many requests may be under way. */
#include <string.h>

#include "doctor/check.h"

static bool is_nfs(const struct doctor *d)
{
    return file_is_type(d, "nfs") || file_is_type(d, "nfs4");
}

#define NCONNECT_WANTED 8
#define WSIZE_WANTED    (1u << 20)

static void nfs_transport(struct doctor *d, const char *version, const char *proto)
{
    const struct probe_mount *m = &d->file->mount;

    if (!strncmp(proto, "rdma", 4)) {
        say(d, SEVERITY_PASS, m->mount_point, "vers=%s, proto=%s", *version ? version : "?", proto);
        return;
    }
    conclude(&d->file->nvfs, ANSWER_NO, "%s is NFS over %s; the direct road needs proto=rdma", m->mount_point,
             *proto ? proto : "an unknown transport");
    remedy(say(d, SEVERITY_WARN, m->mount_point, "vers=%s, proto=%s: the direct road needs NFS over RDMA",
               *version ? version : "?", *proto ? proto : "(not shown)"),
           "umount %s && mount -o proto=rdma,port=20049,nconnect=%d %s %s", m->mount_point, NCONNECT_WANTED, m->source,
           m->mount_point);
}

static void nfs_connections(struct doctor *d, const char *proto)
{
    const struct probe_mount *m = &d->file->mount;
    char value[32] = "1", ports[256] = "";
    bool given = file_option(d, "nconnect", value, sizeof(value));
    bool many = file_option(d, "remoteports", ports, sizeof(ports));

    fact_text(d, "nconnect", value);
    fact_text(d, "remoteports", many ? ports : NULL);
    if (given || many)
        say(d, SEVERITY_PASS, m->mount_point, "nconnect=%s%s%s", value, many ? ", remoteports=" : "", ports);
    else
        remedy(say(d, SEVERITY_WARN, m->mount_point, "mounted without nconnect: one connection carries everything"),
               "umount %s && mount -o proto=%s,nconnect=%d %s %s", m->mount_point, *proto ? proto : "tcp",
               NCONNECT_WANTED, m->source, m->mount_point);
}

static void nfs_size(struct doctor *d, const char *key)
{
    const struct probe_mount *m = &d->file->mount;
    char value[32];
    uint64_t bytes;

    if (!file_option(d, key, value, sizeof(value))) {
        say(d, SEVERITY_UNKNOWN, m->mount_point, "%s is not among its options", key);
        return;
    }
    bytes = strtoull(value, NULL, 10);
    fact_number(d, key, bytes);
    if (bytes >= WSIZE_WANTED)
        say(d, SEVERITY_PASS, m->mount_point, "%s=%s", key, value);
    else
        remedy(say(d, SEVERITY_WARN, m->mount_point, "%s=%s: a request of 1 MiB becomes %u calls", key, value,
                   bytes ? (unsigned)((WSIZE_WANTED + bytes - 1) / bytes) : 0),
               "umount %s && mount -o %s=%u %s %s (the server has a say too)", m->mount_point, key, WSIZE_WANTED,
               m->source, m->mount_point);
}

void check_nfs(struct doctor *d)
{
    char proto[32] = "", version[16] = "";

    if (file_is_not_mine(d, is_nfs(d)))
        return;
    file_option(d, "proto", proto, sizeof(proto));
    file_option(d, "vers", version, sizeof(version));
    fact_text(d, "proto", *proto ? proto : NULL);
    fact_text(d, "vers", *version ? version : NULL);
    nfs_transport(d, version, proto);
    nfs_connections(d, proto);
    nfs_size(d, "rsize");
    nfs_size(d, "wsize");
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
