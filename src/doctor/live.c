/* SPDX-License-Identifier: MIT */
/*
 * What no file of /proc or /sys says: the environment, device nodes as this user may use them, the cuFile library and
 * the GPUs by their libraries (in children: they may crash or hang), io_uring, and ACS in PCI configuration space.
 * A recording keeps it as facts.json.
 */
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cli/list.h"
#include "core/error.h"
#include "doctor/check.h"
#include "driver/cuda.h"
#include "driver/cufile.h"
#include "worker/job.h"

#define LIBRARY_DEADLINE_NS 1500000000ull
#define CUDA_DEADLINE_NS    15000000000ull /* many GPUs without persistence mode start slowly */
#define COMPUTE_MODE        20             /* CU_DEVICE_ATTRIBUTE_COMPUTE_MODE */

static bool is_wanted(const char *name)
{
    static const char *const others[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "container"};

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (!strcmp(name, others[i]))
            return true;
    return !strncmp(name, "CUFILE_", 7);
}

static json_t *environment(void)
{
    json_t *o = json_object();

    for (char **at = environ; *at; at++) {
        _cleanup_free_ char *name = strndup(*at, strcspn(*at, "="));
        const char *value = strchr(*at, '=');

        if (name && is_wanted(name))
            json_object_set_new(o, name, json_filename(value ? value + 1 : ""));
    }
    return o;
}

static json_t *devices(void)
{
    static const char *const patterns[] = {"/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-fs*",
                                           "/dev/infiniband/uverbs*"};
    json_t *o = json_object();

    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        glob_t found;
        struct stat st;

        if (glob(patterns[i], 0, NULL, &found))
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            if (stat(found.gl_pathv[k], &st) == 0)
                json_object_set_new(o, found.gl_pathv[k],
                                    json_pack("{s:o, s:b}", "mode", json_sprintf("%04o", st.st_mode & 07777), "usable",
                                              access(found.gl_pathv[k], R_OK | W_OK) == 0));
        globfree(&found);
    }
    return o;
}

static json_t *library_make(void *context)
{
    struct spur_error e = {0};
    struct cufile *c;

    (void)context;
    if (cufile_open(NULL, &c, &e) < 0)
        return json_pack("{s:b, s:o, s:o}", "found", 0, "detail", json_filename(e.detail), "remedy",
                         json_filename(e.remedy));
    return json_pack("{s:b, s:o, s:o, s:s, s:i, s:i, s:s, s:b, s:b, s:b}", "found", 1, "asked",
                     json_filename(c->asked_file), "file", c->real_file ? json_filename(c->real_file) : json_null(),
                     "version", c->version.text, "major", c->version.major, "minor", c->version.minor, "source",
                     c->version.source, "simulated", c->is_simulated, "statistics", c->cuFileGetStatsL3 != NULL,
                     "streams", c->cuFileReadAsync != NULL);
}

static json_t *gpu_make(const struct cuda_api *api, int index)
{
    struct cuda_device_info i = {0};
    struct spur_error e = {0};
    CUdevice device = 0;
    int mode = -1;

    if (cuda_device_info_get(index, &i, &e) < 0)
        return json_pack("{s:o}", "error", json_filename(e.detail));
    if (api->cuDeviceGet(&device, index) != CUDA_SUCCESS ||
        api->cuDeviceGetAttribute(&mode, COMPUTE_MODE, device) != CUDA_SUCCESS)
        mode = -1;
    return json_pack("{s:o, s:s, s:s, s:I, s:i, s:i, s:i, s:i}", "name", json_filename(i.name), "uuid", i.uuid, "pci",
                     i.pci, "memory_bytes", (json_int_t)i.total_bytes, "major", i.major, "minor", i.minor,
                     "cuda_version", i.driver_version, "compute_mode", mode);
}

static json_t *cuda_make(void *context)
{
    const struct cuda_api *api = NULL;
    struct spur_error e = {0};
    json_t *list;
    int n = 0;

    (void)context;
    if (cuda_ready(&api, &e) < 0 || cuda_device_count(&n, &e) < 0)
        return json_pack("{s:b, s:o, s:o}", "usable", 0, "detail", json_filename(e.detail), "remedy",
                         json_filename(e.remedy));
    list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, gpu_make(api, i));
    return json_pack("{s:b, s:b, s:o}", "usable", n > 0, "simulated", api->is_fake, "gpus", list);
}

static json_t *ask(struct child *c, int started, uint64_t limit_ns, const char *key, struct spur_error *e)
{
    json_t *answer = NULL;

    if (started < 0 || child_finish(c, now_ns() + limit_ns, &answer, e) < 0)
        return json_pack("{s:b, s:o, s:s}", key, 0, "detail", json_filename(e->detail), "remedy", "");
    return answer;
}

static json_t *uring(void)
{
    json_t *nulls = json_object(), *o = list_uring(nulls);

    json_decref(nulls);
    json_object_del(o, "features");
    return o;
}

json_t *live_gather(const struct doctor *d)
{
    struct child library, cuda;
    struct spur_error why_library = {0}, why_cuda = {0};
    int with_library = d->no_probe ? -1 : child_start(&library, library_make, NULL, &why_library);
    int with_cuda = d->no_probe ? -1 : child_start(&cuda, cuda_make, NULL, &why_cuda);
    struct utsname u = {.machine = ""};
    json_t *o, *acs = live_acs();

    uname(&u);
    o = json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "schema", RECORDING_SCHEMA, "spur", spur_version(),
                  "machine", u.machine, "uid", (int)geteuid() == 0 ? 0 : 1000, "env", environment(), "devices",
                  devices(), "io_uring", uring(), "acs", acs);
    if (d->no_probe)
        return o;
    json_object_set_new(o, "library", ask(&library, with_library, LIBRARY_DEADLINE_NS, "found", &why_library));
    json_object_set_new(o, "cuda", ask(&cuda, with_cuda, CUDA_DEADLINE_NS, "usable", &why_cuda));
    return o;
}
