/* SPDX-License-Identifier: MIT */
/* Loading libcufile, its version, its codes, its configuration. */
#include "test_cufile.h"

#include "driver/cufile_version.h"

#include <sys/sysmacros.h>

/* ------------------------------------------------------------------------------------------------
 * Loading
 */

static void missing_library_is_named(void **state)
{
    struct spur_error e;
    struct cufile *c;

    assert_int_equal(cufile_open("/nonexistent/libcufile.so.0", &c, &e), -ENODEV);
    assert_non_null(strstr(e.detail, "/nonexistent/libcufile.so.0"));
    assert_non_null(strstr(e.remedy, "library="));
    assert_int_equal(cufile_open("libm.so.6", &c, &e), -ENODEV);
    assert_non_null(strstr(e.detail, "libm.so.6 has no cuFileDriverOpen"));
}

static void environment_names_a_library(void **state)
{
    struct spur_error e;
    struct cufile *c;
    char file[4096];

    setenv("SPUR_LIBCUFILE", "/nonexistent/other.so", 1);
    assert_int_equal(cufile_open(NULL, &c, &e), -ENODEV);
    assert_non_null(strstr(e.detail, "/nonexistent/other.so"));
    /* What is asked for comes before the variable. */
    assert_int_equal(cufile_open("/nonexistent/asked.so", &c, &e), -ENODEV);
    assert_non_null(strstr(e.detail, "asked.so"));
    setenv("SPUR_LIBCUFILE", fake_file("1.9.1.3", file, sizeof(file)), 1);
    assert_good(cufile_open(NULL, &c, &e), &e);
    assert_string_equal(c->asked_file, file);
    cufile_close(c);
    unsetenv("SPUR_LIBCUFILE");
    cufile_close(NULL);
}

/* Each group of functions, and the fakes that have it. */
static void check_symbols(const struct cufile *c, int version)
{
    assert_int_equal(c->cuFileGetVersion != NULL, version >= 1090);
    assert_int_equal(c->cuFileReadAsync != NULL, version >= 1090);
    assert_int_equal(c->cuFileGetParameterBool != NULL, version >= 1150);
    assert_int_equal(c->cuFileGetStatsL3 != NULL, version >= 1150);
    assert_int_equal(c->cuFileDriverGetP2PFlags != NULL, version >= 1180);
    assert_int_equal(c->cuFileReadv != NULL, version >= 1200);
    assert_int_equal(cufile_has(c, "cuFileReadv"), version >= 1200);
    assert_non_null(c->cuFileBatchIOSubmit);
    assert_non_null(c->cuFileUseCount);
    assert_false(cufile_has(c, "cuFileNoSuchCall"));
}

static void symbols_are_those_of_the_version(void **state)
{
    static const struct {
        const char *text;
        int version;
    } rows[] = {{"1.4.0.31", 1040},  {"1.9.1.3", 1090},  {"1.15.1.6", 1150},
                {"1.18.0.66", 1180}, {"1.18.1.6", 1180}, {"1.20.0.107", 1200}};

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct spur_error e;
        struct cufile *c;
        char file[4096];

        assert_good(cufile_open(fake_file(rows[i].text, file, sizeof(file)), &c, &e), &e);
        check_symbols(c, rows[i].version);
        assert_string_equal(c->version.text, rows[i].text);
        assert_int_equal(c->version.number, rows[i].version == 1040 ? 0 : rows[i].version);
        assert_string_equal(c->close_symbol, "cuFileDriverClose_v2");
        assert_true(c->is_simulated);
        assert_string_equal(strrchr(c->real_file, '/'), strrchr(file, '/'));
        cufile_close(c);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Version
 */

static CUfileError_t version_1150(int *version)
{
    *version = 1150;
    return (CUfileError_t){0};
}

static CUfileError_t version_fails(int *version)
{
    *version = 7;
    return (CUfileError_t){.err = 5030};
}

static void version_comes_from_the_library_and_its_name(void **state)
{
    struct cufile_version v;

    cufile_version_find(version_1150, "/usr/lib/libcufile.so.1.15.1", &v);
    assert_string_equal(v.text, "1.15.1");
    assert_int_equal(v.number, 1150);
    assert_int_equal(v.patch, 1);
    assert_int_equal(v.build, -1);
    cufile_version_find(version_1150, "/usr/lib/libcufile.so.0", &v);
    assert_string_equal(v.text, "1.15");
    cufile_version_find(version_1150, NULL, &v);
    assert_string_equal(v.source, "cuFileGetVersion");
    cufile_version_find(NULL, "/usr/lib/libcufile.so.1.4.0", &v);
    assert_string_equal(v.text, "1.4.0");
    cufile_version_find(version_fails, "/usr/lib/libcufile.so.1.4.0", &v);
    assert_string_equal(v.text, "1.4.0");
    assert_int_equal(v.number, 0);
    cufile_version_find(NULL, "/usr/lib/libcufile.so", &v);
    assert_string_equal(v.text, "");
    assert_int_equal(v.major, -1);
}

static void version_of_another_name_is_not_believed(void **state)
{
    struct cufile_version v;

    cufile_version_find(version_1150, "/opt/libcufile.so.1.9.1", &v);
    assert_string_equal(v.text, "1.15");
    assert_non_null(strstr(v.source, "file name not believed"));
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[700];
    FILE *f;

    snprintf(path, sizeof(path), "mkdir -p %s", folder);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void version_comes_from_the_python_package(void **state)
{
    char root[] = "/tmp/spur-test-XXXXXX", folder[300], library[400];
    struct cufile_version v;

    assert_non_null(mkdtemp(root));
    snprintf(library, sizeof(library), "%s/nvidia/cu13/lib/libcufile.so.0", root);
    /* Another package, and one that does not own the file. */
    snprintf(folder, sizeof(folder), "%s/numpy-1.9.1.dist-info", root);
    put(folder, "RECORD", "nvidia/cu13/lib/libcufile.so.0,sha256=x,1\n");
    snprintf(folder, sizeof(folder), "%s/nvidia_cufile-1.15.0.42.dist-info", root);
    put(folder, "RECORD", "nvidia/cu13/lib/libcufile.so.01,sha256=x,1\n");
    cufile_version_find(version_1150, library, &v);
    assert_string_equal(v.text, "1.15");
    snprintf(folder, sizeof(folder), "%s/nvidia_cufile-1.15.1.6.dist-info", root);
    put(folder, "RECORD", "x,,\nnvidia/cu13/lib/libcufile.so.0,sha256=x,1\n");
    cufile_version_find(version_1150, library, &v);
    assert_string_equal(v.text, "1.15.1.6");
    assert_int_equal(v.build, 6);
    assert_string_equal(v.source, "cuFileGetVersion; nvidia_cufile-1.15.1.6.dist-info");
    snprintf(folder, sizeof(folder), "rm -r %s", root);
    assert_int_equal(system(folder), 0);
}

/* ------------------------------------------------------------------------------------------------
 * Codes
 */

static void codes_are_complete_and_unique(void **state)
{
    int expected = 5001;
    size_t n = 0;

    for (const struct cufile_code *row; (row = cufile_code_row(n)); n++, expected++) {
        while (expected == 5021 || expected == 5032)
            expected++;
        assert_int_equal(row->code, expected);
        assert_true(*row->name && strlen(row->cause) > 15);
        assert_true(row->ret < 0 && row->ret > -200);
        for (size_t i = 0; i < n; i++) {
            assert_string_not_equal(cufile_code_row(i)->name, row->name);
            assert_string_not_equal(cufile_code_row(i)->cause, row->cause);
        }
        assert_ptr_equal(cufile_code_find(row->code), row);
        assert_true(!row->remedy || strlen(row->remedy) < sizeof(((struct spur_error *)0)->remedy));
    }
    assert_int_equal(expected, 5050);
    assert_null(cufile_code_find(5050)); /* MAX, which moves */
    assert_null(cufile_code_find(0));
}

static void codes_are_worded(void **state)
{
    struct spur_error e;

    assert_int_equal(cufile_error(&e, (CUfileError_t){.err = 5001}, "cuFileDriverOpen", "file %s", "/x"), -ENODEV);
    assert_int_equal(e.source, SPUR_SOURCE_CUFILE);
    assert_int_equal(e.code, 5001);
    assert_string_equal(e.operation, "cuFileDriverOpen");
    assert_non_null(strstr(e.detail, "file /x: CU_FILE_DRIVER_NOT_INITIALIZED (5001): "));
    assert_non_null(strstr(e.remedy, "nvidia-fs"));
    assert_int_equal(cufile_error(&e, (CUfileError_t){.err = -22}, "cuFileDriverOpen", "opening"), -EINVAL);
    assert_int_equal(e.code, -22);
    assert_non_null(strstr(e.remedy, "cufile.json"));
    assert_int_equal(cufile_error(&e, (CUfileError_t){.err = 5777}, "x", "y"), -EIO);
    assert_non_null(strstr(e.detail, "5777, which spur does not know"));
    assert_int_equal(cufile_error(&e, (CUfileError_t){5011, 201}, "x", "y"), -EIO);
    assert_non_null(strstr(e.detail, "CUDA_ERROR_INVALID_CONTEXT (201)"));
    assert_int_equal(cufile_error(NULL, (CUfileError_t){.err = 5036}, "x", "y"), -ENOMEM);
}

static void transfers_have_three_conventions(void **state)
{
    struct spur_error e;

    assert_int_equal(cufile_error_transfer(&e, -1, EIO, "cuFileRead", "at %d", 7), -EIO);
    assert_int_equal(e.source, SPUR_SOURCE_ERRNO);
    assert_int_equal(e.code, EIO);
    assert_non_null(strstr(e.detail, "at 7"));
    assert_int_equal(cufile_error_transfer(&e, -1, 5017, "cuFileRead", "x"), -EINVAL);
    assert_int_equal(e.source, SPUR_SOURCE_CUFILE);
    assert_int_equal(e.code, 5017);
    assert_int_equal(cufile_error_transfer(&e, -5008, 0, "cuFileRead", "x"), -EOPNOTSUPP);
    assert_int_equal(e.code, 5008);
    assert_int_equal(cufile_error_transfer(&e, -5, 0, "cuFileRead", "x"), -EIO);
    assert_int_equal(e.source, SPUR_SOURCE_ERRNO);
    assert_int_equal(cufile_error_transfer(&e, -1, 0, "cuFileRead", "x"), -EIO);
    assert_non_null(strstr(e.detail, "without an errno"));
}

static void remedy_of(int fd, struct spur_error *e)
{
    assert_int_equal(cufile_error_file(e, (CUfileError_t){.err = 5027}, fd, "cuFileHandleRegister", "x"), -ENODEV);
}

static void udev_facts_are_looked_at(void **state)
{
    char root[] = "/tmp/spur-test-XXXXXX", folder[300], name[64], expected[128];
    int fd;
    struct spur_error e;
    struct stat st;

    assert_non_null(mkdtemp(root));
    fd = open(root, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    snprintf(name, sizeof(name), "b%u:%u", major(st.st_dev), minor(st.st_dev));
    snprintf(expected, sizeof(expected), "/run/udev/data/%s", name);
    snprintf(folder, sizeof(folder), "%s/run/udev/data", root);
    setenv("SPUR_ROOT", root, 1);
    if (major(st.st_dev)) { /* else /tmp is on an anonymous device: the last case alone */
        remedy_of(fd, &e);
        assert_non_null(strstr(e.remedy, expected));
        assert_non_null(strstr(e.remedy, "cannot be read"));
        put(folder, name, "E:ID_FS_TYPE=ext4\n");
        remedy_of(fd, &e);
        assert_non_null(strstr(e.remedy, expected));
        assert_non_null(strstr(e.remedy, "has no E:ID_FS_USAGE=filesystem"));
        put(folder, name, "E:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\n");
        remedy_of(fd, &e);
        assert_non_null(strstr(e.remedy, "has the udev fact"));
    }
    close(fd);
    fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    remedy_of(fd, &e);
    assert_non_null(strstr(e.remedy, "is anonymous"));
    close(fd);
    unsetenv("SPUR_ROOT");
    snprintf(folder, sizeof(folder), "rm -r %s", root);
    assert_int_equal(system(folder), 0);
}

/* ------------------------------------------------------------------------------------------------
 * Configuration
 */

static const struct cufile_parameter *parameter(const struct cufile_parameter *rows, const char *name)
{
    static const struct cufile_parameter none = {.name = "none"};

    for (unsigned i = 0; i < CUFILE_N_PARAMETERS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return &none;
}

static int parameters_body(struct cufile *c)
{
    struct cufile_parameter rows[CUFILE_N_PARAMETERS];

    want(!c->cuFileSetParameterSizeT(CUFILE_PARAM_PROFILE_STATS, 2).err);
    cufile_parameters_read(c, rows);
    want(!strcmp(parameter(rows, "execution.max_io_queue_depth")->text, "0")); /* staged only, as in the real ones */
    want(!strcmp(parameter(rows, "profile.cufile_stats")->text, "2"));
    want(!c->cuFileDriverOpen().err);
    cufile_parameters_read(c, rows);
    want(!strcmp(parameter(rows, "profile.cufile_stats")->text, "2"));
    want(!strcmp(parameter(rows, "execution.max_io_queue_depth")->text, "128"));
    want(!strcmp(parameter(rows, "execution.parallel_io")->text, "true"));
    want(!strcmp(parameter(rows, "properties.force_compat_mode")->text, "true"));
    want(!strcmp(parameter(rows, "logging.level")->text, "WARN"));
    want(!strcmp(parameter(rows, "properties.posix_pool_slab_size_kb")->text, "[4,1024,16384]"));
    want(!strcmp(parameter(rows, "properties.posix_pool_slab_count")->text, "[128,64,64]"));
    want(!parameter(rows, "properties.vanilla_posix_io_mode")->known);
    want(strstr(parameter(rows, "properties.vanilla_posix_io_mode")->reason, "INVALID_VALUE 5022"));
    want(!*parameter(rows, "properties.vanilla_posix_io_mode")->text);
    return 0;
}

static int no_parameters_body(struct cufile *c)
{
    struct cufile_parameter rows[CUFILE_N_PARAMETERS];

    cufile_parameters_read(c, rows);
    for (unsigned i = 0; i < CUFILE_N_PARAMETERS; i++) {
        want(!rows[i].known && !*rows[i].text);
        want(strstr(rows[i].reason, "no call"));
        for (unsigned k = 0; k < i; k++)
            want(strcmp(rows[i].name, rows[k].name));
    }
    return 0;
}

static void parameters_are_read_by_name(void **state)
{
    in_child("1.15.1.6", "CUFILE_FORCE_COMPAT_MODE=true CUFILE_LOGGING_LEVEL=WARN CUFILE_LOGFILE_PATH=/dev/null",
             parameters_body);
    in_child("1.9.1.3", NULL, no_parameters_body);
}

static int properties_body(struct cufile *c)
{
    struct cufile_properties p;

    want(!c->cuFileDriverOpen().err);
    cufile_properties_read(c, &p);
    want(p.known && p.nvfs_major == 2 && p.nvfs_minor == 28);
    want(!strcmp(p.status_words, "nfs nvme"));
    want(!strcmp(p.control_words, "allow_compat"));
    want(!strcmp(p.feature_words, "batch streams parallel_io"));
    want(p.max_direct_io_kb == 1024 && p.poll_threshold_kb == 4 && p.per_buffer_cache_kb == 1024);
    want(p.max_batch_io == 128 && p.max_batch_timeout_ms == 5);
    return 0;
}

static int old_properties_body(struct cufile *c)
{
    unsigned char room[256];
    struct cufile_properties p;

    cufile_properties_read(c, &p);
    want(p.known && p.max_device_pinned_kb == 33554432);
    want(p.max_batch_io == 0 && p.max_batch_timeout_ms == 0);
    memset(room, 0x77, sizeof(room));
    want(!c->cuFileDriverGetProperties((CUfileDrvProps_t *)(void *)room).err);
    for (unsigned i = 48; i < sizeof(room); i++) /* the fake keeps to the older size */
        want(room[i] == 0x77);
    return 0;
}

static int failing_properties_body(struct cufile *c)
{
    struct cufile_properties p;

    cufile_properties_read(c, &p);
    want(!p.known && !strcmp(p.reason, "cuFileDriverGetProperties: DRIVER_NOT_INITIALIZED (5001)"));
    return 0;
}

static void properties_are_decoded(void **state)
{
    in_child("1.15.1.6", "FAKE_CUFILE_ROAD=nvfs CUFILE_LOGFILE_PATH=/dev/null", properties_body);
    in_child("1.4.0.31", "FAKE_CUFILE_PROPERTIES_BYTES=48 CUFILE_LOGFILE_PATH=/dev/null", old_properties_body);
    in_child("1.15.1.6", "CUFILE_ALLOW_COMPAT_MODE=false", failing_properties_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_read_by_name),
        cmocka_unit_test(properties_are_decoded),
        cmocka_unit_test(missing_library_is_named),
        cmocka_unit_test(environment_names_a_library),
        cmocka_unit_test(symbols_are_those_of_the_version),
        cmocka_unit_test(version_comes_from_the_library_and_its_name),
        cmocka_unit_test(version_of_another_name_is_not_believed),
        cmocka_unit_test(version_comes_from_the_python_package),
        cmocka_unit_test(codes_are_complete_and_unique),
        cmocka_unit_test(codes_are_worded),
        cmocka_unit_test(transfers_have_three_conventions),
        cmocka_unit_test(udev_facts_are_looked_at),
    };

    if (!getenv("SPUR_LIBCUDA") || !getenv("SPUR_FAKE_CUFILE")) {
        printf("skipped: SPUR_LIBCUDA and SPUR_FAKE_CUFILE must name the fakes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
