/* SPDX-License-Identifier: MIT */
/* What ran: `effective` of a result. */
#include <stdio.h>
#include <string.h>

#include "core/sha256.h"
#include "core/util.h"
#include "path/path.h"
#include "worker/external.h"
#include "worker/result_parts.h"

/* Several GPUs: which, in the order in which threads are dealt to them. */
static json_t *memory_list(const struct trial *t)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < t->n_memories; i++) {
        struct spur_memory_info info = {.size = sizeof(info)};

        spur_memory_describe(t->memories[i], &info);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", info.name, "device_name",
                                              info.device_name, "uuid", info.uuid, "pci_address", info.pci_address,
                                              "numa_node", info.numa_node));
    }
    return list;
}

json_t *result_memory(const struct trial *t)
{
    const struct spur_memory_info *i = &t->memory_info;
    json_t *m = json_pack("{s:s, s:b, s:b, s:b, s:i}", "name", i->name, "device", i->is_device, "emulated",
                          i->is_emulated, "page_locked", i->is_page_locked, "numa_node", i->numa_node);

    json_object_set_new(m, "simulated", json_boolean(i->is_simulated));
    if (!strcmp(t->job->memory, "auto"))
        json_object_set_new(m, "chosen_because",
                            json_string(t->memory_reason[0] ? t->memory_reason : "a GPU answered"));
    if (i->device_name[0])
        json_object_set_new(m, "device_name", json_string(i->device_name));
    if (i->uuid[0])
        json_object_set_new(m, "uuid", json_string(i->uuid));
    if (i->pci_address[0])
        json_object_set_new(m, "pci_address", json_string(i->pci_address));
    if (t->n_memories > 1) {
        json_object_set_new(m, "name", json_string(t->job->memory));
        json_object_set_new(m, "gpus", memory_list(t));
    }
    return m;
}

void result_fact(void *context, const struct path_fact *fact)
{
    json_t *object = context;

    json_object_set_new(object, fact->key, fact->value ? json_string(fact->value) : json_null());
    if (fact->reason) {
        char key[80];

        snprintf(key, sizeof(key), "%s_reason", fact->key);
        json_object_set_new(object, key, json_string(fact->reason));
    }
}

static json_t *effective_settings(const struct trial *t)
{
    json_t *settings = json_object();

    for (size_t i = 0; i < t->path->n_settings; i++)
        json_object_set_new(settings, t->path->settings[i].key, json_string(t->path->settings[i].value));
    return settings;
}

static json_t *effective_files(const struct trial *t)
{
    json_t *files = json_array();

    for (size_t i = 0; i < t->targets.n; i++) {
        const struct target *f = &t->targets.items[i];

        json_array_append_new(files,
                              json_pack("{s:o, s:I, s:I, s:I, s:s, s:s, s:s}", "name", json_filename(f->filename),
                                        "bytes", (json_int_t)f->bytes, "used_offset", (json_int_t)f->begin_bytes,
                                        "used_bytes", (json_int_t)t->workload_files[i].bytes, "file_system", f->fs_type,
                                        "format", f->is_spur ? "spur" : "foreign", "extents",
                                        f->is_block_device ? "block device" : f->extents.status));
    }
    return files;
}

unsigned result_busy_threads(const struct trial *t)
{
    unsigned n = 0;

    for (unsigned i = 0; i < t->n_threads; i++)
        n += !t->threads[i].idle;
    return n;
}

/* A library by what it is, whatever its name: a path that loaded one says which. */
static void add_library_sha256(json_t *facts)
{
    const char *library = json_string_value(json_object_get(facts, "library"));
    struct spur_error e = {0};
    char sha256[SHA256_TEXT];

    if (!library)
        return;
    if (sha256_of_file(library, sha256, &e) == 0)
        result_fact(facts, &(struct path_fact){"library_sha256", sha256, NULL});
    else
        result_fact(facts, &(struct path_fact){"library_sha256", NULL, e.detail});
}

json_t *result_effective(const struct trial *t)
{
    json_t *path = json_object();
    json_t *e;

    t->path->ops->effective(t->path, result_fact, path);
    add_library_sha256(path);
    e = json_pack("{s:s, s:o, s:o, s:o, s:i, s:i, s:I, s:s, s:I, s:i, s:i, s:o, s:I, s:I}", "path", t->path->ops->name,
                  "memory", result_memory(t), "settings", effective_settings(t), "path_facts", path, "threads",
                  result_busy_threads(t), "depth", t->job->depth, "request_bytes", (json_int_t)t->job->request_bytes,
                  "share", job_share_name(t->job->share), "seed", (json_int_t)t->job->seed, "offset_align",
                  t->limits.offset_align, "length_align", t->limits.length_align, "files", effective_files(t),
                  "files_skipped", (json_int_t)t->targets.n_skipped, "tail_skipped_bytes",
                  (json_int_t)t->tail_skipped_bytes);
    json_object_set_new(e, "file_handles", json_integer((json_int_t)t->n_files));
    json_object_set_new(e, "buffers", json_integer((json_int_t)t->n_buffers));
    json_object_set_new(e, "buffer_bytes_each", result_u64(t->n_buffers ? t->buffers[0]->bytes : 0));
    if (t->external)
        json_object_set_new(e, "external", external_describe(t->external));
    return e;
}
