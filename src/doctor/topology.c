/* SPDX-License-Identifier: MIT */
/* IOMMU, access control services, PCIe links, and how far GPU, disks and network cards are from each other. */
#include <limits.h>
#include <string.h>

#include "doctor/check.h"

static char *group_type(const struct doctor *d, const char *address)
{
    return look_line(d, "/sys/bus/pci/devices/%s/iommu_group/type", address);
}

/* On Grace the vendor wants it so. */
static void say_translated(struct doctor *d, const char *address, const char *type)
{
    const char *machine = live_text(d, "machine");

    if (machine && !strcmp(machine, "aarch64"))
        say(d, SEVERITY_PASS, address, "the IOMMU translates its transfers (type %s), as on Grace it has to", type);
    else
        say(d, SEVERITY_WARN, address, "the IOMMU translates its transfers (type %s)", type);
}

void check_iommu(struct doctor *d)
{
    _cleanup_free_ char *line = look_line(d, "/proc/cmdline");
    json_t *groups = look_names(d, "/sys/kernel/iommu_groups"), *gpus = pci_gpus(d), *one;
    size_t n = json_array_size(groups), i, n_translated = 0;

    json_array_foreach(gpus, i, one)
    {
        _cleanup_free_ char *type = group_type(d, json_string_value(one));

        if (type && !strcmp(type, "identity"))
            continue;
        n_translated += type != NULL;
        if (type)
            say_translated(d, json_string_value(one), type);
    }
    json_decref(groups);
    json_decref(gpus);
    fact_number(d, "groups", n);
    fact_number(d, "translated_gpus", n_translated);
    if (!n)
        say(d, SEVERITY_PASS, "/sys/kernel/iommu_groups", "no IOMMU is in force, as far as this system shows");
    else if (!n_translated)
        say(d, SEVERITY_PASS, "/sys/kernel/iommu_groups", "%zu groups; none of a GPU's is translated%s", n,
            line && strstr(line, "iommu=pt") ? " (iommu=pt)" : "");
}

/* Bits 2 and 3 of ACS control: requests and completions of peers are sent up to the root. */
static void judge_bridge(struct doctor *d, const char *address, unsigned *n, unsigned *n_unknown)
{
    const json_t *value = json_object_get(json_object_get(d->live, "acs"), address);

    *n_unknown += !value || json_is_null(value);
    if (!json_is_integer(value) || json_integer_value(value) < 0 || !(json_integer_value(value) & 0xc))
        return;
    ++*n;
    remedy(say(d, SEVERITY_WARN, address, "ACS redirects peer requests to the root (control 0x%04x)",
               (unsigned)json_integer_value(value)),
           "setpci -s %s ECAP_ACS+0x6.w=0000 (until the next boot; or switch ACS off in the firmware)", address);
}

void check_acs(struct doctor *d)
{
    json_t *gpus = pci_gpus(d), *one;
    unsigned n = 0, n_unknown = 0;
    size_t i;

    json_array_foreach(gpus, i, one)
    {
        _cleanup_free_ char *path = pci_path(d, json_string_value(one));
        char *slash = path ? strrchr(path, '/') : NULL;
        char address[16];

        while (slash && (*slash = 0, pci_address_of(path, address))) {
            judge_bridge(d, address, &n, &n_unknown);
            slash = strrchr(path, '/');
        }
    }
    if (json_array_size(gpus))
        fact_number(d, "redirecting_bridges", n);
    if (n_unknown)
        say(d, SEVERITY_UNKNOWN, "/sys/bus/pci/devices/*/config",
            "ACS of %u bridge%s above GPUs can be read by root only", n_unknown, n_unknown == 1 ? "" : "s");
    else if (!n)
        say(d, SEVERITY_PASS, "/sys/bus/pci/devices", "no bridge above a GPU redirects peers");
    json_decref(gpus);
}

/* ------------------------------------------------------------------------------------------------ */

static void judge_link(struct doctor *d, const char *what, const char *address)
{
    _cleanup_free_ char *speed = look_line(d, "/sys/bus/pci/devices/%s/current_link_speed", address);
    _cleanup_free_ char *most = look_line(d, "/sys/bus/pci/devices/%s/max_link_speed", address);
    uint64_t width = 0, max_width = 0;
    char key[64];

    if (!speed || !most || !look_u64(d, &width, "/sys/bus/pci/devices/%s/current_link_width", address) ||
        !look_u64(d, &max_width, "/sys/bus/pci/devices/%s/max_link_width", address) || !max_width) {
        say(d, SEVERITY_UNKNOWN, address, "the link of this %s cannot be read", what);
        return;
    }
    snprintf(key, sizeof(key), "%s", address);
    fact(d, key, json_sprintf("%s x%u of %s x%u", speed, (unsigned)width, most, (unsigned)max_width));
    if (width < max_width)
        say(d, SEVERITY_WARN, address, "%s: %u lanes of %u", what, (unsigned)width, (unsigned)max_width);
    else if (strtod(speed, NULL) < strtod(most, NULL))
        say(d, SEVERITY_NOTE, address, "%s: %s of %s (idle GPUs slow their link; look again under load)", what, speed,
            most);
    else
        say(d, SEVERITY_PASS, address, "%s: %s x%u", what, speed, (unsigned)width);
}

/* PCI address of a block device: the last one in its path. */
static bool disk_address(const struct doctor *d, const char *disk, char ret[16])
{
    _cleanup_free_ char *path = look_link(d, "/sys/block/%s", disk);

    return path && pci_address_of(path, ret);
}

static json_t *rdma_devices(const struct doctor *d)
{
    return look_names(d, "/sys/class/infiniband");
}

static bool rdma_address(const struct doctor *d, const char *name, char ret[16])
{
    _cleanup_free_ char *path = look_link(d, "/sys/class/infiniband/%s/device", name);

    return path && pci_address_of(path, ret);
}

void check_pcie_link(struct doctor *d)
{
    json_t *gpus = pci_gpus(d), *disks = look_names(d, "/sys/block"), *cards = rdma_devices(d), *one;
    char address[16];
    size_t i, n = 0;

    json_array_foreach(gpus, i, one)
    {
        judge_link(d, "GPU", json_string_value(one));
        n++;
    }
    json_array_foreach(disks, i, one)
    {
        if (strncmp(json_string_value(one), "nvme", 4) || !disk_address(d, json_string_value(one), address))
            continue;
        judge_link(d, "NVMe", address);
        n++;
    }
    json_array_foreach(cards, i, one)
    {
        if (!rdma_address(d, json_string_value(one), address))
            continue;
        judge_link(d, "network card", address);
        n++;
    }
    if (!n)
        say(d, SEVERITY_PASS, "/sys/bus/pci/devices", "no GPU, NVMe disk or RDMA card on PCIe");
    json_decref(cards);
    json_decref(gpus);
    json_decref(disks);
}

/* ------------------------------------------------------------------------------------------------ */

enum near { NEAR_SWITCH, NEAR_ROOT_PORT, NEAR_HOST_BRIDGE, NEAR_NODE, NEAR_FAR };
static const char *const near_words[] = {"below one PCIe switch", "below one root port", "below one host bridge",
                                         "below different host bridges of one NUMA node", "on different NUMA nodes"};

static int node_of(const struct doctor *d, const char *address)
{
    _cleanup_free_ char *line = look_line(d, "/sys/bus/pci/devices/%s/numa_node", address);

    return line ? atoi(line) : -1;
}

/* Length of what two paths have in common, in whole folders. */
static size_t common(const char *a, const char *b)
{
    size_t n = 0, last = 0;

    for (; a[n] && a[n] == b[n]; n++)
        if (a[n] == '/')
            last = n;
    return (!a[n] || a[n] == '/') && (!b[n] || b[n] == '/') ? n : last;
}

static enum near distance(const struct doctor *d, const char *a, const char *b)
{
    _cleanup_free_ char *path_a = pci_path(d, a), *path_b = pci_path(d, b);
    unsigned bridges = 0;
    size_t n;

    if (!path_a || !path_b)
        return NEAR_FAR;
    n = common(path_a, path_b);
    for (size_t i = strlen("/sys/devices/"); i < n; i++)
        bridges += path_a[i] == '/';
    if (n > strlen("/sys/devices/") && path_a[n]) /* the host bridge is one level, each bridge below one more */
        bridges++;
    if (bridges > 2)
        return NEAR_SWITCH;
    if (bridges)
        return bridges == 2 ? NEAR_ROOT_PORT : NEAR_HOST_BRIDGE;
    return node_of(d, a) == node_of(d, b) ? NEAR_NODE : NEAR_FAR;
}

static void judge_pair(struct doctor *d, const char *gpu, const char *what, const char *name, const char *address)
{
    enum near near = distance(d, gpu, address);
    char key[96];

    snprintf(key, sizeof(key), "%s-%s", gpu, name);
    fact_text(d, key, near_words[near]);
    if (near <= NEAR_ROOT_PORT)
        say(d, SEVERITY_PASS, gpu, "GPU and %s %s (%s) are %s", what, name, address, near_words[near]);
    else
        say(d, near == NEAR_FAR ? SEVERITY_WARN : SEVERITY_NOTE, gpu,
            "GPU and %s %s (%s) are %s: cuFile may go by way of another GPU or the host", what, name, address,
            near_words[near]);
}

static void judge_gpu(struct doctor *d, const char *gpu, const json_t *disks, const json_t *cards)
{
    char address[16];
    const json_t *one;
    size_t i;

    json_array_foreach(disks, i, one) if (!strncmp(json_string_value(one), "nvme", 4) &&
                                          disk_address(d, json_string_value(one), address))
        judge_pair(d, gpu, "disk", json_string_value(one), address);
    json_array_foreach(cards, i, one) if (rdma_address(d, json_string_value(one), address))
        judge_pair(d, gpu, "network card", json_string_value(one), address);
}

void check_topology(struct doctor *d)
{
    json_t *gpus = pci_gpus(d), *disks = look_names(d, "/sys/block"), *cards = rdma_devices(d), *one;
    size_t i;

    json_array_foreach(gpus, i, one) judge_gpu(d, json_string_value(one), disks, cards);
    if (!json_array_size(gpus))
        say(d, SEVERITY_PASS, "/sys/bus/pci/devices", "no GPU to measure from");
    json_decref(gpus);
    json_decref(disks);
    json_decref(cards);
}

void check_numa(struct doctor *d)
{
    _cleanup_free_ char *nodes = look_line(d, "/sys/devices/system/node/online");
    json_t *gpus = pci_gpus(d), *one;
    size_t i;

    fact_text(d, "nodes", nodes);
    json_array_foreach(gpus, i, one)
    {
        const char *address = json_string_value(one);
        int node = node_of(d, address);
        char key[32];

        snprintf(key, sizeof(key), "node.%s", address);
        fact(d, key, json_integer(node));
        if (nodes && strcmp(nodes, "0") && node < 0)
            say(d, SEVERITY_WARN, address, "the machine has NUMA nodes %s, and which is the GPU's is not known", nodes);
        else if (nodes && strcmp(nodes, "0"))
            remedy(say(d, SEVERITY_NOTE, address,
                       "of NUMA nodes %s the GPU is on %d: host buffers and threads belong there", nodes, node),
                   "spur run --cpus near, or numactl -N %d -m %d", node, node);
    }
    if (!json_array_size(gpus) || !nodes || !strcmp(nodes, "0"))
        say(d, SEVERITY_PASS, "/sys/devices/system/node", "%s", nodes ? "one node, or no GPU" : "no NUMA");
    json_decref(gpus);
}
