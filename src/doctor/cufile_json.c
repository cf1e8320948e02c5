/* SPDX-License-Identifier: MIT */
/* The configuration that cuFile would take: which file, whether it is whole, what is in it, what overrides it. */
#include <errno.h>
#include <string.h>

#include "core/error.h"
#include "doctor/check.h"
#include "worker/cufile_keys.h"
#include "probe/read.h"
#include "worker/trial_env.h"

#define DEFAULT_FILE "/etc/cufile.json"

static const char *path_in_force(const struct doctor *d)
{
    const char *named = live_text(d, "env.CUFILE_ENV_PATH_JSON");

    return named && *named ? named : DEFAULT_FILE;
}

static bool is_there(const struct doctor *d, const char *path)
{
    return look_exists(d, "%s", path);
}

void check_cufile_json(struct doctor *d)
{
    const char *path = path_in_force(d);
    char reason[PROBE_REASON];
    bool hangs = json_is_true(live_get(d, "config_hangs"));
    _cleanup_free_ char *text = hangs ? NULL : look_text(d, reason, "%s", path);
    struct spur_error e = {0};

    if (hangs)
        snprintf(reason, sizeof(reason), "its mount hangs");
    fact_text(d, "path", path);
    fact(d, "there", json_boolean(text != NULL));
    if (!text && (hangs || strcmp(path, DEFAULT_FILE) || is_there(d, path))) {
        conclude(&d->settings, ANSWER_NO, "its configuration cannot be read: %s", reason);
        remedy(say(d, SEVERITY_FAIL, path, "it cannot be read: %s", reason), "%s",
               strcmp(path, DEFAULT_FILE) ? "unset CUFILE_ENV_PATH_JSON, or name a file that is there"
                                          : "chmod a+r " DEFAULT_FILE);
        return;
    }
    if (!text) {
        remedy(say(d, SEVERITY_NOTE, path, "there is none: the library's own defaults are in force"), "%s", "");
        return;
    }
    d->config = cufile_json_parse(text, path, &e);
    if (d->config) {
        say(d, SEVERITY_PASS, path, "it is in force, and well-formed");
        return;
    }
    conclude(&d->settings, ANSWER_NO, "its configuration is damaged: %s", e.detail);
    say(d, SEVERITY_FAIL, path, "%s", e.detail);
}

/* ------------------------------------------------------------------------------------------------ */

struct keys {
    struct doctor *d;
    const char *path;
    unsigned n, n_wrong;
    char last[16][160]; /* sections that are unknown as a whole: their keys are not named again */
    unsigned n_last;
    json_t *lines; /* dotted -> line */
};

static bool below_unknown(const struct keys *k, const char *dotted)
{
    for (unsigned i = 0; i < k->n_last; i++)
        if (!strncmp(k->last[i], dotted, strlen(k->last[i])) && dotted[strlen(k->last[i])] == '.')
            return true;
    return false;
}

static void say_unknown(struct keys *k, const char *dotted, const char *where)
{
    const char *near = cufile_key_near(dotted);

    if (k->n_last < ARRAY_SIZE(k->last))
        snprintf(k->last[k->n_last++], sizeof(k->last[0]), "%s", dotted);
    k->n_wrong++;
    remedy(say(k->d, SEVERITY_WARN, where, "%s: no such key is known; the library ignores it", dotted),
           near ? "did you mean %s?" : "%.0s", near ? near : "");
}

static void say_wrong(struct keys *k, enum severity severity, const char *where, const char *dotted, const char *what)
{
    k->n_wrong++;
    if (severity == SEVERITY_FAIL)
        conclude(&k->d->settings, ANSWER_NO, "%s: %s %s (cuFileDriverOpen then fails with -22)", where, dotted, what);
    remedy(say(k->d, severity, where, "%s %s", dotted, what), "correct the line, or take it out");
}

static void judge_value(struct keys *k, const struct cufile_key *key, const json_t *v, const char *where)
{
    char what[160];
    bool fatal;

    if (cufile_key_wrong(key, v, what, sizeof(what), &fatal))
        say_wrong(k, fatal ? SEVERITY_FAIL : SEVERITY_WARN, where, key->name, what);
}

static void visit(void *context, const char *dotted, unsigned line)
{
    struct keys *k = context;
    int library = k->d->library_major < 0 ? 0 : 1000 * k->d->library_major + k->d->library_minor;
    const json_t *v = config_get(k->d, dotted);
    struct cufile_key key;
    char where[600];
    bool known;

    k->n++;
    snprintf(where, sizeof(where), "%s:%u", k->path, line);
    json_object_set_new(k->lines, dotted, json_integer(line));
    known = cufile_key_find(dotted, library, &key);
    if (!known && strstr(dotted, "mount_table")) /* below it are the user's own names */
        return;
    if (!known && !below_unknown(k, dotted))
        say_unknown(k, dotted, where);
    else if (known && v)
        judge_value(k, &key, v, where);
}

/* The legacy sizes of pools and the newer slabs exclude each other. */
static void judge_slabs(struct keys *k)
{
    static const char *const legacy[] = {"max_direct_io_size_kb", "max_device_cache_size_kb",
                                         "per_buffer_cache_size_kb"};
    const json_t *sizes = config_get(k->d, "properties.posix_pool_slab_size_kb");
    const json_t *counts = config_get(k->d, "properties.posix_pool_slab_count");
    char name[96];

    if (sizes && counts && json_array_size(sizes) != json_array_size(counts))
        say_wrong(k, SEVERITY_FAIL, k->path, "properties.posix_pool_slab_count",
                  "is not as long as posix_pool_slab_size_kb");
    for (size_t i = 0; config_get(k->d, "properties.gpu_bounce_buffer_slab_config") && i < ARRAY_SIZE(legacy); i++) {
        snprintf(name, sizeof(name), "properties.%s", legacy[i]);
        if (config_get(k->d, name))
            say_wrong(k, SEVERITY_WARN, k->path, name,
                      "is given beside gpu_bounce_buffer_slab_config, which excludes it");
    }
}

void check_cufile_keys(struct doctor *d)
{
    char reason[PROBE_REASON];
    struct keys k = {.d = d, .path = path_in_force(d)};
    _cleanup_free_ char *text = d->config ? look_text(d, reason, "%s", k.path) : NULL;

    if (!text) {
        say(d, SEVERITY_PASS, k.path, "no keys to look at");
        return;
    }
    k.lines = json_object();
    cufile_keys_walk(text, visit, &k);
    judge_slabs(&k);
    json_decref(k.lines);
    fact_number(d, "keys", k.n);
    fact_number(d, "wrong", k.n_wrong);
    if (!k.n_wrong)
        say(d, SEVERITY_PASS, k.path, "%u keys, all known and in range", k.n);
}

/* ------------------------------------------------------------------------------------------------
 * What is effective: environment before file before the library's default
 */

static bool is_word(const char *text, const char *a, const char *b)
{
    return text && (!strcasecmp(text, a) || !strcmp(text, b));
}

/* Variables that 1.17 and later no longer read. */
static bool is_ignored(const struct doctor *d, const char *variable)
{
    bool gone = !strcmp(variable, "CUFILE_ALLOW_COMPAT_MODE") || !strcmp(variable, "CUFILE_NVTX");

    return gone && 1000 * d->library_major + d->library_minor >= 1017;
}

/* @ret_where: what decided. -1: the default. */
static int effective(const struct doctor *d, const char *variable, const char *key, const char **ret_where)
{
    char dotted[96];
    const char *text;
    const json_t *v = config_get(d, key);

    snprintf(dotted, sizeof(dotted), "env.%s", variable);
    text = is_ignored(d, variable) ? NULL : live_text(d, dotted);
    *ret_where = variable;
    if (is_word(text, "true", "1"))
        return 1;
    if (is_word(text, "false", "0"))
        return 0;
    *ret_where = path_in_force(d);
    return json_is_boolean(v) ? json_is_true(v) : -1;
}

void check_cufile_compat(struct doctor *d)
{
    const char *where, *forced_where;
    int allow = effective(d, "CUFILE_ALLOW_COMPAT_MODE", "properties.allow_compat_mode", &where);
    int force = effective(d, "CUFILE_FORCE_COMPAT_MODE", "properties.force_compat_mode", &forced_where);

    if (allow < 0 && json_is_boolean(config_get(d, "properties.use_compat_mode")))
        allow = json_is_true(config_get(d, "properties.use_compat_mode"));
    fact(d, "allowed", allow < 0 ? NULL : json_boolean(allow));
    fact(d, "forced", json_boolean(force == 1));
    if (force == 1) {
        conclude(&d->forced_compat, ANSWER_YES, "%s forces compatibility mode", forced_where);
        remedy(say(d, SEVERITY_WARN, forced_where, "compatibility mode is forced: the direct road is never taken"),
               "set force_compat_mode to false in cufile.json, or CUFILE_FORCE_COMPAT_MODE=false");
    }
    if (allow == 0 && force != 1) {
        conclude(&d->compat, ANSWER_NO, "%s forbids compatibility mode", where);
        say(d, SEVERITY_NOTE, where, "compatibility mode is forbidden: without a direct road cuFile does not work");
        return;
    }
    if (allow == 1 || force == 1)
        conclude(&d->compat, ANSWER_YES, "%s", allow == 1 ? where : forced_where);
    say(d, SEVERITY_PASS, where,
        allow == 1 ? "compatibility mode is allowed"
                   : "nothing says whether compatibility mode is allowed: the library's default");
}

void check_cufile_parallel(struct doctor *d)
{
    const char *path = path_in_force(d);
    const json_t *parallel = config_get(d, "execution.parallel_io"),
                 *threads = config_get(d, "execution.max_io_threads");
    const json_t *threshold = config_get(d, "execution.min_io_threshold_size_kb");

    fact(d, "parallel_io", json_deep_copy(parallel));
    fact(d, "max_io_threads", json_deep_copy(threads));
    fact(d, "min_io_threshold_size_kb", json_deep_copy(threshold));
    if (json_is_false(parallel) || (json_is_integer(threads) && !json_integer_value(threads)))
        remedy(say(d, SEVERITY_NOTE, path, "%s: requests are not split, and the stream interface is off",
                   json_is_false(parallel) ? "execution.parallel_io is false" : "execution.max_io_threads is 0"),
               "set execution.parallel_io to true, and execution.max_io_threads to 4 or more");
    else
        say(d, SEVERITY_PASS, path, "parallel_io is on%s",
            json_is_integer(threshold) ? "" : "; requests are split above the library's default threshold");
}

void check_cufile_sizes(struct doctor *d)
{
    static const char *const names[] = {"max_direct_io_size_kb",        "max_device_cache_size_kb",
                                        "per_buffer_cache_size_kb",     "max_device_pinned_mem_size_kb",
                                        "posix_pool_slab_size_kb",      "posix_pool_slab_count",
                                        "gpu_bounce_buffer_slab_config"};
    const char *path = path_in_force(d);
    char key[96];
    const json_t *direct;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(key, sizeof(key), "properties.%s", names[i]);
        if (config_get(d, key))
            fact(d, names[i], json_deep_copy(config_get(d, key)));
    }
    direct = config_get(d, "properties.max_direct_io_size_kb");
    if (json_is_integer(direct) && json_integer_value(direct) < 1024)
        remedy(say(d, SEVERITY_WARN, path,
                   "properties.max_direct_io_size_kb is %lld: larger requests are cut that small",
                   (long long)json_integer_value(direct)),
               "set properties.max_direct_io_size_kb to 1024 or more");
    else
        say(d, SEVERITY_PASS, path, "sizes of pools and pieces are in order");
}

/* Variables that the library reads; the key that each overrides. */
static const struct {
    const char *name, *key;
} variables[] = {
    {"CUFILE_ENV_PATH_JSON", "the file itself"},
    {"CUFILE_ALLOW_COMPAT_MODE", "properties.allow_compat_mode"},
    {"CUFILE_FORCE_COMPAT_MODE", "properties.force_compat_mode"},
    {"CUFILE_LOGGING_LEVEL", "logging.level"},
    {"CUFILE_LOGFILE_PATH", "logging.dir"},
    {"CUFILE_LOGFILE_MAX_SIZE_MB", "logging.max_file_size_mb"},
    {"CUFILE_NVTX", "profile.nvtx"},
    {"CUFILE_STATS_LEVEL", "profile.cufile_stats"},
    {"CUFILE_IO_PRIORITY", "properties.io_priority"},
    {"CUFILE_USE_PCIP2PDMA", "properties.use_pci_p2pdma"},
    {"CUFILE_EXPERIMENTAL_FS", "file systems that are not supported"},
    {"CUFILE_ETH_SL", "the service level of Ethernet"},
    {"CUFILE_IB_SL", "the service level of InfiniBand"},
    {"CUFILE_RDMA_DC_KEY", "properties.rdma_dc_key"},
    {"CUFILE_DMABUF_ENABLE", "the use of dmabuf"},
    {"CUFILE_SKIP_TOPOLOGY_DETECTION", "miscellaneous.skip_topology_detection"},
    {"CUFILE_STREAM_MEMOPS_BYPASS", "miscellaneous.stream_memops_bypass"},
    {"CUFILE_PCI_DEFAULT", "the choice of PCI devices"},
    {"CUFILE_MAX_DEVICE_CACHE_SIZE", "properties.max_device_cache_size_kb"},
    {"CUFILE_PER_BUFFER_CACHE_SIZE", "properties.per_buffer_cache_size_kb"},
    {"CUFILE_VISIBLE_DEVICES", "which GPUs cuFile looks at"},
    {"CUFILE_SKIP_BUFFER_VALIDITY_CHECK", "the check of buffers"},
    {"CUFILE_RDMA_ALLOW_RDMA_TOKEN_RESET", "properties.allow_rdma_token_reset"},
    {"CUFILE_RDMA_TOKEN_RESET_TIMEOUT_SECS", "miscellaneous.rdma_token_reset_timeout_secs"},
};

void check_cufile_env(struct doctor *d)
{
    const json_t *value;
    const char *name;
    unsigned n = 0;

    json_object_foreach((json_t *)json_object_get(d->live, "env"), name, value)
    {
        const char *overrides = NULL;

        if (strncmp(name, "CUFILE_", 7) || !*(json_string_value(value) ?: "")) /* an empty one is as none */
            continue;
        n++;
        fact(d, name, json_deep_copy(value));
        for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
            if (!strcmp(variables[i].name, name))
                overrides = variables[i].key;
        if (is_ignored(d, name))
            remedy(say(d, SEVERITY_WARN, name, "cuFile %d.%d does not read it: from 1.17 on only %s counts",
                       d->library_major, d->library_minor, overrides),
                   "unset %s, and set %s in cufile.json", name, overrides);
        else if (overrides)
            remedy(say(d, SEVERITY_NOTE, name, "%s=%s overrides %s", name, json_string_value(value) ?: "", overrides),
                   "unset %s", name);
        else
            remedy(say(d, SEVERITY_WARN, name, "%s: no such variable of cuFile's is known", name), "unset %s", name);
    }
    if (!n)
        say(d, SEVERITY_PASS, "environment", "no variable of cuFile's is set");
}

/* ------------------------------------------------------------------------------------------------ */

static bool is_listed(const json_t *list, const char *word)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one) if (json_is_string(one) && !strcmp(json_string_value(one), word)) return true;
    return false;
}

/* What of the file the denylist names, and by which key. */
static const char *denied_by(const struct doctor *d, const char **ret_key)
{
    const struct doctor_file *f = d->file;

    *ret_key = "denylist.filesystems";
    if (f->mount.known && is_listed(config_get(d, *ret_key), f->mount.fs_type))
        return f->mount.fs_type;
    *ret_key = "denylist.mounts";
    if (f->mount.known && is_listed(config_get(d, *ret_key), f->mount.mount_point))
        return f->mount.mount_point;
    *ret_key = "denylist.devices";
    for (unsigned i = 0; f->block.known && i < f->block.n_leaves; i++) {
        char node[64];

        snprintf(node, sizeof(node), "/dev/%s", f->block.leaves[i]);
        if (is_listed(config_get(d, *ret_key), node) || is_listed(config_get(d, *ret_key), f->block.leaves[i]))
            return f->block.leaves[i];
    }
    return NULL;
}

void check_denylist(struct doctor *d)
{
    const char *key, *what = denied_by(d, &key), *path = path_in_force(d);

    fact_text(d, "denied", what);
    if (!what) {
        say(d, SEVERITY_PASS, path, "no denylist names it");
        return;
    }
    conclude(&d->file->nvfs, ANSWER_NO, "%s of cufile.json names %s", key, what);
    conclude(&d->file->p2pdma, ANSWER_NO, "%s of cufile.json names %s", key, what);
    conclude(&d->file->user_rdma, ANSWER_NO, "%s of cufile.json names %s", key, what);
    remedy(say(d, SEVERITY_WARN, path, "%s names %s: cuFile has no direct road to it (5034)", key, what),
           "take %s out of %s in %s", what, key, path);
}
