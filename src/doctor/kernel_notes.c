/* SPDX-License-Identifier: MIT */
/* What is known of kernel versions, and the CPU's governor. */
#include <string.h>

#include "doctor/check.h"

/* From release notes, changelogs and published measurements; see docs/doctor.md. */
static const struct kernel_note {
    unsigned from, to; /* 1000 * major + minor; to 0: still so */
    bool with_nvfs;    /* only where nvidia-fs is loaded */
    const char *fs;    /* only where a file is on it; NULL: always */
    enum severity severity;
    const char *words, *remedy;
} notes[] = {
    {6011, 0, false, NULL, SEVERITY_NOTE, "from 6.11 on small requests (up to 128 KiB) to pinned memory cost more",
     "compare small requests by spur compare --request 4K..1M before you trust a figure of an older kernel"},
    {6017, 0, true, NULL, SEVERITY_WARN, "from 6.17 on transfers by nvidia-fs were seen to hang in scatter lists",
     "use an older kernel, or P2PDMA, until a newer nvidia-fs says otherwise"},
    {6014, 0, false, "btrfs", SEVERITY_NOTE, "from 6.14 on O_DIRECT writes on btrfs with checksums are done buffered",
     "chattr +C on the empty file"},
    {0, 5004, false, NULL, SEVERITY_WARN, "before 5.4 cuFile is not supported", "use a newer kernel"},
};

static bool is_on(const struct doctor *d, const char *fs)
{
    for (size_t i = 0; fs && i < d->n_files; i++)
        if (d->files[i].mount.known && !strcmp(d->files[i].mount.fs_type, fs))
            return true;
    return !fs;
}

void check_kernel(struct doctor *d)
{
    unsigned major, minor, number, n = 0;

    kernel_numbers(d->kernel, &major, &minor);
    fact_text(d, "release", d->kernel[0] ? d->kernel : NULL);
    if (!major) {
        say(d, SEVERITY_UNKNOWN, "/proc/sys/kernel/osrelease", "the kernel's version cannot be read");
        return;
    }
    number = 1000 * major + minor;
    for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
        const struct kernel_note *k = &notes[i];

        if (number < k->from || (k->to && number >= k->to) || (k->with_nvfs && d->nvfs.is != ANSWER_YES) ||
            !is_on(d, k->fs))
            continue;
        n++;
        remedy(say(d, k->severity, "/proc/sys/kernel/osrelease", "%s: %s", d->kernel, k->words), "%s", k->remedy);
    }
    if (!n)
        say(d, SEVERITY_PASS, "/proc/sys/kernel/osrelease", "%s: nothing is known against it", d->kernel);
}

void check_governor(struct doctor *d)
{
    json_t *cpus = look_names(d, "/sys/devices/system/cpu"), *one;
    _cleanup_free_ char *first = NULL;
    bool mixed = false;
    size_t i;

    json_array_foreach(cpus, i, one)
    {
        _cleanup_free_ char *word =
            look_line(d, "/sys/devices/system/cpu/%s/cpufreq/scaling_governor", json_string_value(one));

        mixed |= word && first && strcmp(word, first);
        if (word && !first)
            first = strdup(word);
    }
    json_decref(cpus);
    fact_text(d, "governor", mixed ? "mixed" : first);
    if (!first)
        say(d, SEVERITY_PASS, "/sys/devices/system/cpu", "no governor: the clock is not this system's to set");
    else if (!mixed && !strcmp(first, "performance"))
        say(d, SEVERITY_PASS, "/sys/devices/system/cpu", "governor performance");
    else
        say(d, SEVERITY_NOTE, "/sys/devices/system/cpu", "governor %s: latencies of lone requests grow",
            mixed ? "mixed" : first);
}
