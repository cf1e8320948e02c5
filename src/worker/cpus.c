/* SPDX-License-Identifier: MIT */
#include "worker/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

static int no_list(const char *list, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_USAGE, "cpus", "--cpus: '%s' is no list of CPUs below %d", list, CPU_SETSIZE);
    error_remedy(e, "write numbers and ranges such as 0-7,16, or near");
    return -EINVAL;
}

static bool number(const char **at, unsigned long *ret)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    *ret = strtoul(*at, &end, 10);
    *at = end;
    return *ret < CPU_SETSIZE;
}

static bool parse(const char *list, cpu_set_t *ret)
{
    unsigned long first, last;

    CPU_ZERO(ret);
    for (const char *at = list;; at++) {
        if (!number(&at, &first))
            return false;
        last = first;
        if (*at == '-' && (at++, !number(&at, &last)))
            return false;
        if (last < first)
            return false;
        for (unsigned long i = first; i <= last; i++)
            CPU_SET(i, ret);
        if (!*at)
            return true;
        if (*at != ',')
            return false;
    }
}

int cpus_check(const char *list, struct spur_error *e)
{
    cpu_set_t wanted;

    return parse(list, &wanted) ? 0 : no_list(list, e);
}

int cpus_bind(const char *list, struct spur_error *e)
{
    cpu_set_t wanted, allowed, both;

    if (!parse(list, &wanted))
        return no_list(list, e);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        return error_errno(e, errno, "sched_getaffinity", "--cpus %s", list);
    CPU_AND(&both, &wanted, &allowed);
    if (!CPU_EQUAL(&both, &wanted)) {
        error_spur(e, SPUR_CODE_USAGE, "cpus", "--cpus %s: not all of them may be used here", list);
        error_remedy(e, "nproc and /proc/self/status (Cpus_allowed_list) show which may");
        return -EINVAL;
    }
    if (sched_setaffinity(0, sizeof(wanted), &wanted) < 0)
        return error_errno(e, errno, "sched_setaffinity", "--cpus %s", list);
    return 0;
}

int cpus_near(const struct probe *p, const char *address, char *ret_list, size_t size, struct spur_error *e)
{
    char path[400], line[400] = "";
    FILE *f;

    snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/local_cpulist", p->root, address);
    for (char *c = path; *c; c++) /* the kernel's names are in lower case */
        *c = c >= path + strlen(p->root) ? (char)tolower((unsigned char)*c) : *c;
    f = fopen(path, "re");
    if (f && !fgets(line, sizeof(line), f))
        line[0] = 0;
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = 0;
    if (!line[0] || strlen(line) >= size) {
        error_errno(e, f ? ENODATA : errno, "open", "--cpus near: %s does not tell which CPUs are near", path);
        error_remedy(e, "name the CPUs: lscpu shows those of each NUMA node");
        return f ? -ENODATA : -ENOENT;
    }
    snprintf(ret_list, size, "%s", line);
    return 0;
}
