/* SPDX-License-Identifier: MIT */
/* Keys, paths and helpers for the tests of the plan. */
#ifndef SPUR_TEST_PLAN_FIXTURE_H
#define SPUR_TEST_PLAN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "plan/plan.h"

struct known_key {
    const char *name;
    struct plan_key key;
};

static const struct known_key known_keys[] = {
    {"file", {PLAN_KEY_OPTION, UNIT_NONE, .repeats = true}},
    {"path", {PLAN_KEY_OPTION, UNIT_NONE}},
    {"memory", {PLAN_KEY_OPTION, UNIT_NONE}},
    {"op", {PLAN_KEY_OPTION, UNIT_NONE}},
    {"request", {PLAN_KEY_OPTION, UNIT_BYTES}},
    {"threads", {PLAN_KEY_OPTION, UNIT_COUNT}},
    {"depth", {PLAN_KEY_OPTION, UNIT_COUNT}},
    {"mix", {PLAN_KEY_OPTION, UNIT_PERCENT}},
    {"seconds", {PLAN_KEY_OPTION, UNIT_NS, .plain_seconds = true}},
    {"warmup", {PLAN_KEY_OPTION, UNIT_NS}},
    {"cpus", {PLAN_KEY_OPTION, UNIT_NONE}},
    {"unaligned", {PLAN_KEY_OPTION, UNIT_NONE}},
    {"piece", {PLAN_KEY_SETTING, UNIT_BYTES}},
    {"engine", {PLAN_KEY_SETTING, UNIT_NONE}},
    {"seed", {PLAN_KEY_FIXED, UNIT_NONE}},
    {"json", {PLAN_KEY_FIXED, UNIT_NONE}},
};

static struct plan_key find_key(void *context, const char *key)
{
    for (size_t i = 0; i < ARRAY_SIZE(known_keys); i++)
        if (!strcmp(known_keys[i].name, key))
            return known_keys[i].key;
    return (struct plan_key){PLAN_KEY_UNKNOWN};
}

static const char *nearest_key(void *context, const char *key)
{
    return !strncmp(key, "req", 3) ? "request" : NULL;
}

static const char *path_at(size_t index)
{
    static const char *const names[] = {"null", "odirect", "fanout", "buffered"};

    return index < ARRAY_SIZE(names) ? names[index] : NULL;
}

/* Only fanout has settings. */
static bool path_takes(void *context, const char *path, const char *key)
{
    return !strcmp(path, "fanout");
}

static const struct plan_keys keys = {NULL, find_key, nearest_key, path_at, path_takes, NULL};

/* Options, axes, prepares and arms as "o request=4K", "x threads=1,8", "p nc=mount {}", "a odirect"; up to NULL. */
static int fill_spec(struct plan_spec *s, struct spur_error *e, const char *const *texts)
{
    int r = 0;

    for (; *texts && !r; texts++) {
        const char *rest = *texts + 2;
        char key[64];

        snprintf(key, sizeof(key), "%.*s", (int)strcspn(rest, "="), rest);
        if (**texts == 'o')
            r = plan_spec_add_option(s, key, strchr(rest, '=') + 1, "--option", e);
        else if (**texts == 'x')
            r = plan_spec_add_axis(s, rest, "--axis", e);
        else if (**texts == 'p')
            r = plan_spec_add_prepare(s, rest, "--prepare", e);
        else
            r = plan_spec_add_arm(s, rest, "--arm", e);
    }
    return r;
}

static inline int make_with(struct plan_spec *s, struct experiment *x, struct spur_error *e, const char *const *texts)
{
    int r;

    memset(e, 0, sizeof(*e));
    s->n_blocks = s->n_blocks ? s->n_blocks : 5;
    r = fill_spec(s, e, texts);
    if (!r)
        r = plan_expand(s, &keys, x, e);
    plan_spec_free(s);
    return r;
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The experiment of these texts. */
#define make(x, ...)                                                                                                   \
    do {                                                                                                               \
        struct plan_spec make_s = {0};                                                                                 \
        struct spur_error make_e;                                                                                      \
        int make_r = make_with(&make_s, x, &make_e, TEXTS(__VA_ARGS__));                                               \
        if (make_r)                                                                                                    \
            fail_msg("%d: %s", make_r, make_e.detail);                                                                 \
    } while (0)

/* They are a usage error whose detail has @part in it. */
#define refuse(part, ...)                                                                                              \
    do {                                                                                                               \
        struct plan_spec refuse_s = {0};                                                                               \
        struct experiment refuse_x;                                                                                    \
        refuse_with(make_with(&refuse_s, &refuse_x, &last_error, TEXTS(__VA_ARGS__)), part);                           \
    } while (0)

#define refuse_with(r, part)                                                                                           \
    do {                                                                                                               \
        assert_int_equal(r, -EINVAL);                                                                                  \
        assert_int_equal(last_error.code, SPUR_CODE_USAGE);                                                            \
        if (!strstr(last_error.detail, part))                                                                          \
            fail_msg("'%s' is not in '%s'", part, last_error.detail);                                                  \
    } while (0)

#endif
