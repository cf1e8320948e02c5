/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/list.h"
#include "core/units.h"
#include "cli/wrap.h"

#define NAME_WIDTH  12
#define TEXT_COLUMN 19 /* after name and yes or no */

static const char *text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));

    return s ? s : "";
}

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static void print_head(FILE *out, const json_t *list)
{
    const json_t *memlock = json_object_get(list, "memlock_limit_bytes");
    const json_t *uring = json_object_get(list, "io_uring");
    char limit[UNITS_TEXT];
    const json_t *name;
    size_t i;

    fprintf(out, "spur %s on %s\n", text_of(list, "spur"), text_of(list, "kernel"));
    if (is_true(list, "simulated"))
        fprintf(out, "simulated: the CUDA driver is the test suite's, not a GPU's\n");
    fprintf(out, "locked memory: %s\n",
            json_is_integer(memlock) ? units_format_bytes((uint64_t)json_integer_value(memlock), limit)
                                     : text_of(json_object_get(list, "nulls"), "memlock_limit_bytes"));
    if (!is_true(uring, "usable")) {
        fprintf(out, "io_uring: ");
        wrap_print(out, text_of(uring, "reason"), 10, 10);
        return;
    }
    fprintf(out, "io_uring: usable:");
    json_array_foreach(json_object_get(uring, "features"), i, name)
        fprintf(out, "%s%s", i && i % 6 == 0 ? "\n                  " : " ", json_string_value(name));
    fputc('\n', out);
}

static void print_row(FILE *out, const json_t *row)
{
    bool available = is_true(row, "available");

    fprintf(out, "  %-*s %-3s ", NAME_WIDTH, text_of(row, "name"), available ? "yes" : "no");
    wrap_print(out, available ? text_of(row, "summary") : text_of(row, "reason"), TEXT_COLUMN, TEXT_COLUMN);
}

static void print_settings(FILE *out, const json_t *path)
{
    const json_t *s;
    char line[700];
    size_t i;

    json_array_foreach(json_object_get(path, "settings"), i, s)
    {
        snprintf(line, sizeof(line), "--set %s=%s: %s (%s)", text_of(s, "name"), text_of(s, "default"),
                 text_of(s, "help"), text_of(s, "range"));
        fprintf(out, "%*s", TEXT_COLUMN, "");
        wrap_print(out, line, TEXT_COLUMN, TEXT_COLUMN + 4);
    }
}

static void print_gpu(FILE *out, const json_t *gpu)
{
    const json_t *node = json_object_get(gpu, "numa_node");
    char memory[UNITS_TEXT], numa[32] = "NUMA node unknown";
    int index = (int)json_integer_value(json_object_get(gpu, "index"));

    if (!json_is_null(json_object_get(gpu, "reason"))) {
        fprintf(out, "  cuda:%-7d %s\n", index, text_of(gpu, "reason"));
        return;
    }
    if (json_is_integer(node))
        snprintf(numa, sizeof(numa), "NUMA node %d", (int)json_integer_value(node));
    units_format_bytes((uint64_t)json_integer_value(json_object_get(gpu, "memory_bytes")), memory);
    fprintf(out, "  cuda:%-7d %s%s, %s, %s, %s\n%15s%s\n", index, text_of(gpu, "name"),
            is_true(gpu, "simulated") ? " (simulated)" : "", memory, text_of(gpu, "pci_address"), numa, "",
            text_of(gpu, "uuid"));
}

void list_text_print(FILE *out, const json_t *list)
{
    const json_t *row;
    size_t i;

    print_head(out, list);
    fprintf(out, "\nPaths (spur run --path NAME):\n");
    json_array_foreach(json_object_get(list, "paths"), i, row)
    {
        print_row(out, row);
        print_settings(out, row);
    }
    fprintf(out, "\nMemories (spur run --memory NAME):\n");
    json_array_foreach(json_object_get(list, "memories"), i, row) print_row(out, row);
    fprintf(out, "\nGPUs:\n");
    json_array_foreach(json_object_get(list, "gpus"), i, row) print_gpu(out, row);
    if (json_array_size(json_object_get(list, "gpus")))
        return;
    fprintf(out, "  none: ");
    row = json_object_get(json_object_get(list, "nulls"), "gpus");
    wrap_print(out, row ? json_string_value(row) : "the CUDA driver shows none to this process", 8, 8);
}
