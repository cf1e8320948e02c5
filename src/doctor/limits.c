/* SPDX-License-Identifier: MIT */
/* Limits of the process: locked memory, open files, CPU and memory of its group, io_uring, seccomp. */
#include <inttypes.h>
#include <string.h>

#include "doctor/check.h"
#include "probe/cgroup.h"
#include "probe/read.h"

#define LIMITS        "/proc/self/limits"
#define MEMLOCK_LEAST (64ull << 20) /* eight threads with 1 MiB each in flight, eight deep */
#define NOFILE_LEAST  4096

enum limit { LIMIT_UNREADABLE, LIMIT_NONE, LIMIT_NUMBER };

/* Soft limit of the line "Max locked memory     8388608   8388608   bytes". */
static enum limit limit_of(const struct doctor *d, const char *name, uint64_t *ret)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(d, reason, LIMITS);
    const char *at = text ? strstr(text, name) : NULL;

    if (!at)
        return LIMIT_UNREADABLE;
    at += strlen(name);
    at += strspn(at, " ");
    if (!strncmp(at, "unlimited", 9))
        return LIMIT_NONE;
    return parse_u64(&at, ret) ? LIMIT_NUMBER : LIMIT_UNREADABLE;
}

static void say_memlock(struct doctor *d, uint64_t bytes)
{
    const json_t *exempt = live_get(d, "ipc_lock"), *uid = live_get(d, "uid");
    bool maybe = !json_is_boolean(exempt) && json_is_integer(uid) && json_integer_value(uid) == 0;

    if (json_is_true(exempt))
        say(d, SEVERITY_PASS, LIMITS, "locked memory: %" PRIu64 " KiB, from which CAP_IPC_LOCK exempts", bytes >> 10);
    else
        remedy(say(d, maybe ? SEVERITY_NOTE : SEVERITY_WARN, LIMITS, "locked memory is limited to %" PRIu64 " KiB%s",
                   bytes >> 10, maybe ? " (root with CAP_IPC_LOCK is exempt)" : ""),
               "ulimit -l unlimited; LimitMEMLOCK=infinity of a service; docker run --ulimit memlock=-1");
}

void check_memlock(struct doctor *d)
{
    uint64_t bytes = 0;
    enum limit l = limit_of(d, "Max locked memory", &bytes);

    fact(d, "bytes", l == LIMIT_NUMBER ? json_integer((json_int_t)(bytes & INT64_MAX)) : NULL);
    if (l == LIMIT_UNREADABLE)
        say(d, SEVERITY_UNKNOWN, LIMITS, "the limit of locked memory cannot be read");
    else if (l == LIMIT_NONE || bytes >= MEMLOCK_LEAST)
        say(d, SEVERITY_PASS, LIMITS, "locked memory: %s", l == LIMIT_NONE ? "unlimited" : "enough for many threads");
    else
        say_memlock(d, bytes);
}

void check_nofile(struct doctor *d)
{
    uint64_t n = 0;
    enum limit l = limit_of(d, "Max open files", &n);

    fact(d, "files", l == LIMIT_NUMBER ? json_integer((json_int_t)(n & INT64_MAX)) : NULL);
    if (l == LIMIT_UNREADABLE)
        say(d, SEVERITY_UNKNOWN, LIMITS, "the limit of open files cannot be read");
    else if (l == LIMIT_NONE || n >= NOFILE_LEAST)
        say(d, SEVERITY_PASS, LIMITS, "open files: enough");
    else
        remedy(
            say(d, SEVERITY_NOTE, LIMITS, "open files are limited to %" PRIu64 ": each thread opens its files anew", n),
            "ulimit -n 65536");
}

static void judge_cpu(struct doctor *d, const struct cgroup *g)
{
    double cpus;

    if (!g->quota_us.known || g->quota_us.unlimited || !g->period_us) {
        say(d, g->quota_us.known ? SEVERITY_PASS : SEVERITY_UNKNOWN, g->path, "CPU: %s",
            g->quota_us.known ? "no quota" : g->quota_us.reason);
        return;
    }
    cpus = (double)g->quota_us.value / (double)g->period_us;
    fact(d, "cpus", json_real(cpus));
    if (g->nr_throttled.known)
        fact_number(d, "nr_throttled", g->nr_throttled.value);
    remedy(say(d, cpus < 4 ? SEVERITY_WARN : SEVERITY_NOTE, g->path, "CPU: a quota of %.1f CPUs%s", cpus,
               g->nr_throttled.known && g->nr_throttled.value ? ", which has throttled this group" : ""),
           "docker run --cpus, or resources.limits.cpu of the pod: more, or none");
}

static void judge_memory(struct doctor *d, const struct cgroup *g)
{
    if (!g->memory_max.known || g->memory_max.unlimited) {
        say(d, g->memory_max.known ? SEVERITY_PASS : SEVERITY_UNKNOWN, g->path, "memory: %s",
            g->memory_max.known ? "no limit" : g->memory_max.reason);
        return;
    }
    fact_number(d, "memory_max", g->memory_max.value);
    say(d, g->memory_max.value < 4ull << 30 ? SEVERITY_WARN : SEVERITY_NOTE, g->path,
        "memory: at most %" PRIu64 " MiB, page cache and page-locked buffers included", g->memory_max.value >> 20);
}

void check_cgroup(struct doctor *d)
{
    struct cgroup g;

    cgroup_read(&d->p, &g);
    if (!g.version) {
        say(d, SEVERITY_UNKNOWN, "/proc/self/cgroup", "%s", g.reason);
        return;
    }
    fact_number(d, "version", g.version);
    judge_cpu(d, &g);
    judge_memory(d, &g);
}

void check_io_uring(struct doctor *d)
{
    const json_t *usable = live_get(d, "io_uring.usable");
    uint64_t off = 0;
    bool known = look_u64(d, &off, "/proc/sys/kernel/io_uring_disabled");

    fact(d, "usable", json_is_boolean(usable) ? json_boolean(json_is_true(usable)) : NULL);
    fact(d, "disabled_sysctl", known ? json_integer((json_int_t)(off & 3)) : NULL);
    if (json_is_false(usable))
        remedy(say(d, SEVERITY_WARN, "io_uring", "%s", live_text(d, "io_uring.reason") ?: "not usable"),
               known && off ? "sysctl kernel.io_uring_disabled=0"
                            : "docker run --security-opt seccomp=PROFILE with one that allows io_uring_setup");
    else if (json_is_true(usable))
        say(d, SEVERITY_PASS, "io_uring", "a ring can be set up by this user");
    else
        say(d, SEVERITY_UNKNOWN, "io_uring", "it was not tried");
}

void check_seccomp(struct doctor *d)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(d, reason, "/proc/self/status");
    uint64_t mode = 0;

    if (!text || !parse_key_u64(text, "Seccomp", ':', &mode)) {
        say(d, SEVERITY_UNKNOWN, "/proc/self/status", "%s", text ? "no line Seccomp" : reason);
        return;
    }
    fact_number(d, "mode", mode);
    if (mode)
        say(d, SEVERITY_NOTE, "/proc/self/status", "a seccomp filter is in force (mode %u)", (unsigned)mode);
    else
        say(d, SEVERITY_PASS, "/proc/self/status", "no seccomp filter");
}
