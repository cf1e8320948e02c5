/* SPDX-License-Identifier: MIT */
#include "probe/nvfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"

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

static void take_line(struct probe_nvfs *ret, const char *line)
{
    if (!strncmp(line, "IO stats:", 9)) {
        ret->known = true;
        ret->enabled = strncmp(line + 9, " Enabled", 8) == 0;
    }
    number(line, "Reads", "n", &ret->reads);
    number(line, "Writes", "n", &ret->writes);
    number(line, "Reads", "readMiB", &ret->read_mib);
    number(line, "Writes", "writeMiB", &ret->write_mib);
}

void probe_nvfs_read(const struct probe *p, struct probe_nvfs *ret)
{
    char reason[PROBE_REASON], *text, *at, *line;

    memset(ret, 0, sizeof(*ret));
    text = read_text(p, PROBE_NVFS_FILE, reason);
    if (!text) {
        ret->loaded = errno != ENOENT && errno != ENOTDIR;
        if (ret->loaded)
            snprintf(ret->reason, sizeof(ret->reason), "%s", reason);
        else
            reason_set(ret->reason, "nvidia-fs is not loaded (%s: %s)", PROBE_NVFS_FILE, strerrordesc_np(errno));
        return;
    }
    ret->loaded = true;
    for (at = text; (line = strsep(&at, "\n"));)
        take_line(ret, line);
    free(text);
    if (!ret->known)
        reason_set(ret->reason, "%s has no line 'IO stats:'", PROBE_NVFS_FILE);
}
