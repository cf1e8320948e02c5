/* SPDX-License-Identifier: MIT */
/*
 * What no file of /proc or /sys says: the environment, device nodes as this user may use them, the cuFile library, the
 * GPUs by their library (in children: they may crash or hang), io_uring, and ACS in PCI configuration space.
 * A recording keeps it as facts.json.
 */
#include <errno.h>
#include <glob.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/list.h"
#include "core/error.h"
#include "doctor/check.h"
#include "driver/cuda.h"
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

static json_t *ask_alone(json_t *(*make)(void *), const char *key)
{
    struct spur_error why = {0};
    struct child c;
    int started = child_start(&c, make, NULL, &why);

    return ask(&c, started, LIBRARY_DEADLINE_NS, key, &why);
}

/* What a load says goes before what the file says, which stays where the load does not know. */
static json_t *library(const struct doctor *d)
{
    const char *named = getenv("SPUR_LIBCUFILE");
    json_t *at_rest = ask_alone(live_library, "found"), *loaded;

    if (named && *named && !json_object_get(at_rest, "asked")) /* it gave no answer */
        json_object_set_new(at_rest, "asked", json_filename(named));

    if (d->no_probe || live_library_is_told(at_rest) || !json_object_get(at_rest, "basis")) /* no answer: it hangs */
        return at_rest;
    loaded = ask_alone(live_library_loaded, "found");
    if (json_is_true(json_object_get(loaded, "found")))
        json_object_update_missing(loaded, at_rest);
    json_decref(at_rest);
    return loaded;
}

static json_t *touch_config(void *context)
{
    struct stat st;

    return json_integer(stat(context, &st));
}

/* A cufile.json of one's own may lie on a mount that hangs; nothing then reads it. */
static bool config_hangs(void)
{
    char *named = getenv("CUFILE_ENV_PATH_JSON");
    struct spur_error why = {0};
    json_t *answer = NULL;
    struct child c;
    int r;

    if (!named || child_start(&c, touch_config, named, &why) < 0)
        return false;
    r = child_finish(&c, now_ns() + LIBRARY_DEADLINE_NS, &answer, &why);
    json_decref(answer);
    return r == -ETIMEDOUT;
}

/* Exempt from the limit of locked memory: root of a container mostly is not. */
static json_t *ipc_lock(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (syscall(SYS_capget, &header, sets) < 0)
        return json_null();
    return json_boolean(sets[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK));
}

json_t *live_gather(const struct doctor *d)
{
    struct child cuda;
    struct spur_error why_cuda = {0};
    int with_cuda = d->no_probe ? -1 : child_start(&cuda, cuda_make, NULL, &why_cuda);
    struct utsname u = {.machine = ""};
    json_t *o, *acs = live_acs();

    uname(&u);
    o = json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "schema", RECORDING_SCHEMA, "spur", spur_version(),
                  "machine", u.machine, "uid", (int)geteuid() == 0 ? 0 : 1000, "env", environment(), "devices",
                  devices(), "io_uring", uring(), "acs", acs);
    json_object_set_new(o, "ipc_lock", ipc_lock());
    json_object_set_new(o, "library", library(d));
    if (config_hangs())
        json_object_set_new(o, "config_hangs", json_true());
    if (d->no_probe)
        return o;
    json_object_set_new(o, "cuda", ask(&cuda, with_cuda, CUDA_DEADLINE_NS, "usable", &why_cuda));
    return o;
}
