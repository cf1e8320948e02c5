/* SPDX-License-Identifier: MIT */
/* The GPU and its kernel driver. */
#include <inttypes.h>
#include <string.h>

#include "doctor/check.h"

#define VERSION "/proc/driver/nvidia/version"

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build": the first word with a dot. */
static void take_version(const char *line, char *ret, size_t size)
{
    const char *at = line;

    *ret = 0;
    while ((at = strpbrk(at, "0123456789"))) {
        size_t n = strspn(at, "0123456789.");

        if (at > line && strchr(" \t", at[-1]) && memchr(at, '.', n) && (!at[n] || strchr(" \t", at[n]))) {
            snprintf(ret, size, "%.*s", (int)n, at);
            return;
        }
        at += n;
    }
}

void check_driver(struct doctor *d)
{
    _cleanup_free_ char *line = look_line(d, VERSION);
    char version[32];
    bool open_modules;

    if (!line) {
        fact(d, "version", NULL);
        if (json_is_true(live_get(d, "cuda.usable"))) { /* containers may hide it */
            say(d, SEVERITY_UNKNOWN, VERSION,
                "missing, although a GPU answers: the driver's version and kind cannot be read");
            return;
        }
        conclude(&d->gpu, ANSWER_NO, "no NVIDIA driver is loaded (" VERSION " is missing)");
        say(d, SEVERITY_FAIL, VERSION, "no NVIDIA kernel driver is loaded");
        return;
    }
    take_version(line, version, sizeof(version));
    open_modules = strstr(line, "Open Kernel Module") != NULL;
    fact_text(d, "version", *version ? version : NULL);
    fact(d, "open", json_boolean(open_modules));
    if (!*version)
        say(d, SEVERITY_UNKNOWN, VERSION, "its version cannot be read from: %.80s", line);
    else if (open_modules)
        say(d, SEVERITY_PASS, VERSION, "driver %s, open kernel modules", version);
    else
        say(d, SEVERITY_WARN, VERSION, "driver %s with proprietary kernel modules: no P2PDMA", version);
}

static void judge_cuda(struct doctor *d)
{
    const char *detail = live_text(d, "cuda.detail"), *words = live_text(d, "cuda.remedy");
    json_t *one;

    conclude(&d->gpu, ANSWER_NO, "no GPU can be used: %s", detail ? detail : "the driver shows none");
    one = say(d, SEVERITY_FAIL, "libcuda.so.1", "%s", detail ? detail : "the driver shows no GPU to this process");
    if (words && *words)
        remedy(one, "%s", words);
}

static void judge_gpus(struct doctor *d, const json_t *list)
{
    const json_t *gpu;
    size_t i;

    fact_number(d, "usable", json_array_size(list));
    json_array_foreach(list, i, gpu)
    {
        const char *name = json_string_value(json_object_get(gpu, "name"));
        const char *pci = json_string_value(json_object_get(gpu, "pci"));
        int major = (int)json_integer_value(json_object_get(gpu, "major"));

        if (!name)
            say(d, SEVERITY_WARN, "libcuda.so.1", "GPU %zu: %s", i,
                json_string_value(json_object_get(gpu, "error")) ?: "nothing is known of it");
        else if (major < 6)
            say(d, SEVERITY_WARN, pci ? pci : "libcuda.so.1",
                "GPU %zu, %s, compute capability %d: cuFile wants 6.0, from 1.15 on 7.5", i, name, major);
        else
            say(d, SEVERITY_PASS, pci ? pci : "libcuda.so.1", "GPU %zu: %s", i, name);
        conclude(&d->gpu, ANSWER_YES, "%s", name ? name : "a GPU");
    }
}

/* /dev/nvidia0 and its like: sandboxes may show these and no PCI bus. */
static size_t count_nodes(const struct doctor *d)
{
    const json_t *value;
    const char *name;
    size_t n = 0;

    json_object_foreach((json_t *)json_object_get(d->live, "devices"), name, value)
        n += !strncmp(name, "/dev/nvidia", 11) && name[11] >= '0' && name[11] <= '9';
    return n;
}

void check_gpu(struct doctor *d)
{
    json_t *list = pci_gpus(d);
    size_t n = json_array_size(list) ? json_array_size(list) : count_nodes(d);
    const json_t *cuda = live_get(d, "cuda");

    fact_number(d, "on_bus", json_array_size(list));
    json_decref(list);
    if (cuda && json_is_true(json_object_get(cuda, "usable")))
        judge_gpus(d, json_object_get(cuda, "gpus"));
    else if (cuda)
        judge_cuda(d);
    else if (n)
        say(d, SEVERITY_PASS, "/sys/bus/pci/devices", "%zu NVIDIA GPU%s; the CUDA driver was not asked", n,
            n == 1 ? "" : "s");
    else
        say(d, SEVERITY_FAIL, "/sys/bus/pci/devices", "no NVIDIA GPU is on the bus, and /dev has none");
    if (!cuda && !n)
        conclude(&d->gpu, ANSWER_NO, "no NVIDIA GPU is on the PCI bus");
    else if (!cuda)
        conclude(&d->gpu, ANSWER_YES, "there is a GPU");
}

/* Line 2 of `resource` is BAR 1: first, last, flags. */
static bool bar_bytes(const struct doctor *d, const char *address, uint64_t *ret)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(d, reason, "/sys/bus/pci/devices/%s/resource", address);
    const char *second = text ? strchr(text, '\n') : NULL;
    uint64_t first, last;

    if (!second || sscanf(second + 1, "%" SCNx64 " %" SCNx64, &first, &last) != 2 || last < first || !last)
        return false;
    *ret = last - first + 1;
    return true;
}

/* GPUs have 256 MiB without a resized BAR; registered buffers must fit into it. */
void check_bar(struct doctor *d)
{
    json_t *gpus = pci_gpus(d), *one;
    uint64_t bytes;
    char key[32];
    size_t i;

    json_array_foreach(gpus, i, one)
    {
        const char *address = json_string_value(one);

        snprintf(key, sizeof(key), "bar1_bytes.%zu", i);
        if (!bar_bytes(d, address, &bytes)) {
            fact(d, key, NULL);
            say(d, SEVERITY_UNKNOWN, address, "the size of BAR 1 cannot be read from its resource file");
            continue;
        }
        fact_number(d, key, bytes);
        if (bytes <= 256u << 20)
            say(d, SEVERITY_WARN, address,
                "BAR 1 has %" PRIu64 " MiB: all buffers that are registered with cuFile must fit into it", bytes >> 20);
        else
            say(d, SEVERITY_PASS, address, "BAR 1 has %" PRIu64 " MiB", bytes >> 20);
    }
    if (!json_array_size(gpus))
        say(d, SEVERITY_PASS, "/sys/bus/pci/devices", "no GPU to look at");
    json_decref(gpus);
}

void check_compute_mode(struct doctor *d)
{
    const json_t *gpu;
    size_t i, n_said = 0;
    json_t *one;

    json_array_foreach(live_get(d, "cuda.gpus"), i, gpu)
    {
        const json_t *value = json_object_get(gpu, "compute_mode");
        int mode = value ? (int)json_integer_value(value) : -1;
        char key[32];

        snprintf(key, sizeof(key), "mode.%zu", i);
        fact(d, key, mode < 0 ? NULL : json_integer(mode));
        if (mode != 2 && mode != 3)
            continue;
        n_said++;
        one = say(d, mode == 2 ? SEVERITY_FAIL : SEVERITY_NOTE, "compute mode", "GPU %zu is in mode %s", i,
                  mode == 2 ? "prohibited: no process may use it" : "exclusive process: one process at a time");
        remedy(one, "nvidia-smi -i %zu -c DEFAULT", i);
    }
    if (!n_said)
        say(d, SEVERITY_PASS, "compute mode", "no GPU restricts who may use it, as far as is known");
}

void check_mig(struct doctor *d)
{
    json_t *gpus = look_names(d, "/proc/driver/nvidia/capabilities"), *one;
    unsigned n = 0;
    size_t i;

    json_array_foreach(gpus, i, one)
    {
        const char *name = json_string_value(one);
        json_t *slices;

        if (strncmp(name, "gpu", 3))
            continue;
        slices = look_names(d, "/proc/driver/nvidia/capabilities/%s/mig", name);
        n += (unsigned)json_array_size(slices);
        json_decref(slices);
    }
    json_decref(gpus);
    fact_number(d, "instances", n);
    if (n)
        say(d, SEVERITY_NOTE, "/proc/driver/nvidia/capabilities",
            "MIG is on, with %u GPU instances: a process uses one of them", n);
    else
        say(d, SEVERITY_PASS, "/proc/driver/nvidia/capabilities", "no MIG instances");
}
