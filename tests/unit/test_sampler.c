/* SPDX-License-Identifier: MIT */
/* Counts in flight by sampling, on a root of a simulated mount. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/sampler.h"

struct machine {
    struct probe p;
    struct storage storage;
};

static void begin(struct machine *m)
{
    memset(m, 0, sizeof(*m));
    assert_true(snprintf(m->p.root, sizeof(m->p.root), "%s/wire-simfs/end", SPUR_TEST_DATA) < (int)sizeof(m->p.root));
    storage_add(&m->p, "/mnt/sim/data.0", makedev(0, 66), &m->storage);
    assert_int_equal(m->storage.n, 1);
}

static void sleep_ms(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

/* Waits until there must have been enough, however slow the machine. */
static struct samples sample(const struct machine *m, long ms)
{
    struct sampler *s = sampler_start(&m->p, &m->storage, NULL);
    struct samples ret;

    assert_non_null(s);
    sleep_ms(ms);
    sampler_stop(s, &ret);
    return ret;
}

static void of_a_constant(void **state)
{
    struct samples s = {0};
    struct machine m;

    begin(&m);
    for (long ms = 500; !s.known && ms < 20000; ms *= 2)
        s = sample(&m, ms);
    assert_true(s.known);
    assert_true(s.n >= 10);
    assert_true(s.mean == 9 && s.max == 9 && s.deviation == 0); /* connections/66/waiting */
    assert_true(s.user_s + s.system_s > 0);
    storage_free(&m.storage);
}

static void too_few(void **state)
{
    struct machine m;
    struct samples s;

    begin(&m);
    s = sample(&m, 0);
    assert_false(s.known);
    assert_non_null(strstr(s.reason, "too short"));
    storage_free(&m.storage);
}

/* One that fails takes the others along. */
static void unreadable(void **state)
{
    struct samples s = {.known = true};
    struct machine m;

    begin(&m);
    strcpy(m.p.root, "/nonexistent");
    for (long ms = 100; strstr(s.reason, "stats") == NULL && ms < 20000; ms *= 2)
        s = sample(&m, ms);
    assert_false(s.known);
    assert_int_equal(s.n, 0);
    assert_non_null(strstr(s.reason, ".spur/stats"));
    sampler_stop(NULL, &s);
    assert_false(s.known);
    assert_true(s.reason[0]);
    storage_free(&m.storage);
}

static bool agree(double sampled, double deviation, unsigned n, double mean)
{
    struct samples s = {.known = true, .n = n, .mean = sampled, .deviation = deviation};

    return samples_agree(&s, mean);
}

static void agreement(void **state)
{
    assert_true(agree(0, 0, 50, 0));
    assert_true(agree(8, 0, 50, 8.1));
    assert_true(agree(8, 0, 50, 10)); /* a fifth of the larger, and 0.1 */
    assert_false(agree(8, 0, 50, 10.2));
    assert_false(agree(10.2, 0, 50, 8));
    assert_true(agree(8, 8, 16, 14)); /* three standard errors: 6 */
    assert_false(agree(8, 8, 64, 14));
    assert_false(agree(0, 0, 50, 1));
}

/* One that holds every CPU it may have makes the sampler wait, unless the sampler may go first. */
static void *spin(void *arg)
{
    const atomic_bool *stop = arg;

    while (!atomic_load_explicit(stop, memory_order_relaxed))
        ;
    return NULL;
}

static void lateness(void **state)
{
    atomic_bool stop = false;
    pthread_t spinners[8];
    cpu_set_t all, one;
    struct machine m;
    struct samples s;

    assert_true(samples_late(&(struct samples){.mean_late_ns = 110000}, 1e6));
    assert_false(samples_late(&(struct samples){.mean_late_ns = 90000}, 1e6));

    begin(&m);
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (unsigned i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&spinners[i], NULL, spin, &stop), 0);
    s = sample(&m, 1000);
    stop = true;
    for (unsigned i = 0; i < 8; i++)
        pthread_join(spinners[i], NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    print_message("%u samples, %.0f ns late\n", s.n, s.mean_late_ns);
    assert_true(s.n > 0 && s.mean_late_ns > 0);
    storage_free(&m.storage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_constant), cmocka_unit_test(too_few),  cmocka_unit_test(unreadable),
        cmocka_unit_test(agreement),     cmocka_unit_test(lateness),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
