/* SPDX-License-Identifier: MIT */
/*
 * PCI by its folders in /sys/devices, which nest as the bridges do, so that it works below a moved root as well
 * (hwloc reads the machine it runs on).
 */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>

#include "doctor/check.h"

char *pci_path(const struct doctor *d, const char *address)
{
    return look_link(d, "/sys/bus/pci/devices/%s", address);
}

static bool is_address(const char *word)
{
    unsigned domain, bus, slot, function;
    int end = 0;

    return sscanf(word, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) == 4 && end >= 12 && end < 16 &&
           (!word[end] || word[end] == '/');
}

bool pci_address_of(const char *path, char ret[16])
{
    bool found = false;

    for (const char *at = path; (at = strchr(at, '/'));) {
        at++;
        if (!is_address(at))
            continue;
        snprintf(ret, 16, "%.*s", (int)strcspn(at, "/"), at);
        found = true;
    }
    return found;
}

static bool is_gpu(const struct doctor *d, const char *address)
{
    _cleanup_free_ char *vendor = look_line(d, "/sys/bus/pci/devices/%s/vendor", address);
    _cleanup_free_ char *class = vendor ? look_line(d, "/sys/bus/pci/devices/%s/class", address) : NULL;

    return class && !strcmp(vendor, "0x10de") && !strncmp(class, "0x03", 4);
}

json_t *pci_gpus(const struct doctor *d)
{
    json_t *all = look_names(d, "/sys/bus/pci/devices"), *gpus = json_array(), *one;
    size_t i;

    json_array_foreach(all, i, one) if (json_array_size(gpus) < DOCTOR_MAX_PCI && is_gpu(d, json_string_value(one)))
        json_array_append(gpus, one);
    json_decref(all);
    return gpus;
}

/* ------------------------------------------------------------------------------------------------
 * Access control services of bridges: redirect of peer requests (control bits 2 and 3) sends all of them up to the root
 */

#define EXTENDED     0x100
#define CONFIG_BYTES 4096
#define CAP_ACS      0x000d

/* Control register of ACS; -1: the device has none, or only root could see it. */
static int acs_control(const unsigned char *config, size_t n)
{
    size_t at = EXTENDED;

    for (unsigned turns = 0; turns < 64 && at >= EXTENDED && at + 8 <= n; turns++) {
        unsigned head = config[at] | config[at + 1] << 8, next = (config[at + 3] << 4 | config[at + 2] >> 4) & 0xffc;

        if (head == CAP_ACS)
            return config[at + 6] | config[at + 7] << 8;
        at = next;
    }
    return -1;
}

json_t *live_acs(void)
{
    json_t *o = json_object();
    unsigned char config[CONFIG_BYTES];
    glob_t found;

    if (glob("/sys/bus/pci/devices/*/config", 0, NULL, &found))
        return o;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        _cleanup_fd_ int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : pread(fd, config, sizeof(config), 0);
        char address[16];
        int control;

        if (n < 64 || (config[0x0e] & 0x7f) != 1 || !pci_address_of(found.gl_pathv[i], address)) /* bridges only */
            continue;
        control = acs_control(config, (size_t)n);
        json_object_set_new(o, address, n <= 64 ? json_null() : json_integer(control));
    }
    globfree(&found);
    return o;
}
