/* SPDX-License-Identifier: MIT */
/*
 * The counters of nvidia-fs below $SPUR_ROOT: machine-wide, so several processes add to one file; rewritten as a whole
 * by renaming. They stand still where rw_stats_enabled is 0, and where the folder does not exist. See libcufile.h.
 */
#include "libcufile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FOLDER  "/proc/driver/nvidia-fs"
#define ENABLED "/sys/module/nvidia_fs/parameters/rw_stats_enabled"

struct counters {
    uint64_t n[2], ok[2], err[2], bytes[2]; /* reads, writes */
};

static bool is_enabled(const char *root)
{
    char path[1024], c = '0';
    FILE *f;

    snprintf(path, sizeof(path), "%.900s" ENABLED, root);
    f = fopen(path, "re");
    if (!f)
        return false;
    if (fscanf(f, " %c", &c) != 1)
        c = '0';
    fclose(f);
    return c == '1' || c == 'Y';
}

/* What a recorded stats file began with, "Reads : n=12 ok=12 err=0 readMiB=3". */
static void from_recorded(const char *folder, struct counters *c)
{
    char path[1024], line[512];
    FILE *f;

    snprintf(path, sizeof(path), "%.900s/stats", folder);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f)) {
        int which = !strncmp(line, "Reads", 5) ? 0 : !strncmp(line, "Writes", 6) ? 1 : -1;
        const char *numbers = strstr(line, " n=");
        unsigned long long n, ok, err, mib;

        if (which < 0 || !numbers ||
            sscanf(numbers, " n=%llu ok=%llu err=%llu %*[a-zA-Z]=%llu", &n, &ok, &err, &mib) != 4)
            continue;
        c->n[which] = n;
        c->ok[which] = ok;
        c->err[which] = err;
        c->bytes[which] = mib << 20;
    }
    if (f)
        fclose(f);
}

static void load(const char *folder, struct counters *c)
{
    char path[1024];
    FILE *f;

    memset(c, 0, sizeof(*c));
    snprintf(path, sizeof(path), "%.900s/.fake", folder);
    f = fopen(path, "re");
    if (!f) {
        from_recorded(folder, c);
        return;
    }
    if (fread(c, sizeof(*c), 1, f) != 1)
        memset(c, 0, sizeof(*c));
    fclose(f);
}

static void print(FILE *f, const struct counters *c, bool enabled)
{
    fputs("NVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.28.4)\nMellanox PeerDirect Supported: False\n", f);
    fprintf(f, "IO stats: %s, peer IO stats: Disabled\nLogging level: info\n\n", enabled ? "Enabled" : "Disabled");
    fputs("Active Shadow-Buffer (MiB): 0\nActive Process: 1\n", f);
    if (enabled) {
        fputs("Batches\t\t\t\t: n=0 ok=0 err=0 Avg-Submit-Latency(usec)=0\n", f);
        fprintf(f, "Reads\t\t\t\t: n=%lu ok=%lu err=%lu readMiB=%lu io_state_err=0\n", c->n[0], c->ok[0], c->err[0],
                c->bytes[0] >> 20);
        fputs("Reads\t\t\t\t: Bandwidth(MiB/s)=0 Avg-Latency(usec)=0\n", f);
        fprintf(f,
                "Writes\t\t\t\t: n=%lu ok=%lu err=%lu writeMiB=%lu io_state_err=0 pg-cache=0 pg-cache-fail=0 "
                "pg-cache-eio=0\n",
                c->n[1], c->ok[1], c->err[1], c->bytes[1] >> 20);
        fputs("Writes\t\t\t\t: Bandwidth(MiB/s)=0 Avg-Latency(usec)=0\n", f);
    } else {
        fputs("Reads\t\t\t\t: err=0 io_state_err=0\nWrites\t\t\t\t: err=0 io_state_err=0 pg-cache=0\n", f);
    }
    fputs("Mmap\t\t\t\t: n=0 ok=0 err=0 munmap=0\nError\t\t\t\t: cpu-gpu-pages=0 sg-ext=0 dma-map=0 dma-ref=0\n", f);
    fputs("Ops\t\t\t\t: Read=0 Write=0 BatchIO=0\n", f);
}

/* Writes through a file of its own and a rename, so that a reader sees the old or the new one. */
static void replace(const char *folder, const char *name, const struct counters *c, bool as_text, bool enabled)
{
    char path[1024], temporary[1024];
    FILE *f;

    snprintf(path, sizeof(path), "%.900s/%s", folder, name);
    snprintf(temporary, sizeof(temporary), "%.900s/.%s.new", folder, name);
    f = fopen(temporary, "we");
    if (!f)
        return;
    if (as_text)
        print(f, c, enabled);
    else
        fwrite(c, sizeof(*c), 1, f);
    if (fclose(f) || rename(temporary, path))
        unlink(temporary);
}

void nvfs_count(bool is_write, ssize_t result)
{
    const char *root = getenv("SPUR_ROOT");
    struct counters c;
    char folder[1024];
    bool enabled;
    int lock;

    snprintf(folder, sizeof(folder), "%.900s" FOLDER, root ? root : "");
    lock = root && *root ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (lock < 0)
        return;
    flock(lock, LOCK_EX);
    enabled = is_enabled(root);
    load(folder, &c);
    if (enabled) {
        c.n[is_write]++;
        *(result >= 0 ? &c.ok[is_write] : &c.err[is_write]) += 1;
        c.bytes[is_write] += result > 0 ? (uint64_t)result : 0;
    }
    replace(folder, ".fake", &c, false, enabled);
    replace(folder, "stats", &c, true, enabled);
    close(lock);
}
