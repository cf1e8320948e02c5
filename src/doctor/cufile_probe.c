/* SPDX-License-Identifier: MIT */
/* Real reads through cuFile, each size in a worker of its own; what road they took is what the worker's evidence says.
 */
#include <errno.h>
#include <string.h>

#include "doctor/check.h"
#include "worker/parent.h"

#define STALL_NS 10000000000ull
#define ENOUGH   (1u << 20)

static const struct read {
    const char *name, *path;
    uint64_t bytes;
    bool unaligned;
    bool aside; /* tells whether an interface works; the verdict does not stand on it */
} reads[] = {
    {"4 KiB", "cufile", 4096, false, false},
    {"1 MiB", "cufile", 1u << 20, false, false},
    {"4 KiB, unaligned", "cufile", 4096, true, false},
    {"4 KiB by the batch interface", "cufile-batch", 4096, false, true},
    {"4 KiB by the stream interface", "cufile-async", 4096, false, true},
};

/* Enough for road.c to tell a library that does not count by its system calls; of a small file less. */
static uint64_t bytes_of(const struct read *r, uint64_t file_bytes)
{
    uint64_t most = file_bytes / r->bytes, wanted = ENOUGH / r->bytes > 4 ? ENOUGH / r->bytes : 4;

    return r->bytes * (most < wanted ? most : wanted);
}

static struct job job_of(const struct read *r, uint64_t file_bytes, char **file, struct spur_key_value *settings,
                         size_t n)
{
    struct job j = {.files = file,
                    .n_files = 1,
                    .memory = "cuda:0",
                    .op = r->unaligned ? JOB_RANDREAD : JOB_READ,
                    .verify = VERIFY_OFF,
                    .threads = 1,
                    .depth = 1,
                    .request_bytes = r->bytes,
                    .total_bytes = bytes_of(r, file_bytes),
                    .seed = 1,
                    .unaligned = r->unaligned,
                    .device_ok = true,
                    .probe = true,
                    .settings = settings,
                    .n_settings = n};

    snprintf(j.path, sizeof(j.path), "%s", r->path);
    return j;
}

/* "": the read went well. */
static void take(const struct worker_end *end, json_t *row)
{
    const json_t *evidence = json_array_get(json_object_get(end->result, "evidence"), 0);
    const json_t *failed = json_array_get(json_object_get(end->result, "errors"), 0);
    const char *observed = json_string_value(json_object_get(end->result, "observed"));
    struct spur_error why = end->error;

    if (failed)
        json_error_parse(failed, &why);
    json_object_set_new(row, "observed", !why.source && observed ? json_string(observed) : json_null());
    json_object_set(row, "says", json_object_get(evidence, "says") ?: json_null());
    json_object_set(row, "strength", json_object_get(evidence, "strength") ?: json_null());
    json_object_set_new(row, "error", why.source ? json_filename(why.detail) : json_null());
    json_object_set_new(row, "remedy", why.source && *why.remedy ? json_filename(why.remedy) : json_null());
    json_object_set(row, "library_log", end->library_log ?: json_null());
}

/* One road for all that went well, or "mixed"; "unknown" where one of them could not be told. */
static void sum(json_t *probe, const json_t *row)
{
    const char *road = json_string_value(json_object_get(probe, "road"));
    const json_t *seen = json_object_get(row, "observed"), *error = json_object_get(row, "error");

    if (json_is_string(error) && !json_is_string(json_object_get(probe, "error")))
        json_object_set(probe, "error", (json_t *)error);
    if (!json_is_string(seen))
        return;
    if (road && strcmp(road, json_string_value(seen))) {
        bool unknown = !strcmp(road, "unknown") || !strcmp(json_string_value(seen), "unknown");

        json_object_set_new(probe, "road", json_string(unknown ? "unknown" : "mixed"));
    } else if (!road) {
        json_object_set(probe, "road", (json_t *)seen);
        json_object_set(probe, "says", json_object_get(row, "says"));
    }
}

/* @return false: asking further makes no sense (interrupted, or it hangs). */
static bool run_one(struct doctor_file *f, const struct read *r, uint64_t file_bytes)
{
    const struct worker_hooks hooks = {NULL, NULL, NULL};
    struct spur_key_value route = {"route", "any"};
    char *name = (char *)f->name;
    struct job job = job_of(r, file_bytes, &name, &route, 1);
    struct worker_end end;
    json_t *row = json_pack("{s:s}", "read", r->name);
    bool go_on;

    if (worker_run(&job, STALL_NS, &hooks, &end) < 0)
        json_object_set_new(row, "error", json_filename(end.error.detail));
    else
        take(&end, row);
    go_on = !end.signal_received && !end.killed;
    worker_end_free(&end);
    if (!r->aside)
        sum(f->probe, row);
    json_array_append_new(json_object_get(f->probe, "reads"), row);
    return go_on;
}

void cufile_probe(struct doctor_file *f)
{
    uint64_t bytes = (uint64_t)json_integer_value(json_object_get(f->facts, "bytes"));
    bool go_on = true;

    f->probe = json_pack("{s:[], s:n, s:n, s:n}", "reads", "road", "says", "error");
    for (size_t i = 0; go_on && i < ARRAY_SIZE(reads); i++)
        if (bytes >= reads[i].bytes * (reads[i].unaligned ? 2 : 1))
            go_on = run_one(f, &reads[i], bytes);
}
