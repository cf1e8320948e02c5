/* SPDX-License-Identifier: MIT */
/* spur list [--json] */
#include "cli/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "cli/command.h"
#include "core/error.h"
#include "core/util.h"
#include "driver/cuda.h"
#include "memory/memory.h"
#include "spur.h"
#include "worker/job.h"

struct list_options {
    bool json;
};

static const struct option list_rows[] = {
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct list_options, json),
     .help = "prints JSON instead of text",
     .manual = "The keys are stable and documented in docs/list-json.md."},
    {0},
};

json_t *list_string(const char *text)
{
    if (!text || !*text)
        return json_null();
    return json_filename(text);
}

json_t *list_reason(const char *detail, const char *remedy)
{
    char text[920];

    snprintf(text, sizeof(text), "%s%s%s", detail, *remedy ? "; " : "", remedy);
    return list_string(text);
}

static json_t *reason_of(int r, const struct spur_error *e)
{
    return r < 0 ? list_reason(e->detail[0] ? e->detail : "no reason was given", e->remedy) : json_null();
}

/* ------------------------------------------------------------------------------------------------ */

static json_t *gather_settings(const char *path)
{
    json_t *list = json_array();
    const struct spur_setting *s;

    for (size_t i = 0; (s = spur_path_setting(path, i)); i++)
        json_array_append_new(list, json_pack("{s:s, s:s?, s:s?, s:s?, s:s?}", "name", s->name, "unit", s->unit,
                                              "range", s->range, "default", s->default_value, "help", s->help));
    return list;
}

static json_t *gather_paths(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < spur_path_count(); i++) {
        const char *name = spur_path_name(i);
        struct spur_error e = {0};
        int r = spur_path_probe(name, &e);

        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", name, "summary",
                                              spur_path_summary(i), "available", r >= 0, "reason", reason_of(r, &e),
                                              "settings", gather_settings(name)));
    }
    return list;
}

static json_t *gather_memories(bool simulated)
{
    json_t *list = json_array();

    for (size_t i = 0; i < spur_memory_count(); i++) {
        const struct memory_ops *row = memory_table[i];
        struct spur_error e = {0};
        int r = spur_memory_probe(row->name, &e);
        char shown[40];

        snprintf(shown, sizeof(shown), "%s%s", row->name, row->takes_index ? ":N" : "");
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o, s:b, s:b}", "name", shown, "summary", row->summary,
                                              "available", r >= 0, "reason", reason_of(r, &e), "emulated",
                                              row->is_emulated, "simulated", row->takes_index && simulated));
    }
    return list;
}

static json_t *gather_gpu(int index, json_t *nulls)
{
    struct cuda_device_info d = {0};
    struct spur_error e = {0};
    int r = cuda_device_info_get(index, &d, &e);
    char key[64];

    if (r < 0)
        return json_pack("{s:i, s:o}", "index", index, "reason", reason_of(r, &e));
    snprintf(key, sizeof(key), "gpus[%d].numa_node", index);
    if (d.numa_node < 0)
        json_object_set_new(nulls, key, json_string("neither the driver nor sysfs names one"));
    return json_pack("{s:i, s:n, s:o, s:o, s:I, s:o, s:o, s:o, s:i, s:o, s:b}", "index", index, "reason", "name",
                     list_string(d.name), "uuid", list_string(d.uuid), "memory_bytes", (json_int_t)d.total_bytes,
                     "pci_address", list_string(d.pci), "numa_node",
                     d.numa_node < 0 ? json_null() : json_integer(d.numa_node), "compute_capability",
                     json_sprintf("%d.%d", d.major, d.minor), "multiprocessors", d.n_multiprocessors, "cuda_version",
                     json_sprintf("%d.%d", d.driver_version / 1000, d.driver_version % 1000 / 10), "simulated",
                     d.is_fake);
}

static json_t *gather_gpus(json_t *nulls, bool *ret_simulated)
{
    json_t *list = json_array();
    struct spur_error e = {0};
    int n = 0;
    int r = cuda_device_count(&n, &e);

    *ret_simulated = false;
    if (r < 0)
        json_object_set_new(nulls, "gpus", reason_of(r, &e));
    for (int i = 0; r >= 0 && i < n; i++) {
        json_t *gpu = gather_gpu(i, nulls);

        *ret_simulated |= json_is_true(json_object_get(gpu, "simulated"));
        json_array_append_new(list, gpu);
    }
    return list;
}

static json_t *gather_kernel(json_t *nulls)
{
    struct utsname u;

    if (uname(&u) == 0)
        return json_sprintf("%s %s %s", u.sysname, u.release, u.machine);
    json_object_set_new(nulls, "kernel", json_string(strerrordesc_np(errno)));
    return json_null();
}

static json_t *gather_memlock(json_t *nulls)
{
    struct rlimit r;
    const char *why = "unlimited";

    if (getrlimit(RLIMIT_MEMLOCK, &r) < 0)
        why = strerrordesc_np(errno);
    else if (r.rlim_cur != RLIM_INFINITY)
        return json_integer((json_int_t)r.rlim_cur);
    json_object_set_new(nulls, "memlock_limit_bytes", json_string(why));
    return json_null();
}

json_t *list_gather(void)
{
    json_t *nulls = json_object();
    json_t *kernel = gather_kernel(nulls), *memlock = gather_memlock(nulls), *uring = list_uring(nulls);
    bool simulated;
    json_t *gpus = gather_gpus(nulls, &simulated);

    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "schema", "spur-list-1", "spur",
                     spur_version(), "kernel", kernel, "memlock_limit_bytes", memlock, "io_uring", uring, "simulated",
                     simulated, "paths", gather_paths(), "memories", gather_memories(simulated), "gpus", gpus, "nulls",
                     nulls);
}

/* ------------------------------------------------------------------------------------------------ */

static int list_run(void *options, const struct option_result *given)
{
    const struct list_options *o = options;
    json_t *list = list_gather();
    struct spur_error e = {0};

    if (!list) {
        error_errno(&e, ENOMEM, "json_pack", "facts of this machine");
        return (int)exit_report("list", &e);
    }
    if (!o->json)
        list_text_print(stdout, list);
    else if (json_dumpf(list, stdout, JSON_INDENT(2)) == 0)
        putchar('\n');
    json_decref(list);
    return EXIT_OK; /* main looks whether standard output took it */
}

static const struct command_exit list_exits[] = {
    {EXIT_OK, "Listed, whatever can run here."},
    {EXIT_FAILED, "Standard output could not be written, or no memory."},
    {EXIT_USAGE, "An unknown option."},
    COMMAND_EXITS_END,
};

static const struct command_example list_examples[] = {
    {"spur list", "What can run here, and why the rest cannot"},
    {"spur list --json", "The same for programs"},
    {NULL, NULL},
};

const struct command list_command = {
    .name = "list",
    .summary = "show paths, memories and GPUs, and whether they can run here",
    .options = list_rows,
    .options_size = sizeof(struct list_options),
    .description =
        "Lists every path with its settings, every memory, and the GPUs, each with whether it can run here and, if it "
        "cannot, the exact reason. Also the kernel, what io_uring can do for this user, and how much memory may be "
        "locked.\n\n"
        "Nothing is written and no file is opened for timing. Where GPUs are to be found, the CUDA driver is started "
        "in "
        "this process.",
    .exits = list_exits,
    .examples = list_examples,
    .see_also = "spur spur-run",
    .run = list_run,
};
