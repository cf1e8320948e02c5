/* SPDX-License-Identifier: MIT */
/* RDMA: ports, NFS's client module and its hook to nvidia-fs, the class of RoCE packets, whose drivers. */
#include <string.h>

#include "doctor/check.h"

/* Whether a check of the network is of use: some file is on a network file system. */
static bool is_wanted(const struct doctor *d)
{
    for (size_t i = 0; i < d->n_files; i++) {
        const struct probe_mount *m = &d->files[i].mount;

        if (m->known && (!strncmp(m->fs_type, "nfs", 3) || !strcmp(m->fs_type, "lustre") ||
                         !strcmp(m->fs_type, "beegfs") || !strcmp(m->fs_type, "wekafs") || !strcmp(m->fs_type, "gpfs")))
            return true;
    }
    return false;
}

static bool over_rdma(const struct doctor *d)
{
    char proto[32];

    for (size_t i = 0; i < d->n_files; i++)
        if (d->files[i].mount.known && !strncmp(d->files[i].mount.fs_type, "nfs", 3) &&
            option_value(d->files[i].mount.super_options, "proto", proto, sizeof(proto)) && !strncmp(proto, "rdma", 4))
            return true;
    return false;
}

static void judge_port(struct doctor *d, const char *card, const char *port)
{
    _cleanup_free_ char *state = look_line(d, "/sys/class/infiniband/%s/ports/%s/state", card, port);
    _cleanup_free_ char *rate = look_line(d, "/sys/class/infiniband/%s/ports/%s/rate", card, port);
    _cleanup_free_ char *layer = look_line(d, "/sys/class/infiniband/%s/ports/%s/link_layer", card, port);
    char where[96];

    snprintf(where, sizeof(where), "%.40s/ports/%.40s", card, port);
    fact(d, where,
         json_sprintf("%s, %s, %s", state ? state : "?", rate ? rate : "?", layer ? layer : "?") ?: json_null());
    if (!state)
        say(d, SEVERITY_UNKNOWN, where, "its state cannot be read");
    else if (!strstr(state, "ACTIVE"))
        remedy(say(d, is_wanted(d) ? SEVERITY_WARN : SEVERITY_NOTE, where, "not active (%s)", state),
               "ip link; ibstat %s", card);
    else
        say(d, SEVERITY_PASS, where, "%s, %s", rate ? rate : "rate unknown", layer ? layer : "link layer unknown");
}

void check_rdma(struct doctor *d)
{
    json_t *cards = look_names(d, "/sys/class/infiniband"), *one, *port;
    size_t i, k;

    fact_number(d, "devices", json_array_size(cards));
    json_array_foreach(cards, i, one)
    {
        json_t *ports = look_names(d, "/sys/class/infiniband/%s/ports", json_string_value(one));

        json_array_foreach(ports, k, port) judge_port(d, json_string_value(one), json_string_value(port));
        json_decref(ports);
    }
    if (!json_array_size(cards) && is_wanted(d))
        say(d, SEVERITY_WARN, "/sys/class/infiniband", "no RDMA device: files on the network are reached by TCP only");
    else if (!json_array_size(cards))
        say(d, SEVERITY_PASS, "/sys/class/infiniband", "no RDMA device, and no file that wants one");
    json_decref(cards);
}

/* nvidia-fs lists the storage modules that have its hook: "nfs: ...", "rpcrdma: 1.0". */
static bool is_hooked(const struct doctor *d)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(d, reason, "/proc/driver/nvidia-fs/modules");

    return text && (strstr(text, "rpcrdma") || strstr(text, "nfs"));
}

static bool is_loaded(const struct doctor *d, const char *module)
{
    return look_exists(d, "/sys/module/%s", module);
}

void check_nfs_rdma(struct doctor *d)
{
    bool loaded = is_loaded(d, "rpcrdma") || is_loaded(d, "xprtrdma"), hooked = is_hooked(d);

    if (!over_rdma(d)) {
        say(d, SEVERITY_PASS, "/sys/module/rpcrdma", "no file is on NFS over RDMA");
        return;
    }
    fact(d, "client_module", json_boolean(loaded));
    fact(d, "nvidia_fs_hook", json_boolean(hooked));
    if (d->nvfs.is != ANSWER_YES) {
        say(d, SEVERITY_PASS, "/proc/driver/nvidia-fs/modules", "without nvidia-fs there is no hook to look for");
    } else if (!hooked) {
        for (size_t i = 0; i < d->n_files; i++)
            if (!strncmp(d->files[i].mount.fs_type, "nfs", 3))
                conclude(&d->files[i].nvfs, ANSWER_NO, "NFS's client module has no hook of nvidia-fs");
        say(d, SEVERITY_WARN, "/proc/driver/nvidia-fs/modules", "NFS's RDMA client (rpcrdma) has no hook of nvidia-fs");
    } else {
        say(d, SEVERITY_PASS, "/proc/driver/nvidia-fs/modules", "NFS's RDMA client has the hook of nvidia-fs");
    }
}

/* Ports on Ethernet: the connection manager's default traffic class decides the lossless queue. */
void check_roce(struct doctor *d)
{
    json_t *cards = look_names(d, "/sys/class/infiniband"), *one;
    bool ethernet = false;
    size_t i;

    json_array_foreach(cards, i, one)
    {
        const char *card = json_string_value(one);
        _cleanup_free_ char *layer = look_line(d, "/sys/class/infiniband/%s/ports/1/link_layer", card);
        uint64_t tos = 0;
        char key[64];

        if (!layer || strcmp(layer, "Ethernet"))
            continue;
        ethernet = true;
        snprintf(key, sizeof(key), "%.40s.default_roce_tos", card);
        if (!look_u64(d, &tos, "/sys/kernel/config/rdma_cm/%s/ports/1/default_roce_tos", card)) {
            fact(d, key, NULL);
            say(d, SEVERITY_UNKNOWN, card, "RoCE: the connection manager's default ToS cannot be read (configfs)");
            continue;
        }
        fact_number(d, key, tos);
        if (tos)
            say(d, SEVERITY_PASS, card, "RoCE: default ToS %u", (unsigned)tos);
        else
            remedy(say(d, SEVERITY_NOTE, card, "RoCE: default ToS 0: packets go into the lossy queue on most networks"),
                   "cma_roce_tos -d %s -t 106", card);
    }
    if (!ethernet)
        say(d, SEVERITY_PASS, "/sys/class/infiniband", "no RoCE");
    json_decref(cards);
}

/* For information: the kernel's own drivers do as well. */
void check_ofed(struct doctor *d)
{
    _cleanup_free_ char *version = look_line(d, "/sys/module/mlx5_core/version");
    json_t *cards = look_names(d, "/sys/class/infiniband");
    bool any = json_array_size(cards) > 0;

    json_decref(cards);
    fact_text(d, "mlx5_core", version);
    if (!any)
        say(d, SEVERITY_PASS, "/sys/class/infiniband", "no RDMA device");
    else
        say(d, SEVERITY_PASS, "/sys/module/mlx5_core", "%s%s",
            version ? "drivers of OFED or DOCA, " : "the kernel's own drivers", version ? version : "");
}
