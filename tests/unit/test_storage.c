/* SPDX-License-Identifier: MIT */
/* What the storage saw, on constructed machines (tests/data/wire-*) of which two readings are kept, `begin` and `end`;
 * and on counters that went back, files that are missing or wrong, and files damaged at random. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "probe/net.h"
#include "probe/storage.h"

#define MIB (1ull << 20)

/* ------------------------------------------------------------------------------------------------
 * A machine and its window
 */

struct machine {
    struct probe begin, end;
    struct storage storage;
    struct storage_counters a[STORAGE_MAX], b[STORAGE_MAX];
    struct storage_window item[STORAGE_MAX], sum;
};

static struct probe at(const char *machine, const char *end)
{
    struct probe p;

    assert_true(snprintf(p.root, sizeof(p.root), "%s/%s/%s", SPUR_TEST_DATA, machine, end) < (int)sizeof(p.root));
    assert_int_equal(access(p.root, F_OK), 0);
    return p;
}

static void begin(struct machine *m, const char *name)
{
    memset(m, 0, sizeof(*m));
    m->begin = at(name, "begin");
    m->end = at(name, "end");
}

/* Both readings, as if @seconds lay between them. */
static void window(struct machine *m, double seconds)
{
    for (unsigned i = 0; i < m->storage.n; i++) {
        storage_read(&m->begin, &m->storage.items[i], &m->a[i]);
        storage_read(&m->end, &m->storage.items[i], &m->b[i]);
        m->b[i].t_ns = m->a[i].t_ns + (uint64_t)(seconds * 1e9);
        storage_window_make(&m->storage.items[i], &m->a[i], &m->b[i], &m->item[i]);
    }
    storage_window_sum(&m->storage, m->item, &m->sum);
}

static void near(double value, double expected, double share)
{
    if (fabs(value - expected) > share * fabs(expected))
        fail_msg("%g is not %g", value, expected);
}

static double in_flight(const struct storage_window *w)
{
    double v = NAN;

    assert_true(w->known);
    assert_null(storage_mean_in_flight(w, &v));
    return v;
}

static double service_ns(const struct storage_window *w, const struct storage_requests *r)
{
    double v = NAN;

    assert_null(storage_mean_service(w, r, &v));
    return v;
}

static const char *no_service(const struct storage_window *w, const struct storage_requests *r)
{
    double v;
    const char *why = storage_mean_service(w, r, &v);

    assert_non_null(why);
    return why;
}

/* ------------------------------------------------------------------------------------------------
 * Machines
 */

static void nfs_over_rdma(void **state)
{
    struct machine m;
    const struct probe_nfs_mount *n = &m.b[0].nfs;

    begin(&m, "wire-nfs-rdma");
    storage_add(&m.begin, "/mnt/scratch/f", makedev(0, 52), &m.storage);
    storage_add(&m.begin, "/mnt/again/f", makedev(0, 52), &m.storage);
    assert_int_equal(m.storage.n, 1); /* one superblock, counted once */
    assert_true(m.storage.shared);
    assert_int_equal(m.storage.items[0].source, STORAGE_NFS);
    assert_string_equal(m.storage.items[0].host, "10.20.30.40:");
    window(&m, 10);
    assert_true(m.sum.known);
    assert_int_equal(m.sum.read.n, 118000);
    assert_int_equal(m.sum.read.bytes, 118000 * MIB); /* payload, not whole messages */
    assert_int_equal(m.sum.write.n, 0);
    assert_int_equal(m.sum.all.n, 118000);
    assert_true(m.sum.has_retries);
    assert_int_equal(m.sum.retries, 3);
    near(in_flight(&m.sum), 118, 1e-9);
    near(service_ns(&m.sum, &m.sum.read), 10e6, 1e-9);
    assert_non_null(strstr(no_service(&m.sum, &m.sum.write), "no request"));
    assert_false(m.sum.has_server_cpu);
    assert_string_equal(n->version, "3");
    assert_string_equal(n->protocol, "rdma");
    assert_string_equal(n->pnfs, "");
    assert_int_equal(n->nconnect, 8);
    assert_int_equal(n->rsize_bytes, MIB);
    assert_int_equal(n->transports.n, 8);
    assert_true(n->transports.known);
    assert_string_equal(n->transports.kind, "rdma");
    assert_false(n->transports.has_queues);
    assert_int_equal(n->transports.sends, 8 * 79750);
    assert_int_equal(n->transports.receives, 8 * 79735);
    assert_int_equal(n->transports.connects, 8);
    storage_free(&m.storage);
}

static void nfs_over_tcp(void **state)
{
    struct machine m;
    const struct probe_nfs_mount *n = &m.b[0].nfs;

    begin(&m, "wire-nfs-tcp");
    storage_add(&m.begin, "/home all/dir/f", makedev(0, 61), &m.storage);
    window(&m, 5);
    assert_int_equal(m.sum.read.n, 2000);
    assert_int_equal(m.sum.write.n, 1000);
    assert_int_equal(m.sum.read.bytes, 2000 * 104857); /* the server's, not the callers' */
    assert_int_equal(m.sum.write.bytes, 1000 * MIB);
    assert_int_equal(m.sum.retries, 0);
    near(service_ns(&m.sum, &m.sum.read), 4.1e6, 1e-9); /* 8,200 ms */
    near(service_ns(&m.sum, &m.sum.write), 6e6, 1e-9);  /* 6,000 ms */
    near(in_flight(&m.sum), (8.2 + 6) / 5, 1e-9);       /* COMMIT is no part of it */
    near(service_ns(&m.sum, &m.sum.all), 14.2e9 / 3000, 1e-9);
    assert_int_equal(n->op[NFS_COMMIT].ops - m.a[0].nfs.op[NFS_COMMIT].ops, 3);
    assert_int_equal(n->op[NFS_WRITE].errors, 2);
    assert_string_equal(n->version, "4.2");
    assert_string_equal(n->pnfs, "LAYOUT_NFSV4_1_FILES");
    assert_int_equal(n->nconnect, 1);
    assert_int_equal(n->transports.n, 1);
    assert_true(n->transports.has_queues);
    assert_int_equal(n->transports.max_slots, 64);
    assert_int_equal(n->transports.sends - m.a[0].nfs.transports.sends, 3010);
    assert_int_equal(n->transports.backlog_sum - m.a[0].nfs.transports.backlog_sum, 6 * 3010);
    assert_int_equal(n->transports.outstanding_sum - m.a[0].nfs.transports.outstanding_sum, 3 * 3010);
    assert_int_equal(n->transports.pending_sum - m.a[0].nfs.transports.pending_sum, 2 * 3010);
    storage_free(&m.storage);
}

static void disk_of_a_partition(void **state)
{
    struct machine m;

    begin(&m, "wire-ext4-nvme");
    storage_add(&m.begin, "/srv/f", makedev(259, 2), &m.storage);
    storage_add(&m.begin, "/srv/g", makedev(259, 2), &m.storage);
    assert_int_equal(m.storage.n, 1);
    assert_string_equal(m.storage.items[0].name, "nvme0n1");
    window(&m, 2);
    assert_int_equal(m.sum.read.n, 16000);
    assert_int_equal(m.sum.read.bytes, 16000 * (MIB / 8));
    assert_int_equal(m.sum.write.n, 10);
    near(service_ns(&m.sum, &m.sum.read), 500e3, 1e-9);
    assert_non_null(strstr(no_service(&m.sum, &m.sum.write), "milliseconds")); /* 2 ms are too few to tell */
    near(in_flight(&m.sum), 8002 / 2000., 1e-9);
    assert_false(m.sum.has_retries);
    storage_free(&m.storage);
}

/* The disks below md, not md itself. */
static void leaves_of_md(void **state)
{
    struct machine m;

    begin(&m, "wire-xfs-md");
    storage_add(&m.begin, "/mnt/raid/f", makedev(9, 0), &m.storage);
    assert_int_equal(m.storage.n, 4);
    window(&m, 1);
    assert_int_equal(m.sum.read.n, 8000);
    assert_int_equal(m.sum.read.bytes, 8000 * (MIB / 2));
    near(in_flight(&m.sum), 32, 1e-9);
    near(in_flight(&m.item[3]), 8, 1e-9);
    near(service_ns(&m.sum, &m.sum.all), 4e6, 1e-9);
    storage_free(&m.storage);
}

static void container(void **state)
{
    struct probe_ports net, rdma;
    struct machine m;
    double v;

    begin(&m, "wire-container");
    storage_add(&m.begin, "/etc/f", makedev(0, 88), &m.storage);
    window(&m, 1);
    assert_int_equal(m.storage.items[0].source, STORAGE_NONE);
    assert_false(m.sum.known);
    assert_non_null(strstr(m.sum.reason, "cannot be seen from here"));
    storage_free(&m.storage);
    storage_add(&m.begin, "/data/f", makedev(259, 2), &m.storage);
    window(&m, 1);
    assert_int_equal(m.sum.read.n, 1);
    assert_int_equal(m.sum.read.bytes, MIB);
    assert_non_null(strstr(storage_mean_in_flight(&m.sum, &v), "milliseconds")); /* not 0 */
    assert_non_null(strstr(no_service(&m.sum, &m.sum.read), "milliseconds"));
    storage_add(&m.begin, "/dev/shm/f", makedev(0, 91), &m.storage); /* one of two is not counted: nor is the sum */
    window(&m, 1);
    assert_true(m.item[0].known);
    assert_false(m.sum.known);
    assert_non_null(strstr(m.sum.reason, "tmpfs at /dev/shm"));
    storage_free(&m.storage);
    probe_rdma_read(&m.begin, &rdma);
    assert_true(rdma.known);
    assert_int_equal(rdma.n, 0);
    probe_net_read(&m.begin, &net);
    assert_int_equal(net.n, 1);
    assert_false(net.items[0].is_hardware);
}

/* queue/iostats is 0: the disk's numbers stand still, and are not 0 requests. */
static void disk_that_does_not_count(void **state)
{
    struct storage s = {0};
    struct probe p;

    assert_true(snprintf(p.root, sizeof(p.root), "%s/dm-nvme", SPUR_TEST_DATA) < (int)sizeof(p.root));
    storage_add(&p, "/f", makedev(253, 1), &s);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.items[0].source, STORAGE_NONE);
    assert_non_null(strstr(s.items[0].reason, "iostats is 0"));
    storage_free(&s);
}

static void loop_on_a_file(void **state)
{
    struct storage s = {0};
    struct probe p;

    assert_true(snprintf(p.root, sizeof(p.root), "%s/loop-overlay", SPUR_TEST_DATA) < (int)sizeof(p.root));
    storage_add(&p, "/f", makedev(8, 2), &s);
    assert_null(s.loop_file);
    storage_add(&p, "/mnt/f", makedev(7, 0), &s);
    assert_non_null(s.loop_file);
    assert_true(s.loop_file[0] == '/');
    storage_free(&s);
}

static void simulated(void **state)
{
    struct machine m;
    uint64_t n;
    char reason[PROBE_REASON];

    begin(&m, "wire-simfs");
    storage_add(&m.begin, "/mnt/sim/data.0", makedev(0, 66), &m.storage);
    assert_int_equal(m.storage.items[0].source, STORAGE_SIMFS);
    window(&m, 100); /* its own clock counts */
    near(m.sum.seconds, 3, 1e-9);
    assert_int_equal(m.sum.read.n, 42631);
    assert_int_equal(m.sum.read.bytes, 42631 * MIB);
    near(in_flight(&m.sum), 42631 * 570e-6 / 3, 1e-9);
    near(service_ns(&m.sum, &m.sum.read), 570e3, 1e-9);
    assert_true(m.sum.has_server_cpu);
    near(m.sum.server_cpu_s, 2.4, 1e-9);
    assert_int_equal(m.b[0].simfs.short_answers, 2);
    assert_int_equal(m.b[0].simfs.connection, 66);
    assert_true(storage_in_flight(&m.end, &m.storage, NULL, &n, reason));
    assert_int_equal(n, 9); /* the kernel's count, before the server's */
    storage_add(&m.begin, "/mnt/other/f", makedev(0, 67), &m.storage);
    assert_int_equal(m.storage.items[1].source, STORAGE_NONE);
    assert_non_null(strstr(m.storage.items[1].reason, "FUSE at /mnt/other"));
    storage_free(&m.storage);
}

static void ports(void **state)
{
    struct probe a = at("wire-nfs-rdma", "begin"), b = at("wire-nfs-rdma", "end");
    struct probe_ports x, y;

    probe_rdma_read(&a, &x);
    probe_rdma_read(&b, &y);
    assert_int_equal(x.n, 2);
    assert_string_equal(x.items[0].name, "mlx5_0/1");
    assert_true(x.items[0].known);
    assert_int_equal(y.items[0].received_bytes - x.items[0].received_bytes, 118000 * (MIB + 200)); /* words of 4 */
    assert_int_equal(y.items[0].sent_bytes - x.items[0].sent_bytes, 118000 * 124);
    assert_int_equal(x.items[0].speed_bits_per_s, 400000000000);
    assert_false(x.items[1].known); /* a 32-bit counter at its end */
    assert_non_null(strstr(x.items[1].reason, "mlx5_1/ports/1/counters/port_rcv_data"));
    assert_int_equal(x.items[1].speed_bits_per_s, 2500000000);
    probe_net_read(&a, &x);
    probe_net_read(&b, &y);
    assert_int_equal(x.n, 3);
    assert_string_equal(x.items[0].name, "eno1");
    assert_int_equal(y.items[0].received_bytes - x.items[0].received_bytes, 12000);
    assert_int_equal(y.items[0].sent_bytes - x.items[0].sent_bytes, 9000);
    assert_true(x.items[0].is_hardware && x.items[0].has_speed);
    assert_int_equal(x.items[0].speed_bits_per_s, 1000000000);
    assert_string_equal(x.items[2].name, "lo");
    assert_false(x.items[2].is_hardware || x.items[2].has_speed);
}

/* ------------------------------------------------------------------------------------------------
 * In flight now
 */

static void in_flight_now(void **state)
{
    struct storage_idle idle;
    char reason[PROBE_REASON];
    struct machine m;
    uint64_t n;

    begin(&m, "wire-xfs-md");
    storage_add(&m.begin, "/mnt/raid/f", makedev(9, 0), &m.storage);
    assert_true(storage_in_flight(&m.end, &m.storage, NULL, &n, reason));
    assert_int_equal(n, 32);
    storage_free(&m.storage);
    begin(&m, "wire-nfs-tcp");
    storage_add(&m.begin, "/home all/f", makedev(0, 61), &m.storage);
    storage_idle_read(&m.begin, &m.storage, &idle);
    assert_true(storage_in_flight(&m.end, &m.storage, &idle, &n, reason));
    assert_int_equal(n, 4);
    idle.unanswered[0] = 3; /* lost long ago */
    assert_true(storage_in_flight(&m.end, &m.storage, &idle, &n, reason));
    assert_int_equal(n, 1);
    idle.unanswered[0] = 5;
    assert_false(storage_in_flight(&m.end, &m.storage, &idle, &n, reason));
    storage_free(&m.storage);
    begin(&m, "wire-nfs-rdma"); /* three were sent twice */
    storage_add(&m.begin, "/mnt/scratch/f", makedev(0, 52), &m.storage);
    storage_idle_read(&m.begin, &m.storage, &idle);
    assert_false(storage_in_flight(&m.end, &m.storage, &idle, &n, reason));
    assert_non_null(strstr(reason, "sent again"));
    storage_idle_read(&m.end, &m.storage, &idle);
    idle.unanswered[0] = 0;
    assert_true(storage_in_flight(&m.end, &m.storage, &idle, &n, reason));
    assert_int_equal(n, 8 * 15);
    storage_free(&m.storage);
    assert_false(storage_in_flight(&m.end, &m.storage, NULL, &n, reason)); /* nothing counts */
}

/* ------------------------------------------------------------------------------------------------
 * Windows of counters that went wrong
 */

static const struct storage_item disk = {.source = STORAGE_BLOCK, .name = "sda"};
static const struct storage_item sim = {.source = STORAGE_SIMFS, .name = "/mnt/s"};

static struct storage_window between(const struct storage_item *item, struct storage_counters a,
                                     struct storage_counters b)
{
    struct storage_window w;

    a.known = b.known = true;
    b.t_ns = a.t_ns + 1000000000;
    storage_window_make(item, &a, &b, &w);
    return w;
}

/* 2^32 as of a 32-bit kernel's counter that wrapped, or a disk that came back under its old name. */
static void counters_that_went_back(void **state)
{
    struct storage_counters a = {.disk = {.reads = 4294967290, .read_bytes = 1 << 20, .read_ms = 100}}, b = a;
    struct storage_window w = between(&disk, a, b);

    assert_true(w.known);
    b.disk.reads = 3;
    w = between(&disk, a, b);
    assert_false(w.known);
    assert_int_equal(w.read.n, 0);
    assert_int_equal(w.all.bytes, 0);
    assert_non_null(strstr(w.reason, "sda: reads went back from 4294967290 to 3"));
    b = a;
    b.disk.weighted_ms = 5;
    assert_true(between(&disk, a, b).known);
    assert_false(between(&disk, b, a).known);
    a = b = (struct storage_counters){.simfs = {.time_ns = 9, .reads = 5, .busy_ns = 77}};
    b.simfs.time_ns = 10;
    assert_true(between(&sim, a, b).known);
    b.simfs.busy_ns = 0; /* mounted anew */
    w = between(&sim, a, b);
    assert_false(w.known);
    assert_non_null(strstr(w.reason, "busy_ns went back"));
}

static void nothing_and_stuck(void **state)
{
    struct storage_counters a = {.disk = {.reads = 5}}, b = a;
    struct storage_window w = between(&disk, a, b);
    double v = NAN;

    assert_null(storage_mean_in_flight(&w, &v)); /* truly none */
    assert_true(v == 0);
    assert_non_null(storage_mean_service(&w, &w.all, &v));
    b.disk.in_flight = 2; /* hanging: they show in no sum */
    w = between(&disk, a, b);
    assert_non_null(strstr(storage_mean_in_flight(&w, &v), "under way"));
    b.disk.reads = 6;
    b.disk.weighted_ms = 500;
    w = between(&disk, a, b);
    assert_null(storage_mean_in_flight(&w, &v));
    near(v, 0.5, 1e-9);
}

/* simfs has one sum of service times. */
static void reads_and_writes_timed_together(void **state)
{
    struct storage_counters a = {.simfs = {.time_ns = 0}};
    struct storage_counters b = {.simfs = {.time_ns = 1000, .reads = 3, .writes = 1, .service_ns = 400}};
    struct storage_window w = between(&sim, a, b);

    assert_non_null(strstr(no_service(&w, &w.read), "together"));
    near(service_ns(&w, &w.all), 100, 1e-9);
    b.simfs.writes = 0;
    w = between(&sim, a, b);
    near(service_ns(&w, &w.read), 400 / 3., 1e-9);
}

/* An idle disk beside a busy one takes the figures away from neither. */
static void sum_with_an_idle_one(void **state)
{
    struct storage s = {.n = 2, .items = {disk, {.source = STORAGE_BLOCK, .name = "sdb"}}};
    struct storage_counters a = {.disk = {.reads = 5}};
    struct storage_counters b = {.disk = {.reads = 105, .read_bytes = 100 * MIB, .read_ms = 400, .weighted_ms = 400}};
    struct storage_window w[2] = {between(&disk, a, a), between(&disk, a, b)}, sum;
    double v;

    storage_window_sum(&s, w, &sum);
    assert_int_equal(sum.all.n, 100);
    near(service_ns(&sum, &sum.all), 4e6, 1e-9);
    near(in_flight(&sum), 0.4, 1e-9);
    a.disk.in_flight = 1;
    w[1] = between(&disk, a, a); /* hangs: how many were in flight in all is not known then */
    w[0] = between(&disk, a, b);
    storage_window_sum(&s, w, &sum);
    assert_int_equal(sum.all.n, 100);
    assert_non_null(storage_mean_in_flight(&sum, &v));
    s.full = true;
    storage_window_sum(&s, w, &sum);
    assert_false(sum.known);
}

/* Disks whose counters miss what went through them say nothing of it. */
static void disks_that_miss_most(void **state)
{
    struct storage s = {.n = 1, .items = {disk}};
    struct storage_counters a = {.disk = {.reads = 5}}, b = {.disk = {.reads = 6, .read_bytes = MIB}};
    struct storage_window w = between(&disk, a, b), sum;

    storage_window_sum(&s, &w, &sum);
    storage_window_check(&s, 10 * MIB, &sum);
    assert_true(sum.known);
    storage_window_check(&s, 11 * MIB, &sum);
    assert_false(sum.known);
    assert_non_null(strstr(sum.reason, "1048576 of the 11534336 bytes"));
    storage_window_sum(&s, &w, &sum);
    s.loop_file = (char[]){"/image"};
    storage_window_check(&s, 100 * MIB, &sum);
    assert_true(sum.known);
    s.loop_file = NULL;
    s.items[0].source = STORAGE_NFS; /* of which /proc/self/io knows nothing */
    storage_window_check(&s, 100 * MIB, &sum);
    assert_true(sum.known);
}

/* ------------------------------------------------------------------------------------------------
 * Files that are missing, wrong, or damaged
 */

static struct probe empty_root(void)
{
    struct probe p = {.root = "storage-XXXXXX"};

    assert_non_null(mkdtemp(p.root));
    return p;
}

static void write_file(const struct probe *p, const char *path, const char *text, size_t n)
{
    char full[512];
    FILE *f;

    snprintf(full, sizeof(full), "%s%s", p->root, path);
    for (char *slash = full + strlen(p->root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
    }
    remove(full); /* ext4 writes out at once what was cut and written anew */
    f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const struct probe *p, const char *path, const char *text)
{
    write_file(p, path, text, strlen(text));
}

static void remove_root(const struct probe *p)
{
    char command[300];

    snprintf(command, sizeof(command), "rm -r '%s'", p->root);
    assert_int_equal(system(command), 0);
}

static void nfs_unknown(const struct probe *p, const char *text, const char *reason)
{
    struct probe_nfs_mount m;

    if (text)
        put(p, "/proc/self/mountstats", text);
    probe_nfs_read(p, "/m", &m);
    assert_false(m.known);
    if (!strstr(m.reason, reason))
        fail_msg("'%s' does not say '%s'", m.reason, reason);
}

#define DEVICE "device h:/x mounted on /m with fstype nfs statvers=1.1\n"
#define BYTES  "\tbytes:\t1 2 3 4 5 6 7 8\n"
#define OPS    "\tper-op statistics\n\tREAD: 1 1 0 1 1 1 1 1\n\tWRITE: 1 1 0 1 1 1 1 1\n"

static void nfs_missing_and_wrong(void **state)
{
    struct probe p = empty_root();
    struct probe_nfs_mount m;

    nfs_unknown(&p, NULL, "mountstats");
    nfs_unknown(&p, "", "no NFS mount at /m");
    nfs_unknown(&p, "device h:/x mounted on /m with fstype ext4\n", "no NFS mount at /m");
    nfs_unknown(&p, "device h:/x mounted on /mm with fstype nfs statvers=1.1\n" BYTES OPS, "no NFS mount at /m");
    nfs_unknown(&p, DEVICE, "no lines bytes:");
    nfs_unknown(&p, DEVICE "\tbytes:\t1 2 3\n" OPS, "line 2: fewer than six");
    nfs_unknown(&p, DEVICE BYTES "\tper-op statistics\n\tREAD: 1 1 x\n", "line 4: fewer than eight");
    nfs_unknown(&p, DEVICE BYTES "\txprt:\ttcp 1 2 3\n" OPS, "line 3: too few");
    put(&p, "/proc/self/mountstats", DEVICE BYTES "\txprt:\tquic 1\n" OPS);
    probe_nfs_read(&p, "/m", &m);
    assert_true(m.known); /* an unknown transport takes the requests' counters not away */
    assert_false(m.transports.known);
    assert_false(m.op[NFS_READ].has_errors);
    put(&p, "/proc/self/mountstats", DEVICE BYTES "\txprt:\tudp 800 1 20 17 0 60 5 2 3 4\n" OPS);
    probe_nfs_read(&p, "/m", &m);
    assert_string_equal(m.transports.kind, "udp");
    assert_int_equal(m.transports.sends, 20);
    assert_int_equal(m.transports.receives, 17);
    assert_int_equal(m.transports.outstanding_sum, 60);
    assert_int_equal(m.transports.pending_sum, 4);
    remove_root(&p);
}

static void simfs_missing_and_wrong(void **state)
{
    static const char *const bad[] = {"", "fuse 1\n", "simfs 2\ntime_ns 1\n", "simfs\n", "simfs 1\nreads 1\n"};
    static const char newer[] = "simfs 2\ntime_ns 1\nreads 1\nread_bytes 1\nwrites 1\nwrite_bytes 1\nerrors 1\n"
                                "short_answers 1\nin_flight 1\nservice_ns 1\nbusy_ns 1\ncpu_ns 1\n";
    struct probe p = empty_root();
    struct probe_simfs c;

    probe_simfs_read(&p, "/s", &c);
    assert_false(c.known);
    put(&p, "/s/.spur/stats", newer);
    probe_simfs_read(&p, "/s", &c);
    assert_false(c.known);
    assert_non_null(strstr(c.reason, "version 2"));
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        put(&p, "/s/.spur/stats", bad[i]);
        probe_simfs_read(&p, "/s", &c);
        assert_false(c.known);
        assert_true(c.reason[0]);
    }
    remove_root(&p);
}

/* Changes, cuts and repeats a few bytes. */
static size_t damage(char *text, size_t n, size_t room)
{
    static const char with[] = "0189 \t\n:-x/,=.\\\xff";

    for (int i = rand() % 6; i >= 0 && n; i--) {
        size_t k = (size_t)rand() % n, length = (size_t)rand() % 40;

        if (rand() % 8 == 0)
            n = k;
        else if (rand() % 4 == 0 && n + length < room && k + length < n)
            memmove(text + k + length, text + k, n - k), n += length;
        else
            text[k] = with[(size_t)rand() % (sizeof(with) - 1)];
    }
    return n;
}

static void read_all_sources(const struct probe *p)
{
    struct probe_nfs_mount nfs;
    struct probe_simfs simfs;
    struct probe_ports ports;
    struct probe_disk disks;

    probe_nfs_read(p, "/mnt/scratch", &nfs);
    assert_true(nfs.known || nfs.reason[0]);
    probe_simfs_read(p, "/mnt/sim", &simfs);
    assert_true(simfs.known || simfs.reason[0]);
    probe_disk_read(p, "nvme0n1", &disks);
    assert_true(disks.known || disks.reason[0]);
    probe_net_read(p, &ports);
    assert_true(ports.known || ports.reason[0]);
    for (unsigned i = 0; i < ports.n; i++)
        assert_true(ports.items[i].name[0]);
    probe_rdma_read(p, &ports);
    for (unsigned i = 0; i < ports.n; i++)
        assert_true(ports.items[i].known || ports.items[i].reason[0]);
}

static void damaged_at_random(void **state)
{
    static const struct {
        const char *from, *path;
    } files[] = {
        {"wire-nfs-rdma/end/proc/self/mountstats", "/proc/self/mountstats"},
        {"wire-simfs/end/mnt/sim/.spur/stats", "/mnt/sim/.spur/stats"},
        {"wire-nfs-rdma/end/proc/net/dev", "/proc/net/dev"},
        {"wire-nfs-rdma/end/sys/class/infiniband/mlx5_0/ports/1/rate", "/sys/class/infiniband/a/ports/1/rate"},
        {"wire-nfs-rdma/end/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data",
         "/sys/class/infiniband/a/ports/1/counters/port_rcv_data"},
        {"wire-ext4-nvme/end/sys/block/nvme0n1/stat", "/sys/block/nvme0n1/stat"},
    };
    static char whole[16384], text[32768];
    struct probe p = empty_root();

    srand(20260731);
    for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char name[512];
        FILE *f;
        size_t n;

        snprintf(name, sizeof(name), "%s/%s", SPUR_TEST_DATA, files[i].from);
        f = fopen(name, "r");
        assert_non_null(f);
        n = fread(whole, 1, sizeof(whole), f);
        fclose(f);
        for (int k = 0; k < 150; k++) {
            memcpy(text, whole, n);
            write_file(&p, files[i].path, text, damage(text, n, sizeof(text)));
            read_all_sources(&p);
        }
    }
    remove_root(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nfs_over_rdma),
        cmocka_unit_test(nfs_over_tcp),
        cmocka_unit_test(disk_of_a_partition),
        cmocka_unit_test(leaves_of_md),
        cmocka_unit_test(container),
        cmocka_unit_test(disk_that_does_not_count),
        cmocka_unit_test(loop_on_a_file),
        cmocka_unit_test(simulated),
        cmocka_unit_test(ports),
        cmocka_unit_test(in_flight_now),
        cmocka_unit_test(counters_that_went_back),
        cmocka_unit_test(nothing_and_stuck),
        cmocka_unit_test(reads_and_writes_timed_together),
        cmocka_unit_test(sum_with_an_idle_one),
        cmocka_unit_test(disks_that_miss_most),
        cmocka_unit_test(nfs_missing_and_wrong),
        cmocka_unit_test(simfs_missing_and_wrong),
        cmocka_unit_test(damaged_at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
