/* SPDX-License-Identifier: MIT */
#include "worker/cufile_blame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "worker/cufile_keys.h"
#include "worker/trial_env.h"

struct blame {
    const json_t *config;
    struct spur_error *e;
};

static const json_t *value_of(const json_t *at, const char *dotted)
{
    while (at && *dotted) {
        char word[80];
        size_t n = strcspn(dotted, ".");

        snprintf(word, sizeof(word), "%.*s", (int)n, dotted);
        at = json_object_get(at, word);
        dotted += n + (dotted[n] == '.');
    }
    return at;
}

static void visit(void *context, const char *dotted, unsigned line)
{
    struct blame *b = context;
    const json_t *value = value_of(b->config, dotted);
    size_t used = strlen(b->e->detail);
    struct cufile_key key;
    char what[160];
    bool fatal;

    if (value && cufile_key_find(dotted, 0, &key) && cufile_key_wrong(&key, value, what, sizeof(what), &fatal) && fatal)
        snprintf(b->e->detail + used, sizeof(b->e->detail) - used, "; in cufile.json %s %s", dotted, what);
}

void cufile_blame(const struct job *job, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    struct spur_error why = {0};
    struct blame b = {NULL, e};
    json_t *config;

    if (e->source != SPUR_SOURCE_CUFILE || e->code != -EINVAL || cufile_json_compose(job, &text, &why) < 0)
        return;
    config = cufile_json_parse(text, "cufile.json", &why);
    if (!config)
        return;
    b.config = config;
    cufile_keys_walk(text, visit, &b);
    json_decref(config);
}
