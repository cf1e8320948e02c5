/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/net.h"
#include "probe/read.h"

#define CLASS    "/sys/class/infiniband"
#define WORD     4ull       /* Documentation/ABI/stable/sysfs-class-infiniband: port_xmit_data, port_rcv_data */
#define STUCK_32 UINT32_MAX /* a device without 64-bit counters stops there */

static bool take_counter(const struct probe *p, struct probe_port *port, const char *folder, const char *name,
                         uint64_t *ret)
{
    char path[512];
    uint64_t words;

    snprintf(path, sizeof(path), "%s/counters/%s", folder, name);
    if (read_u64(p, path, &words, port->reason) < 0)
        return false;
    if (words == STUCK_32 || words > UINT64_MAX / WORD) {
        reason_set(port->reason, "%.120s: stands at its end", path);
        return false;
    }
    *ret = words * WORD;
    return true;
}

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)" */
static void take_rate(const struct probe *p, struct probe_port *port, const char *folder)
{
    char path[512], line[64], unit[16], reason[PROBE_REASON];
    double gbits;

    snprintf(path, sizeof(path), "%s/rate", folder);
    if (read_line(p, path, line, sizeof(line), reason) < 0)
        return;
    if (sscanf(line, "%lf %15s", &gbits, unit) != 2 || strcmp(unit, "Gb/sec") || !(gbits > 0 && gbits < 1e6))
        return;
    port->has_speed = true;
    port->speed_bits_per_s = (uint64_t)(gbits * 1e9 + 0.5);
}

static void take_port(const struct probe *p, const char *device, const char *number, struct probe_ports *ret)
{
    struct probe_port *port = &ret->items[ret->n];
    char folder[384];

    if (ret->n == PROBE_MAX_PORTS || strlen(device) + strlen(number) + 2 > sizeof(port->name)) {
        ret->n_left_out++;
        return;
    }
    ret->n++;
    *port = (struct probe_port){.is_hardware = true};
    snprintf(port->name, sizeof(port->name), "%.30s/%.16s", device, number);
    snprintf(folder, sizeof(folder), CLASS "/%.30s/ports/%.16s", device, number);
    port->known = take_counter(p, port, folder, "port_rcv_data", &port->received_bytes) &&
                  take_counter(p, port, folder, "port_xmit_data", &port->sent_bytes);
    take_rate(p, port, folder);
}

/* Entries of a folder below the root, sorted; -1 with errno. */
static int list(const struct probe *p, struct dirent ***ret, const char *path)
{
    char full[640];

    if (!read_path(p, full, sizeof(full), "%s", path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return scandir(full, ret, NULL, alphasort);
}

static void take_device(const struct probe *p, const char *device, struct probe_ports *ret)
{
    char path[384];
    struct dirent **entries;
    int n;

    snprintf(path, sizeof(path), CLASS "/%.255s/ports", device);
    n = list(p, &entries, path);
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            take_port(p, device, entries[i]->d_name, ret);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Without the folder there is no RDMA device: known, and none. */
void probe_rdma_read(const struct probe *p, struct probe_ports *ret)
{
    struct dirent **entries;
    int n;

    memset(ret, 0, sizeof(*ret));
    n = list(p, &entries, CLASS);
    ret->known = n >= 0 || errno == ENOENT;
    if (n < 0) {
        if (!ret->known)
            reason_set(ret->reason, CLASS ": %s", strerrordesc_np(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            take_device(p, entries[i]->d_name, ret);
        free(entries[i]);
    }
    free(entries);
}
