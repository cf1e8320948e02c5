/* SPDX-License-Identifier: MIT */
/* Which road is claimed where the library does not count it: the machine's counters prove one only by what the trial
 * asked for, and what this process read by system calls goes before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/refer.h"
#include "worker/road.h"

#define MIB ((uint64_t)1 << 20)
#define N   100 /* requests of 1 MiB */

/* In place of refer.c. */
void refer_to(struct spur_error *e, const char *check, const char *file)
{
    (void)e;
    (void)check;
    (void)file;
}

static void no_roads(struct spur_path *p, struct path_roads *ret)
{
    (void)p;
    (void)ret;
}

static struct measure m; /* large */
static struct tally asked[2];

static void window(uint64_t reads, uint64_t read_mib, uint64_t by_calls)
{
    memset(&m, 0, sizeof(m));
    m.begin.nvfs = (struct probe_nvfs){.loaded = true, .known = true, .enabled = true, .reads = 7, .read_mib = 7};
    m.end.nvfs = m.begin.nvfs;
    m.end.nvfs.reads += reads;
    m.end.nvfs.read_mib += read_mib;
    m.begin.io.known = m.end.io.known = true;
    m.begin.io.rchar = 5;
    m.end.io.rchar = 5 + by_calls;
    asked[0] = (struct tally){N * MIB, N};
    asked[1] = (struct tally){0, 0};
}

static void judged(enum spur_observed observed, const char *strength)
{
    const struct path_ops ops = {.roads = no_roads};
    struct spur_path path = {.ops = &ops};
    struct job job = {.threads = 2, .depth = 1, .request_bytes = MIB};
    struct trial t = {.job = &job, .path = &path};
    struct road road;

    road_judge(&t, &m, asked, &road);
    assert_string_equal(spur_observed_name(road.observed), spur_observed_name(observed));
    assert_string_equal(road.strength, strength);
}

static void nvidia_fs_counted_what_was_asked(void **state)
{
    (void)state;
    window(N, 0, 0); /* a layout without bytes */
    judged(SPUR_OBSERVED_NVIDIA_FS, "strong");
    window(16 * N, N, 4096); /* requests are cut into several operations */
    judged(SPUR_OBSERVED_NVIDIA_FS, "strong");
    window(N / 4, N, 0); /* by bytes */
    judged(SPUR_OBSERVED_NVIDIA_FS, "strong");
    window(5 * N, 5 * N, 0); /* others too: some of it */
    judged(SPUR_OBSERVED_NVIDIA_FS, "supporting");
    m.end.io.known = false; /* all of it may be theirs */
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(N, N, 0);
    m.end.io.known = false;
    judged(SPUR_OBSERVED_NVIDIA_FS, "strong");
}

static void less_than_was_asked_proves_nothing(void **state)
{
    (void)state;
    window(N / 4, N / 4, 0);
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(1, 0, 0);
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(0, 0, 0);
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(N, N, 0); /* reads, of a trial that wrote as much */
    asked[1] = (struct tally){N * MIB, N};
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(N, N, 0);
    m.begin.nvfs.enabled = false;
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(N, N, 0); /* set to zero inside the window */
    m.end.nvfs.reads = 6;
    judged(SPUR_OBSERVED_UNKNOWN, "none");
}

static void system_calls_of_the_process_go_before(void **state)
{
    (void)state;
    window(N / 4, N / 4, N * MIB);
    judged(SPUR_OBSERVED_COMPAT, "supporting");
    window(5 * N, 5 * N, N * MIB);
    judged(SPUR_OBSERVED_COMPAT, "supporting");
    window(N / 4, N / 4, N * MIB * 3 / 4);
    judged(SPUR_OBSERVED_MIXED, "supporting");
    window(N / 4, N / 4, N * MIB / 4); /* of the other half nothing is known */
    judged(SPUR_OBSERVED_UNKNOWN, "none");
}

/* spur reads counters by system calls: of a few small requests they may be more than the requests. */
static void few_bytes_are_not_told_from_counters(void **state)
{
    (void)state;
    window(4, 0, 16384);
    asked[0] = (struct tally){16384, 4};
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    window(4, 0, 100);
    asked[0] = (struct tally){16384, 4};
    judged(SPUR_OBSERVED_NVIDIA_FS, "strong");
}

/* A library that counted its operations, none of them by nvidia-fs, is not overruled by what others did. */
static void the_library_is_not_overruled(void **state)
{
    (void)state;
    window(N, N, 0);
    m.begin.roads.known = m.end.roads.known = true;
    m.end.roads.n_operations = N;
    judged(SPUR_OBSERVED_UNKNOWN, "none");
    m.end.roads.n_posix = N;
    judged(SPUR_OBSERVED_COMPAT, "strong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvidia_fs_counted_what_was_asked),      cmocka_unit_test(less_than_was_asked_proves_nothing),
        cmocka_unit_test(system_calls_of_the_process_go_before), cmocka_unit_test(few_bytes_are_not_told_from_counters),
        cmocka_unit_test(the_library_is_not_overruled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
