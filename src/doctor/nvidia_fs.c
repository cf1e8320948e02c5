/* SPDX-License-Identifier: MIT */
/* The nvidia-fs kernel module: loaded, its version, its counters, its device nodes. */
#include <string.h>

#include "doctor/check.h"
#include "probe/nvfs.h"

#define FOLDER "/proc/driver/nvidia-fs"

/* Whether the module's file lies in the folder of this kernel, by depmod's list. */
static bool on_disk(const struct doctor *d)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *list = look_text(d, reason, "/lib/modules/%s/modules.dep", d->kernel);

    return list && strstr(list, "nvidia-fs.ko");
}

static bool is_listed(const struct doctor *d, const char *module)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(d, reason, "/proc/modules");
    size_t n = strlen(module);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, module, n) && line[n] == ' ')
            return true;
    }
    return false;
}

void check_nvidia_fs(struct doctor *d)
{
    bool folder = look_exists(d, FOLDER "/version"), listed = is_listed(d, "nvidia_fs");
    json_t *one;

    fact(d, "loaded", json_boolean(folder || listed));
    if (folder) {
        conclude(&d->nvfs, ANSWER_YES, "nvidia-fs is loaded");
        say(d, SEVERITY_PASS, FOLDER, "nvidia-fs is loaded");
    } else if (listed) {
        conclude(&d->nvfs, ANSWER_NO, "nvidia-fs is loaded, but " FOLDER " is not seen here");
        one = say(d, SEVERITY_WARN, "/proc/modules", "nvidia-fs is loaded, but " FOLDER " is hidden from this process");
        remedy(one, "%s", "show the host's /proc/driver/nvidia-fs to the container, or run on the host");
    } else if (on_disk(d)) {
        conclude(&d->nvfs, ANSWER_NO, "nvidia-fs is installed, but not loaded");
        one = say(d, SEVERITY_WARN, "/proc/modules", "nvidia-fs is installed for this kernel (%s), but not loaded",
                  d->kernel);
        remedy(one, "%s", "modprobe nvidia-fs");
    } else {
        conclude(&d->nvfs, ANSWER_NO, "nvidia-fs is not loaded (" FOLDER " is missing)");
        say(d, SEVERITY_WARN, FOLDER, "nvidia-fs is not loaded, and modules.dep of kernel %s has no nvidia-fs.ko",
            d->kernel[0] ? d->kernel : "(unknown)");
    }
}

/* "version: 2.28", or "NVFS Driver(version: 2:7:47)" in stats: the most exact. */
static bool module_version(const struct doctor *d, unsigned v[3])
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *stats = look_text(d, reason, FOLDER "/stats");
    _cleanup_free_ char *version = look_line(d, FOLDER "/version");
    const char *at = stats ? strstr(stats, "NVFS Driver(version:") : NULL;

    v[0] = v[1] = v[2] = 0;
    if (at && sscanf(at + 20, " %4u%*[.:]%4u%*[.:]%4u", &v[0], &v[1], &v[2]) >= 2)
        return true;
    return version && sscanf(version, "version: %4u.%4u.%4u", &v[0], &v[1], &v[2]) >= 2;
}

void check_nvidia_fs_version(struct doctor *d)
{
    unsigned v[3];
    json_t *one;

    if (d->nvfs.is != ANSWER_YES) {
        say(d, SEVERITY_PASS, FOLDER, "no module to look at");
        return;
    }
    if (!module_version(d, v)) {
        fact(d, "version", NULL);
        say(d, SEVERITY_UNKNOWN, FOLDER "/version", "its version cannot be read");
        return;
    }
    fact(d, "version", json_sprintf("%u.%u.%u", v[0], v[1], v[2]));
    if (v[0] == 2 && v[1] == 25 && v[2] == 6) {
        one = say(d, SEVERITY_WARN, FOLDER "/version", "nvidia-fs 2.25.6 broke peer transfers");
        remedy(one, "%s", "install nvidia-fs 2.25.7 or later");
    } else if (v[0] < 2 || (v[0] == 2 && (v[1] < 28 || (v[1] == 28 && v[2] && v[2] < 4)))) {
        one = say(d, SEVERITY_NOTE, FOLDER "/version",
                  "nvidia-fs %u.%u.%u: before 2.28.4, RDMA into buffers of 4 GiB and more could be damaged", v[0], v[1],
                  v[2]);
        remedy(one, "%s", "install nvidia-fs 2.28.4 or later");
    } else {
        say(d, SEVERITY_PASS, FOLDER "/version", "nvidia-fs %u.%u.%u", v[0], v[1], v[2]);
    }
}

void check_nvidia_fs_counters(struct doctor *d)
{
    struct probe_nvfs n;
    json_t *one;

    if (d->nvfs.is != ANSWER_YES) {
        say(d, SEVERITY_PASS, FOLDER, "no module to look at");
        return;
    }
    probe_nvfs_read(&d->p, &n);
    fact(d, "enabled", n.known ? json_boolean(n.enabled) : NULL);
    if (!n.known)
        say(d, SEVERITY_UNKNOWN, FOLDER "/stats", "%s", n.reason);
    else if (n.enabled)
        say(d, SEVERITY_PASS, FOLDER "/stats", "operations are counted");
    else {
        one = say(d, SEVERITY_NOTE, FOLDER "/stats", "operations are not counted (IO stats: Disabled)");
        remedy(one, "%s", "echo 1 > /sys/module/nvidia_fs/parameters/rw_stats_enabled");
    }
}

void check_nvidia_fs_nodes(struct doctor *d)
{
    const json_t *devices = live_get(d, "devices"), *value;
    unsigned n = 0, denied = 0;
    const char *name;

    if (d->nvfs.is != ANSWER_YES) {
        say(d, SEVERITY_PASS, "/dev/nvidia-fs*", "no module to look at");
        return;
    }
    if (!devices) {
        say(d, SEVERITY_UNKNOWN, "/dev/nvidia-fs*", "device nodes were not recorded");
        return;
    }
    json_object_foreach((json_t *)devices, name, value)
    {
        if (strncmp(name, "/dev/nvidia-fs", 14))
            continue;
        n++;
        denied += !json_is_true(json_object_get(value, "usable"));
    }
    fact_number(d, "nodes", n);
    fact_number(d, "denied", denied);
    if (!n) {
        conclude(&d->nvfs, ANSWER_NO, "nvidia-fs is loaded, but /dev has no nvidia-fs nodes here");
        say(d, SEVERITY_WARN, "/dev/nvidia-fs*", "nvidia-fs is loaded, but its device nodes are missing here");
    } else if (denied) {
        conclude(&d->nvfs, ANSWER_NO, "this user may not open /dev/nvidia-fs*");
        remedy(say(d, SEVERITY_WARN, "/dev/nvidia-fs*", "%u of %u nodes may not be opened by this user", denied, n),
               "chmod 666 /dev/nvidia-fs*");
    } else {
        say(d, SEVERITY_PASS, "/dev/nvidia-fs*", "%u nodes, all usable", n);
    }
}
