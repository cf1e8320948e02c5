/* SPDX-License-Identifier: MIT */
/*
 * A record of this machine: a list of files of /proc, /sys, /run, /etc, /boot and /lib/modules, with the links that
 * lead to them, and facts.json. Whatever is not on the list is not recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "doctor/record.h"
#include "probe/mount.h"
#include "probe/read.h"
#include "worker/job.h"

static const struct row {
    const char *pattern;
    enum cut cut;
    const char *keep; /* beginnings of the lines or words that stay, by '|' */
    enum scrub_depth depth;
} rows[] = {
    {"/proc/driver/nvidia/version"},
    {"/proc/driver/nvidia/gpus/*/information", CUT_LINES, "Model|GPU UUID|Bus Location|Bus Type"},
    {"/proc/driver/nvidia/capabilities/gpu*/mig/gi*"},
    {"/proc/driver/nvidia-fs/version"},
    {"/proc/driver/nvidia-fs/devcount"},
    {"/proc/driver/nvidia-fs/modules"},
    {"/proc/driver/nvidia-fs/stats"},
    {"/proc/modules", CUT_LINES, "nvidia|nvme|mlx5|ib_|rdma|rpcrdma|nfs|lustre|beegfs|sunrpc"},
    {"/proc/version", CUT_FIRST_PAREN},
    {"/proc/cmdline", CUT_WORDS, "iommu|intel_iommu|amd_iommu|pci=|nvme_core."},
    {"/proc/sys/kernel/osrelease"},
    {"/proc/sys/kernel/io_uring_disabled"},
    {"/proc/sys/sunrpc/*slot_table_entries"},
    {"/proc/self/limits"},
    {"/proc/self/status", CUT_LINES, "Seccomp|Cpus_allowed_list"},
    {"/proc/self/cgroup", CUT_NONE, NULL, SCRUB_ALL},
    {"/proc/self/mountinfo", CUT_MOUNTS, NULL, SCRUB_ALL},
    {"/proc/fs/ext4/*/options"},
    {"/sys/bus/pci/devices/*/vendor"},
    {"/sys/bus/pci/devices/*/class"},
    {"/sys/bus/pci/devices/*/numa_node"},
    {"/sys/bus/pci/devices/*/current_link_speed"},
    {"/sys/bus/pci/devices/*/current_link_width"},
    {"/sys/bus/pci/devices/*/max_link_speed"},
    {"/sys/bus/pci/devices/*/max_link_width"},
    {"/sys/bus/pci/devices/*/resource"},
    {"/sys/bus/pci/devices/*/iommu_group/type"},
    {"/sys/block/*/dev"},
    {"/sys/block/*/queue/max_sectors_kb"},
    {"/sys/block/*/queue/max_hw_sectors_kb"},
    {"/sys/block/*/queue/nr_requests"},
    {"/sys/block/*/queue/logical_block_size"},
    {"/sys/block/*/queue/iostats"},
    {"/sys/block/*/integrity/format"},
    {"/sys/block/*/integrity/device_is_integrity_capable"},
    {"/sys/block/*/dm/uuid", CUT_DASH},
    {"/sys/block/*/md/level"},
    {"/sys/block/*/loop/backing_file", CUT_NONE, NULL, SCRUB_ALL},
    {"/sys/block/*/slaves/*"},
    {"/sys/dev/block/*/dev"},
    {"/sys/dev/block/*/partition"},
    {"/sys/class/nvme/*/transport"},
    {"/sys/class/infiniband/*/device/vendor"},
    {"/sys/class/infiniband/*/ports/*/state"},
    {"/sys/class/infiniband/*/ports/*/rate"},
    {"/sys/class/infiniband/*/ports/*/link_layer"},
    {"/sys/devices/system/cpu/online"},
    {"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
    {"/sys/devices/system/node/online"},
    {"/sys/module/nvidia_fs/parameters/rw_stats_enabled"},
    {"/sys/module/nvme_core/parameters/multipath"},
    {"/sys/module/mlx5_core/version"},
    {"/sys/module/nfs/parameters/max_session_slots"},
    {"/sys/module/rpcrdma"},
    {"/sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos"},
    {"/run/udev/data"},
    {"/etc/cufile.json", CUT_NONE, NULL, SCRUB_ALL},
    {"/.dockerenv"},
    {"/run/.containerenv"},
};

/* ------------------------------------------------------------------------------------------------
 * Taking
 */

static int take(struct record *r, const struct row *row, const char *path)
{
    char real[PATH_MAX], reason[PROBE_REASON];
    _cleanup_free_ char *text = NULL;
    struct stat st;

    snprintf(real, sizeof(real), "%s", path);
    if (stat(path, &st) < 0 || (!strncmp(path, "/sys/", 5) && record_write_links(r, path, real) < 0))
        return 0; /* it is gone */
    if (S_ISDIR(st.st_mode))
        return record_write_folder(r, real);
    text = S_ISREG(st.st_mode) ? read_text(&r->d->p, path, reason) : NULL;
    if (!text)
        return 0;
    record_cut(r, row->cut, row->keep, text);
    return record_write_text(r, real, row->depth, text);
}

static int take_all(struct record *r, const struct row *row)
{
    glob_t found;
    int rc = 0;

    if (glob(row->pattern, 0, NULL, &found))
        return 0;
    for (size_t i = 0; !rc && i < found.gl_pathc; i++)
        rc = take(r, row, found.gl_pathv[i]);
    globfree(&found);
    return rc;
}

static int take_formatted(struct record *r, enum cut how, const char *keep, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int take_formatted(struct record *r, enum cut how, const char *keep, const char *format, ...)
{
    struct row row = {NULL, how, keep};
    char path[PATH_MAX];
    va_list ap;

    va_start(ap, format);
    vsnprintf(path, sizeof(path), format, ap);
    va_end(ap);
    row.pattern = path;
    return take_all(r, &row);
}

/* ------------------------------------------------------------------------------------------------ */

/* Limits of the group of each controller and of those above it. */
static int take_group(struct record *r, const char *mount_point, const char *group)
{
    static const char *const files[] = {"cpu.max",          "cpu.stat",          "memory.max",
                                        "cpu.cfs_quota_us", "cpu.cfs_period_us", "memory.limit_in_bytes"};
    _cleanup_free_ char *path = strdup(group);
    char *slash;
    int rc = 0;

    do {
        for (size_t i = 0; path && !rc && i < ARRAY_SIZE(files); i++)
            rc = take_formatted(r, CUT_NONE, NULL, "%s%s/%s", mount_point, strcmp(path, "/") ? path : "", files[i]);
        slash = path ? strrchr(path, '/') : NULL;
        if (slash)
            *slash = 0;
    } while (!rc && slash);
    return rc;
}

struct groups {
    struct record *r;
    int rc;
};

static bool visit_mount(void *context, const struct mount_line *l)
{
    struct groups *g = context;
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = NULL;
    char *at, *line;

    if (strncmp(l->fs_type, "cgroup", 6))
        return false;
    at = text = look_text(g->r->d, reason, "/proc/self/cgroup");
    while (at && !g->rc && (line = strsep(&at, "\n"))) {
        const char *path = strchr(line, ':') ? strchr(strchr(line, ':') + 1, ':') : NULL;

        if (path)
            g->rc = take_group(g->r, l->mount_point, path + 1);
    }
    return g->rc != 0;
}

static int take_groups(struct record *r)
{
    struct groups g = {r, 0};
    char reason[PROBE_REASON];

    mount_walk(&r->d->p, visit_mount, &g, reason);
    return g.rc;
}

static int take_devices(struct record *r)
{
    int rc = take_formatted(r, CUT_LINES, "CONFIG_PCI_P2PDMA=", "/boot/config-%s", r->d->kernel);

    for (size_t i = 0; !rc && i < r->d->n_files; i++)
        if (json_is_array(json_object_get(r->d->files[i].facts, "device")))
            rc = take_formatted(
                r, CUT_LINES, "E:ID_FS_TYPE|E:ID_FS_USAGE", "/run/udev/data/b%d:%d",
                (int)json_integer_value(json_array_get(json_object_get(r->d->files[i].facts, "device"), 0)),
                (int)json_integer_value(json_array_get(json_object_get(r->d->files[i].facts, "device"), 1)));
    return rc;
}

/* Of modules.dep only whether nvidia-fs is in it. */
static int take_modules(struct record *r)
{
    char reason[PROBE_REASON], path[PATH_MAX];
    _cleanup_free_ char *text = look_text(r->d, reason, "/lib/modules/%s/modules.dep", r->d->kernel);

    snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", r->d->kernel);
    return text ? record_write_text(r, path, SCRUB_ADDRESSES, strstr(text, "nvidia-fs.ko") ? "nvidia-fs.ko:\n" : "")
                : 0;
}

static int take_config(struct record *r)
{
    bool hangs = json_is_true(live_get(r->d, "config_hangs"));
    const char *named = hangs ? NULL : live_text(r->d, "env.CUFILE_ENV_PATH_JSON");
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = named && *named == '/' ? look_text(r->d, reason, "%s", named) : NULL;

    return text ? record_write_text(r, named, SCRUB_ALL, text) : 0;
}

static int write_facts(struct record *r)
{
    json_t *facts = scrub_json(&r->scrub, r->d->live), *files = json_array();
    _cleanup_free_ char *text = NULL;
    int rc;

    for (size_t i = 0; i < r->d->n_files; i++) {
        json_object_set_new(r->d->files[i].facts, "name", json_filename(r->d->files[i].name));
        json_array_append_new(files, scrub_json(&r->scrub, r->d->files[i].facts));
    }
    json_object_set_new(facts, "files", files);
    text = json_dumps(facts, JSON_INDENT(1) | JSON_SORT_KEYS);
    rc = text ? record_write_text(r, "/facts.json", SCRUB_ADDRESSES, text)
              : error_errno(r->e, ENOMEM, "json", "facts.json");
    json_decref(facts);
    return rc;
}

/* Made, or empty. */
static int open_dir(const char *dir, struct spur_error *e)
{
    struct dirent *entry;
    bool empty = true;
    DIR *d;

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return error_errno(e, errno, "mkdir", "%s", dir);
    d = opendir(dir);
    if (!d)
        return error_errno(e, errno, "open", "%s", dir);
    while ((entry = readdir(d)))
        empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(d);
    if (empty)
        return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    error_spur(e, SPUR_CODE_USAGE, "record", "%s is not empty", dir);
    error_remedy(e, "name a new or an empty directory");
    return -EINVAL;
}

static int record_all(struct record *r)
{
    int rc = 0;

    record_note_all(r);
    for (size_t i = 0; !rc && i < ARRAY_SIZE(rows); i++)
        rc = take_all(r, &rows[i]);
    if (!rc)
        rc = take_groups(r);
    if (!rc)
        rc = take_devices(r);
    if (!rc)
        rc = take_modules(r);
    if (!rc)
        rc = take_config(r);
    return rc ? rc : write_facts(r);
}

/* Half a record would be taken for a machine without the rest. The folder was new or empty: all in it is the record's.
 */
static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    if (at->level)
        (type == FTW_DP ? rmdir : unlink)(path);
    return 0;
}

int doctor_record(const struct doctor_request *request, const char *dir, struct spur_error *e)
{
    struct doctor d = {.no_probe = false};
    struct record r = {.d = &d, .e = e, .dir = open_dir(dir, e)};
    int rc = r.dir < 0 ? r.dir : doctor_gather(&d, request, e);

    if (!rc)
        rc = record_all(&r);
    if (rc < 0 && r.dir >= 0)
        nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (r.dir >= 0)
        close(r.dir);
    for (size_t i = 0; i < r.n_paths; i++)
        free(r.paths[i]);
    scrub_free(&r.scrub);
    doctor_free(&d);
    return rc;
}
