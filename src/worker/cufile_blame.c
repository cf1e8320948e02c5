/* SPDX-License-Identifier: MIT */
#include "worker/cufile_blame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "path/cufile_stage.h"
#include "worker/cufile_keys.h"
#include "worker/refer.h"
#include "worker/trial_env.h"

struct blame {
    const struct job *job;
    const json_t *config;
    const char *filename; /* NULL: the trial's own, with its json.* keys */
    struct spur_error *e;
    bool found, in_file; /* in_file: some of it was not set by the job's json.KEY */
    int library;         /* 1000 * major + minor; 0: not known */
};

/* Of the library that was loaded last in this process. */
static int library_version(void)
{
    const char *note = getenv(CUFILE_STAGE_VARIABLE);
    struct cufile_stage_seen seen;
    int major, minor;

    if (!note || !cufile_stage_read(note, &seen) || sscanf(seen.version, "%4d.%4d", &major, &minor) != 2)
        return 0;
    return 1000 * major + minor;
}

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

static bool is_set_by(const struct job *job, const char *dotted)
{
    for (size_t i = 0; i < job->n_settings; i++)
        if (!strncmp(job->settings[i].key, "json.", 5) && !strcmp(job->settings[i].key + 5, dotted))
            return true;
    return false;
}

static void visit(void *context, const char *dotted, unsigned line)
{
    struct blame *b = context;
    const json_t *value = value_of(b->config, dotted);
    struct cufile_key key;
    char what[160];
    bool fatal;

    if (!value || !cufile_key_find(dotted, b->library, &key) ||
        !cufile_key_wrong(&key, value, what, sizeof(what), &fatal) || !fatal)
        return;
    b->found = true;
    b->in_file |= !is_set_by(b->job, dotted);
    if (b->filename)
        error_reword(b->e, "%s; in %s:%u %s %s", b->e->detail, b->filename, line, dotted, what);
    else
        error_reword(b->e, "%s; in the trial's cufile.json %s %s", b->e->detail, dotted, what);
}

/* The check of doctor that says more; NULL: it is all said. */
static const char *blame_text(const struct job *job, const char *text, const char *filename, struct spur_error *e)
{
    struct spur_error why = {0};
    json_t *config = cufile_json_parse(text, filename ? filename : "cufile.json", &why);
    struct blame b = {job, config, filename, e, false, false, library_version()};

    if (!config) {
        error_reword(e, "%s; %s", e->detail, why.detail);
        error_remedy(e, "%s", why.remedy);
        return "cufile-json";
    }
    cufile_keys_walk(text, visit, &b);
    if (b.found)
        error_remedy(e, filename ? "correct it" : "correct the value (--set json.KEY=VALUE, or the file)");
    json_decref(config);
    return b.found && !b.in_file ? NULL : "cufile-keys";
}

void cufile_blame(const struct job *job, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    bool has_keys = cufile_json_has_keys(job);
    const char *filename = NULL, *check;
    struct spur_error why = {0};

    if (e->source != SPUR_SOURCE_CUFILE || e->code != -EINVAL)
        return;
    if ((has_keys ? cufile_json_compose(job, &text, &why) : cufile_json_read(job, &text, &filename, &why)) < 0)
        return;
    check = blame_text(job, text, filename, e);
    if (check)
        refer_to_config(e, check, job->n_files ? job->files[0] : "FILE", cufile_json_named(job));
}
