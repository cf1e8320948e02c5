/* SPDX-License-Identifier: MIT */
#include "worker/cufile_end.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "driver/cufile_version.h"
#include "path/cufile_stage.h"

/* A library that is being loaded cannot be asked: its file and name tell. */
static void find_file(struct cufile_stage_seen *s)
{
    _cleanup_free_ char *real = strchr(s->file, '/') ? realpath(s->file, NULL) : NULL;
    struct cufile_version version;

    if (s->stage != CUFILE_STAGE_LOAD || !real)
        return;
    snprintf(s->file, sizeof(s->file), "%s", real);
    cufile_version_find(NULL, real, &version);
    snprintf(s->version, sizeof(s->version), "%s", version.text);
}

bool cufile_end_words(const struct trial_env *env, char *ret, size_t size)
{
    static const char *const words[] = {" was being loaded", ": its driver was being opened", " was in use",
                                        ": its driver was being closed", ": its driver had been closed"};
    struct cufile_stage_seen seen;
    char note[sizeof(env->dir) + sizeof("/" TRIAL_STAGE_FILE)];

    ret[0] = 0;
    snprintf(note, sizeof(note), "%s/" TRIAL_STAGE_FILE, env->dir);
    if (!env->dir[0] || !cufile_stage_read(note, &seen))
        return false;
    find_file(&seen);
    snprintf(ret, size, "%s (cuFile %s)%s", seen.file, seen.version[0] ? seen.version : "of unknown version",
             words[seen.stage]);
    return true;
}

void cufile_end_blame(const struct trial_env *env, const json_t *log, struct spur_error *e)
{
    const char *line = json_string_value(json_array_get(log, json_array_size(log) - 1));
    char words[CUFILE_END_WORDS];

    if (!cufile_end_words(env, words, sizeof(words)))
        return;
    error_reword(e, "%s; %s; cufile.log: %s", e->detail, words, line ? line : log ? "nothing" : "it wrote none");
}
