/* SPDX-License-Identifier: MIT */
/* P2PDMA: the kernel's own way from NVMe to GPU memory. */
#include <string.h>

#include "doctor/check.h"

/* Whether anything in the configuration or the environment switches it on; the shipped default is off. */
static bool is_switched_on(const struct doctor *d, const char **ret_where)
{
    const char *variable = live_text(d, "env.CUFILE_USE_PCIP2PDMA");

    *ret_where = "CUFILE_USE_PCIP2PDMA";
    if (variable)
        return !strcasecmp(variable, "true") || !strcmp(variable, "1");
    *ret_where = "properties.use_pci_p2pdma";
    if (json_is_true(config_get(d, "properties.use_pci_p2pdma")))
        return true;
    *ret_where = "block.nvme.use_pci_p2pdma";
    return json_is_true(config_get(d, "block.nvme.use_pci_p2pdma"));
}

/* CONFIG_PCI_P2PDMA shows in the symbols of the kernel, where they may be read, or in its configuration. */
static enum answer kernel_has(const struct doctor *d)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *config = look_text(d, reason, "/boot/config-%s", d->kernel);

    if (!config)
        return ANSWER_UNKNOWN;
    return strstr(config, "\nCONFIG_PCI_P2PDMA=y") ? ANSWER_YES : ANSWER_NO;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54", open: "... UNIX Open Kernel Module for x86_64  580.65". */
static bool is_proprietary(const char *line)
{
    return strstr(line, " Kernel Module ") && !strstr(line, "Open Kernel Module");
}

/* What it depends on, and cannot be read. */
static const char *what_is_unknown(const struct doctor *d, unsigned major)
{
    _cleanup_free_ char *driver = look_line(d, "/proc/driver/nvidia/version");

    if (driver && !strstr(driver, " Kernel Module "))
        return "whether the driver's kernel modules are the open ones";
    return major ? NULL : "the kernel's version";
}

static const char *what_is_missing(const struct doctor *d, unsigned major, unsigned minor)
{
    _cleanup_free_ char *driver = look_line(d, "/proc/driver/nvidia/version");

    if (!driver && !json_is_true(live_get(d, "cuda.usable")))
        return "no NVIDIA driver is loaded";
    if (driver && is_proprietary(driver))
        return "the driver's kernel modules are the proprietary ones";
    if (major && (major < 6 || (major == 6 && minor < 2)) && !strstr(d->kernel, ".el9"))
        return "the kernel is older than 6.2";
    if (kernel_has(d) == ANSWER_NO)
        return "the kernel was built without CONFIG_PCI_P2PDMA";
    if (d->library_major >= 0 && 1000 * d->library_major + d->library_minor < 1013)
        return "cuFile is older than 1.13";
    return NULL;
}

static const char *cure(const char *missing)
{
    return strstr(missing, "proprietary") ? "install the driver with open kernel modules (package nvidia-open)"
           : strstr(missing, "driver")    ? "" /* check driver says it */
           : strstr(missing, "cuFile")    ? "install cuFile 1.13 (CUDA 12.8) or later"
                                          : "use a kernel of 6.2 or later with CONFIG_PCI_P2PDMA=y, or nvidia-fs";
}

void check_p2pdma(struct doctor *d)
{
    unsigned major, minor;
    const char *where, *missing, *unknown;
    bool on = is_switched_on(d, &where);

    kernel_numbers(d->kernel, &major, &minor);
    missing = what_is_missing(d, major, minor);
    unknown = what_is_unknown(d, major);
    fact(d, "switched_on", json_boolean(on));
    fact(d, "able", missing || !unknown ? json_boolean(!missing) : NULL);
    if (missing) {
        conclude(&d->p2pdma, ANSWER_NO, "P2PDMA is not to be had: %s", missing);
        remedy(say(d, on ? SEVERITY_WARN : SEVERITY_NOTE, "P2PDMA", "not to be had: %s", missing), "%s", cure(missing));
    } else if (unknown) {
        conclude(&d->p2pdma, ANSWER_UNKNOWN, "of P2PDMA it is not known: %s", unknown);
        say(d, SEVERITY_UNKNOWN, "P2PDMA", "%s cannot be read", unknown);
    } else if (!on) {
        conclude(&d->p2pdma, ANSWER_NO, "P2PDMA is not switched on (use_pci_p2pdma)");
        remedy(say(d, SEVERITY_NOTE, "P2PDMA", "driver, kernel and library could, but it is not switched on"),
               "CUFILE_USE_PCIP2PDMA=true, or \"use_pci_p2pdma\": true in cufile.json's properties");
    } else {
        conclude(&d->p2pdma, ANSWER_YES, "P2PDMA is switched on by %s", where);
        say(d, SEVERITY_PASS, "P2PDMA", "switched on by %s; driver, kernel and library can", where);
    }
}
