/* SPDX-License-Identifier: MIT */
/*
 * A record of this machine: a list of files of /proc, /sys, /run, /etc, /boot and /lib/modules, with the links that
 * lead to them, and facts.json. Whatever is not on the list is not recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "core/error.h"
#include "doctor/check.h"
#include "doctor/scrub.h"
#include "probe/mount.h"
#include "probe/read.h"
#include "worker/job.h"

/* How a file's text is cut down. */
enum cut { CUT_NONE, CUT_LINES, CUT_WORDS, CUT_FIRST_PAREN, CUT_MOUNTS, CUT_DASH };

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
    {"/sys/module/rpcrdma"},
    {"/sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos"},
    {"/run/udev/data"},
    {"/etc/cufile.json", CUT_NONE, NULL, SCRUB_ALL},
    {"/.dockerenv"},
    {"/run/.containerenv"},
};

struct record {
    const struct doctor *d;
    int dir;
    struct scrub scrub;
    char *paths[64]; /* real names of files, and of what lies below them: their mounts are kept */
    size_t n_paths;
    struct spur_error *e;
};

/* ------------------------------------------------------------------------------------------------
 * Cutting
 */

static bool begins_with_one(const char *text, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, "|");

        if (!strncmp(text, list, n))
            return true;
        list += n + (list[n] == '|');
    }
    return false;
}

/* Keeps the pieces between @separator that begin with one of @keep. */
static void cut_pieces(char *text, char separator, const char *keep)
{
    const char stops[] = {separator, '\n', 0};
    char *out = text;

    for (char *at = text; *at;) {
        size_t n = strcspn(at, stops);

        if (begins_with_one(at, keep)) {
            memmove(out, at, n);
            out += n;
            *out++ = at[n] ? at[n] : '\n';
        }
        at += n + (at[n] != 0);
    }
    *out = 0;
}

static bool is_above(const char *folder, const char *path)
{
    size_t n = strlen(folder);

    return !strcmp(folder, "/") || (!strncmp(folder, path, n) && (path[n] == '/' || !path[n]));
}

/* Mounts of the files and of what they stand on, and of control groups. */
static bool is_kept(const struct record *r, const char *line)
{
    char point[PATH_MAX], type[64];
    const char *dash = strstr(line, " - ");

    if (!dash || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 || sscanf(dash, " - %63s", type) != 1)
        return false;
    mount_unescape(point);
    for (size_t i = 0; i < r->n_paths; i++)
        if (is_above(point, r->paths[i]))
            return true;
    return !strncmp(type, "cgroup", 6) || !strcmp(point, "/proc") || !strcmp(point, "/sys");
}

static void cut_mounts(const struct record *r, char *text)
{
    char *out = text;

    for (char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        char last = at[n];
        bool keep;

        at[n] = 0;
        keep = is_kept(r, at);
        if (keep) {
            memmove(out, at, n);
            out += n;
            *out++ = '\n';
        }
        at += n + (last != 0);
    }
    *out = 0;
}

static void cut(const struct record *r, const struct row *row, char *text)
{
    static const char *const stops[] = {[CUT_FIRST_PAREN] = "(", [CUT_DASH] = "-"};

    if (row->cut == CUT_LINES)
        cut_pieces(text, '\n', row->keep);
    else if (row->cut == CUT_WORDS)
        cut_pieces(text, ' ', row->keep);
    else if (row->cut == CUT_MOUNTS)
        cut_mounts(r, text);
    else if (row->cut)
        text[strcspn(text, stops[row->cut])] = 0;
}

/* ------------------------------------------------------------------------------------------------
 * Writing
 */

static int make_folders(struct record *r, char *path)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdirat(r->dir, path, 0755) < 0 && errno != EEXIST)
            return error_errno(r->e, errno, "mkdir", "%s", path);
        *slash = '/';
    }
    return 0;
}

/* Only paths of groups, and that of a cufile.json elsewhere, tell of anybody. */
static char *scrub_name(struct record *r, const char *path)
{
    bool tells = strncmp(path, "/proc/", 6) && (strncmp(path, "/sys/", 5) || !strncmp(path, "/sys/fs/cgroup/", 15));

    return scrub_text(&r->scrub, tells ? SCRUB_ALL : SCRUB_ADDRESSES, path + 1);
}

static int write_text(struct record *r, const char *path, enum scrub_depth depth, const char *text)
{
    _cleanup_free_ char *name = scrub_name(r, path), *clean = scrub_text(&r->scrub, depth, text);
    _cleanup_fd_ int fd = -1;
    size_t n = clean ? strlen(clean) : 0;

    if (!name || !clean)
        return error_errno(r->e, ENOMEM, "record", "%s", path);
    if (make_folders(r, name) < 0)
        return -EIO;
    fd = openat(r->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST) /* by another way to it */
        return 0;
    if (fd < 0 || write(fd, clean, n) != (ssize_t)n)
        return error_errno(r->e, errno, "write", "%s", name);
    return 0;
}

static int write_folder(struct record *r, const char *path)
{
    _cleanup_free_ char *name = NULL;

    return asprintf(&name, "%s/", path + 1) < 0 ? error_errno(r->e, ENOMEM, "record", "%s", path)
                                                : make_folders(r, name);
}

/* Links of the way to @path, as they are; *ret: the way without them. */
static int write_links(struct record *r, const char *path, char ret[PATH_MAX])
{
    char so_far[PATH_MAX] = "", to[PATH_MAX], name[PATH_MAX];
    const char *at = path;

    while (*at) {
        size_t n = strcspn(at + 1, "/") + 1, used = strlen(so_far);
        ssize_t length;

        if (used + n >= sizeof(so_far))
            return -ENAMETOOLONG;
        memcpy(so_far + used, at, n);
        so_far[used + n] = 0;
        at += n;
        length = readlink(so_far, to, sizeof(to) - 1);
        if (length <= 0)
            continue;
        to[length] = 0;
        snprintf(name, sizeof(name), "%s", so_far + 1);
        if (to[0] != '/' && (make_folders(r, name) < 0 || (symlinkat(to, r->dir, name) < 0 && errno != EEXIST)))
            return -EIO;
        if (!realpath(so_far, to))
            return -ENOENT;
        strcpy(so_far, to);
    }
    strcpy(ret, so_far);
    return 0;
}

static int take(struct record *r, const struct row *row, const char *path)
{
    char real[PATH_MAX], reason[PROBE_REASON];
    _cleanup_free_ char *text = NULL;
    struct stat st;

    snprintf(real, sizeof(real), "%s", path);
    if (stat(path, &st) < 0 || (!strncmp(path, "/sys/", 5) && write_links(r, path, real) < 0))
        return 0; /* it is gone */
    if (S_ISDIR(st.st_mode))
        return write_folder(r, real);
    text = S_ISREG(st.st_mode) ? read_text(&r->d->p, path, reason) : NULL;
    if (!text)
        return 0;
    cut(r, row, text);
    return write_text(r, real, row->depth, text);
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

/* ------------------------------------------------------------------------------------------------
 * What is to be replaced
 */

static void note_path(struct record *r, const char *path)
{
    if (!path || path[0] != '/' || r->n_paths == ARRAY_SIZE(r->paths))
        return;
    r->paths[r->n_paths] = strdup(path);
    r->n_paths += r->paths[r->n_paths] != NULL;
    scrub_path(&r->scrub, path);
}

/* Folders of an overlay, and the server and folder of a network mount. */
static void note_mount(struct record *r, const struct probe_mount *m)
{
    static const char *const keys[] = {"upperdir", "lowerdir", "workdir"};
    char value[PATH_MAX], *at = value, *one;
    const char *colon = strchr(m->source, ':');

    scrub_path(&r->scrub, m->mount_point);
    if (colon) {
        scrub_word(&r->scrub, SCRUB_HOST, m->source, (size_t)(colon - m->source));
        scrub_path(&r->scrub, colon + 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (!option_value(m->super_options, keys[i], value, sizeof(value)))
            continue;
        for (at = value; (one = strsep(&at, ":"));)
            note_path(r, one);
    }
}

static void note_loops(struct record *r)
{
    json_t *disks = look_names(r->d, "/sys/block"), *one;
    size_t i;

    json_array_foreach(disks, i, one)
    {
        _cleanup_free_ char *file = look_line(r->d, "/sys/block/%s/loop/backing_file", json_string_value(one));

        note_path(r, file);
    }
    json_decref(disks);
}

static void note_groups(struct record *r)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(r->d, reason, "/proc/self/cgroup");
    char *at = text, *line;

    while (at && (line = strsep(&at, "\n"))) {
        const char *path = strchr(line, ':') ? strchr(strchr(line, ':') + 1, ':') : NULL;

        if (path)
            scrub_path(&r->scrub, path + 1);
    }
}

static void note_people(struct record *r)
{
    const struct passwd *who = getpwuid(getuid());
    const char *login = getenv("SUDO_USER");
    struct utsname u;

    if (uname(&u) == 0)
        scrub_word(&r->scrub, SCRUB_HOST, u.nodename, strlen(u.nodename));
    if (who && strcmp(who->pw_name, "root"))
        scrub_word(&r->scrub, SCRUB_USER, who->pw_name, strlen(who->pw_name));
    if (login)
        scrub_word(&r->scrub, SCRUB_USER, login, strlen(login));
}

/* As it is, and as JSON shows it where it is not UTF-8. */
static void note_name(struct record *r, const char *name)
{
    json_t *shown = json_filename(name);

    scrub_path(&r->scrub, name);
    scrub_path(&r->scrub, json_string_value(shown) ?: "");
    json_decref(shown);
}

static void note_all(struct record *r)
{
    note_people(r);
    note_groups(r);
    note_loops(r);
    for (size_t i = 0; i < r->d->n_files; i++) {
        const struct doctor_file *f = &r->d->files[i];

        note_name(r, f->name);
        note_path(r, json_string_value(json_object_get(f->facts, "real")) ?: f->name);
        if (f->mount.known)
            note_mount(r, &f->mount);
    }
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
    return text ? write_text(r, path, SCRUB_ADDRESSES, strstr(text, "nvidia-fs.ko") ? "nvidia-fs.ko:\n" : "") : 0;
}

static int take_config(struct record *r)
{
    const char *named = live_text(r->d, "env.CUFILE_ENV_PATH_JSON");
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = named && *named == '/' ? look_text(r->d, reason, "%s", named) : NULL;

    return text ? write_text(r, named, SCRUB_ALL, text) : 0;
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
    rc = text ? write_text(r, "/facts.json", SCRUB_ADDRESSES, text) : error_errno(r->e, ENOMEM, "json", "facts.json");
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

    note_all(r);
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

int doctor_record(const struct doctor_request *request, const char *dir, struct spur_error *e)
{
    struct doctor d = {.no_probe = false};
    struct record r = {.d = &d, .e = e, .dir = open_dir(dir, e)};
    int rc = r.dir < 0 ? r.dir : doctor_gather(&d, request, e);

    if (!rc)
        rc = record_all(&r);
    if (r.dir >= 0)
        close(r.dir);
    for (size_t i = 0; i < r.n_paths; i++)
        free(r.paths[i]);
    scrub_free(&r.scrub);
    doctor_free(&d);
    return rc;
}
