/* SPDX-License-Identifier: MIT */
/* The mount that holds a file: its type and the options that matter to it. */
#include "probe/mount.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "core/quote.h"
#include "doctor/check.h"

/* What cuFile does on a file system; from the vendor's support lists (docs/doctor.md). */
static const struct fs {
    const char *type;
    enum answer nvfs, p2pdma, user_rdma;
    int compat_since; /* library 1000 * major + minor from which files of it can be registered; 0: always */
} file_systems[] = {
    {"ext4", ANSWER_YES, ANSWER_YES, ANSWER_NO, 0},      {"xfs", ANSWER_YES, ANSWER_YES, ANSWER_NO, 0},
    {"nfs", ANSWER_YES, ANSWER_NO, ANSWER_NO, 0},        {"nfs4", ANSWER_YES, ANSWER_NO, ANSWER_NO, 0},
    {"lustre", ANSWER_YES, ANSWER_NO, ANSWER_NO, 0},     {"beegfs", ANSWER_YES, ANSWER_NO, ANSWER_NO, 0},
    {"scatefs", ANSWER_YES, ANSWER_NO, ANSWER_NO, 1014}, {"wekafs", ANSWER_NO, ANSWER_NO, ANSWER_YES, 0},
    {"gpfs", ANSWER_NO, ANSWER_NO, ANSWER_YES, 0},       {"virtiofs", ANSWER_NO, ANSWER_UNKNOWN, ANSWER_NO, 1016},
    {"tmpfs", ANSWER_NO, ANSWER_NO, ANSWER_NO, 1016},    {"ramfs", ANSWER_NO, ANSWER_NO, ANSWER_NO, 1016},
    {"overlay", ANSWER_NO, ANSWER_NO, ANSWER_NO, 1016},  {"squashfs", ANSWER_NO, ANSWER_NO, ANSWER_NO, 1016},
    {"zfs", ANSWER_NO, ANSWER_NO, ANSWER_NO, 1017},      {"btrfs", ANSWER_NO, ANSWER_NO, ANSWER_NO, 1017},
};

static const struct fs *fs_find(const char *type)
{
    for (size_t i = 0; i < ARRAY_SIZE(file_systems); i++)
        if (!strcmp(file_systems[i].type, type))
            return &file_systems[i];
    return NULL;
}

bool file_is_type(const struct doctor *d, const char *type)
{
    return d->file->mount.known && !strcmp(d->file->mount.fs_type, type);
}

bool file_option(const struct doctor *d, const char *key, char *ret, size_t size)
{
    return option_value(d->file->mount.super_options, key, ret, size) ||
           option_value(d->file->mount.options, key, ret, size);
}

bool file_is_not_mine(struct doctor *d, bool mine)
{
    if (!mine)
        say(d, SEVERITY_PASS, d->file->mount.known ? d->file->mount.mount_point : d->file->name, "not of this kind: %s",
            d->file->mount.known ? d->file->mount.fs_type : d->file->mount.reason);
    return !mine;
}

static void conclude_roads(struct doctor_file *f, const struct fs *fs, const char *type)
{
    if (!fs || fs->nvfs == ANSWER_NO)
        conclude(&f->nvfs, ANSWER_NO, "nvidia-fs does not support %s", type);
    if (!fs || fs->p2pdma == ANSWER_NO)
        conclude(&f->p2pdma, ANSWER_NO, "P2PDMA does not support %s", type);
    conclude(&f->user_rdma, fs && fs->user_rdma == ANSWER_YES ? ANSWER_YES : ANSWER_NO, "%s has no user-space road",
             type);
    if (fs && fs->nvfs == ANSWER_YES)
        conclude(&f->nvfs, ANSWER_YES, "%s", type);
    if (fs && fs->p2pdma == ANSWER_YES)
        conclude(&f->p2pdma, ANSWER_YES, "%s", type);
}

/* Whether this version of the library registers files of it at all. */
static void judge_version(struct doctor *d, const struct fs *fs)
{
    int version = 1000 * d->library_major + d->library_minor;
    struct doctor_file *f = d->file;

    if (!fs || !fs->compat_since || d->library_major < 0)
        return;
    fact(d, "supported_by_library", json_boolean(version >= fs->compat_since));
    if (version >= fs->compat_since)
        return;
    conclude(&f->registers, ANSWER_NO, "cuFile %d.%d does not take files on %s (from %d.%d on it does)",
             d->library_major, d->library_minor, fs->type, fs->compat_since / 1000, fs->compat_since % 1000);
    say(d, SEVERITY_WARN, f->mount.mount_point, "cuFile %d.%d does not take files on %s; from %d.%d on it does",
        d->library_major, d->library_minor, fs->type, fs->compat_since / 1000, fs->compat_since % 1000);
}

static bool is_block_device(const struct doctor_file *f)
{
    const char *kind = json_string_value(json_object_get(f->facts, "kind"));

    return kind && !strcmp(kind, "block device");
}

/* The support lists name file systems; whether a disk itself has a direct road only a probe tells. */
static void judge_block_device(struct doctor *d)
{
    struct doctor_file *f = d->file;

    fact_text(d, "type", "block device");
    conclude(&f->user_rdma, ANSWER_NO, "a block device has no user-space road");
    if (f->mount.known)
        remedy(say(d, SEVERITY_WARN, f->name,
                   "a block device, mounted at %s: what is read past the file system may be old", f->mount.mount_point),
               "name a file below %s", f->mount.mount_point);
    else
        say(d, SEVERITY_NOTE, f->name, "a block device, no file: the vendor's support lists name file systems only");
}

void check_mount(struct doctor *d)
{
    struct doctor_file *f = d->file;
    const struct probe_mount *m = &f->mount;
    const struct fs *fs;

    if (is_block_device(f)) {
        judge_block_device(d);
        return;
    }
    if (!m->known) {
        fact(d, "type", NULL);
        conclude(&f->unseen, ANSWER_NO, "nothing is known of its mount (%s)", m->reason);
        say(d, SEVERITY_UNKNOWN, "/proc/self/mountinfo", "%s", m->reason);
        return;
    }
    fs = fs_find(m->fs_type);
    fact_text(d, "type", m->fs_type);
    fact_text(d, "mount_point", m->mount_point);
    fact_text(d, "source", m->source);
    fact(d, "options", json_sprintf("%s,%s", m->options, m->super_options) ?: json_null());
    conclude_roads(f, fs, m->fs_type);
    if (f->user_rdma.is == ANSWER_YES)
        say(d, SEVERITY_PASS, m->mount_point, "%s: cuFile reaches it by its own user-space RDMA", m->fs_type);
    else if (f->nvfs.is == ANSWER_NO && f->p2pdma.is == ANSWER_NO)
        say(d, SEVERITY_WARN, m->mount_point, "%s has no direct road%s", m->fs_type,
            fs ? ": compatibility mode at best" : " that is known");
    else
        say(d, SEVERITY_PASS, m->mount_point, "%s can have a direct road", m->fs_type);
    judge_version(d, fs);
}

/* ------------------------------------------------------------------------------------------------ */

enum ext4_mode { EXT4_UNREADABLE, EXT4_NO_JOURNAL, EXT4_MODE };

/* From /proc/fs/ext4/DEVICE/options, which names the mode always, where there is a journal. */
static enum ext4_mode ext4_in_force(const struct doctor *d, char *ret, size_t size)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(d, reason, "/proc/fs/ext4/%s/options", d->file->block.top);
    const char *at = text ? strstr(text, "\ndata=") : NULL;

    if (!d->file->block.top[0] || !text)
        return EXT4_UNREADABLE;
    if (!at)
        return EXT4_NO_JOURNAL;
    snprintf(ret, size, "%.*s", (int)strcspn(at + 6, "\n"), at + 6);
    return EXT4_MODE;
}

static void ext4_no(struct doctor *d, const char *what)
{
    conclude(&d->file->nvfs, ANSWER_NO, "%s %s", d->file->mount.mount_point, what);
    conclude(&d->file->p2pdma, ANSWER_NO, "%s %s", d->file->mount.mount_point, what);
}

/* The root cannot be unmounted: the kernel's command line mounts it, and fstab mounts it anew. */
static void ext4_remedy(struct doctor *d, json_t *finding, bool no_journal)
{
    const char *point = d->file->mount.mount_point;
    _cleanup_free_ char *device = quote_word(d->file->mount.source), *between = NULL, *text = NULL;
    enum remount is;

    if (!device || asprintf(&between, no_journal ? "tune2fs -O has_journal %s && " : "%.0s", device) < 0)
        return;
    is = remount_command(d, "data=ordered", between, &text);
    if (is == REMOUNT_ROOT)
        remedy(finding, "use a file on another mount; or %srootflags=data=ordered on the kernel's command line%s",
               no_journal ? "tune2fs -O has_journal on it from a rescue system, and " : "",
               ", and boot anew (a remount does not show it)");
    else if (is == REMOUNT_UNSEEN)
        remedy(
            finding,
            "%s shows its folder %s only, as in a container: where the whole of %s is mounted, unmount it everywhere, "
            "%smount it with -o data=ordered (a remount does not show it), then come back here",
            point, text ? text : "", device, no_journal ? "tune2fs -O has_journal on it, " : "");
    else if (text)
        remedy(finding, "%s (a remount does not show it)", text);
}

/* The mount table shows the mode only where it was asked for at mount time; a remount leaves it unshown. */
void check_ext4(struct doctor *d)
{
    const struct probe_mount *m = &d->file->mount;
    char mode[32] = "", what[96];
    enum ext4_mode known;
    bool shown;

    if (file_is_not_mine(d, file_is_type(d, "ext4")))
        return;
    shown = file_option(d, "data", mode, sizeof(mode));
    known = shown ? EXT4_MODE : ext4_in_force(d, mode, sizeof(mode));
    fact_text(d, "data", known == EXT4_MODE ? mode : known == EXT4_NO_JOURNAL ? "no journal" : NULL);
    fact(d, "shown_in_mount_table", json_boolean(shown));
    if (shown && !strcmp(mode, "ordered")) {
        say(d, SEVERITY_PASS, m->mount_point, "data=ordered");
        return;
    }
    if (known == EXT4_MODE && strcmp(mode, "ordered"))
        snprintf(what, sizeof(what), "is mounted with data=%s", mode);
    else
        snprintf(what, sizeof(what), "%s",
                 known == EXT4_NO_JOURNAL ? "has no journal, and so no data mode"
                                          : "does not show data=ordered in the mount table");
    ext4_no(d, what);
    ext4_remedy(d, say(d, SEVERITY_WARN, m->mount_point, "it %s; cuFile wants to see data=ordered there", what),
                known == EXT4_NO_JOURNAL);
}

void check_xfs(struct doctor *d)
{
    const struct probe_mount *m = &d->file->mount;

    if (file_is_not_mine(d, file_is_type(d, "xfs")))
        return;
    if (mount_has_option(m->super_options, "rtdev") || strstr(m->super_options, "rtdev="))
        say(d, SEVERITY_NOTE, m->mount_point, "it has a realtime device: files on it are not on the disks named here");
    else
        say(d, SEVERITY_PASS, m->mount_point, "no option of it is in the way");
}

/* ------------------------------------------------------------------------------------------------ */

void check_lustre(struct doctor *d)
{
    const json_t *seen = json_object_get(d->file->facts, "lustre");
    const char *where = d->file->mount.mount_point;
    int stripes = (int)json_integer_value(json_object_get(seen, "stripes"));
    long long bytes = json_integer_value(json_object_get(seen, "bytes"));

    if (file_is_not_mine(d, file_is_type(d, "lustre")))
        return;
    fact(d, "stripes", seen ? json_integer(stripes) : NULL);
    fact(d, "stripe_bytes", seen ? json_integer(bytes) : NULL);
    if (stripes > 1) {
        say(d, SEVERITY_PASS, where, "%d stripes of %lld bytes", stripes, bytes);
        return;
    }
    remedy_of(say(d, stripes == 1 ? SEVERITY_WARN : SEVERITY_NOTE, where, "%s",
                  stripes == 1
                      ? "one stripe: one server holds the whole file"
                      : "how many servers hold the file is not seen from here (a directory, or a layout of parts)"),
              "lfs getstripe ", d->file->name, "; lfs setstripe -c -1 DIRECTORY for new files");
}

static void judge_overlay(struct doctor *d)
{
    const struct doctor_file *f = d->file;
    char upper[1024] = "";

    option_value(f->mount.super_options, "upperdir", upper, sizeof(upper));
    fact_text(d, "upper", *upper ? upper : NULL);
    remedy(say(d, SEVERITY_WARN, f->mount.mount_point, "a container layer (overlay; upper layer %s%s%s)",
               *upper ? upper : "none", f->block.known ? ", on " : "", f->block.known ? f->block.top : ""),
           "mount a volume: docker run -v /mnt/data:/data, or a hostPath or local volume in Kubernetes");
}

/* Overlays and files in memory. */
void check_layered(struct doctor *d)
{
    const struct doctor_file *f = d->file;
    bool memory = file_is_type(d, "tmpfs") || file_is_type(d, "ramfs") || file_is_type(d, "hugetlbfs");

    if (file_is_not_mine(d, memory || file_is_type(d, "overlay")))
        return;
    if (!memory) {
        judge_overlay(d);
        return;
    }
    remedy(say(d, SEVERITY_WARN, f->mount.mount_point, "%s: the file is memory; O_DIRECT is accepted and means nothing",
               f->mount.fs_type),
           "use a file on a disk or a network file system");
}

bool file_is_simulated(const struct doctor_file *f)
{
    return json_is_true(json_object_get(f->facts, "simfs")) ||
           (f->mount.known && !strcmp(f->mount.fs_type, "fuse.spur"));
}

/* FUSE, Weka, GPFS: the daemon or client decides. */
void check_user_space(struct doctor *d)
{
    const struct probe_mount *m = &d->file->mount;
    bool fuse = m->known && !strncmp(m->fs_type, "fuse", 4);

    if (file_is_not_mine(d, fuse || file_is_type(d, "wekafs") || file_is_type(d, "gpfs")))
        return;
    if (fuse && file_is_simulated(d->file)) {
        fact(d, "simulated", json_true());
        remedy_of(say(d, SEVERITY_NOTE, m->mount_point,
                      "simulated storage (spur simfs): to test a set-up or a program with, not a disk"),
                  "spur simfs --unmount ", m->mount_point, " ends it");
    } else if (fuse) {
        say(d, SEVERITY_NOTE, m->mount_point,
            "%s: a process serves the file; whether O_DIRECT reaches a disk is its choice", m->fs_type);
    } else if (file_is_type(d, "wekafs") && !json_is_true(config_get(d, "fs.weka.rdma_write_support"))) {
        remedy(say(d, SEVERITY_NOTE, "cufile.json", "fs.weka.rdma_write_support is not true: writes are pwrite"),
               "set \"fs\": {\"weka\": {\"rdma_write_support\": true}} in cufile.json");
    } else if (file_is_type(d, "gpfs") && !json_is_true(config_get(d, "fs.gpfs.gds_write_support"))) {
        remedy(say(d, SEVERITY_NOTE, "cufile.json", "fs.gpfs.gds_write_support is not true: writes are pwrite"),
               "set \"fs\": {\"gpfs\": {\"gds_write_support\": true}} in cufile.json");
    } else {
        say(d, SEVERITY_PASS, m->mount_point, "%s", m->fs_type);
    }
}
