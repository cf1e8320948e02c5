/* SPDX-License-Identifier: MIT */
/* spur doctor [FILE|DIR]... */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "core/error.h"
#include "core/util.h"
#include "doctor/doctor.h"

struct doctor_options {
    bool json, verbose, no_probe, list_checks;
    const char *compare, *root, *record, *check;
};

#define AT(member) .offset = offsetof(struct doctor_options, member)

static const struct option doctor_rows[] = {
    {.name = "json",
     .kind = OPTION_FLAG,
     AT(json),
     .conflicts = "compare",
     .help = "prints JSON instead of text",
     .manual = "The keys are stable and documented in docs/doctor.md."},
    {.name = "verbose", .kind = OPTION_FLAG, AT(verbose), .help = "shows what passed as well"},
    {.name = "check",
     .metavar = "NAME",
     .kind = OPTION_TEXT,
     AT(check),
     .absent = "all",
     .help = "shows the findings of one check only, also what passed",
     .manual = "--list-checks names them. All are run nevertheless, for the verdict stands on them."},
    {.name = "no-probe",
     .kind = OPTION_FLAG,
     AT(no_probe),
     .help = "loads no library, starts no GPU and reads nothing through cuFile",
     .manual = "The verdict is then inferred."},
    {.name = "compare",
     .metavar = "OTHER.json",
     .kind = OPTION_TEXT,
     AT(compare),
     .help = "shows only what differs from another report of --json",
     .manual = "Files are paired in their order."},
    {.name = "root",
     .metavar = "DIR",
     .kind = OPTION_TEXT,
     AT(root),
     .help = "looks at a recorded machine instead of this one",
     .manual =
         "Nothing of this machine is looked at, and nothing is probed. Without FILE the files that were recorded are "
         "judged."},
    {.name = "record",
     .metavar = "DIR",
     .kind = OPTION_TEXT,
     AT(record),
     .conflicts = "root",
     .help = "records this machine in a new or empty directory",
     .manual = "For bug reports: facts only, no data of files. Names of hosts, users and files, addresses and serial "
               "numbers are replaced, the same by the same. Read it before you send it."},
    {.name = "list-checks", .kind = OPTION_FLAG, AT(list_checks), .help = "lists the checks as markdown"},
    {0},
};

static int doctor_check(void *options, const struct option_result *given, struct spur_error *e)
{
    const struct doctor_options *o = options;

    (void)given;
    for (size_t i = 0; o->check && doctor_check_name(i); i++)
        if (!strcmp(o->check, doctor_check_name(i)))
            return 0;
    if (!o->check)
        return 0;
    option_unknown_value("check", o->check, doctor_check_name, e);
    if (!nearest_name(o->check, doctor_check_name))
        error_remedy(e, "spur doctor --list-checks names them");
    return -EINVAL;
}

static void keep_check(json_t *report, const char *check)
{
    json_t *findings = json_object_get(report, "findings");

    for (size_t i = json_array_size(findings); i-- > 0;)
        if (strcmp(json_string_value(json_object_get(json_array_get(findings, i), "check")), check))
            json_array_remove(findings, i);
}

static int print_report(const struct doctor_options *o, const json_t *report)
{
    struct spur_error e = {0};
    json_t *other = NULL;

    if (o->compare) {
        if (doctor_load(o->compare, &other, &e) < 0)
            return (int)exit_report("doctor", &e);
        doctor_compare(stdout, report, other);
        json_decref(other);
    } else if (!o->json) {
        doctor_text(stdout, report, o->verbose, o->check);
    } else if (json_dumpf(report, stdout, JSON_INDENT(2)) == 0) {
        putchar('\n');
    }
    return doctor_exit(report);
}

static int doctor_run(void *options, const struct option_result *given)
{
    const struct doctor_options *o = options;
    const struct doctor_request r = {.files = (const char *const *)given->arguments,
                                     .n_files = given->n_arguments,
                                     .root = o->root,
                                     .no_probe = o->no_probe};
    struct spur_error e = {0};
    json_t *report = NULL;
    int code;

    if (o->list_checks) {
        doctor_list_checks(stdout);
        return EXIT_OK;
    }
    if (o->record && doctor_record(&r, o->record, &e) < 0)
        return (int)exit_report("doctor", &e);
    if (doctor_report(&r, &report, &e) < 0)
        return (int)exit_report("doctor", &e);
    if (o->check && o->json)
        keep_check(report, o->check);
    code = print_report(o, report);
    json_decref(report);
    return code;
}

static const struct command_exit doctor_exits[] = {
    {EXIT_OK, "The direct road works, or is to be expected, for each file."},
    {EXIT_FAILED,
     "There can be no report: what --compare or --root names cannot be read, or a file of --record not written."},
    {EXIT_USAGE,
     "An unknown option, a --record folder that is not empty, or a record or report that is damaged or of another "
     "version of spur."},
    {EXIT_REFUSED, "A file cannot be read at all, or its mount hangs."},
    {EXIT_NOT_DIRECT, NULL},
    COMMAND_EXITS_END,
};

static const struct command_example doctor_examples[] = {
    {"spur doctor /mnt/a/file", "Will the direct road work for this file, and if not, why"},
    {"spur doctor --check nfs /mnt/nfs/file", "One check alone"},
    {"spur doctor --json /mnt/a/file >good.json",
     "To compare another machine with: spur doctor --compare good.json /mnt/a/file"},
    {"spur doctor --record report /mnt/a/file", "For a bug report"},
    {NULL, NULL},
};

const struct command doctor_command = {
    .name = "doctor",
    .summary = "say by which road a file can reach the GPU, and why not by a better one",
    .arguments = "[FILE|DIR]...",
    .arguments_manual =
        "Files, block devices or directories. A directory is judged by its mount and not probed. Without "
        "any, the machine is judged.",
    .max_arguments = SIZE_MAX,
    .options = doctor_rows,
    .options_size = sizeof(struct doctor_options),
    .description =
        "Says for each file by which road its bytes can reach the GPU: nvidia-fs, p2pdma, user-rdma, compat (cuFile's "
        "compatibility mode), or host only (cuFile does not work); with the reason, and whether it was observed or "
        "inferred. Then what was found, by severity: where, why it matters, and what to do, as a command where there "
        "is one. docs/doctor.md lists the checks.\n\n"
        "Where a GPU and cuFile are there, files are really read through cuFile, 4 KiB, 1 MiB and unaligned, each in a "
        "process of its own with a deadline, and the library's own statistics tell the road. A mount that hangs is "
        "reported as hanging.\n\n"
        "Nothing is changed, and root is not needed.",
    .exits = doctor_exits,
    .examples = doctor_examples,
    .see_also = "spur spur-list spur-run",
    .check = doctor_check,
    .run = doctor_run,
};
