/* SPDX-License-Identifier: MIT */
/* Gathers facts, runs the checks over them, and makes the report. */
#include "doctor/check.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/error.h"
#include "probe/mount.h"
#include "probe/read.h"
#include "worker/job.h"

#define FILE_DEADLINE_NS 5000000000ull

/* ------------------------------------------------------------------------------------------------
 * Gathering
 */

/* Absolute, without looking at the file system, which might hang. */
static char *absolute(const struct doctor *d, const char *name)
{
    char *here = name[0] == '/' || d->recorded ? NULL : getcwd(NULL, 0), *whole = NULL;

    if (name[0] == '/')
        return strdup(name);
    if (asprintf(&whole, "%s/%s", here ? here : "", name) < 0)
        whole = NULL;
    free(here);
    return whole;
}

/* Btrfs has numbers of its own, and the disk only in the mount's source. */
static void find_block(struct doctor *d, struct doctor_file *f)
{
    const char *name = f->mount.known ? f->mount.source : "";
    unsigned major_number, minor_number;

    probe_block_find(&d->p, f->device, &f->block);
    if (major(f->device) == 0 && !strncmp(name, "/dev/", 5) && !strchr(name + 5, '/')) {
        _cleanup_free_ char *numbers = look_line(d, "/sys/class/block/%s/dev", name + 5);
        _cleanup_free_ char *of_disk = numbers ? NULL : look_line(d, "/sys/block/%s/dev", name + 5);

        if (sscanf(numbers ?: of_disk ?: "", "%8u:%8u", &major_number, &minor_number) == 2)
            probe_block_find(&d->p, makedev(major_number, minor_number), &f->block);
    }
}

static void find_mount(struct doctor *d, struct doctor_file *f)
{
    const char *real = json_string_value(json_object_get(f->facts, "real"));
    _cleanup_free_ char *name = real ? strdup(real) : absolute(d, f->name);

    if (f->has_device && name)
        mount_find(&d->p, name, f->device, &f->mount);
    else if (name)
        mount_find_name(&d->p, name, &f->mount);
    if (!f->has_device && f->mount.known) {
        f->device = makedev(f->mount.major, f->mount.minor);
        f->has_device = true;
    }
    if (f->has_device)
        find_block(d, f);
    else
        snprintf(f->block.reason, sizeof(f->block.reason), "no device number is known");
}

static void take_facts(struct doctor *d, struct doctor_file *f)
{
    int major_number, minor_number;

    if (f->facts && json_unpack(f->facts, "{s:[i,i]}", "device", &major_number, &minor_number) == 0) {
        f->has_device = true;
        f->device = makedev((unsigned)major_number, (unsigned)minor_number);
    }
    f->is_directory = json_is_true(json_object_get(f->facts, "directory"));
    find_mount(d, f);
}

/* Of a file that does not answer the name is kept, which its mount is found by. */
static void ask_file(const struct doctor *d, struct doctor_file *f, struct child *c, int started, uint64_t deadline_ns,
                     struct spur_error *why)
{
    _cleanup_free_ char *name = absolute(d, f->name);
    json_t *facts = NULL;

    if (!started)
        child_finish(c, deadline_ns, &facts, why);
    f->facts = facts ? facts
                     : json_pack("{s:o, s:o, s:b}", "real", json_filename(name ? name : f->name), "error",
                                 json_filename(why->detail), "hanging",
                                 why->source == SPUR_SOURCE_ERRNO && why->code == ETIMEDOUT);
}

static const json_t *recorded_file(const struct doctor *d, const char *name)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(d->live, "files"), i, one)
    {
        const char *known = json_string_value(json_object_get(one, "name"));

        if (known && !strcmp(known, name))
            return one;
    }
    return NULL;
}

static void gather_files(struct doctor *d)
{
    struct child *children = calloc(d->n_files + 1, sizeof(*children));
    struct spur_error *why = calloc(d->n_files + 1, sizeof(*why));
    int *started = calloc(d->n_files + 1, sizeof(*started));
    uint64_t began = now_ns();

    for (size_t i = 0; children && why && started && i < d->n_files; i++)
        if (!d->recorded)
            started[i] = child_start(&children[i], live_file, (void *)d->files[i].name, &why[i]);
    for (size_t i = 0; children && why && started && i < d->n_files; i++) {
        if (d->recorded)
            d->files[i].facts = json_deep_copy(recorded_file(d, d->files[i].name));
        else
            ask_file(d, &d->files[i], &children[i], started[i], began + FILE_DEADLINE_NS, &why[i]);
        take_facts(d, &d->files[i]);
    }
    free(children);
    free(why);
    free(started);
}

/* A recording without files on the command line is asked about those that were recorded. */
static int name_files(struct doctor *d, const struct doctor_request *r, struct spur_error *e)
{
    const json_t *known = json_object_get(d->live, "files"), *one;
    size_t n = r->n_files ? r->n_files : d->recorded ? json_array_size(known) : 0, i;

    d->files = calloc(n + 1, sizeof(*d->files));
    if (!d->files)
        return error_errno(e, ENOMEM, "calloc", "files");
    for (i = 0; i < r->n_files; i++)
        d->files[d->n_files++].name = r->files[i];
    if (!r->n_files && d->recorded)
        json_array_foreach(known, i, one) if (json_is_string(json_object_get(one, "name"))) d->files[d->n_files++]
            .name = json_string_value(json_object_get(one, "name"));
    for (i = 0; i < d->n_files; i++)
        d->files[i].seen = json_object();
    return 0;
}

int doctor_gather(struct doctor *d, const struct doctor_request *r, struct spur_error *e)
{
    char *release;
    int rc;

    d->recorded = r->root != NULL;
    d->no_probe = r->no_probe;
    d->seen = json_object();
    d->findings = json_array();
    d->library_major = d->library_minor = -1;
    if (!d->recorded)
        probe_init(&d->p);
    rc = d->recorded ? recording_open(d, r->root, e) : 0;
    if (!rc)
        rc = name_files(d, r, e);
    if (rc < 0)
        return rc;
    gather_files(d);
    if (!d->recorded)
        d->live = live_gather(d);
    release = look_line(d, "/proc/sys/kernel/osrelease");
    snprintf(d->kernel, sizeof(d->kernel), "%s", release ? release : "");
    free(release);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * The report
 */

/* Where cuFile and a GPU are, and the file has bytes that come from storage. */
static bool can_be_probed(const struct doctor *d, const struct doctor_file *f)
{
    const char *extents = json_string_value(json_object_get(json_object_get(f->facts, "extents"), "status"));

    return !d->recorded && !d->no_probe && d->gpu.is == ANSWER_YES && d->library.is == ANSWER_YES &&
           f->readable.is == ANSWER_YES && !f->is_directory &&
           json_integer_value(json_object_get(f->facts, "bytes")) >= DOCTOR_PROBE_LEAST &&
           (!extents || strcmp(extents, "holes"));
}

static bool is_of_settings(const json_t *finding)
{
    return !strncmp(json_string_value(json_object_get(finding, "check")), "cufile-", 7);
}

/* What the checks expected to fail, and did not. */
static void take_back(struct doctor *d, struct doctor_file *f)
{
    const char *name;
    json_t *one;
    size_t i;

    if (!json_is_string(json_object_get(f->probe, "road")) || json_is_string(json_object_get(f->probe, "error")))
        return;
    f->registers = (struct conclusion){.is = ANSWER_YES};
    json_array_foreach(d->findings, i, one)
    {
        name = json_string_value(json_object_get(one, "file"));
        if (name ? strcmp(name, f->name) : !is_of_settings(one))
            continue;
        if (strcmp(json_string_value(json_object_get(one, "severity")), "fail"))
            continue;
        json_object_set_new(one, "severity", json_string("note"));
        json_object_set_new(
            one, "found",
            json_sprintf("%s; yet cuFile has just read the file", json_string_value(json_object_get(one, "found"))));
    }
}

static void probe_files(struct doctor *d)
{
    for (size_t i = 0; i < d->n_files; i++)
        if (can_be_probed(d, &d->files[i])) {
            cufile_probe(&d->files[i]);
            take_back(d, &d->files[i]);
        }
}

/* Of a file that cannot be read there is nothing more to say, unless its mount is what hangs. */
static bool is_gone(const struct doctor_file *f)
{
    return f->readable.is == ANSWER_NO && !json_is_true(json_object_get(f->facts, "hanging"));
}

static void run_checks(struct doctor *d)
{
    for (d->check = check_table; d->check->name; d->check++) {
        for (size_t i = 0; d->check->of_file && i < d->n_files; i++) {
            d->file = &d->files[i];
            if (!is_gone(d->file))
                d->check->run(d);
        }
        d->file = NULL;
        if (!d->check->of_file)
            d->check->run(d);
    }
}

static json_t *file_report(const struct doctor *d, const struct doctor_file *f)
{
    return json_pack("{s:o, s:o, s:O, s:O?}", "file", json_filename(f->name), "verdict", verdict(d, f), "facts",
                     f->seen, "probe", f->probe);
}

static json_t *report_make(const struct doctor *d)
{
    json_t *files = json_array();
    bool simulated = json_is_true(live_get(d, "library.simulated")) || json_is_true(live_get(d, "cuda.simulated"));

    for (size_t i = 0; i < d->n_files; i++) {
        json_array_append_new(files, file_report(d, &d->files[i]));
        simulated |= file_is_simulated(&d->files[i]);
    }
    return json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:O, s:O}", "schema", DOCTOR_SCHEMA, "spur", spur_version(),
                     "recorded", d->recorded, "simulated", simulated, "machine", verdict(d, NULL), "files", files,
                     "findings", d->findings, "facts", d->seen);
}

void doctor_free(struct doctor *d)
{
    for (size_t i = 0; i < d->n_files; i++) {
        json_decref(d->files[i].facts);
        json_decref(d->files[i].seen);
        json_decref(d->files[i].probe);
    }
    free(d->files);
    json_decref(d->live);
    json_decref(d->seen);
    json_decref(d->findings);
    json_decref(d->config);
}

int doctor_report(const struct doctor_request *r, json_t **ret, struct spur_error *e)
{
    struct doctor d = {.no_probe = false};
    int rc = doctor_gather(&d, r, e);

    if (!rc) {
        run_checks(&d);
        probe_files(&d);
        *ret = report_make(&d);
        rc = *ret ? 0 : error_errno(e, ENOMEM, "json", "the report");
    }
    doctor_free(&d);
    return rc;
}

int doctor_exit(const json_t *report)
{
    const json_t *files = json_object_get(report, "files"), *one;
    int code = 0, r;
    size_t i;

    if (!json_array_size(files))
        return (int)json_integer_value(json_object_get(json_object_get(report, "machine"), "exit"));
    json_array_foreach(files, i, one)
    {
        r = (int)json_integer_value(json_object_get(json_object_get(one, "verdict"), "exit"));
        code = code == 3 || r == 3 ? 3 : r > code ? r : code;
    }
    return code;
}

const char *doctor_check_name(size_t index)
{
    size_t n = 0;

    while (check_table[n].name)
        n++;
    return index < n ? check_table[index].name : NULL;
}
