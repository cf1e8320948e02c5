/* SPDX-License-Identifier: MIT */
/*
 * Loading of the CUDA driver and NVML, and what they say of a GPU. The driver is loaded once a process: cases that need
 * another library or another fake run in a child.
 */
#include "cuda_fixture.h"

#include "driver/nvml.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs @body in a child with NAME=VALUE set, and wants it to return 0. */
static void in_child(const char *name, const char *value, int (*body)(void))
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (name && value)
            setenv(name, value, 1);
        else if (name)
            unsetenv(name);
        exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("child with %s=%s ended with status %#x", name, value ? value : "", status);
}

/* For children: says the line, so that a failure can be found. */
#define want(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                    \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int missing_body(void)
{
    const struct cuda_api *api;
    struct spur_error e;
    int count;

    want(cuda_api_get(&api, &e) == -ENODEV);
    want(!strncmp(e.detail, "/nonexistent/libcuda.so.1 not found: ", 37));
    want(strstr(e.detail, "cannot open shared object file"));
    want(strstr(e.remedy, "nvidia-driver"));
    memset(&e, 0, sizeof(e));
    want(cuda_device_count(&count, &e) == -ENODEV); /* the second caller gets the reason too */
    want(!strncmp(e.detail, "/nonexistent/libcuda.so.1 not found: ", 37));
    want(spur_memory_probe("cuda:0", &e) == -ENODEV);
    return 0;
}

static void missing_library_is_named(void **state)
{
    in_child("SPUR_LIBCUDA", "/nonexistent/libcuda.so.1", missing_body);
}

static int default_body(void)
{
    const struct cuda_api *api;
    struct spur_error e;

    if (cuda_api_get(&api, &e)) /* no driver on most machines that run this */
        want(!strncmp(e.detail, "libcuda.so.1 not found: ", 24));
    return 0;
}

static void default_library_is_named(void **state)
{
    in_child("SPUR_LIBCUDA", NULL, default_body);
}

static int symbol_body(void)
{
    const struct cuda_api *api;
    struct spur_error e;

    want(cuda_api_get(&api, &e) == -ENODEV);
    want(strstr(e.detail, "libm.so.6 has no cuInit"));
    want(!strcmp(e.operation, "dlsym"));
    return 0;
}

static void missing_symbol_is_named(void **state)
{
    in_child("SPUR_LIBCUDA", "libm.so.6", symbol_body);
}

static int no_device_body(void)
{
    struct spur_error e;
    int count;

    want(cuda_device_count(&count, &e) == -ENODEV);
    want(e.source == SPUR_SOURCE_CUDA && e.code == CUDA_ERROR_NO_DEVICE);
    want(strstr(e.detail, "CUDA_ERROR_NO_DEVICE"));
    want(strstr(e.detail, "no GPU"));
    want(*e.remedy);
    return 0;
}

static void no_device_has_a_reason(void **state)
{
    in_child("FAKE_CUDA_DEVICES", "0", no_device_body);
}

static int stub_body(void)
{
    struct spur_error e;
    int count;

    want(cuda_device_count(&count, &e) == -ENODEV);
    want(e.code == CUDA_ERROR_STUB_LIBRARY && strstr(e.remedy, "stub"));
    return 0;
}

static void stub_library_has_a_reason(void **state)
{
    in_child("FAKE_CUDA_FAIL", "cuInit:1:34", stub_body);
}

/* ------------------------------------------------------------------------------------------------ */

static int facts_body(void)
{
    struct fake_hooks hooks = fake_hooks_get();
    struct cuda_device_info info;
    struct spur_error e;
    int count;

    want(!cuda_device_count(&count, &e) && count == 3);
    want(!cuda_device_info_get(2, &info, &e));
    want(!strcmp(info.name, "fake GPU") && info.is_fake);
    want(!strcmp(info.uuid, "GPU-fa112233-4455-6677-8899-aabbccddee01"));
    want(!strcmp(info.pci, "0000:dc:00.0"));
    want(info.total_bytes == 8ull << 30);
    want(info.major == 9 && info.minor == 0 && info.driver_version == 12080 && info.n_multiprocessors == 4);
    want(info.numa_node == -1);
    want(cuda_device_info_get(3, &info, &e) == -ERANGE && strstr(e.detail, "sees 3"));
    want(cuda_device_info_get(-1, &info, &e) == -ERANGE);
    want(spur_memory_probe("cuda:3", &e) == -ERANGE);
    want(!spur_memory_probe("cuda:2", &e));
    want(hooks.calls("cuDevicePrimaryCtxRetain") == 0); /* looking makes no context */
    return 0;
}

static void facts_need_no_context(void **state)
{
    in_child("FAKE_CUDA_DEVICES", "3", facts_body);
}

static const char *made_root;

static int numa_body(void)
{
    struct cuda_device_info info;
    struct spur_error e;

    want(!cuda_device_info_get(0, &info, &e));
    want(info.numa_node == 1);
    return 0;
}

static void make_numa_node(const char *root, char *folder, char *file, size_t size)
{
    FILE *f;

    snprintf(folder, size, "mkdir -p %s/sys/bus/pci/devices/0000:da:00.0", root);
    assert_int_equal(system(folder), 0);
    snprintf(file, size, "%s/sys/bus/pci/devices/0000:da:00.0/numa_node", root);
    f = fopen(file, "w");
    assert_non_null(f);
    fputs("1\n", f);
    fclose(f);
}

static void numa_node_comes_from_sysfs(void **state)
{
    char root[] = "/tmp/spur-test-XXXXXX";
    char folder[300], file[300];

    made_root = mkdtemp(root);
    assert_non_null(made_root);
    make_numa_node(root, folder, file, sizeof(file));
    in_child("SPUR_ROOT", root, numa_body);
    snprintf(folder, sizeof(folder), "rm -r %s", root);
    assert_int_equal(system(folder), 0);
}

static int two_body(void)
{
    struct spur_memory *m[2];
    struct spur_buffer *b[2];
    struct memory_stream *s[2];
    uint8_t in[2][4096], out[4096];
    struct spur_error e;

    for (unsigned i = 0; i < 2; i++) {
        want(!spur_memory_open(i ? "cuda:1" : "cuda:0", &m[i], &e));
        want(!spur_buffer_alloc(m[i], 4096, &b[i], &e));
        want(!m[i]->ops->stream_open(m[i], 2, &s[i], &e));
        memset(in[i], 10 + (int)i, 4096);
    }
    for (unsigned i = 0; i < 2; i++) {
        want(!m[i]->ops->copy_in(NULL, b[i], 0, in[i], 4096, &e));
        want(!m[i]->ops->copy_out(NULL, b[i], 0, out, 4096, &e));
        want(!memcmp(in[i], out, 4096));
    }
    for (unsigned i = 0; i < 2; i++) {
        m[i]->ops->stream_close(s[i]);
        spur_buffer_free(b[i]);
        spur_memory_close(m[i]);
    }
    return 0;
}

static void two_gpus_on_one_thread(void **state)
{
    in_child("FAKE_CUDA_DEVICES", "2", two_body);
}

static int jit_body(void)
{
    struct spur_memory *m;
    struct spur_error e;

    want(spur_memory_open("cuda:0", &m, &e) == -EIO);
    want(e.code == CUDA_ERROR_INVALID_PTX);
    want(strstr(e.detail, "ptxas fatal: injected") && !strchr(e.detail, '\n'));
    return 0;
}

static void compiler_errors_are_shown(void **state)
{
    in_child("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:218", jit_body);
}

/* ------------------------------------------------------------------------------------------------
 * NVML
 */

#define FAKE_UUID "GPU-fa112233-4455-6677-8899-aabbccddeeff"

static int nvml_body(void)
{
    struct nvml_reading r;
    struct spur_error e;
    struct nvml *n;

    want(!nvml_open(&n, &e));
    want(!nvml_read(n, FAKE_UUID, &r, &e));
    want(r.sm_mhz.known && r.sm_mhz.value == 1980);
    want(r.memory_mhz.known && r.memory_mhz.value == 3201);
    want(r.throttle.known && r.throttle.value == 0x1044);
    want(!strcmp(r.throttle_words, "software power cap, hardware thermal slowdown, unnamed 0x1000"));
    want(r.temperature_c.known && r.temperature_c.value == 31);
    want(r.power_mw.known && r.power_mw.value == 78123);
    want(!r.utilisation_percent.known && strstr(r.utilisation_percent.reason, "nvmlDeviceGetUtilizationRates"));
    want(nvml_read(n, "GPU-00", &r, &e) == -ENODEV && strstr(e.detail, "GPU-00: Not Found"));
    nvml_close(n);
    return 0;
}

static int nvml_broken_body(void)
{
    struct nvml_reading r;
    struct spur_error e;
    struct nvml *n;

    want(!nvml_open(&n, &e));
    want(!nvml_read(n, FAKE_UUID, &r, &e));
    want(!r.sm_mhz.known && !strcmp(r.sm_mhz.reason, "nvmlDeviceGetClockInfo: Not Supported"));
    want(!r.throttle.known && *r.throttle.reason && !*r.throttle_words);
    want(!r.temperature_c.known && !r.power_mw.known);
    nvml_close(n);
    return 0;
}

static int nvml_missing_body(void)
{
    struct spur_error e;
    struct nvml *n;

    want(nvml_open(&n, &e) == -ENODEV);
    want(strstr(e.detail, "/nonexistent/libnvidia-ml.so.1 not found"));
    nvml_close(NULL);
    return 0;
}

static void nvml_reads(void **state)
{
    in_child(NULL, NULL, nvml_body);
    in_child("FAKE_NVML_BROKEN", "1", nvml_broken_body);
    in_child("SPUR_LIBNVML", "/nonexistent/libnvidia-ml.so.1", nvml_missing_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library_is_named),   cmocka_unit_test(default_library_is_named),
        cmocka_unit_test(missing_symbol_is_named),    cmocka_unit_test(no_device_has_a_reason),
        cmocka_unit_test(stub_library_has_a_reason),  cmocka_unit_test(facts_need_no_context),
        cmocka_unit_test(numa_node_comes_from_sysfs), cmocka_unit_test(two_gpus_on_one_thread),
        cmocka_unit_test(compiler_errors_are_shown),  cmocka_unit_test(nvml_reads),
    };

    if (!getenv("SPUR_LIBCUDA") || !getenv("SPUR_LIBNVML")) {
        printf("skipped: SPUR_LIBCUDA and SPUR_LIBNVML must name the fakes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
