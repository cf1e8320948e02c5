/* SPDX-License-Identifier: MIT */
/* `wire` in the result: what the storage saw in the window. docs/wire.md. */
#include <stdio.h>
#include <string.h>

#include "worker/result_parts.h"

/* An object with the place where reasons of its nulls go. */
struct part {
    json_t *object, *nulls;
    const char *prefix; /* "wire.", "wire.items[]." */
};

static void set_null(const struct part *p, const char *key, const char *reason)
{
    char name[100];

    snprintf(name, sizeof(name), "%s%s", p->prefix, key);
    json_object_set_new(p->object, key, json_null());
    json_object_set_new(p->nulls, name, json_string(reason));
}

static void set_real(const struct part *p, const char *key, const char *why_not, double value)
{
    if (why_not)
        set_null(p, key, why_not);
    else
        json_object_set_new(p->object, key, result_real(value));
}

static void set_count(const struct part *p, const char *key, const char *why_not, uint64_t value)
{
    if (why_not)
        set_null(p, key, why_not);
    else
        json_object_set_new(p->object, key, result_u64(value));
}

/* ------------------------------------------------------------------------------------------------
 * Requests
 */

static void set_requests(const struct part *p, const struct storage_window *w, const struct storage_requests *r)
{
    const char *unknown = w->known ? NULL : w->reason, *why = unknown;
    double service_ns = 0;

    set_count(p, "requests", unknown, r->n);
    set_count(p, "bytes", unknown, r->bytes);
    if (!why && !r->n)
        why = "no request was answered in the window";
    set_real(p, "mean_bytes", why, r->n ? (double)r->bytes / (double)r->n : 0);
    why = unknown ? unknown : storage_mean_service(w, r, &service_ns);
    set_real(p, "mean_service_ns", why, service_ns);
}

static void set_means(const struct part *p, const struct storage_window *w)
{
    const char *unknown = w->known ? NULL : w->reason, *why;
    double in_flight = 0;

    set_requests(p, w, &w->all);
    why = unknown ? unknown : storage_mean_in_flight(w, &in_flight);
    set_real(p, "mean_in_flight", why, in_flight);
    if (!unknown && !w->has_retries)
        why = "only NFS counts what is sent again";
    else
        why = unknown;
    set_count(p, "retries", why, w->retries);
}

static json_t *direction(const struct seen *s, json_t *nulls, const char *prefix, const struct storage_requests *r)
{
    struct part p = {json_object(), nulls, prefix};

    set_requests(&p, &s->sum, r);
    return p.object;
}

/* ------------------------------------------------------------------------------------------------
 * Items: what else their source counts
 */

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void set_nfs(const struct part *p, const struct probe_nfs_mount *a, const struct probe_nfs_mount *b)
{
    const struct probe_nfs_transports *x = &a->transports, *y = &b->transports;
    uint64_t ops = 0, queue_ms = 0, timeouts = 0, sends = y->sends - x->sends;
    const char *why = !y->n || !y->known     ? "its transports are not of a known kind"
                      : y->sends <= x->sends ? "nothing was sent in the window"
                                             : NULL;
    const char *no_queues = why;

    for (int i = NFS_READ; i <= NFS_WRITE; i++) {
        ops += b->op[i].ops - a->op[i].ops;
        queue_ms += b->op[i].queue_ms - a->op[i].queue_ms;
        timeouts += b->op[i].timeouts - a->op[i].timeouts;
    }
    json_object_set_new(p->object, "version", json_string(b->version));
    json_object_set_new(p->object, "protocol", json_string(b->protocol));
    set_count(p, "rsize_bytes", NULL, b->rsize_bytes);
    set_count(p, "wsize_bytes", NULL, b->wsize_bytes);
    set_count(p, "transports", NULL, y->n);
    set_count(p, "commits", NULL, b->op[NFS_COMMIT].ops - a->op[NFS_COMMIT].ops);
    set_count(p, "timeouts", NULL, timeouts);
    set_real(p, "mean_queue_ns", ops ? NULL : "no request was answered in the window",
             share((double)queue_ms * 1e6, (double)ops));
    set_real(p, "transport_outstanding", why, share((double)(y->outstanding_sum - x->outstanding_sum), (double)sends));
    if (!why && !y->has_queues)
        no_queues = "transports of this kind do not count it";
    set_real(p, "transport_pending", no_queues, share((double)(y->pending_sum - x->pending_sum), (double)sends));
    set_count(p, "max_slots", y->has_queues ? NULL : "transports of this kind do not count it", y->max_slots);
    set_real(p, "transport_backlog", why, share((double)(y->backlog_sum - x->backlog_sum), (double)sends));
}

static void set_disk(const struct part *p, const struct storage_window *w, const struct probe_disk *a,
                     const struct probe_disk *b)
{
    set_count(p, "read_merges", NULL, b->read_merges - a->read_merges);
    set_count(p, "write_merges", NULL, b->write_merges - a->write_merges);
    set_real(p, "busy_share", w->seconds > 0 ? NULL : "the window has no length",
             share((double)(b->io_ms - a->io_ms) / 1e3, w->seconds));
}

static void set_said(const struct part *p, const char *key, uint64_t value)
{
    set_count(p, key, value ? NULL : "the simulated mount does not say it, or has none", value);
}

static void set_simfs(const struct part *p, const struct probe_simfs *a, const struct probe_simfs *b)
{
    set_count(p, "errors", NULL, b->errors - a->errors);
    set_count(p, "short_answers", NULL, b->short_answers - a->short_answers);
    set_said(p, "latency_ns", b->latency_ns);
    set_said(p, "rate_bytes_per_second", b->rate_bytes_per_s);
    set_said(p, "rpc_bytes", b->rpc_bytes);
    set_said(p, "servers", b->servers);
}

static json_t *item(const struct seen *s, json_t *nulls, unsigned i)
{
    const struct storage_item *of = &s->storage.items[i];
    const struct storage_counters *a = &s->begin.counters[i], *b = &s->end.counters[i];
    struct part p = {json_object(), nulls, "wire.items[]."};
    const char *source = storage_source_name(of->source);

    if (source)
        json_object_set_new(p.object, "source", json_string(source));
    else
        set_null(&p, "source", of->reason);
    json_object_set_new(p.object, "name", json_filename(of->name));
    set_means(&p, &s->item[i]);
    if (!s->item[i].known)
        return p.object;
    if (of->source == STORAGE_NFS)
        set_nfs(&p, &a->nfs, &b->nfs);
    else if (of->source == STORAGE_BLOCK)
        set_disk(&p, &s->item[i], &a->disk, &b->disk);
    else
        set_simfs(&p, &a->simfs, &b->simfs);
    return p.object;
}

/* ------------------------------------------------------------------------------------------------
 * Ports
 */

static const struct probe_port *same(const struct probe_ports *list, const char *name)
{
    for (unsigned i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].name, name))
            return &list->items[i];
    return NULL;
}

static const char *no_delta(const struct probe_port *a, const struct probe_port *b)
{
    if (!a)
        return "it was not there when the window began";
    if (!a->known || !b->known)
        return a->known ? b->reason : a->reason;
    if (b->received_bytes < a->received_bytes || b->sent_bytes < a->sent_bytes)
        return "a counter went back: it was reset, or wrapped around";
    return NULL;
}

/* Bridges, tunnels and containers' ends show only if they moved. */
static void add_port(json_t *to, json_t *nulls, const char *prefix, const struct probe_port *a,
                     const struct probe_port *b)
{
    struct part p = {NULL, nulls, prefix};
    const char *why = no_delta(a, b);

    if (!b->is_hardware && (why || (a->received_bytes == b->received_bytes && a->sent_bytes == b->sent_bytes)))
        return;
    p.object = json_pack("{s:s}", "name", b->name);
    set_count(&p, "received_bytes", why, why ? 0 : b->received_bytes - a->received_bytes);
    set_count(&p, "sent_bytes", why, why ? 0 : b->sent_bytes - a->sent_bytes);
    set_count(&p, "speed_bits_per_second", b->has_speed ? NULL : "it has no link, or names no speed",
              b->speed_bits_per_s);
    json_array_append_new(to, p.object);
}

static void set_ports(const struct part *wire, const char *key, const struct probe_ports *a,
                      const struct probe_ports *b)
{
    json_t *list;
    char prefix[40];

    if (!a->known || !b->known) {
        set_null(wire, key, a->known ? b->reason : a->reason);
        return;
    }
    list = json_array();
    snprintf(prefix, sizeof(prefix), "wire.%s[].", key);
    for (unsigned i = 0; i < b->n; i++)
        add_port(list, wire->nulls, prefix, same(a, b->items[i].name), &b->items[i]);
    json_object_set_new(wire->object, key, list);
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

static void set_source(const struct part *wire, const struct seen *s)
{
    const char *reason, *source = seen_source(s, &reason);

    if (!source) {
        set_null(wire, "source", reason);
        set_null(wire, "scope", reason);
        return;
    }
    json_object_set_new(wire->object, "source", json_string(source));
    json_object_set_new(
        wire->object, "scope",
        json_string(!strcmp(source, "block") ? "the whole machine's requests to these disks"
                    : !strcmp(source, "mixed")
                        ? "the whole machine's requests to these disks, and all requests through these mounts"
                        : "all requests of this machine through these mounts"));
}

/* Why samples cannot judge the mean; NULL: they can. Those that agree with it, or saw more, need no excuse. */
static const char *cannot_judge(const struct seen *s, double mean)
{
    double service_ns;

    if (samples_agree(&s->samples, mean) || s->samples.mean > mean ||
        storage_mean_service(&s->sum, &s->sum.all, &service_ns) || !samples_late(&s->samples, service_ns))
        return NULL;
    return "the samples came late (mean_late_ns), behind the load: they may be of a load's ebbs only";
}

static void set_samples(const struct part *wire, const struct seen *s)
{
    const struct samples *n = &s->samples;
    const char *reason, *why = NULL;
    double mean = 0;
    json_t *o;

    if (!seen_source(s, &reason) || !n->known) {
        set_null(wire, "sampled", seen_source(s, &reason) ? n->reason : reason);
        return;
    }
    o = json_pack("{s:I, s:o, s:I, s:o, s:o}", "samples", (json_int_t)n->n, "mean_in_flight", result_real(n->mean),
                  "max_in_flight", (json_int_t)n->max, "cpu_seconds", result_real(n->user_s + n->system_s),
                  "mean_late_ns", result_real(n->mean_late_ns));
    why = s->sum.known ? storage_mean_in_flight(&s->sum, &mean) : s->sum.reason;
    why = why ? why : cannot_judge(s, mean);
    json_object_set_new(o, "agrees", why ? json_null() : json_boolean(samples_agree(n, mean)));
    if (why)
        json_object_set_new(wire->nulls, "wire.sampled.agrees", json_string(why));
    json_object_set_new(wire->object, "sampled", o);
}

static void set_throttled(const struct part *wire, const struct probe_throttle *a, const struct probe_throttle *b)
{
    const char *why = !a->known ? a->reason : !b->known ? b->reason : NULL;

    if (!why &&
        (b->periods < a->periods || b->throttled_us < a->throttled_us || b->throttled_periods < a->throttled_periods))
        why = "a counter went back: the control group was changed";
    if (why)
        set_null(wire, "throttled", why);
    else
        json_object_set_new(wire->object, "throttled",
                            json_pack("{s:o, s:o, s:o}", "periods", result_u64(b->periods - a->periods),
                                      "throttled_periods", result_u64(b->throttled_periods - a->throttled_periods),
                                      "throttled_us", result_u64(b->throttled_us - a->throttled_us)));
}

static json_t *notes(const struct seen *s, bool others_only)
{
    json_t *list = json_array();

    if (others_only && s->sum.known && s->sum.all.n)
        result_note(list, "the storage sent at most a tenth of the trial's bytes: these requests are others', or "
                          "read-ahead, and say nothing of the trial");
    if (s->storage.shared)
        result_note(list, "mounts of these files share a superblock, and so their counters: they are counted once");
    if (s->storage.loop_file)
        result_note(list, "a loop device on %.200s: the disk below sees only what its page cache does not answer",
                    s->storage.loop_file);
    for (unsigned i = 0; i < s->storage.n; i++) {
        const struct probe_nfs_mount *m = &s->end.counters[i].nfs;

        if (s->storage.items[i].source != STORAGE_NFS || !s->end.counters[i].known)
            continue;
        if (m->pnfs[0])
            result_note(list, "%.200s has a pNFS layout (%s): requests to data servers are not counted",
                        s->storage.items[i].name, m->pnfs);
    }
    return list;
}

json_t *result_wire(const struct seen *s, bool others_only, json_t *nulls)
{
    struct part wire = {json_object(), nulls, "wire."};
    json_t *items = json_array();

    set_source(&wire, s);
    json_object_set_new(wire.object, "others_only", json_boolean(others_only));
    set_means(&wire, &s->sum);
    json_object_set_new(wire.object, "read", direction(s, nulls, "wire.read.", &s->sum.read));
    json_object_set_new(wire.object, "write", direction(s, nulls, "wire.write.", &s->sum.write));
    set_samples(&wire, s);
    set_real(&wire, "server_cpu_seconds",
             !s->sum.known           ? s->sum.reason
             : s->sum.has_server_cpu ? NULL
                                     : "only a simulated mount's server is on this machine and known",
             s->sum.server_cpu_s);
    for (unsigned i = 0; i < s->storage.n; i++)
        json_array_append_new(items, item(s, nulls, i));
    json_object_set_new(wire.object, "items", items);
    set_ports(&wire, "network", &s->begin.net, &s->end.net);
    set_ports(&wire, "rdma", &s->begin.rdma, &s->end.rdma);
    set_throttled(&wire, &s->begin.throttle, &s->end.throttle);
    json_object_set_new(wire.object, "notes", notes(s, others_only));
    return wire.object;
}
