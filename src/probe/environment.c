/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/cgroup.h"
#include "probe/read.h"

/* What is being filled, and where reasons for nulls go. */
struct report {
    const struct probe *p;
    json_t *nulls;
    const char *prefix;
};

static void set_null(const struct report *r, json_t *to, const char *group, const char *key, const char *reason)
{
    char full[256];

    json_object_set_new(to, key, json_null());
    snprintf(full, sizeof(full), "%s%s%s%s", r->prefix, group, *group ? "." : "", key);
    json_object_set_new(r->nulls, full, json_string(reason) ?: json_string("unreadable"));
}

static void set_number(const struct report *r, json_t *to, const char *group, const char *key, bool known, uint64_t v,
                       const char *reason)
{
    if (known && v <= INT64_MAX)
        json_object_set_new(to, key, json_integer((json_int_t)v));
    else
        set_null(r, to, group, key, known ? "over 63 bits" : reason);
}

static void set_text(const struct report *r, json_t *to, const char *group, const char *key, const char *text)
{
    json_t *value = json_string(text);

    if (value)
        json_object_set_new(to, key, value);
    else
        set_null(r, to, group, key, "not UTF-8");
}

static void set_line(const struct report *r, json_t *to, const char *group, const char *key, const char *path)
{
    char line[256], reason[PROBE_REASON];

    if (read_line(r->p, path, line, sizeof(line), reason) < 0)
        set_null(r, to, group, key, reason);
    else
        set_text(r, to, group, key, line);
}

/* Finite number at *s, to the next blank; *s moves behind it. Never "nan" or "inf", which JSON has not. */
static bool parse_real(const char **s, double *ret)
{
    char *end;
    double v;

    *s += strspn(*s, " \t");
    if (**s < '0' || **s > '9')
        return false;
    v = strtod(*s, &end);
    if (end == *s || !isfinite(v))
        return false;
    *s = end;
    *ret = v;
    return true;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static json_t *clock_pair(void)
{
    int64_t monotonic = now_ns(CLOCK_MONOTONIC), realtime = now_ns(CLOCK_REALTIME);

    return json_pack("{s:I, s:I}", "monotonic_ns", (json_int_t)monotonic, "realtime_ns", (json_int_t)realtime);
}

/* CPUs of a list such as "0-3,8". Calls @each with every number until it returns false. */
typedef bool (*each_cpu_fn)(void *context, uint64_t cpu);
static bool walk_list(const char *list, each_cpu_fn each, void *context)
{
    uint64_t low, high;

    do {
        if (!parse_u64(&list, &low))
            return false;
        high = low;
        if (*list == '-' && (list++, !parse_u64(&list, &high)))
            return false;
        if (high < low || high > 1u << 20)
            return false;
        for (; low <= high; low++)
            if (!each(context, low))
                return true;
    } while (*list == ',' && *++list);
    return !*list;
}

static bool count_each(void *context, uint64_t cpu)
{
    return ++*(uint64_t *)context > 0;
}

static void set_online(const struct report *r, json_t *cpu, const char *list, const char *reason)
{
    uint64_t n = 0;
    bool known = list && walk_list(list, count_each, &n);

    set_number(r, cpu, "cpu", "online", known, n, list ? "/sys/devices/system/cpu/online: malformed" : reason);
}

static void set_allowed(const struct report *r, json_t *cpu)
{
    char reason[PROBE_REASON], list[4096], *text = read_text(r->p, "/proc/self/status", reason);
    char *at = text ? strstr(text, "\nCpus_allowed_list:") : NULL;
    uint64_t n = 0;
    bool known = false;

    if (at) {
        snprintf(list, sizeof(list), "%s", at + 19);
        list[strcspn(list, "\n")] = 0;
        known = walk_list(list, count_each, &n);
    }
    set_number(r, cpu, "cpu", "allowed", known, n, text ? "/proc/self/status: no Cpus_allowed_list" : reason);
    free(text);
}

/* One word for all online CPUs, or "mixed". */
struct governors {
    const struct probe *p;
    char word[64], reason[PROBE_REASON];
    unsigned n;
    bool failed, mixed;
};

static bool governors_each(void *context, uint64_t cpu)
{
    struct governors *g = context;
    char path[128], word[64];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", (unsigned)cpu);
    g->failed = read_line(g->p, path, word, sizeof(word), g->reason) < 0;
    g->mixed |= g->n && strcmp(word, g->word);
    if (!g->n++ && !g->failed)
        strcpy(g->word, word);
    return !g->failed && !g->mixed;
}

static void set_governor(const struct report *r, json_t *cpu, const char *list, const char *reason)
{
    struct governors g = {.p = r->p};

    if (!list || !walk_list(list, governors_each, &g) || g.failed)
        set_null(r, cpu, "cpu", "governor", !list ? reason : g.failed ? g.reason : "no list of online CPUs");
    else
        set_text(r, cpu, "cpu", "governor", g.mixed ? "mixed" : g.word);
}

/* Value of a line "key   : value" of /proc/cpuinfo at @line. */
static const char *cpuinfo_value(const char *line, const char *key)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n))
        return NULL;
    line += n + strspn(line + n, " \t");
    return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

struct cpuinfo {
    char model[256];
    double low, high;
    unsigned n_clocks;
};

static void take_line(struct cpuinfo *info, const char *line)
{
    const char *value = cpuinfo_value(line, "model name");
    double mhz;

    if (value && !info->model[0])
        snprintf(info->model, sizeof(info->model), "%.*s", (int)strcspn(value, "\n"), value);
    value = cpuinfo_value(line, "cpu MHz");
    if (!value || !parse_real(&value, &mhz))
        return;
    info->low = !info->n_clocks || mhz < info->low ? mhz : info->low;
    info->high = mhz > info->high ? mhz : info->high;
    info->n_clocks++;
}

/* For machines whose /proc/cpuinfo has no clocks: cpufreq of the first CPUs, in kHz. */
struct cpufreq {
    const struct probe *p;
    struct cpuinfo *info;
    char reason[PROBE_REASON];
};

static bool cpufreq_each(void *context, uint64_t cpu)
{
    struct cpufreq *f = context;
    struct cpuinfo *info = f->info;
    char path[128];
    uint64_t khz;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", (unsigned)cpu);
    if (read_u64(f->p, path, &khz, f->reason) < 0)
        return false;
    info->low = !info->n_clocks || (double)khz / 1000 < info->low ? (double)khz / 1000 : info->low;
    info->high = (double)khz / 1000 > info->high ? (double)khz / 1000 : info->high;
    info->n_clocks++;
    return true;
}

static void set_clocks(const struct report *r, json_t *cpu, struct cpuinfo *info, const char *list)
{
    struct cpufreq f = {.p = r->p, .info = info, .reason = "no list of online CPUs"};

    if (!info->n_clocks && list)
        walk_list(list, cpufreq_each, &f);
    if (info->n_clocks) {
        json_object_set_new(cpu, "mhz_min", json_real(info->low));
        json_object_set_new(cpu, "mhz_max", json_real(info->high));
        return;
    }
    set_null(r, cpu, "cpu", "mhz_min", f.reason);
    set_null(r, cpu, "cpu", "mhz_max", f.reason);
}

static void set_model(const struct report *r, json_t *cpu, const struct cpuinfo *info, const char *reason)
{
    if (info->model[0])
        set_text(r, cpu, "cpu", "model", info->model);
    else
        set_null(r, cpu, "cpu", "model", *reason ? reason : "/proc/cpuinfo: no model name");
}

static json_t *cpu_object(const struct report *r)
{
    char list_reason[PROBE_REASON] = "", reason[PROBE_REASON] = "", buffer[4096], *list = buffer;
    char *text = read_text(r->p, "/proc/cpuinfo", reason);
    struct cpuinfo info = {{0}};
    json_t *cpu = json_object();

    for (const char *line = text; line; line = strchr(line, '\n'))
        take_line(&info, line += *line == '\n');
    free(text);
    if (read_line(r->p, "/sys/devices/system/cpu/online", buffer, sizeof(buffer), list_reason) < 0)
        list = NULL;
    set_model(r, cpu, &info, reason);
    set_online(r, cpu, list, list_reason);
    set_allowed(r, cpu);
    set_governor(r, cpu, list, list_reason);
    set_clocks(r, cpu, &info, list);
    return cpu;
}

static void set_meminfo(const struct report *r, json_t *memory, const char *text, const char *line, const char *key,
                        const char *reason)
{
    uint64_t kib = 0;
    bool known = text && parse_key_u64(text, line, ':', &kib) && kib < UINT64_MAX / 1024;
    char missing[PROBE_REASON];

    reason_set(missing, "/proc/meminfo: no %s", line);
    set_number(r, memory, "memory", key, known, kib * 1024, text ? missing : reason);
}

static json_t *memory_object(const struct report *r)
{
    char reason[PROBE_REASON], *text = read_text(r->p, "/proc/meminfo", reason);
    json_t *memory = json_object();

    set_meminfo(r, memory, text, "MemTotal", "total", reason);
    set_meminfo(r, memory, text, "MemAvailable", "available", reason);
    free(text);
    return memory;
}

static void set_loadavg(const struct report *r, json_t *to)
{
    char line[128], reason[PROBE_REASON];
    const char *at = line;
    double v[3];

    if (read_line(r->p, "/proc/loadavg", line, sizeof(line), reason) < 0)
        set_null(r, to, "", "loadavg", reason);
    else if (!parse_real(&at, &v[0]) || !parse_real(&at, &v[1]) || !parse_real(&at, &v[2]))
        set_null(r, to, "", "loadavg", "/proc/loadavg: malformed");
    else
        json_object_set_new(to, "loadavg", json_pack("[f,f,f]", v[0], v[1], v[2]));
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", and a line "full" (missing for cpu before Linux 5.13). */
static bool take_pressure(const char *text, const char *word, json_t *to)
{
    const char *line = strstr(text, word), *avg10, *total;
    char key[32];
    uint64_t us;
    double v;

    if (!line || !(avg10 = strstr(line, "avg10=")) || !(total = strstr(line, "total=")))
        return false;
    avg10 += 6;
    total += 6;
    if (!parse_real(&avg10, &v) || !parse_u64(&total, &us) || us > INT64_MAX)
        return false;
    snprintf(key, sizeof(key), "%s_avg10", word);
    json_object_set_new(to, key, json_real(v));
    snprintf(key, sizeof(key), "%s_total_us", word);
    json_object_set_new(to, key, json_integer((json_int_t)us));
    return true;
}

static void set_pressure(const struct report *r, json_t *to, const char *key, const char *path)
{
    char reason[PROBE_REASON], *text = read_text(r->p, path, reason);
    json_t *object = json_object();

    if (text && take_pressure(text, "some", object)) {
        take_pressure(text, "full", object);
        json_object_set(to, key, object);
    } else {
        if (text)
            reason_set(reason, "%s: malformed", path);
        set_null(r, to, "pressure", key, reason);
    }
    json_decref(object);
    free(text);
}

static json_t *pressure_object(const struct report *r)
{
    json_t *pressure = json_object();

    set_pressure(r, pressure, "io", "/proc/pressure/io");
    set_pressure(r, pressure, "cpu", "/proc/pressure/cpu");
    return pressure;
}

/* 0: everybody, 1: group io_uring_group, 2: nobody. */
static json_t *io_uring_object(const struct report *r)
{
    json_t *object = json_object();
    char reason[PROBE_REASON];
    uint64_t v = 0;
    bool known = read_u64(r->p, "/proc/sys/kernel/io_uring_disabled", &v, reason) == 0;

    set_number(r, object, "io_uring", "disabled", known, v, reason);
    return object;
}

static void set_memlock(const struct report *r, json_t *to)
{
    char reason[PROBE_REASON], *text = read_text(r->p, "/proc/self/limits", reason);
    const char *at = text ? strstr(text, "\nMax locked memory ") : NULL;
    uint64_t v = 0;
    bool known;

    if (!at) {
        set_null(r, to, "", "memlock_limit", text ? "/proc/self/limits: no Max locked memory" : reason);
        free(text);
        return;
    }
    at += 19;
    at += strspn(at, " ");
    known = parse_u64(&at, &v);
    if (!strncmp(at, "unlimited", 9))
        set_null(r, to, "", "memlock_limit", "unlimited");
    else
        set_number(r, to, "", "memlock_limit", known, v, "/proc/self/limits: malformed");
    free(text);
}

static void set_cgroup_number(const struct report *r, json_t *to, const char *group, const char *key,
                              const struct cgroup_number *n)
{
    if (n->known && n->unlimited)
        set_null(r, to, group, key, "unlimited");
    else
        set_number(r, to, group, key, n->known, n->value, n->reason);
}

static void set_cpu_max(const struct report *r, json_t *to, const struct cgroup *g)
{
    if (!g->quota_us.known || g->quota_us.unlimited)
        set_cgroup_number(r, to, "cgroup", "cpu_max", &g->quota_us);
    else
        json_object_set_new(
            to, "cpu_max",
            json_pack("{s:I, s:I}", "quota_us", (json_int_t)g->quota_us.value, "period_us", (json_int_t)g->period_us));
}

static json_t *cpu_stat_object(const struct report *r, const struct cgroup *g)
{
    json_t *object = json_object();

    set_cgroup_number(r, object, "cgroup.cpu_stat", "nr_periods", &g->nr_periods);
    set_cgroup_number(r, object, "cgroup.cpu_stat", "nr_throttled", &g->nr_throttled);
    set_cgroup_number(r, object, "cgroup.cpu_stat", "throttled_us", &g->throttled_us);
    return object;
}

static void set_cgroup(const struct report *r, json_t *to)
{
    struct cgroup g;
    json_t *object;

    cgroup_read(r->p, &g);
    if (!g.version) {
        set_null(r, to, "", "cgroup", g.reason);
        return;
    }
    object = json_object();
    json_object_set_new(object, "version", json_integer(g.version));
    set_text(r, object, "cgroup", "path", g.path);
    set_cpu_max(r, object, &g);
    json_object_set_new(object, "cpu_stat", cpu_stat_object(r, &g));
    set_cgroup_number(r, object, "cgroup", "memory_max", &g.memory_max);
    json_object_set_new(to, "cgroup", object);
}

json_t *probe_environment(const struct probe *p, json_t *nulls, const char *prefix)
{
    const struct report r = {.p = p, .nulls = nulls, .prefix = prefix};
    json_t *o = json_object();

    json_object_set_new(o, "clock", clock_pair());
    set_line(&r, o, "", "boot_id", "/proc/sys/kernel/random/boot_id");
    set_line(&r, o, "", "kernel", "/proc/sys/kernel/osrelease");
    json_object_set_new(o, "cpu", cpu_object(&r));
    json_object_set_new(o, "memory", memory_object(&r));
    set_loadavg(&r, o);
    set_cgroup(&r, o);
    json_object_set_new(o, "pressure", pressure_object(&r));
    json_object_set_new(o, "io_uring", io_uring_object(&r));
    set_memlock(&r, o);
    return o;
}
