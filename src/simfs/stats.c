/* SPDX-License-Identifier: MIT */
#include "simfs/stats.h"

#include <stdio.h>
#include <string.h>

void stats_init(struct stats *s)
{
    memset(s, 0, sizeof(*s));
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->settled, NULL);
}

void stats_destroy(struct stats *s)
{
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->settled);
}

/* Threads read their clocks before they come here, so that one may be a little behind. */
static void advance(struct stats *s, uint64_t now_ns)
{
    if (now_ns <= s->changed_ns)
        return;
    s->busy_ns += s->in_flight * (now_ns - s->changed_ns);
    s->changed_ns = now_ns;
}

void stats_arrive(struct stats *s, uint64_t now_ns)
{
    pthread_mutex_lock(&s->mutex);
    advance(s, now_ns);
    s->in_flight++;
    pthread_mutex_unlock(&s->mutex);
}

unsigned stats_sending(struct stats *s)
{
    unsigned epoch;

    pthread_mutex_lock(&s->mutex);
    epoch = s->epoch;
    s->n_sending[epoch]++;
    pthread_mutex_unlock(&s->mutex);
    return epoch;
}

static void sent(struct stats *s, unsigned epoch)
{
    if (--s->n_sending[epoch] == 0)
        pthread_cond_broadcast(&s->settled);
}

void stats_drop(struct stats *s, unsigned epoch)
{
    pthread_mutex_lock(&s->mutex);
    sent(s, epoch);
    pthread_mutex_unlock(&s->mutex);
}

/* New answers go into the other epoch, so that this one runs dry. */
void stats_settle(struct stats *s)
{
    unsigned old;

    pthread_mutex_lock(&s->mutex);
    while (s->settling)
        pthread_cond_wait(&s->settled, &s->mutex);
    s->settling = true;
    old = s->epoch;
    s->epoch = !old;
    while (s->n_sending[old])
        pthread_cond_wait(&s->settled, &s->mutex);
    s->settling = false;
    pthread_cond_broadcast(&s->settled);
    pthread_mutex_unlock(&s->mutex);
}

void stats_answer(struct stats *s, enum model_op op, uint64_t arrival_ns, uint64_t now_ns, int64_t answer,
                  uint64_t asked, unsigned epoch)
{
    pthread_mutex_lock(&s->mutex);
    advance(s, now_ns);
    s->in_flight--;
    s->requests[op]++;
    s->service_ns += now_ns - arrival_ns;
    s->errors += answer < 0;
    s->bytes[op] += answer > 0 ? (uint64_t)answer : 0;
    s->short_answers += answer >= 0 && (uint64_t)answer < asked;
    sent(s, epoch);
    pthread_mutex_unlock(&s->mutex);
}

size_t stats_text(struct stats *s, const struct stats_facts *f, uint64_t now_ns, uint64_t cpu_ns, uint64_t log_lost,
                  char *ret_text, size_t size)
{
    typedef unsigned long long ull;
    int n;

    pthread_mutex_lock(&s->mutex);
    advance(s, now_ns);
    n = snprintf(ret_text, size,
                 "simfs 1\ntime_ns %llu\nreads %llu\nread_bytes %llu\nwrites %llu\nwrite_bytes %llu\nerrors %llu\n"
                 "short_answers %llu\nin_flight %llu\nservice_ns %llu\nbusy_ns %llu\ncpu_ns %llu\nlatency_ns %llu\n"
                 "rate_bytes_per_s %llu\nrpc_bytes %llu\nservers %llu\nconnection %llu\nlog_lost %llu\n",
                 (ull)s->changed_ns, (ull)s->requests[MODEL_READ], (ull)s->bytes[MODEL_READ],
                 (ull)s->requests[MODEL_WRITE], (ull)s->bytes[MODEL_WRITE], (ull)s->errors, (ull)s->short_answers,
                 (ull)s->in_flight, (ull)s->service_ns, (ull)s->busy_ns, (ull)cpu_ns, (ull)f->latency_ns, (ull)f->rate,
                 (ull)f->rpc_bytes, (ull)f->n_servers, (ull)f->connection, (ull)log_lost);
    pthread_mutex_unlock(&s->mutex);
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}
