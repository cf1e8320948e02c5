/* SPDX-License-Identifier: MIT */
/* The disks below the file: what kind they are, what is stacked on them, their queues; and udev's facts. */
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "doctor/check.h"

static bool no_disks(struct doctor *d)
{
    const struct doctor_file *f = d->file;

    bool none = f->has_device && major(f->device) == 0;

    if (f->block.known)
        return false;
    if (!none)
        conclude(&d->file->unseen, ANSWER_NO, "the disks below it are not known (%s)", f->block.reason);
    say(d, none ? SEVERITY_PASS : SEVERITY_UNKNOWN, f->mount.known ? f->mount.mount_point : f->name,
        "no disks are seen below it: %s", f->block.reason);
    return true;
}

static void both_roads(struct doctor_file *f, const char *device, const char *what)
{
    conclude(&f->nvfs, ANSWER_NO, "%s is %s", device, what);
    conclude(&f->p2pdma, ANSWER_NO, "%s is %s", device, what);
}

/* dm-0, md127, loop3: what lies between file system and disks. */
static void judge_top(struct doctor *d)
{
    struct doctor_file *f = d->file;
    const char *top = f->block.top;
    _cleanup_free_ char *level = NULL, *uuid = NULL;

    if (!strncmp(top, "dm-", 3)) {
        uuid = look_line(d, "/sys/block/%s/dm/uuid", top);
        both_roads(f, top, "a device-mapper device");
        say(d, SEVERITY_WARN, top, "device mapper%s%.20s%s: cuFile has no direct road through it", uuid ? " (" : "",
            uuid ? uuid : "", uuid ? "...)" : "");
    } else if (!strncmp(top, "md", 2)) {
        level = look_line(d, "/sys/block/%s/md/level", top);
        fact_text(d, "md_level", level);
        conclude(&f->p2pdma, ANSWER_NO, "%s is an md array", top);
        if (level && (!strcmp(level, "raid0") || !strcmp(level, "raid1")))
            say(d, SEVERITY_PASS, top, "md %s: nvidia-fs takes it", level);
        else {
            conclude(&f->nvfs, ANSWER_NO, "%s is md %s, and cuFile names raid0 and raid1 only", top,
                     level ? level : "of unknown level");
            say(d, SEVERITY_WARN, top, "md %s: cuFile names raid0 and raid1 only", level ? level : "of unknown level");
        }
    } else if (!strncmp(top, "loop", 4)) {
        both_roads(f, top, "a loop device");
        remedy(say(d, SEVERITY_WARN, top, "a loop device: its bytes come from a file by way of the kernel"),
               "put the file on the disk's own file system");
    }
}

static void judge_leaf(struct doctor *d, const char *leaf)
{
    struct doctor_file *f = d->file;
    _cleanup_free_ char *transport = NULL;
    char controller[32];

    if (strncmp(leaf, "nvme", 4)) {
        conclude(&f->nvfs, ANSWER_NO, "%s is no NVMe disk", leaf);
        conclude(&f->p2pdma, ANSWER_NO, "%s is no NVMe disk", leaf);
        say(d, SEVERITY_WARN, leaf, "no NVMe disk: the direct road from local disks is for NVMe only");
        return;
    }
    snprintf(controller, sizeof(controller), "%.*s", (int)(4 + strspn(leaf + 4, "0123456789")), leaf);
    transport = look_line(d, "/sys/class/nvme/%s/transport", controller);
    fact_text(d, "transport", transport);
    if (transport && strcmp(transport, "pcie"))
        conclude(&f->p2pdma, ANSWER_NO, "%s is reached over %s, not PCIe", leaf, transport);
    say(d, SEVERITY_PASS, leaf, "NVMe%s%s", transport ? " over " : "", transport ? transport : "");
}

/* nvme0c1n1 below nvme0n1: the kernel's multipath hides the real namespaces, which P2PDMA does not take. */
static void judge_multipath(struct doctor *d)
{
    _cleanup_free_ char *on = look_line(d, "/sys/module/nvme_core/parameters/multipath");

    fact_text(d, "nvme_multipath", on);
    if (!on || strcmp(on, "Y"))
        return;
    conclude(&d->file->p2pdma, ANSWER_NO, "NVMe multipath is on");
    remedy(say(d, SEVERITY_NOTE, "/sys/module/nvme_core/parameters/multipath",
               "NVMe multipath is on: P2PDMA wants it off, nvidia-fs its patched driver"),
           "nvme_core.multipath=N on the kernel's command line");
}

void check_block(struct doctor *d)
{
    const struct probe_block *b = &d->file->block;
    json_t *leaves;
    bool nvme = false;

    if (no_disks(d))
        return;
    leaves = json_array();
    for (unsigned i = 0; i < b->n_leaves; i++)
        json_array_append_new(leaves, json_string(b->leaves[i]));
    fact_text(d, "top", b->top);
    fact(d, "leaves", leaves);
    judge_top(d);
    for (unsigned i = 0; i < b->n_leaves; i++) {
        judge_leaf(d, b->leaves[i]);
        nvme |= !strncmp(b->leaves[i], "nvme", 4);
    }
    if (nvme)
        judge_multipath(d);
}

static void judge_integrity(struct doctor *d, const char *leaf)
{
    uint64_t on = 0;
    _cleanup_free_ char *format = look_line(d, "/sys/block/%s/integrity/format", leaf);

    if (!format || !strcmp(format, "none") ||
        !look_u64(d, &on, "/sys/block/%s/integrity/device_is_integrity_capable", leaf) || !on)
        return;
    fact_text(d, "integrity", format);
    conclude(&d->file->nvfs, ANSWER_NO, "%s has protection information (%s)", leaf, format);
    say(d, SEVERITY_WARN, leaf, "protection information (%s) is on: cuFile refuses such disks", format);
}

static void judge_queue(struct doctor *d, const char *disk)
{
    static const char *const numbers[] = {"max_sectors_kb", "max_hw_sectors_kb", "nr_requests", "logical_block_size",
                                          "iostats"};
    uint64_t v[ARRAY_SIZE(numbers)] = {0};
    bool known[ARRAY_SIZE(numbers)];
    char key[96];

    for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
        known[k] = look_u64(d, &v[k], "/sys/block/%s/queue/%s", disk, numbers[k]);
        snprintf(key, sizeof(key), "%s.%s", disk, numbers[k]);
        fact(d, key, known[k] ? json_integer((json_int_t)v[k]) : NULL);
    }
    if (known[0] && known[1] && v[0] < v[1] && v[0] < 1024)
        remedy(say(d, SEVERITY_NOTE, disk, "requests are cut at %" PRIu64 " KiB; the disk takes %" PRIu64, v[0], v[1]),
               "echo %" PRIu64 " > /sys/block/%s/queue/max_sectors_kb", v[1], disk);
    else if (known[4] && !v[4])
        remedy(say(d, SEVERITY_NOTE, disk, "iostats is 0: what the disk served cannot be counted"),
               "echo 1 > /sys/block/%s/queue/iostats", disk);
    else
        say(d, known[0] ? SEVERITY_PASS : SEVERITY_UNKNOWN, disk,
            known[0] ? "queue limits are in order" : "its queue limits cannot be read");
}

void check_block_queue(struct doctor *d)
{
    const struct probe_block *b = &d->file->block;

    if (no_disks(d))
        return;
    for (unsigned i = 0; i < b->n_leaves; i++) {
        judge_integrity(d, b->leaves[i]);
        judge_queue(d, b->leaves[i]);
    }
    if (!strncmp(b->top, "loop", 4)) /* it has a queue of its own above them */
        judge_queue(d, b->top);
}

/* ------------------------------------------------------------------------------------------------ */

static void judge_anonymous(struct doctor *d)
{
    struct doctor_file *f = d->file;

    if (d->library_major >= 0 && 1000 * d->library_major + d->library_minor < 1016)
        conclude(&f->registers, ANSWER_NO,
                 "the file's device %u:%u has no udev facts, and cuFile %d.%d wants them (5027)", major(f->device),
                 minor(f->device), d->library_major, d->library_minor);
    say(d, SEVERITY_PASS, "/run/udev/data", "device %u:%u is anonymous: udev has no facts of such", major(f->device),
        minor(f->device));
}

/* Network file systems have anonymous devices as well, and are taken by name. */
static bool is_network(const char *type)
{
    static const char *const types[] = {"nfs", "nfs4", "lustre", "beegfs", "wekafs", "gpfs", "scatefs"};

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (!strcmp(types[i], type))
            return true;
    return false;
}

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);

    for (const char *at = text; at && *at; at = strchr(at, '\n'), at += at != NULL)
        if (!strncmp(at, line, n) && (!at[n] || at[n] == '\n'))
            return true;
    return false;
}

void check_udev(struct doctor *d)
{
    struct doctor_file *f = d->file;
    char path[64], reason[PROBE_REASON];
    _cleanup_free_ char *text = NULL;
    enum severity blames;

    if (!f->has_device) {
        say(d, SEVERITY_UNKNOWN, "/run/udev/data", "the file's device number is not known");
        return;
    }
    if (major(f->device) == 0) {
        if (f->mount.known && is_network(f->mount.fs_type))
            say(d, SEVERITY_PASS, "/run/udev/data", "not needed for %s", f->mount.fs_type);
        else
            judge_anonymous(d);
        return;
    }
    snprintf(path, sizeof(path), "/run/udev/data/b%u:%u", major(f->device), minor(f->device));
    text = look_text(d, reason, "%s", path);
    fact(d, "file", json_boolean(text != NULL));
    fact(d, "usage", json_boolean(has_line(text, "E:ID_FS_USAGE=filesystem")));
    if (has_line(text, "E:ID_FS_USAGE=filesystem")) {
        say(d, SEVERITY_PASS, path, "E:ID_FS_USAGE=filesystem is there");
        return;
    }
    blames = d->library.is == ANSWER_YES ? SEVERITY_FAIL : SEVERITY_WARN;
    if (d->library.is == ANSWER_YES)
        conclude(&f->registers, ANSWER_NO, "cuFile wants E:ID_FS_USAGE=filesystem in %s, %s (5027)", path,
                 text ? "which lacks it" : "which cannot be read");
    if (text)
        remedy(say(d, blames, path, "it has no E:ID_FS_USAGE=filesystem: cuFile will not take the file (5027)"),
               "udevadm trigger --settle %s%s", f->block.top[0] ? "/dev/" : "", f->block.top);
    else if (look_exists(d, "/run/udev/data"))
        remedy(say(d, blames, path, "missing: cuFile will not take the file (5027)"), "udevadm trigger --settle");
    else
        say(d, blames, "/run/udev/data", "missing: cuFile finds no disk and will not take the file (5027)");
}
