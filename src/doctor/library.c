/* SPDX-License-Identifier: MIT */
/* The cuFile library that would be loaded: which one, why that one, and what is known of its version. */
#include <string.h>

#include "doctor/check.h"
#include "driver/cufile_versions.h"

#define NAME "libcufile.so.0"

/* -1 for numbers that it does not have. */
static void parse_version(const char *text, struct cufile_version *v)
{
    *v = (struct cufile_version){.major = -1, .minor = -1, .patch = -1, .build = -1};
    if (!text || sscanf(text, "%4d.%4d.%4d.%6d", &v->major, &v->minor, &v->patch, &v->build) < 2)
        v->major = v->minor = -1;
}

static bool is_on(const struct doctor *d, const char *fs)
{
    for (size_t i = 0; i < d->n_files; i++)
        if (d->files[i].mount.known && !strncmp(d->files[i].mount.fs_type, fs, strlen(fs)))
            return true;
    return false;
}

/* The file system, machine or lack that a fault is of. */
static bool matters(const struct doctor *d, const char *only)
{
    const char *machine = live_text(d, "machine");

    if (!only || (machine && !strcmp(machine, only)))
        return true;
    return strcmp(only, "no driver") ? is_on(d, only) : d->gpu.is == ANSWER_NO;
}

static void say_faults(struct doctor *d, const char *file, const struct cufile_version *v)
{
    const struct cufile_fault *f;

    for (size_t i = 0; (f = cufile_fault_find(v, i)); i++)
        if (matters(d, f->only))
            remedy(say(d, f->fails ? SEVERITY_WARN : SEVERITY_NOTE, file, "%s: %s", d->library_text, f->words), "%s",
                   f->remedy ? f->remedy : "");
}

/* What becomes of large requests (it was measured on NFS), and whether it tells the road. */
static void say_known(struct doctor *d, const char *file, const struct cufile_version *v)
{
    const struct cufile_known *k = cufile_known_find(v);

    fact_text(d, "requests", k ? cufile_requests_word(k->requests) : NULL);
    if (!k) {
        say(d, SEVERITY_UNKNOWN, file, "%s is %s than what is known here (a table of %s, up to %s)", d->library_text,
            cufile_version_is_newer(v) ? "newer" : "other", CUFILE_TABLE_DATE, CUFILE_TABLE_NEWEST);
        return;
    }
    if (k->requests != CUFILE_REQUESTS_PARALLEL)
        remedy(say(d, is_on(d, "nfs") ? SEVERITY_WARN : SEVERITY_NOTE, file, "%s: %s (%s)", d->library_text,
                   k->requests_words, k->basis),
               "%s", k->remedy ? k->remedy : "");
    if (v->minor < 15 && v->major == 1)
        remedy(say(d, SEVERITY_NOTE, file, "%s: statistics: %s", d->library_text, k->statistics), "%s",
               "1.15 or later tells the road itself");
}

static void say_found(struct doctor *d, const char *file)
{
    const char *source = live_text(d, "library.source"), *by = live_text(d, "library.found_by");
    const char *where = live_text(d, "library.where"), *cuda = live_text(d, "library.cuda");

    say(d, SEVERITY_PASS, file, "%s%s%s%s%s%s%s%s%s%s%s", d->library_text, cuda ? " (CUDA " : "", cuda ? cuda : "",
        cuda ? ")" : "", source ? ", by " : "", source ? source : "", by ? "; found by " : "", by ? by : "",
        where ? " (" : "", where ? where : "", where ? ")" : "");
}

/* Other copies that the loader would meet: a program with an RPATH may get one of them. */
static void say_others(struct doctor *d, const char *file)
{
    const json_t *others = live_get(d, "library.others");
    const char *first = json_string_value(json_array_get(others, 0)), *change = live_text(d, "library.change");
    size_t n = json_array_size(others);

    fact(d, "others", others ? json_deep_copy(others) : NULL);
    if (first)
        remedy(say(d, SEVERITY_NOTE, file, "%zu other cop%s of it come%s later in the search: %s%s", n,
                   n == 1 ? "y" : "ies", n == 1 ? "s" : "", first, n > 1 ? ", ..." : ""),
               "spur which COMMAND says which one a program gets%s%s", change ? "; " : "", change ? change : "");
}

static void say_missing(struct doctor *d)
{
    const char *detail = live_text(d, "library.detail"), *words = live_text(d, "library.remedy");
    const char *asked = live_text(d, "library.asked");
    json_t *one;

    conclude(&d->library, ANSWER_NO, "no cuFile library loads: %s", detail ? detail : "no reason was given");
    one = say(d, SEVERITY_FAIL, asked ? asked : NAME, "%s", detail ? detail : "it cannot be loaded");
    if (words && *words)
        remedy(one, "%s", words);
}

/* A file that is there, and needs another that is not. */
static bool say_needed(struct doctor *d, const char *file)
{
    const char *missing = json_string_value(json_array_get(live_get(d, "library.missing"), 0));

    if (!missing)
        return false;
    conclude(&d->library, ANSWER_NO, "%s does not load: %s, which it needs, is not found", file, missing);
    remedy(say(d, SEVERITY_FAIL, file, "%s, which it needs, is not found", missing),
           "install what brings %s, or name its folder in LD_LIBRARY_PATH", missing);
    return true;
}

static void say_version(struct doctor *d, const char *file)
{
    const char *least = live_text(d, "library.version_least"), *most = live_text(d, "library.version_most");
    const char *version = live_text(d, "library.version");
    struct cufile_version v;

    parse_version(version, &v);
    d->library_major = v.major;
    d->library_minor = v.minor;
    fact_text(d, "version", version);
    if (v.major >= 0)
        snprintf(d->library_text, sizeof(d->library_text), "cuFile %.40s", version);
    else
        snprintf(d->library_text, sizeof(d->library_text), "cuFile of unknown version%s%.16s%s%.16s",
                 least ? ", from " : "", least ? least : "", most ? " to " : "", most ? most : "");
    say_found(d, file);
    if (v.major >= 0) {
        say_known(d, file, &v);
        say_faults(d, file, &v);
    }
}

void check_library(struct doctor *d)
{
    const json_t *found = live_get(d, "library.found");
    const char *file = live_text(d, "library.file");

    if (!found) {
        say(d, SEVERITY_UNKNOWN, NAME, "the library was not looked for");
        return;
    }
    if (!json_is_true(found)) {
        say_missing(d);
        return;
    }
    file = file ? file : NAME;
    fact_text(d, "file", file);
    fact_text(d, "found_by", live_text(d, "library.found_by"));
    if (!say_needed(d, file)) {
        say_version(d, file);
        conclude(&d->library, ANSWER_YES, "%s", d->library_text);
    }
    say_others(d, file);
}
