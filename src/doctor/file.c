/* SPDX-License-Identifier: MIT */
/* The file: whether it is there, what of it is data, what of it is in memory; and O_DIRECT on it. */
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>

#include "doctor/check.h"

static const char *text_of(const json_t *facts, const char *key)
{
    return json_string_value(json_object_get(facts, key));
}

static bool is_regular(const struct doctor_file *f)
{
    const char *kind = text_of(f->facts, "kind");

    return kind && (!strcmp(kind, "file") || !strcmp(kind, "block device")) && !text_of(f->facts, "error");
}

/* For checks that need an open file. */
static bool nothing_to_see(struct doctor *d)
{
    if (is_regular(d->file))
        return false;
    say(d, SEVERITY_PASS, d->file->name, "%s: not looked at",
        d->file->is_directory ? "a directory" : "no file that could be opened");
    return true;
}

/* What file systems say of files, nothing says of a disk. */
static bool is_block_device(struct doctor *d)
{
    const char *kind = text_of(d->file->facts, "kind");

    if (!kind || strcmp(kind, "block device"))
        return false;
    say(d, SEVERITY_PASS, d->file->name, "a block device: not looked at");
    return true;
}

static bool is_memory(const struct doctor_file *f)
{
    static const char *const types[] = {"tmpfs", "ramfs", "hugetlbfs", "devtmpfs"};

    for (size_t i = 0; f->mount.known && i < ARRAY_SIZE(types); i++)
        if (!strcmp(f->mount.fs_type, types[i]))
            return true;
    return false;
}

static void judge_missing(struct doctor *d, const char *error)
{
    struct doctor_file *f = d->file;
    json_t *one;

    conclude(&f->readable, ANSWER_NO, "%s", error);
    one = say(d, SEVERITY_FAIL, f->name, "%s", error);
    if (json_is_true(json_object_get(f->facts, "hanging"))) {
        json_object_set_new(one, "found", json_sprintf("the mount hangs: %s", error));
        conclude(&f->readable, ANSWER_NO, "the mount hangs");
        snprintf(f->readable.why, sizeof(f->readable.why), "the mount hangs: %.200s", error);
        remedy_of(one, "see the kernel log; umount -f -l ", f->mount.known ? f->mount.mount_point : f->name,
                  " gives up a mount whose server is gone");
    }
}

static void judge_size(struct doctor *d, const char *kind, uint64_t bytes)
{
    const char *name = d->file->name;

    if (bytes < DOCTOR_PROBE_LEAST)
        say(d, SEVERITY_NOTE, name, "%" PRIu64 " bytes: not probed, which takes %d", bytes, DOCTOR_PROBE_LEAST);
    else
        say(d, SEVERITY_PASS, name, "%s, %" PRIu64 " bytes, readable", kind, bytes);
}

static bool is_ended(const char *name)
{
    return *name && name[strlen(name) - 1] == '/';
}

void check_file(struct doctor *d)
{
    struct doctor_file *f = d->file;
    const char *error = text_of(f->facts, "error"), *kind = text_of(f->facts, "kind");

    fact_text(d, "kind", kind);
    fact(d, "bytes", json_deep_copy(json_object_get(f->facts, "bytes")));
    if (!f->facts) {
        conclude(&f->unseen, ANSWER_NO, "nothing was recorded of this file");
        say(d, SEVERITY_UNKNOWN, f->name, "nothing was recorded of it");
    } else if (error) {
        judge_missing(d, error);
    } else if (f->is_directory) {
        conclude(&f->readable, ANSWER_YES, "a directory");
        remedy_of(say(d, SEVERITY_NOTE, f->name, "a directory: judged by its mount, and not probed"),
                  "name a file in it: spur doctor ", f->name, is_ended(f->name) ? "FILE" : "/FILE");
    } else if (!kind || !is_regular(f)) {
        conclude(&f->readable, ANSWER_NO, "neither a file nor a block device");
        say(d, SEVERITY_FAIL, f->name, "neither a file, a directory nor a block device");
    } else if (json_integer_value(json_object_get(f->facts, "bytes")) == 0) {
        conclude(&f->readable, ANSWER_YES, "an empty file");
        remedy_of(say(d, SEVERITY_NOTE, f->name, "the file is empty: not probed"), "spur prepare ", f->name,
                  " --size 1G");
    } else {
        conclude(&f->readable, ANSWER_YES, "readable");
        judge_size(d, kind, (uint64_t)json_integer_value(json_object_get(f->facts, "bytes")));
    }
}

/* ------------------------------------------------------------------------------------------------ */

static void judge_unknown(struct doctor *d, const json_t *x)
{
    const char *reason = text_of(x, "reason");
    json_t *one = say(d, SEVERITY_UNKNOWN, d->file->name, "holes: %s", reason && *reason ? reason : "not known");

    if (json_integer_value(json_object_get(x, "unflushed_bytes")) > 0)
        remedy_of(one, "sync ", d->file->name, ", and look again: what was written is known then");
}

static void judge_extents(struct doctor *d, const json_t *x)
{
    const char *status = text_of(x, "status");
    uint64_t holes = (uint64_t)json_integer_value(json_object_get(x, "hole_bytes"));
    uint64_t unwritten = (uint64_t)json_integer_value(json_object_get(x, "unwritten_bytes"));
    bool data = status && !strcmp(status, "data"), has_holes = status && !strcmp(status, "holes");

    fact_text(d, "extents", status);
    fact(d, "hole_bytes", data || has_holes ? json_integer((json_int_t)holes) : NULL);
    fact(d, "unwritten_bytes", data || has_holes ? json_integer((json_int_t)unwritten) : NULL);
    if (data)
        say(d, SEVERITY_PASS, d->file->name, "all of it is data");
    else if (has_holes)
        say(d, SEVERITY_WARN, d->file->name,
            "%" PRIu64 " bytes of holes, %" PRIu64 " bytes of unwritten extents, the first at offset %" PRIu64
            ": not probed, for no storage answers those",
            holes, unwritten, (uint64_t)json_integer_value(json_object_get(x, "first_offset")));
    else
        judge_unknown(d, x);
}

/* What is compressed by the mount's option has no flag. */
static void judge_compressing(struct doctor *d)
{
    const struct probe_mount *m = &d->file->mount;
    char how[32] = "";
    bool on = file_option(d, "compress", how, sizeof(how)) || file_option(d, "compress-force", how, sizeof(how));

    fact_text(d, "mount_compresses", on ? how : NULL);
    if (on && strcmp(how, "no"))
        remedy_of(
            say(d, SEVERITY_WARN, m->mount_point, "the mount compresses what is written (%s): the file may be so", how),
            "mount -o remount,compress=no ", m->mount_point, ", and write the file anew");
}

void check_file_layout(struct doctor *d)
{
    const json_t *flags = json_object_get(d->file->facts, "flags");
    json_int_t bits = json_integer_value(flags);
    bool btrfs = d->file->mount.known && !strcmp(d->file->mount.fs_type, "btrfs");

    if (nothing_to_see(d) || is_block_device(d))
        return;
    judge_extents(d, json_object_get(d->file->facts, "extents"));
    if (btrfs)
        judge_compressing(d);
    if (!flags)
        return;
    fact(d, "compressed", json_boolean(bits & FS_COMPR_FL));
    fact(d, "encrypted", json_boolean(bits & FS_ENCRYPT_FL));
    if (bits & FS_COMPR_FL)
        remedy_of(say(d, SEVERITY_WARN, d->file->name, "the file is compressed: its bytes pass through the CPU"),
                  "chattr -c ", d->file->name, ", and write it anew");
    if (bits & FS_ENCRYPT_FL)
        say(d, SEVERITY_WARN, d->file->name, "the file is encrypted: its bytes pass through the CPU");
    if (btrfs && !(bits & FS_NOCOW_FL))
        remedy(say(d, SEVERITY_NOTE, d->file->name,
                   "btrfs with checksums: from Linux 6.14 on O_DIRECT writes are done buffered"),
               "chattr +C on an empty file, and write it anew");
}

void check_residency(struct doctor *d)
{
    const json_t *r = json_object_get(d->file->facts, "resident");
    uint64_t bytes = (uint64_t)json_integer_value(json_object_get(r, "bytes"));

    if (nothing_to_see(d) || is_block_device(d))
        return;
    if (!json_is_true(json_object_get(r, "known"))) {
        fact(d, "resident_bytes", NULL);
        say(d, SEVERITY_UNKNOWN, d->file->name, "bytes in the page cache: %s", text_of(r, "reason") ?: "not known");
        return;
    }
    fact_number(d, "resident_bytes", bytes);
    if (bytes && !is_memory(d->file))
        say(d, SEVERITY_NOTE, d->file->name, "%" PRIu64 " bytes of it are in the page cache", bytes);
    else
        say(d, SEVERITY_PASS, d->file->name, "%s",
            bytes ? "it is in memory by its nature" : "nothing of it is in the page cache");
}

/* ------------------------------------------------------------------------------------------------ */

/* What accepting O_DIRECT says there. */
static const char *trust(const char *type)
{
    static const char *const may_downgrade[] = {"zfs", "btrfs", "fuse", "fuseblk", "overlay", "9p", "cifs", "virtiofs"};

    if (!strcmp(type, "tmpfs") || !strcmp(type, "ramfs"))
        return "none: the file is memory";
    for (size_t i = 0; i < ARRAY_SIZE(may_downgrade); i++)
        if (!strncmp(type, may_downgrade[i], strlen(may_downgrade[i])))
            return "the file system may go through a cache nevertheless";
    return "full";
}

void check_odirect(struct doctor *d)
{
    const json_t *o = json_object_get(d->file->facts, "odirect");
    const char *type = d->file->mount.known ? d->file->mount.fs_type : "", *level = trust(type);
    int memory = (int)json_integer_value(json_object_get(o, "memory"));
    int offset = (int)json_integer_value(json_object_get(o, "offset"));

    if (nothing_to_see(d))
        return;
    if (!o) {
        say(d, SEVERITY_UNKNOWN, d->file->name, "a read with O_DIRECT was not tried");
        return;
    }
    fact(d, "works", json_boolean(json_is_true(json_object_get(o, "works"))));
    if (!json_is_true(json_object_get(o, "works"))) {
        conclude(&d->file->nvfs, ANSWER_NO, "O_DIRECT does not work on it");
        conclude(&d->file->p2pdma, ANSWER_NO, "O_DIRECT does not work on it");
        remedy(say(d, SEVERITY_WARN, d->file->name, "%s", text_of(o, "detail") ?: "O_DIRECT does not work"), "%s",
               text_of(o, "remedy") ?: "");
        return;
    }
    fact_number(d, "memory_alignment", (uint64_t)memory);
    fact_number(d, "offset_alignment", (uint64_t)offset);
    fact_text(d, "trust", level);
    say(d, strcmp(level, "full") ? SEVERITY_NOTE : SEVERITY_PASS, d->file->name,
        "a read with O_DIRECT works (addresses in multiples of %d, offsets and lengths of %d, by %s)%s%s", memory,
        offset, text_of(o, "source") ?: "?", strcmp(level, "full") ? "; what that says here: " : "",
        strcmp(level, "full") ? level : "");
}
