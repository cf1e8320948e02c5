/* SPDX-License-Identifier: MIT */
/* What must be the same when a sweep goes on: the program, the files, the GPUs, what settings came to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/sha256.h"
#include "core/util.h"
#include "pattern/pattern.h"
#include "sweep/sweep.h"

/* A file of spur's is known by its UUID; a foreign one by when it was last changed, unless the sweep writes it. */
static json_t *file_identity(const char *name, const json_t *said, bool writes)
{
    json_t *file =
        json_pack("{s:O, s:O}", "name", json_object_get(said, "name"), "bytes", json_object_get(said, "bytes"));
    _cleanup_fd_ int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    struct pattern_header h = {0};
    char text[64];
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return file;
    json_object_set_new(file, "inode", json_integer((json_int_t)st.st_ino));
    if (pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) && h.magic == PATTERN_MAGIC &&
        h.checksum == pattern_checksum(&h)) {
        snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)h.uuid[0], (unsigned long long)h.uuid[1]);
        json_object_set_new(file, "uuid", json_string(text));
    } else if (!writes) {
        snprintf(text, sizeof(text), "%lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        json_object_set_new(file, "changed", json_string(text));
    }
    return file;
}

static bool holds_file(const json_t *list, const json_t *name)
{
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item) if (json_equal(json_object_get(item, "name"), name)) return true;
    return false;
}

static void add_files(json_t *list, const struct sweep_pair *pair, bool writes)
{
    const json_t *files = json_object_get(pair->effective, "files");
    size_t i;
    json_t *said;

    json_array_foreach(files, i, said)
    {
        const json_t *name = json_object_get(said, "name");

        if (!holds_file(list, name))
            json_array_append_new(list, file_identity(json_string_value(name), said, writes));
    }
}

static bool any_writes(const struct experiment *x, const struct sweep_pair *pairs)
{
    for (size_t i = 0; i < x->n_cells * x->n_arms; i++)
        if (pairs[i].effective && job_writes(&pairs[i].job))
            return true;
    return false;
}

/* Of an arm, from the first cell in which it can run. */
static json_t *arm_identity(const struct experiment *x, const struct sweep_pair *pairs, size_t arm)
{
    for (size_t cell = 0; cell < x->n_cells; cell++) {
        const json_t *effective = pairs[cell * x->n_arms + arm].effective;
        const json_t *memory = json_object_get(effective, "memory");

        if (effective)
            return json_pack("{s:O, s:O, s:O, s:O*, s:O*, s:O*}", "path", json_object_get(effective, "path"),
                             "settings", json_object_get(effective, "settings"), "memory",
                             json_object_get(memory, "name"), "gpu_uuid", json_object_get(memory, "uuid"), "gpu",
                             json_object_get(memory, "device_name"), "library_sha256",
                             json_object_get(json_object_get(effective, "path_facts"), "library_sha256"));
    }
    return json_null();
}

/* Programs of prepare commands, by axis; one whose name depends on the value is not among them. */
static json_t *commands(const struct experiment *x)
{
    json_t *ret = json_object();
    char file[4096], sha256[65];

    for (size_t i = 0; i < x->n_axes; i++) {
        const char *command = x->axes[i].prepare_command;
        json_t *key;

        if (!command || sweep_command_identify(command, file, sizeof(file), sha256, NULL) < 0)
            continue;
        key = json_filename(x->axes[i].key);
        json_object_set_new(ret, json_string_value(key), json_pack("{s:s}", "sha256", sha256));
        json_decref(key);
    }
    return ret;
}

json_t *sweep_identity(const struct experiment *x, const struct sweep_pair *pairs, struct spur_error *e)
{
    json_t *files, *arms;
    char sha256[65];

    if (sha256_of_file("/proc/self/exe", sha256, e) < 0)
        return NULL;
    files = json_array();
    arms = json_object();
    for (size_t i = 0; i < x->n_cells * x->n_arms; i++)
        add_files(files, &pairs[i], any_writes(x, pairs));
    for (size_t i = 0; i < x->n_arms; i++) {
        json_t *name = json_filename(x->arms[i].name);

        json_object_set_new(arms, json_string_value(name), arm_identity(x, pairs, i));
        json_decref(name);
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "spur", spur_version(), "binary_sha256", sha256, "files",
                     files, "arms", arms, "commands", commands(x), "contents", sweep_contents(x, pairs), "variables",
                     sweep_variables(x, pairs));
}

/* ------------------------------------------------------------------------------------------------
 * Comparing
 */

static int differs(struct spur_error *e, const char *what, const json_t *before, const json_t *now)
{
    char *a = before ? json_dumps(before, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    char *b = now ? json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    error_spur(e, SPUR_CODE_REFUSED, "resume", "%s changed since this experiment began: %.150s, now %.150s", what,
               a ? a : "nothing", b ? b : "nothing");
    error_remedy(e, "trials before and after would not be of one experiment: begin a new one");
    free(a);
    free(b);
    return -EPERM;
}

/* The first member that is not the same, with its way: "arms.fanout.settings.piece". */
static int compare_objects(const char *what, const json_t *before, const json_t *now, struct spur_error *e)
{
    const char *key;
    json_t *value;
    char name[200];
    int r = 0;

    if (!json_is_object(before) || !json_is_object(now))
        return json_equal(before, now) ? 0 : differs(e, what, before, now);
    json_object_foreach((json_t *)before, key, value)
    {
        snprintf(name, sizeof(name), "%s%s%s", what, what[0] ? "." : "", key);
        r = compare_objects(name, value, json_object_get(now, key), e);
        if (r < 0)
            return r;
    }
    json_object_foreach((json_t *)now, key, value)
    {
        snprintf(name, sizeof(name), "%s%s%s", what, what[0] ? "." : "", key);
        if (!json_object_get(before, key))
            return differs(e, name, NULL, value);
    }
    return r;
}

/* Arms as they were opened; one whose library took its process down, then or now, has nothing to compare. */
static int compare_arms(const json_t *before, const json_t *now, struct spur_error *e)
{
    const char *key;
    json_t *value;
    char name[200];
    int r = 0;

    json_object_foreach((json_t *)before, key, value)
    {
        const json_t *arm = json_object_get(now, key);

        snprintf(name, sizeof(name), "arm.%s", key);
        if (!r && json_is_object(value) && !json_is_null(arm))
            r = compare_objects(name, value, arm, e);
    }
    return r;
}

static int compare_files(const json_t *before, const json_t *now, struct spur_error *e)
{
    size_t n = json_array_size(before);
    char name[200];
    int r = 0;

    if (n != json_array_size(now))
        return differs(e, "the list of files", before, now);
    for (size_t i = 0; !r && i < n; i++) {
        const json_t *file = json_array_get(before, i);

        snprintf(name, sizeof(name), "file %.150s", json_string_value(json_object_get(file, "name")) ?: "?");
        r = compare_objects(name, file, json_array_get(now, i), e);
    }
    return r;
}

/* Members of @key, each by its own name; results of an earlier version may have none. */
static int compare_named(const char *what, const char *key, const json_t *before, const json_t *now,
                         struct spur_error *e)
{
    const json_t *a = json_object_get(before, key), *b = json_object_get(now, key);
    const char *name;
    json_t *value;
    char text[300];

    json_object_foreach((json_t *)a, name, value)
    {
        snprintf(text, sizeof(text), "%s%.200s", what, name);
        if (!json_equal(value, json_object_get(b, name)))
            return differs(e, text, value, json_object_get(b, name));
    }
    json_object_foreach((json_t *)b, name, value)
    {
        snprintf(text, sizeof(text), "%s%.200s", what, name);
        if (a && !json_object_get(a, name))
            return differs(e, text, NULL, value);
    }
    return 0;
}

int sweep_identity_compare(const json_t *before, const json_t *now, struct spur_error *e)
{
    int r = 0;

    if (!json_equal(json_object_get(before, "binary_sha256"), json_object_get(now, "binary_sha256")))
        r = differs(e, "spur's binary", json_object_get(before, "binary_sha256"),
                    json_object_get(now, "binary_sha256"));
    if (!r)
        r = compare_files(json_object_get(before, "files"), json_object_get(now, "files"), e);
    if (!r)
        r = compare_arms(json_object_get(before, "arms"), json_object_get(now, "arms"), e);
    if (!r && json_object_get(before, "commands"))
        r = compare_objects("prepare", json_object_get(before, "commands"), json_object_get(now, "commands"), e);
    if (!r)
        r = compare_named("the environment's ", "variables", before, now, e);
    if (!r)
        r = compare_named("what is in ", "contents", before, now, e);
    return r;
}

/* A plan that was written as a job file has the values that --quick left, and no word of the others. */
static void forget_left_out(json_t *plan)
{
    json_t *axis;
    size_t i;

    json_array_foreach(json_object_get(plan, "axes"), i, axis)
    {
        json_object_del(axis, "left_out");
    }
}

int sweep_plan_compare(const struct experiment *before, const struct experiment *now, struct spur_error *e)
{
    static const char *const keys[] = {"common",   "arms",          "baseline", "axes",   "cells",
                                       "n_blocks", "until_decided", "region",   "margin", "quick"};
    json_t *a = experiment_to_json(before), *b = experiment_to_json(now);
    int r = 0;

    forget_left_out(a);
    forget_left_out(b);
    for (size_t i = 0; !r && i < ARRAY_SIZE(keys); i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i]))) {
            r = error_spur(e, SPUR_CODE_REFUSED, "resume", "the plan's %s changed since this experiment began",
                           keys[i]);
            error_remedy(e, "leave the plan out, for the file has it; or begin a new experiment");
        }
    json_decref(a);
    json_decref(b);
    return r;
}
