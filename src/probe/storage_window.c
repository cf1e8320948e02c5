/* SPDX-License-Identifier: MIT */
/* From two readings to what happened between them: docs/wire.md, "Formulas". */
#include <string.h>

#include "probe/read.h"
#include "probe/storage.h"

#define MS          1000000ull
#define LEAST_BYTES (1u << 20)
#define LEAST_MS    10 /* a sum of fewer whole milliseconds may be wrong by a tenth and more */

/* Differences of counters. One that went back was reset, or wrapped: nothing can be said then. */
struct difference {
    const struct storage_item *item;
    struct storage_window *window;
};

static uint64_t moved(const struct difference *d, const char *name, uint64_t begin, uint64_t end)
{
    if (end >= begin)
        return end - begin;
    if (d->window->known)
        reason_set(d->window->reason, "%.60s: %s went back from %llu to %llu: it was reset, or wrapped around",
                   d->item->name, name, (unsigned long long)begin, (unsigned long long)end);
    d->window->known = false;
    return 0;
}

static void set_ms(struct storage_requests *r, uint64_t ms)
{
    r->is_timed = true;
    r->service_ns = ms * MS;
}

static void add(struct storage_requests *sum, const struct storage_requests *r)
{
    sum->n += r->n;
    sum->bytes += r->bytes;
    sum->service_ns += r->service_ns;
    sum->is_timed &= r->is_timed;
}

/* ------------------------------------------------------------------------------------------------
 * Sources
 */

static void disk_window(const struct difference *d, const struct probe_disk *a, const struct probe_disk *b)
{
    struct storage_window *w = d->window;
    uint64_t read_ms = moved(d, "read time", a->read_ms, b->read_ms);
    uint64_t write_ms = moved(d, "write time", a->write_ms, b->write_ms);
    uint64_t weighted_ms = moved(d, "weighted time", a->weighted_ms, b->weighted_ms);

    w->read.n = moved(d, "reads", a->reads, b->reads);
    w->read.bytes = moved(d, "bytes read", a->read_bytes, b->read_bytes);
    w->write.n = moved(d, "writes", a->writes, b->writes);
    w->write.bytes = moved(d, "bytes written", a->write_bytes, b->write_bytes);
    set_ms(&w->read, read_ms);
    set_ms(&w->write, write_ms);
    w->busy_ns = weighted_ms * MS;
    w->all = w->read;
    add(&w->all, &w->write);
    w->is_stuck = b->in_flight > 0 && !w->all.n;
}

/* READ and WRITE; COMMIT carries no bytes and is told apart. Payload is what the superblock counts. */
static void nfs_window(const struct difference *d, const struct probe_nfs_mount *a, const struct probe_nfs_mount *b)
{
    static const char *const names[] = {"READ", "WRITE"};
    struct storage_window *w = d->window;
    struct storage_requests *to[] = {&w->read, &w->write};

    w->read.bytes = moved(d, "bytes read", a->server_read_bytes, b->server_read_bytes);
    w->write.bytes = moved(d, "bytes written", a->server_write_bytes, b->server_write_bytes);
    for (int i = NFS_READ; i <= NFS_WRITE; i++) {
        uint64_t sent = moved(d, "transmissions", a->op[i].transmissions, b->op[i].transmissions);

        to[i]->n = moved(d, names[i], a->op[i].ops, b->op[i].ops);
        set_ms(to[i], moved(d, "round-trip time", a->op[i].rtt_ms, b->op[i].rtt_ms));
        w->retries += sent > to[i]->n ? sent - to[i]->n : 0;
    }
    w->has_retries = true;
    w->busy_ns = w->read.service_ns + w->write.service_ns;
    w->all = w->read;
    add(&w->all, &w->write);
    w->is_stuck = !w->all.n &&
                  (int64_t)(b->transports.sends - b->transports.receives) >
                      (int64_t)(a->transports.sends - a->transports.receives); /* less what was lost before */
}

static void simfs_window(const struct difference *d, const struct probe_simfs *a, const struct probe_simfs *b)
{
    struct storage_window *w = d->window;
    uint64_t service_ns = moved(d, "service_ns", a->service_ns, b->service_ns);

    w->is_exact = true;
    w->seconds = (double)moved(d, "time_ns", a->time_ns, b->time_ns) / 1e9;
    w->read.n = moved(d, "reads", a->reads, b->reads);
    w->read.bytes = moved(d, "read_bytes", a->read_bytes, b->read_bytes);
    w->write.n = moved(d, "writes", a->writes, b->writes);
    w->write.bytes = moved(d, "write_bytes", a->write_bytes, b->write_bytes);
    w->busy_ns = moved(d, "busy_ns", a->busy_ns, b->busy_ns);
    w->read.is_timed = !w->write.n; /* one sum of both */
    w->read.service_ns = w->read.is_timed ? service_ns : 0;
    w->write.is_timed = !w->read.n;
    w->write.service_ns = w->write.is_timed && w->write.n ? service_ns : 0;
    w->all = (struct storage_requests){w->read.n + w->write.n, w->read.bytes + w->write.bytes, true, service_ns};
    w->server_cpu_s = (double)moved(d, "cpu_ns", a->cpu_ns, b->cpu_ns) / 1e9;
    w->has_server_cpu = true;
}

/* ------------------------------------------------------------------------------------------------ */

static void forget(struct storage_window *w)
{
    char reason[PROBE_REASON];

    memcpy(reason, w->reason, sizeof(reason));
    memset(w, 0, sizeof(*w));
    memcpy(w->reason, reason, sizeof(reason));
}

void storage_window_make(const struct storage_item *item, const struct storage_counters *begin,
                         const struct storage_counters *end, struct storage_window *ret)
{
    struct storage_window w = {.known = begin->known && end->known};
    struct difference d = {item, &w};

    if (!w.known) {
        reason_set(w.reason, "%s", begin->known ? end->reason : begin->reason);
        *ret = w;
        return;
    }
    w.seconds = (double)moved(&d, "time", begin->t_ns, end->t_ns) / 1e9;
    if (item->source == STORAGE_BLOCK)
        disk_window(&d, &begin->disk, &end->disk);
    else if (item->source == STORAGE_NFS)
        nfs_window(&d, &begin->nfs, &end->nfs);
    else
        simfs_window(&d, &begin->simfs, &end->simfs);
    if (!w.known)
        forget(&w);
    *ret = w;
}

static void sum_item(struct storage_window *sum, const struct storage_window *w)
{
    sum->is_exact &= w->is_exact;
    sum->seconds = w->seconds > sum->seconds ? w->seconds : sum->seconds;
    add(&sum->read, &w->read);
    add(&sum->write, &w->write);
    add(&sum->all, &w->all);
    sum->busy_ns += w->busy_ns;
    sum->is_stuck |= w->is_stuck;
    sum->has_retries &= w->has_retries;
    sum->retries += w->retries;
    sum->has_server_cpu &= w->has_server_cpu;
    sum->server_cpu_s += w->server_cpu_s;
}

void storage_window_sum(const struct storage *s, const struct storage_window *windows, struct storage_window *ret)
{
    struct storage_window sum = {
        .known = s->n > 0 && !s->full, .is_exact = true, .has_retries = true, .has_server_cpu = true};

    sum.read.is_timed = sum.write.is_timed = sum.all.is_timed = true;
    if (!sum.known)
        reason_set(sum.reason, "%s", s->full ? "more disks and mounts than can be told apart" : "there are no files");
    for (unsigned i = 0; sum.known && i < s->n; i++) {
        sum.known = windows[i].known;
        if (sum.known)
            sum_item(&sum, &windows[i]);
        else
            reason_set(sum.reason, "%s", windows[i].reason);
    }
    if (!sum.known)
        forget(&sum);
    *ret = sum;
}

void storage_window_check(const struct storage *s, uint64_t read_bytes, struct storage_window *sum)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->items[i].source != STORAGE_BLOCK)
            return;
    if (!sum->known || s->loop_file || read_bytes < LEAST_BYTES || sum->read.bytes >= read_bytes / 10)
        return;
    reason_set(sum->reason, "the disks counted %llu of the %llu bytes that this process read from them",
               (unsigned long long)sum->read.bytes, (unsigned long long)read_bytes);
    forget(sum);
}

/* ------------------------------------------------------------------------------------------------
 * Means
 */

static const char too_coarse[] = "its time is counted in whole milliseconds, and came to fewer than 10 of them";
static const char none_answered[] = "no request was answered in the window";

const char *storage_mean_service(const struct storage_window *w, const struct storage_requests *r, double *ret_ns)
{
    if (!r->n)
        return none_answered;
    if (!r->is_timed)
        return "reads and writes are timed together";
    if (!w->is_exact && r->service_ns < LEAST_MS * MS)
        return too_coarse;
    *ret_ns = (double)r->service_ns / (double)r->n;
    return NULL;
}

/* Nothing done and nothing under way is a true 0. */
const char *storage_mean_in_flight(const struct storage_window *w, double *ret)
{
    if (!(w->seconds > 0))
        return "the window has no length";
    if (w->is_stuck)
        return "requests were under way, and none was answered in the window";
    if (!w->is_exact && w->busy_ns < LEAST_MS * MS && (w->busy_ns || w->all.n))
        return too_coarse;
    *ret = (double)w->busy_ns / 1e9 / w->seconds;
    return NULL;
}
