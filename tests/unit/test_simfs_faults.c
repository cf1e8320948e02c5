/* SPDX-License-Identifier: MIT */
/* Faults by schedule: what is understood, what is refused and where, and which request is struck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"
#include "simfs/faults.h"

static struct faults parsed(const char *text)
{
    struct spur_error e = {0};
    struct faults f;

    if (faults_parse(text, 4, 3, &f, &e) < 0)
        fail_msg("%s: %s", text, e.detail);
    return f;
}

static void kinds_and_values(void **state)
{
    static const struct {
        const char *text;
        enum fault_kind kind;
        uint64_t value;
        bool given;
    } rows[] = {
        {"error:EIO@n=1", FAULT_ERROR, EIO, true},
        {"error:ESTALE@n=1", FAULT_ERROR, ESTALE, true},
        {"short:4K@n=1", FAULT_SHORT, 4096, true},
        {"short:0@n=1", FAULT_SHORT, 0, true},
        {"delay:30ms@n=1", FAULT_DELAY, 30000000, true},
        {"hang@n=1", FAULT_HANG, 1, false},
        {"wrong@n=1", FAULT_WRONG, 1, false},
        {"wrong:8@n=1", FAULT_WRONG, 8, true},
        {"truncate@n=1", FAULT_TRUNCATE, 1, false},
        {"truncate:0@n=1", FAULT_TRUNCATE, 0, true},
        {"gone:2s@n=1", FAULT_GONE, 2000000000u, true},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct faults f = parsed(rows[i].text);

        assert_int_equal(f.n, 1);
        assert_int_equal(f.items[0].kind, rows[i].kind);
        assert_int_equal(f.items[0].value, rows[i].value);
        assert_int_equal(f.items[0].value_given, rows[i].given);
        faults_free(&f);
    }
}

static void all_conditions(void **state)
{
    struct faults f = parsed(
        "hang@n=5-9,offset=1M-2M,p=0.25,seed=11,server=3,file=2,op=write,times=6;delay:1us@offset=4K;wrong@n=3-");

    assert_int_equal(f.n, 3);
    assert_int_equal(f.items[0].n_first, 5);
    assert_int_equal(f.items[0].n_last, 9);
    assert_int_equal(f.items[0].offset_first, 1u << 20);
    assert_int_equal(f.items[0].offset_end, 2u << 20);
    assert_true(f.items[0].p > 0.2499999 && f.items[0].p < 0.2500001);
    assert_int_equal(f.items[0].seed, 11);
    assert_int_equal(f.items[0].server, 3);
    assert_int_equal(f.items[0].file, 2);
    assert_int_equal(f.items[0].op, MODEL_WRITE);
    assert_int_equal(f.items[0].times, 6);
    assert_int_equal(f.items[1].offset_first, 4096);
    assert_int_equal(f.items[1].offset_end, 4097);
    assert_int_equal(f.items[1].op, -1);
    assert_int_equal(f.items[2].n_first, 3);
    assert_true(f.items[2].n_last == UINT64_MAX);
    faults_free(&f);
}

static void bad_ones_are_refused_with_the_place(void **state)
{
    static const struct {
        const char *text;
        unsigned at; /* character, from 1 */
        const char *words;
    } rows[] = {
        {"", 1, "missing"},
        {"eror:EIO@n=1", 1, "none of error"},
        {"error@n=1", 6, "colon"},
        {"error:EFOO@n=1", 7, "EIO"},
        {"error:5@n=1", 7, "EIO"},
        {"error:EIO", 10, "@"},
        {"error:EIO@", 11, "missing"},
        {"error:EIO@n", 12, "="},
        {"error:EIO@n=", 13, "missing"},
        {"error:EIO@n=0", 13, "from 1"},
        {"error:EIO@n=9-3", 13, "before"},
        {"error:EIO@n=x", 13, "x"},
        {"error:EIO@n=1,n=2", 15, "twice"},
        {"error:EIO@k=1", 11, "none of n"},
        {"error:EIO@p=1.5", 13, "0 to 1"},
        {"error:EIO@p=1e-3", 13, "0 to 1"},
        {"error:EIO@p=.", 13, "0 to 1"},
        {"error:EIO@p=-1", 13, "0 to 1"},
        {"error:EIO@p=nan", 13, "0 to 1"},
        {"error:EIO@server=4", 18, "no such server"},
        {"error:EIO@file=3", 16, "no such file"},
        {"error:EIO@op=erase", 14, "neither"},
        {"error:EIO@offset=2M-1M", 18, "before"},
        {"error:EIO@offset=1M-1M", 18, "empty"},
        {"error:EIO@offset=1M-", 21, "missing"},
        {"error:EIO@n=1;", 15, "missing"},
        {"error:EIO@n=1;;hang@n=1", 15, "missing"},
        {"hang:2@n=1", 6, "no value"},
        {"short:4X@n=1", 7, "unit"},
        {"delay:30@n=1", 7, ""},
        {"delay@n=1", 6, "colon"},
        {"error:EIO@n=1@n=2", 13, ""},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct spur_error e = {0};
        struct faults f;
        unsigned at = 0;

        if (faults_parse(rows[i].text, 4, 3, &f, &e) != -EINVAL)
            fail_msg("%s was taken", rows[i].text);
        assert_int_equal(e.source, SPUR_SOURCE_SPUR);
        assert_int_equal(e.code, SPUR_CODE_USAGE);
        assert_int_equal(sscanf(e.detail, "--faults: character %u", &at), 1);
        if (at != rows[i].at || !strstr(e.detail, rows[i].words))
            fail_msg("%s: %s", rows[i].text, e.detail);
        assert_null(f.items);
    }
}

/* Good texts with characters changed, put in and left out: each is taken, or refused with a place in it. */
static void damaged_ones_do_no_harm(void **state)
{
    static const char letters[] = "erosht:;@=,-0.5pnMK1 \xff";
    uint64_t dice = 20260101;
    unsigned taken = 0, refused = 0;

    for (int i = 0; i < 20000; i++) {
        char text[120] = "error:EIO@n=100;short:4096@offset=1M-2M;hang@p=0.001,seed=7;gone:2s@n=50,server=1";

        for (uint64_t k = model_random(&dice) % 4 + 1; k; k--) {
            size_t n = strlen(text), at = model_random(&dice) % n;
            char c = letters[model_random(&dice) % (sizeof(letters) - 1)];

            switch (model_random(&dice) % 3) {
            case 0:
                text[at] = c;
                break;
            case 1:
                memmove(text + at, text + at + 1, n - at);
                break;
            default:
                memmove(text + at + 1, text + at, n - at + 1);
                text[at] = c;
            }
        }
        struct spur_error e = {0};
        struct faults f;
        unsigned at = 0;

        if (faults_parse(text, 4, 3, &f, &e) == 0) {
            taken++;
            faults_free(&f);
            continue;
        }
        refused++;
        if (sscanf(e.detail, "--faults: character %u", &at) != 1 || at < 1 || at > strlen(text) + 1)
            fail_msg("%s: %s", text, e.detail);
    }
    assert_true(taken > 500 && refused > 500);
}

/* ------------------------------------------------------------------------------------------------
 * Schedules
 */

#define N_REQUESTS 1000u

/* Which of N_REQUESTS reads of 4 KiB at i * 4 KiB of server i % 4 and file i % 3 are struck. */
static unsigned struck(const char *text, bool ret[N_REQUESTS])
{
    struct faults f = parsed(text);
    unsigned n = 0;

    for (unsigned i = 0; i < N_REQUESTS; i++) {
        ret[i] = faults_strike(&f, MODEL_READ, i % 3, i % 4, i * 4096ull, 4096) != NULL;
        n += ret[i];
    }
    faults_free(&f);
    return n;
}

static void the_kth_request_is_struck(void **state)
{
    bool hit[N_REQUESTS];

    assert_int_equal(struck("hang@n=100", hit), 1);
    assert_true(hit[99]);
    assert_int_equal(struck("hang@n=100-102", hit), 3);
    assert_true(hit[99] && hit[100] && hit[101]);
    assert_int_equal(struck("hang@n=991-", hit), 10);
    assert_int_equal(struck("hang@n=5,server=1", hit), 1); /* the fifth of that server */
    assert_true(hit[17]);
    assert_int_equal(struck("hang@n=2,file=2", hit), 1);
    assert_true(hit[5]);
    assert_int_equal(struck("hang@op=write", hit), 0);
    assert_int_equal(struck("hang@op=read,times=7", hit), 7);
    assert_true(hit[6] && !hit[7]);
}

static void offsets_are_struck_by_any_byte(void **state)
{
    bool hit[N_REQUESTS];

    assert_int_equal(struck("hang@offset=40K-48K", hit), 2);
    assert_true(hit[10] && hit[11]);
    assert_int_equal(struck("hang@offset=40959-40961", hit), 2);
    assert_true(hit[9] && hit[10]);
    assert_int_equal(struck("hang@offset=40K", hit), 1);
    assert_true(hit[10]);
    assert_int_equal(struck("hang@offset=40961", hit), 1);
    assert_true(hit[10]);
}

static void probabilities_are_seeded(void **state)
{
    bool a[N_REQUESTS], b[N_REQUESTS];
    unsigned n = struck("hang@p=0.2,seed=7", a);

    assert_in_range(n, 150, 250);
    assert_int_equal(struck("hang@p=0.2,seed=7", b), n);
    assert_memory_equal(a, b, sizeof(a));
    struck("hang@p=0.2,seed=8", b);
    assert_memory_not_equal(a, b, sizeof(a));
    assert_int_equal(struck("hang@p=0", a), 0);
    assert_int_equal(struck("hang@p=1", a), N_REQUESTS);
}

static void the_first_that_strikes_decides(void **state)
{
    struct faults f = parsed("hang@n=2;error:EIO@n=1-3;delay:1s@n=4");
    static const enum fault_kind want[] = {FAULT_ERROR, FAULT_HANG, FAULT_ERROR, FAULT_DELAY};

    for (size_t i = 0; i < ARRAY_SIZE(want); i++)
        assert_int_equal(faults_strike(&f, MODEL_READ, 0, 0, 0, 1)->kind, want[i]);
    assert_null(faults_strike(&f, MODEL_READ, 0, 0, 0, 1));
    faults_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_values),
        cmocka_unit_test(all_conditions),
        cmocka_unit_test(bad_ones_are_refused_with_the_place),
        cmocka_unit_test(damaged_ones_do_no_harm),
        cmocka_unit_test(the_kth_request_is_struck),
        cmocka_unit_test(offsets_are_struck_by_any_byte),
        cmocka_unit_test(probabilities_are_seeded),
        cmocka_unit_test(the_first_that_strikes_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
