/* SPDX-License-Identifier: MIT */
/* The report for people: the verdict of each file, then what was found, by severity. */
#include <string.h>

#include "cli/exit.h"
#include "cli/wrap.h"
#include "doctor/check.h"

#define INDENT 4

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key)) ?: "";
}

/* No control character of a file's name reaches the terminal. */
static const char *plain(const char *text, char *ret, size_t size)
{
    exit_escape(text, ret, size);
    return ret;
}

static void print_verdict(FILE *out, const char *name, const json_t *v)
{
    char line[2400], safe[5000];

    snprintf(line, sizeof(line), "%s: %s (%s): %s", name, text_of(v, "road"), text_of(v, "basis"),
             text_of(v, "reason"));
    wrap_print(out, plain(line, safe, sizeof(safe)), 0, INDENT);
}

/* Its last line. */
static void print_log(FILE *out, const json_t *log)
{
    const char *last = json_string_value(json_array_get(log, json_array_size(log) - 1));
    char line[2400], safe[5000];

    if (!last)
        return;
    snprintf(line, sizeof(line), "cufile.log: %s", last);
    fprintf(out, "%*s", INDENT + 2, "");
    wrap_print(out, plain(line, safe, sizeof(safe)), INDENT + 2, INDENT + 4);
}

/* An error that was told before is not told again. */
static bool is_same(const json_t *reads, size_t i)
{
    const char *first = text_of(json_array_get(reads, 0), "error");

    return i > 0 && *first && !strcmp(first, text_of(json_array_get(reads, i), "error"));
}

static void print_reads(FILE *out, const json_t *probe)
{
    const json_t *reads = json_object_get(probe, "reads"), *row;
    char line[2400], safe[5000];
    size_t i;

    json_array_foreach(reads, i, row)
    {
        const char *error = is_same(reads, i) ? "the same error" : text_of(row, "error");

        snprintf(line, sizeof(line), "read of %s: %s%s%s", text_of(row, "read"),
                 *error ? error : text_of(row, "observed"), *error ? "" : "; ", *error ? "" : text_of(row, "says"));
        fprintf(out, "%*s", INDENT, "");
        wrap_print(out, plain(line, safe, sizeof(safe)), INDENT, INDENT + 2);
        if (*error && !is_same(reads, i))
            print_log(out, json_object_get(row, "library_log"));
    }
}

/* file -> mount -> disks: where it really lies. */
static void print_chain(FILE *out, const json_t *facts)
{
    const json_t *mount = json_object_get(facts, "mount"), *block = json_object_get(facts, "block"), *leaf;
    char line[2400], safe[5000];
    int n = snprintf(line, sizeof(line), "lies on %s at %.1000s, from %.1000s", text_of(mount, "type"),
                     text_of(mount, "mount_point"), text_of(mount, "source"));
    size_t i;

    if (!*text_of(mount, "type"))
        return;
    if (!*text_of(mount, "mount_point"))
        n = snprintf(line, sizeof(line), "is a block device");
    json_array_foreach(json_object_get(block, "leaves"), i, leaf) if (n < (int)sizeof(line) - 64)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s", i ? " " : ", on ", json_string_value(leaf));
    fprintf(out, "%*s", INDENT, "");
    wrap_print(out, plain(line, safe, sizeof(safe)), INDENT, INDENT + 2);
}

static void print_part(FILE *out, const char *head, const char *text)
{
    char line[2600], safe[5400];

    if (!*text)
        return;
    snprintf(line, sizeof(line), "%s%s", head, text);
    fprintf(out, "%*s", INDENT, "");
    wrap_print(out, plain(line, safe, sizeof(safe)), INDENT, INDENT + 2);
}

/* Whether an earlier finding of the check, of the same mount or file, had the same remedy, which cures both. */
static bool is_cured(const json_t *findings, const json_t *f)
{
    static const char *const keys[] = {"check", "file", "severity", "where", "remedy"};
    const json_t *one;
    size_t i;

    json_array_foreach(findings, i, one)
    {
        bool same = one != f;

        for (size_t k = 0; same && k < ARRAY_SIZE(keys); k++)
            same = !strcmp(text_of(one, keys[k]), text_of(f, keys[k]));
        if (same || one == f)
            return same;
    }
    return false;
}

static void print_finding(FILE *out, const json_t *findings, const json_t *f, bool several)
{
    const char *file = text_of(f, "file"), *where = text_of(f, "where"), *severity = text_of(f, "severity");
    char line[2600], safe[5400];
    bool brief = !strcmp(severity, "pass") || !strcmp(severity, "unknown");

    if (several && *file && strncmp(where, file, strlen(file)))
        snprintf(line, sizeof(line), "%s: %s: %s (for %s)", text_of(f, "check"), where, text_of(f, "found"), file);
    else
        snprintf(line, sizeof(line), "%s: %s: %s", text_of(f, "check"), where, text_of(f, "found"));
    fprintf(out, "  ");
    wrap_print(out, plain(line, safe, sizeof(safe)), 2, INDENT);
    if (brief)
        return;
    print_part(out, "why: ", text_of(f, "why"));
    print_part(out, "do:  ",
               *text_of(f, "remedy") && is_cured(findings, f) ? "the same as above, once" : text_of(f, "remedy"));
}

/* Files of one mount have much in common. */
static bool was_said(const json_t *findings, size_t before, const json_t *f)
{
    static const char *const keys[] = {"check", "where", "found"};

    for (size_t i = 0; i < before; i++) {
        const json_t *other = json_array_get(findings, i);
        bool same = true;

        for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
            same &= !strcmp(text_of(other, keys[k]), text_of(f, keys[k]));
        if (same)
            return true;
    }
    return false;
}

static void print_severity(FILE *out, const json_t *report, const char *severity, const char *head, const char *check)
{
    bool several = json_array_size(json_object_get(report, "files")) > 1, begun = false;
    const json_t *f;
    size_t i;

    json_array_foreach(json_object_get(report, "findings"), i, f)
    {
        if (strcmp(text_of(f, "severity"), severity) || (check && strcmp(text_of(f, "check"), check)) ||
            was_said(json_object_get(report, "findings"), i, f))
            continue;
        if (!begun)
            fprintf(out, "\n%s\n", head);
        begun = true;
        print_finding(out, json_object_get(report, "findings"), f, several);
    }
}

static size_t count(const json_t *report, const char *severity)
{
    const json_t *f;
    size_t i, n = 0;

    json_array_foreach(json_object_get(report, "findings"), i, f) n += !strcmp(text_of(f, "severity"), severity);
    return n;
}

static void print_head(FILE *out, const json_t *report)
{
    const json_t *files = json_object_get(report, "files"), *one;
    size_t i;

    json_array_foreach(files, i, one)
    {
        print_verdict(out, text_of(one, "file"), json_object_get(one, "verdict"));
        print_chain(out, json_object_get(one, "facts"));
        print_reads(out, json_object_get(one, "probe"));
    }
    if (!json_array_size(files))
        print_verdict(out, "this machine", json_object_get(report, "machine"));
    if (json_is_true(json_object_get(report, "recorded")))
        fprintf(out, "recorded: a recorded machine, not this one\n");
    if (json_is_true(json_object_get(report, "simulated")))
        fprintf(out,
                "simulated: the CUDA driver or the cuFile library is a test suite's, or the storage is spur simfs\n");
}

void doctor_text(FILE *out, const json_t *report, bool verbose, const char *check)
{
    print_head(out, report);
    print_severity(out, report, "fail", "fail: keeps cuFile or all reading from working", check);
    print_severity(out, report, "warn", "warn: keeps the direct road away, or makes it slow", check);
    print_severity(out, report, "note", "note: worth knowing", check);
    print_severity(out, report, "unknown", "not known: could not be looked at", check);
    if (verbose || check)
        print_severity(out, report, "pass", "passed", check);
    else
        fprintf(out, "\n%zu passed (--verbose shows them)\n", count(report, "pass"));
}
