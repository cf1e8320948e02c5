/* SPDX-License-Identifier: MIT */
/* The cuFile library that would be loaded. */
#include <string.h>

#include "doctor/check.h"

/* Release notes and published measurements; see docs/doctor.md. Ranges are [from, to) as 1000 * major + minor. */
static const struct fault {
    int from, to;
    enum severity severity;
    const char *fs; /* only where a file is on such a file system, or none was named; NULL: always */
    const char *words;
} faults[] = {
    {0, 1015, SEVERITY_NOTE, NULL, "no statistics that can be read: the road can be inferred only"},
    {0, 1013, SEVERITY_NOTE, NULL, "no P2PDMA: the direct road needs nvidia-fs"},
    {1016, 1017, SEVERITY_WARN, NULL, "takes the GDS path on unpatched NVMe when nvidia-fs is loaded, and fails there"},
    {1016, 1018, SEVERITY_NOTE, "wekafs", "WekaFS fails with EBADF"},
    {1018, 1019, SEVERITY_NOTE, NULL,
     "1.18.0: more threads than 8 gave no more with parallel_io=true; 1.18.1 mends it"},
    {1015, 1016, SEVERITY_NOTE, "nfs", "requests of 16 MiB are not split on NFS: one in flight per thread"},
};

static bool matters(const struct doctor *d, const char *fs)
{
    for (size_t i = 0; fs && i < d->n_files; i++)
        if (d->files[i].mount.known && !strncmp(d->files[i].mount.fs_type, fs, strlen(fs)))
            return true;
    return !fs || !d->n_files;
}

static void say_faults(struct doctor *d, const char *file, const char *version)
{
    int number = 1000 * d->library_major + d->library_minor;

    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        json_t *one;

        if (number < faults[i].from || number >= faults[i].to || !matters(d, faults[i].fs))
            continue;
        if (number == 1018 && strncmp(version, "1.18.0", 6)) /* mended in 1.18.1 */
            continue;
        one = say(d, faults[i].severity, file, "version %s: %s", version, faults[i].words);
        remedy(one, "%s", "install a newer libcufile, or name one with LD_LIBRARY_PATH");
    }
}

void check_library(struct doctor *d)
{
    const json_t *found = live_get(d, "library.found");
    const char *file = live_text(d, "library.file"), *version = live_text(d, "library.version");
    const char *words = live_text(d, "library.remedy"), *detail = live_text(d, "library.detail");
    json_t *one;

    if (!found) {
        say(d, SEVERITY_UNKNOWN, "libcufile.so.0", "the library was not looked for");
        return;
    }
    if (!json_is_true(found)) {
        conclude(&d->library, ANSWER_NO, "no cuFile library loads: %.180s", detail ? detail : "no reason was given");
        one = say(d, SEVERITY_FAIL, "libcufile.so.0", "%s", detail ? detail : "it cannot be loaded");
        if (words && *words)
            remedy(one, "%s", words);
        return;
    }
    conclude(&d->library, ANSWER_YES, "cuFile %s", version ? version : "");
    if (version && *version) {
        d->library_major = (int)json_integer_value(live_get(d, "library.major"));
        d->library_minor = (int)json_integer_value(live_get(d, "library.minor"));
    }
    fact_text(d, "file", file);
    fact_text(d, "version", version);
    say(d, SEVERITY_PASS, file ? file : "libcufile.so.0", "cuFile %s",
        version && *version ? version : "of unknown version");
    if (d->library_major >= 0)
        say_faults(d, file ? file : "libcufile.so.0", version);
}
