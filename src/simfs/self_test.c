/* SPDX-License-Identifier: MIT */
/* Mounts of its own, read with a number of requests in flight, against what the model says. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "core/error.h"
#include "core/units.h"
#include "core/util.h"
#include "path/direct.h"
#include "probe/probe.h"
#include "simfs/simfs.h"

#define FILE_BYTES  (64u << 20)
#define MAX_FLIGHT  16u
#define WARM_NS     50000000u
#define WINDOW_NS   200000000u
#define TRIES       3    /* other programs take the CPUs away for a while */
#define TOLERANCE   0.10 /* of the model's rate */
#define REACHABLE   0.70 /* of what this machine can copy: above that it is not judged */
#define BUSY        0.10 /* of this machine's CPU time taken by others: what is then too slow is not judged */
#define MAX_PER_ROW 3

struct row {
    uint64_t bytes, latency_ns, rate; /* rate 0: no limit */
    unsigned n_servers, n_flight[MAX_PER_ROW];
};

static const struct row rows[] = {
    {4096, 500000, 0, 1, {1, 4, 16}},
    {65536, 1000000, 0, 1, {1, 4, 16}},
    {65536, 200000, 256u << 20, 1, {1, 4, 16}},
    {1u << 20, 500000, 1ull << 30, 1, {1, 4, 16}},
    {1u << 20, 4000000, 2ull << 30, 1, {1, 4, 16}},
    {1u << 20, 1000000, 1ull << 30, 4, {1, 4, 16}},
    {1u << 20, 570000, 14ull << 30, 1, {1, 8, 16}},
};

/* ------------------------------------------------------------------------------------------------
 * A mount in a process that ends with this one
 */

struct mounted {
    char dir[40];
    pid_t pid;
};

static volatile sig_atomic_t stop_signal; /* a handler has nothing else to write to */

static void on_signal(int number)
{
    stop_signal = number;
}

static void tell(void *context, const struct simfs_options *o)
{
    struct spur_error none = {0};

    if (write(*(const int *)context, &none, sizeof(none)) < 0)
        raise(SIGTERM);
}

static void serve(const struct row *row, const char *dir, int fd)
{
    struct simfs_options o = {
        .mount = dir,
        .model = {.op = {{row->latency_ns, row->rate}, {row->latency_ns, row->rate}},
                  .rpc_bytes = row->bytes,
                  .n_servers = row->n_servers,
                  .seed = 1},
        .file_bytes = FILE_BYTES,
        .n_files = 1,
        .backing = "memory",
        .foreground = true,
    };
    struct spur_error e = {0};

    if (simfs_serve(&o, tell, &fd, &e) < 0 && write(fd, &e, sizeof(e)) < 0)
        _exit(1);
    _exit(0);
}

static int mount_row(const struct row *row, struct mounted *m, struct spur_error *e)
{
    struct spur_error said;
    int pair[2];
    ssize_t n;

    if (pipe(pair) < 0)
        return error_errno(e, errno, "pipe", "--self-test");
    m->pid = fork();
    if (m->pid == 0) {
        close(pair[0]);
        signal(SIGINT, SIG_IGN); /* the parent ends it */
        serve(row, m->dir, pair[1]);
    }
    close(pair[1]);
    n = m->pid > 0 ? read(pair[0], &said, sizeof(said)) : -1;
    close(pair[0]);
    if (m->pid > 0 && n == sizeof(said) && !said.detail[0])
        return 0;
    if (m->pid > 0)
        waitpid(m->pid, NULL, 0);
    if (n != sizeof(said))
        return error_errno(e, EIO, "simfs", "--self-test: the server ended");
    *e = said;
    return -EIO;
}

static void unmount_row(const struct mounted *m)
{
    kill(m->pid, SIGTERM);
    while (waitpid(m->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ------------------------------------------------------------------------------------------------
 * Reading
 */

struct load {
    int fd;
    uint64_t bytes, begin_ns, end_ns;
    _Atomic uint64_t next, done;
    _Atomic int error;
};

static void *read_main(void *arg)
{
    struct load *l = arg;
    uint8_t *buffer = aligned_alloc(4096, l->bytes);

    if (buffer)
        memset(buffer, 0, l->bytes);
    while (buffer && !l->error && now_ns() < l->end_ns) {
        uint64_t offset = atomic_fetch_add(&l->next, 1) * l->bytes % FILE_BYTES, end;

        if (pread(l->fd, buffer, l->bytes, (off_t)offset) != (ssize_t)l->bytes)
            l->error = errno ? errno : EIO;
        end = now_ns();
        if (end >= l->begin_ns && end < l->end_ns)
            atomic_fetch_add(&l->done, 1);
    }
    free(buffer);
    return NULL;
}

/* CPU time in ns: of all CPUs, of those that were idle, of this process and the server. */
struct cpu_times {
    double total, idle, own;
};

static double process_ns(clockid_t clock)
{
    struct timespec ts = {0};

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static struct cpu_times cpu_times_read(pid_t server)
{
    struct probe p = {""};
    struct probe_cpu c;
    clockid_t clock;
    double tick;

    probe_cpu_read(&p, &c);
    if (!c.known || clock_getcpuclockid(server, &clock))
        return (struct cpu_times){0};
    tick = 1e9 / (double)c.ticks_per_second;
    return (struct cpu_times){(double)c.total * tick, (double)(c.idle + c.iowait) * tick,
                              process_ns(CLOCK_PROCESS_CPUTIME_ID) + process_ns(clock)};
}

/* The share of this machine's CPU time that others took. */
static double others_share(const struct cpu_times *a, const struct cpu_times *b)
{
    double total = b->total - a->total, others = total - (b->idle - a->idle) - (b->own - a->own);

    return total > 0 && others > 0 ? others / total : 0;
}

struct measured {
    double rate; /* bytes per second; 0: an error */
    double others;
};

/* With @n requests in flight. */
static struct measured load_run(int fd, pid_t server, uint64_t bytes, unsigned n, struct spur_error *e)
{
    struct load l = {.fd = fd, .bytes = bytes, .begin_ns = now_ns() + WARM_NS};
    struct cpu_times before = cpu_times_read(server), after;
    pthread_t threads[MAX_FLIGHT];
    unsigned started = 0;

    l.end_ns = l.begin_ns + WINDOW_NS;
    while (started < n && !pthread_create(&threads[started], NULL, read_main, &l))
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    after = cpu_times_read(server);
    if (started < n || l.error || !l.done) {
        error_errno(e, l.error ? l.error : EIO, "pread", "--self-test: reading data.0");
        return (struct measured){0};
    }
    return (struct measured){(double)l.done * (double)bytes * 1e9 / WINDOW_NS, others_share(&before, &after)};
}

static int open_data(const struct mounted *m, struct spur_error *e)
{
    char name[60];

    snprintf(name, sizeof(name), "%s/data.0", m->dir);
    return file_open_fd(name, false, true, e);
}

/* ------------------------------------------------------------------------------------------------
 * What this machine can do: the same without a model
 */

struct ceiling {
    uint64_t bytes;
    double rate, lone_rate;
};

static int measure_ceiling(struct mounted *m, struct ceiling *c, struct spur_error *e)
{
    const struct row row = {.bytes = c->bytes, .n_servers = 1};
    int r = mount_row(&row, m, e), fd;

    if (r < 0)
        return r;
    fd = open_data(m, e);
    if (fd >= 0) {
        c->rate = load_run(fd, m->pid, c->bytes, MAX_FLIGHT, e).rate;
        c->lone_rate = c->rate ? load_run(fd, m->pid, c->bytes, 1, e).rate : 0;
        close(fd);
    }
    unmount_row(m);
    return fd < 0 ? fd : c->rate && c->lone_rate ? 0 : -EIO;
}

/* ------------------------------------------------------------------------------------------------
 * Verdicts
 */

struct tally {
    unsigned good, off, beyond, busy;
};

static double off_by(double measured, double model)
{
    double ratio = measured / model;

    return ratio > 1 ? ratio - 1 : 1 - ratio;
}

static double expect(const struct row *row, unsigned n)
{
    struct model_setup s = {.op = {{row->latency_ns, row->rate}}, .rpc_bytes = row->bytes, .n_servers = row->n_servers};

    return n == 1 ? (double)row->bytes * 1e9 / model_lone_ns(&s, MODEL_READ, row->bytes)
                  : model_rate(&s, MODEL_READ, row->bytes, n);
}

static void print_case(FILE *out, const struct row *row, unsigned n, double model, double measured, const char *verdict)
{
    char size[UNITS_TEXT], latency[UNITS_TEXT], rate[UNITS_TEXT] = "-", want[UNITS_TEXT], got[UNITS_TEXT];

    if (row->rate)
        units_format_rate((double)row->rate, rate);
    fprintf(out, "%-8s %-8s %-11s %7u %9u  %-13s %-13s %5.2f  %s\n", units_format_size(row->bytes, size),
            units_format_duration(row->latency_ns, latency), rate, row->n_servers, n, units_format_rate(model, want),
            units_format_rate(measured, got), measured / model, verdict);
    fflush(out);
}

/* The nearest of some tries: what is in the way here is not the model. */
static struct measured nearest(int fd, pid_t server, const struct row *row, unsigned n, double model,
                               struct spur_error *e)
{
    struct measured best = {0}, now;

    for (int i = 0; i < TRIES && !stop_signal; i++) {
        now = load_run(fd, server, row->bytes, n, e);
        if (!now.rate)
            return now;
        if (!best.rate || off_by(now.rate, model) < off_by(best.rate, model))
            best = now;
        if (off_by(best.rate, model) <= TOLERANCE)
            break;
    }
    return best;
}

/* Too slow may be for want of CPU; too fast never is. */
static void judge(struct tally *t, const struct measured *got, double model, double reached, char *ret, size_t size)
{
    char can[UNITS_TEXT];
    bool slow = got->rate < model;

    if (off_by(got->rate, model) <= TOLERANCE) {
        t->good++;
        snprintf(ret, size, "ok");
    } else if (slow && model > REACHABLE * reached) {
        t->beyond++;
        snprintf(ret, size, "not judged: this machine reaches %s", units_format_rate(reached, can));
    } else if (slow && got->others > BUSY) {
        t->busy++;
        snprintf(ret, size, "not judged: other programs took %.0f %% of the CPUs", got->others * 100);
    } else {
        t->off++;
        snprintf(ret, size, "OFF");
    }
}

static int judge_case(FILE *out, int fd, pid_t server, const struct row *row, unsigned n, struct ceiling *c,
                      struct tally *t, struct spur_error *e)
{
    double model = expect(row, n), *reached = n == 1 ? &c->lone_rate : &c->rate;
    struct measured got = nearest(fd, server, row, n, model, e);
    char verdict[80];

    if (stop_signal)
        return 0;
    if (!got.rate)
        return -EIO;
    if (got.rate > *reached)
        *reached = got.rate; /* others took the CPUs while the ceiling was measured */
    judge(t, &got, model, *reached, verdict, sizeof(verdict));
    print_case(out, row, n, model, got.rate, verdict);
    return 0;
}

static int judge_row(FILE *out, struct mounted *m, const struct row *row, struct ceiling *c, struct tally *t,
                     struct spur_error *e)
{
    int r = mount_row(row, m, e), fd;

    if (r < 0)
        return r;
    fd = open_data(m, e);
    r = fd < 0 ? fd : 0;
    for (unsigned i = 0; !r && i < MAX_PER_ROW && !stop_signal; i++)
        r = judge_case(out, fd, m->pid, row, row->n_flight[i], c, t, e);
    if (fd >= 0)
        close(fd);
    unmount_row(m);
    return r;
}

static int judge_all(FILE *out, struct mounted *m, struct tally *t, struct spur_error *e)
{
    struct ceiling c = {0};
    int r = 0;

    fprintf(out, "%-8s %-8s %-11s %7s %9s  %-13s %-13s %5s\n", "request", "latency", "rate", "servers", "in flight",
            "model", "measured", "ratio");
    for (size_t i = 0; !r && i < ARRAY_SIZE(rows) && !stop_signal; i++) {
        if (c.bytes != rows[i].bytes) {
            c.bytes = rows[i].bytes;
            r = measure_ceiling(m, &c, e);
        }
        if (!r)
            r = judge_row(out, m, &rows[i], &c, t, e);
    }
    return r;
}

static int conclude(FILE *out, const struct tally *t)
{
    fprintf(out, "%u within %.0f %% of the model, %u off, %u not judged\n", t->good, TOLERANCE * 100, t->off,
            t->beyond + t->busy);
    if (t->beyond)
        fprintf(out,
                "%u ask for more than this machine can do: what is measured on such a mount is this machine, and not "
                "the model\n",
                t->beyond);
    if (t->busy)
        fprintf(out,
                "%u were too slow while other programs took the CPUs: this machine cannot keep up with the model now; "
                "repeat it when less else runs\n",
                t->busy);
    if (t->off || !t->good)
        fprintf(out, "do not trust figures of simulated mounts on this machine%s\n",
                t->off ? "" : ", as it is now: nothing was as the model says");
    else
        fprintf(out, "the model holds wherever it could be judged\n");
    return t->off || !t->good;
}

/* Nobody else needs to see these mounts, where that can be had. */
static void be_private(void)
{
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int simfs_self_test(FILE *out, struct spur_error *e)
{
    struct sigaction stop = {.sa_handler = on_signal};
    struct mounted m = {.dir = "/tmp/spur-simfs.XXXXXX"};
    struct tally t = {0};
    int r;

    if (!mkdtemp(m.dir))
        return error_errno(e, errno, "mkdtemp", "--self-test: %s", m.dir);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    be_private();
    r = judge_all(out, &m, &t, e);
    rmdir(m.dir);
    if (stop_signal)
        return 128 + stop_signal;
    return r < 0 ? r : conclude(out, &t);
}
