/* SPDX-License-Identifier: MIT */
#include "worker/road.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "path/path.h"
#include "worker/nvfs_use.h"
#include "worker/refer.h"

/* User-space roads (Weka, GPFS) are counted as operations of none of the library's three roads. */
static enum spur_observed by_counts(const struct road *r)
{
    unsigned n = (r->n_nvfs > 0) + (r->n_p2p > 0) + (r->n_posix > 0);

    if (n > 1)
        return SPUR_OBSERVED_MIXED;
    if (r->n_nvfs)
        return SPUR_OBSERVED_NVIDIA_FS;
    if (r->n_p2p)
        return SPUR_OBSERVED_P2PDMA;
    return r->n_posix ? SPUR_OBSERVED_COMPAT : SPUR_OBSERVED_UNKNOWN;
}

static void judge_counts(const struct path_roads *a, const struct path_roads *b, struct road *ret)
{
    ret->counted = true;
    ret->n_operations = b->n_operations - a->n_operations;
    ret->n_nvfs = b->n_nvfs - a->n_nvfs;
    ret->n_p2p = b->n_p2p - a->n_p2p;
    ret->n_posix = b->n_posix - a->n_posix;
    ret->n_bounced = b->n_bounced - a->n_bounced;
    ret->observed = by_counts(ret);
    snprintf(ret->strength, sizeof(ret->strength), "%s", ret->observed == SPUR_OBSERVED_UNKNOWN ? "none" : "strong");
    snprintf(
        ret->says, sizeof(ret->says),
        "the library's own statistics of this process: %llu operations, %llu by nvidia-fs, %llu by P2PDMA, %llu POSIX",
        (unsigned long long)ret->n_operations, (unsigned long long)ret->n_nvfs, (unsigned long long)ret->n_p2p,
        (unsigned long long)ret->n_posix);
}

/* Of two counters of the machine and one of this process, none is exact: the windows are cut at other moments. */
#define MOST      0.9
#define SOME      0.1
#define MIN_BYTES ((uint64_t)1 << 20) /* spur reads counters by system calls too: of less they are a part */

/* Bytes that this process read or wrote by system calls, and their share of those asked for; false: not known. */
static bool by_system_calls(const struct measure *m, uint64_t bytes_moved, uint64_t *ret_bytes, double *ret_share)
{
    const struct probe_process_io *a = &m->begin.io, *b = &m->end.io;

    if (!a->known || !b->known || !bytes_moved)
        return false;
    *ret_bytes = b->rchar - a->rchar + b->wchar - a->wchar;
    *ret_share = (double)*ret_bytes / (double)bytes_moved;
    return true;
}

/* They passed through host memory, whoever called. */
static bool judge_system_calls(const struct measure *m, uint64_t bytes_moved, struct road *ret)
{
    uint64_t by_calls;
    double share;

    if (!by_system_calls(m, bytes_moved, &by_calls, &share) || share < MOST || bytes_moved < MIN_BYTES)
        return false;
    ret->observed = SPUR_OBSERVED_COMPAT;
    ret->source = "/proc/self/io";
    snprintf(ret->strength, sizeof(ret->strength), "supporting");
    snprintf(ret->says, sizeof(ret->says),
             "this process moved %llu bytes by read and write system calls, %llu bytes were asked of the library",
             (unsigned long long)by_calls, (unsigned long long)bytes_moved);
    return true;
}

/* What the machine's counters and the process's own leave; @ret_why in words. */
static enum spur_observed by_nvfs(const struct trial *t, const struct measure *m, const struct tally by_op[2],
                                  const struct nvfs_use *use, const char **ret_why)
{
    uint64_t moved = by_op[0].bytes + by_op[1].bytes, by_calls;
    double share = 0;
    bool known = by_system_calls(m, moved, &by_calls, &share);

    if (known && share >= SOME && share < MOST && moved >= MIN_BYTES && share + use->share >= MOST) {
        *ret_why = "; this process moved a part of the bytes by system calls";
        return SPUR_OBSERVED_MIXED;
    }
    *ret_why = ": less than was asked for, which proves no road";
    if (use->extent != NVFS_WHOLE)
        return SPUR_OBSERVED_UNKNOWN;
    *ret_why = "; the bytes are too few to tell whether this process moved them by system calls";
    if (share >= SOME)
        return SPUR_OBSERVED_UNKNOWN;
    *ret_why = "; something else used it too, and what this process moved by system calls is not known";
    if (!known && nvfs_use_by_others(t, use, by_op))
        return SPUR_OBSERVED_UNKNOWN;
    *ret_why = nvfs_use_by_others(t, use, by_op) ? "; something else used it too" : "";
    return SPUR_OBSERVED_NVIDIA_FS;
}

/* nvidia-fs is the machine's: it says of this trial's road something only where it moved by what the trial asked for,
 * and nothing where the library counted all of its own operations elsewhere. */
static bool judge_nvfs(const struct trial *t, const struct measure *m, const struct tally by_op[2], struct road *ret)
{
    struct nvfs_use use;
    const char *why;

    nvfs_use_read(m, by_op, &use);
    if (use.extent < NVFS_PART || (ret->counted && ret->n_operations))
        return false;
    ret->observed = by_nvfs(t, m, by_op, &use, &why);
    ret->source = PROBE_NVFS_FILE;
    snprintf(ret->strength, sizeof(ret->strength), "%s",
             ret->observed == SPUR_OBSERVED_UNKNOWN                ? "none"
             : ret->observed == SPUR_OBSERVED_NVIDIA_FS && !why[0] ? "strong"
                                                                   : "supporting");
    snprintf(ret->says, sizeof(ret->says),
             "nvidia-fs counted %llu reads and %llu writes of the whole machine, %llu and %llu were asked of the "
             "library%s",
             (unsigned long long)use.reads, (unsigned long long)use.writes, (unsigned long long)by_op[0].requests,
             (unsigned long long)by_op[1].requests, why);
    return true;
}

/* Bytes through @b's ports since @a, of the whole machine; false: unknown for one of them. */
static bool ports_bytes(const struct probe_ports *a, const struct probe_ports *b, uint64_t *ret)
{
    uint64_t sum = 0;

    if (!a->known || !b->known || !b->n || a->n != b->n)
        return false;
    for (unsigned i = 0; i < b->n; i++) {
        const struct probe_port *from = &a->items[i], *to = &b->items[i];

        if (!from->known || !to->known || strcmp(from->name, to->name) || to->received_bytes < from->received_bytes ||
            to->sent_bytes < from->sent_bytes)
            return false;
        sum += to->received_bytes - from->received_bytes + to->sent_bytes - from->sent_bytes;
    }
    *ret = sum;
    return true;
}

/*
 * A client's own RDMA (Weka, GPFS): the library counted operations, none of them on one of its three roads, and the
 * RDMA ports carried at least the bytes. The ports are the machine's, so it is supporting evidence and no more.
 */
static bool judge_user_rdma(const struct measure *m, uint64_t bytes_moved, struct road *ret)
{
    uint64_t bytes;

    if (!ret->counted || !ret->n_operations || ret->n_nvfs || ret->n_p2p || ret->n_posix || !bytes_moved ||
        !ports_bytes(&m->seen.begin.rdma, &m->seen.end.rdma, &bytes) || (double)bytes < 0.9 * (double)bytes_moved)
        return false;
    ret->observed = SPUR_OBSERVED_USER_RDMA;
    ret->source = ROAD_LIBRARY ", RDMA ports";
    snprintf(ret->strength, sizeof(ret->strength), "supporting");
    snprintf(ret->says, sizeof(ret->says),
             "the library counted %llu operations, none of them by nvidia-fs, P2PDMA or POSIX, and the RDMA ports "
             "carried %llu bytes, of the whole machine, where %llu were moved",
             (unsigned long long)ret->n_operations, (unsigned long long)bytes, (unsigned long long)bytes_moved);
    return true;
}

void road_judge(const struct trial *t, const struct measure *m, const struct tally by_op[2], struct road *ret)
{
    uint64_t bytes_moved = by_op[0].bytes + by_op[1].bytes;
    const struct path_roads *a = &m->begin.roads, *b = &m->end.roads;

    *ret = (struct road){.observed = t->path->ops->observed, .source = ROAD_LIBRARY};
    if (!t->path->ops->roads) {
        snprintf(ret->strength, sizeof(ret->strength), "supporting");
        return;
    }
    if (a->known && b->known)
        judge_counts(a, b, ret);
    if (ret->observed != SPUR_OBSERVED_UNKNOWN || judge_user_rdma(m, bytes_moved, ret) ||
        judge_system_calls(m, bytes_moved, ret) || judge_nvfs(t, m, by_op, ret))
        return;
    snprintf(ret->strength, sizeof(ret->strength), "none");
    if (!ret->counted)
        snprintf(ret->says, sizeof(ret->says),
                 "the library does not count operations by road (%.150s), and nothing else tells",
                 b->reason[0] ? b->reason : a->reason);
}

int road_check(const struct trial *t, const struct road *road, struct spur_error *e)
{
    enum spur_observed asked;

    if (!t->path->ops->asked_road)
        return 0;
    asked = t->path->ops->asked_road(t->path);
    if (asked == SPUR_OBSERVED_UNKNOWN || road->observed == SPUR_OBSERVED_UNKNOWN)
        return 0;
    if (asked == SPUR_OBSERVED_COMPAT && road->observed == SPUR_OBSERVED_COMPAT)
        return 0;
    if (asked == SPUR_OBSERVED_NVIDIA_FS && road->observed != SPUR_OBSERVED_COMPAT &&
        road->observed != SPUR_OBSERVED_MIXED)
        return 0;
    error_spur(e, SPUR_CODE_REFUSED, "route", "route=%s was asked for, the road taken was %s: %s",
               asked == SPUR_OBSERVED_COMPAT ? "compat" : "direct", spur_observed_name(road->observed), road->says);
    error_remedy(e, "--set route=any takes the road that comes, and says which");
    refer_to(e, asked == SPUR_OBSERVED_COMPAT ? "cufile-compat" : "nvidia-fs", t->job->files[0]);
    return -EPERM;
}
