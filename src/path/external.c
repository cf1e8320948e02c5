/* SPDX-License-Identifier: MIT */
/*
 * Another program as an arm: fio or gdsio runs the whole trial, and no request goes through this path. It has the
 * settings, and says what a file needs; the worker translates the job, runs the program and takes its figures.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/program.h"
#include "path/direct.h"
#include "path/path.h"

static const struct spur_setting external_settings[] = {
    {"tool", "word", "fio, gdsio", "", "which program's options and output; there is no default"},
    {"program", "file", "an executable", "auto", "file to run; auto: the tool's name as PATH finds it"},
    {"args", "text", "options", "",
     "more options for it, of a list (docs/external.md); split at blanks, without a shell"},
    {"ioengine", "word", "psync, io_uring, libaio, libcufile", "psync", "fio: how it asks the kernel"},
    {"direct", "word", "yes, no", "yes", "fio: O_DIRECT"},
    {"xfer", "word", "0 to 7", "auto", "gdsio: its -x; auto: 0 with a GPU's memory, 1 with host memory"},
    {"library", "file", "a libcufile.so", "auto",
     "for gdsio and fio's libcufile; auto: libcufile.so.0 as the loader finds it"},
    {"json", "file", "a cufile.json", "auto",
     "configuration of cuFile, for these two; auto: the one in force on this machine"},
    {"json.*", "value", "SECTION.KEY", "", "one key of that configuration"},
    {"env.*", "value", "NAME", "", "a variable of the program's environment"},
    {0},
};

static int external_probe(struct spur_error *e)
{
    char file[4096];

    if (program_find("fio", file, sizeof(file)) || program_find("gdsio", file, sizeof(file)))
        return 0;
    error_errno(e, ENOENT, "access", "neither fio nor gdsio is in PATH");
    error_remedy(e, "install one, or name its file with --set program=FILE");
    return -ENOENT;
}

static int check_word(const struct spur_path *p, const char *key, const char *const *words, const char *all,
                      struct spur_error *e)
{
    const char *value = path_setting(p, key);

    for (size_t i = 0; words[i]; i++)
        if (!strcmp(words[i], value))
            return 0;
    error_spur(e, SPUR_CODE_USAGE, key, *value ? "%s=%s is none of: %s" : "path external needs %s=%s(one of: %s)", key,
               value, all);
    error_remedy(e, "--set %s=WORD, one of: %s", key, all);
    return -EINVAL;
}

static int external_open(struct spur_path *p, struct spur_error *e)
{
    static const char *const tools[] = {"fio", "gdsio", NULL};
    static const char *const answers[] = {"yes", "no", NULL};
    static const char *const xfers[] = {"auto", "0", "1", "2", "3", "4", "5", "6", "7", NULL};
    int r = check_word(p, "tool", tools, "fio, gdsio", e);

    if (!r)
        r = check_word(p, "direct", answers, "yes, no", e);
    return r ? r : check_word(p, "xfer", xfers, "auto, 0 to 7", e);
}

static bool is_direct(const struct spur_path *p)
{
    return strcmp(path_setting(p, "tool"), "fio") || !strcmp(path_setting(p, "direct"), "yes");
}

/* Only looked at: the program opens it itself. */
static int external_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    struct direct_align align = {1, 1, NULL};
    int fd = file_open_fd(f->filename, false, is_direct(p), e);
    int r;

    if (fd < 0)
        return fd;
    r = file_size_get(fd, f->filename, &f->bytes, e);
    if (!r && is_direct(p))
        r = direct_align_get(fd, f->filename, &align, e);
    close(fd);
    f->align = align.offset;
    f->align_address = align.memory;
    return r;
}

static void external_file_close(struct spur_file *f) {}

static void external_limits(const struct spur_file *f, struct spur_limits *limits)
{
    limits->offset_align = limits->length_align = f->align;
    limits->max_depth = UINT32_MAX; /* the worker knows what the program can */
}

static int64_t external_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    return error_errno(e, ENOTSUP, "transfer", "path external moves no single requests: a program runs whole trials");
}

const struct path_ops external_path = {
    .name = "external",
    .summary = "another program as an arm, fio or gdsio: its own figures, unverified",
    .settings = external_settings,
    .observed = SPUR_OBSERVED_UNKNOWN,
    .needs_real_memory = true,
    .is_external = true,
    .probe = external_probe,
    .open = external_open,
    .file_open = external_file_open,
    .file_close = external_file_close,
    .limits = external_limits,
    .transfer = external_transfer,
};
