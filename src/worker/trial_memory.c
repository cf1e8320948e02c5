/* SPDX-License-Identifier: MIT */
#include "worker/trial_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "memory/memory.h"
#include "worker/refer.h"
#include "worker/visible_gpus.h"

struct spur_memory *trial_memory_of(const struct trial *t, unsigned thread)
{
    return t->memories[thread % t->n_memories];
}

void trial_memory_close(struct trial *t)
{
    while (t->n_memories)
        spur_memory_close(t->memories[--t->n_memories]);
    t->memory = NULL;
}

/* As CUDA numbers what it sees (visible_gpus.h): in the order of the job's list. */
static void number_seen(const struct trial *t, const char *name, char *ret, size_t size)
{
    if (getenv(GPUS_NARROWED) && !strncmp(name, "cuda:", 5))
        snprintf(ret, size, "cuda:%u", t->n_memories);
    else
        snprintf(ret, size, "%s", name);
}

/* No driver, no GPU, or none of that number. */
static bool is_of_gpu(const struct spur_error *e)
{
    return e->source == SPUR_SOURCE_SPUR ? !strcmp(e->operation, "cuDeviceGet") : error_is_refusal(e);
}

static int open_one(struct trial *t, const char *name, struct spur_error *e)
{
    char seen[64];
    int r;

    if (t->n_memories == TRIAL_MAX_MEMORIES)
        return error_usage(e, "memory", "name fewer GPUs", "more GPUs than spur takes in one trial (16)");
    number_seen(t, name, seen, sizeof(seen));
    r = spur_memory_open(seen, &t->memories[t->n_memories], e);
    if (r < 0) {
        if (e && is_of_gpu(e))
            refer_to(e, "gpu", t->job->n_files ? t->job->files[0] : "FILE");
        return r;
    }
    if (strcmp(seen, name))
        snprintf(t->memories[t->n_memories]->name, sizeof(t->memories[0]->name), "%s", name);
    t->n_memories++;
    for (unsigned i = 0; i + 1 < t->n_memories; i++)
        if (!strcmp(t->memories[i]->name, t->memories[t->n_memories - 1]->name))
            return error_usage(e, "memory", "name each GPU once; threads are dealt to them in turn",
                               "a GPU is named twice");
    return 0;
}

/* "cuda:0,1": each number behind the colon. */
static int open_list(struct trial *t, const char *list, struct spur_error *e)
{
    int kind = (int)strcspn(list, ":"), r = 0;
    const char *at = list + kind;

    while (!r && *at) {
        char name[64];
        size_t n = strcspn(at + 1, ",");

        snprintf(name, sizeof(name), "%.*s:%.*s", kind, list, (int)n, at + 1);
        r = open_one(t, name, e);
        at += 1 + n;
    }
    if (!r && t->n_threads < t->n_memories)
        return error_usage(e, "memory", "use more --threads, or fewer GPUs",
                           "more GPUs than threads: some of them would get nothing");
    if (!r && t->n_memories > 1 && t->job->share & SHARE_BUFFER)
        return error_usage(e, "memory", "use --share none or handle, or one GPU",
                           "--share buffer is one registration, which cannot lie on several GPUs");
    return r;
}

int trial_memory_open(struct trial *t, struct spur_error *e)
{
    const char *name = t->job->memory;
    int r;

    if (!strcmp(name, "auto")) {
        struct spur_error why = {0};

        name = spur_memory_probe("cuda:0", &why) == 0 ? "cuda:0" : "emulated";
        snprintf(t->memory_reason, sizeof(t->memory_reason), "%.199s", why.detail);
    }
    r = strchr(name, ',') ? open_list(t, name, e) : open_one(t, name, e);
    if (r < 0)
        return r;
    t->memory = t->memories[0];
    t->memory_info.size = sizeof(t->memory_info);
    return spur_memory_describe(t->memory, &t->memory_info);
}
