/* SPDX-License-Identifier: MIT */
/* What settings lead to, beside their text: files by their content, and variables that a library reads. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/sha256.h"
#include "core/util.h"
#include "sweep/sweep.h"
#include "worker/trial_env.h"

static const char *setting(const struct job *job, const char *key)
{
    for (size_t i = 0; i < job->n_settings; i++)
        if (!strcmp(job->settings[i].key, key))
            return job->settings[i].value;
    return NULL;
}

static bool is_external(const struct job *job)
{
    return !strcmp(job->path, "external");
}

/* gdsio does, and fio with its engine for it. */
static bool uses_cufile(const struct job *job)
{
    if (!is_external(job))
        return trial_env_is_cufile(job);
    return !strcmp(setting(job, "tool") ?: "", "gdsio") || !strcmp(setting(job, "ioengine") ?: "", "libcufile");
}

static bool is_planned(const struct experiment *x, const struct sweep_pair *pairs, size_t i)
{
    return x->cells[i / x->n_arms].pairs[i % x->n_arms].state == PAIR_PLANNED && pairs[i].job.path[0];
}

/* ------------------------------------------------------------------------------------------------
 * Files
 */

static void add_file(json_t *into, const char *key, const char *named, const char *filename)
{
    _cleanup_free_ char *text = NULL;
    char sha256[SHA256_TEXT];
    struct spur_error e;
    json_t *name;

    if (asprintf(&text, "%s=%s", key, named) < 0) {
        text = NULL;
        return;
    }
    name = json_filename(text);
    if (!json_object_get(into, json_string_value(name)))
        json_object_set_new(into, json_string_value(name),
                            sha256_of_file(filename, sha256, &e) < 0 ? json_null() : json_string(sha256));
    json_decref(name);
}

/* "auto" is the program that the check found. */
static void add_program(json_t *into, const struct sweep_pair *pair)
{
    const char *named = setting(&pair->job, "program") ?: "auto";
    const json_t *external = json_object_get(pair->effective, "external");
    char key[300];

    if (strcmp(named, "auto")) {
        add_file(into, "program", named, named);
        return;
    }
    snprintf(key, sizeof(key), "program=auto (%.200s)", setting(&pair->job, "tool") ?: "");
    if (external)
        json_object_set(into, key, json_object_get(external, "sha256"));
}

static void add_pair(json_t *into, const struct sweep_pair *pair)
{
    const char *library = setting(&pair->job, "library"), *named = cufile_json_named(&pair->job);

    if (is_external(&pair->job))
        add_program(into, pair);
    if (library && strcmp(library, "auto"))
        add_file(into, "library", library, library);
    if (named)
        add_file(into, "json", named, named);
    else if (uses_cufile(&pair->job))
        add_file(into, "cufile.json", cufile_json_in_force(&pair->job), cufile_json_in_force(&pair->job));
}

json_t *sweep_contents(const struct experiment *x, const struct sweep_pair *pairs)
{
    json_t *ret = json_object();

    for (size_t i = 0; i < x->n_cells * x->n_arms; i++)
        if (is_planned(x, pairs, i))
            add_pair(ret, &pairs[i]);
    return ret;
}

/* ------------------------------------------------------------------------------------------------
 * Variables
 */

static void add_variable(json_t *into, const char *entry)
{
    size_t length = strcspn(entry, "=");
    _cleanup_free_ char *name = strndup(entry, length);
    json_t *key = name ? json_filename(name) : NULL;

    if (key && entry[length])
        json_object_set_new(into, json_string_value(key), json_filename(entry + length + 1));
    json_decref(key);
}

/* The log is each trial's own, whatever the variable says. */
static bool is_read(const char *entry, bool cufile, bool gpu)
{
    if (!strncmp(entry, "CUFILE_", 7))
        return cufile && strncmp(entry, "CUFILE_LOGFILE_PATH=", 20);
    return (cufile || gpu) && !strncmp(entry, "CUDA_VISIBLE_DEVICES=", 21);
}

json_t *sweep_variables(const struct experiment *x, const struct sweep_pair *pairs)
{
    bool cufile = false, gpu = false;
    json_t *ret = json_object();

    for (size_t i = 0; i < x->n_cells * x->n_arms; i++) {
        cufile |= is_planned(x, pairs, i) && uses_cufile(&pairs[i].job);
        gpu |= is_planned(x, pairs, i) && !strncmp(pairs[i].job.memory, "cuda", 4);
    }
    for (size_t i = 0; environ[i]; i++)
        if (is_read(environ[i], cufile, gpu))
            add_variable(ret, environ[i]);
    return ret;
}
