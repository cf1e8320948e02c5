/* SPDX-License-Identifier: MIT */
/* What fanout runs with, and what it did. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "path/fanout.h"

void fanout_stats_add(struct fanout_stats *into, const struct fanout_stats *from)
{
    into->pieces += from->pieces;
    into->bytes_read += from->bytes_read;
    into->bytes_written += from->bytes_written;
    into->edge_writes += from->edge_writes;
    into->short_completions += from->short_completions;
    into->retries += from->retries;
    into->copies += from->copies;
    into->scatters += from->scatters;
    into->gathers += from->gathers;
    into->batches += from->batches;
    into->sends += from->sends;
    into->pieces_in_flight_sum += from->pieces_in_flight_sum;
    if (from->pieces_in_flight_max > into->pieces_in_flight_max)
        into->pieces_in_flight_max = from->pieces_in_flight_max;
}

struct sink {
    path_fact_fn emit;
    void *context;
};

static void text(const struct sink *s, const char *key, const char *value, const char *reason)
{
    s->emit(s->context, &(struct path_fact){key, value, reason});
}

static void number(const struct sink *s, const char *key, uint64_t value)
{
    char buffer[24];

    snprintf(buffer, sizeof(buffer), "%" PRIu64, value);
    text(s, key, buffer, NULL);
}

static void emit_async(const struct sink *s, uint32_t async_min)
{
    char buffer[64];

    if (async_min == UINT32_MAX) {
        text(s, "async", "no", NULL);
        return;
    }
    snprintf(buffer, sizeof(buffer), "yes, pieces of %u bytes and more", async_min);
    text(s, "async", async_min > 1 ? buffer : "yes", NULL);
}

static void emit_align(const struct sink *s, const struct spur_path *p)
{
    uint32_t align = 0, address = 0;

    for (size_t i = 0; i < p->n_files; i++) {
        align = p->files[i]->align > align ? p->files[i]->align : align;
        address = p->files[i]->align_address > address ? p->files[i]->align_address : address;
    }
    if (!align) {
        text(s, "align_bytes", NULL, "no file is open");
        return;
    }
    number(s, "align_bytes", align);
    number(s, "align_address_bytes", address);
}

static void emit_registered(const struct sink *s, const struct fanout_setup *setup)
{
    text(s, "registered_files", setup->registered_files ? "yes" : "no", NULL);
    if (setup->registered_buffer_bytes) {
        text(s, "registered_buffers", "yes", NULL);
        number(s, "registered_buffer_bytes", setup->registered_buffer_bytes);
    } else {
        text(s, "registered_buffers", "no", setup->unregistered_reason);
    }
}

static void emit_setup(const struct sink *s, const struct fanout_path *f)
{
    const struct fanout_setup *setup = &f->setup;

    if (!f->n_queues_opened) {
        text(s, "piece_bytes", NULL, "decided when a queue is opened");
        return;
    }
    number(s, "piece_bytes", setup->piece_bytes);
    text(s, "piece_source", setup->piece_source, NULL);
    number(s, "pieces_limit", setup->n_pieces);
    number(s, "stage_bytes", setup->stage_bytes);
    number(s, "depth", setup->depth);
    number(s, "batch", setup->batch);
    number(s, "workers", setup->workers);
    if (!strcmp(setup->engine, fanout_uring.name)) {
        emit_async(s, setup->async_min);
        text(s, "ring_flags", setup->ring_flags, NULL);
    }
    emit_registered(s, setup);
}

static void emit_engine(const struct sink *s, const struct fanout_path *f)
{
    const char *reason = *f->backend_reason ? f->backend_reason : NULL;

    if (f->n_queues_opened && f->setup.engine_for_memory)
        text(s, "engine", f->setup.engine, "the files are in memory");
    else
        text(s, "engine", f->n_queues_opened ? f->setup.engine : f->backend->name, reason);
}

void fanout_effective(struct spur_path *p, path_fact_fn emit, void *context)
{
    struct fanout_path *f = p->state;
    struct sink s = {emit, context};

    pthread_mutex_lock(&f->lock);
    emit_engine(&s, f);
    text(&s, "direct", f->settings.direct ? "yes" : "no", NULL);
    emit_align(&s, p);
    emit_setup(&s, f);
    pthread_mutex_unlock(&f->lock);
}

static void emit_mean(const struct sink *s, const struct fanout_stats *t)
{
    char buffer[32];

    snprintf(buffer, sizeof(buffer), "%.2f", t->sends ? (double)t->pieces_in_flight_sum / (double)t->sends : 0.0);
    text(s, "pieces_in_flight_mean", t->sends ? buffer : NULL, t->sends ? NULL : "nothing was sent");
}

void fanout_evidence(struct spur_path *p, path_fact_fn emit, void *context)
{
    struct fanout_path *f = p->state;
    struct sink s = {emit, context};
    struct fanout_stats t;

    pthread_mutex_lock(&f->lock);
    t = f->closed;
    for (const struct fanout_queue *q = f->queues; q; q = q->next)
        fanout_stats_add(&t, &q->stats);
    pthread_mutex_unlock(&f->lock);
    number(&s, "pieces", t.pieces);
    number(&s, "wire_bytes_read", t.bytes_read);
    number(&s, "wire_bytes_written", t.bytes_written);
    number(&s, "edge_writes", t.edge_writes);
    number(&s, "short_completions", t.short_completions);
    number(&s, "retries", t.retries);
    number(&s, "copies", t.copies);
    number(&s, "copy_batches", t.batches);
    number(&s, "scatter_calls", t.scatters);
    number(&s, "gather_calls", t.gathers);
    number(&s, "pieces_in_flight_max", t.pieces_in_flight_max);
    emit_mean(&s, &t);
}
