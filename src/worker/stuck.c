/* SPDX-License-Identifier: MIT */
#include "worker/stuck.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void read_word(pid_t pid, const char *task, const char *file, char *ret, size_t size)
{
    char path[300];
    FILE *f;
    size_t n = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, task, file);
    f = fopen(path, "re");
    if (f) {
        n = fread(ret, 1, size - 1, f);
        fclose(f);
    }
    ret[n] = 0;
    ret[strcspn(ret, "\n")] = 0;
}

static json_t *thread_state(pid_t pid, const char *task)
{
    char stat[512], wchan[64], name[32], syscall[128];
    const char *state;

    read_word(pid, task, "comm", name, sizeof(name));
    read_word(pid, task, "stat", stat, sizeof(stat));
    read_word(pid, task, "wchan", wchan, sizeof(wchan));
    read_word(pid, task, "syscall", syscall, sizeof(syscall));
    state = strrchr(stat, ')');
    return json_pack("{s:s, s:s, s:s%, s:s, s:s}", "thread", task, "name", name, "state",
                     state && state[1] ? state + 2 : "?", (size_t)1, "wchan", wchan, "syscall", syscall);
}

json_t *stuck_threads(pid_t pid)
{
    json_t *list = json_array();
    char path[64];
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            json_array_append_new(list, thread_state(pid, entry->d_name));
    if (dir)
        closedir(dir);
    return list;
}

void stuck_words(const json_t *threads, char *ret, size_t size)
{
    size_t i, n = 0;
    json_t *t;

    ret[0] = 0;
    json_array_foreach(threads, i, t)
    {
        int k = snprintf(ret + n, size - n, "%s%s %s (%s)", i ? ", " : "",
                         json_string_value(json_object_get(t, "name")), json_string_value(json_object_get(t, "state")),
                         json_string_value(json_object_get(t, "wchan")));

        if (k < 0)
            return;
        if (n + (size_t)k + strlen(", ...") >= size) { /* the others are in the JSON */
            strcpy(ret + n, i ? ", ..." : "...");
            return;
        }
        n += (size_t)k;
    }
}
