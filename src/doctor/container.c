/* SPDX-License-Identifier: MIT */
/* Whether this is a container, and what it was not given. */
#include <string.h>

#include "doctor/check.h"

static const char *runtime_of(const struct doctor *d)
{
    char reason[PROBE_REASON];
    const char *said = live_text(d, "env.container");
    _cleanup_free_ char *groups = look_text(d, reason, "/proc/self/cgroup");
    _cleanup_free_ char *version = look_line(d, "/proc/version");

    if (version && strstr(version, "gVisor"))
        return "gVisor";
    if (look_exists(d, "/.dockerenv"))
        return "docker";
    if (look_exists(d, "/run/.containerenv"))
        return "podman";
    if (look_exists(d, "/run/secrets/kubernetes.io") || (groups && strstr(groups, "kubepods")))
        return "kubernetes";
    if (groups && (strstr(groups, "/docker") || strstr(groups, "containerd")))
        return "docker or containerd";
    return said && *said ? said : NULL;
}

static bool has_node(const struct doctor *d, const char *prefix)
{
    const json_t *value;
    const char *name;

    json_object_foreach((json_t *)json_object_get(d->live, "devices"), name,
                        value) if (!strncmp(name, prefix, strlen(prefix))) return true;
    return false;
}

void check_container(struct doctor *d)
{
    const char *runtime = runtime_of(d);
    bool udev = look_exists(d, "/run/udev/data");

    fact_text(d, "runtime", runtime);
    fact(d, "udev", json_boolean(udev));
    if (!udev)
        say(d, runtime ? SEVERITY_WARN : SEVERITY_NOTE, "/run/udev/data",
            "missing%s: cuFile reads devices' kinds and the topology there", runtime ? " in this container" : "");
    if (!runtime) {
        say(d, SEVERITY_PASS, "/proc/self/cgroup", "no sign of a container");
        return;
    }
    remedy(say(d, SEVERITY_NOTE, "/proc/self/cgroup", "a container (%s)", runtime), "%s", "");
    if (has_node(d, "/dev/nvidiactl") && !has_node(d, "/dev/nvidia-fs") && look_exists(d, "/proc/driver/nvidia-fs"))
        remedy(
            say(d, SEVERITY_WARN, "/dev", "GPUs were passed through, the nodes of nvidia-fs were not"),
            "docker run --device /dev/nvidia-fs0 (up to 15), or NVIDIA_GDS=enabled with the NVIDIA container toolkit");
    if (udev)
        say(d, SEVERITY_PASS, "/run/udev/data", "udev's facts were passed through");
}
