/* SPDX-License-Identifier: MIT */
#include "probe/nvfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATS "/proc/driver/nvidia-fs/stats"

/* "Reads				: n=12 ok=12 err=0 ...": the number behind key= on a line that starts with
 * @label.
 */
static bool number(const char *line, const char *label, const char *key, uint64_t *ret)
{
    const char *at = strchr(line, ':');
    char word[32];

    if (strncmp(line, label, strlen(label)) || !at)
        return false;
    snprintf(word, sizeof(word), " %s=", key);
    at = strstr(at, word);
    if (!at)
        return false;
    *ret = strtoull(at + strlen(word), NULL, 10);
    return true;
}

void probe_nvfs_read(const struct probe *p, struct probe_nvfs *ret)
{
    char path[sizeof(p->root) + sizeof(STATS)];
    char line[512];
    bool said = false;
    FILE *f;

    memset(ret, 0, sizeof(*ret));
    snprintf(path, sizeof(path), "%s" STATS, p->root);
    f = fopen(path, "re");
    if (!f) {
        ret->loaded = errno != ENOENT && errno != ENOTDIR;
        snprintf(ret->reason, sizeof(ret->reason),
                 errno == ENOENT || errno == ENOTDIR ? "nvidia-fs is not loaded (%s: %s)" : "%s: %s", STATS,
                 strerrordesc_np(errno));
        return;
    }
    ret->loaded = true;
    while (fgets(line, sizeof(line), f)) {
        if (!strncmp(line, "IO stats:", 9)) {
            said = true;
            ret->enabled = strncmp(line + 9, " Enabled", 8) == 0;
        }
        number(line, "Reads", "n", &ret->reads);
        number(line, "Writes", "n", &ret->writes);
    }
    fclose(f);
    ret->known = said;
    if (!said)
        snprintf(ret->reason, sizeof(ret->reason), "%s has no line 'IO stats:'", STATS);
}
