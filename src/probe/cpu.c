/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/read.h"

#define STAT "/proc/stat"

/* proc_stat(5): user nice system idle iowait irq softirq steal guest guest_nice. guest is in user already. */
static bool parse_total(const char *text, struct probe_cpu *ret)
{
    uint64_t v[8] = {0};
    unsigned n = 0;

    if (strncmp(text, "cpu ", 4))
        return false;
    for (text += 4; n < 8 && parse_u64(&text, &v[n]); n++)
        ;
    if (n < 7 || (*text != ' ' && *text != '\n')) /* steal came with Linux 2.6.11 */
        return false;
    ret->user = v[0] + v[1];
    ret->system = v[2] + v[5] + v[6];
    ret->idle = v[3];
    ret->iowait = v[4];
    for (unsigned i = 0; i < 8; i++)
        ret->total += v[i];
    return true;
}

static unsigned count_cpus(const char *text)
{
    unsigned n = 0;

    for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n'))
        n += !strncmp(line + 1, "cpu", 3) && line[4] >= '0' && line[4] <= '9';
    return n;
}

void probe_cpu_read(const struct probe *p, struct probe_cpu *ret)
{
    char *text;

    memset(ret, 0, sizeof(*ret));
    text = read_text(p, STAT, ret->reason);
    if (!text)
        return;
    ret->n_cpus = count_cpus(text);
    ret->ticks_per_second = sysconf(_SC_CLK_TCK);
    ret->known = parse_total(text, ret) && ret->n_cpus > 0 && ret->ticks_per_second > 0;
    free(text);
    if (!ret->known)
        reason_set(ret->reason, STAT ": no cpu lines as proc_stat(5) has them");
}
