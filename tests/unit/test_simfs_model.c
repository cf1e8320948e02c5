/* SPDX-License-Identifier: MIT */
/* The queueing model's formulas, at parameters that are drawn; counters and the log's lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"
#include "simfs/log.h"
#include "simfs/model.h"
#include "simfs/queue.h"
#include "simfs/stats.h"

static uint64_t dice;

static uint64_t draw(uint64_t low, uint64_t high)
{
    return low + model_random(&dice) % (high - low + 1);
}

static struct model_setup draw_setup(unsigned n_servers)
{
    uint64_t latency = draw(1000, 5000000), rate = draw(10u << 20, 20ull << 30);

    return (struct model_setup){
        .op = {{latency, rate}, {2 * latency, rate / 2}}, .rpc_bytes = 1u << 20, .n_servers = n_servers, .seed = dice};
}

static void a_lone_request_takes_the_greater(void **state)
{
    for (int i = 0; i < 1000; i++) {
        struct model_setup s = draw_setup((unsigned)draw(1, 8));
        uint64_t bytes = draw(1, 1u << 20), now = draw(1, 1ull << 40);
        enum model_op op = (enum model_op)draw(0, 1);
        double carry = (double)bytes * s.n_servers * 1e9 / (double)s.op[op].rate;
        double want = carry > (double)s.op[op].latency_ns ? carry : (double)s.op[op].latency_ns;
        struct model m;

        model_init(&m, &s);
        for (int again = 0; again < 3; again++) {
            double took = (double)(model_due(&m, op, 0, bytes, now) - now);

            assert_true(took > want - 2 && took < want + 2);
            assert_true(model_lone_ns(&s, op, bytes) > want - 1 && model_lone_ns(&s, op, bytes) < want + 1);
            now += (uint64_t)took + draw(2, 1000000); /* it is alone again */
        }
    }
}

/* @n callers, each of which asks again when it is answered; bytes per second over @count answers. */
static double closed_loop(const struct model_setup *s, uint64_t bytes, unsigned n, unsigned count)
{
    uint64_t due[64], now = 1, next = 0;
    struct model m;

    model_init(&m, s);
    for (unsigned i = 0; i < n; i++, next++)
        due[i] = model_due(&m, MODEL_READ, model_server(s, next * s->rpc_bytes), bytes, now);
    for (unsigned done = 0; done < count; done++, next++) {
        unsigned first = 0;

        for (unsigned i = 1; i < n; i++)
            first = due[i] < due[first] ? i : first;
        now = due[first];
        due[first] = model_due(&m, MODEL_READ, model_server(s, next * s->rpc_bytes), bytes, now);
    }
    return (double)count * (double)bytes * 1e9 / (double)now;
}

static void requests_in_flight_give_the_lesser(void **state)
{
    unsigned by_latency = 0, by_rate = 0;

    for (int i = 0; i < 200; i++) {
        unsigned servers = i % 4 == 3 ? 4 : 1, n = servers * (unsigned)draw(1, 64 / servers);
        struct model_setup s = draw_setup(servers);
        uint64_t bytes = draw(65536, 1u << 20);
        double latency_bound = n * (double)bytes * 1e9 / (double)s.op[0].latency_ns, rate = (double)s.op[0].rate;
        double want = latency_bound < rate ? latency_bound : rate;
        double got = closed_loop(&s, bytes, n, 20 * n + 500) / want;

        by_latency += latency_bound < rate;
        by_rate += latency_bound >= rate;
        assert_true(got > 0.93 && got < 1.07);
        assert_true(model_rate(&s, MODEL_READ, bytes, n) / want > 0.999 &&
                    model_rate(&s, MODEL_READ, bytes, n) / want < 1.001);
    }
    assert_true(by_latency > 20 && by_rate > 20);
}

static void servers_are_dealt_by_offset(void **state)
{
    struct model_setup s = {.rpc_bytes = 65536, .n_servers = 3};

    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(model_server(&s, i * 65536ull), i % 3);
        assert_int_equal(model_server(&s, i * 65536ull + 65535), i % 3);
    }
}

static void one_server_does_not_wait_for_another(void **state)
{
    struct model_setup s = {.op = {{1000, 1u << 20}}, .rpc_bytes = 1u << 20, .n_servers = 2};
    struct model m;

    model_init(&m, &s);
    assert_int_equal(model_due(&m, MODEL_READ, 0, 1u << 20, 5), 2000000005u); /* half of the rate each */
    assert_int_equal(model_due(&m, MODEL_READ, 1, 1u << 20, 5), 2000000005u);
    assert_int_equal(model_due(&m, MODEL_READ, 0, 1u << 20, 5), 4000000005u);
    model_hold(&m, 1, 9000000000u);
    assert_int_equal(model_due(&m, MODEL_READ, 1, 1u << 20, 6), 11000000000u);
}

static void reads_and_writes_share_a_link(void **state)
{
    struct model_setup s = {.op = {{0, 1000000000}, {0, 500000000}}, .rpc_bytes = 4096, .n_servers = 1};
    struct model m;

    model_init(&m, &s);
    assert_int_equal(model_due(&m, MODEL_READ, 0, 1000, 100), 1100);
    assert_int_equal(model_due(&m, MODEL_WRITE, 0, 1000, 100), 3100);
    assert_int_equal(model_due(&m, MODEL_READ, 0, 1000, 100), 4100);
}

static void jitter_is_uniform_and_seeded(void **state)
{
    struct model_setup s = {.op = {{1000000, 0}}, .jitter_percent = 20, .rpc_bytes = 4096, .n_servers = 1, .seed = 7};
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    struct model a, b;

    model_init(&a, &s);
    model_init(&b, &s);
    for (int i = 0; i < 10000; i++) {
        uint64_t due = model_due(&a, MODEL_READ, 0, 4096, 0);

        assert_int_equal(due, model_due(&b, MODEL_READ, 0, 4096, 0));
        sum += due;
        least = due < least ? due : least;
        most = due > most ? due : most;
    }
    assert_in_range(least, 800000, 802000);
    assert_in_range(most, 1198000, 1200000);
    assert_in_range(sum / 10000, 995000, 1005000);
    s.seed = 8;
    model_init(&b, &s);
    model_init(&a, &(struct model_setup){.op = {{1000000, 0}}, .jitter_percent = 20, .n_servers = 1, .seed = 7});
    assert_int_not_equal(model_due(&a, MODEL_READ, 0, 4096, 0), model_due(&b, MODEL_READ, 0, 4096, 0));
}

static uint64_t value_of(const char *text, const char *key)
{
    char line[60];
    const char *at;

    snprintf(line, sizeof(line), "\n%s ", key);
    at = strstr(text, line);
    assert_non_null(at);
    return strtoull(at + strlen(line), NULL, 10);
}

static void counters_are_integrals(void **state)
{
    const struct stats_facts facts = {500, 600, 700, 8, 9};
    char text[STATS_TEXT];
    struct stats s;

    stats_init(&s);
    stats_arrive(&s, 1000);
    stats_arrive(&s, 1100);
    stats_answer(&s, MODEL_READ, 1000, 1300, 4096, 4096, stats_sending(&s));
    stats_arrive(&s, 1290); /* its clock was read before */
    stats_answer(&s, MODEL_WRITE, 1290, 1500, -EIO, 4096, stats_sending(&s));
    stats_answer(&s, MODEL_READ, 1100, 1600, 100, 4096, stats_sending(&s));
    stats_arrive(&s, 1700);
    stats_text(&s, &facts, 1800, 77, 3, text, sizeof(text));
    assert_memory_equal(text, "simfs 1\n", 8);
    assert_int_equal(value_of(text, "time_ns"), 1800);
    assert_int_equal(value_of(text, "reads"), 2);
    assert_int_equal(value_of(text, "read_bytes"), 4196);
    assert_int_equal(value_of(text, "writes"), 1);
    assert_int_equal(value_of(text, "write_bytes"), 0);
    assert_int_equal(value_of(text, "errors"), 1);
    assert_int_equal(value_of(text, "short_answers"), 1);
    assert_int_equal(value_of(text, "in_flight"), 1);
    assert_int_equal(value_of(text, "service_ns"), 300 + 210 + 500);
    /* 1 to 1100, 2 to 1300, 2 to 1500, 1 to 1600, 0 to 1700, 1 to 1800 */
    assert_int_equal(value_of(text, "busy_ns"), 100 + 2 * 200 + 2 * 200 + 100 + 100);
    assert_int_equal(value_of(text, "cpu_ns"), 77);
    assert_int_equal(value_of(text, "latency_ns"), 500);
    assert_int_equal(value_of(text, "rate_bytes_per_s"), 600);
    assert_int_equal(value_of(text, "rpc_bytes"), 700);
    assert_int_equal(value_of(text, "servers"), 8);
    assert_int_equal(value_of(text, "connection"), 9);
    assert_int_equal(value_of(text, "log_lost"), 3);
    stats_destroy(&s);
}

struct sender {
    struct stats s;
    unsigned epoch;
};

static void *send_late(void *arg)
{
    struct sender *x = arg;

    usleep(30000);
    stats_answer(&x->s, MODEL_READ, 1, 2, 4096, 4096, x->epoch);
    return NULL;
}

/* Whoever has an answer finds it counted; answers that begin later are not waited for. */
static void counters_wait_for_answers_on_their_way(void **state)
{
    struct sender x;
    pthread_t thread;
    unsigned later;

    stats_init(&x.s);
    stats_arrive(&x.s, 1);
    stats_arrive(&x.s, 1);
    stats_settle(&x.s);
    x.epoch = stats_sending(&x.s);
    assert_int_equal(pthread_create(&thread, NULL, send_late, &x), 0);
    stats_settle(&x.s);
    assert_int_equal(x.s.requests[MODEL_READ], 1);
    later = stats_sending(&x.s);
    assert_int_equal(later, x.s.epoch);
    stats_drop(&x.s, later);
    pthread_join(thread, NULL);
    stats_destroy(&x.s);
}

static void a_log_line_has_all_of_a_request(void **state)
{
    struct log_entry entry = {12, 34, MODEL_WRITE, 5, 4096, 1048576, 3, -ESTALE, FAULT_ERROR};
    char line[LOG_LINE];

    size_t n = log_line(&entry, line);

    assert_int_equal(n, strlen(line));
    assert_string_equal(line, "12 write data.5 4096 1048576 3 34 ESTALE error\n");
    entry.answer = 77;
    entry.op = MODEL_READ;
    entry.fault = FAULT_NONE;
    log_line(&entry, line);
    assert_string_equal(line, "12 read data.5 4096 1048576 3 34 77 -\n");
}

/* ------------------------------------------------------------------------------------------------ */

#define N_ITEMS 2000u

struct answers {
    struct queue_item items[N_ITEMS];
    pthread_mutex_t mutex;
    unsigned n, early, unordered;
    uint64_t last_due;
};

static void answer(void *context, struct queue_item *item)
{
    struct answers *a = context;
    uint64_t now = now_ns();

    pthread_mutex_lock(&a->mutex);
    a->n++;
    a->early += now < item->due_ns;
    a->unordered += item->due_ns < a->last_due;
    a->last_due = item->due_ns;
    pthread_mutex_unlock(&a->mutex);
}

/* By one thread in order, by several none twice; none before its time. */
static void queues_answer_in_time(void **state)
{
    static struct answers a;

    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        uint64_t begin = now_ns() + 20000000;
        struct queue q;

        memset(&a, 0, sizeof(a));
        pthread_mutex_init(&a.mutex, NULL);
        assert_int_equal(queue_start(&q, n_threads, answer, &a), 0);
        for (unsigned i = 0; i < N_ITEMS; i++) {
            a.items[i].due_ns = begin + draw(0, 30000000);
            assert_int_equal(queue_push(&q, &a.items[i]), 0);
        }
        for (int i = 0; i < 10000; i++) {
            bool all;

            pthread_mutex_lock(&a.mutex);
            all = a.n == N_ITEMS;
            pthread_mutex_unlock(&a.mutex);
            if (all)
                break;
            usleep(1000);
        }
        queue_stop(&q);
        assert_int_equal(a.n, N_ITEMS);
        assert_int_equal(a.early, 0);
        if (n_threads == 1)
            assert_int_equal(a.unordered, 0);
        pthread_mutex_destroy(&a.mutex);
    }
}

static void a_stopped_queue_answers_all_at_once(void **state)
{
    static struct answers a;
    struct queue q;

    memset(&a, 0, sizeof(a));
    pthread_mutex_init(&a.mutex, NULL);
    assert_int_equal(queue_start(&q, 2, answer, &a), 0);
    for (unsigned i = 0; i < N_ITEMS; i++) {
        a.items[i].due_ns = now_ns() + 3600ull * 1000000000u;
        assert_int_equal(queue_push(&q, &a.items[i]), 0);
    }
    queue_stop(&q);
    assert_int_equal(a.n, N_ITEMS);
    pthread_mutex_destroy(&a.mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_request_takes_the_greater),
        cmocka_unit_test(requests_in_flight_give_the_lesser),
        cmocka_unit_test(servers_are_dealt_by_offset),
        cmocka_unit_test(one_server_does_not_wait_for_another),
        cmocka_unit_test(reads_and_writes_share_a_link),
        cmocka_unit_test(jitter_is_uniform_and_seeded),
        cmocka_unit_test(counters_are_integrals),
        cmocka_unit_test(counters_wait_for_answers_on_their_way),
        cmocka_unit_test(a_log_line_has_all_of_a_request),
        cmocka_unit_test(queues_answer_in_time),
        cmocka_unit_test(a_stopped_queue_answers_all_at_once),
    };

    dice = now_ns();
    print_message("seed %llu\n", (unsigned long long)dice);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
