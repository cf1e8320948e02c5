/* SPDX-License-Identifier: MIT */
#include "probe/simfs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "probe/read.h"

#define STATS "/.spur/stats"

static const struct {
    const char *key;
    size_t offset;
    bool optional;
} keys[] = {
    {"time_ns", offsetof(struct probe_simfs, time_ns), false},
    {"reads", offsetof(struct probe_simfs, reads), false},
    {"read_bytes", offsetof(struct probe_simfs, read_bytes), false},
    {"writes", offsetof(struct probe_simfs, writes), false},
    {"write_bytes", offsetof(struct probe_simfs, write_bytes), false},
    {"errors", offsetof(struct probe_simfs, errors), false},
    {"short_answers", offsetof(struct probe_simfs, short_answers), false},
    {"in_flight", offsetof(struct probe_simfs, in_flight), false},
    {"service_ns", offsetof(struct probe_simfs, service_ns), false},
    {"busy_ns", offsetof(struct probe_simfs, busy_ns), false},
    {"cpu_ns", offsetof(struct probe_simfs, cpu_ns), false},
    {"latency_ns", offsetof(struct probe_simfs, latency_ns), true},
    {"rate_bytes_per_s", offsetof(struct probe_simfs, rate_bytes_per_s), true},
    {"rpc_bytes", offsetof(struct probe_simfs, rpc_bytes), true},
    {"servers", offsetof(struct probe_simfs, servers), true},
    {"connection", offsetof(struct probe_simfs, connection), true},
};

static bool has_version(const char *text, char *reason)
{
    const char *at = text + strlen("simfs ");
    uint64_t version;

    if (strncmp(text, "simfs ", 6) || !parse_u64(&at, &version) || *at != '\n') {
        reason_set(reason, STATS ": is not that of a simfs");
        return false;
    }
    if (version != 1)
        reason_set(reason, STATS ": version %llu, known here is 1", (unsigned long long)version);
    return version == 1;
}

static bool take_keys(const char *text, struct probe_simfs *ret)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        uint64_t *to = (uint64_t *)(void *)((char *)ret + keys[i].offset);

        if (parse_key_u64(text, keys[i].key, ' ', to) || keys[i].optional)
            continue;
        reason_set(ret->reason, STATS ": no number of %s", keys[i].key);
        return false;
    }
    return true;
}

void probe_simfs_read(const struct probe *p, const char *mount_point, struct probe_simfs *ret)
{
    char path[4200], *text;

    memset(ret, 0, sizeof(*ret));
    snprintf(path, sizeof(path), "%s" STATS, strcmp(mount_point, "/") ? mount_point : "");
    text = read_text(p, path, ret->reason);
    if (!text)
        return;
    ret->known = has_version(text, ret->reason) && take_keys(text, ret);
    free(text);
}

/* fuse_ctl_add_conn(): the folder is the kernel's dev_t, 20 bits of minor. */
int probe_fuse_waiting(const struct probe *p, dev_t dev, uint64_t *ret, char *reason)
{
    char path[80];

    snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/waiting", (major(dev) << 20) | minor(dev));
    return read_u64(p, path, ret, reason);
}
