/* SPDX-License-Identifier: MIT */
/* Parts of the doctor that stand alone: what a record replaces, and where keys of a cufile.json stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/cufile_keys.h"
#include "doctor/scrub.h"

static struct scrub words;

static void becomes(enum scrub_depth depth, const char *text, const char *wanted)
{
    char *got = scrub_text(&words, depth, text);

    assert_non_null(got);
    assert_string_equal(got, wanted);
    free(got);
}

static void names_are_replaced_as_whole_words(void **state)
{
    scrub_word(&words, SCRUB_HOST, "storage-a", 9);
    scrub_word(&words, SCRUB_USER, "alice", 5);
    scrub_path(&words, "/mnt/data/project/alice/run7");
    becomes(SCRUB_ALL, "storage-a:/project /home/alice/run7", "host1:/name1 /home/user1/name2");
    becomes(SCRUB_ALL, "malice projects run77 alice2", "malice projects run77 alice2");
    becomes(SCRUB_ALL, "/mnt/data", "/mnt/data");
    becomes(SCRUB_PEOPLE, "alice project", "user1 project");
    becomes(SCRUB_ADDRESSES, "alice project", "alice project");
    scrub_free(&words);
}

static void short_names_are_replaced_as_components(void **state)
{
    scrub_path(&words, "/mnt/r6/./f");
    becomes(SCRUB_ALL, "40 27 259:1 / /mnt/r6 rw - ext4 /dev/r6x rw,f=1\n",
            "40 27 259:1 / /mnt/name1 rw - ext4 /dev/r6x rw,f=1\n");
    becomes(SCRUB_ALL, "f: no such file", "name2: no such file");
    becomes(SCRUB_ALL, "/mnt/r6/f/./x.f r6", "/mnt/name1/name2/./x.f r6");
    becomes(SCRUB_ALL, "f:0:/\n", "f:0:/\n"); /* of a table */
    scrub_free(&words);
}

static void blanks_are_known_as_the_kernel_writes_them(void **state)
{
    scrub_path(&words, "/mnt/with sp/a#b \\");
    becomes(SCRUB_ALL, "/mnt/with\\040sp - nfs h:/a\\043b\\040\\134 rw", "/mnt/name1 - nfs h:/name2 rw");
    becomes(SCRUB_ALL, "/mnt/with sp/a#b\\040\\134", "/mnt/name1/name2");
    scrub_free(&words);
}

static void keywords_stay(void **state)
{
    scrub_path(&words, "/rdma/tcp/ordered/x");
    becomes(SCRUB_ALL, "proto=rdma,data=ordered,x", "proto=rdma,data=ordered,x");
    scrub_free(&words);
}

static void addresses_are_replaced_alike(void **state)
{
    becomes(SCRUB_ADDRESSES, "addr=192.0.2.1,mountaddr=192.0.2.1,client=192.0.2.7",
            "addr=address1,mountaddr=address1,client=address2");
    becomes(SCRUB_ADDRESSES, "fe80::1:2 aa:bb:cc:dd:ee:ff", "address3 address4");
    scrub_free(&words);
}

static void what_looks_like_an_address_stays(void **state)
{
    becomes(SCRUB_ADDRESSES, "NVFS Driver(version: 2.28.4.1) libcufile.so.1.15.1.6",
            "NVFS Driver(version: 2.28.4.1) libcufile.so.1.15.1.6");
    becomes(SCRUB_ADDRESSES, "0000:18:00.0 259:1 12:30:59 580.65.06 1.2.3",
            "0000:18:00.0 259:1 12:30:59 580.65.06 1.2.3");
    scrub_free(&words);
}

static void uuids_are_numbered(void **state)
{
    becomes(SCRUB_ADDRESSES,
            "GPU-0a1b2c3d-1111-2222-3333-0123456789ab uuid:0a1b2c3d-1111-2222-3333-0123456789ab "
            "f0f0f0f0-1111-2222-3333-0123456789ab",
            "GPU-00000000-0000-0000-0000-000000000001 uuid:00000000-0000-0000-0000-000000000001 "
            "00000000-0000-0000-0000-000000000002");
    scrub_free(&words);
}

/* ------------------------------------------------------------------------------------------------ */

struct seen {
    char text[512];
};

static void note(void *context, const char *dotted, unsigned line)
{
    struct seen *s = context;
    size_t n = strlen(s->text);

    snprintf(s->text + n, sizeof(s->text) - n, "%s:%u ", dotted, line);
}

static void walks(const char *text, const char *wanted)
{
    struct seen s = {""};

    cufile_keys_walk(text, note, &s);
    assert_string_equal(s.text, wanted);
}

static void keys_have_their_lines(void **state)
{
    walks("{\n \"a\": 1,\n \"b\": {\n  // \"no\": 1\n  \"c\": [1, 2],\n  \"d\": \"x:{\\\"y\" },\n \"e\": 1 }",
          "a:2 b:3 b.c:5 b.d:6 e:7 ");
    walks("{ /* \n \"no\": 1 */ \"a\"\n: {\"b\":{}}, \"c\":2}", "a:2 a.b:3 c:3 ");
    walks("", "");
    walks("{\"a\": {\"b\": \"", "a:1 a.b:1 ");
    walks("}}}{\"a\":1}", "a:1 ");
}

static void deep_nesting_is_survived(void **state)
{
    char text[4000], *at = text;

    for (int i = 0; i < 300; i++)
        at += sprintf(at, "{\"abcdef\":");
    walks("{}", "");
    cufile_keys_walk(text, note, &(struct seen){""});
}

static void ranges_grow_with_the_version(void **state)
{
    struct cufile_key key;

    assert_true(cufile_key_find("execution.max_io_threads", 1015, &key));
    assert_int_equal(key.max, 32);
    assert_true(cufile_key_find("execution.max_io_threads", 1017, &key));
    assert_int_equal(key.max, 128);
    assert_true(cufile_key_find("properties.io_batchsize", 1018, &key));
    assert_int_equal(key.max, 0);
    assert_int_equal(key.min, -1);
    assert_true(cufile_key_find("properties.io_batchsize", 1015, &key));
    assert_int_equal(key.max, 256);
    assert_false(cufile_key_find("properties.alow_compat_mode", 0, &key));
    assert_string_equal(cufile_key_near("properties.alow_compat_mode"), "properties.allow_compat_mode");
    assert_string_equal(cufile_key_near("parallel_io"), "execution.parallel_io");
    assert_null(cufile_key_near("something.else_entirely_different"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_replaced_as_whole_words),
        cmocka_unit_test(short_names_are_replaced_as_components),
        cmocka_unit_test(blanks_are_known_as_the_kernel_writes_them),
        cmocka_unit_test(keywords_stay),
        cmocka_unit_test(addresses_are_replaced_alike),
        cmocka_unit_test(what_looks_like_an_address_stays),
        cmocka_unit_test(uuids_are_numbered),
        cmocka_unit_test(keys_have_their_lines),
        cmocka_unit_test(deep_nesting_is_survived),
        cmocka_unit_test(ranges_grow_with_the_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
