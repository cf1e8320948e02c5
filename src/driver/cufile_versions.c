/* SPDX-License-Identifier: MIT */
/*
 * Sources: NVIDIA's release notes of GPUDirect Storage up to CUDA 13.5 (what changed, known issues); the listing of
 * NVIDIA's conda channel (which cuFile came with which CUDA); a published rerun of GPUDirect Storage on NFS over RDMA
 * (2026; rates of 1.15.1.6, 1.18.0.66, 1.18.1.6 and 1.20.0.107 over 1 to 64 threads, each run verified); what spur saw
 * on an H200 without nvidia-fs (docs/cufile.md). What a source does not say is marked as inferred.
 */
#include "driver/cufile_versions.h"

#include "core/util.h"

#define ANY 99999

#define ONE_PIECE                                                                                                      \
    "a request larger than 1 MiB travels one piece at a time, one in flight for each thread; requests of 1 MiB lose "  \
    "nothing"
#define MORE_THREADS                                                                                                   \
    "for large requests at few threads: more threads (it caught up with the host path between 16 and 32), or 1.18.1 "  \
    "or later"
#define NO_STATISTICS                                                                                                  \
    "no interface: which road the bytes took cannot be asked of the library (nvidia-fs counters, where they are on)"
#define STATISTICS                                                                                                     \
    "cuFileGetStatsL1 to L3: operations of this process by road (nvidia-fs, P2PDMA, POSIX), without privileges"

static const struct cufile_known known[] = {
    {{1, 0, 0},
     {1, 14, ANY},
     CUFILE_REQUESTS_ONE_PIECE,
     ONE_PIECE,
     "inferred from 1.15, and from the release notes, which name no change before 1.18.1",
     NO_STATISTICS,
     MORE_THREADS},
    {{1, 15, 0},
     {1, 15, ANY},
     CUFILE_REQUESTS_ONE_PIECE,
     ONE_PIECE,
     "measured on 1.15.1.6 over NFS (published): 1 thread of 16 MiB reads 1.7 GiB/s, the host path 5.5",
     STATISTICS,
     MORE_THREADS},
    {{1, 16, 0},
     {1, 17, ANY},
     CUFILE_REQUESTS_ONE_PIECE,
     ONE_PIECE,
     "inferred from 1.15, and from the release notes, which name no change before 1.18.1",
     STATISTICS,
     MORE_THREADS},
    {{1, 18, 0},
     {1, 18, 0},
     CUFILE_REQUESTS_SERIALISED,
     "large requests are split, but threads wait for each other: 32 threads are no faster than 8",
     "measured on 1.18.0.66 over NFS (published): reads 5.8 GiB/s at 8 and at 32 threads, 12.6 with parallel_io off",
     STATISTICS,
     "1.18.1 or later; else execution.parallel_io=false in cufile.json"},
    {{1, 18, 1},
     {1, 18, ANY},
     CUFILE_REQUESTS_PARALLEL,
     "pieces of a request larger than 8 MiB travel together",
     "measured on 1.18.1.6 over NFS (published): reads 6.9 GiB/s at 8 threads, 12.8 at 32",
     STATISTICS,
     NULL},
    {{1, 19, 0},
     {1, 19, ANY},
     CUFILE_REQUESTS_PARALLEL,
     "pieces of a request larger than 8 MiB travel together",
     "inferred from 1.18.1 and 1.20",
     STATISTICS,
     NULL},
    {{1, 20, 0},
     {1, 20, 0},
     CUFILE_REQUESTS_PARALLEL,
     "pieces of a request larger than 8 MiB travel together",
     "measured on 1.20.0.107 over NFS (published): reads 8.4 GiB/s at 8 threads, 7.1 with parallel_io off",
     STATISTICS,
     NULL},
};

static const struct cufile_fault faults[] = {
    {{1, 0, 0}, {1, 6, ANY}, "no stream interface (cufile-async)", "1.7 or later"},
    {{1, 7, 0},
     {1, 20, ANY},
     "cuFileReadAsync on several streams of one thread delivered bytes of other requests in compatibility mode (seen "
     "on 1.11.1.6, 1.15.1.6, 1.18.1.6 and 1.20.0.107)",
     "one stream a thread"},
    {{1, 15, 0}, {1, 15, ANY}, "cuFileStatsStart after cuFileStatsStop may fail on the first run after a boot", NULL},
    {{1, 15, 1},
     {1, 15, 1},
     "its aarch64 wheel (1.15.1.6) lacks the link to librt.so.1",
     "load librt.so.1 before it, or take a later version",
     "aarch64",
     true},
    {{1, 16, 0},
     {1, 16, 0},
     "takes the nvidia-fs road on NVMe whose driver is not patched, where nvidia-fs is loaded, and fails there",
     "a later version",
     NULL,
     true},
    {{1, 16, 0}, {1, 17, ANY}, "WekaFS does not work (EBADF)", "1.18 (CUDA 13.3) or later", "wekafs", true},
    {{1, 16, 0},
     {1, 20, ANY},
     "was seen to hang when it is opened on a machine without a CUDA driver",
     NULL,
     "no driver",
     true},
    {{1, 20, 0},
     {1, 20, 0},
     "compatibility mode was faster than the direct road at 8 threads where handle and buffer were shared (published: "
     "reads 12.8 against 8.4 GiB/s; not so in gdsio)",
     "compare route=compat with route=direct on your mount"},
};

static const struct {
    int minor, patch; /* patch -1: any */
    const char *cuda;
} releases[] = {
    {4, -1, "11.8"},  {5, -1, "12.0"},  {6, -1, "12.1"},          {7, -1, "12.2"},  {8, -1, "12.3"},  {9, -1, "12.4"},
    {10, -1, "12.5"}, {11, -1, "12.6"}, {13, -1, "12.8"},         {14, -1, "12.9"}, {15, -1, "13.0"}, {16, -1, "13.1"},
    {17, -1, "13.2"}, {18, 0, "13.3"},  {18, 1, "13.3 Update 1"}, {19, -1, "13.4"}, {20, -1, "13.5"},
};

static const char *const words[] = {
    [CUFILE_REQUESTS_ONE_PIECE] = "one piece at a time",
    [CUFILE_REQUESTS_SERIALISED] = "serialised",
    [CUFILE_REQUESTS_PARALLEL] = "parallel",
};

const char *cufile_requests_word(enum cufile_requests requests)
{
    return words[requests];
}

/* <0, 0, >0, as strcmp. */
static int compare(int major, int minor, int patch, const int other[3])
{
    if (major != other[0])
        return major - other[0];
    return minor != other[1] ? minor - other[1] : patch - other[2];
}

static bool within(int major, int minor, int patch, const int from[3], const int to[3])
{
    return compare(major, minor, patch, from) >= 0 && compare(major, minor, patch, to) <= 0;
}

static const struct cufile_known *row_of(int major, int minor, int patch)
{
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (within(major, minor, patch, known[i].from, known[i].to))
            return &known[i];
    return NULL;
}

const struct cufile_known *cufile_known_find(const struct cufile_version *v)
{
    if (v->major < 0 || v->minor < 0)
        return NULL;
    if (v->patch >= 0)
        return row_of(v->major, v->minor, v->patch);
    /* Only where all patches of that minor version are of one row. */
    return row_of(v->major, v->minor, 0) == row_of(v->major, v->minor, ANY) ? row_of(v->major, v->minor, 0) : NULL;
}

const struct cufile_fault *cufile_fault_find(const struct cufile_version *v, size_t index)
{
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        bool low = within(v->major, v->minor, v->patch < 0 ? 0 : v->patch, faults[i].from, faults[i].to);
        bool high = within(v->major, v->minor, v->patch < 0 ? ANY : v->patch, faults[i].from, faults[i].to);

        if ((low || high) && index-- == 0)
            return &faults[i];
    }
    return NULL;
}

const char *cufile_cuda_release(const struct cufile_version *v)
{
    for (size_t i = 0; v->major == 1 && i < ARRAY_SIZE(releases); i++)
        if (releases[i].minor == v->minor && (releases[i].patch < 0 || releases[i].patch == v->patch))
            return releases[i].cuda;
    return NULL;
}

bool cufile_version_is_newer(const struct cufile_version *v)
{
    const int newest[3] = {1, 20, 0};

    return v->major >= 0 && compare(v->major, v->minor, v->patch < 0 ? 0 : v->patch, newest) > 0;
}
