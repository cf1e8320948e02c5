/* SPDX-License-Identifier: MIT */
/* Sentences that are too long lose the middle of their paths first, then their end, with a mark. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/error.h"
#include "core/fit.h"
#include "core/util.h"

static void paths_lose_their_middle(void **state)
{
    static const struct {
        size_t size;
        const char *text, *want;
    } rows[] = {
        {64, "short", "short"},
        {40, "/long/folder/of/many/parts/libcufile.so.1.18.1.6: (5001)", "/long/.../libcufile.so.1.18.1.6: (5001)"},
        {24, "there is not a path in it at all", "there is not a path ..."},
        {10, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", "\xc3\xa4\xc3\xa4\xc3\xa4..."},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[200];

        strcpy(text, rows[i].text);
        fit_text(text, rows[i].size);
        assert_string_equal(text, rows[i].want);
    }
}

/* Of every length: it fits, and both ends of the sentence are there. */
static void errors_keep_their_end(void **state)
{
    char folder[4000] = "";

    for (size_t n = 1; n + 1 < sizeof(folder); n += 7) {
        struct spur_error e;

        memset(folder, 'a', n);
        for (size_t k = 0; k < n; k += 50)
            folder[k] = '/';
        error_errno(&e, ENOENT, "open", "%s/name.so of %s/other", folder, folder);
        assert_non_null(strstr(e.detail, "/name.so of /"));
        assert_non_null(strstr(e.detail, "/other: No such file or directory"));
        error_reword(&e, "again: %s; (5001)", e.detail);
        assert_memory_equal(e.detail, "again: /", 8);
        assert_non_null(strstr(e.detail, "directory; (5001)"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lose_their_middle),
        cmocka_unit_test(errors_keep_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
