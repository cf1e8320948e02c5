/* SPDX-License-Identifier: MIT */
/* spur which: the libcufile that an application loads or would load. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/which_text.h"
#include "core/error.h"
#include "which/which.h"

struct which_options {
    uint64_t pid;
    const char *command, *python, *root, *library_path;
    bool json;
};

#define AT(field) .offset = offsetof(struct which_options, field)

static const struct option which_rows[] = {
    {.name = "pid",
     .metavar = "N",
     .kind = OPTION_COUNT,
     AT(pid),
     .min = 1,
     .max = 1ull << 31,
     .absent = "none",
     .conflicts = "command",
     .help = "a process: what it has loaded, and what its packages would load",
     .manual = "Read from /proc/N, within its own root and with the environment that it was started with."},
    {.name = "command",
     .metavar = "CMD",
     .kind = OPTION_TEXT,
     AT(command),
     .absent = "none",
     .conflicts = "python",
     .help = "a program, by name or path; it is not run",
     .manual =
         "A script is followed to its interpreter. If that is a Python, its environment is looked at. NAME=VALUE words "
         "before the program count, and so do env with its options and cd, export, unset and exec; nothing is "
         "expanded. "
         "Of several programs only the first is looked at, and a note names the rest. Arguments behind the "
         "program are left out of account: of bash -c '...' and of other programs that start programs it is "
         "they themselves that are looked at, and a note says so."},
    {.name = "python",
     .metavar = "VENV",
     .kind = OPTION_TEXT,
     AT(python),
     .absent = "none",
     .conflicts = "pid",
     .help = "a Python environment: its folder, a folder of packages, or its python",
     .manual = "It is read, no Python is run: folders of packages by pyvenv.cfg, by the prefix and by .pth files that "
               "name folders."},
    {.name = "root",
     .metavar = "DIR",
     .kind = OPTION_TEXT,
     AT(root),
     .absent = "this machine",
     .conflicts = "pid",
     .help = "an image's file system at rest, in which the rest is taken to be",
     .manual = "Links are followed within DIR and never out of it. Without --command or --python every Python "
               "environment in it is looked at, every program and library that asks for cuFile, and every libcufile is "
               "found."},
    {.name = "library-path",
     .metavar = "LIST",
     .kind = OPTION_TEXT,
     AT(library_path),
     .absent = "that of this shell, with --root none",
     .conflicts = "pid",
     .help = "the LD_LIBRARY_PATH that the application will have",
     .manual = "An image often sets one in its configuration, which is not part of its file system."},
    {.name = "json",
     .kind = OPTION_FLAG,
     AT(json),
     .help = "prints JSON instead of text",
     .manual = "The keys are documented in docs/which.md."},
    {0},
};

static int which_check(void *options, const struct option_result *given, struct spur_error *e)
{
    const struct which_options *o = options;

    if (o->pid || o->command || o->python || o->root)
        return 0;
    error_spur(e, SPUR_CODE_USAGE, "option", "nothing is asked about");
    error_remedy(e, "give --pid N, --command CMD, --python VENV or --root DIR");
    return -EINVAL;
}

static void ask(const struct which_options *o, struct which_question *q)
{
    *q = (struct which_question){
        .pid = o->pid, .command = o->command, .python = o->python, .root = o->root, .library_path = o->library_path};
    if (o->root)
        return; /* the environment of this shell is not that of the image */
    if (!q->library_path)
        q->library_path = getenv("LD_LIBRARY_PATH");
    q->preload = getenv("LD_PRELOAD");
    q->path = getenv("PATH");
    q->home = getenv("HOME");
    q->python_path = getenv("PYTHONPATH");
}

static int which_run(void *options, const struct option_result *given)
{
    const struct which_options *o = options;
    struct which_question q;
    struct spur_error e = {0};
    json_t *answer = NULL;
    bool found;

    ask(o, &q);
    if (which_answer(&q, &answer, &e) < 0)
        return (int)exit_report("which", &e);
    if (!o->json)
        which_text_print(stdout, answer);
    else if (json_dumpf(answer, stdout, JSON_INDENT(2)) == 0)
        putchar('\n');
    found = which_is_found(answer);
    json_decref(answer);
    return found ? EXIT_OK : EXIT_REFUSED;
}

static const struct command_exit which_exits[] = {
    {EXIT_OK, "A libcufile is loaded, or would be."},
    {EXIT_FAILED, "What was asked about cannot be read: no such process or file, no permission, no ELF file."},
    {EXIT_USAGE,
     "An unknown or conflicting option, nothing asked about, no Python environment, or a command that no shell takes."},
    {EXIT_REFUSED, "No cuFile is loaded or would be; the output says so, and which copies there are."},
    COMMAND_EXITS_END,
};

static const struct command_example which_examples[] = {
    {"spur which --python .venv", "The one that PyTorch brought, and which package pins it"},
    {"spur which --pid 4711", "The one that a running process has loaded"},
    {"spur which --command 'python train.py'", "The one that a program would load"},
    {"spur which --root /mnt/image --json", "Everything in an unpacked container image"},
    {NULL, NULL},
};

const struct command which_command = {
    .name = "which",
    .summary = "the libcufile that an application loads, its version, and why it is that one",
    .options = which_rows,
    .options_size = sizeof(struct which_options),
    .description =
        "A framework brings its own cuFile, and the version decides more than any setting. This says which file a "
        "process has loaded, or a program or Python environment would load, which version it is, by which rule the "
        "dynamic loader finds it, which packages require it, and what is known of that version. Other copies are "
        "listed with the reason why they are not taken.\n\n"
        "Nothing is run and nothing is changed: files are read, and the loader's rules (RPATH, RUNPATH, "
        "LD_LIBRARY_PATH, ld.so.cache, default folders) are followed. No GPU is needed. What a program decides while "
        "it runs, such as a name that it puts together, cannot be seen except in a process.",
    .exits = which_exits,
    .examples = which_examples,
    .see_also = "spur spur-run",
    .check = which_check,
    .run = which_run,
};
