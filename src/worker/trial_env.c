/* SPDX-License-Identifier: MIT */
#include "worker/trial_env.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "path/cufile_stage.h"
#include "worker/refer.h"
#include "worker/visible_gpus.h"

/* What a worker gets of the environment; docs/worker-protocol.md lists it. */
static bool passes(const char *entry)
{
    static const char *const names[] = {
        "PATH=",   "HOME=",   "LANG=", "LC_",   "TMPDIR=",       "TZ=",           "LD_LIBRARY_PATH=", "CUDA_",
        "NVIDIA_", "CUFILE_", "SPUR_", "FAKE_", "ASAN_OPTIONS=", "LSAN_OPTIONS=", "TSAN_OPTIONS=",    "UBSAN_OPTIONS="};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Adds or replaces; @entry is owned from here on. */
static int put(struct trial_env *env, char *entry)
{
    size_t length = entry ? strcspn(entry, "=") + 1 : 0;
    char **grown;

    for (size_t i = 0; entry && i < env->n; i++)
        if (!strncmp(env->list[i], entry, length)) {
            free(env->list[i]);
            env->list[i] = entry;
            return 0;
        }
    grown = entry ? realloc(env->list, (env->n + 2) * sizeof(*grown)) : NULL;
    if (!grown) {
        free(entry);
        return -ENOMEM;
    }
    env->list = grown;
    grown[env->n++] = entry;
    grown[env->n] = NULL;
    return 0;
}

static int set(struct trial_env *env, const char *name, const char *value)
{
    char *entry = NULL;

    return asprintf(&entry, "%s=%s", name, value) < 0 ? -ENOMEM : put(env, entry);
}

static int copy_own(struct trial_env *env)
{
    int r = 0;

    for (size_t i = 0; !r && environ[i]; i++)
        if (passes(environ[i]))
            r = put(env, strdup(environ[i]));
    return r;
}

bool trial_env_is_cufile(const struct job *job)
{
    return job && !strncmp(job->path, "cufile", 6);
}

bool trial_env_is_own(const struct job *job)
{
    return trial_env_is_cufile(job) || (job && !strcmp(job->path, "external"));
}

/* ------------------------------------------------------------------------------------------------ */

static int make_dir(struct trial_env *env, struct spur_error *e)
{
    const char *parent = getenv("TMPDIR");

    if (snprintf(env->dir, sizeof(env->dir), "%s/spur-trial.XXXXXX", parent && *parent ? parent : "/tmp") >=
        (int)sizeof(env->dir)) {
        env->dir[0] = 0;
        return error_errno(e, ENAMETOOLONG, "mkdtemp", "TMPDIR");
    }
    if (mkdtemp(env->dir)) /* mode 0700 */
        return 0;
    error_errno(e, errno, "mkdtemp", "%s: the trial's private directory", env->dir);
    env->dir[0] = 0;
    return -EIO;
}

static int write_file(const char *filename, const char *text, struct spur_error *e)
{
    _cleanup_fd_ int fd = open(filename, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t length = strlen(text);

    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        return error_errno(e, errno ? errno : EIO, "write", "%s", filename);
    return 0;
}

/* The file in force with the trial's keys in it; without such keys the library reads what it would read anyway. */
static int make_json(const struct job *job, struct trial_env *env, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    _cleanup_free_ char *filename = NULL;
    int r;

    if (!cufile_json_has_keys(job))
        return 0;
    r = cufile_json_compose(job, &text, e);
    if (r < 0)
        return r;
    if (asprintf(&filename, "%s/cufile.json", env->dir) < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", env->dir);
    r = write_file(filename, text, e);
    if (r < 0)
        return r;
    if (set(env, "CUFILE_ENV_PATH_JSON", filename) || set(env, "SPUR_CUFILE_JSON", filename))
        return error_errno(e, ENOMEM, "environment", "the trial's cufile.json");
    return 0;
}

static int put_settings(const struct job *job, struct trial_env *env)
{
    int r = 0;

    for (size_t i = 0; !r && i < job->n_settings; i++)
        if (!strncmp(job->settings[i].key, "env.", 4))
            r = set(env, job->settings[i].key + 4, job->settings[i].value);
    return r;
}

/* An external program takes the libcufile.so.0 that its loader finds first. */
static int lend_library(const struct job *job, struct trial_env *env, struct spur_error *e)
{
    _cleanup_free_ char *link = NULL;
    _cleanup_free_ char *file = NULL;
    _cleanup_free_ char *path = NULL;
    const char *library = NULL, *before = getenv("LD_LIBRARY_PATH");

    for (size_t i = 0; i < job->n_settings; i++)
        if (!strcmp(job->settings[i].key, "library"))
            library = job->settings[i].value;
    if (!library || !strcmp(library, "auto") || strcmp(job->path, "external"))
        return 0;
    file = realpath(library, NULL);
    if (!file) {
        error_spur(e, SPUR_CODE_REFUSED, "library", "library=%.300s: %s", library, strerror(errno));
        error_remedy(e, "name a libcufile.so.0");
        refer_to(e, "library", job->n_files ? job->files[0] : "FILE");
        return -EPERM;
    }
    if (asprintf(&link, "%s/libcufile.so.0", env->dir) < 0 ||
        asprintf(&path, "%s%s%s", env->dir, before ? ":" : "", before ? before : "") < 0)
        return error_errno(e, ENOMEM, "asprintf", "%s", env->dir);
    if (symlink(file, link) < 0)
        return error_errno(e, errno, "symlink", "%s", link);
    return set(env, "LD_LIBRARY_PATH", path) ? error_errno(e, ENOMEM, "environment", "a trial") : 0;
}

static int surround_cufile(const struct job *job, bool pilot, struct trial_env *env, struct spur_error *e)
{
    char log[4200], stage[4200];
    int r = cufile_json_check(job, trial_env_is_cufile(job) && !job->probe, e);

    if (!r)
        r = make_dir(env, e);
    if (r < 0)
        return r;
    snprintf(log, sizeof(log), "%s/cufile.log", env->dir);
    snprintf(stage, sizeof(stage), "%s/" TRIAL_STAGE_FILE, env->dir);
    if (set(env, "CUFILE_LOGFILE_PATH", log) || put_settings(job, env) || set(env, CUFILE_STAGE_VARIABLE, stage) ||
        (pilot && set(env, "SPUR_CUFILE_PILOT", "1")))
        return error_errno(e, ENOMEM, "environment", "a trial");
    r = lend_library(job, env, e);
    return r ? r : make_json(job, env, e);
}

/* Only the job's GPUs are seen. */
static int narrow_gpus(const struct job *job, struct trial_env *env)
{
    char list[1024];

    if (!visible_gpus(job->memory, getenv("CUDA_VISIBLE_DEVICES"), visible_gpus_count(), list, sizeof(list)))
        return 0;
    return set(env, "CUDA_VISIBLE_DEVICES", list) ?: set(env, GPUS_NARROWED, "1");
}

int trial_env_make(const struct job *job, bool pilot, struct trial_env *ret, struct spur_error *e)
{
    int r;

    *ret = (struct trial_env){NULL};
    r = copy_own(ret) ? error_errno(e, ENOMEM, "environment", "a worker") : 0;
    if (!r && job)
        r = narrow_gpus(job, ret) ? error_errno(e, ENOMEM, "environment", "a worker") : 0;
    if (!r && trial_env_is_own(job))
        r = surround_cufile(job, pilot, ret, e);
    if (r < 0)
        trial_env_free(ret);
    return r;
}

/* ------------------------------------------------------------------------------------------------ */

static bool is_error_line(const char *line)
{
    return strstr(line, "ERROR") || strstr(line, "error");
}

static void keep_line(json_t *lines, const char *line, size_t most)
{
    json_array_append_new(lines, json_filename(line));
    if (json_array_size(lines) > most)
        json_array_remove(lines, 0);
}

json_t *trial_env_log(const struct trial_env *env, size_t most, bool any)
{
    json_t *errors, *all, *ret;
    char name[4200], line[500];
    FILE *f;

    snprintf(name, sizeof(name), "%s/cufile.log", env->dir);
    f = env->dir[0] ? fopen(name, "re") : NULL;
    if (!f)
        return NULL;
    errors = json_array();
    all = json_array();
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        keep_line(all, line, most);
        if (is_error_line(line))
            keep_line(errors, line, most);
    }
    fclose(f);
    ret = json_incref(any && !json_array_size(errors) ? all : errors);
    json_decref(errors);
    json_decref(all);
    return ret;
}

/* Only plain files lie in it: the trial's own, and those that the library made. */
static void remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
    rmdir(dir);
}

void trial_env_free(struct trial_env *env)
{
    if (env->dir[0])
        remove_dir(env->dir);
    for (size_t i = 0; i < env->n; i++)
        free(env->list[i]);
    free(env->list);
    *env = (struct trial_env){NULL};
}
